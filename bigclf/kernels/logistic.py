"""Online logistic regression: each column has a step of its own, in units of its own, and no step goes too far.

Of row x with answer t and margin m = t w.x the gradient is g = 1 / (1 + e^m). With s_j the largest |x_j| so far and
G_j the sum of g^2 (x_j / s_j)^2, the direction of the step is d_j = x_j / (s_j^2 sqrt(G_j)). Its length is where the
flow dw/dh = eta g(w) d ends at h = the importance of the row: with k = d.x the margin grows by z, where
z + e^m (e^z - 1) = eta h k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import rows
from bigclf.core import Array, Plan, Shape
from bigclf.jit import helper, kernel
from bigclf.kernels.averaging import averaged, power_of, row_scores
from bigclf.kernels.own_steps import LEAST, UNSEEN, row_fits, row_go, row_rescale, row_way

FAR = 500.0  # a margin beyond which nothing can be learned
CLOSE = 1e-4  # relative: the next error of the flow is this one's cube


class Steps(NamedTuple):
    """Weights, and what the length of a step goes by."""

    w: Array  # (units, cols)
    square: Array  # (units, cols) G
    scale: Array  # (units, cols) 1 / s


class AveragedSteps(NamedTuple):
    """The same with the average of all weights so far, w - late / shown^(power + 1), summed where w changes only."""

    w: Array
    square: Array
    scale: Array
    late: Array  # (units, cols) sum of the changes of w, each times shown^(power + 1) before it
    shown: Array  # (units,) importance of all rows


AXES: dict[str, tuple[str | int, ...]] = {name: ("units", "cols") for name in Steps._fields}
AVERAGED = AXES | {"late": ("units", "cols"), "shown": ("units",)}
NOTHING = np.empty((0, 0)), np.empty(0)


def zeros(shape: Shape) -> Steps:
    """Nothing seen."""
    size = shape.units, shape.cols
    return Steps(np.zeros(size), np.full(size, LEAST), np.full(size, UNSEEN))


def averaged_zeros(shape: Shape) -> AveragedSteps:
    """Nothing seen."""
    return AveragedSteps(*zeros(shape), np.zeros((shape.units, shape.cols)), np.zeros(shape.units))


@helper
def flow(m: float, a: float, c: float) -> float:
    """z of z + a (e^z - 1) = c, a = e^m; by Halley's method from a start that is right to the second order.

    >>> z = flow(0.5, np.exp(0.5), 2.0)
    >>> round(z + np.exp(0.5 + z) - np.exp(0.5), 12)
    2.0
    """
    z = c / (1.0 + a)
    if z < 0.25:
        z -= 0.5 * a / (1.0 + a) * z * z
    else:
        z = min(z, np.log1p(c / a))
    for _ in range(30):
        e = a * np.expm1(z)
        over = z + e - c
        slope = 1.0 + a + e
        step = 2.0 * over * slope / (2.0 * slope * slope - over * (a + e))
        z -= step
        if abs(step) <= CLOSE * z:
            break
    return z


@kernel
def update(
    w: Array,
    square: Array,
    scale: Array,
    late: Array,
    shown: Array,
    eta: float,
    power: int,
    X: Any,
    plan: Plan,
    way: Array,
) -> None:
    """Show each row to each unit. late (units, cols), shown (units,): empty where nothing is averaged.

    way (cols,): scratch.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    average = shown.size > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        gu = square[u]
        su = scale[u]
        lu = late[u] if average else shown
        n = shown[u] if average else 0.0
        before = power_of(n, power + 1)
        for i in range(rows(X)):
            t = plan.target[u, i]
            p, q = row_scores(X, i, wu, lu)
            plan.pre[u, i] = averaged(p, q, before)
            h = plan.weight[u, i] if weighted else 1.0
            times = plan.repeat[u, i] if repeated else 1
            if t == 0 or not h > 0.0:
                times = 0
            if times > 0 and not row_fits(X, i, su):
                row_rescale(X, i, wu, lu, gu, su)
                p, q = row_scores(X, i, wu, lu)
            for _ in range(times):
                m = t * p
                a = np.exp(min(max(m, -FAR), FAR))
                g = 1.0 / (1.0 + a)
                k = row_way(X, i, h * g * g, gu, su, way)
                if k > 0.0:
                    z = flow(m, a, eta * h * k)
                    step = t * z / k
                    row_go(X, i, way, step, wu)
                    p += t * z
                    if average:
                        row_go(X, i, way, step * before, lu)
                        q += t * z * before
                n += h
                if average:
                    before = power_of(n, power + 1)
            if tell:
                plan.post[u, i] = averaged(p, q, before)
        if average:
            shown[u] = n
