"""Loops of the encoder over sparse rows: raw ones to CSR rows of a block, or looked over where they lie as such."""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel, kernel
from bigclf.reading.encode_kernel import BIG, DONE, FAR, GROW, inverse_length
from bigclf.reading.memory import LANES, MOST, address, scale_lanes


@exact_kernel
def fill_csr(
    indptr: Array,
    column: Array,
    value: Array,
    start: int,
    out_ptr: Array,
    indices: Array,
    data: Array,
    bias: float,
    factor: Array,
    limit: float,
    known: int,
    frozen: bool,
) -> tuple[int, int, int, int, int, int]:
    """Sparse rows from `start` on into CSR rows that begin with the bias; returns as `fill_dense`.

    factor: of each column; none where all are 1.
    """
    by_factor = factor.size > 0
    most = data.dtype.type(limit)
    left_out = 0
    low, high = FAR, -1
    z = 0
    out_ptr[0] = 0
    n = out_ptr.size - 1
    for i in range(n):
        if bias != 0.0:
            indices[z] = 0
            data[z] = bias
            z += 1
        first, end = indptr[start + i], indptr[start + i + 1]
        if end > first and column[end - 1] < known:
            bad = False
            at, to = np.uint64(first), np.uint64(z)
            for q in range(np.uint64(end - first)):
                data[to + q] = value[at + q]
                bad |= not abs(data[to + q]) <= most
                indices[to + q] = column[at + q]
            if by_factor and not bad:
                for q in range(np.uint64(end - first)):
                    w = np.float64(data[to + q]) * factor[np.uint64(column[at + q])]
                    bad |= not abs(w) <= limit
                    data[to + q] = w
            if not bad:
                z += end - first
                out_ptr[i + 1] = z
                low, high = min(low, column[first]), max(high, column[end - 1])
                continue
        for k in range(first, end):
            j = column[k]
            if j >= known:
                if not frozen:
                    return GROW, i, j, left_out, low, high
                left_out += 1
                continue
            data[z] = value[k]
            v = np.float64(data[z])
            w = v * factor[j] if by_factor else v
            if not (abs(v) <= limit and abs(w) <= limit):
                return BIG, i, j, left_out, low, high
            indices[z] = j
            data[z] = w
            z += 1
        out_ptr[i + 1] = z
        if end > first:
            low, high = min(low, column[first]), max(high, column[end - 1])
    return DONE, n, -1, left_out, low, high


@exact_kernel
def merge_columns(indptr: Array, column: Array, value: Array) -> int:
    """Sum the entries of a row that share a column, in place; columns ascend. Returns the entries that stay."""
    z = 0
    for i in range(indptr.size - 1):
        start = z
        begin = indptr[i]
        indptr[i] = start
        for k in range(begin, indptr[i + 1]):
            if z > start and column[z - 1] == column[k]:
                value[z - 1] += value[k]
            else:
                column[z] = column[k]
                value[z] = value[k]
                z += 1
    indptr[-1] = z
    return z


@exact_helper
def scale_row(data: Array, indices: Array, first: int, end: int, factor: Array) -> bool:
    """Multiply entries first to end by the factors (cols,) of their columns, in place; whether all stay numbers."""
    good = True
    at = first
    while at + LANES <= end:
        good &= scale_lanes(address(data), at, address(indices), address(factor))
        at += LANES
    for k in range(np.uint64(at), np.uint64(end)):
        w = np.float64(data[k]) * factor[np.uint64(indices[k])]
        good &= abs(w) <= MOST
        data[k] = w
    return good


@exact_kernel
def finish_csr(
    indptr: Array,
    indices: Array,
    data: Array,
    start: int,
    out_ptr: Array,
    bias: bool,
    factor: Array,
    known: int,
    frozen: bool,
) -> tuple[int, int, int, int, int, int]:
    """As `fill_csr`, for rows of float32 that lie as it would write them, with the bias, but for their scale.

    indices and data (nnz,) are changed in place: a row is to be finished once only. Rows from `start` on, as many as
    out_ptr (n + 1,) has room for; what is left out makes room behind them, and out_ptr counts from their begin.
    """
    slot = 1 if bias else 0
    left_out = 0
    low, high = FAR, -1
    z = base = indptr[start]
    out_ptr[0] = 0
    n = out_ptr.size - 1
    for i in range(n):
        begin, end = indptr[start + i], indptr[start + i + 1]
        first = begin + slot
        last = end
        while end > first and indices[end - 1] >= known:
            end -= 1
        if end < last and not frozen:
            for k in range(first, end):  # not scaled yet: the row will be met again
                w = np.float64(data[k]) * (factor[indices[k]] if factor.size > 0 else 1.0)
                if not (abs(data[k]) <= MOST and abs(w) <= MOST):
                    return BIG, i, indices[k], left_out, low, high
            return GROW, i, indices[end], left_out, low, high
        left_out += last - end
        if factor.size > 0:
            good = scale_row(data, indices, first, end, factor)
        else:
            good = True
            for k in range(np.uint64(first), np.uint64(end)):
                good &= abs(data[k]) <= MOST
        if not good:
            worst = first  # what is scaled already, and rounded, may be within the limit again: the largest it was
            for k in range(first, end):
                if abs(data[k]) > abs(data[worst]):
                    worst = k
            return BIG, i, indices[worst], left_out, low, high
        if z < begin:
            for k in range(begin, end):
                indices[z + k - begin] = indices[k]
                data[z + k - begin] = data[k]
        z += end - begin
        out_ptr[i + 1] = z - base
        if end > first:
            low, high = min(low, indices[first]), max(high, indices[end - 1])
    return DONE, n, -1, left_out, low, high


@kernel
def unit_rows_csr(indptr: Array, data: Array) -> None:
    """Bring every CSR row to Euclidean length one, in place."""
    for i in range(indptr.size - 1):
        sq = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            sq += np.float64(data[k]) * np.float64(data[k])
        r = inverse_length(sq)
        for k in range(indptr[i], indptr[i + 1]):
            data[k] = np.float64(data[k]) * r
