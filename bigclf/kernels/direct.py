"""The direct kernel perceptron on prototypes: coefficients of each class against all others, in closed form."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.block import pick, rows
from bigclf.core import Array
from bigclf.kernels import kernel_means as km
from bigclf.kernels import spread, tuning
from bigclf.kernels.pairs import outputs
from bigclf.kernels.prototypes import Prototypes
from bigclf.kernels.spread import gaussian

RIDGE = 1e-6  # added to the diagonal: prototypes may be equal; with less the scores lose digits that cancel


class Direct(NamedTuple):
    """The answer."""

    sigma: Array  # (1,) spread
    alpha: Array  # (classes, classes, points) on the prototypes of the first, in the machine of the second


def kinds(base: Prototypes) -> NDArray[np.int64]:
    """(n,) classes of all prototypes, class by class."""
    return np.repeat(np.arange(len(base.filled)), base.filled.astype(int))


def among(base: Prototypes) -> NDArray[np.float64]:
    """(n, n) squared distances between all prototypes, in the order of `kinds`."""
    return km.squares_among_classes(base, list(range(len(base.filled))))


def coefficients(K: NDArray[np.float64], kind: NDArray[np.int64], classes: int, error: str) -> NDArray[np.float64]:
    """(n, classes) of the points with the matrix K (n, n): the targets -1 and +1 themselves, or the solution of K."""
    targets = np.where(kind[:, None] == np.arange(classes), 1.0, -1.0)
    if error == "linear":
        return np.asarray(targets / len(kind), np.float64)
    K[np.diag_indices(len(K))] += RIDGE
    return np.asarray(np.linalg.solve(K, targets), np.float64)


def train(base: Prototypes, sigma: float, error: str, squares: NDArray[np.float64] | None = None) -> Direct:
    """The answer at this spread; squares: distances between all prototypes, which are written over."""
    classes, _, slots = base.P.shape
    kind = kinds(base)
    found = coefficients(gaussian(among(base) if squares is None else squares, sigma), kind, classes, error)
    alpha = np.zeros((classes, classes, slots))
    for c in range(classes):
        mine = found[kind == c]
        alpha[c, :, : len(mine)] = mine.T
    return Direct(np.array([sigma]), alpha)


def chosen(base: Prototypes, rule: str, classes: str, error: str) -> Direct:
    """The answer at the spread of this rule; `auto` is the best kappa on the rows kept aside."""
    at, judged = tuning.begin(base, rule, classes)
    if not judged:
        return train(base, float(spread.SIGMAS[at]), error)
    kind, D = kinds(base), among(base)
    n = int(np.count_nonzero(base.kind))
    truth = base.kind[:n].astype(int) - 1
    to = km.squares_to(base, base.aside[:n])
    asked = np.concatenate([to[c, :, :m] for c, m in enumerate(base.filled.astype(int))], axis=1)
    del to

    @cache
    def value(s: int) -> float:
        sigma, K = float(spread.SIGMAS[s]), len(base.filled)
        alpha = coefficients(gaussian(D.copy(), sigma), kind, K, error)
        f = gaussian(asked.copy(), sigma) @ alpha
        f[:, base.filled == 0] = -np.inf
        counts = np.zeros((K, K))
        np.add.at(counts, (truth, f.argmax(axis=1)), 1.0)
        return tuning.kappa(counts)

    return train(base, float(spread.SIGMAS[tuning.climb(value, at)]), error, D)


def scores(base: Prototypes, answer: Direct, X: Any) -> Array:
    """(classes, n) half the outputs, so that of two classes the difference is the output of the one."""
    out = np.empty((len(base.filled), rows(X)))
    for at in km.chunks(base, X):
        own = np.empty((len(out), len(out), len(at)))
        outputs(gaussian(km.squares_to(base, pick(X, at)), float(answer.sigma[0])), answer.alpha, own)
        out[:, at] = 0.5 * own.sum(axis=0)
    return out
