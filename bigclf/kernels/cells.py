"""Several numbers of each column, side by side: the column's cell. A sparse row then has them from one place of memory.

A learner's fields are views of the cells, (units, cols) each, and stay what they are to all who do not hurry. Kernels
take a row's numbers out into rows of contiguous scratch, and put them back: of a sparse row those of its entries; of
dense rows those of all columns, once for all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import OPTIONS, for_type, rows
from bigclf.core import Array, Scores, Shape
from bigclf.jit import helper, kernel, loan, overload, types
from bigclf.kernels.memory import LANES, pairs_back, pairs_out, quads_back, quads_out

LINE = 64  # bytes that memory hands over at once


def fields(shape: Shape, *starts: float) -> tuple[Array, ...]:
    """Arrays (units, cols), each full of its start, that together are the cells of a state.

    >>> w, sigma = fields(Shape(1, 3, 2), 0.0, 1.0)
    >>> sigma, w.strides
    (array([[1., 1., 1.]]), (48, 16))
    """
    size = shape.units, shape.cols, len(starts)
    room = np.empty(8 * int(np.prod(size)) + LINE, np.uint8)
    begin = -room.ctypes.data % LINE  # so that no cell of a power of two reaches over two lines
    made = room[begin : begin + 8 * int(np.prod(size))].view(np.float64).reshape(size)
    made[...] = starts
    return tuple(made[..., k] for k in range(len(starts)))


def whole(*parts: Array) -> Array:
    """The cells (units, cols, numbers) whose fields these are. AssertionError where they do not stand side by side."""
    first, room, n = parts[0], parts[0].base, len(parts)
    units, cols = first.shape
    strides, at = (8 * n * cols, 8 * n), _place(first)
    assert room is not None and all(p.base is room and p.strides == strides for p in parts)
    assert _place(parts[-1]) == at + 8 * (n - 1)
    return np.ndarray((units, cols, n), first.dtype, room, at - _place(room))


def _place(a: Array) -> int:
    place: int = a.__array_interface__["data"][0]
    return place


def row_at(X: Any, i: int) -> tuple[int, int]:
    """Where the numbers of row i begin, for `value`, and how many there are."""
    if isinstance(X, np.ndarray):
        return 0, X.shape[1]
    return X.indptr[i], X.indptr[i + 1] - X.indptr[i]


def value(X: Any, i: int, first: int, k: int) -> float:
    """Number k of row i."""
    return float(X[i, k] if isinstance(X, np.ndarray) else X.data[first + k])


def all_out(X: Any, cells: Array, at: Array, many: int) -> None:
    """Of dense rows: write the numbers of the cells (cols, many) to the first rows of at (many or more, cols)."""
    if isinstance(X, np.ndarray):
        n = X.shape[1]
        at[:many, :n] = cells[:n].T


def all_back(X: Any, cells: Array, at: Array, many: int) -> None:
    """The inverse of `all_out`."""
    if isinstance(X, np.ndarray):
        n = X.shape[1]
        cells[:n] = at[:many, :n].T


def row_out(X: Any, i: int, cells: Array, at: Array, many: int) -> None:
    """Of sparse rows: write the numbers of the columns of row i, entry by entry, to the first rows of `at`."""
    if not isinstance(X, np.ndarray):
        s = slice(X.indptr[i], X.indptr[i + 1])
        at[:many, : s.stop - s.start] = cells[X.indices[s]].T


def row_back(X: Any, i: int, cells: Array, at: Array, many: int) -> None:
    """The inverse of `row_out`."""
    if not isinstance(X, np.ndarray):
        s = slice(X.indptr[i], X.indptr[i + 1])
        cells[X.indices[s]] = at[:many, : s.stop - s.start].T


@helper
def row_score(X: Any, i: int, at: Array, number: int) -> float:
    """Inner product of row i with the row `number` of `at`."""
    first, size = row_at(X, i)
    w = at[number]
    s = 0.0
    for n in range(size):
        s += value(X, i, first, n) * w[n]
    return s


@kernel
def score_into(cells: Array, numbers: Array, X: Any, at: Array, out: Array) -> None:
    """out[k, u, i] = inner product of row i with number numbers[k] of the cells of unit u. at (many, cols): scratch."""
    at = loan(at)
    many = cells.shape[2]
    for u in range(out.shape[1]):
        own = cells[u]
        all_out(X, own, at, many)
        for i in range(out.shape[2]):
            row_out(X, i, own, at, many)
            for k in range(numbers.size):
                out[k, u, i] = row_score(X, i, at, numbers[k])


def scores(cells: Array, numbers: tuple[int, ...], X: Any) -> Scores:
    """Inner products (numbers, units, n) of rows with these numbers of the cells (units, cols, many)."""
    units, cols, many = cells.shape
    out = np.empty((len(numbers), units, rows(X)))
    score_into(cells, np.array(numbers), X, np.empty((many, cols)), out)
    return out


def _mover(back: bool) -> Any:
    """What moves the numbers of `size` cells to rows of `at`, or back; four cells at once where they have 2 or 4."""
    quads, pairs = (quads_back, pairs_back) if back else (quads_out, pairs_out)

    @helper
    def move(cells: Array, indices: Any, first: Any, size: Any, at: Array, many: int) -> None:
        done, four = np.uint64(0), np.uint64(LANES)
        if many == 2 or many == 4:  # noqa: PLR1714 - of a tuple numba loads what finds anything in one
            done = size // four * four
        for k in range(np.uint64(0), done, four):
            if many == 4:
                quads(cells, indices, first, at, k)
            else:
                pairs(cells, indices, first, at, k)
        for k in range(done, size):
            j = _column(indices, first, k)
            for n in range(many):
                if back:
                    cells[j, n] = at[n, k]
                else:
                    at[n, k] = cells[j, n]

    return move


def _column(indices: Any, first: Any, k: Any) -> Any:
    return k if indices is None else indices[first + k]


@overload(_column, **OPTIONS)
def _column_of(indices, first, k):  # type: ignore[no-untyped-def]
    if isinstance(indices, types.Array):
        return lambda indices, first, k: np.uint64(indices[first + k])
    return lambda indices, first, k: k


_out, _back = _mover(False), _mover(True)


@overload(row_at, **OPTIONS)
def _row_at(X, i):  # type: ignore[no-untyped-def]
    return for_type(
        X,
        lambda X, i: (np.uint64(0), np.uint64(X.shape[1])),
        lambda X, i: (np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1] - X.indptr[i])),
    )


@overload(value, **OPTIONS)
def _value(X, i, first, k):  # type: ignore[no-untyped-def]
    return for_type(X, lambda X, i, first, k: np.float64(X[i, k]), lambda X, i, first, k: np.float64(X.data[first + k]))


@overload(all_out, **OPTIONS)
def _all_out(X, cells, at, many):  # type: ignore[no-untyped-def]
    def dense(X, cells, at, many):  # type: ignore[no-untyped-def]
        _out(cells, None, 0, np.uint64(X.shape[1]), at, many)

    return for_type(X, dense, lambda X, cells, at, many: None)


@overload(all_back, **OPTIONS)
def _all_back(X, cells, at, many):  # type: ignore[no-untyped-def]
    def dense(X, cells, at, many):  # type: ignore[no-untyped-def]
        _back(cells, None, 0, np.uint64(X.shape[1]), at, many)

    return for_type(X, dense, lambda X, cells, at, many: None)


@overload(row_out, **OPTIONS)
def _row_out(X, i, cells, at, many):  # type: ignore[no-untyped-def]
    def csr(X, i, cells, at, many):  # type: ignore[no-untyped-def]
        first, size = row_at(X, i)
        _out(cells, X.indices, first, size, at, many)

    return for_type(X, lambda X, i, cells, at, many: None, csr)


@overload(row_back, **OPTIONS)
def _row_back(X, i, cells, at, many):  # type: ignore[no-untyped-def]
    def csr(X, i, cells, at, many):  # type: ignore[no-untyped-def]
        first, size = row_at(X, i)
        _back(cells, X.indices, first, size, at, many)

    return for_type(X, lambda X, i, cells, at, many: None, csr)
