"""Sums of squares and products per class, tile by tile: the whole state of the least-squares family.

Dense rows are gathered by class into a float64 tile by a compiled loop; the products are BLAS's (one symmetric product
for each class that the tile holds). Sparse rows of few entries are summed pair by pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import cols, entries, row_into
from bigclf.core import Array
from bigclf.jit import kernel


@kernel
def gather(X: Any, y: Array, weight: Array, place: Array, P: Array, root: Array, lo: Array, hi: Array) -> None:
    """Rows of X sorted by class into P; place[c] is where class c begins. Running minima and maxima by column.

    weight (n,) or (0,): then rows are multiplied with its root, which `root` gets, sorted too.
    """
    for i in range(y.size):
        if y[i] < 0:
            continue
        p = P[place[y[i]]]
        row_into(X, i, p)
        for j in range(p.size):
            lo[j] = min(lo[j], p[j])
            hi[j] = max(hi[j], p[j])
        if weight.size:
            r = np.sqrt(weight[i])
            root[place[y[i]]] = r
            for j in range(p.size):
                p[j] *= r
        place[y[i]] += 1


@kernel
def gather_sparse(
    X: Any, y: Array, weight: Array, pooled: bool, gram: Array, first: Array, lo: Array, hi: Array
) -> None:
    """The same sums from CSR rows by the pairs of their entries: O(entries^2) a row, whatever the columns."""
    for i in range(y.size):
        if y[i] < 0:
            continue
        G = gram[0 if pooled else y[i]]
        g = 1.0
        if weight.size:
            g = weight[i]
        for a in entries(X, i):
            j = np.uint64(X.indices[a])
            v = np.float64(X.data[a])
            lo[j] = min(lo[j], v)
            hi[j] = max(hi[j], v)
            v *= g
            first[y[i], j] += v
            for b in entries(X, i):
                G[j, np.uint64(X.indices[b])] += v * np.float64(X.data[b])


@kernel
def zeros_too(X: Any, y: Array, count: Array, lo: Array, hi: Array) -> None:
    """Let minima and maxima know of the columns that a row of the tile leaves out; count (cols,): scratch."""
    shown = 0
    count[:] = 0
    for i in range(y.size):
        if y[i] >= 0:
            shown += 1
            for a in entries(X, i):
                count[np.uint64(X.indices[a])] += 1
    for j in range(lo.size):
        if count[j] < shown:
            lo[j] = min(lo[j], 0.0)
            hi[j] = max(hi[j], 0.0)


class Scratch:
    """Room for one tile, kept from tile to tile: fresh pages for each would cost more than the products."""

    def __init__(self) -> None:
        self.P = np.empty((0, 0))

    def rows(self, n: int, cols: int) -> Array:
        """(n, cols) float64, not initialised."""
        if self.P.shape[0] < n or self.P.shape[1] != cols:
            self.P = np.empty((n, cols))
        return self.P[:n]


PAIRS = 60  # additions of BLAS in the time of one for a pair of entries, measured at 100 to 2,000 columns
WIDE = 4096  # columns above which sparse rows are never made dense


def sparse_pays(X: Any) -> bool:
    """Whether a tile of CSR rows is summed by pairs of entries rather than as dense rows; by the rows alone."""
    if isinstance(X, np.ndarray):
        return False
    return X.cols > WIDE or PAIRS * float(np.sum(np.diff(X.indptr) ** 2)) < (len(X.indptr) - 1) * float(X.cols) ** 2


def add(
    X: Any,
    y: Array,
    weight: Array,
    pooled: bool,
    gram: Array,
    first: Array,
    rows: Array,
    lo: Array,
    hi: Array,
    scratch: Scratch,
) -> None:
    """Add a tile to the sums, in place.

    weight (n,) or (0,): what each row counts. gram (classes or 1, cols, cols): products by class, or of all rows when
    pooled; first (classes, cols): sums; rows (classes,): sums of the weights; lo, hi (cols,): extremes.
    """
    shown = y >= 0
    counts = np.bincount(y[shown], minlength=rows.size)
    rows += counts if not weight.size else np.bincount(y[shown], weight[shown], rows.size)
    if sparse_pays(X):
        gather_sparse(X, y, weight, pooled, gram, first, lo, hi)
        zeros_too(X, y, np.empty(lo.size, np.int64), lo, hi)
        return
    ends = np.cumsum(counts)
    P = scratch.rows(int(ends[-1]), cols(X))
    root = np.empty(len(P) if weight.size else 0)
    gather(X, y, weight, ends - counts, P, root, lo, hi)
    if pooled:
        gram[0] += P.T @ P
    for c in np.flatnonzero(counts):
        part = slice(ends[c] - counts[c], ends[c])
        if not pooled:
            gram[c] += P[part].T @ P[part]
        first[c] += root[part] @ P[part] if weight.size else P[part].sum(axis=0)
