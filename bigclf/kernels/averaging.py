"""Averages of weights, summed where the weights change only (Daume III, thesis 2006, figure 2.3).

The average of the weights after each row, each counting as the power p of the rows before it, is w - late / n^(p + 1):
n rows so far, `late` the sum of the changes of w, each times n^(p + 1) as it was before.
"""

from __future__ import annotations

from typing import TypeVar

from bigclf.core import Array
from bigclf.jit import exact_helper

Number = TypeVar("Number", float, Array)


def power_of(base: Number, k: int) -> Number:
    """base^k by squaring, the same to the bit of a number and of an array.

    >>> power_of(3.0, 5)
    243.0
    """
    out = base * 0.0 + 1.0
    while k > 0:
        if k & 1:
            out = out * base
        base = base * base
        k >>= 1
    return out


mass_of = exact_helper(power_of)  # for kernels


@exact_helper
def averaged(p: float, q: float, mass: float) -> float:
    """The score of the averaged weights from those of w and of late; mass: n^(p + 1)."""
    return p - q / mass if mass > 0.0 else p


def average(w: Array, late: Array, shown: Array, power: int) -> Array:
    """The average of what stands in (units, ...) for the weights and for `late`: the weights themselves, or scores."""
    mass = power_of(shown, power + 1)
    safe = (mass > 0.0)[:, None]
    found: Array = w - late * safe / (mass[:, None] + ~safe)
    return found
