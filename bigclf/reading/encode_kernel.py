"""Loops of the encoder: statistics of the head, and raw rows to rows of a block.

Every value goes the same way whatever it was read from: shifted by the reference in float64, rounded to the block's
type, then scaled in float64 and rounded again. So dense and sparse rows, and all formats, give the same block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel, kernel

DONE, GROW, BIG = 0, 1, 2  # why a loop ended: all rows; a column beyond the block; a value beyond its type

FAR = 1 << 31  # beyond any column


@exact_kernel
def moments(F: Array, seen: Array, mean: Array, m2: Array, lo: Array, hi: Array) -> None:
    """Add rows F (n, cols) float64 to running statistics by column (Welford 1962), row by row; NaN is left out."""
    for i in range(F.shape[0]):
        for j in range(F.shape[1]):
            x = F[i, j]
            if not np.isnan(x):
                seen[j] += 1.0
                d = x - mean[j]
                mean[j] += d / seen[j]
                m2[j] += d * (x - mean[j])
                lo[j] = min(lo[j], x)
                hi[j] = max(hi[j], x)


@exact_kernel
def moments_sparse(column: Array, value: Array, seen: Array, mean: Array, m2: Array, lo: Array, hi: Array) -> None:
    """As `moments`, over the entries that are there."""
    for k in range(column.size):
        j = column[k]
        x = value[k]
        seen[j] += 1.0
        d = x - mean[j]
        mean[j] += d / seen[j]
        m2[j] += d * (x - mean[j])
        lo[j] = min(lo[j], x)
        hi[j] = max(hi[j], x)


@exact_kernel
def scatter(indptr: Array, column: Array, value: Array, F: Array) -> None:
    """Sparse rows into zeroed dense ones."""
    for i in range(F.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            F[i, column[k]] = value[k]


@exact_helper
def keeps(reference: Array, offset: Array, factor: Array) -> bool:
    """Whether values stay as they are."""
    same = True
    for j in range(factor.size):
        same &= reference[j] == 0.0 and offset[j] == 0.0 and factor[j] == 1.0
    return same


@exact_kernel
def finish_dense(
    F: Array, X: Array, bias: float, fill: Array, reference: Array, offset: Array, factor: Array, limit: float
) -> tuple[int, int]:
    """Rows as read F (n, cols) to rows of a block X, whose column 0 becomes the bias whatever F has there.

    Returns how many are missing, and how many beyond limit.
    """
    missing = 0
    big = 0
    same = keeps(reference, offset, factor)
    most = X.dtype.type(limit)
    for i in range(F.shape[0]):
        odd = False
        if same:
            for j in range(F.shape[1]):
                X[i, j] = F[i, j]
                odd |= not abs(X[i, j]) <= most
        else:
            for j in range(F.shape[1]):
                X[i, j] = F[i, j] - reference[j]
                v = np.float64(X[i, j])
                w = (v - offset[j]) * factor[j]
                odd |= not (abs(v) <= limit) or not (abs(w) <= limit)
                X[i, j] = w
        if odd:  # once more, and with care
            for j in range(F.shape[1]):
                x = F[i, j]
                if np.isnan(x):
                    missing += 1
                    x = fill[j]
                X[i, j] = x - reference[j]
                v = np.float64(X[i, j])
                w = (v - offset[j]) * factor[j]
                if not (abs(v) <= limit and abs(w) <= limit):
                    big += 1
                X[i, j] = w
        X[i, 0] = bias
    return missing, big


@exact_kernel
def fill_dense(
    indptr: Array,
    column: Array,
    value: Array,
    start: int,
    X: Array,
    base: Array,
    reference: Array,
    offset: Array,
    factor: Array,
    limit: float,
    known: int,
    frozen: bool,
) -> tuple[int, int, int, int, int, int]:
    """Sparse rows from `start` on into dense rows X; `base` is what an absent entry becomes, columns are below `known`.

    Returns (why it ended, rows written, column at fault, entries left out because the model has no such column; lowest
    and highest column of the rows written).
    """
    left_out = 0
    low, high = FAR, -1
    same = keeps(reference, offset, factor)
    most = X.dtype.type(limit)
    for i in range(X.shape[0]):
        first, end = indptr[start + i], indptr[start + i + 1]
        n = end - first
        if n > 0 and column[end - 1] - column[first] == n - 1 and column[end - 1] < known:  # no gap: they ascend
            at = np.uint64(column[first])
            for j in range(at):
                X[i, j] = base[j]
            for j in range(at + np.uint64(n), np.uint64(base.size)):
                X[i, j] = base[j]
            bad = False
            if same:
                for q in range(np.uint64(n)):
                    X[i, at + q] = value[np.uint64(first) + q]
                    bad |= not abs(X[i, at + q]) <= most
            else:
                for q in range(np.uint64(n)):
                    to = at + q
                    X[i, to] = value[np.uint64(first) + q] - reference[to]
                    v = np.float64(X[i, to])
                    w = (v - offset[to]) * factor[to]
                    bad |= not (abs(v) <= limit) or not (abs(w) <= limit)
                    X[i, to] = w
            if not bad:
                low, high = min(low, column[first]), max(high, column[end - 1])
                continue
        for j in range(np.uint64(base.size)):  # an array written into a slice would load a part of numba
            X[i, j] = base[j]
        for k in range(first, end):
            j = column[k]
            if j >= known:
                if not frozen:
                    return GROW, i, j, left_out, low, high
                left_out += 1
                continue
            X[i, j] = value[k] - reference[j]
            v = np.float64(X[i, j])
            w = (v - offset[j]) * factor[j]
            if not (abs(v) <= limit and abs(w) <= limit):
                return BIG, i, j, left_out, low, high
            X[i, j] = w
        if n > 0:
            low, high = min(low, column[first]), max(high, column[end - 1])
    return DONE, X.shape[0], -1, left_out, low, high


@exact_helper
def inverse_length(sq: float) -> float:
    """What brings a row of this squared length to length one; a row of zeros stays."""
    return 1.0 / np.sqrt(sq) if sq > 0.0 else 1.0


@kernel
def unit_rows(X: Array) -> None:
    """Bring every dense row to Euclidean length one, in place; rows of zeros stay."""
    for i in range(X.shape[0]):
        sq = 0.0
        for j in range(X.shape[1]):
            sq += np.float64(X[i, j]) * np.float64(X[i, j])
        r = inverse_length(sq)
        for j in range(X.shape[1]):
            X[i, j] = np.float64(X[i, j]) * r


def as_own(a: Any) -> Array:
    """A writable array in C order: read-only views would compile every loop once more."""
    return np.require(a, requirements=("C", "W"))
