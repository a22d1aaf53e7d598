"""Boosting as a chain: what a member made of a row decides how much the row counts for the next one.

Members are taken one after the other over the same rows, which visits the same values as row by row: a member at a row
depends on itself before the row, and on the member before it at the row. Each rule has two halves: how often a row is
shown, known before the member learns it, and how it counts for the next, known after.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.chance import MOST_RATE
from bigclf.kernels.class_sizes import side
from bigclf.kernels.votes import answer, cast

ADABOOST, ADAC2, CSB2 = range(3)  # how a row counts afterwards
ALL, RATIO, MASS, RATE = range(4)  # how often it is shown: as it counts; or with classes sampled (RUSBoost 1 to 3)
FLOOR = 1e-6


class Chain(NamedTuple):
    """The rules. Numbers, so that one kernel serves all."""

    after: int
    sampling: int
    cost_negative: float
    cost_positive: float
    ratio: float  # of the majority to the minority after sampling
    ir: float  # ratio of the two classes where that is known; else 0


@exact_helper
def trust(after: int, sums: Array, many: int) -> float:
    """Weight of a vote by the weights seen while right and while wrong; SAMME's for `many` classes above two."""
    right, wrong = sums[0], sums[1]
    if right + wrong <= 0.0:
        return 0.0
    if after == ADAC2:
        odds = max(right, FLOOR) / max(wrong, FLOOR)
    else:
        odds = min(max(right / wrong, FLOOR / (1.0 - FLOOR)), (1.0 - FLOOR) / FLOOR)
    if many > 2:
        odds *= many - 1.0
    return math.log(odds) if odds > 1.0 else 0.0


@exact_helper
def sampled_of_two(
    chain: Chain, lam: float, second: bool, positive: bool, n0: float, n1: float, m0: float, m1: float
) -> float:
    """As `sampled`, of two classes with these counts and masses; second: whether the row is of the second one."""
    own, other = (n1, n0) if second else (n0, n1)
    if chain.sampling == RATE:  # goes by the counts before the row, each with one more
        if chain.ir > 0.0:
            return lam if own < other + 1.0 or (own == other + 1.0 and positive) else lam / chain.ir
        return float(lam * min(own, other + 1.0) / own)
    if n0 == 0.0 or n1 == 0.0 or m0 == 0.0 or m1 == 0.0:
        return lam
    rare = own - 1.0 < other or (own - 1.0 == other and positive)  # it is of the minority
    few, all_rows, total = own if rare else other, n0 + n1, m0 + m1
    if chain.sampling == MASS:
        share = own if rare else min(chain.ratio * few, own)
        return float(lam * (share / all_rows) / ((m1 if second else m0) / total))
    part = min(1.0, chain.ratio * few / (other if rare else own))  # of the majority's rows
    q0, q1 = (part, 1.0) if rare == second else (1.0, part)
    kept, weighed = q0 * n0 + q1 * n1, q0 * m0 + q1 * m1
    return float((1.0 if rare else part) * (lam * total / weighed * kept / all_rows))


@exact_helper
def sampled(chain: Chain, lam: float, c: int, count: Array, mass: Array) -> float:
    """How often a row of class c is to be shown that counts lam, of one class or of more than two.

    count, mass (classes,): rows of each class and what they counted for this member, this row included. The minority is
    the class that was smaller before the row, of equals the first; of two equals the positive one.
    """
    if chain.sampling == RATE:  # goes by the counts before the row, each with one more
        own = count[c]
        low = own if count.size > 1 else min(own, 1.0)
        for k in range(count.size):
            if k != c:
                low = min(low, count[k] + 1.0)
        return float(lam * low / own)
    if count.size < 2:
        return lam
    rare = 0
    n = total = 0.0
    for k in range(count.size):
        if count[k] == 0.0 or mass[k] == 0.0:
            return lam
        if count[k] - (1.0 if k == c else 0.0) < count[rare] - (1.0 if rare == c else 0.0):
            rare = k
        n += count[k]
        total += mass[k]
    if chain.sampling == MASS:
        share = count[c] if c == rare else min(chain.ratio * count[rare], count[c])
        return float(lam * (share / n) / (mass[c] / total))
    kept = weighed = 0.0
    own = 1.0
    for k in range(count.size):
        q = 1.0 if k == rare else min(1.0, chain.ratio * count[rare] / count[k])
        kept += q * count[k]
        weighed += q * mass[k]
        if k == c:
            own = q
    return float(own * (lam * total / weighed * kept / n))


@exact_helper
def passed(after: int, lam: float, right: bool, cost: float, sums: Array) -> float:
    """What a row that counted lam counts for the next member; the sums take it in."""
    k = 0 if right else 1
    if after == ADAC2:
        sums[2] += lam
        sums[k] += cost * lam
        return float(cost * lam * sums[2] / (2.0 * sums[k]))
    sums[k] += lam
    total = sums[0] + sums[1]
    if after == ADABOOST:
        return float(lam * total / (2.0 * sums[k]))
    if not right:
        sums[2] += cost * lam
    wrong = sums[1] + sums[2]
    if wrong == 0.0:
        return 0.5 * lam
    return float(lam * (sums[1] * total / (sums[0] * wrong) if right else cost * total / wrong))


@exact_kernel
def before(chain: Chain, lam: Array, y: Array, target: Array, count: Array, mass: Array, out: Array) -> None:
    """out[i]: how often this member is to be shown row i, which counts lam[i]; rows nobody wants count nothing.

    count, mass (classes,) as in `sampled`; they take the rows in, where classes are sampled.
    """
    two = count.size == 2
    n0, n1, m0, m1 = (count[0], count[1], mass[0], mass[1]) if two else (0.0, 0.0, 0.0, 0.0)
    for i in range(y.size):
        t = side(target, i)
        if t == 0 or y[i] < 0:
            out[i] = lam[i] = 0.0
        elif chain.sampling == ALL:
            out[i] = min(lam[i], MOST_RATE)
        elif two:
            one = np.float64(y[i])
            n0, n1 = n0 + (1.0 - one), n1 + one
            m0, m1 = m0 + (1.0 - one) * lam[i], m1 + one * lam[i]
            out[i] = min(sampled_of_two(chain, lam[i], y[i] > 0, t > 0, n0, n1, m0, m1), MOST_RATE)
        else:
            count[y[i]] += 1.0
            mass[y[i]] += lam[i]
            out[i] = min(sampled(chain, lam[i], y[i], count, mass), MOST_RATE)
    if two:
        count[0], count[1], mass[0], mass[1] = n0, n1, m0, m1


@exact_kernel
def after(
    chain: Chain, tally: Array, later: Array, pre: Array, post: Array, target: Array, lam: Array, sums: Array
) -> None:
    """The member votes on each row as it was before; then it is judged on it, and lam[i] becomes what the next sees.

    pre, post (units, n): its scores before and after the row. sums (3,): weights while right, while wrong, and (AdaC2)
    of all rows or (CSB2) the costly weights while wrong. Where `later` has rows it gets the votes after the rows.
    """
    units = len(target)
    for i in range(lam.size):
        cast(tally, pre, i, trust(chain.after, sums, units))
        if lam[i] > 0.0:
            a = answer(post, i)
            right = (a == 1) == (target[0, i] > 0) if units == 1 else target[a, i] > 0
            cost = 1.0
            if units == 1:
                cost = chain.cost_positive if target[0, i] > 0 else chain.cost_negative
            lam[i] = passed(chain.after, lam[i], right, cost, sums)
        if later.shape[1] > 0:
            cast(later, post, i, trust(chain.after, sums, units))


@exact_kernel
def trusts(kind: int, sums: Array, units: int, out: Array) -> None:
    """out[m]: the weight of each member's vote; sums (members, 3)."""
    for m in range(out.size):
        out[m] = trust(kind, sums[m], units)
