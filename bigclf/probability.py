"""Probabilities of the classes, for learners whose scores say them.

A unit's score is a log-odds (`Learner.logit`), or 2 p - 1 (`Learner.probable`). Of two classes there is one unit, and
the positive class has p = 1 / (1 + e^-score). Of more each unit has its own p against all others, and these are
divided by their sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bigclf.core import Array, Learner, Scores

LEAST = 1e-15  # probability of the true class that a log-loss is taken of; a row adds 34.5 at most


def known(learner: Learner) -> bool:
    """Whether the scores of a learner say probabilities."""
    return learner.logit or learner.probable


def logs(learner: Learner, code: Array, scores: Scores) -> NDArray[np.float64]:
    """(classes, n) logarithms of the probabilities, of scores (units, n) of units with this code (units, classes).

    >>> from bigclf.algorithms.registry import build
    >>> p = np.exp(logs(build("logistic"), np.array([[-1, 1]]), np.array([[0.0, np.log(3.0)]])))
    >>> p.round(6).tolist()
    [[0.5, 0.25], [0.5, 0.75]]
    """
    if code.shape[1] == 1:
        return np.zeros((1, scores.shape[1]))
    if learner.logit:
        yes, no = -np.logaddexp(0.0, -scores), -np.logaddexp(0.0, scores)
    else:
        with np.errstate(divide="ignore"):
            yes = np.log(np.clip((1.0 + scores) / 2.0, 0.0, 1.0))
            no = np.log(np.clip((1.0 - scores) / 2.0, 0.0, 1.0))
    if len(code) == 1:
        both: NDArray[np.float64] = np.where(code[0][:, None] > 0, yes, no)
        return both
    top = yes.max(axis=0)
    whole: NDArray[np.float64] = yes - top - np.log(np.exp(yes - top).sum(axis=0))
    return whole


def losses(learner: Learner, code: Array, scores: Scores, y: NDArray[np.int32]) -> NDArray[np.float64]:
    """(n,) minus the logarithm of the probability of the true class (n,), which may be one that the learner lacks."""
    found: NDArray[np.float64] = np.full(len(y), np.log(LEAST))
    mine = np.flatnonzero(y < code.shape[1])
    found[mine] = logs(learner, code, scores)[y[mine], mine]
    lost: NDArray[np.float64] = -np.maximum(found, np.log(LEAST))
    return lost
