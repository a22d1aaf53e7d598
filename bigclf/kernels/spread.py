"""The spread of the Gaussian kernel, from how near its matrix over two classes comes to that of an ideal kernel.

Sources: Hammouri, thesis, Santiago de Compostela 2022, sections 2.3 and 3.2 (ideal kernel tuning, Algorithm 6).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SIGMAS = 2.0 ** (np.arange(-14, 13) / 2.0)  # 2^-7 to 2^6 in half octaves
GAMMAS = 2.0 ** np.arange(13.0, -14.0, -1.0)  # 1 / (2 sigma^2)
ONE = 14  # where SIGMAS is 1
CORNER = 0.05  # of the steepest slope, at which the curve leaves its left side


def gaussian(squares: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """exp(-squares / (2 sigma^2)), written over the squares."""
    squares /= -2.0 * sigma**2
    return np.exp(squares, out=squares)


def kernels(squares: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """exp(-squares / (2 sigma^2)) for all of SIGMAS, from the largest down.

    The exponent doubles from one spread to the next smaller one, so each is the square of the one before: one
    exponential, and 26 products whose errors stay below 1e-8 of the value.
    """
    K = np.exp(-squares / (2.0 * SIGMAS[-1] ** 2))
    yield K
    for _ in SIGMAS[1:]:
        K = K * K
        yield K


def distance_to_ideal(squares: NDArray[np.float64], same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(27,) mean of |K - J| over all pairs of rows, J being 1 for those of one class: A(sigma) of the thesis.

    squares (U, U): squared distances; same (U, U). The diagonal counts, and is zero.
    """
    J = same.astype(np.float64)
    return np.array([np.abs(K - J).mean() for K in kernels(squares)])[::-1]


def least(curve: NDArray[np.float64]) -> int:
    """Where the curve is least; the smallest spread of equals (equation 2.23)."""
    return int(np.argmin(curve))


def left_corner(curve: NDArray[np.float64]) -> int:
    """The first spread, from the left, at which the curve's slope exceeds a twentieth of its steepest."""
    slope = np.abs(np.diff(curve, prepend=curve[0]))
    steep = np.flatnonzero(slope > CORNER * slope.max())
    return int(steep[0]) if steep.size else len(curve) - 1


def ideal(curve: NDArray[np.float64]) -> int:
    """Ideal kernel tuning (Algorithm 6): the minimum, or where there is hardly one the steepest place."""
    j, delta = least(curve), abs(curve[-1] - curve[0]) / 10.0
    if abs(curve[j] - curve[0]) < delta or abs(curve[-1] - curve[j]) < delta:
        return int(np.argmax(np.abs(np.diff(curve, prepend=curve[0]))))
    return j


def largest(curve: NDArray[np.float64]) -> int:
    """No tuning: the largest spread, at which the kernel is near the linear one."""
    return len(curve) - 1


RULES = {"min": least, "left-corner": left_corner, "ikt": ideal, "max": largest}
