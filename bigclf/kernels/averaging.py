"""Averages of weights, summed where the weights change only (Daume III, thesis 2006, figure 2.3).

The average of the weights after each row, each counting as the power p of the rows before it, is w - late / n^(p + 1):
n rows so far, `late` the sum of the changes of w, each times n^(p + 1) as it was before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import row_dot, rows
from bigclf.core import Array, Scores
from bigclf.jit import exact_helper, kernel


@exact_helper
def power_of(base: float, k: int) -> float:
    """base^k by squaring."""
    out = 1.0
    while k > 0:
        if k & 1:
            out *= base
        base *= base
        k >>= 1
    return out


@exact_helper  # a score is to be the same to the bit wherever it is made
def averaged(p: float, q: float, mass: float) -> float:
    """The score of the averaged weights from those of w and of late; mass: n^(power + 1)."""
    return p - q / mass if mass > 0.0 else p


@kernel
def score_into(w: Array, late: Array, shown: Array, power: int, X: Any, out: Array) -> None:
    """out[u, i] = score of row i by the averaged weights of unit u."""
    for u in range(out.shape[0]):
        mass = power_of(shown[u], power + 1)
        for i in range(out.shape[1]):
            out[u, i] = averaged(row_dot(X, i, w[u]), row_dot(X, i, late[u]), mass)


def score(w: Array, late: Array, shown: Array, power: int, X: Any) -> Scores:
    """Decision values (units, n) of averaged weights."""
    out = np.empty((len(w), rows(X)))
    score_into(w, late, shown, power, X, out)
    return out


def weights(w: Array, late: Array, shown: Array, power: int) -> Array:
    """The averaged weights (units, cols)."""
    mass = shown[:, None] ** (power + 1)
    found: Array = w - np.divide(late, mass, out=np.zeros_like(late), where=mass > 0.0)
    return found
