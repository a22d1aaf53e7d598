"""Weighted Gaussians of each class and column, and how shares of the classes become scores of units.

Mean and squared deviations follow every row, so that nothing cancels: n += w, d = x - mean, mean += (w / n) d,
M2 += w d (x - mean), with the mean before and after. Rows are taken dense, one at a time: a zero is a value as any
other. Sums are in the order written, in four strands for speed: the last bit of a vote decides what boosting and trees
learn next, and must not depend on how a loop was compiled. Source: West, Communications of the ACM 22 (1979) 532-535.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array, Plan
from bigclf.jit import exact_helper, exact_kernel, loan, numbers

# of factors whose logarithm is taken together: neither a factor nor the product may leave what a double holds
MOST, LEAST = 1e100, 1e-100


class Gaussians(NamedTuple):
    """What naive Bayes keeps."""

    n: Array  # (classes,) weight of the rows
    mean: Array  # (classes, cols)
    M2: Array  # (classes, cols) weighted sum of squared deviations
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen


@exact_helper
def importance(target: Array, weight: Array, repeat: Array, y: Array, i: int) -> float:
    """Weight of row i by the arrays of a plan; 0 where no unit is shown it, and where it has no label."""
    shown = False
    for u in range(target.shape[0]):
        if target[u, i] != 0:
            shown = True
    if not shown or y[i] < 0:
        return 0.0
    w = np.float64(1.0)
    if weight.shape[1] > 0:
        w = weight[0, i]
    if repeat.shape[1] > 0:
        w *= repeat[0, i]
    return w


@exact_helper
def note(code: Array, target: Array, c: int, i: int) -> None:
    """Keep what the units want of class c, as row i shows it."""
    for u in range(code.shape[0]):
        code[u, c] = target[u, i]


@exact_helper
def shares(logs: Array, p: Array) -> bool:
    """p = exp(logs), made to add up to one; False, and nothing done, where all of them are -infinity."""
    top = -np.inf
    for c in range(p.size):
        top = max(top, logs[0, c])
    if top == -np.inf:
        return False
    s = 0.0
    for c in range(p.size):
        p[c] = exp(logs[0, c] - top)
        s += p[c]
    for c in range(p.size):
        p[c] /= s
    return True


@exact_helper
def portions(n: Array, p: Array) -> None:
    """p = n over its sum; all alike where that is 0."""
    s = 0.0
    for c in range(p.size):
        s += n[c]
    for c in range(p.size):
        p[c] = n[c] / s if s > 0.0 else 1.0 / p.size


@exact_helper
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


@exact_helper
def sharpen(n: Array, M2: Array, floor: float, c: int, inverse: Array, volume: Array) -> None:
    """One over the variances of class c, and the sum of their logarithms."""
    total = 0.0
    product = 1.0
    r = 1.0 / n[c]
    for j in range(M2.shape[1]):
        v = M2[c, j] * r + floor
        inverse[c, j] = 1.0 / v
        if LEAST < v < MOST:
            product *= v
        else:
            total += log(v)
        if not LEAST < product < MOST:
            total += log(product)
            product = 1.0
    volume[c] = total + log(product)


@exact_helper
def square(x: Array, mean: Array, by: Array, inverse: bool, j: int) -> float:
    """Squared distance of column j from its mean, times one over its variance, or over what is in proportion to it.

    A column of no variance is at no distance from its mean, and beyond all others elsewhere.
    """
    d = x[j] - mean[j]
    if inverse:
        q: float = d * d * by[j]
    else:
        q = d * d / by[j] if by[j] > 0.0 else (0.0 if d == 0.0 else np.inf)
    return q


@exact_helper
def distance(x: Array, mean: Array, by: Array, inverse: bool) -> float:
    """Sum of `square` over the columns, in four strands."""
    a, b, e, f = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= x.size:
        a += square(x, mean, by, inverse, j)
        b += square(x, mean, by, inverse, j + 1)
        e += square(x, mean, by, inverse, j + 2)
        f += square(x, mean, by, inverse, j + 3)
        j += 4
    a += square(x, mean, by, inverse, j) if j < x.size else 0.0
    b += square(x, mean, by, inverse, j + 1) if j + 1 < x.size else 0.0
    e += square(x, mean, by, inverse, j + 2) if j + 2 < x.size else 0.0
    return (a + b) + (e + f)


@exact_helper
def judge(n: Array, mean: Array, inverse: Array, volume: Array, x: Array, logs: Array, p: Array) -> None:
    """Shares p of the classes for a row x; what all classes have in common is left out."""
    for c in range(n.size):
        if n[c] <= 0.0:
            logs[0, c] = -np.inf
            continue
        logs[0, c] = log(n[c]) - 0.5 * (volume[c] + distance(x, mean[c], inverse[c], True))
    if not shares(logs, p):
        portions(n, p)


@exact_helper
def take(
    n: Array, mean: Array, M2: Array, floor: float, x: Array, c: int, w: float, inverse: Array, volume: Array
) -> None:
    """Learn row x of class c and weight w."""
    n[c] += w
    r = w / n[c]
    for j in range(x.size):
        d = x[j] - mean[c, j]
        mean[c, j] += r * d
        M2[c, j] += w * d * (x[j] - mean[c, j])
    sharpen(n, M2, floor, c, inverse, volume)


@exact_helper
def parts(room: Array, classes: int, cols: int) -> Any:
    """One over the variances (classes, cols), the sums of their logarithms (classes,); a row, logarithms and shares.

    One array is cheap to hand over, and what is cut out of it by address has no owner to be counted.
    """
    at = room.ctypes.data
    b = at + 8 * classes * cols
    x = b + 8 * classes
    logs = x + 8 * cols
    return (
        numbers(at, (classes, cols)),
        numbers(b, (classes,)),
        numbers(x, (cols,)),
        numbers(logs, (1, classes)),
        numbers(logs + 8 * classes, (classes,)),
    )


@exact_kernel
def prepare(s: Gaussians, floor: float, room: Array) -> None:
    """Write into the room what follows from the state."""
    inverse, volume, _, _, _ = parts(loan(room), s.mean.shape[0], s.mean.shape[1])
    for c in range(s.n.size):
        if s.n[c] > 0.0:
            sharpen(s.n, s.M2, floor, c, inverse, volume)


def prepared(s: Gaussians, floor: float) -> Array:
    """Room for `parts`, with those that follow from the state."""
    classes, cols = s.mean.shape
    room = np.empty(cols * (classes + 1) + 3 * classes)
    prepare(s, floor, room)
    return room


@exact_kernel
def learn(s: Gaussians, floor: float, X: Any, y: Array, plan: Plan, room: Array) -> None:
    """Score each row, then take it in. floor: added to every variance; room: as of `prepared`."""
    s, y, plan = loan(s), loan(y), loan(plan)
    n, mean, M2, code = s
    inverse, volume, x, logs, p = parts(loan(room), n.size, mean.shape[1])
    tell = plan.post.shape[1] > 0
    for i in range(rows(X)):
        row_into(X, i, x)
        judge(n, mean, inverse, volume, x, logs, p)
        say(p, code, plan.pre, i)
        w = importance(plan.target, plan.weight, plan.repeat, y, i)
        if w > 0.0:
            note(code, plan.target, y[i], i)
            take(n, mean, M2, floor, x, y[i], w, inverse, volume)
            if tell:
                judge(n, mean, inverse, volume, x, logs, p)
        if tell:
            say(p, code, plan.post, i)


@exact_kernel
def score(s: Gaussians, X: Any, room: Array, out: Array) -> None:
    """Scores out (units, n) of the rows. room: as of `prepared`."""
    n, mean, _, code = loan(s)
    out = loan(out)
    inverse, volume, x, logs, p = parts(loan(room), n.size, mean.shape[1])
    for i in range(rows(X)):
        row_into(X, i, x)
        judge(n, mean, inverse, volume, x, logs, p)
        say(p, code, out, i)
