"""Stochastic subgradient steps on the regularized hinge loss, whose shrinking of all weights is one number a unit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_axpy, row_dot, row_sq, rows
from bigclf.core import Array, Plan, Scores, Shape
from bigclf.jit import kernel
from bigclf.kernels.linear import score

SMALLEST = 1e-100  # scale below which it is multiplied into the weights


class Scaled(NamedTuple):
    """The weights are scale times w, so that shrinking them all is O(1)."""

    w: Array  # (units, cols)
    scale: Array  # (units, 1)
    t: Array  # (units, 1) steps taken
    norm: Array  # (units, 1) squared norm of the weights


AXES: dict[str, tuple[str | int, ...]] = {
    "w": ("units", "cols"),
    "scale": ("units", 1),
    "t": ("units", 1),
    "norm": ("units", 1),
}


def zeros(shape: Shape) -> Scaled:
    """No step taken."""
    one = (shape.units, 1)
    return Scaled(np.zeros((shape.units, shape.cols)), np.ones(one), np.zeros(one), np.zeros(one))


@kernel
def update(w: Array, scale: Array, t: Array, norm: Array, lam: float, project: bool, X: Any, plan: Plan) -> None:
    """Show each row to each unit: weights (1 - 1/t) w + y x / (lam t) where the margin is below 1, else only shrunk.

    The importance of a row multiplies its loss. project: back into the ball of radius 1 / sqrt(lam).
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        for i in range(rows(X)):
            y = plan.target[u, i]
            m = scale[u, 0] * row_dot(X, i, wu)
            plan.pre[u, i] = m
            times = 1
            if repeated:
                times = plan.repeat[u, i]
            if y == 0:
                times = 0
            if times > 0:
                g = 1.0
                if weighted:
                    g = plan.weight[u, i]
                sq = row_sq(X, i)
                for _ in range(times):
                    t[u, 0] += 1.0
                    wrong = y * m < 1.0  # by the weights before the step
                    shrink = 1.0 - 1.0 / t[u, 0]
                    if shrink == 0.0:  # the first step forgets the start
                        wu[:] = 0.0
                        scale[u, 0] = 1.0
                    else:
                        scale[u, 0] *= shrink
                    norm[u, 0] *= shrink * shrink
                    m *= shrink
                    if wrong:
                        a = y * g / (lam * t[u, 0])
                        row_axpy(a / scale[u, 0], X, i, wu)
                        norm[u, 0] += a * (2.0 * m + a * sq)
                        m += a * sq
                    if project and norm[u, 0] * lam > 1.0:
                        back = 1.0 / math.sqrt(norm[u, 0] * lam)
                        scale[u, 0] *= back
                        norm[u, 0] *= back * back
                        m *= back
                    if scale[u, 0] < SMALLEST:
                        wu *= scale[u, 0]
                        scale[u, 0] = 1.0
            if tell:
                plan.post[u, i] = m


def decision(s: Scaled, X: Any) -> Scores:
    """Decision values (units, n)."""
    return s.scale * score(s.w, X)


def finish(s: Scaled) -> Scaled:
    """The same with the scale multiplied into the weights."""
    return s._replace(w=s.scale * s.w, scale=np.ones_like(s.scale))
