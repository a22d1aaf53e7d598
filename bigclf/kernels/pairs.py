"""Support vector machines on the prototypes of each pair of classes: training, the choice of their numbers, votes."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.block import pick, rows
from bigclf.core import Array
from bigclf.jit import kernel
from bigclf.kernels import kernel_means as km
from bigclf.kernels import smo, spread, tuning
from bigclf.kernels.prototypes import Prototypes
from bigclf.kernels.spread import gaussian

TOL = 1e-3  # of the machines that are kept
ROUGH = 1e-2  # of those that are only compared
STARTS = (12, 16, 20)  # spreads to begin from beside the curve's least, which may lie at an end; the widest of equals
COSTS = (1.0, 10.0, 100.0)
ENOUGH = 400  # rows aside of which half can judge; of fewer each half judges in turn
PAIRS = 10  # that the choice looks at

Floats = NDArray[np.float64]


class Machines(NamedTuple):
    """The answer. f(x) = sum of alpha[q, r] K(p_q, x) - sum of alpha[r, q] K(p_r, x) + bias[q, r] speaks for q.

    Rows kept aside are points beside the prototypes: their coefficients are in beta.
    """

    sigma: Array  # (1,) spread
    C: Array  # (1,)
    weighted: Array  # (1,) 1: the box of a prototype is in proportion to the rows that it holds
    alpha: Array  # (classes, classes, points) at least 0: on the prototypes of the first, in its pair with the second
    beta: Array  # (extra, classes) at least 0: on the rows aside, in the pair of their class with another
    bias: Array  # (classes, classes) antisymmetric


class Numbers(NamedTuple):
    """What a machine is trained with."""

    sigma: float
    C: float
    weighted: bool


class Points(NamedTuple):
    """What a class brings to its machines: its prototypes, then rows kept aside."""

    X: Floats  # (n, cols)
    held: Floats  # (n,) rows in each


def points_of(base: Prototypes, aside: NDArray[np.int64]) -> list[Points]:
    """The points of each class, with the rows aside of these numbers."""
    out = []
    for c, n in enumerate(base.filled.astype(int)):
        more = base.aside[aside[base.kind[aside] == c + 1]]
        out.append(Points(np.concatenate([base.P[c, :, :n].T, more]), np.append(base.held[c, :n], np.ones(len(more)))))
    return out


def train(q: Points, r: Points, numbers: Numbers, tol: float) -> tuple[Floats, Floats, float]:
    """Coefficients on the points of q, on those of r, and the bias."""
    n, points = len(q.held), np.concatenate([q.X, r.X])
    K = gaussian(km.squares(points, points), numbers.sigma)
    t = np.where(np.arange(len(points)) < n, 1.0, -1.0)
    box = np.full(len(points), numbers.C)
    if numbers.weighted:
        held = np.concatenate([q.held, r.held])
        box *= held / held.mean()
    alpha = np.empty(len(points))
    bias = smo.solve(K, t, box, tol, alpha, np.empty(len(points)))
    return alpha[:n], alpha[n:], bias


def known(base: Prototypes) -> list[tuple[int, int]]:
    """The pairs of classes that have prototypes."""
    return list(combinations(np.flatnonzero(base.filled).tolist(), 2))


def train_all(base: Prototypes, numbers: Numbers) -> Machines:
    """The machines of all pairs."""
    classes, _, slots = base.P.shape
    aside = np.flatnonzero(base.kind)
    points = points_of(base, aside)
    alpha, beta = np.zeros((classes, classes, slots)), np.zeros((len(base.kind), classes))
    bias = np.zeros((classes, classes))
    for q, r in known(base):
        a, b, bias[q, r] = train(points[q], points[r], numbers, TOL)
        bias[r, q] = -bias[q, r]
        for c, other, found in ((q, r, a), (r, q, b)):
            n = int(base.filled[c])
            alpha[c, other, :n] = found[:n]
            beta[aside[base.kind[aside] == c + 1], other] = found[n:]
    sigma, C, weighted = (np.array([float(x)]) for x in numbers)
    return Machines(sigma, C, weighted, alpha, beta, bias)


class Choice:
    """The choice of spread, C and weighting by kappa on the rows kept aside, over the pairs that are hard to tell."""

    def __init__(self, base: Prototypes, start: int, costs: tuple[float, ...]) -> None:
        self.base = base
        self.aside = np.flatnonzero(base.kind)
        self.kind = base.kind[self.aside].astype(int) - 1
        self.pairs = self.hard()
        half = np.zeros(len(self.aside), int)
        for c in np.unique(self.kind):  # every second row of a class
            half[np.flatnonzero(self.kind == c)[1::2]] = 1
        halves = (0,) if len(self.aside) >= ENOUGH else (0, 1)
        self.parts = [(points_of(base, self.aside[half != h]), self.aside[half == h]) for h in halves]
        self.known: dict[tuple[int, float, bool], float] = {}
        self.start = start
        self.costs = costs

    def hard(self) -> list[tuple[int, int]]:
        """The pairs that the nearest prototype confuses most."""
        near = np.full((len(self.base.filled), len(self.kind)), np.inf)
        X, points = self.base.aside[self.aside], points_of(self.base, self.aside[:0])
        for c in np.flatnonzero(self.base.filled):
            near[c] = km.squares(X, points[c].X).min(axis=1)
        wrong = np.zeros((len(near), len(near)))
        np.add.at(wrong, (self.kind, near.argmin(axis=0)), 1.0)
        return sorted(known(self.base), key=lambda p: -wrong[p] - wrong[p[::-1]])[:PAIRS]

    def value(self, s: int, C: float, weighted: bool) -> float:
        """Kappa of the pairs' machines together, each on those rows of its two classes that it has not seen."""
        if (s, C, weighted) not in self.known:
            numbers = Numbers(float(spread.SIGMAS[s]), C, weighted)
            counts = np.zeros((len(self.base.filled), len(self.base.filled)))
            for points, judges in self.parts:
                for q, r in self.pairs:
                    a, b, bias = train(points[q], points[r], numbers, ROUGH)
                    kind = self.base.kind[judges].astype(int) - 1
                    mine = (kind == q) | (kind == r)
                    X = self.base.aside[judges[mine]]
                    f = gaussian(km.squares(X, points[q].X), numbers.sigma) @ a + bias
                    f -= gaussian(km.squares(X, points[r].X), numbers.sigma) @ b
                    np.add.at(counts, (kind[mine], np.where(f > 0.0, q, r)), 1.0)
            self.known[s, C, weighted] = tuning.kappa(counts)
        return self.known[s, C, weighted]

    def made(self) -> Numbers:
        """The spread at a middle C, then C and weighting, then the spread again."""
        middle = self.costs[len(self.costs) // 2]
        begin = max(sorted({self.start, *STARTS}, reverse=True), key=lambda s: self.value(s, middle, True))
        s = tuning.climb(lambda s: self.value(s, middle, True), begin)
        C, weighted = max(((C, w) for w in (True, False) for C in self.costs), key=lambda n: self.value(s, *n))
        s = tuning.climb(lambda s: self.value(s, C, weighted), s)
        return Numbers(float(spread.SIGMAS[s]), C, weighted)


def choose(base: Prototypes, rule: str, classes: str, C: float, weighted: bool) -> Numbers:
    """Spread, C and weighting by this rule; C 0: to be chosen."""
    at, judged = tuning.begin(base, rule, classes)
    if judged:
        return Choice(base, at, (C,) if C else COSTS).made()
    return Numbers(float(spread.SIGMAS[at]), C or COSTS[-1], weighted)


@kernel
def outputs(K: Array, alpha: Array, out: Array) -> None:
    """out[q, r, i] = sum over k of alpha[q, r, k] K[q, i, k]; K (classes, n, slots). Row by row, as `squares`."""
    for q in range(out.shape[0]):
        for i in range(out.shape[2]):
            for r in range(out.shape[1]):
                s = 0.0
                for k in range(alpha.shape[2]):
                    s += alpha[q, r, k] * K[q, i, k]
                out[q, r, i] = s


@kernel
def outputs_aside(K: Array, kind: Array, beta: Array, out: Array) -> None:
    """out[kind[k], r, i] += beta[k, r] K[i, k]; K (n, rows aside)."""
    for i in range(K.shape[0]):
        for k in range(K.shape[1]):
            for r in range(beta.shape[1]):
                out[kind[k], r, i] += beta[k, r] * K[i, k]


def votes(base: Prototypes, machines: Machines, X: Any) -> Array:
    """(classes, n): pairs won, and a part below a third by the sum of the outputs, so that only equals change places.

    Of two classes the scores are plus and minus half the machine's output.
    """
    pairs = known(base)
    n = min(len(base.kind), len(machines.beta))  # the rows aside may have become fewer since
    aside = np.flatnonzero(machines.beta[:n].any(axis=1) & (base.kind[:n] > 0))
    extra, kind, beta = base.aside[aside], base.kind[aside].astype(np.int64) - 1, machines.beta[aside]
    sigma = float(machines.sigma[0])
    out = np.zeros((len(base.filled), rows(X)))
    for at in km.chunks(base, X):
        own = np.empty((len(out), len(out), len(at)))
        part = pick(X, at)
        outputs(gaussian(km.squares_to(base, part), sigma), machines.alpha, own)
        outputs_aside(gaussian(km.squares(part, extra), sigma), kind, beta, own)
        won, total = np.zeros((len(out), len(at))), np.zeros((len(out), len(at)))
        for q, r in pairs:
            f = own[q, r] - own[r, q] + machines.bias[q, r]
            won[q] += f > 0.0
            won[r] += f <= 0.0
            total[q] += f
            total[r] -= f
        out[:, at] = 0.5 * total if len(pairs) == 1 else won + total / (3.0 * (np.abs(total) + 1.0))
    return out
