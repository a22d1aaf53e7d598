"""Members vote with their answers; how much a vote weighs depends on what the member had answered before.

Of two classes an answer is -1 or +1, of more each class is one. Members are taken one after the other over the same
rows, so that the sums over members are arrays over rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel

ALIKE, KAPPA, RECALL = range(3)  # what a vote weighs by
TIE = 1e-6  # how far raw scores, squeezed, order what has equal votes


class Tally(NamedTuple):
    """Sums over the members so far."""

    votes: Array  # (units, n) weighted answers
    heads: Array  # (units, n) answers
    weight: Array  # (n,) weights
    raw: Array  # (units, n) scores
    soft: Array  # (units, n) scores f as f / (1 + |f|)


def empty(units: int, n: int) -> Tally:
    """No member has voted."""
    votes, heads, raw, soft = (np.zeros((units, n)) for _ in range(4))
    return Tally(votes, heads, np.zeros(n), raw, soft)


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
def trust(kind: int, right: Array, guess: Array, truth: Array) -> float:
    """The weight of a member's vote, at least 0."""
    if kind == KAPPA:
        n = truth.sum()
        if n == 0.0:
            return 0.0
        chance = 0.0
        for k in range(truth.size):
            chance += truth[k] * guess[k]
        chance /= n * n
        return max(0.0, (right.sum() / n - chance) / (1.0 - chance)) if 1.0 - chance >= 1e-12 else 0.0
    if kind == RECALL:
        product = 1.0
        for k in range(max(2, truth.size)):
            hits, n = (right[k], truth[k]) if k < truth.size else (0.0, 0.0)
            product *= (hits + 1.0) / (n + 2.0)
        return float(product ** (1.0 / max(2, truth.size)))
    return 1.0


@exact_helper
def cast(tally: Tally, pre: Array, i: int, v: float) -> None:
    """Add a member's vote on row i."""
    a = answer(pre, i)
    for u in range(len(pre)):
        h = 2.0 * a - 1.0 if len(pre) == 1 else (1.0 if u == a else -1.0)
        tally.votes[u, i] += v * h
        tally.heads[u, i] += h
        tally.raw[u, i] += pre[u, i]
        tally.soft[u, i] += pre[u, i] / (1.0 + abs(pre[u, i]))
    tally.weight[i] += v


@exact_kernel
def poll(tally: Tally, pre: Array, v: float) -> None:
    """A member votes on all rows with weight v; pre (units, n): its scores."""
    for i in range(pre.shape[1]):
        cast(tally, pre, i, v)


@exact_kernel
def vote(
    kind: int,
    tally: Tally,
    later: Tally,
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
    for i in range(y.size):
        cast(tally, pre, i, trust(kind, right, guess, truth))
        wanted = False
        for u in range(len(target)):
            wanted |= target[u, i] != 0
        if wanted and y[i] >= 0:
            c = y[i]
            a = answer(pre, i)
            g = a
            if len(target) == 1:
                g = c if (a == 1) == (target[0, i] > 0) else 1 - c
            truth[c] += 1.0
            if g < guess.size:
                guess[g] += 1.0
            if g == c:
                right[c] += 1.0
        if post.shape[1] > 0:
            cast(later, post, i, trust(kind, right, guess, truth))


@exact_kernel
def trusts(kind: int, right: Array, guess: Array, truth: Array, out: Array) -> None:
    """out[m]: the weight of each member's vote; right, guess, truth (members, classes)."""
    for m in range(out.size):
        out[m] = trust(kind, right[m], guess[m], truth[m])


@exact_kernel
def outcome(tally: Tally, members: int, out: Array) -> None:
    """out[u, i]: the votes, from -1 to 1, with the squeezed scores added where votes are equal.

    Where they are equal on both sides the scores decide; where no vote weighs anything all weigh the same.
    """
    for i in range(out.shape[1]):
        for u in range(len(out)):
            s = tally.votes[u, i] / tally.weight[i] if tally.weight[i] > 0.0 else tally.heads[u, i] / members
            tie = tally.soft[u, i] / members
            if len(out) > 1 or s == 0.0:
                tie = tally.raw[u, i] / (1.0 + abs(tally.raw[u, i]))
            tie *= TIE
            if len(out) == 1 and s != 0.0:
                tie = min(max(tie, -0.5 * abs(s)), 0.5 * abs(s))
            out[u, i] = s + tie
