"""What finished learners answer for rows whose class is known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bigclf.block import pick
from bigclf.core import Block
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Raw, Skips
from bigclf.training.contest import Contest, Entry
from bigclf.training.folds import Folds
from bigclf.training.metrics import add_pairs
from bigclf.units import decode


class Judge:
    """The learners of a contest before new rows; after cross-validation each before the rows of its own fold.

    `matrices[e][s]` counts (truth, answer) of learner s of entry e.
    """

    def __init__(self, contest: Contest, skips: Skips) -> None:
        self.contest = contest
        k = contest.folds[1] if contest.folds else 0
        self.states = [entry.states(k) for entry in contest.entries]
        known = len(contest.fit.classes)
        self.matrices = [[np.zeros((known, known), np.int64) for _ in states] for states in self.states]
        self.encoders: list[Encoder] = []
        for lane in contest.lanes:
            mine = Skips(skips.stop) if self.encoders else skips  # a row that several leave out counts once
            encoder = Encoder(lane.encoder.grown(), mine, frozen=True, capacity=lane.encoder.cols)
            encoder.mapper = lane.encoder.mapper  # its tables may be large, and are the same
            self.encoders.append(encoder)
        self.folds = [Folds(*contest.folds) if contest.folds else None for _ in contest.lanes]

    def rows(self, stream: Iterable[Raw]) -> int:
        """Answer all rows of a stream; how many they are."""
        n = 0
        for raw in stream:
            for lane, encoder, folds in zip(self.contest.lanes, self.encoders, self.folds, strict=True):
                for block in encoder.blocks(raw):
                    dealt = None if folds is None else folds.deal(block.y)
                    for entry in lane.entries:
                        self._answer(entry, block, dealt)
                    n += len(block.y) if lane is self.contest.lanes[0] else 0
        return n

    def _answer(self, entry: Entry, block: Block, dealt: NDArray[np.int64] | None) -> None:
        number = self.contest.entries.index(entry)
        matrices, states = self.matrices[number], self.states[number]
        for seat, state in enumerate(states):
            X, y = block.X, block.y
            if dealt is not None:
                k = len(states) // len(dealt)
                at = np.flatnonzero(dealt[seat // k] == seat % k)
                X, y = pick(X, at), y[at]
            guess = decode(entry.fits[seat].code, entry.learner.decision(state, X))
            matrices[seat] = add_pairs(matrices[seat], y, guess)
