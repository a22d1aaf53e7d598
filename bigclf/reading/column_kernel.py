"""Columns of a table to rows of a block, in one go.

A column lies in one piece and a block by rows: a few rows' share of each column is scaled, by vectors, into a corner of
the nearest cache, and written from there row by row.
"""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel, numbers, singles
from bigclf.reading.raw import FIRST

TURN = 128  # rows


@exact_helper
def _finish(
    values: Array, out: Array, n: int, fill: float, reference: float, offset: float, factor: float, limit: float
) -> tuple[int, bool]:
    """The first n values of a column, as `finish_dense` makes them: how many are missing; whether one is beyond."""
    kind = out.dtype.type
    odd = False
    if values.itemsize == 4 and out.itemsize == 4 and reference == 0.0 and not np.signbit(reference):
        for i in range(np.uint64(n)):  # the usual case: nothing to shift or to round before
            w = (np.float64(values[i]) - offset) * factor
            odd |= not (abs(w) <= limit)
            out[i] = w
    else:
        for i in range(np.uint64(n)):
            v = np.float64(kind(np.float64(values[i]) - reference))
            w = (v - offset) * factor
            odd |= (not (abs(v) <= limit)) | (not (abs(w) <= limit))
            out[i] = w
    if not odd:
        return 0, False
    missing = 0
    odd = False
    for i in range(np.uint64(n)):  # once more, and with care
        x: float = np.float64(values[i])
        gap = np.isnan(x)
        missing += gap
        v = np.float64(kind((fill if gap else x) - reference))
        w = (v - offset) * factor
        odd |= (not (abs(v) <= limit)) | (not (abs(w) <= limit))
        out[i] = w
    return missing, odd


@exact_kernel
def finish_columns(
    at: Array,
    wide: Array,
    start: int,
    X: Array,
    corner: Array,
    base: Array,
    fill: Array,
    reference: Array,
    offset: Array,
    factor: Array,
    limit: float,
) -> tuple[int, int]:
    """Rows of a table from `start` on to rows of a block X, whose columns before the table's become those of `base`.

    at, wide: where each of the table's columns lies, and whether it is float64, else float32.
    corner: (columns, TURN) to work in; made here it would take a large part of numba to load.
    Returns how many values are missing, and 0 where none is beyond limit.
    """
    missing = 0
    beyond = 0
    for begin in range(0, X.shape[0], TURN):
        n = min(X.shape[0] - begin, TURN)
        for c in range(at.size):
            j = FIRST + c
            how = fill[j], reference[j], offset[j], factor[j], limit
            if wide[c]:
                some, odd = _finish(numbers(at[c] + 8 * (start + begin), n), corner[c], n, *how)
            else:
                some, odd = _finish(singles(at[c] + 4 * (start + begin), n), corner[c], n, *how)
            missing += some
            beyond += odd
        for i in range(np.uint64(n)):
            row = np.uint64(begin) + i
            for c in range(FIRST):
                X[row, c] = base[c]
            for c in range(np.uint64(at.size)):
                X[row, np.uint64(FIRST) + c] = corner[c, i]
    return missing, beyond
