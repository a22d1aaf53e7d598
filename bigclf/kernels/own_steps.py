"""Steps of a length of their own for each column, in units of the largest value of the column so far.

Of column j: s_j is the largest |x_j| so far, G_j the sum of g^2 (x_j / s_j)^2. The direction of a step along row x is
x_j / (s_j^2 sqrt(G_j)): normalized adaptive gradients (Ross, Mineiro & Langford, UAI 2013, algorithm 3). Their common
factor sqrt(t / N) is the learner's to take: N is the sum of (x_j / s_j)^2 over all rows and columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.core import Array
from bigclf.jit import helper
from bigclf.kernels.cells import row_at, value

NUMBERS = 5
WEIGHT, SQUARE, SCALE, LATE, WAY = range(NUMBERS)  # w, G and 1 / s of a column, and `late` where weights are averaged
LEAST = 1e-10  # of G: a column that was seen with hopeless margins only has a finite step all the same
UNSEEN = 1e300  # 1 / s of a column that was zero so far
BELOW_ONE = 1.0 - 2.0**-51  # so that no |x| / s is above 1 for its rounding


@helper
def root(s: float) -> float:
    """1 / sqrt(s) of a float32's range: in float32, and one step of Newton's method. Twice as fast in a loop."""
    f = np.float64(np.float32(1.0) / np.sqrt(np.float32(s)))
    return f * (1.5 - 0.5 * s * f * f)


@helper
def rescale(x: float, n: int, average: bool, at: Array, told: Array) -> None:
    """Make |x| the largest value of column n of the row; add to `told` what x w and x late grow by."""
    new = min(BELOW_ONE / abs(x), UNSEEN)
    ratio = new / at[SCALE, n]
    at[SCALE, n] = new
    at[SQUARE, n] = max(at[SQUARE, n] * ratio * ratio, LEAST)
    told[0] += x * at[WEIGHT, n] * (ratio - 1.0)
    at[WEIGHT, n] *= ratio
    if average:
        told[1] += x * at[LATE, n] * (ratio - 1.0)
        at[LATE, n] *= ratio


@helper
def row_way(X: Any, i: int, g: float, average: bool, at: Array, told: Array) -> float:
    """Add g x^2 / s^2 to G and write the direction of the step of row i, entry by entry.

    at (5, entries): of the row's columns WEIGHT, SQUARE, SCALE and LATE; the direction, WAY, is written. Where the row
    has the largest value of a column, what was learned of the column is first made as if it had always been in these
    units. told (4,) is written: what x.w and x.late have grown by; the sum of x^2 / s^2; how many columns are not zero.
    Returns the product of the direction with x.
    """
    first, size = row_at(X, i)
    square, scale, way = at[SQUARE], at[SCALE], at[WAY]
    told[0] = told[1] = 0.0
    beyond = 0
    for n in range(size):
        beyond += abs(value(X, i, first, n)) * scale[n] > 1.0
    if beyond > 0:
        for n in range(size):
            x = value(X, i, first, n)
            if abs(x) * scale[n] > 1.0:
                rescale(x, n, average, at, told)
    k = 0.0
    length = 0.0
    entries = 0
    for n in range(size):
        x = value(X, i, first, n)
        v = x * scale[n]
        s = square[n] + g * v * v
        square[n] = s
        d = v * scale[n] * root(s)
        way[n] = d
        k += d * x
        length += v * v
        entries += x != 0.0
    told[2] = length
    told[3] = entries
    return k


@helper
def row_go(X: Any, i: int, a: float, at: Array, number: int) -> None:
    """Go a times the direction, in the row `number` of `at`."""
    w, way = at[number], at[WAY]
    for n in range(row_at(X, i)[1]):
        w[n] += a * way[n]
