"""Support vector machines on the prototypes of each pair of classes: training, the choice of their numbers, votes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.block import pick, rows
from bigclf.core import Array
from bigclf.jit import kernel
from bigclf.kernels import kernel_means as km
from bigclf.kernels import smo, spread, tuning
from bigclf.kernels.aside import FEW, spaced
from bigclf.kernels.prototypes import Prototypes
from bigclf.kernels.spread import gaussian

TOL = 1e-3  # of the machines that are kept
ROUGH = 1e-2  # of those that are only compared
STARTS = (12, 16, 20)  # spreads to begin from beside the curve's least, which may lie at an end; the widest of equals
COSTS = (1.0, 10.0, 100.0)
ENOUGH = 400  # rows aside of which half can judge; of fewer each half judges in turn
POINTS = 3000  # rows aside that are points beside the prototypes, at most
SHARE = 10  # of them for each prototype that a class may have, at most
PAIRS = 10  # that the choice looks at
ROOM = 1 << 26  # bytes of distances that the choice keeps from one spread to the next

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


class Trial(NamedTuple):
    """Two classes that the choice looks at, what their machines are trained on, and the rows that judge them."""

    q: int
    r: int
    first: Points
    second: Points
    rows: NDArray[np.int64]  # (m,) which of those aside
    truth: NDArray[np.int64]  # (m,) their classes


def points_of(base: Prototypes, aside: NDArray[np.int64]) -> list[Points]:
    """The points of each class, with the rows aside of these numbers."""
    out = []
    for c, n in enumerate(base.filled.astype(int)):
        more = base.aside[aside[base.kind[aside] == c + 1]]
        out.append(Points(np.concatenate([base.P[c, :, :n].T, more]), np.append(base.held[c, :n], np.ones(len(more)))))
    return out


def train(K: Floats, q: Floats, r: Floats, numbers: Numbers, tol: float) -> tuple[Floats, Floats, float]:
    """Coefficients on the points of a class, on those of another, and the bias.

    K (n, n): kernel of all these points, the one class's first; q, r: rows that each point of the classes holds.
    """
    n, held = len(q), np.concatenate([q, r])
    t = np.where(np.arange(len(held)) < n, 1.0, -1.0)
    box = np.full(len(held), numbers.C)
    if numbers.weighted:
        box *= held / held.mean()
    alpha = np.empty(len(held))
    bias = smo.solve(K, t, box, tol, alpha, np.empty(len(held)))
    return alpha[:n], alpha[n:], bias


def known(base: Prototypes) -> list[tuple[int, int]]:
    """The pairs of classes that have prototypes."""
    return list(combinations(np.flatnonzero(base.filled).tolist(), 2))


def near_borders(base: Prototypes, machines: Machines, most: int) -> NDArray[np.int64]:
    """At most so many of the rows aside: half are spaced, as they came; the others have outputs nearest to zero.

    The outputs are those of the machines of a row's class. Rows near the borders alone would tell nothing but noise.
    """
    first = spaced(base, most // 2)
    aside = np.setdiff1d(np.flatnonzero(base.kind), first)
    kind, near = base.kind[aside].astype(np.int64) - 1, np.empty(len(aside))
    for at, f in fields(base, machines, base.aside[aside]):
        own = np.abs(f[kind[at], :, np.arange(len(at))])
        own[np.arange(len(at)), kind[at]] = np.inf
        own[:, base.filled == 0] = np.inf
        near[at] = own.min(axis=1)
    return np.union1d(first, aside[np.argsort(near, kind="stable")[: most - len(first)]])


def made(base: Prototypes, numbers: Numbers, most: int) -> Machines:
    """The machines, with the rows aside as points; of more than `most` with those near the borders that these found."""
    machines = train_all(base, numbers, spaced(base, most))
    if np.count_nonzero(base.kind) <= most:
        return machines
    return train_all(base, numbers, near_borders(base, machines, most))


def train_all(base: Prototypes, numbers: Numbers, aside: NDArray[np.int64]) -> Machines:
    """The machines of all pairs, with these of the rows aside as points."""
    classes, _, slots = base.P.shape
    points = points_of(base, aside)
    alpha, beta = np.zeros((classes, classes, slots)), np.zeros((len(base.kind), classes))
    bias = np.zeros((classes, classes))
    for q, r in known(base):
        X = np.concatenate([points[q].X, points[r].X])
        K = gaussian(km.squares(X, X), numbers.sigma)
        a, b, bias[q, r] = train(K, points[q].held, points[r].held, numbers, TOL)
        bias[r, q] = -bias[q, r]
        for c, other, found in ((q, r, a), (r, q, b)):
            n = int(base.filled[c])
            alpha[c, other, :n] = found[:n]
            beta[aside[base.kind[aside] == c + 1], other] = found[n:]
    sigma, C, weighted = (np.array([float(x)]) for x in numbers)
    return Machines(sigma, C, weighted, alpha, beta, bias)


class Choice:
    """The choice of spread, C and weighting by kappa on the rows kept aside, over the pairs that are hard to tell."""

    def __init__(self, base: Prototypes, start: int, costs: tuple[float, ...], most: int, room: int) -> None:
        """most: of the rows aside; room: bytes of distances to keep from one spread to the next."""
        self.base = base
        self.aside = spaced(base, most)
        self.kind = base.kind[self.aside].astype(int) - 1
        half = np.zeros(len(self.aside), int)
        for c in np.unique(self.kind):  # every second row of a class
            half[np.flatnonzero(self.kind == c)[1::2]] = 1
        least = min((n for n in np.bincount(self.kind) if n > 1), default=0)
        halves = (0,) if len(self.aside) >= ENOUGH and least >= FEW else (0, 1)
        parts = [(points_of(base, self.aside[half != h]), half == h) for h in halves]
        self.trials = [self.trial(points, judges, q, r) for points, judges in parts for q, r in self.hard()]
        self.squares: dict[int, Floats] = {}  # by trial, as many as there is room for
        self.room = room
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

    def trial(self, points: list[Points], judges: NDArray[np.bool_], q: int, r: int) -> Trial:
        """That of two classes, on those of their rows that its machines have not seen."""
        mine = judges & ((self.kind == q) | (self.kind == r))
        return Trial(q, r, points[q], points[r], self.aside[mine], self.kind[mine])

    def kernel(self, k: int, sigma: float) -> Floats:
        """(n + m, n) kernel of a trial's n points, and below them of the m rows that judge, to its points."""
        if k not in self.squares:
            trial = self.trials[k]
            X = np.concatenate([trial.first.X, trial.second.X])
            D = km.squares(np.concatenate([X, self.base.aside[trial.rows]]), X)
            if D.nbytes > self.room:
                return gaussian(D, sigma)
            self.room -= D.nbytes
            self.squares[k] = D
        return gaussian(self.squares[k].copy(), sigma)

    def values(self, s: int, ways: list[tuple[float, bool]]) -> list[float]:
        """Kappa of the machines of all trials together, at this spread, for each C and weighting."""
        new = [way for way in ways if (s, *way) not in self.known]
        sigma, classes = float(spread.SIGMAS[s]), len(self.base.filled)
        counts = np.zeros((len(new), classes, classes))
        for k, trial in enumerate(self.trials if new else ()):
            K = self.kernel(k, sigma)
            n, i = K.shape[1], len(trial.first.held)
            for count, way in zip(counts, new, strict=True):
                a, b, bias = train(K[:n], trial.first.held, trial.second.held, Numbers(sigma, *way), ROUGH)
                f = K[n:, :i] @ a - K[n:, i:] @ b + bias
                np.add.at(count, (trial.truth, np.where(f > 0.0, trial.q, trial.r)), 1.0)
        for count, way in zip(counts, new, strict=True):
            self.known[s, *way] = tuning.kappa(count)
        return [self.known[s, *way] for way in ways]

    def made(self) -> Numbers:
        """The spread at a middle C, then C and weighting, then the spread again."""

        def value(s: int) -> float:
            return self.values(s, [way])[0]

        way = (self.costs[len(self.costs) // 2], True)
        s = tuning.climb(value, max(sorted({self.start, *STARTS}, reverse=True), key=value))
        ways = [(C, weighted) for weighted in (True, False) for C in self.costs]
        way = ways[int(np.argmax(self.values(s, ways)))]
        return Numbers(float(spread.SIGMAS[tuning.climb(value, s)]), *way)


def choose(base: Prototypes, rule: str, classes: str, C: float, weighted: bool, most: int, room: int) -> Numbers:
    """Spread, C and weighting by this rule; C 0: to be chosen. most, room: as for `Choice`."""
    at, judged = tuning.begin(base, rule, classes)
    if judged:
        return Choice(base, at, (C,) if C else COSTS, most, room).made()
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


def fields(base: Prototypes, machines: Machines, X: Any) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Positions (m,) of some of the rows, and (classes, classes, m) f(x) of the first class against the second."""
    n = min(len(base.kind), len(machines.beta))  # the rows aside may have become fewer since
    aside = np.flatnonzero(machines.beta[:n].any(axis=1) & (base.kind[:n] > 0))
    extra, kind, beta = base.aside[aside], base.kind[aside].astype(np.int64) - 1, machines.beta[aside]
    sigma, classes = float(machines.sigma[0]), len(base.filled)
    for at in km.chunks(base, X):
        own = np.empty((classes, classes, len(at)))
        part = pick(X, at)
        outputs(gaussian(km.squares_to(base, part), sigma), machines.alpha, own)
        outputs_aside(gaussian(km.squares(part, extra), sigma), kind, beta, own)
        yield at, own - own.swapaxes(0, 1) + machines.bias[:, :, None]


def votes(base: Prototypes, machines: Machines, X: Any) -> Array:
    """(classes, n): pairs won, and a part below a third by the sum of the outputs, so that only equals change places.

    Of two classes the scores are plus and minus half the machine's output.
    """
    pairs, out = known(base), np.zeros((len(base.filled), rows(X)))
    for at, f in fields(base, machines, X):
        won, total = np.zeros((len(out), len(at))), np.zeros((len(out), len(at)))
        for q, r in pairs:
            won[q] += f[q, r] > 0.0
            won[r] += f[q, r] <= 0.0
            total[q] += f[q, r]
            total[r] -= f[q, r]
        out[:, at] = 0.5 * total if len(pairs) == 1 else won + total / (3.0 * (np.abs(total) + 1.0))
    return out
