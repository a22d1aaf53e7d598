"""Lines of answers as bytes, thousands at a time: never line by line in Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Line = NDArray[np.int32]  # (m,) position of the row that a line is for; -1: an empty line


def label_lines(names: Sequence[bytes], guess: NDArray[np.int32], line: Line | None = None) -> bytes:
    r"""The name of each row's class, a line each. guess (n,): numbers of names.

    >>> label_lines([b"no", b"yes"], np.array([1, 0], np.int32), np.array([0, -1, 1], np.int32))
    b'yes\n\nno\n'
    """
    text, used = _padded((*names, b""))
    code = guess if line is None else np.where(line < 0, np.int32(len(names)), guess[line])
    kept: NDArray[np.uint8] = text.take(code, axis=0)[used.take(code, axis=0)]
    return kept.tobytes()


def value_lines(
    names: Sequence[bytes], guess: NDArray[np.int32], values: NDArray[np.float64], line: Line | None = None
) -> Any:
    r"""The same, each with the row's values (columns, n) behind tabs, as the shortest decimals that give them back.

    >>> value_lines([b"no", b"yes"], np.array([1, 0], np.int32), np.array([[0.1, -1e-7]])).to_pybytes()
    b'yes\t0.1\nno\t-1e-7\n'
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    binary = pa.large_binary()
    first = pa.array([name + b"\t" for name in names], binary).take(pa.array(guess))
    cells = [pc.cast(pc.cast(pa.array(column), pa.large_string()), binary) for column in values]
    tab, end, none = (pa.scalar(mark, binary) for mark in (b"\t", b"\n", b""))
    marks = [tab] * (len(cells) - 1) + [end]
    parts = [part for cell, mark in zip(cells, marks, strict=True) for part in (cell, mark)]
    lines = pc.binary_join_element_wise(first, *parts, none)
    if line is not None:
        lines = lines.take(pa.array(line, mask=line < 0)).fill_null(end)
    return lines.buffers()[2]


@cache
def _padded(names: tuple[bytes, ...]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """(K, widest) the names, each with a newline behind it, and which of the bytes are theirs."""
    size = np.array([len(name) + 1 for name in names])
    text = np.zeros((len(names), size.max()), np.uint8)
    for row, name in zip(text, names, strict=True):
        row[: len(name) + 1] = np.frombuffer(name + b"\n", np.uint8)
    return text, np.arange(size.max()) < size[:, None]
