"""Units are binary problems side by side: one for two classes, one a class (one against all) for more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bigclf.core import Array, Plan, Scores
from bigclf.reading.labels import sort_key

_NONE = (np.empty((0, 0)), np.empty((0, 0), np.int32), np.empty((0, 0)), np.empty((0, 0)))


def code_matrix(classes: list[str], positive: str | None = None) -> NDArray[np.int8]:
    """(units, classes) matrix of -1 and +1: what each unit is to answer for each class.

    With two classes the larger number, or else the later word, is the positive one, unless `positive` says otherwise.
    While only one class is known its unit is positive for it.

    >>> code_matrix(["2", "10"]).tolist(), code_matrix(["b", "a"]).tolist(), code_matrix(["b", "a"], "a").tolist()
    ([[-1, 1]], [[1, -1]], [[-1, 1]])
    """
    if len(classes) > 2:
        return (2 * np.eye(len(classes), dtype=np.int8) - 1).astype(np.int8)
    top = positive if positive in classes else max(classes, key=sort_key)
    return np.array([[1 if c == top else -1 for c in classes]], np.int8)


def new_plan(code: Array, y: Array, weight: Array | None = None) -> Plan:
    """Every row once to every unit, with weight (n,) or one; rows without a label to none."""
    if code.shape == (1, 2):  # the usual case, in a fraction of the time
        target = y[None].astype(np.int8)
        target *= code[0, 1] - code[0, 0]
        target += code[0, 0]
    else:
        target = code.take(y, axis=1)
    if y.min(initial=0) < 0:
        target = np.where(y < 0, np.int8(0), target)
    target = np.ascontiguousarray(target, np.int8)
    none, repeat, post, margin = _NONE
    weights = none if weight is None else np.ascontiguousarray(np.broadcast_to(weight, target.shape), np.float64)
    return Plan(target, weights, repeat, np.full(target.shape, np.nan), post, margin)


def decode(code: Array, scores: Scores) -> NDArray[np.int32]:
    """(n,) class codes of scores (units, n); a score of exactly 0 is positive, ties go to the lowest code."""
    if code.shape[0] > 1:
        best: NDArray[np.int32] = scores.argmax(axis=0).astype(np.int32)
        return best
    if code.shape[1] == 1:
        return np.zeros(scores.shape[1], np.int32)
    guess: NDArray[np.int32] = ((scores[0] >= 0.0) == (code[0, 1] > 0)).astype(np.int32)
    return guess
