"""Feature maps: rows of a block made longer, so that a linear learner draws curved borders."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from bigclf import draws
from bigclf.block import cols, rows
from bigclf.core import Array
from bigclf.errors import BigclfError
from bigclf.reading import map_kernel

KINDS = ("linear", "rm", "poly", "rff")
MOST_ORDER = 6
MOST_DIM = 1 << 31
SIGMAS = (1e-30, 1e30)  # what float32 can divide by
OMEGA, PHASE = 1, 2  # what is drawn
CHUNK = 1 << 16  # normals drawn at a time: the steps between stay in the cache


class FeatureMap(NamedTuple):
    """Which map, and all that decides it; part of the schema, kept in the model as plain numbers.

    rm: reduced multivariate polynomial (Toh, Tran & Srinivasan, IEEE TPAMI 26(6), 2004, 740-755). poly: all monomials
    up to an order. rff: random Fourier features (Rahimi & Recht, NIPS 20, 2007).
    """

    kind: str = "linear"  # one of KINDS
    order: int = 2  # highest degree of rm and poly
    dim: int = 500  # D of rff
    sigma: float = 1.0  # spread of rff: K(x, y) = exp(-|x-y|^2 / (2 sigma^2))
    seed: int = 1
    most: int = 20_000  # columns that it may make
    first: int = 2  # first input column of the block; column 0 is the bias

    def size(self, cols: int) -> int:
        """Columns that the learner sees for `cols` columns of the block.

        >>> FeatureMap("rm").size(32), FeatureMap("poly").size(32), FeatureMap("rff").size(32), FeatureMap().size(32)
        (93, 496, 501, 32)
        """
        inputs = max(cols - self.first, 0)
        if self.kind == "rm":
            return 1 + self.order + inputs * (2 * self.order - 1)
        if self.kind == "poly":
            return math.comb(inputs + self.order, self.order)  # the monomial of degree 0 is the bias
        return 1 + self.dim if self.kind == "rff" else cols

    def nbytes(self, cols: int, itemsize: int) -> int:
        """Bytes of the tables beside the rows. While they grow by a column, the tables as they were come on top."""
        if self.kind == "rff":
            return (max(cols - self.first, 0) + 1) * self.dim * itemsize
        return 2 * np.dtype(np.int32).itemsize * self.size(cols) if self.kind == "poly" else 0

    def names(self, columns: list[str]) -> list[str]:
        """(size,) names of the mapped columns, for people, from the names of the block's columns.

        >>> FeatureMap("rm").names(["(bias)", "0", "a", "b"])
        ['(bias)', 's', 's^2', 'a', 'a^2', 'a s', 'b', 'b^2', 'b s']
        >>> FeatureMap("poly").names(["(bias)", "0", "a", "b"])
        ['(bias)', 'a', 'a^2', 'b', 'a b', 'b^2']
        """
        powers = range(1, self.order + 1)
        if self.kind == "rm":
            mapped = [power("s", p) for p in powers]
            for x in columns[self.first :]:
                mapped += [power(x, p) for p in powers] + [f"{x} {power('s', p)}" for p in powers[:-1]]
        elif self.kind == "poly":
            parent, factor = map_kernel.monomials(len(columns), self.first, self.order)
            factors: list[tuple[int, ...]] = [()]
            for p, j in zip(parent[1:].tolist(), factor[1:].tolist(), strict=True):
                factors.append((*factors[p], j))
            mapped = [" ".join(power(columns[j], p) for j, p in Counter(f).items()) for f in factors[1:]]
        elif self.kind == "rff":
            mapped = [f"rff {k}" for k in range(1, self.dim + 1)]
        else:
            mapped = columns[1:]
        return columns[:1] + mapped

    def check(self) -> None:
        """ValueError for what no training run could have made."""
        whole = {"order": (1, MOST_ORDER), "dim": (1, MOST_DIM), "seed": (0, math.inf), "first": (1, 2)}
        whole["most"] = (1, MOST_DIM)
        for name, (least, most) in whole.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"feature map {name} is impossible")
        if type(self.kind) is not str or self.kind not in KINDS:
            raise ValueError("feature map kind is impossible")
        if type(self.sigma) not in (int, float) or not SIGMAS[0] <= self.sigma <= SIGMAS[1]:
            raise ValueError("feature map sigma is impossible")

    def check_size(self, cols: int) -> None:
        """BigclfError where that many columns of the block give too many features."""
        size = self.size(cols)
        if self.kind == "linear" or size <= self.most:
            return
        what, cure = f"rff of {self.dim:,}", "lower --rff-dim"
        if self.kind != "rff":
            what, cure = f"{self.kind} of order {self.order} and {cols - self.first:,} columns", "lower --order"
        raise BigclfError(
            f"--features {what} makes {size:,} features, more than --max-features {self.most:,}; {cure} or raise that"
        )


LINEAR = FeatureMap()


def power(name: str, p: int) -> str:
    """How a power is written."""
    return name if p == 1 else f"{name}^{p}"


def widened(omega: Array, cols: int, map: FeatureMap) -> Array:
    """Omega (inputs, dim) for that many columns of the block: new rows below, each drawn from its column's own key."""
    wide = np.empty((cols - map.first, map.dim), omega.dtype)
    wide[: len(omega)] = omega
    step = max(CHUNK // map.dim, 1)
    for a in range(len(omega), len(wide), step):
        part = wide[a : a + step]
        columns = np.arange(a, a + len(part), dtype=np.uint64) + np.uint64(map.first)
        part[:] = draws.normals(map.dim, map.seed, OMEGA, columns) / map.sigma
    return wide


class Mapper:
    """Maps blocks, by a map that is not linear; makes its tables for a number of columns and more when that grows."""

    def __init__(self, map: FeatureMap, dtype: str) -> None:
        self.map = map
        self.dtype = np.dtype(dtype)
        self.cols = map.first
        self.parent, self.factor = map_kernel.monomials(0, map.first, map.order)
        self.omega = np.empty((0, map.dim), self.dtype)
        self.phase = np.empty(0, self.dtype)
        if map.kind == "rff":
            self.phase = (2.0 * np.pi * draws.uniforms(map.dim, map.seed, PHASE)).astype(self.dtype)

    def grow(self, cols: int) -> None:
        """Tables for that many columns; what they hold for the earlier ones stays the same."""
        if self.map.kind == "poly":
            self.parent, self.factor = map_kernel.monomials(cols, self.map.first, self.map.order)
        elif self.map.kind == "rff":
            self.omega = widened(self.omega, cols, self.map)
        self.cols = cols

    def rows(self, X: Any) -> Array:
        """(n, size) mapped rows of X, dense or CSR with any number of columns."""
        map = self.map
        if cols(X) > self.cols:
            self.grow(cols(X))
        out = np.empty((rows(X), map.size(cols(X))), self.dtype)
        if map.kind == "rm":
            map_kernel.rm(X, map.first, map.order, out)
        elif map.kind == "poly":
            map_kernel.poly(X, self.parent[: out.shape[1]], self.factor[: out.shape[1]], out)
        else:
            map_kernel.rff(X, map.first, self.omega, self.phase, out)
        return out
