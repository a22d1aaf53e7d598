"""A learner that is watched: where a detector finds that its errors have become more, a fresh one takes its place.

Row by row: the row is scored, then learned, and the detector is told whether the score was right; what it finds
counts from the next row on. Rows are handed on some at a time all the same. A learner that goes row by row has the
same scores then, and the one that has learned rows behind a drift is given up anyway: nothing needs to be taken back.

Sources: Gama, Medas, Castillo & Rodrigues, SBIA 2004 (the new learner is trained on the rows since the warning);
Gomes et al., Adaptive random forests, Machine Learning 106 (2017) 1469-1495 (learners in the background).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import take
from bigclf.compose.ensemble import Nothing
from bigclf.compose.parts import apart, cut, of_base, over, private, scored, under
from bigclf.core import Array, Axes, Block, Learner, Plan, Shape, State
from bigclf.kernels import drift as d
from bigclf.state import flatten, shape_of

CHUNK = 4096  # rows at a time at most: those behind a drift are learned in vain
LEAST = 64  # rows at a time after a drift, then twice as many each time: where drifts are many less is in vain
ROW = (1 << 40) - 1  # of a row's number; above stand shares of an input, and which made-up row it is


class Detector(NamedTuple):
    """What watches: its state before the first row, and where in wrongs (n,), from a row on, something happens."""

    init: Callable[[], Any]  # a NamedTuple of arrays of zeros
    axes: Axes
    find: Callable[[Any, Array, int], tuple[int, int]]
    warns: bool


class Counts(NamedTuple):
    """DDM's numbers."""

    errors: Array  # (5,)


class Windows(NamedTuple):
    """ADWIN's windows, of each detector."""

    buckets: Array  # (detectors, SIZES, PER_SIZE)
    filled: Array  # (detectors, SIZES)
    sums: Array  # (detectors, 4)


class Log(NamedTuple):
    """What has happened."""

    behind: Array  # (1,) whether a learner is being trained in the background
    warnings: Array  # (1,)
    drifts: Array  # (1,)
    last: Array  # (1,) rows of the stream up to the last drift


class Watched(NamedTuple):
    """The learner that answers, the one in the background (nothing where drifts begin anew), and who watches."""

    base: State
    fresh: State
    detector: State
    log: Log


def ddm(least: int, warning: float, level: float) -> Detector:
    """Arguments as in `kernels.drift.ddm`."""
    return Detector(
        lambda: Counts(np.zeros(5)),
        {"errors": (5,)},
        lambda s, wrongs, begin: d.ddm(s.errors, float(least), float(warning), float(level), wrongs, begin),
        True,
    )


def adwin(delta: float, warning: float | None) -> Detector:
    """Windows at confidence delta; `warning`: that of the second one, where there is to be one."""
    deltas = np.array([delta] if warning is None else [delta, warning])
    sizes = {
        "buckets": (deltas.size, d.SIZES, d.PER_SIZE),
        "filled": (deltas.size, d.SIZES),
        "sums": (deltas.size, 4),
    }
    return Detector(
        lambda: Windows(*(np.zeros(size) for size in sizes.values())),
        sizes,
        lambda s, wrongs, begin: d.adwin(s.buckets, s.filled, s.sums, deltas, wrongs, begin),
        warning is not None,
    )


def watched(base: Learner, detector: Detector, replace: bool) -> Learner:
    """The base, begun anew at each drift; replace: with one in its place that was trained since the warning.

    A warning that is over ends the training in the background; another one begins it anew.
    """

    def behind(shape: Shape) -> State:
        return base.init(shape) if replace else Nothing()

    def init(shape: Shape) -> Watched:
        log = Log(*(np.zeros(1) for _ in Log._fields))
        return Watched(base.init(shape), behind(shape), detector.init(), log)

    def update(s: Watched, block: Block, plan: Plan) -> Watched:
        start, n, many = 0, block.y.size, CHUNK
        while start < n:
            end, drifts = min(start + many, n), s.log.drifts[0]
            s, start = some(s, block, plan, start, end)
            many = min(2 * many, CHUNK) if s.log.drifts[0] == drifts else LEAST
        return s

    def some(s: Watched, block: Block, plan: Plan, start: int, end: int) -> tuple[Watched, int]:
        """Learn rows start to end, or to the first drift; the row to go on from."""
        rows = Block(block.row[start:end], take(block.X, start, end), block.y[start:end])
        mine = cut(plan, start, end)
        s = s._replace(base=base.update(s.base, rows, mine))
        scored(plan, start, mine)
        wrongs = np.empty(end - start, np.int8)
        d.wrong(mine.pre, mine.target, rows.y, wrongs)
        at = since = 0
        while True:
            at, event = detector.find(s.detector, wrongs, at)
            at = min(at + 1, wrongs.size)
            if event == d.WARNING:
                s.log.warnings[0] += 1.0
            if event in (d.NOTHING, d.DRIFT):
                break
            if replace:
                if s.log.behind[0]:
                    s = s._replace(fresh=base.init(shape_of(base, s.base)))
                s.log.behind[0] = float(event == d.WARNING)
                since = at
        if s.log.behind[0] and since < at:
            own = private(cut(mine, since, at))
            part = Block(rows.row[since:at], take(rows.X, since, at), rows.y[since:at])
            s = s._replace(fresh=base.update(s.fresh, part, own))
        return (changed(s, int(rows.row[at - 1])) if event == d.DRIFT else s), start + at

    def changed(s: Watched, row: int) -> Watched:
        """After a drift."""
        shape = shape_of(base, s.base)
        for array in flatten(s.detector).values():
            array[...] = 0.0
        s.log.behind[0] = 0.0
        s.log.drifts[0] += 1.0
        s.log.last[0] = float((row & ROW) + 1)
        return s._replace(base=s.fresh if replace else base.init(shape), fresh=behind(shape))

    def told(s: Watched) -> dict[str, Any]:
        log = s.log
        own: dict[str, Any] = {"warnings": int(log.warnings[0])} if detector.warns else {}
        own |= {"drifts": int(log.drifts[0]), "last_drift": int(log.last[0]) or None}
        return of_base(base.told(s.base) if base.told is not None else {}, own) | own

    refit = base.refit
    own = dict.fromkeys(Log._fields, (1,))
    axes = under("base", base.axes) | under("detector", detector.axes) | under("log", own)
    if replace:
        axes |= under("fresh", apart(base, "fresh"))

    def most(shape: Shape) -> dict[str, int]:
        found = dict(base.most(shape))
        return found | ({f"fresh {axis}": n for axis, n in found.items()} if replace else {})

    def recoded(s: Watched, old: Array, new: Array) -> Watched:
        assert refit is not None
        fresh = refit(s.fresh, old, new) if replace else s.fresh
        return s._replace(base=refit(s.base, old, new), fresh=fresh)

    fault = base.fault
    changed_too: dict[str, Any] = {"refit": refit and recoded}
    if fault is not None:
        changed_too["fault"] = lambda s: fault(s.base) or (fault(s.fresh) if replace else None)
    return over(base, {}, axes=axes, most=most, init=init, update=update, told=told, **changed_too)
