"""Members that take turns row by row, in one compiled loop, whatever their base is: see `bigclf.kernels.turns`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bigclf.block import alone
from bigclf.calls import address, arrays, entry, words
from bigclf.core import Block, Learner, Plan, State
from bigclf.kernels import turns


def one_by_one(
    bases: Sequence[Learner],
    states: Sequence[State],
    anew: Callable[[int, State], State],
    rows: turns.Rows,
    X: Any,
    repeat: bool,
) -> tuple[State, ...]:
    """The states of the members after these rows. anew(m, state): the state of member m before any row.

    Bases have a `call`. repeat: a row is shown so many times, and does not weigh so much.
    """
    new, turn = list(states), turns.turn(rows)
    one = Block(np.empty(1, np.int64), alone(X), np.empty(1, rows.y.dtype))
    shown = _plan_of_one(rows, repeat)
    common = {address(a) for a in arrays((one, shown))}

    def call(m: int, state: State) -> tuple[Any, ...]:
        made = bases[m].call
        assert made is not None
        return made(state, one, shown)

    def own(args: tuple[Any, ...]) -> list[tuple[int, int]]:
        return [(at, a.nbytes) for a in arrays(args) if (at := address(a)) not in common]

    # what the loop knows by its address only lives in here; where members begin anew, they do as the last one
    calls = [*map(call, range(len(new)), new), *([call(0, anew(0, new[0]))] if rows.reset else [])]
    base = entry(calls[0][0], calls[0][1:])
    table = np.array([words(c[1:]) for c in calls], np.uint64)
    places = np.array([own(c[1:]) for c in calls])
    start = 0
    while start < rows.y.size:
        start = turns.learn(rows, turn, base, table, places, X, one, shown, start)
        for m in map(int, np.flatnonzero(turn.want)):
            if turn.want[m] == turns.ANEW:
                new[m] = anew(m, new[m])
            else:
                more = bases[m].roomier
                assert more is not None  # its kernel stops for want of room
                new[m] = more(new[m])
            calls[m] = call(m, new[m])
            table[m], places[m] = words(calls[m][1:]), own(calls[m][1:])
        turn.want[:] = turns.NOTHING
    return tuple(new)


def _plan_of_one(rows: turns.Rows, repeat: bool) -> Plan:
    """Room for a row's plan, without what is wanted of no row."""
    column, nothing = (len(rows.target), 1), (0, 0)
    return Plan(
        np.empty(column, np.int8),
        np.empty(nothing if repeat else column),
        np.empty(column if repeat else nothing, np.int32),
        np.empty(column),
        np.empty(column),
        np.empty((1, 1) if rows.margin.shape[1] else nothing),
    )
