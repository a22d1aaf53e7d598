"""Labels of LIBSVM rows as the kernel looks them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.reading.libsvm_strict import class_name

_WORD = (1 << 64) - 1


class Labels:
    """Labels as written -> class codes: a hash table in arrays that the kernel reads and this class fills."""

    def __init__(self) -> None:
        self.names: list[str] = []  # canonical class names
        self._code: dict[str, int] = {}
        self._used = self._end = 0
        self.arena = np.empty(1024, np.uint8)  # texts longer than the eight bytes that a key holds
        self._make(64)

    def _make(self, size: int) -> None:
        self.slots = np.full((size, 4), -1, np.int64)  # code (-1: free), key, start in the arena, length

    def add(self, text: bytes, key: int) -> None:
        """Note a label that the kernel did not know, under the key it gave. Raises LineFault if it is no class."""
        name = class_name(text)
        code = self._code.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        if 2 * self._used >= len(self.slots):
            old = self.slots
            self._make(4 * len(old))
            for slot in old[old[:, 0] >= 0]:
                self._put(slot)
        start = self._end
        if len(text) > 8:
            self._end += len(text)
            if self._end > self.arena.size:
                self.arena = longer(self.arena, start, 2 * self._end)
            self.arena[start : self._end] = np.frombuffer(text, np.uint8)
        self._put(np.array([code, key, start, len(text)], np.int64))
        self._used += 1

    def _put(self, slot: NDArray[np.int64]) -> None:
        at = _mix(int(slot[1]) & _WORD) & (len(self.slots) - 1)
        while self.slots[at, 0] >= 0:
            at = (at + 1) & (len(self.slots) - 1)
        self.slots[at] = slot


def _mix(x: int) -> int:
    """`libsvm_tokens.mix` on Python's integers.

    >>> from bigclf.reading.libsvm_tokens import mix
    >>> _mix(1) == int(mix.py_func(np.array([1], np.uint64))[0])
    True
    """
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def longer(a: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    larger = np.empty((size, *a.shape[1:]), a.dtype)
    larger[:used] = a[:used]
    return larger
