"""Rows kept aside: which of them are to be points, and whether they are enough to choose by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bigclf.kernels.prototypes import Prototypes

TOO_FEW = 10  # rows aside of a class: fewer are too few to choose by
FEW = 50  # of at most so many all are points, and each half judges in turn


def spaced(base: Prototypes, most: int) -> NDArray[np.int64]:
    """At most so many of the rows aside: of every class its share, evenly over the stream; all of rare classes."""
    aside = np.flatnonzero(base.kind)
    aside = aside[np.argsort(base.kind[aside], kind="stable")]
    if len(aside) <= most:
        return np.sort(aside)
    kind = base.kind[aside].astype(np.int64)
    size = np.bincount(kind)[kind]
    rare = (size > 1) & (size <= FEW)
    if 2 * rare.sum() > most:
        rare[:] = False
    rest, n = aside[~rare], most - int(rare.sum())
    return np.sort(np.append(aside[rare], rest[np.arange(n) * len(rest) // n]))


def rarest(base: Prototypes) -> tuple[int, int] | None:
    """The class of fewest rows aside, and how many, where they are too few to choose by; else None."""
    known = np.flatnonzero(base.filled)
    counts = np.bincount(base.kind.astype(np.int64), minlength=len(base.filled) + 1)[1:][known]
    k = int(counts.argmin())
    return (int(known[k]), int(counts[k])) if len(known) > 1 and counts[k] < TOO_FEW else None
