"""Several numbers of each column, side by side: the column's cell. A sparse row then has them from one place of memory.

A learner's fields are views of the cells, (units, cols) each, and stay what they are to all who do not hurry. Kernels
take a row's numbers out into rows of contiguous scratch, and put them back: of a sparse row those of its entries; of
dense rows those of all columns, once for all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import OPTIONS, Csr, for_type, rows
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
    taken = np.empty(8 * int(np.prod(size)) + LINE, np.uint8)
    begin = -taken.ctypes.data % LINE  # so that no cell of a power of two reaches over two lines
    made = taken[begin : begin + 8 * int(np.prod(size))].view(np.float64).reshape(size)
    made[...] = starts
    return tuple(made[..., k] for k in range(len(starts)))


def whole(*parts: Array) -> Array:
    """The cells (units, cols, numbers) whose fields these are. AssertionError where they do not stand side by side."""
    first, owner, n = parts[0], parts[0].base, len(parts)
    units, cols = first.shape
    strides, at = (8 * n * cols, 8 * n), _place(first)
    beside = all(p.base is owner and p.strides == strides for p in parts)
    if owner is None or not beside or _place(parts[-1]) != at + 8 * (n - 1):  # also where assertions are left out
        raise AssertionError("fields of a state that do not stand side by side")
    return np.ndarray((units, cols, n), first.dtype, owner, at - _place(owner))


def _place(a: Array) -> int:
    place: int = a.__array_interface__["data"][0]
    return place


def room(X: Any, many: int) -> Array:
    """Scratch for so many numbers of the columns of any row: of sparse rows no more than there are entries."""
    return np.empty((many, min(X.cols, X.data.size) if isinstance(X, Csr) else X.shape[1]))


def row_at(X: Any, i: int) -> tuple[int, int]:
    """Where the numbers of row i begin, for `value`, and how many there are."""
    if isinstance(X, np.ndarray):
        return 0, X.shape[1]
    return X.indptr[i], X.indptr[i + 1] - X.indptr[i]


def value(X: Any, i: int, first: int, k: int) -> float:
    """Number k of row i."""
    return float(X[i, k] if isinstance(X, np.ndarray) else X.data[first + k])


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


def _moves(back: bool) -> tuple[Any, Any]:
    """What moves all columns of dense rows, and those of one sparse row, from cells to scratch or back.

    (X, cells (cols, many), at, many) and (X, i, cells, at, many): the first `many` rows of `at` hold the numbers by
    kind, entry by entry. `many` is a constant where the kernel knows it. Of rows of the other kind each does nothing.
    """
    move = _mover(back)

    def all_columns(X: Any, cells: Array, at: Array, many: int) -> None:
        if isinstance(X, np.ndarray):
            own = at[:many, : X.shape[1]]
            if back:
                cells[: X.shape[1]] = own.T
            else:
                own[:] = cells[: X.shape[1]].T

    def row(X: Any, i: int, cells: Array, at: Array, many: int) -> None:
        if not isinstance(X, np.ndarray):
            columns = X.indices[X.indptr[i] : X.indptr[i + 1]]
            own = at[:many, : columns.size]
            if back:
                cells[columns] = own.T
            else:
                own[:] = cells[columns].T

    @overload(all_columns, **OPTIONS)
    def _all_columns(X, cells, at, many):  # type: ignore[no-untyped-def]
        def dense(X, cells, at, many):  # type: ignore[no-untyped-def]
            move(cells, None, 0, np.uint64(X.shape[1]), at, many)

        return for_type(X, dense, lambda X, cells, at, many: None)

    @overload(row, **OPTIONS)
    def _row(X, i, cells, at, many):  # type: ignore[no-untyped-def]
        def csr(X, i, cells, at, many):  # type: ignore[no-untyped-def]
            first, size = row_at(X, i)
            move(cells, X.indices, first, size, at, many)

        return for_type(X, lambda X, i, cells, at, many: None, csr)

    return all_columns, row


all_out, row_out = _moves(False)
all_back, row_back = _moves(True)


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
    """out[k, u, i] = inner product of row i with number numbers[k] of the cells of unit u. at: `room`."""
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
    out = np.empty((len(numbers), len(cells), rows(X)))
    score_into(cells, np.array(numbers), X, room(X, cells.shape[2]), out)
    return out
