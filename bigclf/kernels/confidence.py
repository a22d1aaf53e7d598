"""Second-order learners: a Gaussian over weight vectors, its covariance full or diagonal.

They differ in when a row changes the Gaussian and by how much: with signed margin m = y w.x and v = x'Sx a rule gives
alpha (the step of w along y S x), beta (S -= beta S x x' S) and gain (the diagonal form: 1/s += gain x^2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_axpy, row_dot, rows
from bigclf.core import Array, Plan, Scores, Shape
from bigclf.jit import helper, kernel, loan
from bigclf.kernels.cells import all_back, all_out, fields, row_at, row_back, row_out, row_score, scores, value, whole
from bigclf.kernels.recursive import shrink, times

AROW, CW_VAR, CW_STDEV, ACOG_1, ACOG_2 = range(5)

# Where labels contradict each other, confidence-weighted learning shrinks variances and weights together, without
# end. A variance stops where the products that the rules form are still numbers; what is learned goes on from there.
LEAST_VARIANCE = 1e-100
LEAST_V = 1e-200  # of x'Sx: below, the row can be told nothing
MOST_GAIN = 1e300


class Gaussian(NamedTuple):
    """Mean and covariance of each unit's weights."""

    w: Array  # (units, cols) float64
    sigma: Array  # (units, cols) variances, or (units, cols, cols)


class Costly(NamedTuple):
    """The same, with the rows of each side that a unit has seen."""

    w: Array
    sigma: Array
    seen: Array  # (units, 2) negative, positive


WEIGHT, VARIANCE = range(2)  # of a cell, where the covariance is its diagonal

AXES_DIAG = {"w": ("units", "cols"), "sigma": ("units", "cols")}
AXES_FULL = {"w": ("units", "cols"), "sigma": ("units", "cols", "cols")}


def start_diag(shape: Shape) -> Gaussian:
    """Mean zero, every variance one."""
    return Gaussian(*fields(shape, 0.0, 1.0))


def start_full(shape: Shape) -> Gaussian:
    """Mean zero, the identity as covariance."""
    sigma = np.zeros((shape.units, shape.cols, shape.cols))
    sigma[:, np.arange(shape.cols), np.arange(shape.cols)] = 1.0
    return Gaussian(np.zeros((shape.units, shape.cols)), sigma)


@helper
def rule(kind: int, m: float, v: float, a: float, b: float, k: float) -> tuple[float, float, float]:
    """(alpha, beta, gain) of a row; all 0 where it changes nothing.

    a: noise r (arow), phi (cw), gamma (acog); b: eta (acog); k: what the positive class counts (acog), else 1.
    """
    if v <= LEAST_V:
        return 0.0, 0.0, 0.0
    if kind == AROW:
        if m >= 1.0:
            return 0.0, 0.0, 0.0
        beta = 1.0 / (v + a)
        return (1.0 - m) * beta, beta, 1.0 / a
    if kind == CW_VAR:
        if m >= a * v:
            return 0.0, 0.0, 0.0
        h = 1.0 + 2.0 * a * m
        alpha = max(0.0, (-h + np.sqrt(h * h - 8.0 * a * (m - a * v))) / (4.0 * a * v))
        return alpha, 2.0 * alpha * a / (1.0 + 2.0 * alpha * a * v), 2.0 * alpha * a
    if kind == CW_STDEV:
        if m >= a * np.sqrt(v):
            return 0.0, 0.0, 0.0
        xi = 1.0 + a * a
        psi = 1.0 + 0.5 * a * a
        alpha = max(0.0, (-m * psi + np.sqrt(0.25 * m * m * (a * a) * (a * a) + v * a * a * xi)) / (v * xi))
        h = alpha * v * a
        root = 2.0 * v / (h + np.sqrt(h * h + 4.0 * v))  # (-h + sqrt(h^2 + 4 v)) / 2 without cancellation
        return alpha, alpha * a / (root + alpha * a * v), min(alpha * a / root, MOST_GAIN)
    short = k - m if kind == ACOG_1 else 1.0 - m
    if short <= 0.0:
        return 0.0, 0.0, 0.0
    return (b if kind == ACOG_1 else b * k), 1.0 / (a + v), 1.0 / a


@helper
def row_variance(X: Any, i: int, at: Array) -> float:
    """x' diag(sigma) x of row i."""
    first, size = row_at(X, i)
    sigma = at[VARIANCE]
    v = 0.0
    for n in range(size):
        x = value(X, i, first, n)
        v += sigma[n] * x * x
    return v


@helper
def shrunk(s: float, x: float, beta: float, gain: float, drop: bool) -> float:
    """The variance of one weight after a row."""
    t = s * x
    return max(s - beta * t * t if drop else s / (1.0 + gain * s * x * x), LEAST_VARIANCE)


@helper
def diag_step(at: Array, step: float, beta: float, gain: float, drop: bool, new: bool, X: Any, i: int) -> None:
    """w += step S x with the old or the new S; then, or before, 1/s += gain x^2 (s -= beta (s x)^2 under `drop`)."""
    first, size = row_at(X, i)
    w, sigma = at[WEIGHT], at[VARIANCE]
    for n in range(size):
        x = value(X, i, first, n)
        after = shrunk(sigma[n], x, beta, gain, drop)
        w[n] += step * (after if new else sigma[n]) * x
        sigma[n] = after


@helper
def counted(plan: Plan, u: int, i: int) -> tuple[float, int]:
    """What row i counts for unit u, and how often it is shown: not at all if it counts nothing."""
    g = plan.weight[u, i] if plan.weight.shape[1] > 0 else 1.0
    k = plan.repeat[u, i] if plan.repeat.shape[1] > 0 else 1
    return g, (k if plan.target[u, i] != 0 and g > 0.0 else 0)


@kernel
def update_diag(
    cells: Array, kind: int, a: float, b: float, drop: bool, new: bool, rho: Array, X: Any, plan: Plan, at: Array
) -> None:
    """One pass with variances only. `new`: the step uses the covariance as it is after the row.

    rho (units, n) or (0, 0): what the positive class counts. A row of importance g counts as one of noise a / g.
    cells (units, cols, 2): WEIGHT and VARIANCE; at: `room` for both.
    """
    at = loan(at)
    costly = rho.shape[1] > 0
    tell = plan.post.shape[1] > 0
    for u in range(plan.target.shape[0]):
        own = cells[u]
        all_out(X, own, at, 2)
        for i in range(rows(X)):
            t = plan.target[u, i]
            row_out(X, i, own, at, 2)
            m = row_score(X, i, at, WEIGHT)
            plan.pre[u, i] = m
            g, times_shown = counted(plan, u, i)
            k = rho[u, i] if costly and t > 0 else 1.0
            changed = False
            for _ in range(times_shown):
                if kind == AROW and t * m >= 1.0:
                    break  # as the rule says, whatever the variance
                v = row_variance(X, i, at)
                alpha, beta, gain = rule(kind, t * m, v, a / g if kind == AROW else a, b, k)
                if alpha == 0.0 and gain == 0.0:
                    break
                diag_step(at, t * alpha, beta, gain, drop, new, X, i)
                changed = True
                if tell or times_shown > 1:
                    m = row_score(X, i, at, WEIGHT)
            if changed:
                row_back(X, i, own, at, 2)
            if tell:
                plan.post[u, i] = m
        all_back(X, own, at, 2)


@kernel
def update_full(
    w: Array,
    sigma: Array,
    kind: int,
    a: float,
    b: float,
    new: bool,
    rho: Array,
    X: Any,
    plan: Plan,
    p: Array,
    sx: Array,
) -> None:
    """One pass with the whole covariance; `p` and `sx` are scratch (cols,). Otherwise as `update_diag`."""
    costly = rho.shape[1] > 0
    tell = plan.post.shape[1] > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        su = sigma[u]
        for i in range(rows(X)):
            t = plan.target[u, i]
            m = row_dot(X, i, wu)
            plan.pre[u, i] = m
            g, times_shown = counted(plan, u, i)
            k = rho[u, i] if costly and t > 0 else 1.0
            if times_shown > 0:
                p[:] = 0.0
                row_axpy(1.0, X, i, p)
            for _ in range(times_shown):
                v = times(su, p, sx)
                alpha, beta, _ = rule(kind, t * m, v, a / g if kind == AROW else a, b, k)
                if alpha == 0.0 and beta == 0.0:
                    break
                step = t * alpha
                if new:
                    step *= 1.0 - beta * v  # S after the row times x is S x (1 - beta v)
                for c in range(p.size):
                    wu[c] += step * sx[c]
                shrink(su, sx, beta)
                m += step * v
            if tell:
                plan.post[u, i] = m


def decision_diag(state: Any, X: Any) -> Scores:
    """Decision values (units, n) of a state whose covariance is its diagonal."""
    found: Scores = scores(whole(state.w, state.sigma), (WEIGHT,), X)[0]
    return found
