"""Draws inside compiled loops: each a function of (seed, row, which), whatever the order in which they are made."""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel

POISSON, ROUND, EXPECT = range(3)  # how a rate becomes a number of times: drawn, rounded, taken as it is
DRAWS = {"poisson": POISSON, "round": ROUND, "weight": EXPECT}

ONCE = -1.0  # as a rate: exactly once, without a draw
MOST_RATE = 1e4
_PART = 30.0  # e^-rate stays far from the smallest number

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@exact_helper
def mixed(x: np.uint64) -> np.uint64:
    """SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), as in bigclf.draws."""
    x = x + _STEP
    x = (x ^ (x >> _30)) * _MIX1
    x = (x ^ (x >> _27)) * _MIX2
    return x ^ (x >> _31)


@exact_helper
def uniform(seed: int, row: int, which: int) -> float:
    """A number from 0 to below 1."""
    key = mixed(mixed(mixed(np.uint64(seed)) ^ np.uint64(row)) ^ np.uint64(which))
    return np.float64(key >> _11) * 2.0**-53


@exact_helper
def poisson(rate: float, draw: int, seed: int, row: int, which: int) -> float:
    """How many times a row of this rate is shown. `which`, below 65,536, tells draws of a row apart.

    By inversion; a large rate is the sum of equal ones, which is exact.
    """
    if rate < 0.0:
        return 1.0
    rate = min(rate, MOST_RATE)
    if draw == ROUND:
        return float(np.floor(rate + 0.5))
    if draw == EXPECT:
        return rate
    parts = np.ceil(rate / _PART)
    total = 0.0
    for part in range(int(parts)):
        lam = rate / parts
        u = uniform(seed, row, which + (part << 16))
        p = np.exp(-lam)
        s = p
        k = 0.0
        while u >= s and k < 1000.0:
            k += 1.0
            p *= lam / k
            s += p
        total += k
    return total


@exact_kernel
def shown(rate: Array, share: float, draw: int, seed: int, row: Array, which: int, out: Array) -> None:
    """out[i]: how many times a row of rate[i], times `share`, is shown."""
    for i in range(rate.size):
        out[i] = poisson(rate[i] * share if rate[i] >= 0.0 else rate[i], draw, seed, row[i], which)
