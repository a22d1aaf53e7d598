"""Fast support vector classifiers: the class whose prototypes are nearest on average, in the space of the kernel.

With G_q(x) the mean of K(p, x) over the prototypes p of class q, and a_q the mean of K over their pairs, the output of
the machine of two classes is G_r - G_q + (a_q - a_r) / 2. The sums of outputs by which the thesis lets all pairs vote
are largest for the class with the largest h_q = G_q - a_q / 2, so no pair is ever formed.

Source: the thesis's Algorithms 1 to 4, equations 2.5 to 2.29; the signs of 2.28 as printed choose the worst class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bigclf.algorithms.prototypes import (
    COST,
    DENSE,
    FEWER,
    HAMMOURI,
    MEMORY,
    Answer,
    chooses,
    length,
    over_prototypes,
    settle,
)
from bigclf.core import Array, Learner, Param, Shape, Spec

if TYPE_CHECKING:
    from bigclf.kernels.prototypes import Prototypes


class Spread(NamedTuple):
    """The answer of the Gaussian kernel."""

    sigma: Array  # (1,)
    offset: Array  # (classes,) a_q / 2; of one against all: of both sides


class Means(NamedTuple):
    """The answer of the linear kernel."""

    w: Array  # (classes, cols)
    offset: Array  # (classes,)


def build(
    ova: bool,
    prototypes: int = 100,
    weight_prototypes: bool = False,
    tuning: str = "auto",
    tuning_classes: str = "first",
    sigma: float = 0.0,
) -> Learner:
    """The learner with the Gaussian kernel; `ova`: each class against a sample of all others."""
    import numpy as np

    from bigclf.kernels import kernel_means as km
    from bigclf.kernels import tuning as rules

    def groups(base: Prototypes) -> tuple[Any, Any]:
        return km.own(base, weight_prototypes), km.rest(base, prototypes) if ova else None

    def init(shape: Shape) -> Spread:
        return Spread(np.zeros(1), np.zeros(shape.classes))

    def solve(base: Prototypes) -> Spread:
        mine, theirs = groups(base)
        chosen = sigma or rules.choose(base, tuning, tuning_classes, mine, theirs)
        offset = 0.5 * km.self_means(base, mine, chosen)
        if theirs is not None:
            offset -= 0.5 * km.self_means(base, theirs, chosen)
        return Spread(np.array([chosen]), offset)

    def scores(base: Prototypes, answer: Spread, X: Any) -> Array:
        mine, theirs = groups(base)
        return km.decide(base, mine, theirs, float(answer.sigma[0]), answer.offset, X)

    def solving(shape: Shape) -> int:
        """Distances of the prototypes of two classes, kernels of them, of the rows aside; a group as points."""
        matrices = 8 * 4 * (2 * prototypes) ** 2
        values = 8 * 4 * shape.classes * prototypes  # of one row at least
        return matrices + values + km.room_for(shape.cols, prototypes) + (8 * prototypes * shape.cols if ova else 0)

    axes: dict[str, tuple[str | int, ...]] = {"sigma": (1,), "offset": ("classes",)}

    def doubts(base: Prototypes, answer: Spread, classes: Sequence[str]) -> list[str]:
        return [] if sigma else rules.doubts(base, tuning, tuning_classes, float(answer.sigma[0]))

    return over_prototypes(Answer(init, axes, solve, scores, solving, doubts), prototypes, chooses(tuning, sigma))


def linear(ova: bool, prototypes: int = 100, weight_prototypes: bool = False) -> Learner:
    """The learner with the linear kernel: the nearest mean of prototypes."""
    import numpy as np

    from bigclf.kernels import kernel_means as km
    from bigclf.kernels.linear import score

    if weight_prototypes and not ova:
        from bigclf.algorithms.nearest_mean import nearest_mean

        return nearest_mean()

    def init(shape: Shape) -> Means:
        return Means(np.zeros((shape.classes, shape.cols)), np.zeros(shape.classes))

    def mean(base: Prototypes, groups: Any) -> Array:
        return np.array([g.weight @ km.rows_of(base, g) for g in groups])

    def solve(base: Prototypes) -> Means:
        mu = mean(base, km.own(base, weight_prototypes))
        w, offset = mu, 0.5 * (mu**2).sum(axis=1)
        if ova:
            other = mean(base, km.rest(base, prototypes))
            w, offset = w - other, offset - 0.5 * (other**2).sum(axis=1)
        return Means(w, offset)

    def scores(base: Prototypes, answer: Means, X: Any) -> Array:
        return score(answer.w, X) - answer.offset[:, None]

    axes: dict[str, tuple[str | int, ...]] = {"w": ("classes", "cols"), "offset": ("classes",)}
    return over_prototypes(Answer(init, axes, solve, scores), prototypes, False)


PROTOTYPES = 100
WEIGHT = Param("weight-prototypes", bool, False, "prototypes weigh by the rows that they hold")
TUNING = (
    Param(
        "tuning",
        str,
        "auto",
        "spread of the kernel: auto: on rows kept aside; min, max, left-corner, ikt: by the thesis; fixed: --sigma",
        choices=("auto", "min", "max", "left-corner", "ikt", "fixed"),
    ),
    Param(
        "tuning-classes",
        str,
        "first",
        "the two classes that the rules look at",
        choices=("first", "populous"),
    ),
    Param("sigma", float, 0.0, "spread of the kernel; 0: by --tuning", low=0.0, high=1e30),
)


def _spec(name: str, line: str, where: str, make: Callable[..., Learner], params: tuple[Param, ...]) -> Spec:
    return Spec(
        name,
        line,
        f"{HAMMOURI}, {where}",
        make,
        (length(PROTOTYPES), WEIGHT, *params),
        scale="std",
        cost=COST,
        memory=MEMORY,
        one_pass=True,
        uses_weights=False,
        settle=partial(settle, PROTOTYPES),
        cure=FEWER,
        notes=(DENSE,),
    )


SPECS = (
    _spec(
        "fsvc",
        "nearest class in a Gaussian kernel's space, nothing to tune",
        "Algorithms 1, 3, 4",
        partial(build, False),
        TUNING,
    ),
    _spec("fsvc-ova", "fsvc, each class against a sample of all others", "Algorithm 2", partial(build, True), TUNING),
    _spec("fsvc-linear", "nearest mean of prototypes", "equations 2.11 to 2.13", partial(linear, False), ()),
    _spec(
        "fsvc-linear-ova",
        "fsvc-linear, each class against a sample of all others",
        "Algorithm 2",
        partial(linear, True),
        (),
    ),
)
