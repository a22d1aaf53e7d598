"""Made-up rows between a row and its nearest neighbours among the last rows of its class.

Source: Chawla, Bowyer, Hall & Kegelmeyer, SMOTE, JAIR 16 (2002) 321-357, one pass over a buffer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_into, rows
from bigclf.core import Array
from bigclf.jit import exact_kernel
from bigclf.kernels.chance import uniform
from bigclf.kernels.class_sizes import extremes, observe, side, size


class Buffer(NamedTuple):
    """The last rows of each class, and how many there were."""

    kept: Array  # (classes, length, cols)
    held: Array  # (classes,) rows that were kept, those forgotten included
    seen: Array  # (classes,) rows


@exact_kernel
def make(
    buffer: Buffer,
    most: int,
    half: bool,
    seed: int,
    X: Any,
    y: Array,
    row: Array,
    target: Array,
    made: Array,
    at: Array,
) -> int:
    """Write made-up rows into made (room, cols), for rows from at[1] on; returns how many there are.

    Row i has min(most, largest class / its own, whole, - 1) of them. at[0] is the row at which it stopped for want of
    room; from[k], the row beside which made[k] stands, is written to at[2 + k].
    """
    n = 0
    x = np.empty(made.shape[1])
    near = np.empty(buffer.kept.shape[1])
    rest = np.ones(1)
    length = buffer.kept.shape[1]
    i = at[1]
    while i < rows(X):
        if side(target, i) != 0 and y[i] >= 0:
            if n + most > len(made):
                break
            c = y[i]
            row_into(X, i, x)
            high = extremes(buffer.seen, 1.0, 0.0, 0.0)[1]
            short = min(most, int(np.floor(high / size(buffer.seen, c, 1.0, 0.0))) - 1)
            have = int(min(buffer.held[c], length))
            if short > 0:
                for k in range(have):
                    near[k] = 0.0
                    for j in range(x.size):
                        near[k] += (x[j] - buffer.kept[c, k, j]) ** 2
            first = int(buffer.held[c]) % length if buffer.held[c] >= length else 0  # the oldest
            for which in range(min(short, have)):
                best = -1
                for step in range(have):
                    k = (first + step) % length
                    if best < 0 or near[k] < near[best]:
                        best = k
                near[best] = np.inf
                part = 0.5 if half else uniform(seed, row[i], which)
                for j in range(x.size):
                    made[n, j] = x[j] + part * (buffer.kept[c, best, j] - x[j])
                at[2 + n] = i
                n += 1
            slot = int(buffer.held[c]) % length
            for j in range(x.size):
                buffer.kept[c, slot, j] = x[j]
            buffer.held[c] += 1.0
            observe(buffer.seen, rest, 0.0, False, 0.0, c)
        i += 1
    at[0] = i
    return n
