"""Steps of a length of their own for each column, in units of the largest value of the column so far.

Of column j: s_j is the largest |x_j| so far, G_j the sum of g^2 (x_j / s_j)^2. The direction of a step along row x is
x_j / (s_j^2 sqrt(G_j)): normalized adaptive gradients (Ross, Mineiro & Langford, UAI 2013, algorithm 3) without the
factor sqrt(t / N) common to all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import OPTIONS, row_axpy
from bigclf.core import Array
from bigclf.jit import helper, overload, types

LEAST = 1e-10  # of G: a column that was seen with hopeless margins only has a finite step all the same
UNSEEN = 1e300  # 1 / s of a column that was zero so far
BELOW_ONE = 1.0 - 2.0**-51  # so that no |x| / s is above 1 for its rounding


def row_fits(X: Any, i: int, scale: Array) -> bool:
    """Whether no value of the row is the largest of its column."""
    x = np.zeros(scale.size)
    row_axpy(1.0, X, i, x)
    return bool((np.abs(x) * scale <= 1.0).all())


def row_rescale(X: Any, i: int, w: Array, late: Array, square: Array, scale: Array) -> None:
    """Where row i has the largest value of a column, what was learned of the column is as if it had been so before."""
    x = np.zeros(w.size)
    row_axpy(1.0, X, i, x)
    for j in np.flatnonzero(np.abs(x) * scale > 1.0):
        rescale(float(x[j]), int(j), w, late, square, scale)


def row_way(X: Any, i: int, g: float, square: Array, scale: Array, way: Array) -> float:
    """Add g x^2 / s^2 to G, write the direction of the step of row i into `way`, entry by entry; its product with x."""
    x = np.zeros(scale.size)
    row_axpy(1.0, X, i, x)
    v = x * scale
    square += g * v * v
    d = v * scale / np.sqrt(square)
    at = np.arange(x.size) if isinstance(X, np.ndarray) else X.indices[X.indptr[i] : X.indptr[i + 1]]
    way[: at.size] = d[at]
    return float(d @ x)


def row_go(X: Any, i: int, way: Array, a: float, w: Array) -> None:
    """w += a way, entry by entry of row i."""
    if isinstance(X, np.ndarray):
        w += a * way
    else:
        at = X.indices[X.indptr[i] : X.indptr[i + 1]]
        w[at] += a * way[: at.size]


@helper
def rescale(x: float, j: int, w: Array, late: Array, square: Array, scale: Array) -> None:
    """The same for column j."""
    new = min(BELOW_ONE / abs(x), UNSEEN)
    ratio = new / scale[j]
    scale[j] = new
    w[j] *= ratio
    square[j] = max(square[j] * ratio * ratio, LEAST)
    if late.size > 0:
        late[j] *= ratio


@overload(row_fits, **OPTIONS)
def _row_fits(X, i, scale):  # type: ignore[no-untyped-def]
    def dense(X, i, scale):  # type: ignore[no-untyped-def]
        beyond = 0
        for j in range(X.shape[1]):
            beyond += abs(np.float64(X[i, j])) * scale[j] > 1.0
        return beyond == 0

    def csr(X, i, scale):  # type: ignore[no-untyped-def]
        beyond = 0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            beyond += abs(np.float64(X.data[k])) * scale[X.indices[k]] > 1.0
        return beyond == 0

    return dense if isinstance(X, types.Array) else csr


@overload(row_rescale, **OPTIONS)
def _row_rescale(X, i, w, late, square, scale):  # type: ignore[no-untyped-def]
    def dense(X, i, w, late, square, scale):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            if abs(x) * scale[j] > 1.0:
                rescale(x, j, w, late, square, scale)

    def csr(X, i, w, late, square, scale):  # type: ignore[no-untyped-def]
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x = np.float64(X.data[k])
            if abs(x) * scale[X.indices[k]] > 1.0:
                rescale(x, X.indices[k], w, late, square, scale)

    return dense if isinstance(X, types.Array) else csr


@overload(row_way, **OPTIONS)
def _row_way(X, i, g, square, scale, way):  # type: ignore[no-untyped-def]
    def dense(X, i, g, square, scale, way):  # type: ignore[no-untyped-def]
        k = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            v = x * scale[j]
            s = square[j] + g * v * v
            square[j] = s
            d = v * scale[j] / np.sqrt(s)
            way[j] = d
            k += d * x
        return k

    def csr(X, i, g, square, scale, way):  # type: ignore[no-untyped-def]
        k = 0.0
        start = X.indptr[i]
        for n in range(X.indptr[i + 1] - start):
            x = np.float64(X.data[start + n])
            j = X.indices[start + n]
            v = x * scale[j]
            s = square[j] + g * v * v
            square[j] = s
            d = v * scale[j] / np.sqrt(s)
            way[n] = d
            k += d * x
        return k

    return dense if isinstance(X, types.Array) else csr


@overload(row_go, **OPTIONS)
def _row_go(X, i, way, a, w):  # type: ignore[no-untyped-def]
    def dense(X, i, way, a, w):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            w[j] += a * way[j]

    def csr(X, i, way, a, w):  # type: ignore[no-untyped-def]
        start = X.indptr[i]
        for n in range(X.indptr[i + 1] - start):
            w[X.indices[start + n]] += a * way[n]

    return dense if isinstance(X, types.Array) else csr
