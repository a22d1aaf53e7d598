"""Row access, written once for dense and CSR rows: the type of X picks the loop when a kernel is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bigclf.jit import FAST, helper, overload, types

if TYPE_CHECKING:
    from bigclf.core import Array


class Csr(NamedTuple):
    """Sparse rows; columns ascend within a row and none is there twice."""

    data: Array  # (nnz,) float32 or float64
    indices: Array  # (nnz,) int32
    indptr: Array  # (n + 1,) int64
    cols: int


class GramRows(NamedTuple):
    """Rows of a Gram matrix: a weight for each of its columns makes a kernel machine of a linear one.

    Such a row's own column holds k(x, x); what a linear learner adds of a row, a kernel machine adds to the coefficient
    of that column.
    """

    K: Array  # (n, cols) float64, kernel with each support point
    own: Array  # (n,) int64, the column of the row itself


def rows(X: Any) -> int:
    """Number of rows."""
    if isinstance(X, Csr):
        return len(X.indptr) - 1
    return int(X.K.shape[0] if isinstance(X, GramRows) else X.shape[0])


def cols(X: Any) -> int:
    """Number of columns."""
    if isinstance(X, Csr):
        return int(X.cols)
    return int(X.K.shape[1] if isinstance(X, GramRows) else X.shape[1])


def take(X: Any, start: int, end: int) -> Any:
    """Rows start to end, as views."""
    if isinstance(X, np.ndarray):
        return X[start:end]
    if isinstance(X, GramRows):
        return GramRows(X.K[start:end], X.own[start:end])
    a, b = int(X.indptr[start]), int(X.indptr[end])
    return Csr(X.data[a:b], X.indices[a:b], X.indptr[start : end + 1] - a, X.cols)


def pick(X: Any, at: Array) -> Any:
    """The rows with these positions, in this order, as copies."""
    if isinstance(X, np.ndarray):
        return X[at]
    indptr, entries = picked(X.indptr, at)
    return Csr(X.data[entries], X.indices[entries], indptr, X.cols)


def picked(indptr: Array, at: Array) -> tuple[Array, Array]:
    """Of sparse rows: the row borders of the rows with these positions, and which entries they hold."""
    size = np.diff(indptr)[at]
    borders = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
    return borders, np.repeat(indptr[at] - borders[:-1], size) + np.arange(borders[-1])


def owners(indptr: Array, entries: Any) -> Any:
    """Which of the sparse rows these entries belong to."""
    return np.searchsorted(indptr, entries, side="right") - 1


def join(parts: list[Any]) -> Any:
    """Rows of all parts, which have the same columns, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    starts = np.cumsum([0, *(int(p.indptr[-1]) for p in parts)])
    indptr = np.concatenate([parts[0].indptr[:1], *(p.indptr[1:] + s for p, s in zip(parts, starts, strict=False))])
    return Csr(
        np.concatenate([p.data for p in parts]), np.concatenate([p.indices for p in parts]), indptr, parts[0].cols
    )


def densify(X: Any) -> Array:
    """The rows as a dense float64 array, a copy."""
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    out = np.zeros((rows(X), X.cols))
    out[np.repeat(np.arange(rows(X)), np.diff(X.indptr)), X.indices] = X.data
    return out


def row_dot(X: Any, i: int, w: Array) -> float:
    """Inner product of row i with w (cols,)."""
    if isinstance(X, GramRows):
        return float(X.K[i] @ w[: X.K.shape[1]])
    if isinstance(X, np.ndarray):
        return float(X[i].astype(np.float64) @ w)
    s = slice(X.indptr[i], X.indptr[i + 1])
    return float(X.data[s].astype(np.float64) @ w[X.indices[s]])


def row_sq(X: Any, i: int) -> float:
    """Squared norm of row i."""
    if isinstance(X, GramRows):
        return float(X.K[i, X.own[i]])
    v = X[i] if isinstance(X, np.ndarray) else X.data[X.indptr[i] : X.indptr[i + 1]]
    v = v.astype(np.float64)
    return float(v @ v)


def row_axpy(a: float, X: Any, i: int, w: Array) -> None:
    """w += a * row i, in place."""
    if isinstance(X, GramRows):
        w[X.own[i]] += a
    elif isinstance(X, np.ndarray):
        w += a * X[i].astype(np.float64)
    else:
        s = slice(X.indptr[i], X.indptr[i + 1])
        w[X.indices[s]] += a * X.data[s].astype(np.float64)


def row_into(X: Any, i: int, out: Array) -> None:
    """Write row i into out (cols,)."""
    if isinstance(X, np.ndarray):
        out[:] = X[i]
    else:
        s = slice(X.indptr[i], X.indptr[i + 1])
        out[:] = 0.0
        out[X.indices[s]] = X.data[s]


def alone(X: Any) -> Any:
    """Room for any one row of X, as rows of the same kind."""
    if isinstance(X, GramRows):
        return GramRows(np.empty((1, X.K.shape[1])), np.zeros(1, np.int64))
    if isinstance(X, np.ndarray):
        return np.empty((1, X.shape[1]), X.dtype)
    longest = int(np.diff(X.indptr).max(initial=0))
    return Csr(np.empty(longest, X.data.dtype), np.empty(longest, X.indices.dtype), np.zeros(2, X.indptr.dtype), X.cols)


def row_alone(X: Any, i: int, one: Any) -> None:
    """Write row i into the room for one."""
    if isinstance(X, GramRows):
        one.K[0], one.own[0] = X.K[i], X.own[i]
    elif isinstance(X, np.ndarray):
        one[0] = X[i]
    else:
        s, n = slice(X.indptr[i], X.indptr[i + 1]), X.indptr[i + 1] - X.indptr[i]
        one.data[:n], one.indices[:n], one.indptr[1] = X.data[s], X.indices[s], n


# for every overload, so that helpers are compiled as kernels are, and into them: see tests/test_compiled.py
OPTIONS: dict[str, Any] = {"jit_options": {"fastmath": FAST, "error_model": "numpy", "forceinline": True}}


def for_type(X: Any, dense: Any, csr: Any, gram: Any = None) -> Any:
    """Of the loops for each type of rows the one for this type, as numba has it."""
    if isinstance(X, types.Array):
        return dense
    return csr if X.instance_class is Csr else gram


@helper
def entries(X: Any, i: int) -> range:
    """Where the entries of sparse row i are, for kernels.

    Unsigned, and so should columns be: else each look-up asks whether its place counts from the end, which takes as
    long as the rest of a loop.
    """
    return range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1]))


@overload(rows, **OPTIONS)
def _rows(X):  # type: ignore[no-untyped-def]
    return for_type(X, lambda X: X.shape[0], lambda X: X.indptr.size - 1, lambda X: X.K.shape[0])


@overload(cols, **OPTIONS)
def _cols(X):  # type: ignore[no-untyped-def]
    return for_type(X, lambda X: X.shape[1], lambda X: X.cols, lambda X: X.K.shape[1])


@overload(row_dot, **OPTIONS)
def _row_dot(X, i, w):  # type: ignore[no-untyped-def]
    def dense(X, i, w):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(X.shape[1]):
            s += np.float64(X[i, j]) * w[j]
        return s

    def csr(X, i, w):  # type: ignore[no-untyped-def]
        s = 0.0
        for k in entries(X, i):
            s += np.float64(X.data[k]) * w[np.uint64(X.indices[k])]
        return s

    def gram(X, i, w):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(X.K.shape[1]):
            s += X.K[i, j] * w[j]
        return s

    return for_type(X, dense, csr, gram)


@overload(row_sq, **OPTIONS)
def _row_sq(X, i):  # type: ignore[no-untyped-def]
    def dense(X, i):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(X.shape[1]):
            v = np.float64(X[i, j])
            s += v * v
        return s

    def csr(X, i):  # type: ignore[no-untyped-def]
        s = 0.0
        for k in entries(X, i):
            v = np.float64(X.data[k])
            s += v * v
        return s

    def gram(X, i):  # type: ignore[no-untyped-def]
        return X.K[i, X.own[i]]

    return for_type(X, dense, csr, gram)


@overload(row_axpy, **OPTIONS)
def _row_axpy(a, X, i, w):  # type: ignore[no-untyped-def]
    def dense(a, X, i, w):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            w[j] += a * np.float64(X[i, j])

    def csr(a, X, i, w):  # type: ignore[no-untyped-def]
        for k in entries(X, i):
            w[np.uint64(X.indices[k])] += a * np.float64(X.data[k])

    def gram(a, X, i, w):  # type: ignore[no-untyped-def]
        w[X.own[i]] += a

    return for_type(X, dense, csr, gram)


@overload(row_into, **OPTIONS)
def _row_into(X, i, out):  # type: ignore[no-untyped-def]
    def dense(X, i, out):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            out[j] = X[i, j]

    def csr(X, i, out):  # type: ignore[no-untyped-def]
        out[:] = 0.0
        for k in entries(X, i):
            out[np.uint64(X.indices[k])] = X.data[k]

    return for_type(X, dense, csr)


@overload(row_alone, **OPTIONS)
def _row_alone(X, i, one):  # type: ignore[no-untyped-def]
    def dense(X, i, one):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            one[0, j] = X[i, j]

    def csr(X, i, one):  # type: ignore[no-untyped-def]
        start = X.indptr[i]
        n = X.indptr[i + 1] - start
        for k in range(n):
            one.data[k] = X.data[start + k]
            one.indices[k] = X.indices[start + k]
        one.indptr[1] = n

    def gram(X, i, one):  # type: ignore[no-untyped-def]
        for j in range(X.K.shape[1]):
            one.K[0, j] = X.K[i, j]
        one.own[0] = X.own[i]

    return for_type(X, dense, csr, gram)
