"""How much a row counts by its class: as given, or by how rare the class has been so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import UsageError
from bigclf.reading.labels import canonical

ONLINE = "online"
ClassWeight = str | dict[str, float] | None  # ONLINE, weights by class (1 for the others), or none


def check(weight: Any) -> None:
    """ValueError for what no training run could have kept."""
    if weight is None or weight == ONLINE:
        return
    if not isinstance(weight, dict) or not weight:
        raise ValueError("class weights are impossible")
    for w in weight.values():
        if type(w) not in (int, float) or not 0.0 < w < math.inf:
            raise ValueError("class weights are impossible")


def parse(texts: Sequence[str], classes: Sequence[str]) -> ClassWeight:
    """Weights of classes from `online` or from LABEL=W, repeated; UsageError for what is neither."""
    if not texts:
        return None
    if list(texts) == [ONLINE]:
        return ONLINE
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        name = canonical(name)
        try:
            found[name] = float(value)
            check(found)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(f"--class-weight: '{text}' should be LABEL=W with a W above 0, or {ONLINE} alone")
        if list(found).count(name) < sum(canonical(t.rpartition("=")[0]) == name for t in texts):
            raise UsageError(f"--class-weight: class '{name}' is given twice")
        if name not in classes:
            known = ", ".join(classes[:10])
            raise UsageError(f"--class-weight: class '{name}' is not among {known}; declare it with --classes")
    return found


def row_weights(
    weight: ClassWeight, classes: list[str], counts: NDArray[np.int64], y: NDArray[np.int32]
) -> NDArray[np.float64]:
    """(n,) weights of rows of classes y (-1: not shown), before which `counts` rows of each class were shown.

    online: t / (k n), with t rows of k classes so far and n of this one, the row itself counted: what balances the
    classes when all rows are known (King & Zeng, Political Analysis 9, 2001), as far as they are known.

    >>> row_weights("online", ["a", "b"], np.array([6, 1]), np.array([1, 0], np.int32)).tolist()
    [2.0, 0.6428571428571429]
    """
    if isinstance(weight, dict):
        by_class = np.array([weight.get(name, 1.0) for name in classes] + [1.0])
        given: NDArray[np.float64] = by_class[y]
        return given
    own = places(y, counts) + 1.0
    shown = y >= 0
    total = counts.sum() + np.cumsum(shown)
    known = (counts > 0).sum() + np.cumsum(shown & (own == 1.0))
    return np.where(shown, total / (np.maximum(known, 1) * own), 1.0)


def places(y: NDArray[np.int32], before: Mapping[int, int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) how many rows of its class come before each row; `before`: those before the first, by class."""
    place = np.zeros(y.size, np.int64)
    for c in np.unique(y[y >= 0]).tolist():
        mine = np.flatnonzero(y == c)
        place[mine] = int(before[c]) + np.arange(mine.size)
    return place
