"""How large classes have been so far, and what that makes a row of a class count.

All arrays are (classes,) by class code; while only one class is known the other of two counts as one that never came.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.chance import ONCE

# What the rate of a row goes by: constants, rows so far (each class begins with one), sizes that fade.
EVEN, COST, SUM, HYBRID, LARGEST, SMALLEST, FADE_OVER, FADE_UNDER, FADE_LARGEST, FADE_SMALLEST = range(10)


class Rule(NamedTuple):
    """How a rate is made of class sizes."""

    kind: int
    x: float  # COST: of the positive class; SUM: n+ / n-; HYBRID: the share of over-sampling
    memory: float  # 0: rows so far
    ir: float  # ratio of the larger to the smaller of two classes where that is known; else 0


@exact_helper
def side(target: Array, i: int) -> int:
    """1 where a unit is to say yes to row i, -1 where all that want it are to say no, 0 where none wants it."""
    t = 0
    for u in range(len(target)):
        if target[u, i] > 0:
            return 1
        if target[u, i] < 0:
            t = -1
    return t


@exact_helper
def record(right: Array, truth: Array, guess: Array, c: int, g: int) -> None:
    """A row of class c was answered g; arrays (classes,). g may be a class that is not known yet."""
    truth[c] += 1.0
    if g < guess.size:
        guess[g] += 1.0
    right[c] += 1.0 if g == c else 0.0


@exact_helper
def opened(right: Array, truth: Array, guess: Array) -> tuple[float, float, float, float, float, float]:
    """The record of at most two classes as numbers; kernels are quicker with them than with arrays in helpers."""
    if right.size == 1:
        return right[0], 0.0, truth[0], 0.0, guess[0], 0.0
    return right[0], right[1], truth[0], truth[1], guess[0], guess[1]


@exact_helper
def closed(
    right: Array, truth: Array, guess: Array, r0: float, r1: float, n0: float, n1: float, g0: float, g1: float
) -> None:
    """Write the numbers back."""
    right[0], truth[0], guess[0] = r0, n0, g0
    if right.size > 1:
        right[1], truth[1], guess[1] = r1, n1, g1


@exact_helper
def noted(
    r0: float, r1: float, n0: float, n1: float, g0: float, g1: float, one: float, said: float
) -> tuple[float, float, float, float, float, float]:
    """`record` of two classes without a branch; one, said: 1 where the second class is meant, and answered, else 0."""
    hit = 1.0 - abs(one - said)
    return r0 + hit * (1.0 - one), r1 + hit * one, n0 + (1.0 - one), n1 + one, g0 + (1.0 - said), g1 + said


@exact_helper
def kinds(a: Array) -> int:
    """Number of classes: at least two."""
    return max(2, a.size)


@exact_helper
def size(a: Array, c: int, rest: float, memory: float) -> float:
    """Rows of class c, with one that each class begins with; with memory its share, which begins alike for all.

    rest: what is left of that begin.
    """
    n = a[c] if c < a.size else 0.0
    if memory == 0.0:
        return n + 1.0
    return n + rest / kinds(a)


@exact_helper
def extremes(a: Array, rest: float, memory: float, floor: float) -> tuple[float, float]:
    """Smallest and largest size."""
    low = high = max(size(a, 0, rest, memory), floor)
    for c in range(1, kinds(a)):
        n = max(size(a, c, rest, memory), floor)
        low, high = min(low, n), max(high, n)
    return low, high


@exact_helper
def observe(a: Array, rest: Array, memory: float, warm: bool, t: float, c: int) -> None:
    """Count a row of class c, the t-th; with memory all sizes fade first.

    warm: no faster than that the sizes are plain frequencies.
    """
    if memory == 0.0:
        a[c] += 1.0
        return
    keep = memory
    if warm:
        keep = min(memory, 1.0 - 1.0 / (t + kinds(a)))
    for k in range(a.size):
        a[k] *= keep
    rest[0] *= keep
    a[c] += 1.0 - keep


@exact_helper
def harmonic(pull: Array, a: Array, rest: float, memory: float, c: int, positive: bool, many: bool) -> float:
    """The weight of a row of class c with which both, or all, classes pull alike (Zhou et al. 2025, equation 4).

    pull (classes,): sums of weight times squared gradient. Clipped to [1 / R, 2 R], R the ratio of the class sizes. Of
    many classes: (largest / own size) C / (C - 1) times the share of the others' pull; the equation 6 as printed has
    the own pull in its numerator, which does not give 4 for two classes.
    """
    floor = 1.0 - memory if memory > 0.0 else 0.0
    if not many:
        own, other = max(size(a, c, rest, memory), floor), max(size(a, 1 - c, rest, memory), floor)
        mine = pull[c]
        theirs = pull[1 - c] if pull.size > 1 else 0.0
        alpha = 1.0
        if mine + theirs > 0.0:
            alpha = 2.0 * theirs / (mine + theirs) * (other / own if positive else 1.0)
        ratio = max(other, own) / min(other, own)
        return min(max(alpha, 1.0 / ratio), 2.0 * ratio)
    low, high = extremes(a, rest, memory, floor)
    total = 0.0
    for k in range(pull.size):
        total += pull[k]
    alpha = 1.0
    if total > 0.0:
        own = max(size(a, c, rest, memory), floor)
        alpha = high / own * kinds(a) / (kinds(a) - 1.0) * (total - pull[c]) / total
    ratio = high / low
    return min(max(alpha, 1.0 / ratio), 2.0 * ratio)


@exact_helper
def kappa(right: Array, truth: Array, guess: Array) -> float:
    """Cohen's kappa of answers; arrays (classes,): rows right, of each class, of each answer. 0 where it has none."""
    if right.size == 2:
        return kappa_of_two(right[0] + right[1], truth[0], truth[1], guess[0], guess[1])
    n = hits = chance = 0.0
    for k in range(right.size):
        n += truth[k]
        hits += right[k]
        chance += truth[k] * guess[k]
    return agreement(n, hits, chance)


@exact_helper
def kappa_of_two(hits: float, n0: float, n1: float, g0: float, g1: float) -> float:
    """`kappa` of two classes: rows right, rows of each, answers."""
    return agreement(n0 + n1, hits, n0 * g0 + n1 * g1)


@exact_helper
def agreement(n: float, hits: float, chance: float) -> float:
    """Kappa of n rows, of which so many are right; chance: the sum of rows x answers of each class."""
    if n == 0.0:
        return 0.0
    chance /= n * n
    return (hits / n - chance) / (1.0 - chance) if 1.0 - chance >= 1e-12 else 0.0


@exact_helper
def rate(how: Rule, own: float, low: float, high: float, classes: int, positive: bool, many: bool) -> float:
    """The rate of a row; sizes of its class, and of the smallest and the largest one."""
    if how.kind == EVEN:
        return 1.0
    if how.kind == COST:
        return how.x if positive and not many else 1.0
    other = high if own == low else low  # of two classes
    if how.ir > 0.0 and not many:
        fewer = own < other or (own == other and positive)
        low, high = 1.0, how.ir
        own, other = (low, high) if fewer else (high, low)
    if how.kind == SUM:
        if many:
            return high / own
        return how.x * other / own if positive else 1.0
    if how.kind == HYBRID:
        r = (high / own) ** how.x * (low / own) ** (1.0 - how.x)
        return r if r != 1.0 else ONCE
    if how.kind == FADE_OVER:
        return 1.0 / own if own <= 1.0 / classes else 1.0
    if how.kind == FADE_UNDER:
        return 1.0 - own if own > 1.0 / classes else 1.0
    return high / own if (how.kind == LARGEST) | (how.kind == FADE_LARGEST) else low / own


@exact_kernel
def rates(how: Rule, a: Array, rest: Array, y: Array, target: Array, out: Array) -> None:
    """out[i]: the rate of a row of class y[i], by what was before it; sizes that fade count the row itself.

    target (units, n): rows of which no unit wants anything leave no trace, and have rate 1.
    """
    many = len(target) > 1
    fades = how.memory > 0.0
    two = a.size == 2
    a0, a1, left = (a[0], a[1], rest[0]) if two else (0.0, 0.0, 1.0)
    keep, gain = how.memory, 1.0 - how.memory
    for i in range(y.size):
        out[i] = 1.0
        t = side(target, i)
        if t != 0 and y[i] >= 0 and two:  # as below, in registers
            one = np.float64(y[i])
            if fades:
                a0, a1, left = a0 * keep + (1.0 - one) * gain, a1 * keep + one * gain, left * keep
            begin = left / 2.0 if fades else 1.0
            own, other = (a1 + begin, a0 + begin) if y[i] > 0 else (a0 + begin, a1 + begin)
            out[i] = rate(how, own, min(own, other), max(own, other), 2, t > 0, many)
            if not fades:
                a0, a1 = a0 + (1.0 - one), a1 + one
        elif t != 0 and y[i] >= 0:
            if fades:
                observe(a, rest, how.memory, False, 0.0, y[i])
            low, high = extremes(a, rest[0], how.memory, 0.0)
            out[i] = rate(how, size(a, y[i], rest[0], how.memory), low, high, kinds(a), t > 0, many)
            if not fades:
                observe(a, rest, how.memory, False, 0.0, y[i])
    if two:
        a[0], a[1], rest[0] = a0, a1, left


@exact_kernel
def windowed(ring: Array, at: Array, ratio: float, down: bool, y: Array, target: Array, out: Array) -> None:
    """out[i]: how much rarer the class of a row is among the last ones than the other, by Chen et al. 2021.

    Of two classes the positive one's weight is ratio (negatives + 1) / (positives + 1), or under `down` the negative
    one's is its inverse; of more, most / own, or least / own. The row itself counts. ring (length,): class codes + 1;
    at (1,): rows seen. target as above.
    """
    many = len(target) > 1
    top = 2
    for code in ring:
        top = max(top, int(code))
    for c in y:
        top = max(top, c + 1)
    count = np.zeros(top)
    for code in ring:
        if code > 0.0:
            count[int(code) - 1] += 1.0
    for i in range(y.size):
        out[i] = 1.0
        t = side(target, i)
        if t == 0 or y[i] < 0:
            continue
        c = y[i]
        slot = int(at[0]) % ring.size
        if ring[slot] > 0.0:
            count[int(ring[slot]) - 1] -= 1.0
        ring[slot] = c + 1.0
        at[0] += 1.0
        count[c] += 1.0
        if many:
            classes = len(target)
            most = least = count[0]
            for k in range(1, classes):
                n = count[k] if k < top else 0.0
                most, least = max(most, n), min(least, n)
            out[i] = ((least if down else most) + 1.0) / (count[c] + 1.0)
        elif (t > 0) != down:
            kap = (count[1 - c] + 1.0) / (count[c] + 1.0)
            out[i] = kap * (ratio if t > 0 else 1.0 / ratio)
