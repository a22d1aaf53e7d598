"""Online logistic regression: each column has a step of its own, in units of its own, and no step goes too far.

Of row x with answer t and margin m = t w.x the gradient is g = 1 / (1 + e^m). With s_j the largest |x_j| so far and
G_j the sum of g^2 (x_j / s_j)^2, the direction of the step is d_j = x_j / (s_j^2 sqrt(G_j)). Its length is where the
flow dw/dh = eta f g(w) d ends at h = the importance of the row: with k = d.x the margin grows by z, where
z + e^m (e^z - 1) = eta f h k. One over f^2 is the mean of (x_j / s_j)^2 over all entries so far that are not zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_dot, rows
from bigclf.core import Array, Plan, Shape
from bigclf.jit import helper, kernel
from bigclf.kernels.averaging import averaged, mass_of
from bigclf.kernels.own_steps import LEAST, UNSEEN, row_go, row_way

FAR = 500.0  # a margin beyond which nothing can be learned
CLOSE = 1e-11  # relative error of the flow: that of a step of Halley's method is the cube of the last one's


class Steps(NamedTuple):
    """Weights, and what the length of a step goes by."""

    w: Array  # (units, cols)
    square: Array  # (units, cols) G
    scale: Array  # (units, cols) 1 / s
    length: Array  # (units,) sum of (x / s)^2 over all entries, each times its row's importance
    entries: Array  # (units,) how many entries were not zero, likewise


class AveragedSteps(NamedTuple):
    """The same with the average of all weights so far, w - late / shown^(power + 1), summed where w changes only."""

    w: Array
    square: Array
    scale: Array
    length: Array
    entries: Array
    late: Array  # (units, cols) sum of the changes of w, each times shown^(power + 1) before it
    shown: Array  # (units,) importance of all rows


AXES: dict[str, tuple[str | int, ...]] = {
    **dict.fromkeys(("w", "square", "scale"), ("units", "cols")),
    **dict.fromkeys(("length", "entries"), ("units",)),
}
AVERAGED = AXES | {"late": ("units", "cols"), "shown": ("units",)}


def zeros(shape: Shape) -> Steps:
    """Nothing seen."""
    size = shape.units, shape.cols
    return Steps(np.zeros(size), np.full(size, LEAST), np.full(size, UNSEEN), *np.zeros((2, shape.units)))


def averaged_zeros(shape: Shape) -> AveragedSteps:
    """Nothing seen."""
    return AveragedSteps(*zeros(shape), np.zeros((shape.units, shape.cols)), np.zeros(shape.units))


@helper
def exp_less_one(z: float) -> float:
    """e^z - 1 for z >= 0; near 0 by its series, which is faster than the library's.

    The series is summed by pairs, fours and eights (Estrin): terms do not wait for one another.

    >>> all(abs(exp_less_one(z) / np.expm1(z) - 1.0) < 5e-16 for z in (1e-300, 1e-9, 0.01, 0.1, 0.125, 0.2, 5.0))
    True
    """
    if z > 0.125:
        return float(np.expm1(z))
    z2 = z * z
    z4 = z2 * z2
    low = 1.0 + z / 2.0 + z2 * (1.0 / 6.0 + z / 24.0)
    middle = 1.0 / 120.0 + z / 720.0 + z2 * (1.0 / 5040.0 + z / 40320.0)
    high = 1.0 / 362880.0 + z / 3628800.0
    return z * (low + z4 * (middle + z4 * high))


@helper
def flow(a: float, g: float, c: float) -> float:
    """z of z + a (e^z - 1) = c, for g = 1 / (1 + a): Halley's method, from a start right to the third order.

    >>> z = flow(1.5, 0.4, 2.0)
    >>> bool(abs(z + 1.5 * (np.exp(z) - 1) - 2.0) < 1e-12)
    True
    """
    z = c * g
    if z < 0.25:
        b = 1.0 - g
        z -= b * z * z * (0.5 - z * (0.5 * b - 1.0 / 6.0))
    else:
        z = min(z, np.log1p(c / a))
    for _ in range(30):
        e = a * exp_less_one(z)
        over = z + e - c
        slope = 1.0 + a + e
        step = 2.0 * over * slope / (2.0 * slope * slope - over * (a + e))
        z -= step
        if abs(step * step * step) <= CLOSE * z:
            break
    return z


@kernel
def update(
    w: Array,
    square: Array,
    scale: Array,
    length: Array,
    entries: Array,
    late: Array,
    shown: Array,
    eta: float,
    power: int,
    X: Any,
    plan: Plan,
    way: Array,
    spare: Array,
    told: Array,
) -> None:
    """Show each row to each unit. shown (units,): empty where nothing is averaged; late is not used then.

    way, spare (cols,) and told (4,): scratch.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    average = shown.size > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        gu = square[u]
        su = scale[u]
        lu = late[u]
        n = shown[u] if average else 0.0
        before = mass_of(n, power + 1)
        for i in range(rows(X)):
            t = plan.target[u, i]
            p = row_dot(X, i, wu)
            q = row_dot(X, i, lu) if average else 0.0
            plan.pre[u, i] = averaged(p, q, before)
            h = plan.weight[u, i] if weighted else 1.0
            times = plan.repeat[u, i] if repeated else 1
            if t == 0 or not h > 0.0:
                times = 0
            for _ in range(times):
                m = t * p
                a = np.exp(min(max(m, -FAR), FAR))
                g = 1.0 / (1.0 + a)
                k = row_way(X, i, h * g * g, wu, lu, average, gu, su, way, spare, told)
                p += told[0]
                q += told[1]
                length[u] += h * told[2]
                entries[u] += h * told[3]
                if k > 0.0:
                    z = t * flow(a, g, eta * h * k * np.sqrt(entries[u] / length[u]))
                    row_go(X, i, way, z / k, wu)
                    if average:
                        row_go(X, i, way, z / k * before, lu)
                    p += z
                    q += z * before
                n += h
                if average:
                    before = mass_of(n, power + 1)
            if tell:
                plan.post[u, i] = averaged(p, q, before)
        if average:
            shown[u] = n
