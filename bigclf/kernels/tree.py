"""A Hoeffding tree in flat arrays: where a row belongs, what its leaf answers, and what the leaf learns of it.

A leaf that may still be split has a slot, in which it keeps a Gaussian of each class and column. Node 0 is the root, so
0 is no child: a node whose `left` is 0 is a leaf.

Source: Domingos & Hulten, Mining high-speed data streams, KDD 2000; leaves: Gama, Rocha & Medas, KDD 2003; Holmes,
Kirkby & Pfahringer, Stress-testing Hoeffding trees, PKDD 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array, Plan
from bigclf.jit import exact_helper, exact_kernel, loan, numbers
from bigclf.kernels.bayes import importance, note, portions, say, shares
from bigclf.kernels.tree_leaf import bayes, compare, measure, observe, parts, products, weigh
from bigclf.kernels.tree_split import (
    BY_BAYES,
    BY_CLASS,
    FEATURE,
    LAST,
    LEFT,
    NODES,
    RIGHT,
    SLOT,
    SLOTS,
    THRESHOLD,
    How,
    Tree,
    attempt,
    total,
)

MC, NB, NBA = range(3)  # leaves answer by their classes, by naive Bayes, by what was right more often
ROUNDED = 1.0 - 1e-9  # the weight of a new leaf is estimated: 200 rows more may add up to a little less than 200


def scratch(t: Tree) -> Array:
    """Room for all that `rooms` cuts out of it."""
    slots, classes, _, cols = t.gauss.shape
    return np.zeros(cols + 5 * classes + slots * (2 * classes + 1))


@exact_helper
def rooms(room: Array, gauss: Array) -> Any:
    """A row (cols,), logarithms (1, classes), shares (classes,), scratch of a candidate (3, classes); terms and ready.

    One array is cheap to hand over, and what is cut out of it by address has no owner to be counted.
    """
    slots, classes, _, cols = gauss.shape
    at = room.ctypes.data
    b = at + 8 * cols
    terms = b + 8 * 5 * classes
    return (
        numbers(at, (cols,)),
        numbers(b, (1, classes)),
        numbers(b + 8 * classes, (classes,)),
        numbers(b + 16 * classes, (3, classes)),
        numbers(terms, (slots, classes, 2)),
        numbers(terms + 16 * slots * classes, (slots,)),
    )


@exact_helper
def descend(node: Array, x: Array) -> int:
    """The leaf of row x: a value of at most the threshold goes left."""
    k = 0
    while node[k, LEFT] > 0.0:
        side = LEFT if x[int(node[k, FEATURE])] <= node[k, THRESHOLD] else RIGHT
        k = int(node[k, side])
    return k


@exact_helper
def answer(
    node: Array,
    dist: Array,
    slots: Array,
    held: Array,
    g: Array,
    kind: int,
    moa: bool,
    x: Array,
    ready: Array,
    terms: Array,
    logs: Array,
    p: Array,
) -> int:
    """Shares p of the classes for row x; returns its leaf. Leaves `logs` where the leaf keeps Gaussians."""
    leaf = descend(node, x)
    slot = int(node[leaf, SLOT]) - 1
    if moa:
        if slot >= 0 and kind != MC:
            products(dist, held, g, leaf, slot, x, logs)
            if kind == NB or slots[slot, BY_CLASS] <= slots[slot, BY_BAYES]:
                parts(logs, 0, p)
                return leaf
        parts(dist, leaf, p)
        return leaf
    if slot >= 0 and kind != MC:
        bayes(dist, held, g, leaf, slot, x, ready, terms, logs)
        if (kind == NB or slots[slot, BY_CLASS] <= slots[slot, BY_BAYES]) and shares(logs, p):
            return leaf
    portions(dist[leaf], p)
    return leaf


@exact_helper
def crowded(node: Array, slots: Array, tally: Array, most_nodes: int, most_slots: int) -> bool:
    """Whether a split might find no room that there could be."""
    no_node: bool = tally[NODES] + 2 > node.shape[0] and node.shape[0] < most_nodes
    no_slot: bool = tally[SLOTS] + 1 > slots.shape[0] and slots.shape[0] < most_slots
    return no_node or no_slot


@exact_helper
def take(
    t: Tree, how: How, leaf: int, x: Array, c: int, w: float, logs: Array, sides: Array, terms: Array, ready: Array
) -> None:
    """A leaf learns row x of class c and weight w, which was just answered; it may be split. The tree is on loan."""
    node, dist, slots, held, g, tally = t.node, t.dist, t.slot, t.held, t.gauss, t.tally
    slot = int(node[leaf, SLOT]) - 1
    if slot >= 0:
        if how.kind == NBA:
            compare(dist, slots, leaf, slot, logs, c, w, how.moa)
        observe(held, g, slot, c, x, w)
        if how.kind != MC:
            measure(held, g, slot, c)
    dist[leaf, c] += w
    if slot >= 0 and ready[slot] > 0.0:
        weigh(dist, held, leaf, slot, c, terms)
    here = total(dist, leaf)
    if slot >= 0 and here - node[leaf, LAST] >= how.grace * ROUNDED and tally[NODES] + 2 <= how.nodes:
        node[leaf, LAST] = here
        if attempt(t, how, leaf, here, sides):
            for k in range(ready.size):
                ready[k] = 0.0


@exact_kernel
def grow_with(t: Tree, how: How, X: Any, y: Array, plan: Plan, start: int, room: Array) -> int:
    """Score each row from `start` on, then learn it; returns the row at which it stopped for want of room, or n."""
    t, y, plan = loan(t), loan(y), loan(plan)
    node, dist, slots, held, g, tally, code = t
    pre, post = plan.pre, plan.post
    x, logs, p, sides, terms, ready = rooms(loan(room), g)
    tell = post.shape[1] > 0
    for i in range(start, rows(X)):
        w = importance(plan.target, plan.weight, plan.repeat, y, i)
        if w > 0.0 and crowded(node, slots, tally, how.nodes, how.slots):
            return i
        row_into(X, i, x)
        leaf = answer(node, dist, slots, held, g, how.kind, how.moa, x, ready, terms, logs, p)
        say(p, code, pre, i)
        if w > 0.0:
            note(code, plan.target, y[i], i)
            take(t, how, leaf, x, y[i], w, logs, sides, terms, ready)
            if tell:
                answer(node, dist, slots, held, g, how.kind, how.moa, x, ready, terms, logs, p)
        if tell:
            say(p, code, post, i)
    return rows(X)


@exact_kernel
def score(t: Tree, kind: int, moa: bool, X: Any, room: Array, out: Array) -> None:
    """Scores out (units, n) of the rows."""
    node, dist, slots, held, g, _, code = loan(t)
    x, logs, p, _, terms, ready = rooms(loan(room), g)
    out = loan(out)
    for i in range(rows(X)):
        row_into(X, i, x)
        answer(node, dist, slots, held, g, kind, moa, x, ready, terms, logs, p)
        say(p, code, out, i)
