"""The nearest mean of all rows of a class: fsvc-linear with weighted prototypes, from sums that shards can add."""

from __future__ import annotations

from typing import NamedTuple

from bigclf.algorithms.by_class import note_classes, recoded, unit_scores
from bigclf.core import Array, Block, Learner, Plan, Scores, Shape


class Sums(NamedTuple):
    """Sums of the rows by class."""

    first: Array  # (classes, cols)
    rows: Array  # (classes,)
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen


def nearest_mean() -> Learner:
    """The learner; merges exactly."""
    import numpy as np

    from bigclf.kernels import linear
    from bigclf.kernels.prototypes import add_rows

    def init(shape: Shape) -> Sums:
        first = np.zeros((shape.classes, shape.cols))
        return Sums(first, np.zeros(shape.classes), np.zeros((shape.units, shape.classes)))

    def update(s: Sums, block: Block, plan: Plan) -> Sums:
        plan.pre[...] = np.nan
        add_rows(s.first, s.rows, block.X, note_classes(s.code, plan, block.y))
        return s

    def decision(s: Sums, X: object) -> Scores:
        mu = s.first / np.maximum(s.rows, 1.0)[:, None]
        by_class = linear.score(mu, X) - 0.5 * (mu**2).sum(axis=1)[:, None]
        return unit_scores(by_class, s.code, s.rows)

    def merge(a: Sums, b: Sums) -> Sums:
        return Sums(a.first + b.first, a.rows + b.rows, np.where(a.code != 0, a.code, b.code))

    def refit(s: Sums, old: Array, new: Array) -> Sums:
        return s._replace(code=recoded(s.code, old, new, s.rows))

    axes = {"first": ("classes", "cols"), "rows": ("classes",), "code": ("units", "classes")}
    return Learner(init, update, decision, axes, grain="end", merge=merge, refit=refit)
