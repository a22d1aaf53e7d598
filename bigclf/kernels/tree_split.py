"""When a leaf of a Hoeffding tree is split and where, and which leaf gives up its slot where there are too few.

Sums are in the order written, for a threshold must not depend on the machine. Sources as in `tree`; the thresholds of a
column are those of Pfahringer, Holmes & Kirkby, Handling numeric attributes in Hoeffding trees, PAKDD 2008.
"""

from __future__ import annotations

from math import erfc, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper

# columns of the arrays of a tree
FEATURE, THRESHOLD, LEFT, RIGHT, SLOT, LAST = range(6)
OWNER, BY_CLASS, BY_BAYES = range(3)
WEIGHT, LOGS, SPREAD = range(3)
MEAN, M2, LOW, HIGH = range(4)
NODES, SLOTS, EVICTED, SETTLED = range(4)
SD = 2  # row of the scratch of a candidate, after its two sides


class Tree(NamedTuple):
    """All that a tree keeps. Few arrays: each costs whenever a tree is handed from one function to another."""

    node: Array  # (nodes, 6) FEATURE, THRESHOLD, LEFT child (0 in leaves), RIGHT child, 1 + SLOT (0: none),
    # and weight of a leaf at its LAST attempt to split
    dist: Array  # (nodes, classes) weight of each class
    slot: Array  # (slots, 3) 1 + OWNER (0: free), weight of the rows that the leaf's most frequent class was right for
    # (BY_CLASS), the same of naive Bayes (BY_BAYES)
    held: Array  # (slots, classes, 3) WEIGHT of the rows in the Gaussians; sum of the logarithms of M2 over the columns
    # where it is not 0 (LOGS), and how many they are (SPREAD)
    gauss: Array  # (slots, classes, 4, cols) MEAN, M2 as in `bayes`, LOW and HIGH: least and largest value
    tally: Array  # (4,) NODES, SLOTS in use, leaves whose slot others took (EVICTED), and those that no split could
    # improve (SETTLED)
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen


class How(NamedTuple):
    """The options."""

    kind: int  # MC, NB or NBA of `tree`
    grace: float  # weight between attempts
    delta: float
    tie: float
    candidates: int  # thresholds of each column
    fraction: float  # of the weight, that each side must have more of
    prune: bool  # not to split is one of the ways, of merit 0; where it wins, the leaf gives up its slot
    nodes: int  # most there may be
    slots: int
    moa: bool  # leaves answer, and are judged, as in MOA


@exact_helper
def total(a: Array, k: int) -> float:
    """Sum of row k, in order."""
    s = 0.0
    for c in range(a.shape[1]):
        s += a[k, c]
    return s


@exact_helper
def entropy(a: Array, k: int) -> float:
    """In bits, of the weights in row k."""
    s = total(a, k)
    h = 0.0
    for c in range(a.shape[1]):
        if a[k, c] > 0.0:
            h -= a[k, c] / s * log2(a[k, c] / s)
    return h


@exact_helper
def hoeffding(classes: int, delta: float, n: float) -> float:
    """By how much a mean of n information gains may be off, with confidence 1 - delta.

    >>> round(hoeffding(2, 1e-7, 200.0), 8)
    0.20073674
    """
    r = log2(max(2.0, float(classes)))
    return sqrt(r * r * log(1.0 / delta) / (2.0 * n))


@exact_helper
def spreads(t: Tree, slot: int, j: int, sides: Array) -> None:
    """Standard deviations of column j by class, in the last row of sides (3, classes)."""
    for c in range(sides.shape[1]):
        n = t.held[slot, c, WEIGHT]
        sides[SD, c] = sqrt(t.gauss[slot, c, M2, j] / (n - 1.0)) if n > 1.0 else 0.0


@exact_helper
def divide(t: Tree, slot: int, j: int, threshold: float, sides: Array) -> None:
    """Estimated weights at or below a threshold of column j, and above, in the first rows of sides (3, classes)."""
    for c in range(sides.shape[1]):
        n = t.held[slot, c, WEIGHT]
        d = threshold - t.gauss[slot, c, MEAN, j]
        left = 0.0
        if n > 0.0 and threshold >= t.gauss[slot, c, HIGH, j]:
            left = n
        elif n > 0.0 and threshold >= t.gauss[slot, c, LOW, j]:
            if sides[SD, c] == 0.0:
                left = n if d >= 0.0 else 0.0
            else:
                left = n * 0.5 * erfc(-d / sides[SD, c] / sqrt(2.0))
        sides[0, c] = left
        sides[1, c] = n - left


@exact_helper
def merit(before: float, sides: Array, fraction: float) -> float:
    """Information gain in bits over the entropy before; -infinity where a side has too little."""
    left = total(sides, 0)
    right = total(sides, 1)
    whole = left + right
    gain = -np.inf
    if left > fraction * whole and right > fraction * whole:
        gain = before - (left / whole * entropy(sides, 0) + right / whole * entropy(sides, 1))
    return gain


@exact_helper
def best_threshold(t: Tree, how: How, slot: int, j: int, before: float, sides: Array) -> tuple[float, float]:
    """The best threshold of column j and its merit; NaN where there is none."""
    spreads(t, slot, j, sides)
    low = np.inf
    high = -np.inf
    for c in range(sides.shape[1]):
        if t.held[slot, c, WEIGHT] > 0.0:
            low = min(low, t.gauss[slot, c, LOW, j])
            high = max(high, t.gauss[slot, c, HIGH, j])
    best = -np.inf
    at = np.nan
    for i in range(1, how.candidates + 1):
        threshold = low + (high - low) * i / (how.candidates + 1)
        if low < threshold < high:
            divide(t, slot, j, threshold, sides)
            m = merit(before, sides, how.fraction)
            if m > best or at != at:
                best = m
                at = threshold
    return at, best


@exact_helper
def attempt(t: Tree, how: How, leaf: int, weight: float, sides: Array) -> bool:
    """Split a leaf, or give up its slot, where the best way is surely better than the second, or a tie lasts.

    Returns whether slots have changed hands.

    sides (3, classes): scratch.
    """
    met = 0
    for c in range(sides.shape[1]):
        met += t.dist[leaf, c] > 0.0
    if met < 2:
        return False
    slot = int(t.node[leaf, SLOT]) - 1
    bound = hoeffding(sides.shape[1], how.delta, weight)
    before = entropy(t.dist, leaf)
    best = 0.0 if how.prune else -np.inf
    second = -np.inf
    feature = int(np.int64(-1))  # of a bare -1 numba makes functions of their own
    threshold = 0.0
    for j in range(t.gauss.shape[3]):
        at, m = best_threshold(t, how, slot, j, before, sides)
        if m > best:
            second = best
            best, feature, threshold = m, j, at
        elif m > second:
            second = m
    if best == -np.inf or not (best - second > bound or bound < how.tie):
        return False
    if feature < 0:
        release(t, leaf)
        t.tally[SETTLED] += 1.0
    else:
        split(t, how, leaf, feature, threshold, sides)
    return True


@exact_helper
def release(t: Tree, leaf: int) -> None:
    """Take a leaf's slot away: from now on it answers by its classes."""
    slot = int(t.node[leaf, SLOT]) - 1
    for k in range(t.slot.shape[1]):  # loops: numba compiles assignments to slices for seconds
        t.slot[slot, k] = 0.0
    for c in range(t.held.shape[1]):
        for k in range(t.held.shape[2]):
            t.held[slot, c, k] = 0.0
        for k in range(t.gauss.shape[2]):
            for j in range(t.gauss.shape[3]):
                t.gauss[slot, c, k, j] = 0.0
    t.node[leaf, SLOT] = 0.0
    t.tally[SLOTS] -= 1.0


@exact_helper
def settle(t: Tree, leaf: int, slot: int) -> None:
    """Give a leaf a slot."""
    t.node[leaf, SLOT] = slot + 1.0
    t.slot[slot, OWNER] = leaf + 1.0
    t.tally[SLOTS] += 1.0


@exact_helper
def split(t: Tree, how: How, leaf: int, feature: int, threshold: float, sides: Array) -> None:
    """Two leaves of a leaf, which begin with the weights that are estimated for them."""
    slot = int(t.node[leaf, SLOT]) - 1
    spreads(t, slot, feature, sides)
    divide(t, slot, feature, threshold, sides)
    release(t, leaf)
    new = int(t.tally[NODES])
    t.tally[NODES] += 2.0
    t.node[leaf, FEATURE], t.node[leaf, THRESHOLD] = feature, threshold
    t.node[leaf, LEFT], t.node[leaf, RIGHT] = new, new + 1
    for side in range(2):
        for c in range(sides.shape[1]):
            t.dist[new + side, c] = sides[side, c]
        t.node[new + side, LAST] = total(sides, side)
    settle(t, new, slot)
    for free in range(t.slot.shape[0]):
        if t.slot[free, OWNER] == 0.0:
            settle(t, new + 1, free)
            return
    poorest = new + 1
    for k in range(new + 1):
        if t.node[k, SLOT] > 0.0 and promise(t, k) < promise(t, poorest):
            poorest = k
    if poorest != new + 1:
        free = int(t.node[poorest, SLOT]) - 1
        release(t, poorest)
        settle(t, new + 1, free)
    t.tally[EVICTED] += 1.0


@exact_helper
def promise(t: Tree, leaf: int) -> float:
    """Weight of the rows that a leaf's most frequent class is wrong for."""
    most = 0.0
    for c in range(t.dist.shape[1]):
        most = max(most, t.dist[leaf, c])
    return total(t.dist, leaf) - most
