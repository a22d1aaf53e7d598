"""How the spread of a prototype learner is chosen: by a rule over the ideal kernel's curve, or on rows kept aside."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bigclf.kernels import kernel_means as km
from bigclf.kernels import spread
from bigclf.kernels.prototypes import Prototypes

FLAT = 1e-9  # between the best and the worst spread: rounding


def pair_of(base: Prototypes, classes: str) -> NDArray[np.int64]:
    """The two classes that the rules look at, in their order: the first two seen, or the most populous."""
    known = np.flatnonzero(base.filled > 0)
    if classes == "populous":
        order = np.argsort(-base.held[known].sum(axis=1), kind="stable")
        known = np.sort(known[order[:2]])
    return known[:2]


def curve(base: Prototypes, classes: str) -> NDArray[np.float64]:
    """(27,) distance to the ideal kernel over the prototypes of two classes: the first two, or the most populous."""
    pair = pair_of(base, classes)
    groups = km.own(base, False)
    kind = np.repeat(pair, [len(groups[c].slot) for c in pair])
    return spread.distance_to_ideal(km.squares_among_classes(base, pair.tolist()), kind[:, None] == kind)


def flat(values: NDArray[np.float64]) -> bool:
    """Whether the spreads (27,) differ by rounding alone."""
    return float(np.ptp(values)) < FLAT


def doubts(base: Prototypes, rule: str, classes: str, sigma: float) -> list[str]:
    """That a spread, where it was chosen over this curve, is no choice; one line, or none."""
    if rule in ("max", "fixed") or (base.filled > 0).sum() < 2 or not flat(curve(base, classes)):
        return []
    return [no_choice(sigma)]


def no_choice(sigma: float) -> str:
    """What is to be said of a spread when all are as good."""
    cure = "give columns in which the classes differ, or another --scale"
    return f"no spread is better than another, and sigma {sigma:.10g} says nothing; {cure}"


def begin(base: Prototypes, rule: str, classes: str) -> tuple[int, bool]:
    """Where among SIGMAS this rule has the spread, and whether rows kept aside are to judge from there on (`auto`).

    `auto` begins where the curve is least, as `min`, and stays there without such rows. With one class the spread is 1.
    """
    if (base.filled > 0).sum() < 2:
        return spread.ONE, False
    start = spread.RULES["min" if rule == "auto" else rule](curve(base, classes))
    return start, rule == "auto" and bool(base.kind.any())


def choose(base: Prototypes, rule: str, classes: str, mine: list[km.Group], theirs: list[km.Group] | None) -> float:
    """The spread of means by this rule."""
    at, judged = begin(base, rule, classes)
    return float(spread.SIGMAS[on_rows_aside(base, at, mine, theirs) if judged else at])


def on_rows_aside(base: Prototypes, start: int, mine: list[km.Group], theirs: list[km.Group] | None) -> int:
    """Of the spreads within a standard error of the best kappa on the rows aside, that nearest to the start."""
    matrices = answers_aside(base, mine, theirs)
    scores = np.array([kappa(m) for m in matrices])
    best = int(np.argmax(scores))
    n = matrices[best].sum()
    right = np.trace(matrices[best]) / n
    near = np.flatnonzero(scores >= scores[best] - math.sqrt(right * (1.0 - right) / n))
    return int(near[np.argmin(np.abs(near - start))])


def answers_aside(base: Prototypes, mine: list[km.Group], theirs: list[km.Group] | None) -> NDArray[np.float64]:
    """(27, classes, classes) counts (truth, answer) of the rows kept aside at each of SIGMAS."""
    n = int(np.count_nonzero(base.kind))
    X, truth = base.aside[:n], base.kind[:n].astype(int) - 1
    K, sizes = len(base.filled), len(spread.SIGMAS)
    offset = 0.5 * km.self_means_by_spread(base, mine)
    if theirs is not None:
        offset = offset - 0.5 * km.self_means_by_spread(base, theirs)
    matrices = np.zeros((sizes, K, K))
    nobody = base.filled == 0
    for at in km.chunks(base, X):
        D = km.squares_to(base, X[at[0] : at[-1] + 1])  # a view
        for k, values in zip(reversed(range(sizes)), spread.kernels(D), strict=True):
            H = km.means(values, mine) - offset[k][:, None]  # where all vanish, the spread is no choice
            if theirs is not None:
                H -= km.means(values, theirs)
            H[nobody] = -np.inf
            np.add.at(matrices[k], (truth[at], H.argmax(axis=0)), 1.0)
    return matrices


def climb(value: Callable[[int], float], start: int) -> int:
    """From coarse to fine the spread of the largest value: steps of 4, 2 and 1 to either side while they gain."""
    best = start
    for stride in (4, 2, 1):
        for step in (stride, -stride):
            while 0 <= best + step < len(spread.SIGMAS) and value(best + step) > value(best):
                best += step
    return best


def kappa(matrix: NDArray[np.float64]) -> float:
    """Cohen's kappa of counts (truth, answer); 0 where it is not defined."""
    n = matrix.sum()
    chance = float(matrix.sum(axis=0) @ matrix.sum(axis=1))
    return float((n * np.trace(matrix) - chance) / (n * n - chance)) if n * n > chance else 0.0
