"""Reader of LIBSVM text: the compiled kernel does the rows, this module all that is rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import DataError
from bigclf.reading import libsvm_kernel as kernel
from bigclf.reading import raw
from bigclf.reading.libsvm_strict import LineFault, class_name, parse_line
from bigclf.reading.libsvm_tokens import CHUNK
from bigclf.reading.lines import ByteBlock
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Raw, Skips, Sparse, Words
from bigclf.reading.source import Source
from bigclf.reading.text import text_blocks

QID = "qid tokens were ignored"
_WORD = (1 << 64) - 1
LONGEST = 1 << 30  # bytes of a line
_FOR_EVER = -1  # number of no row


def read(
    sources: Sequence[Source], options: ReadOptions, skips: Skips, notices: Counter[str] | None = None
) -> Iterator[Raw]:
    """The rows of all sources, numbered through. `notices[QID]` counts the qid tokens passed over."""
    parser = Parser(options, skips, Counter() if notices is None else notices)
    before = 0  # bytes of the sources that are done
    for source in sources:
        parser.begin(source.path)
        size = 0
        stop = max(raw.HEAD_BYTES - before, 0)
        for block in text_blocks(source, options, parser.count, stop, grow=parser.no_longer_than):
            size = block.offset + block.end - block.start
            yield from parser.rows(block, before + size)
        before += size


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
                self.arena = _longer(self.arena, start, 2 * self._end)
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


def _longer(a: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    larger = np.empty((size, *a.shape[1:]), a.dtype)
    larger[:used] = a[:used]
    return larger


def _trimmed(a: NDArray[Any], used: int) -> NDArray[Any]:
    """The used part; a copy where it would keep much unused memory alive."""
    part = a[:used]
    return part if 4 * a.size <= 5 * used else part.copy()


class _Output(NamedTuple):
    """Where the kernel writes, in the order of its arguments."""

    line: NDArray[np.int64]
    row: NDArray[np.int64]
    indptr: NDArray[np.int64]
    code: NDArray[np.int32]
    column: NDArray[np.int32]
    value: NDArray[np.float64]

    @classmethod
    def empty(cls, rows: int, entries: int) -> _Output:
        indptr = np.empty(rows + 1, np.int64)
        indptr[0] = 0
        return cls(
            np.empty(rows, np.int64),
            np.empty(rows, np.int64),
            indptr,
            np.empty(rows, np.int32),
            np.empty(entries, np.int32),
            np.empty(entries, np.float64),
        )


class Parser:
    """Text of one or more files to rows. Scratch arrays are used again; those that are given away are not."""

    def __init__(self, options: ReadOptions, skips: Skips, notices: Counter[str]) -> None:
        self.options, self.skips, self.notices = options, skips, notices
        self.labels = Labels()
        self.path = ""
        self.good = 0  # rows given out
        self.state = np.zeros(kernel.STATE, np.int64)
        self.state[kernel.LIMIT] = options.max_column - 1
        self.state[kernel.BITS] = options.hash_bits
        self.state[kernel.NEED] = options.need_label
        self.ask = np.empty((kernel.ASKS, 2), np.int64)
        self.answers = np.empty(kernel.ASKS, np.float64)
        self.per_byte = (1 / 64, 1 / 8)  # rows and entries, as of late
        self._scratch(2 * CHUNK)

    def _scratch(self, size: int) -> None:
        self.places = np.empty(size, np.int32)
        self.keys = np.empty(size // 2 + 1, np.uint64)  # each entry has a mark before and behind its colon

    def begin(self, path: str) -> None:
        """Go on with the first line of another file."""
        self.path = path
        self.state[kernel.LINE] = 1

    @property
    def row(self) -> int:
        """Number of the next row of the stream."""
        return int(self.state[kernel.ROW])

    def rows(self, block: ByteBlock, end: int) -> Iterator[Raw]:
        """The rows of a block that ends at byte `end` of all the text."""
        state = self.state
        state[kernel.AT], state[kernel.STOP_AT] = block.start, block.end
        while state[kernel.AT] < block.end:
            last = _FOR_EVER
            if self.row < raw.HEAD_ROWS and end <= raw.HEAD_BYTES:
                last = raw.HEAD_ROWS
            elif not self.good:  # the first row is in the head, however long
                last = self.row + 1
            state[kernel.LAST] = last
            size = int(block.end - state[kernel.AT])
            rows, entries = self.per_byte
            state[kernel.ROWS] = state[kernel.ENTRIES] = 0
            out = _Output.empty(
                min(size // 2 + 1, int(size * rows) + 64), min(size // 2 + 2, int(size * entries) + CHUNK // 2)
            )
            out = self._run(block.buffer, out)
            if state[kernel.QIDS]:
                self.notices[QID] += int(state[kernel.QIDS])
                state[kernel.QIDS] = 0
            n, z = int(state[kernel.ROWS]), int(state[kernel.ENTRIES])
            done = size - int(block.end - state[kernel.AT])
            self.per_byte = (1.02 * n / max(done, 1), 1.02 * z / max(done, 1))
            if n:
                self.good += n
                yield self._raw(out, n, z, last != _FOR_EVER)

    def _raw(self, out: _Output, n: int, z: int, head: bool) -> Raw:
        line, path = _trimmed(out.line, n), self.path
        data = Sparse(_trimmed(out.indptr, n + 1), _trimmed(out.column, z), _trimmed(out.value, z))
        label = Words(_trimmed(out.code, n), self.labels.names)
        return Raw(_trimmed(out.row, n), data, label, lambda i: f"{path}:{line[i]}", head)

    def count(self) -> int:
        """Rows read so far, skipped ones included."""
        return self.row

    def no_longer_than(self, size: int) -> None:
        """Refuse a line that needs a larger buffer than the kernel can number the places of (int32)."""
        if size > LONGEST:
            line = int(self.state[kernel.LINE])
            raise DataError(f"{self.path}:{line}", f"the line is longer than {LONGEST >> 20} MiB; is this LIBSVM text?")

    def _run(self, buffer: NDArray[np.uint8], out: _Output) -> _Output:
        """Call the kernel until the block, or its part in the head, is done; the output may have grown."""
        state, labels = self.state, self.labels
        while True:
            given = labels.slots, labels.arena, self.ask, self.answers
            why = kernel.read_rows(buffer, state, self.places, self.keys, *out, *given)
            if why in (kernel.END, kernel.STOP):
                return out
            if why == kernel.ROOM:
                out = self._grown(out)
            elif why == kernel.PLACES:
                self._scratch(2 * self.places.size)
            elif why == kernel.FLOATS:
                self._answer(buffer)
            elif why == kernel.LABEL:
                start, end = state[kernel.TEXT : kernel.TEXT + 2]
                try:
                    labels.add(buffer[start:end].tobytes(), int(state[kernel.KEY]))
                except LineFault:
                    self._fault(buffer)
            else:
                self._fault(buffer)

    def _grown(self, out: _Output) -> _Output:
        n, z = int(self.state[kernel.ROWS]), int(self.state[kernel.ENTRIES])
        rows, entries = out.row.size, out.column.size
        if n == rows:
            rows *= 2
        if self.state[kernel.WANTED] > entries:
            entries = max(2 * entries, int(self.state[kernel.WANTED]))
        used = (n, n, n + 1, n, z, z)
        sizes = (rows, rows, rows + 1, rows, entries, entries)
        arrays: tuple[NDArray[Any], ...] = out
        return _Output(*(_longer(a, u, s) for a, u, s in zip(arrays, used, sizes, strict=True)))

    def _answer(self, buffer: NDArray[np.uint8]) -> None:
        """Numbers of more than 19 digits, so near to a rounding border that the kernel leaves them to Python."""
        asked, done = int(self.state[kernel.ASKED]), int(self.state[kernel.ANSWERED])
        if done + asked > self.answers.size:
            self.answers = _longer(self.answers, done, 2 * (done + asked))
        self.answers[done : done + asked] = [float(buffer[a:b].tobytes()) for a, b in self.ask[:asked]]
        self.state[kernel.ANSWERED] = done + asked

    def _fault(self, buffer: NDArray[np.uint8]) -> None:
        """Say what is wrong with the line at hand, or pass over it."""
        start, end = int(self.state[kernel.AT]), int(self.state[kernel.STOP_AT])
        step = 4096
        while (length := buffer[start : min(start + step, end)].tobytes().find(b"\n")) < 0:
            step *= 4
        line = buffer[start : start + length].tobytes()
        column, what = explain(line, self.options)
        self.skips.fault(DataError(f"{self.path}:{self.state[kernel.LINE]}:{column}", what))
        self.state[kernel.AT] += length + 1
        self.state[kernel.LINE] += 1
        self.state[kernel.ROW] += 1
        self.state[kernel.ANSWERED] = 0


def explain(line: bytes, options: ReadOptions) -> tuple[int, str]:
    """Column and reason of the first fault of a line that the kernel refused."""
    try:
        parse_line(line, options)
    except LineFault as fault:
        return fault.column, fault.what
    raise AssertionError(f"the LIBSVM kernel refused a line that is right: {line[:200]!r}")
