"""Detectors of change in the errors of a learner: each goes on from where it stands to the first row that means one.

Sources: Gama, Medas, Castillo & Rodrigues, Learning with drift detection, SBIA 2004 (DDM); Bifet & Gavalda, Learning
from time-changing data with adaptive windowing, SDM 2007 (ADWIN), with the bound, the smallest windows and the rhythm
of its authors' program in MOA.
"""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.votes import answer

NOTHING, WARNING, DRIFT, CALM = range(4)  # what a row means; CALM: a warning is over, and nothing came of it

TOLD, ERRORS, P_MIN, S_MIN, LEVEL = range(5)  # fields of DDM's state

PER_SIZE = 5  # buckets of each size, M in the paper
SIZES = 40  # bucket k of them holds 2^k rows: more than there are
CLOCK = 32  # rows between two looks at the window
LEAST = 5  # rows that either part of a window has more than one above
TIME, WIDTH, TOTAL, LARGEST = range(4)  # fields of a window's sums


@exact_kernel
def wrong(pre: Array, target: Array, y: Array, out: Array) -> None:
    """out[i] (n,) int8: whether the answer that scores pre (units, n) give is wrong; -1 where that is not to be told.

    That is of rows that no unit is shown (target 0), and of those without a score.
    """
    for i in range(y.size):
        out[i] = -1
        shown = False
        scored = True
        for u in range(len(pre)):
            shown |= target[u, i] != 0
            scored &= not np.isnan(pre[u, i])
        if shown and scored and y[i] >= 0:
            a = answer(pre, i)
            right = (a == 1) == (target[0, i] > 0) if len(pre) == 1 else a == y[i]
            out[i] = 0 if right else 1


@exact_kernel
def ddm(s: Array, least: float, warning: float, level: float, wrongs: Array, begin: int) -> tuple[int, int]:
    """The row from `begin` on where DDM changes its mind, and what it means; the number of rows and NOTHING for none.

    With p the share of errors in n rows and d = sqrt(p (1 - p) / n), once there are `least` rows: a warning while p + d
    is more than p_min + warning d_min, a drift where it is more than p_min + level d_min, both of the row with the
    smallest p + d. (Equal, as the paper has it, would be a drift where there never was an error.) s (5,) goes along.
    """
    for i in range(begin, wrongs.size):
        if wrongs[i] < 0:
            continue
        s[TOLD] += 1.0
        s[ERRORS] += wrongs[i]
        if s[TOLD] < least:
            continue
        p = s[ERRORS] / s[TOLD]
        d = np.sqrt(p * (1.0 - p) / s[TOLD])
        if s[TOLD] == least or p + d < s[P_MIN] + s[S_MIN]:
            s[P_MIN] = p
            s[S_MIN] = d
        was = s[LEVEL]
        if p + d > s[P_MIN] + level * s[S_MIN]:
            s[LEVEL] = DRIFT
        elif p + d > s[P_MIN] + warning * s[S_MIN]:
            s[LEVEL] = WARNING
        else:
            s[LEVEL] = NOTHING
        if s[LEVEL] != was:
            return i, CALM if s[LEVEL] == NOTHING else int(s[LEVEL])
    return wrongs.size, NOTHING


@exact_helper
def widen(buckets: Array, filled: Array, sums: Array, value: float) -> None:
    """Take a row into a window. Where a size has all its buckets the two oldest become one of the next size."""
    carried = value
    for k in range(len(buckets)):
        n = int(filled[k])
        if n < PER_SIZE:
            buckets[k, n] = carried
            filled[k] = n + 1
            sums[LARGEST] = max(sums[LARGEST], k)
            break
        two = buckets[k, 0] + buckets[k, 1]
        for b in range(2, PER_SIZE):
            buckets[k, b - 2] = buckets[k, b]
        buckets[k, PER_SIZE - 2] = carried
        buckets[k, PER_SIZE - 1] = 0.0
        filled[k] = PER_SIZE - 1
        carried = two
    sums[WIDTH] += 1.0
    sums[TOTAL] += value


@exact_helper
def forget(buckets: Array, filled: Array, sums: Array) -> None:
    """Leave the oldest bucket of a window out."""
    k = int(sums[LARGEST])
    sums[WIDTH] -= 2.0**k
    sums[TOTAL] -= buckets[k, 0]
    for b in range(1, PER_SIZE):
        buckets[k, b - 1] = buckets[k, b]
    buckets[k, PER_SIZE - 1] = 0.0
    filled[k] -= 1.0
    if filled[k] == 0.0 and k > 0:
        sums[LARGEST] = k - 1


@exact_helper
def differs(buckets: Array, filled: Array, sums: Array, delta: float) -> bool:
    """Whether somewhere the older rows of a window have another mean than the newer ones, at confidence delta.

    With m = 1 / (n_0 - 4) + 1 / (n_1 - 4), v the variance of all n rows and D = ln(2 ln n / delta), the means are to
    differ by more than sqrt(2 m v D) + 2 m D / 3; both sides are multiplied by n_0 n_1 here.
    """
    n, total = sums[WIDTH], sums[TOTAL]
    bound = np.log(2.0 * np.log(n) / delta)
    root = 2.0 * bound * total / n * (1.0 - total / n)  # the variance of zeros and ones
    if root == 0.0:
        return False
    share = 2.0 / 3.0 * bound
    size = 2.0 ** sums[LARGEST]
    old = 0.0
    old_total = 0.0
    for k in range(int(sums[LARGEST]), -1, -1):
        for b in range(int(filled[k])):
            old += size
            old_total += buckets[k, b]
            new = n - old
            if new <= LEAST + 1:
                return False
            if old > LEAST + 1:
                gap = abs(old_total * n - total * old)
                up, down = n - 2.0 * (LEAST - 1.0), (old - LEAST + 1.0) * (new - LEAST + 1.0)
                both = old * new
                if gap * gap * down > root * up * both * both:  # mostly not, which needs no root
                    m = up / down
                    if gap > (np.sqrt(root * m) + share * m) * both:
                        return True
        size *= 0.5
    return False


@exact_helper
def rises(buckets: Array, filled: Array, sums: Array, delta: float, value: float) -> bool:
    """Take a row into a window; whether old rows had to go, and the mean is higher without them."""
    widen(buckets, filled, sums, value)
    sums[TIME] += 1.0
    if int(sums[TIME]) % CLOCK != 0 or sums[WIDTH] <= 2.0 * LEAST:
        return False
    mean = (sums[TOTAL] - value) / (sums[WIDTH] - 1.0)  # before the row
    cut = False
    while differs(buckets, filled, sums, delta):
        forget(buckets, filled, sums)
        cut = True
    return cut and sums[TOTAL] / sums[WIDTH] > mean


@exact_kernel
def adwin(buckets: Array, filled: Array, sums: Array, delta: Array, wrongs: Array, begin: int) -> tuple[int, int]:
    """The row from `begin` on where ADWIN finds more errors than before, and what it means; else as `ddm`.

    buckets (detectors, SIZES, PER_SIZE), filled (detectors, SIZES) and sums (detectors, 4) go along, oldest buckets
    first; delta (detectors,). The first detector tells of drifts. A second one, where there is one, tells of warnings,
    and begins anew then, as in MOA's adaptive random forests (Gomes et al., Machine Learning 106 (2017) 1469-1495).
    """
    first, first_filled, first_sums = buckets[0], filled[0], sums[0]  # views are made once: they cost as much as a row
    last, last_filled, last_sums = buckets[-1], filled[-1], sums[-1]
    for i in range(begin, wrongs.size):
        if wrongs[i] < 0:
            continue
        warned = False
        if delta.size > 1 and rises(last, last_filled, last_sums, delta[1], float(wrongs[i])):
            last[:] = 0.0
            last_filled[:] = 0.0
            last_sums[:] = 0.0
            warned = True
        if rises(first, first_filled, first_sums, delta[0], float(wrongs[i])):
            return i, DRIFT
        if warned:
            return i, WARNING
    return wrongs.size, NOTHING
