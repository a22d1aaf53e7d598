"""Loops of the feature maps: rows of a block to rows of a map, written once for dense and CSR rows.

Sums stay in the order written and zeros are passed over, so that a row is mapped to the same bytes whatever rows are
beside it, and dense and CSR rows give the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import OPTIONS, cols, row_into, rows
from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel, overload, types


def entries(X: Any, i: int) -> int:
    """How many entries row i has: all columns, or those that are there."""
    return int(X.shape[1]) if isinstance(X, np.ndarray) else int(X.indptr[i + 1] - X.indptr[i])


def entry_column(X: Any, i: int, k: int) -> int:
    """Column of the k-th entry of row i."""
    return k if isinstance(X, np.ndarray) else int(X.indices[X.indptr[i] + k])


def entry_value(X: Any, i: int, k: int) -> Any:
    """Value of the k-th entry of row i, in the type of X."""
    return X[i, k] if isinstance(X, np.ndarray) else X.data[X.indptr[i] + k]


@overload(entries, **OPTIONS)
def _entries(X, i):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X, i: X.shape[1]
    return lambda X, i: X.indptr[i + 1] - X.indptr[i]


@overload(entry_column, **OPTIONS)
def _entry_column(X, i, k):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X, i, k: k
    return lambda X, i, k: np.int64(X.indices[X.indptr[i] + k])


@overload(entry_value, **OPTIONS)
def _entry_value(X, i, k):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X, i, k: X[i, k]
    return lambda X, i, k: X.data[X.indptr[i] + k]


@exact_kernel
def rm(X: Any, first: int, order: int, out: Array) -> None:
    """Reduced multivariate polynomial (Toh, Tran & Srinivasan, IEEE TPAMI 26(6), 2004, 740-755) of the given order.

    With s the sum of the inputs x_j, which are the columns from `first` on, a row of out is [bias; s .. s^order; and
    for each j in turn x_j .. x_j^order, x_j s .. x_j s^(order-1)], so that a new input appends columns.
    out (n, 1 + order + inputs * (2 * order - 1)). Powers are taken in float64.
    """
    for i in range(rows(X)):
        o = out[i]
        o[:] = 0.0
        s = 0.0
        for k in range(entries(X, i)):
            if entry_column(X, i, k) >= first:
                s += entry_value(X, i, k)
            elif entry_column(X, i, k) == 0:
                o[0] = entry_value(X, i, k)
        power = 1.0
        for p in range(1, order + 1):
            power *= s
            o[p] = power
        for k in range(entries(X, i)):
            j = entry_column(X, i, k) - first
            x = np.float64(entry_value(X, i, k))
            if j >= 0 and x != 0.0:  # zero times an infinite power of s is not a number
                at = 1 + order + j * (2 * order - 1)
                power = 1.0
                for p in range(order):
                    power *= x
                    o[at + p] = power
                power = x
                for p in range(order, 2 * order - 1):
                    power *= s
                    o[at + p] = power


def monomials(cols: int, first: int, order: int) -> tuple[Array, Array]:
    """Tables of `poly`, each (C(inputs + order, order),) int32: column k is column parent[k] times X[:, factor[k]].

    Monomials stand in the order of their last input, so that a new input appends columns. Parents come before
    children, and entry 0, which is the constant, is not used.

    >>> [t.tolist() for t in monomials(4, 2, 2)]
    [[0, 0, 1, 0, 1, 3], [0, 2, 2, 3, 3, 3]]
    """
    parent, factor, degree = [0], [0], [0]
    factors = [0]  # columns that may be multiplied once more
    for j in range(first, cols):
        for p in factors:  # it grows while it is walked: x_j times x_j is due as well
            if degree[p] + 1 < order:
                factors.append(len(parent))
            parent.append(p)
            factor.append(j)
            degree.append(degree[p] + 1)
    return np.array(parent, np.int32), np.array(factor, np.int32)


@exact_kernel
def poly(X: Any, parent: Array, factor: Array, out: Array) -> None:
    """All monomials of the inputs by the tables of `monomials`, and the bias column. out (n, parent.size)."""
    x = np.empty(cols(X), out.dtype)
    for i in range(rows(X)):
        o = out[i]
        row_into(X, i, x)
        o[0] = 1.0
        for k in range(1, parent.size):
            o[k] = o[parent[k]] * x[factor[k]]
        o[0] = x[0]


@exact_helper
def add_four(o: Array, a: float, u: Array, b: float, v: Array, c: float, w: Array, d: float, z: Array) -> None:
    """Add four multiples to o one after the other: o is fetched and stored once for the four."""
    for f in range(o.size):
        o[f] = (((o[f] + a * u[f]) + b * v[f]) + c * w[f]) + d * z[f]


@exact_kernel
def project(X: Any, first: int, omega: Array, phase: Array, out: Array) -> None:
    """out[:, 1:] = inputs . omega + phase, entry by entry: a product of matrices would depend on how rows are cut."""
    for i in range(rows(X)):
        o = out[i, 1:]
        o[:] = phase
        n = entries(X, i)
        k = 0
        while k < n and entry_column(X, i, k) < first:
            k += 1
        while k + 4 <= n:
            add_four(
                o,
                entry_value(X, i, k),
                omega[entry_column(X, i, k) - first],
                entry_value(X, i, k + 1),
                omega[entry_column(X, i, k + 1) - first],
                entry_value(X, i, k + 2),
                omega[entry_column(X, i, k + 2) - first],
                entry_value(X, i, k + 3),
                omega[entry_column(X, i, k + 3) - first],
            )
            k += 4
        while k < n:
            x = entry_value(X, i, k)
            w = omega[entry_column(X, i, k) - first]
            for f in range(o.size):
                o[f] += x * w[f]
            k += 1


@exact_kernel
def set_bias(X: Any, out: Array) -> None:
    """out[:, 0] = the bias, which is a row's first entry where it is there."""
    for i in range(rows(X)):
        out[i, 0] = 0.0
        if entries(X, i) > 0 and entry_column(X, i, 0) == 0:
            out[i, 0] = entry_value(X, i, 0)


def rff(X: Any, first: int, omega: Array, phase: Array, out: Array) -> None:
    """Random Fourier features (Rahimi & Recht, NIPS 20, 2007): [bias; sqrt(2 / D) cos(inputs . omega + phase)].

    omega (inputs, D), phase (D,), out (n, 1 + D), all of one type. The cosine is taken over the whole array, column 0
    too, since that is one piece of memory.
    """
    project(X, first, omega, phase, out)
    out[:, 0] = 0.0
    np.cos(out, out=out)
    out *= np.sqrt(2.0 / phase.size).astype(out.dtype)
    set_bias(X, out)
