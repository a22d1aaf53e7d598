"""Folds of cross-validation, dealt to the rows of a stream as they come."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from bigclf import draws
from bigclf.weighting import places


class Folds:
    """Deals rows to folds, anew in each run: of every `folds` successive rows of a class each fold gets one.

    Which one is a draw keyed by the seed, the run, the class and their place in it: the folds are stratified, as large
    as each other to within one row of each class, and the same for any block size.
    """

    def __init__(self, runs: int, folds: int, seed: int) -> None:
        self.runs = runs
        self.folds = folds
        self.seed = seed
        self._dealt: Counter[int] = Counter()  # rows by class

    def deal(self, y: NDArray[np.int32]) -> NDArray[np.int64]:
        """(runs, n) folds of the next rows of the stream, whose class codes are y (n,).

        >>> Folds(1, 2, seed=1).deal(np.array([0, 1, 0, 1], np.int32)).sum(axis=1).tolist()
        [2]
        """
        place = places(y, self._dealt)
        self._dealt.update(y.tolist())
        group = (place // self.folds).astype(np.uint64)
        own = (place % self.folds)[:, None]
        kind = y.astype(np.uint64)
        fold = np.empty((self.runs, y.size), np.int64)
        for run in range(self.runs):
            cards = draws.bits(self.folds, self.seed, run, kind, group)
            fold[run] = (cards < np.take_along_axis(cards, own, axis=1)).sum(axis=1)
        return fold
