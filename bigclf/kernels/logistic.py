"""Online logistic regression: each column has a step of its own, in units of its own, and no step goes too far.

Of row x with answer t and margin m = t w.x the gradient is g = 1 / (1 + e^m). With s_j the largest |x_j| so far and
G_j the sum of g^2 (x_j / s_j)^2, the direction of the step is d_j = x_j / (s_j^2 sqrt(G_j)). Its length is where the
flow dw/dh = eta f g(w) d ends at h = the importance of the row: with k = d.x the margin grows by z, where
z + e^m (e^z - 1) = eta f h k. One over f^2 is the mean of (x_j / s_j)^2 over all entries so far that are not zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import rows
from bigclf.core import Array, Plan, Scores, Shape
from bigclf.jit import helper, kernel, loan
from bigclf.kernels.averaging import average, averaged, mass_of
from bigclf.kernels.cells import all_back, all_out, fields, row_back, row_out, row_score, scores, whole
from bigclf.kernels.own_steps import LATE, LEAST, UNSEEN, WEIGHT, row_go, row_way

FAR = 500.0  # a margin beyond which nothing can be learned
CLOSE = 1e-11  # relative error of the flow: after a step of Householder's method it is below the step's fourth power
NEAR = 0.5  # of distance times bend over squared slope, where that method is sure of its step


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
    w, square, scale = fields(shape, 0.0, LEAST, UNSEEN)
    return Steps(w, square, scale, *np.zeros((2, shape.units)))


def averaged_zeros(shape: Shape) -> AveragedSteps:
    """Nothing seen."""
    w, square, scale, late = fields(shape, 0.0, LEAST, UNSEEN, 0.0)
    length, entries, shown = np.zeros((3, shape.units))
    return AveragedSteps(w, square, scale, length, entries, late, shown)


def cells_of(state: Any) -> Array:
    """The numbers of each column side by side, (units, cols, 3 or 4) as in `own_steps`; views of the state's."""
    own = state.w, state.square, state.scale
    return whole(*own, state.late) if isinstance(state, AveragedSteps) else whole(*own)


@helper
def exp_less_one(z: float) -> float:
    """e^z - 1 for z >= 0; near 0 by its series, which is faster than the library's.

    The series is summed by pairs, fours and eights (Estrin): terms do not wait for one another.

    >>> all(abs(exp_less_one(z) / np.expm1(z) - 1.0) < 1e-15 for z in (1e-300, 1e-9, 0.01, 0.1, 0.125, 0.126, 0.2, 5.0))
    True
    """
    if z > 0.125:
        return float(np.exp(z)) - 1.0
    z2 = z * z
    z4 = z2 * z2
    low = 1.0 + z / 2.0 + z2 * (1.0 / 6.0 + z / 24.0)
    middle = 1.0 / 120.0 + z / 720.0 + z2 * (1.0 / 5040.0 + z / 40320.0)
    high = 1.0 / 362880.0 + z / 3628800.0
    return z * (low + z4 * (middle + z4 * high))


@helper
def householder(over: float, slope: float, bend: float) -> float:
    """The step of Householder's method, third order, where second and third derivative are the same.

    Of a function `over` 0; it divides by the slope first, so that no power of it overflows.
    """
    u = over / slope
    v = u * (bend / slope)
    return 3.0 * u * (2.0 - v) / (6.0 - 6.0 * v + u * v)


@helper
def flow(a: float, g: float, c: float) -> float:
    """z of z + a (e^z - 1) = c, for g = 1 / (1 + a).

    By Householder's method, mostly in one step, since it starts near by: where z is small from the first terms of its
    series, else a step of the method away from where a (e^z - 1) = c.

    >>> z = flow(1.5, 0.4, 2.0)
    >>> bool(abs(z + 1.5 * (np.exp(z) - 1) - 2.0) < 1e-12)
    True
    """
    z = c * g
    if z < 0.25:
        b = 1.0 - g
        z -= b * z * z * (0.5 - z * (0.5 * b - 1.0 / 6.0))
    else:
        far = np.log(1.0 + c / a)
        slope = 1.0 + a + c
        if far * ((a + c) / slope) < NEAR * slope:
            z = far - householder(far, slope, a + c)
        else:
            z = min(z, far)
    for _ in range(30):
        e = a * exp_less_one(z)
        step = householder(z + e - c, 1.0 + a + e, a + e)
        z -= step
        if step * step * (step * step) <= CLOSE * z:
            break
    return z


@kernel
def update(
    cells: Array,
    length: Array,
    entries: Array,
    shown: Array,
    eta: float,
    power: int,
    X: Any,
    plan: Plan,
    at: Array,
    told: Array,
) -> None:
    """Show each row to each unit. shown (units,): empty where nothing is averaged; cells hold no `late` then.

    at: `room` for the numbers of `own_steps`; told (4,): scratch.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    averaging = shown.size > 0
    many = cells.shape[2]
    at, told = loan(at), loan(told)
    for u in range(plan.target.shape[0]):
        own = cells[u]
        n = shown[u] if averaging else 0.0
        before = mass_of(n, power + 1)
        all_out(X, own, at, many)
        for i in range(rows(X)):
            t = plan.target[u, i]
            row_out(X, i, own, at, many)
            p = row_score(X, i, at, WEIGHT)
            q = row_score(X, i, at, LATE) if averaging else 0.0
            plan.pre[u, i] = averaged(p, q, before)
            h = plan.weight[u, i] if weighted else 1.0
            times = plan.repeat[u, i] if repeated else 1
            if t == 0 or not h > 0.0:
                times = 0
            for _ in range(times):
                m = t * p
                a = np.exp(min(max(m, -FAR), FAR))
                g = 1.0 / (1.0 + a)
                k = row_way(X, i, h * g * g, averaging, at, told)
                p += told[0]
                q += told[1]
                length[u] += h * told[2]
                entries[u] += h * told[3]
                if k > 0.0:
                    z = t * flow(a, g, eta * h * k * np.sqrt(entries[u] / length[u]))
                    row_go(X, i, z / k, at, WEIGHT)
                    if averaging:
                        row_go(X, i, z / k * before, at, LATE)
                    p += z
                    q += z * before
                n += h
                if averaging:
                    before = mass_of(n, power + 1)
            if times > 0:
                row_back(X, i, own, at, many)
            if tell:
                plan.post[u, i] = averaged(p, q, before)
        all_back(X, own, at, many)
        if averaging:
            shown[u] = n


def decision(state: Any, power: int, X: Any) -> Scores:
    """Decision values (units, n): of the averaged weights where the state has them."""
    averaging = isinstance(state, AveragedSteps)
    found = scores(cells_of(state), (WEIGHT, LATE) if averaging else (WEIGHT,), X)
    w: Scores = found[0]
    return average(w, found[1], state.shown, power) if averaging else w
