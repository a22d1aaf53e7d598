"""What scores were worth, counted in one loop over the rows."""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_kernel


@exact_kernel
def count_scores(negative: int, positive: int, y: Array, scores: Array, counts: Array, matrix: Array) -> bool:
    """Add rows with a label to `counts`, and those of them that all units scored to `matrix` (truth, guess).

    y: (n,) class codes. scores: (units, n). negative, positive: what the sign of a single unit says; a score of 0 is
    positive. Of more units the best is the guess, the first of equals. Returns False, with nothing added, where a class
    is beyond the matrix.
    """
    units, n = scores.shape
    guess = np.empty(n, np.int32)
    for i in range(n):
        best = 0
        scored = y[i] >= 0
        for u in range(units):
            scored &= not np.isnan(scores[u, i])
            if scores[u, i] > scores[best, i]:
                best = u
        if units == 1:
            best = positive if scores[0, i] >= 0.0 else negative
        guess[i] = best if scored else -1
        if scored and (y[i] >= matrix.shape[0] or best >= matrix.shape[0]):
            return False
    for i in range(n):
        if y[i] >= 0:
            counts[y[i]] += 1
        if guess[i] >= 0:
            matrix[y[i], guess[i]] += 1
    return True
