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
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.bayes import LEAST, MOST, importance, note, portions, say, shares
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
ROUNDED = 1.0 - 1e-9  # the weight of a new leaf is estimated: 200 rows more may add up to a little less than 200


class Scratch(NamedTuple):
    """Room for one row."""

    x: Array  # (cols,)
    logs: Array  # (1, classes) of naive Bayes
    p: Array  # (classes,) shares
    sides: Array  # (2, classes) of a candidate


def scratch(t: Tree) -> Scratch:
    """Room for a row of this tree."""
    classes, _, cols = t.gauss.shape[1:]
    return Scratch(np.empty(cols), np.empty((1, classes)), np.empty(classes), np.empty((2, classes)))


@exact_helper
def descend(node: Array, x: Array) -> int:
    """The leaf of row x: a value of at most the threshold goes left."""
    k = 0
    while node[k, LEFT] > 0.0:
        side = LEFT if x[int(node[k, FEATURE])] <= node[k, THRESHOLD] else RIGHT
        k = int(node[k, side])
    return k


@exact_helper
def square(x: Array, g: Array, slot: int, c: int, j: int) -> float:
    """Squared distance of column j from the mean of class c, over M2."""
    d = x[j] - g[slot, c, MEAN, j]
    if d == 0.0:
        return 0.0
    q: float = d * d / g[slot, c, M2, j] if g[slot, c, M2, j] > 0.0 else np.inf
    return q


@exact_helper
def bayes(dist: Array, held: Array, g: Array, leaf: int, slot: int, x: Array, logs: Array) -> None:
    """Logarithms of dist_c prod_j density(x_j), without the factor that all classes have in common.

    A density of no spread is 1 at the mean and 0 elsewhere; a class that the leaf has not met has none.
    """
    for c in range(logs.shape[1]):
        n = held[slot, c, WEIGHT]
        logs[0, c] = -np.inf
        if n <= 0.0 or dist[leaf, c] <= 0.0:
            continue
        q = 0.0
        if n > 1.0:
            a, b, e, f = 0.0, 0.0, 0.0, 0.0  # as in `bayes.judge`
            j = 0
            while j + 4 <= x.size:
                a += square(x, g, slot, c, j)
                b += square(x, g, slot, c, j + 1)
                e += square(x, g, slot, c, j + 2)
                f += square(x, g, slot, c, j + 3)
                j += 4
            a += square(x, g, slot, c, j) if j < x.size else 0.0
            b += square(x, g, slot, c, j + 1) if j + 1 < x.size else 0.0
            e += square(x, g, slot, c, j + 2) if j + 2 < x.size else 0.0
            q = (
                (n - 1.0) * ((a + b) + (e + f))
                + held[slot, c, LOGS]
                + held[slot, c, SPREAD] * log(2.0 * pi / (n - 1.0))
            )
        else:
            for j in range(x.size):
                if x[j] != g[slot, c, MEAN, j]:
                    q = np.inf
        logs[0, c] = log(dist[leaf, c]) - 0.5 * q


@exact_helper
def first_best(a: Array, k: int) -> int:
    """The first of the largest of row k."""
    best = 0
    for c in range(1, a.shape[1]):
        if a[k, c] > a[k, best]:
            best = c
    return best


@exact_helper
def answer(
    node: Array, dist: Array, slots: Array, held: Array, g: Array, kind: int, x: Array, logs: Array, p: Array
) -> int:
    """Shares p of the classes for row x; returns its leaf. Leaves `logs` where the leaf keeps Gaussians."""
    leaf = descend(node, x)
    slot = int(node[leaf, SLOT]) - 1
    if slot >= 0 and kind != MC:
        bayes(dist, held, g, leaf, slot, x, logs)
        if (kind == NB or slots[slot, BY_CLASS] <= slots[slot, BY_BAYES]) and shares(logs, p):
            return leaf
    portions(dist, leaf, p)
    return leaf


@exact_helper
def observe(held: Array, g: Array, slot: int, c: int, x: Array, w: float) -> None:
    """Take row x of class c and weight w into the Gaussians of a slot."""
    if held[slot, c, WEIGHT] == 0.0:
        for j in range(x.size):
            g[slot, c, LOW, j] = x[j]
            g[slot, c, HIGH, j] = x[j]
    held[slot, c, WEIGHT] += w
    r = w / held[slot, c, WEIGHT]
    for j in range(x.size):
        d = x[j] - g[slot, c, MEAN, j]
        g[slot, c, MEAN, j] += r * d
        g[slot, c, M2, j] += w * d * (x[j] - g[slot, c, MEAN, j])
        g[slot, c, LOW, j] = x[j] if x[j] < g[slot, c, LOW, j] else g[slot, c, LOW, j]
        g[slot, c, HIGH, j] = x[j] if x[j] > g[slot, c, HIGH, j] else g[slot, c, HIGH, j]


@exact_helper
def measure(held: Array, g: Array, slot: int, c: int) -> None:
    """Sum of the logarithms of M2 where it is not 0, and where it is not."""
    logs = 0.0
    product = 1.0
    spread = 0.0
    for j in range(g.shape[3]):
        v = g[slot, c, M2, j]
        if v > 0.0:
            spread += 1.0
            if LEAST < v < MOST:
                product *= v
            else:
                logs += log(v)
            if not LEAST < product < MOST:
                logs += log(product)
                product = 1.0
    held[slot, c, LOGS] = logs + log(product)
    held[slot, c, SPREAD] = spread


@exact_helper
def compare(dist: Array, slots: Array, leaf: int, slot: int, logs: Array, c: int, w: float) -> None:
    """Count who is right about a row of class c: the leaf's most frequent class, naive Bayes."""
    usual = first_best(dist, leaf)
    likely = first_best(logs, 0)
    if logs[0, likely] == -np.inf:
        likely = usual
    if usual == c:
        slots[slot, BY_CLASS] += w
    if likely == c:
        slots[slot, BY_BAYES] += w


@exact_helper
def crowded(node: Array, slots: Array, tally: Array, most_nodes: int, most_slots: int) -> bool:
    """Whether a split might find no room that there could be."""
    no_node: bool = tally[NODES] + 2 > node.shape[0] and node.shape[0] < most_nodes
    no_slot: bool = tally[SLOTS] + 1 > slots.shape[0] and slots.shape[0] < most_slots
    return no_node or no_slot


@exact_kernel
def grow_with(t: Tree, how: How, X: Any, y: Array, plan: Plan, start: int, room: Scratch) -> int:
    """Score each row from `start` on, then learn it; returns the row at which it stopped for want of room, or n."""
    node, dist, slots, held, g, tally, code = t.node, t.dist, t.slot, t.held, t.gauss, t.tally, t.code
    target, weight, repeat, pre, post = plan.target, plan.weight, plan.repeat, plan.pre, plan.post
    x, logs, p, sides = room.x, room.logs, room.p, room.sides
    tell = post.shape[1] > 0
    for i in range(start, rows(X)):
        w = importance(target, weight, repeat, y, i)
        if w > 0.0 and crowded(node, slots, tally, how.nodes, how.slots):
            return i
        row_into(X, i, x)
        leaf = answer(node, dist, slots, held, g, how.kind, x, logs, p)
        say(p, code, pre, i)
        if w > 0.0:
            c = y[i]
            note(code, target, c, i)
            slot = int(node[leaf, SLOT]) - 1
            if slot >= 0:
                if how.kind == NBA:
                    compare(dist, slots, leaf, slot, logs, c, w)
                observe(held, g, slot, c, x, w)
                if how.kind != MC:
                    measure(held, g, slot, c)
            dist[leaf, c] += w
            here = total(dist, leaf)
            if slot >= 0 and here - node[leaf, LAST] >= how.grace * ROUNDED and tally[NODES] + 2 <= how.nodes:
                node[leaf, LAST] = here
                attempt(t, how, leaf, here, sides)
            if tell:
                answer(node, dist, slots, held, g, how.kind, x, logs, p)
        if tell:
            say(p, code, post, i)
    return rows(X)


@exact_kernel
def score(t: Tree, kind: int, X: Any, room: Scratch, out: Array) -> None:
    """Scores out (units, n) of the rows."""
    node, dist, slots, held, g, code = t.node, t.dist, t.slot, t.held, t.gauss, t.code
    x, logs, p = room.x, room.logs, room.p
    for i in range(rows(X)):
        row_into(X, i, x)
        answer(node, dist, slots, held, g, kind, x, logs, p)
        say(p, code, out, i)
