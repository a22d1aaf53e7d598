"""Steps of a length of their own for each column, in units of the largest value of the column so far.

Of column j: s_j is the largest |x_j| so far, G_j the sum of g^2 (x_j / s_j)^2. The direction of a step along row x is
x_j / (s_j^2 sqrt(G_j)): normalized adaptive gradients (Ross, Mineiro & Langford, UAI 2013, algorithm 3). Their common
factor sqrt(t / N) is the learner's to take: N is the sum of (x_j / s_j)^2 over all rows and columns.
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


def row_way(
    X: Any,
    i: int,
    g: float,
    w: Array,
    late: Array,
    average: bool,
    square: Array,
    scale: Array,
    way: Array,
    spare: Array,
    told: Array,
) -> float:
    """Add g x^2 / s^2 to G and write the direction of the step of row i into `way`, entry by entry.

    Where the row has the largest value of a column, what was learned of the column is first made as if it had always
    been in these units. told (4,) is written: what x.w and x.late have grown by; the sum of x^2 / s^2; how many columns
    are not zero. spare (cols,) is scratch. Returns the product of the direction with x.
    """
    x = np.zeros(scale.size)
    row_axpy(1.0, X, i, x)
    told[:] = 0.0
    for j in np.flatnonzero(np.abs(x) * scale > 1.0):
        rescale(float(x[j]), int(j), w, late, average, square, scale, told)
    v = x * scale
    told[2:] = v @ v, np.count_nonzero(x)
    square += g * v * v
    d = v * scale / np.sqrt(square)
    at = np.arange(x.size) if isinstance(X, np.ndarray) else X.indices[X.indptr[i] : X.indptr[i + 1]]
    way[: at.size] = d[at]
    return float(d @ x)


def row_go(X: Any, i: int, way: Array, a: float, w: Array) -> None:
    """w += a way, entry by entry of row i."""
    at = np.arange(w.size) if isinstance(X, np.ndarray) else X.indices[X.indptr[i] : X.indptr[i + 1]]
    w[at] += a * way[: at.size]


@helper
def root(s: float) -> float:
    """1 / sqrt(s) of a float32's range: in float32, and one step of Newton's method. Twice as fast in a loop."""
    f = np.float64(np.float32(1.0) / np.sqrt(np.float32(s)))
    return f * (1.5 - 0.5 * s * f * f)


@helper
def rescale(x: float, j: int, w: Array, late: Array, average: bool, square: Array, scale: Array, told: Array) -> None:
    """Make |x| the largest value of column j; add to `told` what x w_j and x late_j grow by."""
    new = min(BELOW_ONE / abs(x), UNSEEN)
    ratio = new / scale[j]
    scale[j] = new
    square[j] = max(square[j] * ratio * ratio, LEAST)
    told[0] += x * w[j] * (ratio - 1.0)
    w[j] *= ratio
    if average:
        told[1] += x * late[j] * (ratio - 1.0)
        late[j] *= ratio


@overload(row_way, **OPTIONS)
def _row_way(X, i, g, w, late, average, square, scale, way, spare, told):  # type: ignore[no-untyped-def]
    def dense(X, i, g, w, late, average, square, scale, way, spare, told):  # type: ignore[no-untyped-def]
        k = 0.0
        told[:] = 0.0
        length = 0.0
        entries = 0
        beyond = 0
        for j in range(X.shape[1]):
            beyond += abs(np.float64(X[i, j])) * scale[j] > 1.0
        if beyond > 0:
            for j in range(X.shape[1]):
                x = np.float64(X[i, j])
                if abs(x) * scale[j] > 1.0:
                    rescale(x, j, w, late, average, square, scale, told)
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            v = x * scale[j]
            s = square[j] + g * v * v
            square[j] = s
            d = v * scale[j] * root(s)
            way[j] = d
            k += d * x
            length += v * v
            entries += x != 0.0
        told[2] = length
        told[3] = entries
        return k

    def csr(X, i, g, w, late, average, square, scale, way, spare, told):  # type: ignore[no-untyped-def]
        first, size = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1] - X.indptr[i])
        told[:] = 0.0
        for n in range(size):  # what is scattered is gathered first: the loops over it are vectorised then
            j: Any = np.uint64(X.indices[first + n])
            way[n] = scale[j]
            spare[n] = square[j]
        beyond = 0
        for n in range(size):
            beyond += abs(np.float64(X.data[first + n])) * way[n] > 1.0
        if beyond > 0:
            for n in range(size):
                x = np.float64(X.data[first + n])
                if abs(x) * way[n] > 1.0:
                    j = np.uint64(X.indices[first + n])
                    rescale(x, j, w, late, average, square, scale, told)
                    way[n] = scale[j]
                    spare[n] = square[j]
        k = 0.0
        length = 0.0
        entries = 0
        for n in range(size):
            x = np.float64(X.data[first + n])
            v = x * way[n]
            s = spare[n] + g * v * v
            spare[n] = s
            d = v * way[n] * root(s)
            way[n] = d
            k += d * x
            length += v * v
            entries += x != 0.0
        told[2] = length
        told[3] = entries
        for n in range(size):
            square[np.uint64(X.indices[first + n])] = spare[n]
        return k

    return dense if isinstance(X, types.Array) else csr


@overload(row_go, **OPTIONS)
def _row_go(X, i, way, a, w):  # type: ignore[no-untyped-def]
    def dense(X, i, way, a, w):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            w[j] += a * way[j]

    def csr(X, i, way, a, w):  # type: ignore[no-untyped-def]
        first = np.uint64(X.indptr[i])
        for n in range(np.uint64(X.indptr[i + 1] - X.indptr[i])):
            w[np.uint64(X.indices[first + n])] += a * way[n]

    return dense if isinstance(X, types.Array) else csr
