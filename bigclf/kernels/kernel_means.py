"""Means in the space of a Gaussian kernel: of the prototypes of a class, or of some of all other classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.block import pick, rows
from bigclf.core import Array
from bigclf.kernels import prototypes as kernels
from bigclf.kernels import spread
from bigclf.kernels.prototypes import Prototypes

CELLS = 1 << 18  # kernel values at a time
LEAST = float(np.finfo(np.float64).min)
TINY = 1e-300  # of the largest mean: below, means are compared by their logarithms


class Group(NamedTuple):
    """Some prototypes, and what each weighs; the weights add up to 1."""

    at: NDArray[np.int64]  # class
    slot: NDArray[np.int64]
    weight: NDArray[np.float64]


def own(base: Prototypes, weighted: bool) -> list[Group]:
    """The prototypes of each class, of equal weight or by the rows that they hold (empty where there are none)."""
    out = []
    for c, n in enumerate(base.filled.astype(int)):
        weight = base.held[c, :n] if weighted else np.ones(n)
        out.append(Group(np.full(n, c), np.arange(n), weight / max(weight.sum(), 1.0)))
    return out


def rest(base: Prototypes, most: int) -> list[Group]:
    """For each class about `most` prototypes of all others, those that hold most rows.

    The classes in their order give W = most / (K - 1) each (at least 1), the last what is left, until `most` are there.
    """
    known = np.flatnonzero(base.filled > 0)
    share = max(1, most // max(len(known) - 1, 1))
    out = []
    for c in range(len(base.filled)):
        others = known[known != c]
        at: list[int] = []
        slot: list[int] = []
        for k, o in enumerate(others):
            wanted = share if k < len(others) - 1 else max(1, most - (len(others) - 1) * share)
            best = np.argsort(-base.held[o, : int(base.filled[o])], kind="stable")[: min(wanted, most - len(at))]
            at += [int(o)] * len(best)
            slot += best.tolist()
        out.append(Group(np.array(at, np.int64), np.array(slot, np.int64), np.full(len(at), 1.0 / max(len(at), 1))))
    return out


def rows_of(base: Prototypes, group: Group) -> NDArray[np.float64]:
    """(k, cols) the prototypes of a group."""
    out = np.empty((len(group.at), base.P.shape[1]))
    for row, c, k in zip(out, group.at, group.slot, strict=True):  # of which numpy would make two copies
        row[:] = base.P[c, :, k]
    return out


def parts_of(base: Prototypes, group: Group) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """The same by parts, of at most kernels.PART values where there are many columns."""
    step = max(1, kernels.PART // base.P.shape[1])
    for a in range(0, len(group.at), step):
        part = slice(a, a + step)
        yield part, rows_of(base, Group(group.at[part], group.slot[part], group.weight[part]))


def room_for(cols: int, prototypes: int) -> int:
    """Bytes of the largest part."""
    return 8 * cols * min(prototypes, max(1, kernels.PART // cols))


def squares(X: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k) squared distances of rows to points (k, cols), each by itself: equal ones are at distance zero."""
    out = np.zeros((rows(X), len(points)))
    if out.size:
        norm = np.einsum("ij,ij->i", points, points)
        kernels.squares(X, np.ascontiguousarray(points.T), norm, len(points), out)
    return out


def squares_to_class(base: Prototypes, group: Group, c: int) -> NDArray[np.float64]:
    """(k, n) squared distances of the prototypes of a group to those of a class."""
    n = int(base.filled[c])
    out = np.zeros((len(group.at), n))
    for part, points in parts_of(base, group):
        kernels.squares(points, base.P[c], base.norm[c], n, out[part])
    return out


def squares_among(base: Prototypes, group: Group) -> NDArray[np.float64]:
    """(k, k) squared distances between the prototypes of a group."""
    k = len(group.at)
    if k and (group.at == group.at[0]).all() and (group.slot == np.arange(k)).all() and k == base.filled[group.at[0]]:
        return squares_to_class(base, group, int(group.at[0]))
    points = np.empty((base.P.shape[1], k))
    for m in range(k):
        points[:, m] = base.P[group.at[m], :, group.slot[m]]
    out = np.zeros((k, k))
    for part, X in parts_of(base, group):
        kernels.squares(X, points, np.zeros(k), k, out[part])
    return out


def joined(groups: list[Group]) -> Group:
    """All prototypes of some groups, one group after the other."""
    at, slot, weight = (np.concatenate(x) for x in zip(*groups, strict=True))
    return Group(at, slot, weight)


def squares_among_classes(base: Prototypes, classes: list[int]) -> NDArray[np.float64]:
    """(n, n) squared distances between all prototypes of some classes, class by class; they are never laid together."""
    group = joined([own(base, False)[c] for c in classes])
    return np.concatenate([squares_to_class(base, group, c) for c in classes], axis=1)


def self_means(base: Prototypes, groups: list[Group], sigma: float) -> NDArray[np.float64]:
    """(classes,) mean of the kernel over all pairs of each group."""
    each = (spread.gaussian(squares_among(base, g), sigma) for g in groups)
    return np.array([g.weight @ K @ g.weight for g, K in zip(groups, each, strict=True)])


def self_means_by_spread(base: Prototypes, groups: list[Group]) -> NDArray[np.float64]:
    """(27, classes) the same at each of SIGMAS."""
    out = np.zeros((len(spread.SIGMAS), len(groups)))
    for c, g in enumerate(groups):
        out[::-1, c] = [g.weight @ K @ g.weight for K in spread.kernels(squares_among(base, g))]
    return out


def squares_to(base: Prototypes, X: Any) -> NDArray[np.float64]:
    """(classes, n, slots) squared distances of rows to all prototypes."""
    out = np.zeros((len(base.filled), rows(X), base.P.shape[2]))
    for c, n in enumerate(base.filled.astype(int)):
        kernels.squares(X, base.P[c], base.norm[c], n, out[c])
    return out


def means(K: NDArray[np.float64], groups: list[Group]) -> NDArray[np.float64]:
    """(classes, n) mean of the kernel values K (classes, n, slots) over each group."""
    out = np.zeros((len(groups), K.shape[1]))
    for c, group in enumerate(groups):
        kernels.averages(K, group.at, group.slot, group.weight, out[c])
    return out


def chunks(base: Prototypes, X: Any) -> list[NDArray[np.int64]]:
    """Positions of the rows, in parts whose kernel values fit the cache."""
    step = max(1, CELLS // max(base.P.shape[0] * base.P.shape[2], 1))
    return [np.arange(a, min(a + step, rows(X))) for a in range(0, rows(X), step)]


def decide(
    base: Prototypes, mine: list[Group], theirs: list[Group] | None, sigma: float, offset: Array, X: Any
) -> Array:
    """(classes, n) h = G - offset, less the mean over `theirs` where there are some.

    Where all means are zero to rounding, the classes are compared by the logarithms of their means.
    """
    out = np.empty((len(mine), rows(X)))
    for at in chunks(base, X):
        D = squares_to(base, pick(X, at))
        K = spread.gaussian(D.copy(), sigma)
        G = means(K, mine)
        far = np.flatnonzero(G.max(axis=0) < TINY)
        H = G - offset[:, None]
        if theirs is not None:
            H -= means(K, theirs)
        if far.size:
            H[:, far] = _logarithms(D[:, far], mine, sigma)
        out[:, at] = H
    return out


def _logarithms(D: Array, groups: list[Group], sigma: float) -> Array:
    """(classes, n) logarithm of each group's mean, less the largest."""
    out = np.full((len(groups), D.shape[1]), -np.inf)
    for c, g in enumerate(groups):
        if g.at.size:
            E = D[g.at, :, g.slot] / (-2.0 * sigma**2) + np.log(g.weight)[:, None]
            E = np.maximum(E, LEAST)  # all may be infinitely far
            top = E.max(axis=0)
            out[c] = top + np.log(np.exp(E - top).sum(axis=0))
    less: Array = out - out.max(axis=0)
    return less
