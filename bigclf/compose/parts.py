"""What all compositions do alike: a base's state within another, plans of their own for bases, shown rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bigclf.core import Array, Axes, Learner, Plan, Pull, Shape, State
from bigclf.kernels.chance import keys

MOST_TIMES = 10**9  # that a row is shown


class Over(NamedTuple):
    """A base and what goes with it."""

    base: State
    own: Any  # a NamedTuple of arrays


def under(prefix: str, axes: Axes) -> dict[str, tuple[str | int, ...]]:
    """Axes of a state that stands in another one under this name."""
    return {f"{prefix}/{path}": names for path, names in axes.items()}


def apart(base: Learner, name: str) -> Axes:
    """Axes of one of several states of a base: what grows with the rows grows for itself, and begins with `name`."""
    longer = base.most(Shape(1, 1, 2))
    return {path: tuple(f"{name} {a}" if a in longer else a for a in of) for path, of in base.axes.items()}


def over(base: Learner, own: Axes, **changed: Any) -> Learner:
    """A learner whose state is `Over` that of the base; what is not given is as the base has it."""
    finish, pull, refit, told, weights = base.finish, base.pull, base.refit, base.told, base.weights
    doubts, fault = base.doubts, base.fault
    made: dict[str, Any] = {
        "axes": under("base", base.axes) | under("own", own),
        "decision": lambda s, X: base.decision(s.base, X),
        "finish": finish and (lambda s: s._replace(base=finish(s.base))),
        "pull": pull and (lambda s: pull(s.base)),
        "told": told and (lambda s: told(s.base)),
        "weights": weights and (lambda s: weights(s.base)),
        "merge": None,
        "call": None,
        "doubts": doubts and (lambda s, classes: doubts(s.base, classes)),
        "fault": fault and (lambda s: fault(s.base)),
        "refit": refit and (lambda s, old, new: s._replace(base=refit(s.base, old, new))),
    }
    return replace(base, **(made | changed))


def private(plan: Plan, post: bool = False) -> Plan:
    """The plan with places of its own for scores; post: those after the rows are wanted in any case."""
    empty = np.empty(plan.target.shape)
    return plan._replace(pre=empty, post=np.empty_like(empty) if post or plan.post.shape[1] else plan.post)


def cut(plan: Plan, start: int, end: int) -> Plan:
    """The plan of rows start to end: views where there is one unit, else copies."""
    parts = {name: a[:, start:end] if a.shape[1] else a for name, a in plan._asdict().items()}
    return Plan(**{name: np.ascontiguousarray(a) for name, a in parts.items()})


def scored(plan: Plan, start: int, part: Plan) -> None:
    """Write the scores of a part of the rows, which begins at `start`, into the plan."""
    end = start + part.pre.shape[1]
    plan.pre[:, start:end] = part.pre
    if plan.post.shape[1]:
        plan.post[:, start:end] = part.post


def counted(plan: Plan, factor: Array, repeat: bool = False) -> Plan:
    """The plan with each row counting `factor` (n,) times as much, or shown so many times as often.

    A row that counts nothing is shown to nobody.
    """
    target = plan.target * (factor > 0.0)
    had = plan.repeat if repeat else plan.weight
    times = (
        had * factor
        if had.shape[1]
        else factor.reshape(1, -1)
        if len(target) == 1
        else np.tile(factor, (len(target), 1))
    )
    if repeat:
        return plan._replace(target=target, repeat=np.minimum(times, MOST_TIMES).astype(np.int32))
    return plan._replace(target=target, weight=times)


def counts(plan: Plan) -> Array:
    """(n,) how much each row counts in a plan."""
    n = np.ones(plan.target.shape[1])
    if plan.weight.shape[1]:
        n *= plan.weight.max(axis=0)
    if plan.repeat.shape[1]:
        n *= plan.repeat.max(axis=0)
    return n


def row_keys(seed: int, row: Array) -> Array:
    """(n,) what all draws of a row have in common, for `kernels.chance.shown`."""
    key = np.empty(row.size, np.uint64)
    keys(seed, row, key)
    return key


def together(pulls: Sequence[Pull]) -> Pull:
    """The mean of members' pulls."""
    return Pull(
        np.mean([p.by_class for p in pulls], axis=0),
        float(np.mean([p.gii for p in pulls])),
    )


def by_member(told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Each fact of all members, as a list."""
    return {name: [facts[name] for facts in told] for name in told[0]}


def of_base(told: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What a base tells, beside the facts that what is built on it tells itself: those of one name are told apart.

    >>> of_base({"warnings": [1, 0], "nodes": [3, 5]}, {"warnings": 2})
    {'base warnings': [1, 0], 'nodes': [3, 5]}
    """
    return {f"base {name}" if name in own else name: value for name, value in told.items()}
