"""Weighted Gaussians of each class and column, and how shares of the classes become scores of units.

Mean and squared deviations follow every row, so that nothing cancels: n += w, d = x - mean, mean += (w / n) d,
M2 += w d (x - mean), with the mean before and after. Rows are taken dense, one at a time: a zero is a value as any
other. Source: West, Communications of the ACM 22 (1979) 532-535.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array, Plan
from bigclf.jit import helper, kernel

# of factors whose logarithm is taken together: neither a factor nor the product may leave what a double holds
MOST, LEAST = 1e100, 1e-100


class Gaussians(NamedTuple):
    """What naive Bayes keeps."""

    n: Array  # (classes,) weight of the rows
    mean: Array  # (classes, cols)
    M2: Array  # (classes, cols) weighted sum of squared deviations
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen


@helper
def importance(plan: Plan, y: Array, i: int) -> float:
    """Weight of row i; 0 where no unit is shown it, and where it has no label."""
    shown = False
    for u in range(plan.target.shape[0]):
        if plan.target[u, i] != 0:
            shown = True
    if not shown or y[i] < 0:
        return 0.0
    w = np.float64(1.0)
    if plan.weight.shape[1] > 0:
        w = plan.weight[0, i]
    if plan.repeat.shape[1] > 0:
        w *= plan.repeat[0, i]
    return w


@helper
def note(code: Array, plan: Plan, c: int, i: int) -> None:
    """Keep what the units want of class c, as row i shows it."""
    for u in range(code.shape[0]):
        code[u, c] = plan.target[u, i]


@helper
def moments(x: Array, w: float, r: float, mean: Array, M2: Array) -> None:
    """Take a row x of weight w into mean and M2 (cols,); r: its share of the weight, itself included."""
    for j in range(x.size):
        d = x[j] - mean[j]
        mean[j] += r * d
        M2[j] += w * d * (x[j] - mean[j])


@helper
def shares(logs: Array, p: Array) -> bool:
    """p = exp(logs), made to add up to one; False, and nothing done, where all of them are -infinity."""
    top = -np.inf
    for c in range(logs.size):
        top = max(top, logs[c])
    if top == -np.inf:
        return False
    s = 0.0
    for c in range(logs.size):
        p[c] = exp(logs[c] - top)
        s += p[c]
    for c in range(logs.size):
        p[c] /= s
    return True


@helper
def portions(n: Array, p: Array) -> None:
    """p = n over its sum; all alike where that is 0."""
    s = 0.0
    for c in range(n.size):
        s += n[c]
    for c in range(n.size):
        p[c] = n[c] / s if s > 0.0 else 1.0 / n.size


@helper
def say(p: Array, code: Array, out: Array, i: int) -> None:
    """Scores out[:, i] of shares p (classes,): of two classes the difference, of more 2 p - 1."""
    if code.shape[0] == 1:
        s = 0.0
        for c in range(p.size):
            s += code[0, c] * p[c]
        out[0, i] = s
    else:
        for c in range(p.size):
            out[c, i] = 2.0 * p[c] - 1.0


@helper
def sharpen(s: Gaussians, floor: float, c: int, inverse: Array, volume: Array) -> None:
    """One over the variances of class c, and the sum of their logarithms."""
    total = 0.0
    product = 1.0
    r = 1.0 / s.n[c]
    for j in range(s.mean.shape[1]):
        v = s.M2[c, j] * r + floor
        inverse[c, j] = 1.0 / v
        if LEAST < v < MOST:
            product *= v
        else:
            total += log(v)
        if not LEAST < product < MOST:
            total += log(product)
            product = 1.0
    volume[c] = total + log(product)


@helper
def judge(s: Gaussians, inverse: Array, volume: Array, x: Array, logs: Array, p: Array) -> None:
    """Shares p of the classes for a row x; what all classes have in common is left out."""
    for c in range(s.n.size):
        if s.n[c] <= 0.0:
            logs[c] = -np.inf
            continue
        q = 0.0
        mean, inv = s.mean[c], inverse[c]
        for j in range(x.size):
            d = x[j] - mean[j]
            q += d * d * inv[j]
        logs[c] = log(s.n[c]) - 0.5 * (volume[c] + q)
    if not shares(logs, p):
        portions(s.n, p)


@kernel
def learn(s: Gaussians, floor: float, X: Any, y: Array, plan: Plan) -> None:
    """Score each row, then take it in. floor: added to every variance."""
    classes, cols = s.mean.shape
    x, logs, p = np.empty(cols), np.empty(classes), np.empty(classes)
    inverse, volume = np.empty((classes, cols)), np.empty(classes)
    for c in range(classes):
        if s.n[c] > 0.0:
            sharpen(s, floor, c, inverse, volume)
    tell = plan.post.shape[1] > 0
    for i in range(rows(X)):
        row_into(X, i, x)
        judge(s, inverse, volume, x, logs, p)
        say(p, s.code, plan.pre, i)
        w = importance(plan, y, i)
        if w > 0.0:
            c = y[i]
            note(s.code, plan, c, i)
            s.n[c] += w
            moments(x, w, w / s.n[c], s.mean[c], s.M2[c])
            sharpen(s, floor, c, inverse, volume)
            if tell:
                judge(s, inverse, volume, x, logs, p)
        if tell:
            say(p, s.code, plan.post, i)


@kernel
def score(s: Gaussians, floor: float, X: Any, out: Array) -> None:
    """Scores out (units, n) of the rows."""
    classes, cols = s.mean.shape
    x, logs, p = np.empty(cols), np.empty(classes), np.empty(classes)
    inverse, volume = np.empty((classes, cols)), np.empty(classes)
    for c in range(classes):
        if s.n[c] > 0.0:
            sharpen(s, floor, c, inverse, volume)
    for i in range(rows(X)):
        row_into(X, i, x)
        judge(s, inverse, volume, x, logs, p)
        say(p, s.code, out, i)
