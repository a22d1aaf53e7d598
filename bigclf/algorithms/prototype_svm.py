"""Support vector machines on prototypes: one of each pair of classes, trained once all rows have been seen.

The rows of a class are drawn together into a few hundred means, so that the machines are small however many rows there
are. Numbers are chosen on rows that were kept aside, and those of them that lie near the borders are points as well.

Sources: the thesis, section 3.4 (SVC3 with ideal kernel tuning); the solver is that of `bigclf.kernels.smo`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bigclf.algorithms.fsvc import TUNING
from bigclf.algorithms.prototypes import (
    COST,
    DENSE,
    FEWER,
    HAMMOURI,
    MEMORY,
    Answer,
    chooses,
    length,
    most_aside,
    over_prototypes,
    settle,
)
from bigclf.core import Array, Axes, Learner, Param, Shape, Spec

if TYPE_CHECKING:
    from bigclf.kernels.pairs import Machines
    from bigclf.kernels.prototypes import Prototypes

PROTOTYPES = 300
HALF = 2  # of so many rows one is kept aside: rows as they came tell borders best
KEPT = 10_000  # of them, at most; those nearest the borders are points too
ASIDE = 40  # and for each prototype that a class may have, at most
AXES: Axes = {
    "sigma": (1,),
    "C": (1,),
    "weighted": (1,),
    "alpha": ("classes", "classes", "points"),
    "beta": ("extra", "classes"),
    "bias": ("classes", "classes"),
}


def build(
    prototypes: int = PROTOTYPES,
    weight_prototypes: bool = False,
    tuning: str = "auto",
    tuning_classes: str = "first",
    sigma: float = 0.0,
    C: float = 0.0,
) -> Learner:
    """The learner; C and the weighting are those of the rules other than `auto`."""
    import numpy as np

    from bigclf.kernels import kernel_means as km
    from bigclf.kernels import pairs
    from bigclf.kernels import tuning as rules
    from bigclf.kernels.aside import rarest

    def init(shape: Shape) -> Machines:
        one, two = np.zeros(1), (shape.classes, shape.classes)
        return pairs.Machines(
            one, np.zeros(1), np.zeros(1), np.zeros((*two, 0)), np.zeros((0, shape.classes)), np.zeros(two)
        )

    # With few prototypes, as where memory is short, all is small: the numbers follow from that option alone.
    auto = chooses(tuning, sigma)
    kept = min(KEPT, ASIDE * prototypes)
    most = min(pairs.POINTS, pairs.SHARE * prototypes)

    def points(cols: int) -> int:
        """Rows aside that are points."""
        return min(most_aside(cols, kept), most) if auto else 0

    def matrix(cols: int) -> int:
        """Bytes of the largest kernel matrix."""
        return 8 * (2 * prototypes + points(cols)) ** 2

    def solve(base: Prototypes) -> Machines:
        if sigma:
            numbers = pairs.Numbers(sigma, C or pairs.COSTS[-1], weight_prototypes)
        else:
            room = min(pairs.ROOM, matrix(base.P.shape[1]))
            numbers = pairs.choose(base, tuning, tuning_classes, C, weight_prototypes, most, room)
        return pairs.made(base, numbers, most)

    def scores(base: Prototypes, answer: Machines, X: Any) -> Array:
        return pairs.votes(base, answer, X)

    def solving(shape: Shape) -> int:
        """Kernel matrix and distances of a pair of classes, what the choice keeps, and copies of the points.

        The copies: of all classes, for each half of the rows aside; and of a pair, by rows, by columns and with judges.
        """
        one, extra = matrix(shape.cols), points(shape.cols)
        values = 2 * (shape.classes * prototypes + extra) + 3 * (2 * prototypes + extra)
        outputs = min(pairs.SHARE * km.CELLS // 2, points(shape.cols) * kept)  # of the rows aside, to find the borders
        return 2 * one + min(pairs.ROOM, one) + 8 * (values * shape.cols + outputs)

    def doubts(base: Prototypes, answer: Machines, classes: Sequence[str]) -> list[str]:
        found = [] if sigma else rules.doubts(base, tuning, tuning_classes, float(answer.sigma[0]))
        rare = rarest(base) if auto else None
        if rare is not None:
            found.append(f"class '{classes[rare[0]]}': too few rows to choose by (kept aside: {rare[1]})")
        return found

    return over_prototypes(Answer(init, AXES, solve, scores, solving, doubts), prototypes, auto, HALF, kept)


SPECS = (
    Spec(
        "fsvc-svc",
        "support vector machines on the prototypes of each pair of classes, nothing to tune",
        f"{HAMMOURI}, SVC3 with IKT",
        build,
        (
            length(PROTOTYPES),
            Param("weight-prototypes", bool, False, "the box of a prototype is in proportion to the rows it holds"),
            *TUNING,
            Param(
                "C",
                float,
                0.0,
                "largest coefficient; 0: of 1, 10 and 100 the best under --tuning auto, else 100",
                low=0.0,
            ),
        ),
        scale="std",
        cost=COST,
        memory=f"{MEMORY} and a kernel matrix of two classes",
        one_pass=True,
        uses_weights=False,
        settle=partial(settle, PROTOTYPES),
        cure=FEWER,
        notes=(DENSE,),
    ),
)
