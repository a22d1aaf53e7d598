"""Random draws as functions of (seed, what for, which): the same whatever the order in which they are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): 64 bits that look random, one for each x."""
    with np.errstate(over="ignore"):
        x = x + _STEP
        x = (x ^ (x >> np.uint64(30))) * _MIX1
        x = (x ^ (x >> np.uint64(27))) * _MIX2
        return x ^ (x >> np.uint64(31))


def order(n: int, *key: int) -> NDArray[np.int64]:
    """A permutation of n things that the key decides.

    >>> order(5, 1, 2).tolist() == order(5, 1, 2).tolist(), sorted(order(5, 7).tolist())
    (True, [0, 1, 2, 3, 4])
    """
    seed = np.zeros(1, np.uint64)
    for part in key:
        seed = mix(seed ^ np.uint64(part & 0xFFFFFFFFFFFFFFFF))
    with np.errstate(over="ignore"):
        keys = mix(seed + mix(np.arange(n, dtype=np.uint64)))
    return np.argsort(keys, kind="stable")
