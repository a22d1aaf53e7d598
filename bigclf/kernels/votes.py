"""Members vote with their answers; how much a vote weighs depends on what the member had answered before.

Of two classes an answer is -1 or +1, of more each class is one. Members are taken one after the other over the same
rows, so that the sums over members are arrays over rows.
"""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.class_sizes import closed, kappa, kappa_of_two, noted, opened, record, side

ALIKE, KAPPA, RECALL = range(3)  # what a vote weighs by
TIE = 1e-6  # how far raw scores, squeezed, order what has equal votes


def empty(units: int, n: int) -> Array:
    """The tally of n rows before any member has voted: (3 units + 1, n).

    Weighted answers of each unit, answers, scores, and the sum of the weights; one array, which is cheap to hand on.
    """
    return np.zeros((3 * units + 1, n))


@exact_helper
def answer(pre: Array, i: int) -> int:
    """Of two classes 1 for a score of at least 0, else 0; of more the first of the best."""
    if len(pre) == 1:
        return 1 if pre[0, i] >= 0.0 else 0
    best = 0
    for u in range(1, len(pre)):
        if pre[u, i] > pre[best, i]:
            best = u
    return best


@exact_helper
def trust_of_two(kind: int, r0: float, r1: float, n0: float, n1: float, g0: float, g1: float) -> float:
    """`trust` where there are two classes: rows right, rows, and answers of each."""
    if kind == KAPPA:
        return max(0.0, kappa_of_two(r0 + r1, n0, n1, g0, g1))
    return float(np.sqrt((r0 + 1.0) / (n0 + 2.0) * ((r1 + 1.0) / (n1 + 2.0))))


@exact_helper
def trust(kind: int, right: Array, guess: Array, truth: Array) -> float:
    """The weight of a member's vote, at least 0."""
    if kind == KAPPA:
        return max(0.0, kappa(right, truth, guess))
    if kind == RECALL:
        product = 1.0
        for k in range(max(2, truth.size)):
            hits, n = (right[k], truth[k]) if k < truth.size else (0.0, 0.0)
            product *= (hits + 1.0) / (n + 2.0)
        return float(np.sqrt(product) if truth.size <= 2 else product ** (1.0 / truth.size))
    return 1.0


@exact_helper
def cast(tally: Array, pre: Array, i: int, v: float) -> None:
    """Add a member's vote on row i."""
    units = len(pre)
    if units == 1:
        tally[0, i] += v if pre[0, i] >= 0.0 else -v
        tally[1, i] += 1.0 if pre[0, i] >= 0.0 else -1.0
        tally[2, i] += pre[0, i]
        tally[3, i] += v
        return
    a = answer(pre, i)
    for u in range(units):
        h = 1.0 if a == u else -1.0
        tally[u, i] += v * h
        tally[units + u, i] += h
        tally[2 * units + u, i] += pre[u, i]
    tally[3 * units, i] += v


@exact_kernel
def poll(tally: Array, pre: Array, v: float) -> None:
    """A member votes on all rows with weight v; pre (units, n): its scores."""
    for i in range(pre.shape[1]):
        cast(tally, pre, i, v)


@exact_helper
def of_two(
    kind: int,
    tally: Array,
    later: Array,
    pre: Array,
    post: Array,
    right: Array,
    guess: Array,
    truth: Array,
    y: Array,
    target: Array,
) -> None:
    """As `vote`, of two known classes, with the record in registers; nor is there a branch that cannot be foreseen."""
    r0, r1, n0, n1, g0, g1 = opened(right, truth, guess)
    v = trust_of_two(kind, r0, r1, n0, n1, g0, g1)
    for i in range(y.size):
        cast(tally, pre, i, v)
        if target[0, i] != 0 and y[i] >= 0:
            hit = 1.0 if (pre[0, i] >= 0.0) == (target[0, i] > 0) else 0.0
            one = np.float64(y[i])
            r0, r1, n0, n1, g0, g1 = noted(r0, r1, n0, n1, g0, g1, one, 1.0 - abs(one - hit))
            v = trust_of_two(kind, r0, r1, n0, n1, g0, g1)
        if post.shape[1] > 0:
            cast(later, post, i, v)
    closed(right, truth, guess, r0, r1, n0, n1, g0, g1)


@exact_kernel
def vote(
    kind: int,
    tally: Array,
    later: Array,
    pre: Array,
    post: Array,
    right: Array,
    guess: Array,
    truth: Array,
    y: Array,
    target: Array,
) -> None:
    """A member votes on each row with the weight it has by then, and its record learns how it did.

    right, guess, truth (classes,): rows answered rightly, by answer, by class; y (n,): class codes, target (units, n).
    Where post (units, n), its scores after the rows, is not empty, `later` gets the votes after the rows.
    """
    if kind == ALIKE:  # no record is needed
        for i in range(y.size):
            cast(tally, pre, i, 1.0)
            if post.shape[1] > 0:
                cast(later, post, i, 1.0)
        return
    if len(target) == 1 and right.size == 2:
        of_two(kind, tally, later, pre, post, right, guess, truth, y, target)
        return
    v = trust(kind, right, guess, truth)
    for i in range(y.size):
        cast(tally, pre, i, v)
        if side(target, i) != 0 and y[i] >= 0:
            c = y[i]
            a = answer(pre, i)
            g = a
            if len(target) == 1:
                g = c if (a == 1) == (target[0, i] > 0) else 1 - c
            record(right, truth, guess, c, g)
            v = trust(kind, right, guess, truth)
        if post.shape[1] > 0:
            cast(later, post, i, v)


@exact_kernel
def trusts(kind: int, right: Array, guess: Array, truth: Array, out: Array) -> None:
    """out[m]: the weight of each member's vote; right, guess, truth (members, classes)."""
    for m in range(out.size):
        out[m] = trust(kind, right[m], guess[m], truth[m])


@exact_kernel
def outcome(tally: Array, members: int, out: Array) -> None:
    """out[u, i]: the votes, from -1 to 1, with the scores, squeezed, added where votes are equal.

    Where they are equal on both sides the scores decide; where no vote weighs anything all weigh the same.
    """
    units = len(out)
    for i in range(out.shape[1]):
        weight = tally[3 * units, i]
        for u in range(units):
            s = tally[u, i] / weight if weight > 0.0 else tally[units + u, i] / members
            raw = tally[2 * units + u, i]
            tie = TIE * raw / (1.0 + abs(raw))
            if units == 1 and s != 0.0:
                tie = min(max(tie, -0.5 * abs(s)), 0.5 * abs(s))
            out[u, i] = s + tie
