"""First-order learners of one weight vector a unit: they differ in the length of the step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_axpy, row_dot, row_sq, rows
from bigclf.core import Array, Plan, Scores, Shape
from bigclf.jit import helper, kernel
from bigclf.kernels.averaging import average, averaged

RULES = {"perceptron": 0, "pa": 1, "pa-1": 2, "pa-2": 3}
PERCEPTRON, PA, PA1 = 0, 1, 2


class Linear(NamedTuple):
    """One weight vector a unit."""

    w: Array  # (units, cols) float64


class Averaged(NamedTuple):
    """One weight vector a unit and the average of all so far: see `bigclf.kernels.averaging`, power 0."""

    w: Array  # (units, cols) float64
    late: Array  # (units, cols) sum of the changes of w, each times `shown` before it
    shown: Array  # (units,) importance of all rows


AXES: dict[str, tuple[str | int, ...]] = {"w": ("units", "cols")}
AVERAGED = AXES | {"late": ("units", "cols"), "shown": ("units",)}
NOBODY = np.empty(0)  # `shown` where nothing is averaged


def zeros(shape: Shape) -> Linear:
    """All weights zero."""
    return Linear(np.zeros((shape.units, shape.cols)))


def averaged_zeros(shape: Shape) -> Averaged:
    """All weights zero."""
    return Averaged(*zeros(shape), np.zeros((shape.units, shape.cols)), np.zeros(shape.units))


@helper
def step(rule: int, tm: float, sq: float, c: float) -> float:
    """Step length for signed margin tm, squared row norm sq and cap c."""
    if rule == PERCEPTRON:
        return 1.0 if tm <= 0.0 else 0.0
    loss = 1.0 - tm
    if loss <= 0.0 or sq <= 0.0:
        return 0.0
    if rule == PA:
        return loss / sq
    if rule == PA1:
        return min(c, loss / sq)
    return loss / (sq + 0.5 / c)


@kernel
def update(w: Array, late: Array, shown: Array, rule: int, c: float, X: Any, plan: Plan) -> None:
    """Show each row to each unit: w += t * step * row. shown: empty where nothing is averaged; late is not used then.

    The importance of a row multiplies the perceptron's step and the cap C of pa-1 and pa-2; pa has no place for it.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    keep = shown.size > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        lu = late[u]
        n = shown[u] if keep else 0.0
        for i in range(rows(X)):
            t = plan.target[u, i]
            m = row_dot(X, i, wu)
            q = row_dot(X, i, lu) if keep else 0.0
            plan.pre[u, i] = averaged(m, q, n)
            times = 1
            if repeated:
                times = plan.repeat[u, i]
            if t == 0:
                times = 0
            g = 1.0
            if weighted and rule != PA:
                g = plan.weight[u, i]
            if times > 0 and (rule != PERCEPTRON or t * m <= 0.0) and t * m < 1.0:
                sq = row_sq(X, i)
                for _ in range(times):
                    if rule == PERCEPTRON:
                        s = t * g * step(rule, t * m, sq, c)
                    else:
                        s = t * step(rule, t * m, sq, c * g)
                    if s != 0.0:
                        row_axpy(s, X, i, wu)
                        m += s * sq  # the new score, without touching the row again
                        if keep:
                            row_axpy(s * n, X, i, lu)
                            q += s * n * sq
                    n += g
            else:
                n += times * g
            if tell:
                plan.post[u, i] = averaged(m, q, n)
        if keep:
            shown[u] = n


@kernel
def score_into(w: Array, X: Any, out: Array) -> None:
    """out[u, i] = w[u] . row i."""
    for u in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[u, i] = row_dot(X, i, w[u])


def decision(state: Any, X: Any) -> Scores:
    """Decision values (units, n) of a state that has weights `w`."""
    return score(state.w, X)


def score(w: Array, X: Any) -> Scores:
    """Decision values (units, n)."""
    out = np.empty((w.shape[0], rows(X)))
    score_into(w, X, out)
    return out


def averaged_decision(state: Any, X: Any) -> Scores:
    """Decision values (units, n) of the plain mean of the weights of a state that has `late` and `shown`."""
    return average(score(state.w, X), score(state.late, X), state.shown, 0)


def averaged_weights(state: Any, power: int) -> Array:
    """The average of its weights (units, cols)."""
    return average(state.w, state.late, state.shown, power)
