"""A Hoeffding tree in flat arrays: where a row belongs, what its leaf answers, and what the leaf learns of it.

A leaf that may still be split has a slot, in which it keeps a Gaussian of each class and column. Node 0 is the root, so
0 is no child: a node whose `left` is 0 is a leaf.

Source: Domingos & Hulten, Mining high-speed data streams, KDD 2000; leaves: Gama, Rocha & Medas, KDD 2003; Holmes,
Kirkby & Pfahringer, Stress-testing Hoeffding trees, PKDD 2005.
"""

from __future__ import annotations

from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array, Plan
from bigclf.jit import exact_helper, helper, kernel
from bigclf.kernels.bayes import LEAST, MOST, importance, moments, note, portions, say, shares
from bigclf.kernels.tree_split import (
    BY_BAYES,
    BY_CLASS,
    FEATURE,
    HIGH,
    LAST,
    LEFT,
    LOGS,
    LOW,
    M2,
    MEAN,
    NODES,
    RIGHT,
    SLOT,
    SLOTS,
    SPREAD,
    THRESHOLD,
    WEIGHT,
    How,
    Tree,
    attempt,
    total,
)

MC, NB, NBA = range(3)  # leaves answer by their classes, by naive Bayes, by what was right more often


class Scratch(NamedTuple):
    """Room for one row."""

    x: Array  # (cols,)
    logs: Array  # (classes,) naive Bayes
    p: Array  # (classes,) shares
    sides: Array  # (2, classes) of a candidate


def scratch(t: Tree) -> Scratch:
    """Room for a row of this tree."""
    classes, _, cols = t.gauss.shape[1:]
    return Scratch(np.empty(cols), np.empty(classes), np.empty(classes), np.empty((2, classes)))


@helper
def descend(t: Tree, x: Array) -> int:
    """The leaf of row x: a value of at most the threshold goes left."""
    k = 0
    while t.node[k, LEFT] > 0.0:
        side = LEFT if x[int(t.node[k, FEATURE])] <= t.node[k, THRESHOLD] else RIGHT
        k = int(t.node[k, side])
    return k


@helper
def bayes(t: Tree, leaf: int, slot: int, x: Array, logs: Array) -> None:
    """Logarithms of dist_c prod_j density(x_j), without the factor that all classes have in common.

    A density of no spread is 1 at the mean and 0 elsewhere; a class that the leaf has not met has none.
    """
    for c in range(logs.size):
        n = t.held[slot, c, WEIGHT]
        logs[c] = -np.inf
        if n <= 0.0 or t.dist[leaf, c] <= 0.0:
            continue
        g = t.gauss[slot, c]
        q = 0.0
        if n > 1.0:
            for j in range(x.size):
                d = x[j] - g[MEAN, j]
                q += 0.0 if d == 0.0 else d * d / g[M2, j]
            q = (n - 1.0) * q + t.held[slot, c, LOGS] + t.held[slot, c, SPREAD] * log(2.0 * pi / (n - 1.0))
        else:
            for j in range(x.size):
                if x[j] != g[MEAN, j]:
                    q = np.inf
        logs[c] = log(t.dist[leaf, c]) - 0.5 * q


@exact_helper
def first_best(a: Array) -> int:
    """The first of the largest."""
    best = 0
    for c in range(1, a.size):
        if a[c] > a[best]:
            best = c
    return best


@helper
def answer(t: Tree, kind: int, x: Array, logs: Array, p: Array) -> int:
    """Shares p of the classes for row x; returns its leaf. Leaves `logs` where the leaf keeps Gaussians."""
    leaf = descend(t, x)
    slot = int(t.node[leaf, SLOT]) - 1
    if slot >= 0 and kind != MC:
        bayes(t, leaf, slot, x, logs)
        if (kind == NB or t.slot[slot, BY_CLASS] <= t.slot[slot, BY_BAYES]) and shares(logs, p):
            return leaf
    portions(t.dist[leaf], p)
    return leaf


@helper
def observe(t: Tree, slot: int, c: int, x: Array, w: float) -> None:
    """Take row x of class c and weight w into the Gaussians of a slot."""
    g, held = t.gauss[slot, c], t.held[slot, c]
    if held[WEIGHT] == 0.0:
        for j in range(x.size):
            g[LOW, j] = x[j]
            g[HIGH, j] = x[j]
    held[WEIGHT] += w
    moments(x, w, w / held[WEIGHT], g[MEAN], g[M2])
    for j in range(x.size):
        g[LOW, j] = min(g[LOW, j], x[j])
        g[HIGH, j] = max(g[HIGH, j], x[j])


@helper
def measure(squares: Array, held: Array) -> None:
    """Sum of the logarithms of the squares where they are not 0, and how many are not."""
    logs = 0.0
    product = 1.0
    spread = 0.0
    for j in range(squares.size):
        v = squares[j]
        if v > 0.0:
            spread += 1.0
            if LEAST < v < MOST:
                product *= v
            else:
                logs += log(v)
            if not LEAST < product < MOST:
                logs += log(product)
                product = 1.0
    held[LOGS] = logs + log(product)
    held[SPREAD] = spread


@helper
def learn(t: Tree, how: How, leaf: int, c: int, w: float, room: Scratch) -> None:
    """Take the row in `room` into its leaf, and split the leaf when that is due."""
    slot = int(t.node[leaf, SLOT]) - 1
    if slot < 0:
        t.dist[leaf, c] += w
        return
    if how.kind == NBA:
        usual = first_best(t.dist[leaf])
        likely = first_best(room.logs)
        if room.logs[likely] == -np.inf:
            likely = usual
        if usual == c:
            t.slot[slot, BY_CLASS] += w
        if likely == c:
            t.slot[slot, BY_BAYES] += w
    t.dist[leaf, c] += w
    observe(t, slot, c, room.x, w)
    if how.kind != MC:
        measure(t.gauss[slot, c, M2], t.held[slot, c])
    weight = total(t.dist[leaf])
    if weight - t.node[leaf, LAST] >= how.grace and t.tally[NODES] + 2 <= how.nodes:
        t.node[leaf, LAST] = weight
        attempt(t, how, leaf, weight, room.sides)


@helper
def crowded(t: Tree, how: How) -> bool:
    """Whether a split might find no room that there could be."""
    return (t.tally[NODES] + 2 > t.node.shape[0] and t.node.shape[0] < how.nodes) or (
        t.tally[SLOTS] + 1 > t.slot.shape[0] and t.slot.shape[0] < how.slots
    )


@kernel
def grow_with(t: Tree, how: How, X: Any, y: Array, plan: Plan, start: int, room: Scratch) -> int:
    """Score each row from `start` on, then learn it; returns the row at which it stopped for want of room, or n."""
    tell = plan.post.shape[1] > 0
    for i in range(start, rows(X)):
        w = importance(plan, y, i)
        if w > 0.0 and crowded(t, how):
            return i
        row_into(X, i, room.x)
        leaf = answer(t, how.kind, room.x, room.logs, room.p)
        say(room.p, t.code, plan.pre, i)
        if w > 0.0:
            note(t.code, plan, y[i], i)
            learn(t, how, leaf, y[i], w, room)
            if tell:
                answer(t, how.kind, room.x, room.logs, room.p)
        if tell:
            say(room.p, t.code, plan.post, i)
    return rows(X)


@kernel
def score(t: Tree, kind: int, X: Any, room: Scratch, out: Array) -> None:
    """Scores out (units, n) of the rows."""
    for i in range(rows(X)):
        row_into(X, i, room.x)
        answer(t, kind, room.x, room.logs, room.p)
        say(room.p, t.code, out, i)
