"""Gaussian naive Bayes over weighted rows: a mean and a variance of each class and column; shards add up exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bigclf.algorithms.by_class import recoded
from bigclf.core import Array, Axes, Block, Learner, Param, Plan, Scores, Shape, Spec, by_call

if TYPE_CHECKING:
    from bigclf.kernels.bayes import Gaussians

FAR = 1e8  # a column so many times as wide as the others is told
WIDE, STILL = 1000, 0.9  # columns, and the share of variances below the floor, of what is told to be no case for it
AXES: Axes = {"n": ("classes",), "mean": ("classes", "cols"), "M2": ("classes", "cols"), "code": ("units", "classes")}


def build(floor: float = 1e-3) -> Learner:
    """The learner. p(c | x) is in proportion to n_c prod_j N(x_j; mean_cj, M2_cj / n_c + floor).

    Scores are 2 p - 1, and of two classes the difference of their p. A class without rows has p 0; before the first
    row all p are alike.

    >>> import numpy as np
    >>> from bigclf.core import Block, Shape
    >>> from bigclf.units import new_plan
    >>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array([0, 1, 1], np.int32)
    >>> gnb = build(floor=1.0)
    >>> s = gnb.update(gnb.init(Shape(1, 1, 2)), Block(np.arange(3), X, y), new_plan(np.array([[-1, 1]]), y))
    >>> s.n.tolist(), s.mean.tolist(), s.M2.tolist()
    ([1.0, 2.0], [[0.0], [3.0]], [[0.0], [2.0]])
    """
    import numpy as np

    from bigclf.block import rows
    from bigclf.kernels import bayes

    def init(shape: Shape) -> Gaussians:
        by_column = (shape.classes, shape.cols)
        code = np.zeros((shape.units, shape.classes))
        return bayes.Gaussians(np.zeros(shape.classes), np.zeros(by_column), np.zeros(by_column), code)

    def call(s: Gaussians, block: Block, plan: Plan) -> tuple[Any, ...]:
        return bayes.learn, s, floor, block.X, block.y, plan, bayes.prepared(s, floor)

    def decision(s: Gaussians, X: Any) -> Scores:
        out = np.empty((len(s.code), rows(X)))
        bayes.score(s, X, bayes.prepared(s, floor), out)
        return out

    def merge(a: Gaussians, b: Gaussians) -> Gaussians:
        n = a.n + b.n
        part = b.n / np.where(n > 0, n, 1.0)
        d = b.mean - a.mean
        mean = a.mean + d * part[:, None]
        M2 = a.M2 + b.M2 + d**2 * (a.n * part)[:, None]
        return bayes.Gaussians(n, mean, M2, np.where(a.code != 0, a.code, b.code))

    def refit(s: Gaussians, old: Array, new: Array) -> Gaussians:
        return s._replace(code=recoded(s.code, old, new, s.n))

    def doubts(s: Gaussians, classes: Sequence[str]) -> list[str]:
        """What the sums could not carry, or what one column decides. They know columns; of no row, which it was."""
        met, said = s.n > 0, []
        sound = (np.isfinite(s.mean[met]) & np.isfinite(s.M2[met])).all(axis=0)
        if not sound.all():
            number = int(np.argmin(sound))
            return [f"values of column number {number} are beyond what sums of squares can hold: leave it out"]
        spread = np.sqrt(s.M2[met] / s.n[met, None]).max(axis=0, initial=0.0)
        wide = np.sort(spread[spread > 0])
        usual = float(wide[(len(wide) - 1) // 2]) if len(wide) else 0.0  # the lower of two in the middle
        if spread.any() and spread.max() > FAR * usual:
            said.append(
                f"column number {int(spread.argmax())} is spread {spread.max() / usual:.0e} times as wide as others: "
                "a few values far away hide all else in it; leave them out"
            )
        still = float((s.M2[met] / s.n[met, None] < floor).mean()) if met.any() else 0.0
        if still > STILL and s.mean.shape[1] > WIDE:
            said.append(
                f"{100 * still:.0f} % of the variances are below --floor {floor:g}, which decides in their place: "
                "naive Bayes is not for wide sparse rows; a linear algorithm is"
            )
        return said

    return Learner(
        init, by_call(call), decision, AXES, merge=merge, refit=refit, doubts=doubts, probable=True, call=call
    )


SPECS = (
    Spec(
        "gnb",
        "Gaussian naive Bayes: a mean and a variance of each class and column",
        "West, Communications of the ACM 22 (1979) 532-535; Chan, Golub & LeVeque, American Statistician 37 (1983)",
        build,
        (Param("floor", float, 1e-3, "added to every variance", low=1e-12),),
        scale="none",
        cost="O(classes x columns) a row",
        memory="16 bytes x classes x columns",
    ),
)
