"""Sequential minimal optimization: a soft-margin support vector machine of two classes from its kernel matrix.

Sources: Keerthi, Shevade, Bhattacharyya & Murthy, Neural Computation 13 (2001) 637-649 (optimality by two thresholds);
Fan, Chen & Lin, JMLR 6 (2005) 1889-1918, WSS 2 (the second of a pair by the gain that it promises).
"""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import kernel

FLAT = 1e-12  # least curvature along a pair
ROUNDS = 200  # steps for each point, at most


@kernel
def solve(K: Array, t: Array, box: Array, tol: float, alpha: Array, v: Array) -> float:
    """Write the coefficients into alpha (n,) and return the bias: f(x) = sum of alpha t K(x_n, x) + bias.

    K (n, n) kernel matrix; t (n,) -1 or +1, both there; box (n,) largest coefficients; v (n,): scratch, what is missing
    of each target, t - sum of alpha t K. At the optimum the largest v of the coefficients that can go up along t, m,
    meets the least of those that can go down, M; the loop ends when they are within tol.
    """
    n = t.size
    for k in range(n):
        alpha[k] = 0.0
        v[k] = t[k]
    m, M = np.inf, -np.inf
    for _ in range(ROUNDS * n):
        m, M, i = -np.inf, np.inf, 0
        for k in range(n):
            if v[k] > m and (alpha[k] < box[k] if t[k] > 0.0 else alpha[k] > 0.0):
                m = v[k]
                i = k
            if v[k] < M and (alpha[k] > 0.0 if t[k] > 0.0 else alpha[k] < box[k]):
                M = v[k]
        if m - M < tol:
            break
        best, j, step = -1.0, 0, 0.0
        for k in range(n):
            gap = m - v[k]
            if gap > 0.0 and (alpha[k] > 0.0 if t[k] > 0.0 else alpha[k] < box[k]):
                length = gap / max(K[i, i] + K[k, k] - 2.0 * K[i, k], FLAT)
                if gap * length > best:
                    best = gap * length
                    j = k
                    step = length
        up = box[i] - alpha[i] if t[i] > 0.0 else alpha[i]
        down = alpha[j] if t[j] > 0.0 else box[j] - alpha[j]
        step = min(step, up, down)
        alpha[i] += t[i] * step
        alpha[j] -= t[j] * step
        if step == up:  # to the bound itself, which rounding would miss
            alpha[i] = box[i] if t[i] > 0.0 else 0.0
        if step == down:
            alpha[j] = 0.0 if t[j] > 0.0 else box[j]
        for k in range(n):
            v[k] -= step * (K[i, k] - K[j, k])
    return 0.5 * (m + M)
