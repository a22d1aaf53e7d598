"""Recursions of least squares, row by row: rank-one updates of an inverse (Sherman & Morrison 1950)."""

from __future__ import annotations

from typing import Any

from bigclf.block import row_dot, row_into, rows
from bigclf.core import Array, Plan
from bigclf.jit import helper, kernel


@helper
def times(R: Array, p: Array, out: Array) -> float:
    """out = R p for a symmetric R; returns p.out."""
    q = 0.0
    for c in range(p.size):
        s = 0.0
        for d in range(p.size):
            s += R[c, d] * p[d]
        out[c] = s
        q += s * p[c]
    return q


@helper
def shrink(R: Array, k: Array, factor: float) -> None:
    """R -= factor k k'."""
    for c in range(k.size):
        for d in range(k.size):
            R[c, d] -= factor * k[c] * k[d]


@kernel
def least_squares(
    w: Array, R: Array, first: Array, tau: float, eta: float, X: Any, y: Array, plan: Plan, p: Array, k: Array
) -> None:
    """Recursive least squares. For a row of weight g: k = R p, f = g / (1 + g p.k), w += f (t - w.p) k, R -= f k k'.

    w (units, cols); R (cols, cols), the same for all units; first (classes, cols): sums of the rows; p, k: scratch.
    """
    tell = plan.post.shape[1] > 0
    for i in range(rows(X)):
        shown = False
        for u in range(w.shape[0]):
            plan.pre[u, i] = row_dot(X, i, w[u])
            shown |= plan.target[u, i] != 0
            if tell:
                plan.post[u, i] = plan.pre[u, i]
        if not shown:
            continue
        row_into(X, i, p)
        g = 1.0
        if plan.weight.shape[1] > 0:
            g = plan.weight[0, i]  # the same for all units, as R is
        over = g / (1.0 + g * times(R, p, k))
        for u in range(w.shape[0]):
            e = tau + eta * plan.target[u, i] - plan.pre[u, i]
            for c in range(p.size):
                w[u, c] += over * e * k[c]
            if tell:
                plan.post[u, i] = row_dot(X, i, w[u])
        shrink(R, k, over)
        for c in range(p.size):
            first[y[i], c] += g * p[c]


@kernel
def reweighted(
    w: Array, kept: Array, side: Array, n: int, b: float, tau: float, eta: float, R: Array, k: Array
) -> None:
    """Iteratively reweighted least squares of one unit: from I/b, one update of weight 1 / n_c for each row kept.

    w (cols,); kept (n or more, cols); side (n or more,) -1, +1, or 0 where the unit skips the row; R, k: scratch.
    """
    count = 0.0
    positive = 0.0
    for i in range(n):
        count += side[i] != 0.0
        positive += side[i] > 0.0
    R[:] = 0.0
    for c in range(w.size):
        R[c, c] = 1.0 / b
        w[c] = 0.0
    for i in range(n):
        if side[i] == 0.0:
            continue
        g = 1.0 / (positive if side[i] > 0.0 else count - positive)
        q = times(R, kept[i], k)
        shrink(R, k, g / (1.0 + g * q))
    for i in range(n):  # w = R z
        if side[i] != 0.0:
            g = (tau + eta * side[i]) / (positive if side[i] > 0.0 else count - positive)
            times(R, kept[i], k)
            for c in range(w.size):
                w[c] += g * k[c]
