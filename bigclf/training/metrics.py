"""Measures that are sums: a confusion matrix, and a histogram of scores for the area under the curve."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

AUC_CELLS = 1 << 21  # counters of all score histograms together


def add_pairs(matrix: NDArray[np.int64], truth: NDArray[Any], guess: NDArray[Any]) -> NDArray[np.int64]:
    """The confusion matrix with these pairs added, larger when a code is beyond it."""
    if not truth.size:
        return matrix
    k = max(len(matrix), int(truth.max()) + 1, int(guess.max()) + 1)
    if k > len(matrix):
        larger = np.zeros((k, k), np.int64)
        larger[: len(matrix), : len(matrix)] = matrix
        matrix = larger
    if k == 2:  # the usual case, in a fraction of the time
        n, t, g, both = truth.size, *map(np.count_nonzero, (truth, guess, truth & guess))
        matrix += np.array([[n - t - g + both, g - both], [t - both, both]])
    else:
        matrix += np.bincount(truth.astype(np.int64) * k + guess, minlength=k * k).reshape(k, k)
    return matrix


def by_class(y: NDArray[np.int32], classes: int) -> NDArray[np.int64]:
    """Rows of each class."""
    if classes != 2:
        return np.bincount(y, minlength=classes)
    positive = np.count_nonzero(y)
    return np.array([len(y) - positive, positive])


class ClassMeasures(NamedTuple):
    """Measures of one class; None where they are undefined."""

    support: int
    precision: float | None
    recall: float | None
    f1: float | None


class Measures(NamedTuple):
    """Measures of a confusion matrix; None where undefined. G-mean is over the classes that occur, at least two."""

    rows: int
    accuracy: float | None
    error: float | None
    balanced_accuracy: float | None
    g_mean: float | None
    kappa: float | None
    mcc: float | None
    macro_precision: float | None
    macro_recall: float | None
    macro_f1: float | None
    classes: list[ClassMeasures]


def _ratio(a: float, b: float) -> float | None:
    return float(a / b) if b else None


def _correlation(a: float, b: float) -> float | None:
    """Their ratio, which is of -1 to 1 by what it means: rounding alone would bring it beyond."""
    return max(-1.0, min(float(a / b), 1.0)) if b else None


def _mean(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def measures(matrix: NDArray[np.int64]) -> Measures:
    """All measures of a matrix (truth, guess). Macro means are over the classes that occur as truth or guess.

    A class that is never guessed has no precision (and counts as 0 in the macro mean); kappa is Cohen's, MCC is
    Gorodkin's R_K, which for two classes is Matthews' coefficient.

    >>> m = measures(np.array([[8, 2], [1, 9]]))
    >>> round(m.g_mean, 6), round(m.kappa, 6), round(m.mcc, 6), m.classes[1].recall
    (0.848528, 0.7, 0.703526, 0.9)
    """
    M = matrix.astype(np.float64)
    n, hits = float(M.sum()), float(np.trace(M))
    truth, guess = M.sum(axis=1), M.sum(axis=0)
    each = []
    for k in range(len(M)):
        precision, recall = _ratio(M[k, k], guess[k]), _ratio(M[k, k], truth[k])
        each.append(ClassMeasures(int(truth[k]), precision, recall, _ratio(2 * M[k, k], truth[k] + guess[k])))
    recalls = [c.recall for c in each if c.recall is not None]
    occur = [c for c, t, g in zip(each, truth, guess, strict=True) if t or g]
    chance = float(truth @ guess)
    # one root of the product: where guess is truth, it is the numerator itself
    mcc_below = math.sqrt(max(n * n - float(guess @ guess), 0.0) * max(n * n - float(truth @ truth), 0.0))
    return Measures(
        int(n),
        _ratio(hits, n),
        _ratio(n - hits, n),
        sum(recalls) / len(recalls) if recalls else None,
        _geometric(recalls),
        _correlation(n * hits - chance, n * n - chance),
        _correlation(n * hits - chance, mcc_below),
        _mean([c.precision or 0.0 for c in occur]),
        _mean([c.recall or 0.0 for c in occur]),
        _mean([c.f1 or 0.0 for c in occur]),
        each,
    )


def _geometric(recalls: list[float]) -> float | None:
    """Their geometric mean; None of fewer than two, which as in kappa leave nothing to tell apart."""
    if len(recalls) < 2:
        return None
    return math.exp(sum(math.log(r) for r in recalls) / len(recalls)) if min(recalls) > 0 else 0.0


class Curve:
    """Area under the ROC curve from a histogram of scores; for K classes the mean over one-against-all.

    A bin holds the scores that share their leading bits as floating-point numbers, so no range need be known; pairs
    that fall into one bin count one half. `area` also gives the most by which that can be wrong.
    """

    def __init__(self, units: int) -> None:
        self.bits = max(8, min(20, int(math.log2(AUC_CELLS / (2 * units)))))
        self.counts = np.zeros((units, 2, 1 << self.bits), np.int64)

    def add(self, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> None:
        """Scores (units, n) of rows; positive (units, n)."""
        raw = (scores + 0.0).astype(np.float32).view(np.int32).astype(np.int64)  # + 0.0: -0 is 0
        order = np.where(raw < 0, ~(raw & 0x7FFFFFFF) & 0x7FFFFFFF, raw | 0x80000000)  # as the numbers themselves
        bins = order >> (32 - self.bits)
        size = 1 << self.bits
        for u, counts in enumerate(self.counts):  # in place: a histogram of some rows is as large as that of all
            np.add.at(counts.reshape(-1), bins[u] + size * positive[u], 1)

    def area(self) -> tuple[float | None, float | None]:
        """(area, largest error); None where a class does not occur."""
        areas, errors = [], []
        for negative, positive in self.counts.astype(np.float64):
            pairs = float(negative.sum() * positive.sum())
            if not pairs:
                continue
            below = np.cumsum(negative) - negative
            tied = float(positive @ negative)
            areas.append((float(positive @ below) + tied / 2) / pairs)
            errors.append(tied / 2 / pairs)
        if not areas:
            return None, None
        return sum(areas) / len(areas), sum(errors) / len(errors)


class LogLoss:
    """Mean of losses of rows, summed in units of 2^-32: the same however the rows come."""

    def __init__(self) -> None:
        self.sum, self.rows = 0, 0

    def add(self, losses: NDArray[np.float64]) -> None:
        """Losses (n,) of rows."""
        self.sum += int(np.rint(losses * 2.0**32).astype(np.int64).sum())
        self.rows += len(losses)

    def mean(self) -> float | None:
        """None before the first row."""
        return self.sum / self.rows / 2**32 if self.rows else None
