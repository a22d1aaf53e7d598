"""Support vector machines on prototypes: one of each pair of classes, trained once all rows have been seen.

The rows of a class are drawn together into a few hundred means, so that the machines are small however many rows there
are. Numbers are chosen on rows that were kept aside, and those of them that lie near the borders are points as well.

Sources: the thesis, section 3.4 (SVC3 with ideal kernel tuning); the solver is that of `bigclf.kernels.smo`.
"""

from __future__ import annotations

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

    from bigclf.kernels import pairs

    def init(shape: Shape) -> Machines:
        one, two = np.zeros(1), (shape.classes, shape.classes)
        return pairs.Machines(
            one, np.zeros(1), np.zeros(1), np.zeros((*two, 0)), np.zeros((0, shape.classes)), np.zeros(two)
        )

    def solve(base: Prototypes) -> Machines:
        if sigma:
            return pairs.made(base, pairs.Numbers(sigma, C or pairs.COSTS[-1], weight_prototypes))
        return pairs.made(base, pairs.choose(base, tuning, tuning_classes, C, weight_prototypes))

    def scores(base: Prototypes, answer: Machines, X: Any) -> Array:
        return pairs.votes(base, answer, X)

    def solving(shape: Shape) -> int:
        """Kernel matrices and distances of a pair of classes, its rows aside included; or what the choice keeps."""
        points = 2 * prototypes + (min(most_aside(shape.cols, KEPT), pairs.POINTS) if chooses(tuning, sigma) else 0)
        matrix = 8 * points**2
        return 2 * matrix + max(matrix, min(pairs.ROOM, pairs.PAIRS * matrix))

    return over_prototypes(Answer(init, AXES, solve, scores, solving), prototypes, chooses(tuning, sigma), HALF, KEPT)


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
