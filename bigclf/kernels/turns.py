"""Members that take turns row by row: by how a row goes, or since one that is wrong too often begins anew.

What `compose.adaboost` does for any base, to the bit, with the loops over rows and members compiled. A member learns by
the kernel of its base, which is called for a row alone: `one` and `shown` are the arrays that its arguments refer to.
Sources as in `adaboost`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_alone, rows
from bigclf.calls import Entry, call
from bigclf.core import Array, Block, Plan
from bigclf.jit import exact_helper, exact_kernel, loan, numbers
from bigclf.kernels.adaboost import Rule, class_of, passed, vote
from bigclf.kernels.chance import drawn
from bigclf.kernels.votes import answer, outcome

NOTHING, ROOM, ANEW = range(3)  # what a member wants of its learner
LOW, HIGH, RIGHT, WHOLE = range(4)  # of a row: members left in the order, how the last one did, weight of rows so far


class Rows(NamedTuple):
    """What the members do with the rows, and what comes of it."""

    rule: Rule
    draw: int  # as in kernels.chance
    first: bool  # a member is judged by its scores before the row
    reset: bool  # a member that is wrong more than right begins anew
    ranked: bool  # best and worst members take turns by how a row goes
    key: Array  # (n,) of draws
    row: Array  # (n,) numbers of the rows
    y: Array  # (n,) class codes
    target: Array  # (units, n)
    margin: Array  # (1, n), or empty
    lam: Array  # (1, n) weight for the first member; then what the last one passes on
    weight: Array  # (n,) that counts as seen
    pre: Array  # (units, n)
    post: Array  # (units, n), or empty
    sums: Array  # (members, 3)
    order: Array  # (members,)
    seen: Array  # (classes,) weight of the rows
    fresh: Array  # (1,) how often a member began anew


class Turn(NamedTuple):
    """Where the loop is, and scratch of a row."""

    at: Array  # (4,) LOW to WHOLE
    want: Array  # (members,) NOTHING, ROOM or ANEW
    pre: Array  # (units, members)
    post: Array  # (units, members)
    sums: Array  # (members, 3) before the row
    column: Array  # (units, 1)
    tally: Array  # (3 units + 1, 1)
    ended: Array  # (1,)
    out: Array  # (units, 1)
    p: Array  # (classes,)


def turn(r: Rows) -> Turn:
    """Before the first row."""
    units, many = len(r.target), len(r.sums)
    column, tally = np.empty((units, 1)), np.empty((3 * units + 1, 1))
    p = np.empty(max(2, r.seen.size))
    by_member = np.empty((units, many)), np.empty((units, many)), np.empty((many, 3))
    at = np.array([0.0, -1.0, 0.0, 0.0])
    return Turn(at, np.zeros(many), *by_member, column, tally, np.zeros(1, np.bool_), np.empty((units, 1)), p)


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
def counted(r: Rows, i: int) -> float:
    """Weight of all rows up to row i, which is added."""
    whole = 0.0
    for c in range(r.seen.size):
        whole += r.seen[c]
    own: float = r.weight[i]
    if own > 0.0:
        r.seen[r.y[i]] += own
    return whole + own


@exact_helper
def show(shown: Plan, target: Array, i: int, times: float) -> None:
    """The plan of row i for a member: it counts so much, or is shown so many times; where that is 0, to nobody."""
    for u in range(target.shape[0]):
        shown.target[u, 0] = target[u, i] if times > 0.0 else 0
        if shown.weight.shape[1] > 0:
            shown.weight[u, 0] = times
        if shown.repeat.shape[1] > 0:
            shown.repeat[u, 0] = int(times)


@exact_helper
def told(r: Rows, t: Turn, m: int, i: int, own: int, whole: float) -> bool:
    """Member m is judged on row i of class `own` by its scores; whether it made no error there."""
    wrong = r.sums[m, 1]
    if own >= 0 and r.lam[0, i] > 0.0:
        a = answer(t.pre, m) if r.first else answer(t.post, m)
        for c in range(t.p.size):
            t.p[c] = 1.0 if c == a else 0.0
        passed(r.rule, r.lam, i, own, t.p, whole, r.sums[m])
    return bool(r.sums[m, 1] == wrong)


@exact_helper
def begun_anew(places: Array, m: int, fresh: int) -> bool:
    """Make the arrays of member m as those of a fresh one; False where they are not of its size.

    places (members + 1, arrays, 2): addresses and bytes.
    """
    for k in range(places.shape[1]):
        if places[m, k, 1] != places[fresh, k, 1]:
            return False
    for k in range(places.shape[1]):
        size = places[m, k, 1] // 8
        to, source = numbers(places[m, k, 0], (size,)), numbers(places[fresh, k, 0], (size,))
        for j in range(size):
            to[j] = source[j]
    return True


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


@exact_kernel
def learn(
    r: Rows, t: Turn, base: Entry, table: Array, places: Array, X: Any, one: Block, shown: Plan, start: int
) -> int:
    """Rows from `start` on. Returns the row to go on with, in the middle of it or not, once `t.want` is met; or n.

    table (members, words): arguments of the calls; places: as in `begun_anew`. Of a fresh member too under `r.reset`.
    """
    r, t, table, places, one, shown = loan(r), loan(t), loan(table), loan(places), loan(one), loan(shown)
    units, many, at = r.target.shape[0], r.order.size, t.at
    low, high, right, whole = int(at[LOW]), int(at[HIGH]), at[RIGHT] > 0.0, at[WHOLE]
    waits = False
    for i in range(start, rows(X)):
        if low > high:
            row_alone(X, i, one.X)
            one.y[0], one.row[0] = r.y[i], r.row[i]
            for k in range(shown.margin.shape[1]):
                shown.margin[0, k] = r.margin[0, i]
            begin(r.order, r.sums, t.sums, r.ranked and r.lam[0, i] > 0.0)
            low, high, right, whole = 0, many - 1, False, counted(r, i)
        own = class_of(r.target, i)
        while low <= high:
            first = right or not r.ranked
            m = int(r.order[low if first else high])
            show(shown, r.target, i, drawn(r.lam[0, i], r.draw, r.key[i], m))
            if not call(base, table, m):
                at[LOW], at[HIGH], at[RIGHT], at[WHOLE] = low, high, 1.0 if right else 0.0, whole
                t.want[m] = ROOM
                return i
            low, high = (low + 1, high) if first else (low, high - 1)
            for u in range(units):
                t.pre[u, m], t.post[u, m] = shown.pre[u, 0], shown.post[u, 0]
            right = told(r, t, m, i, own, whole)
            if r.reset and r.sums[m, 1] > r.sums[m, 0]:
                for k in range(3):
                    r.sums[m, k] = 0.0
                r.fresh[0] += 1.0
                if not begun_anew(places, m, many):
                    t.want[m] = ANEW
                    waits = True
        polled(r, t, t.pre, t.sums, r.pre, i)
        if r.post.shape[1] > 0:
            polled(r, t, t.post, r.sums, r.post, i)
        if waits:
            at[LOW], at[HIGH] = low, high
            return i + 1
    return rows(X)
