"""Running statistics of the first rows, column by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bigclf.reading.raw import Sparse


class Moments:
    """Running statistics by column."""

    def __init__(self, cols: int) -> None:
        self.seen, self.mean, self.m2 = np.zeros(cols), np.zeros(cols), np.zeros(cols)
        self.lo, self.hi = np.full(cols, np.inf), np.full(cols, -np.inf)
        self.occurs = np.zeros(cols, bool)  # sparse rows: the column was written at least once

    def dense(self, F: NDArray[np.float64]) -> None:
        """Add rows (n, cols); NaN is left out."""
        from bigclf.reading.encode_kernel import moments

        moments(F, self.seen, self.mean, self.m2, self.lo, self.hi)

    def sparse(self, part: Sparse) -> None:
        """Add the entries of sparse rows."""
        from bigclf.reading.encode_kernel import moments_sparse

        moments_sparse(part.column, part.value, self.seen, self.mean, self.m2, self.lo, self.hi)

    def zeros(self, rows: int) -> None:
        """Count the entries that sparse rows left out, as zeros."""
        absent = rows - self.seen
        self.m2 += self.mean**2 * self.seen * absent / max(rows, 1)
        self.mean *= self.seen / max(rows, 1)
        self.lo[absent > 0] = np.minimum(self.lo[absent > 0], 0.0)
        self.hi[absent > 0] = np.maximum(self.hi[absent > 0], 0.0)
        self.seen[:] = rows

    def tidy(self) -> None:
        """Columns never seen count as zero."""
        self.lo[~np.isfinite(self.lo)] = 0.0
        self.hi[~np.isfinite(self.hi)] = 0.0

    def spread(self) -> NDArray[np.float64]:
        """Standard deviations (population); exactly 0 where all values are equal."""
        return np.where(self.hi > self.lo, np.sqrt(self.m2 / np.maximum(self.seen, 1.0)), 0.0)
