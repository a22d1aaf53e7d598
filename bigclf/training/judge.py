"""What finished learners answer for rows whose class is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf import probability
from bigclf.block import pick
from bigclf.core import State
from bigclf.errors import BigclfError
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Raw, Skips
from bigclf.training.contest import Contest, Entry
from bigclf.training.folds import Folds
from bigclf.training.metrics import LogLoss, add_pairs
from bigclf.units import decode


class Judge:
    """The learners of a contest before new rows; after cross-validation each before the rows of its own fold.

    `matrices[e][s]` counts (truth, answer) of learner s of entry e, and `losses[e][s]` is its
    log-loss, where it has probabilities.
    """

    def __init__(self, contest: Contest, skips: Skips) -> None:
        self.contest = contest
        k = contest.folds[1] if contest.folds else 0
        self.states = [_finished(entry, k) for entry in contest.entries]
        known = len(contest.fit.classes)
        self.matrices = [[np.zeros((known, known), np.int64) for _ in entry.fits] for entry in contest.entries]
        self.losses = [[LogLoss() for _ in entry.fits] for entry in contest.entries]
        self.encoders: list[Encoder] = []
        for lane in contest.lanes:
            mine = Skips(skips.stop) if self.encoders else skips  # a row that several leave out counts once
            encoder = Encoder(lane.encoder.grown(), mine, frozen=True, capacity=lane.encoder.cols, alone=False)
            encoder.mapper = lane.encoder.mapper  # its tables may be large, and are the same
            self.encoders.append(encoder)
        self.folds = [Folds(*contest.folds) if contest.folds else None for _ in contest.lanes]

    def rows(self, stream: Iterable[Raw]) -> int:
        """Answer all rows of a stream; how many they are."""
        n = 0
        for raw in stream:
            for lane, encoder, folds in zip(self.contest.lanes, self.encoders, self.folds, strict=True):
                for block in encoder.blocks(raw):
                    parts = [(block.X, block.y)]
                    if folds is not None:
                        at = [np.flatnonzero(run == f) for run in folds.deal(block.y) for f in range(folds.folds)]
                        parts = [(pick(block.X, a), block.y[a]) for a in at]
                    for entry in lane.entries:
                        if entry.fault is None:
                            self._answer(entry, parts)
                    n += len(block.y) if lane is self.contest.lanes[0] else 0
        return n

    def _answer(self, entry: Entry, parts: list[tuple[Any, NDArray[np.int32]]]) -> None:
        """parts: the rows for each learner of the entry, with their classes."""
        number = self.contest.entries.index(entry)
        matrices, code = self.matrices[number], entry.fits[0].code
        for seat, (state, (X, y)) in enumerate(zip(self.states[number], parts, strict=True)):
            scores = entry.learner.decision(state, X)
            matrices[seat] = add_pairs(matrices[seat], y, decode(code, scores))
            if probability.known(entry.learner):
                self.losses[number][seat].add(probability.losses(entry.learner, code, scores, y))


def _finished(entry: Entry, folds: int) -> list[State]:
    """The states of an entry; none where it was left out, or is now."""
    if entry.fault is None:
        try:
            return entry.states(folds)
        except BigclfError as e:
            entry.fault = e
    return []
