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
def of_row(seed: int, row: int) -> np.uint64:
    """What all draws of a row have in common."""
    return mixed(mixed(np.uint64(seed)) ^ np.uint64(row))


@exact_helper
def keyed(key: np.uint64, which: int) -> float:
    """A number from 0 to below 1, by what draws of its row have in common."""
    return np.float64(mixed(key ^ np.uint64(which)) >> _11) * 2.0**-53


@exact_helper
def uniform(seed: int, row: int, which: int) -> float:
    """A number from 0 to below 1."""
    return keyed(of_row(seed, row), which)


@exact_helper
def inverted(u: float, lam: float) -> float:
    """The least k for which a Poisson variable of mean lam is at most k with a probability above u."""
    p = np.exp(-lam)
    p1 = p * lam
    p2 = p1 * (lam / 2.0)
    p3 = p2 * (lam / 3.0)
    p4 = p3 * (lam / 4.0)
    s0 = p
    s1 = s0 + p1
    s2 = s1 + p2
    s3 = s2 + p3
    s4 = s3 + p4
    k = 0.0  # small ones without a branch: which it is, no processor foresees
    k += 1.0 if u >= s0 else 0.0
    k += 1.0 if u >= s1 else 0.0
    k += 1.0 if u >= s2 else 0.0
    k += 1.0 if u >= s3 else 0.0
    k += 1.0 if u >= s4 else 0.0
    if k < 5.0:
        return k
    p = p4 * (lam / 5.0)
    s = s4 + p
    while u >= s and k < 1000.0:
        k += 1.0
        p *= lam / k
        s += p
    return k


@exact_helper
def drawn(rate: float, draw: int, key: np.uint64, which: int) -> float:
    """How many times a row of this rate is shown, by what draws of it have in common; the rest as of `poisson`."""
    if rate < 0.0:
        return 1.0
    rate = min(rate, MOST_RATE)
    if draw == ROUND:
        return float(np.floor(rate + 0.5))
    if draw == EXPECT:
        return rate
    if rate <= _PART:
        return inverted(keyed(key, which), rate) if rate > 0.0 else 0.0
    parts = np.ceil(rate / _PART)
    total = 0.0
    for part in range(int(parts)):
        total += inverted(keyed(key, which + (part << 16)), rate / parts)
    return total


@exact_helper
def poisson(rate: float, draw: int, seed: int, row: int, which: int) -> float:
    """How many times a row of this rate is shown. `which`, below 65,536, tells draws of a row apart.

    By inversion; a large rate is the sum of equal ones, which is exact.
    """
    return drawn(rate, draw, of_row(seed, row), which)


@exact_kernel
def keys(seed: int, row: Array, out: Array) -> None:
    """out[i], uint64: what all draws of row[i] have in common."""
    for i in range(row.size):
        out[i] = of_row(seed, row[i])


@exact_kernel
def shown(rate: Array, share: float, draw: int, key: Array, which: int, out: Array) -> None:
    """out[i]: how many times a row of rate[i], times `share`, is shown; key: as of `keys`."""
    for i in range(rate.size):
        out[i] = drawn(rate[i] * share if rate[i] >= 0.0 else rate[i], draw, key[i], which)
