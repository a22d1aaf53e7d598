"""What a row counts by its class alone: one pass over the labels gives it, before any learner sees the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bigclf.compose.parts import Over, counted, over, row_keys
from bigclf.core import Array, Axes, Block, Learner, Plan, Shape
from bigclf.kernels import class_sizes as cs
from bigclf.kernels.chance import shown


class Rates(NamedTuple):
    """A rule: its state, and the rates (n,) of rows by class codes (n,) and targets (units, n)."""

    init: Callable[[Shape], Any]
    axes: Axes
    rows: Callable[[Any, Array, Array], Array]


class Sizes(NamedTuple):
    """Sizes of the classes so far."""

    size: Array  # (classes,)
    rest: Array  # (1,)


class Window(NamedTuple):
    """Classes of the last rows."""

    ring: Array  # (length,) class codes + 1
    at: Array  # (1,) rows seen


def by_size(kind: int, x: float = 0.0, memory: float = 0.0, ir: float = 0.0) -> Rates:
    """Rates by the sizes of the classes; arguments as in `class_sizes.Rule`."""
    rule = cs.Rule(kind, float(x), float(memory), float(ir))

    def init(shape: Shape) -> Sizes:
        return Sizes(np.zeros(shape.classes), np.ones(1))

    def rows(s: Sizes, y: Array, target: Array) -> Array:
        out = np.empty(y.size)
        cs.rates(rule, s.size, s.rest, y, target, out)
        return out

    return Rates(init, {"size": ("classes",), "rest": (1,)}, rows)


def by_window(length: int, ratio: float, down: bool) -> Rates:
    """Rates by the last `length` rows; arguments as in `class_sizes.windowed`."""

    def init(shape: Shape) -> Window:
        return Window(np.zeros(length), np.zeros(1))

    def rows(s: Window, y: Array, target: Array) -> Array:
        out = np.empty(y.size)
        cs.windowed(s.ring, s.at, float(ratio), down, y, target, out)
        return out

    return Rates(init, {"ring": (length,), "at": (1,)}, rows)


def weighted(base: Learner, rates: Rates, margin: bool = False) -> Learner:
    """The base with rows weighted by their rates; margin: it is the margin they are to keep that is multiplied."""

    def init(shape: Shape) -> Over:
        return Over(base.init(shape), rates.init(shape))

    def update(s: Over, block: Block, plan: Plan) -> Over:
        rate = rates.rows(s.own, block.y, plan.target)
        if margin:
            had = plan.margin if plan.margin.shape[1] else np.ones((1, rate.size))
            plan = plan._replace(margin=had * rate)
        else:
            plan = counted(plan, rate)
        return s._replace(base=base.update(s.base, block, plan))

    return over(base, rates.axes, init=init, update=update)


def resampled(base: Learner, rates: Rates, draw: int, seed: int, repeat: bool) -> Learner:
    """The base with rows shown as often as draws with these rates say; draw: as in `kernels.chance`."""

    def init(shape: Shape) -> Over:
        return Over(base.init(shape), rates.init(shape))

    def update(s: Over, block: Block, plan: Plan) -> Over:
        times = np.empty(block.y.size)
        shown(rates.rows(s.own, block.y, plan.target), 1.0, draw, row_keys(seed, block.row), 0, times)
        return s._replace(base=base.update(s.base, block, counted(plan, times, repeat)))

    return over(base, rates.axes, init=init, update=update)
