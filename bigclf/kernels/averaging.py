"""Averages of weights, summed where the weights change only (Daume III, thesis 2006, figure 2.3).

The average of the weights after each row, each counting as the power p of the rows before it, is w - late / n^(p + 1):
n rows so far, `late` the sum of the changes of w, each times n^(p + 1) as it was before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import OPTIONS, row_axpy, rows
from bigclf.core import Array, Scores
from bigclf.jit import helper, kernel, overload, types


@helper
def power_of(base: float, k: int) -> float:
    """base^k by squaring."""
    out = 1.0
    while k > 0:
        if k & 1:
            out *= base
        base *= base
        k >>= 1
    return out


def row_scores(X: Any, i: int, w: Array, late: Array) -> tuple[float, float]:
    """Inner products of row i with w and with late; of an empty one 0."""
    x = np.zeros(w.size)
    row_axpy(1.0, X, i, x)
    return float(x @ w), float(x @ late) if late.size else 0.0


@overload(row_scores, **OPTIONS)
def _row_scores(X, i, w, late):  # type: ignore[no-untyped-def]
    def dense(X, i, w, late):  # type: ignore[no-untyped-def]
        p = q = 0.0
        if late.size > 0:
            for j in range(X.shape[1]):
                x = np.float64(X[i, j])
                p += x * w[j]
                q += x * late[j]
        else:
            for j in range(X.shape[1]):
                p += np.float64(X[i, j]) * w[j]
        return p, q

    def csr(X, i, w, late):  # type: ignore[no-untyped-def]
        p = q = 0.0
        if late.size > 0:
            for k in range(X.indptr[i], X.indptr[i + 1]):
                x = np.float64(X.data[k])
                p += x * w[X.indices[k]]
                q += x * late[X.indices[k]]
        else:
            for k in range(X.indptr[i], X.indptr[i + 1]):
                p += np.float64(X.data[k]) * w[X.indices[k]]
        return p, q

    return dense if isinstance(X, types.Array) else csr


@helper
def averaged(p: float, q: float, mass: float) -> float:
    """The score of the averaged weights from those of w and of late; mass: n^(power + 1)."""
    return p - q / mass if mass > 0.0 else p


@kernel
def score_into(w: Array, late: Array, shown: Array, power: int, X: Any, out: Array) -> None:
    """out[u, i] = score of row i by the averaged weights of unit u."""
    for u in range(out.shape[0]):
        mass = power_of(shown[u], power + 1)
        for i in range(out.shape[1]):
            p, q = row_scores(X, i, w[u], late[u])
            out[u, i] = averaged(p, q, mass)


def score(w: Array, late: Array, shown: Array, power: int, X: Any) -> Scores:
    """Decision values (units, n) of averaged weights."""
    out = np.empty((len(w), rows(X)))
    score_into(w, late, shown, power, X, out)
    return out
