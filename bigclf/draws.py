"""Random draws as functions of (seed, what for, which): the same whatever the order in which they are asked for."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Key: TypeAlias = int | NDArray[np.uint64]  # a part of a key

_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): 64 bits that look random, one for each x."""
    with np.errstate(over="ignore"):
        x = x + _STEP
        x = (x ^ (x >> np.uint64(30))) * _MIX1
        x = (x ^ (x >> np.uint64(27))) * _MIX2
        return x ^ (x >> np.uint64(31))


def bits(n: int, *key: Key) -> NDArray[np.uint64]:
    """(..., n) words that the key decides: a row for each key where a part of it is an array, each prefix of a longer.

    >>> (bits(9, 1, np.arange(5, dtype=np.uint64))[3, :4] == bits(4, 1, 3)).all()
    np.True_
    """
    seed = np.zeros((), np.uint64)
    for part in key:
        seed = mix(seed ^ np.asarray(part & 0xFFFFFFFFFFFFFFFF, np.uint64))
    with np.errstate(over="ignore"):
        return mix(np.asarray(seed)[..., None] + mix(np.arange(n, dtype=np.uint64)))


def order(n: int, *key: int) -> NDArray[np.int64]:
    """A permutation of n things that the key decides.

    >>> order(5, 1, 2).tolist() == order(5, 1, 2).tolist(), sorted(order(5, 7).tolist())
    (True, [0, 1, 2, 3, 4])
    """
    return np.argsort(bits(n, *key), kind="stable")


def uniforms(n: int, *key: Key) -> NDArray[np.float64]:
    """(..., n) numbers from 0 to below 1, of 53 bits.

    >>> u = uniforms(10_000, 1)
    >>> bool(u.min() >= 0.0), bool(u.max() < 1.0), round(float(u.mean()), 1)
    (True, True, 0.5)
    """
    return (bits(n, *key) >> np.uint64(11)) * np.float64(2.0**-53)


def normals(n: int, *key: Key) -> NDArray[np.float64]:
    """(..., n) standard normal numbers (Box & Muller, Annals of Mathematical Statistics 29, 1958), two from two words.

    >>> z = normals(10_000, 1)
    >>> abs(round(float(z.mean()), 1)), round(float(z.std()), 1), bool((normals(7, 1) == z[:7]).all())
    (0.0, 1.0, True)
    """
    u = uniforms(n + n % 2, *key)
    radius = np.sqrt(-2.0 * np.log(1.0 - u[..., 0::2]))  # 1 - u is never zero
    angle = 2.0 * np.pi * u[..., 1::2]
    u[..., 0::2] = radius * np.cos(angle)
    u[..., 1::2] = radius * np.sin(angle)
    return u[..., :n]
