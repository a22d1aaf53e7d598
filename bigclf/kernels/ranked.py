"""Members that take turns by how a row goes, row by row: online AdaBoost over trees, and over naive Bayes.

What `compose.adaboost` does for any base, to the bit, with the loops over rows and members compiled. States of members
differ in size, so they come as addresses: `where` (members, arrays), in the order of the state and then its scratch.
The arrays must outlive the call. Sources as in `adaboost`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel, loan, numbers
from bigclf.kernels import tree as of_tree
from bigclf.kernels.adaboost import Rule, passed, vote
from bigclf.kernels.bayes import judge, note, say
from bigclf.kernels.bayes import take as learn
from bigclf.kernels.chance import MOST_RATE
from bigclf.kernels.tree_split import How, Tree
from bigclf.kernels.votes import answer, outcome


class Rows(NamedTuple):
    """What the members do with the rows, and what comes of it."""

    rule: Rule
    first: bool  # a member is judged by its scores before the row
    y: Array  # (n,) class codes
    target: Array  # (units, n)
    lam: Array  # (1, n) weight for the first member; then what the last one passes on
    weight: Array  # (n,) that counts as seen
    pre: Array  # (units, n)
    post: Array  # (units, n), or empty
    sums: Array  # (members, 3)
    order: Array  # (members,)
    seen: Array  # (classes,) weight of the rows


class Turn(NamedTuple):
    """Scratch of a row."""

    pre: Array  # (units, members)
    post: Array  # (units, members)
    sums: Array  # (members, 3) before the row
    column: Array  # (units, 1)
    tally: Array  # (3 units + 1, 1)
    ended: Array  # (1,)
    out: Array  # (units, 1)
    p: Array  # (classes,)


def turn(r: Rows) -> Turn:
    """Room for a row."""
    units, many = len(r.target), len(r.sums)
    column, tally = np.empty((units, 1)), np.empty((3 * units + 1, 1))
    p = np.empty(max(2, r.seen.size))
    by_member = np.empty((units, many)), np.empty((units, many)), np.empty((many, 3))
    return Turn(*by_member, column, tally, np.zeros(1, np.bool_), np.empty((units, 1)), p)


@exact_helper
def lent(r: Rows) -> Rows:
    """All arrays on loan."""
    return Rows(
        r.rule,
        r.first,
        loan(r.y),
        loan(r.target),
        loan(r.lam),
        loan(r.weight),
        loan(r.pre),
        loan(r.post),
        loan(r.sums),
        loan(r.order),
        loan(r.seen),
    )


@exact_helper
def lent_turn(t: Turn) -> Turn:
    """All arrays on loan."""
    return Turn(
        loan(t.pre),
        loan(t.post),
        loan(t.sums),
        loan(t.column),
        loan(t.tally),
        loan(t.ended),
        loan(t.out),
        loan(t.p),
    )


@exact_helper
def begin(order: Array, sums: Array, before: Array, ranked: bool) -> None:
    """Keep the sums as they are before the row; the best member first, of equals the one that was before."""
    for m in range(order.size):
        for k in range(3):
            before[m, k] = sums[m, k]
    for k in range(1, order.size if ranked else 0):
        own = order[k]
        mine = accuracy(sums, int(own))
        at = k
        while at > 0 and accuracy(sums, int(order[at - 1])) < mine:
            order[at] = order[at - 1]
            at -= 1
        order[at] = own


@exact_helper
def accuracy(sums: Array, m: int) -> float:
    """Share of what a member saw that it had right."""
    whole = sums[m, 0] + sums[m, 1]
    share: float = sums[m, 0] / whole if whole > 0.0 else 0.0
    return share


@exact_helper
def told(r: Rows, t: Turn, m: int, i: int, whole: float) -> bool:
    """Member m is judged on row i by its scores; whether it made no error there."""
    own = -1
    for u in range(r.target.shape[0]):
        if r.target[u, i] > 0:
            own = 1 if r.target.shape[0] == 1 else u
    if r.target.shape[0] == 1 and r.target[0, i] < 0:
        own = 0
    wrong = r.sums[m, 1]
    if own >= 0 and r.lam[0, i] > 0.0:
        a = answer(t.pre, m) if r.first else answer(t.post, m)
        for c in range(t.p.size):
            t.p[c] = 1.0 if c == a else 0.0
        passed(r.rule, r.lam, i, own, t.p, whole, r.sums[m])
    return bool(r.sums[m, 1] == wrong)


@exact_helper
def polled(r: Rows, t: Turn, scores: Array, sums: Array, out: Array, i: int) -> None:
    """All members vote on row i in their fixed order."""
    for k in range(t.tally.shape[0]):
        t.tally[k, 0] = 0.0
    t.ended[0] = False
    for m in range(sums.shape[0]):
        for u in range(t.column.shape[0]):
            t.column[u, 0] = scores[u, m]
        vote(r.rule, t.tally, t.ended, t.column, 0, sums[m], t.p)
    outcome(t.tally, sums.shape[0], t.out)
    for u in range(t.out.shape[0]):
        out[u, i] = t.out[u, 0]


@exact_helper
def counted(r: Rows, i: int) -> float:
    """Weight of all rows up to row i, which is added."""
    whole = 0.0
    for c in range(r.seen.size):
        whole += r.seen[c]
    own: float = r.weight[i]
    if own > 0.0:
        r.seen[r.y[i]] += own
    return whole + own


@exact_kernel
def trees(r: Rows, t: Turn, how: How, X: Any, where: Array, sizes: Array, row: Array, start: int) -> int:
    """Rows from `start` on; returns the row before which a tree may want room, or n.

    where (members, 8); sizes (members, 3): nodes, slots, and numbers of the scratch; row: scratch of a row alone.
    """
    r, t, where, sizes = lent(r), lent_turn(t), loan(where), loan(sizes)
    units, classes, many, cols = r.target.shape[0], r.seen.size, r.order.size, row.size - 5 * r.seen.size
    for i in range(start, rows(X)):
        for m in range(many if r.lam[0, i] > 0.0 else 0):
            node = numbers(where[m, 0], (sizes[m, 0], 6))
            slots = numbers(where[m, 2], (sizes[m, 1], 3))
            if of_tree.crowded(node, slots, numbers(where[m, 5], (4,)), how.nodes, how.slots):
                return i
        x, logs, p, sides, _, _ = of_tree.rooms(loan(row), numbers(where[0, 4], (0, classes, 4, cols)))
        row_into(X, i, x)
        whole = counted(r, i)
        begin(r.order, r.sums, t.sums, r.lam[0, i] > 0.0)
        low, high, right = 0, many - 1, False
        for _ in range(many):
            m = int(r.order[low if right else high])
            low, high = (low + 1, high) if right else (low, high - 1)
            nodes, spare = sizes[m, 0], sizes[m, 1]
            node, dist = numbers(where[m, 0], (nodes, 6)), numbers(where[m, 1], (nodes, classes))
            slots, held = numbers(where[m, 2], (spare, 3)), numbers(where[m, 3], (spare, classes, 3))
            g, tally = numbers(where[m, 4], (spare, classes, 4, cols)), numbers(where[m, 5], (4,))
            code = numbers(where[m, 6], (units, classes))
            _, _, _, _, terms, ready = of_tree.rooms(numbers(where[m, 7], (sizes[m, 2],)), g)
            leaf = of_tree.answer(node, dist, slots, held, g, how.kind, how.moa, x, ready, terms, logs, p)
            say(p, code, t.pre, m)
            w = min(r.lam[0, i], MOST_RATE)
            if w > 0.0:
                note(code, r.target, r.y[i], i)
                own = Tree(node, dist, slots, held, g, tally, code)
                of_tree.take(own, how, leaf, x, r.y[i], w, logs, sides, terms, ready)
                of_tree.answer(node, dist, slots, held, g, how.kind, how.moa, x, ready, terms, logs, p)
            say(p, code, t.post, m)
            right = told(r, t, m, i, whole)
        polled(r, t, t.pre, t.sums, r.pre, i)
        if r.post.shape[1] > 0:
            polled(r, t, t.post, r.sums, r.post, i)
    return rows(X)


@exact_kernel
def bayes(r: Rows, t: Turn, floor: float, X: Any, where: Array, x: Array, logs: Array, p: Array) -> None:
    """All rows; where (members, 6): after the state 1 / variances (classes, cols) and sums of logarithms (classes,)."""
    r, t, where, x, logs, p = lent(r), lent_turn(t), loan(where), loan(x), loan(logs), loan(p)
    units, classes, many, cols = r.target.shape[0], r.seen.size, r.order.size, x.size
    for i in range(rows(X)):
        row_into(X, i, x)
        whole = counted(r, i)
        begin(r.order, r.sums, t.sums, r.lam[0, i] > 0.0)
        low, high, right = 0, many - 1, False
        for _ in range(many):
            m = int(r.order[low if right else high])
            low, high = (low + 1, high) if right else (low, high - 1)
            n, mean = numbers(where[m, 0], (classes,)), numbers(where[m, 1], (classes, cols))
            M2, code = numbers(where[m, 2], (classes, cols)), numbers(where[m, 3], (units, classes))
            inverse, volume = numbers(where[m, 4], (classes, cols)), numbers(where[m, 5], (classes,))
            judge(n, mean, inverse, volume, x, logs, p)
            say(p, code, t.pre, m)
            w = min(r.lam[0, i], MOST_RATE)
            if w > 0.0:
                note(code, r.target, r.y[i], i)
                learn(n, mean, M2, floor, x, r.y[i], w, inverse, volume)
                judge(n, mean, inverse, volume, x, logs, p)
            say(p, code, t.post, m)
            right = told(r, t, m, i, whole)
        polled(r, t, t.pre, t.sums, r.pre, i)
        if r.post.shape[1] > 0:
            polled(r, t, t.post, r.sums, r.post, i)
