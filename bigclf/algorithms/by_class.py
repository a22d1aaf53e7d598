"""Learners that score each class by itself: how they learn which unit stands for what, and how units are scored."""

from __future__ import annotations

from bigclf.core import Array, Plan, Scores


def note_classes(code: Array, plan: Plan, y: Array) -> Array:
    """Classes of the rows that are shown, -1 for the others; `code` (units, classes) learns what units want of them."""
    import numpy as np

    shown: Array = np.where(plan.target.any(axis=0), y, np.int32(-1))
    first = np.full(code.shape[1] + 1, -1)  # row of each class; the last is for rows that are not shown
    first[shown[::-1]] = np.arange(len(shown))[::-1]
    known = np.flatnonzero(first[:-1] >= 0)
    code[:, known] = plan.target[:, first[known]]
    return shown


def recoded(code: Array, old: Array, new: Array, seen: Array) -> Array:
    """The code after a change of units, for the classes seen (classes,) so far."""
    import numpy as np

    known = old.shape[1]
    out = np.zeros_like(code)
    out[:, :known] = new[:, :known] * (seen[:known] > 0)
    return out


def unit_scores(by_class: Array, code: Array, seen: Array) -> Scores:
    """(units, n) from scores (classes, n): of two classes the difference, of more each class's own.

    A class without rows is never the answer.
    """
    import numpy as np

    by_class[seen == 0] = -np.inf
    if len(code) > 1:
        return by_class
    positive, negative = int(np.argmax(code[0])), int(np.argmin(code[0]))
    if code[0, positive] <= 0 or code[0, negative] >= 0:  # one class: it is the answer to everything
        return np.full((1, by_class.shape[1]), 1.0 if code[0, positive] > 0 else -1.0)
    return by_class[positive : positive + 1] - by_class[negative : negative + 1]
