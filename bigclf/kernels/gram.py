"""Sums of squares and products per class, tile by tile: the whole state of the least-squares family.

Rows are gathered by class into a float64 tile by a compiled loop; the products are BLAS's (one symmetric product for
each class that the tile holds).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.block import cols, row_into
from bigclf.core import Array
from bigclf.jit import kernel


@kernel
def gather(X: Any, y: Array, place: Array, P: Array, lo: Array, hi: Array) -> None:
    """Rows of X sorted by class into P; place[c] is where class c begins. Running minima and maxima by column."""
    for i in range(y.size):
        if y[i] < 0:
            continue
        p = P[place[y[i]]]
        place[y[i]] += 1
        row_into(X, i, p)
        for j in range(p.size):
            lo[j] = min(lo[j], p[j])
            hi[j] = max(hi[j], p[j])


class Scratch:
    """Room for one tile, kept from tile to tile: fresh pages for each would cost more than the products."""

    def __init__(self) -> None:
        self.P = np.empty((0, 0))

    def rows(self, n: int, cols: int) -> Array:
        """(n, cols) float64, not initialised."""
        if self.P.shape[0] < n or self.P.shape[1] != cols:
            self.P = np.empty((n, cols))
        return self.P[:n]


def add(
    X: Any,
    y: Array,
    pooled: bool,
    gram: Array,
    first: Array,
    rows: Array,
    lo: Array,
    hi: Array,
    scratch: Scratch,
) -> None:
    """Add a tile to the sums, in place.

    gram (classes or 1, cols, cols): products by class, or of all rows when pooled; first (classes, cols): sums;
    rows (classes,): counts; lo, hi (cols,): extremes.
    """
    counts = np.bincount(y[y >= 0], minlength=rows.size)
    ends = np.cumsum(counts)
    P = scratch.rows(int(ends[-1]), cols(X))
    gather(X, y, ends - counts, P, lo, hi)
    if pooled:
        gram[0] += P.T @ P
    for c in np.flatnonzero(counts):
        part = P[ends[c] - counts[c] : ends[c]]
        if not pooled:
            gram[c] += part.T @ part
        first[c] += part.sum(axis=0)
    rows += counts
