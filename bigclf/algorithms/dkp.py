"""The direct kernel perceptron on prototypes: each class against all others, without iterations.

The coefficients that make the linear error least are the targets y themselves; those of the quadratic error solve
K alpha = y. They are the two ends of a kernel machine regularized by 1 / C, C near zero and C without bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bigclf.algorithms.fsvc import PROTOTYPES, TUNING
from bigclf.algorithms.prototypes import (
    COST,
    DENSE,
    FEWER,
    MEMORY,
    Answer,
    chooses,
    length,
    most_aside,
    over_prototypes,
    settle,
)
from bigclf.core import Axes, Learner, Param, Shape, Spec

if TYPE_CHECKING:
    from bigclf.kernels.direct import Direct
    from bigclf.kernels.prototypes import Prototypes

AXES: Axes = {"sigma": (1,), "alpha": ("classes", "classes", "points")}


def build(
    prototypes: int = 100,
    error: str = "quadratic",
    tuning: str = "auto",
    tuning_classes: str = "first",
    sigma: float = 0.0,
) -> Learner:
    """The learner of this error, `linear` or `quadratic`."""
    import numpy as np

    from bigclf.kernels import direct
    from bigclf.kernels import tuning as rules
    from bigclf.kernels.kernel_means import room_for

    def init(shape: Shape) -> Direct:
        return direct.Direct(np.zeros(1), np.zeros((shape.classes, shape.classes, 0)))

    def solve(base: Prototypes) -> Direct:
        if sigma:
            return direct.train(base, sigma, error)
        return direct.chosen(base, tuning, tuning_classes, error)

    def solving(shape: Shape) -> int:
        """The kernel matrix of all prototypes, its factors and its distances; those of the rows aside."""
        points = shape.classes * prototypes
        aside = most_aside(shape.cols) if chooses(tuning, sigma) else 0
        return 3 * 8 * points * (points + aside) + room_for(shape.cols, points)

    def doubts(base: Prototypes, answer: Direct, classes: Sequence[str]) -> list[str]:
        return [] if sigma else rules.doubts(base, tuning, tuning_classes, float(answer.sigma[0]))

    return over_prototypes(
        Answer(init, AXES, solve, direct.scores, solving, doubts), prototypes, chooses(tuning, sigma)
    )


SPECS = (
    Spec(
        "dkp",
        "a kernel machine of each class against all others on prototypes, in closed form",
        "Fernandez-Delgado, Cernadas, Barro, Ribeiro & Neves, Neural Networks 50 (2014) 60-71",
        build,
        (
            length(PROTOTYPES),
            Param(
                "error",
                str,
                "quadratic",
                "error that the coefficients make least",
                choices=("linear", "quadratic"),
            ),
            *TUNING,
        ),
        scale="std",
        cost=COST,
        memory=f"{MEMORY}; quadratic: 8 bytes x (classes x prototypes) squared beside",
        one_pass=True,
        uses_weights=False,
        settle=partial(settle, PROTOTYPES),
        cure=FEWER,
        notes=(DENSE,),
    ),
)
