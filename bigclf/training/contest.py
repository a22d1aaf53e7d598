"""Several learners in one reading of the data: a row is parsed once, and encoded once for all that want it alike."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bigclf import probability
from bigclf.core import TILE, Array, Spec, State
from bigclf.errors import BigclfError, BudgetError, UnsupportedError
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, make_schema
from bigclf.reading.raw import Raw, Skips
from bigclf.reading.stream import Stream
from bigclf.training.feed import Feed, Piece
from bigclf.training.fit import Fit
from bigclf.training.folds import Folds
from bigclf.training.metrics import LogLoss
from bigclf.weighting import parse


class Entrant(NamedTuple):
    """An algorithm with its options, and how it wants its rows encoded."""

    options: str  # as the user wrote them
    spec: Spec
    params: dict[str, Any]
    wishes: Wishes
    weights: tuple[str, ...] = ()  # of classes, as the user wrote them

    @property
    def title(self) -> str:
        """Name and options."""
        return f"{self.spec.name} {self.options}".rstrip()


class Entry:
    """An entrant at work: one learner, or for cross-validation one for each fold of each run, run by run.

    A learner that merges is shown its own fold alone, and the learners of the other folds are merged at the end; any
    other is shown all rows but those of its fold.
    """

    def __init__(self, entrant: Entrant, fits: list[Fit]) -> None:
        self.entrant = entrant
        self.fits = fits
        self.learner = fits[0].learner
        self.fault: BigclfError | None = None  # at which it was left out
        self.seconds = 0.0  # of processor time, to score, to learn and to finish
        self.first_seconds, self.first_rows = 0.0, 0  # of the first call

    def learn(self, piece: Piece, folds: Array | None) -> None:
        """Learn from a piece; `folds` (runs, n) are the folds of its rows."""
        for seat, fit in enumerate(self.fits):
            keep = None
            if folds is not None:
                k = len(self.fits) // len(folds)
                mine = folds[seat // k] == seat % k
                keep = mine if self.learner.merge is not None else ~mine
            began, before = time.thread_time(), fit.rows
            fit.learn(piece, keep)
            self.seconds += time.thread_time() - began
            if not self.first_rows:  # in this call a kernel was compiled or loaded
                self.first_seconds, self.first_rows = self.seconds, fit.rows - before

    def per_row(self) -> float:
        """Seconds of processor time to score and learn a row; without the first call, if there were more."""
        rows = sum(fit.rows for fit in self.fits) - self.first_rows
        if rows > 0:
            return (self.seconds - self.first_seconds) / rows
        return self.seconds / max(self.first_rows, 1)

    def states(self, folds: int) -> list[State]:
        """The finished state of each fit; with `folds` a run, of all rows but those of its fold."""
        began = time.thread_time()
        merge, finish = self.learner.merge, self.learner.finish
        states = [fit.state for fit in self.fits]
        if folds and merge is not None:
            groups = [states[a : a + folds] for a in range(0, len(states), folds)]
            states = [reduce(merge, g[:f] + g[f + 1 :]) for g in groups for f in range(folds)]
            for fit in self.fits:
                fit.state = None  # what was of one fold is not needed again
        if finish is not None:
            states = [finish(s) for s in states]
            if not folds:
                self.fits[0].state = states[0]
        self.seconds += time.thread_time() - began
        return states


class Lane:
    """The entries that share encoded rows."""

    def __init__(self, encoder: Encoder, folds: Folds | None) -> None:
        self.encoder = encoder
        self.folds = folds
        self.entries: list[Entry] = []
        self.feed = Feed(encoder, tiled=False)
        self.rows = 0

    def nbytes(self) -> int:
        """Bytes of its feature map, and of a tile as it is joined."""
        map, item = self.encoder.schema.map, np.dtype(self.encoder.schema.dtype).itemsize
        return self.encoder.map_bytes() + 2 * TILE * map.size(self.encoder.cols) * int(item)

    def learn(self, pieces: Iterator[Piece]) -> None:
        """Every entry learns from every piece; one that cannot is left out from then on."""
        for piece in pieces:
            folds = None if self.folds is None else self.folds.deal(piece.block.y)
            for entry in self.entries:
                if entry.fault is None:
                    try:
                        entry.learn(piece, folds)
                    except (BudgetError, UnsupportedError) as e:
                        entry.fault = e
            if all(entry.fault for entry in self.entries):
                raise self.entries[0].fault or AssertionError
            self.rows += len(piece.block.y)


class Contest:
    """All entrants, in their order, learning from raw rows as they come."""

    number = passes = 1  # as of a run, for progress

    def __init__(
        self,
        entrants: Sequence[Entrant],
        stream: Stream,
        head: list[Raw],
        cap: int | None = None,
        folds: tuple[int, int, int] | None = None,
    ) -> None:
        """`head`: the first rows, which fix the encoding. folds: runs, folds a run, seed. Raises BudgetError."""
        self.stream = stream
        self.folds = folds
        lanes: dict[Wishes, Lane] = {}
        label = stream.kinds.label if stream.kinds is not None else None
        for wishes in dict.fromkeys(e.wishes for e in entrants):
            noticed: Counter[str] = Counter()
            schema = make_schema(head, label, wishes, noticed)
            stream.notices |= noticed  # what several lanes notice is told once
            skips = Skips(stream.skips.stop) if lanes else stream.skips  # and a row that they leave out counts once
            lanes[wishes] = Lane(Encoder(schema, skips, alone=False), Folds(*folds) if folds else None)
        self.lanes = list(lanes.values())
        self.entries: list[Entry] = []
        need, solving = sum(lane.nbytes() for lane in self.lanes), 0
        seats = folds[0] * folds[1] if folds else 1
        for entrant in entrants:
            lane = lanes[entrant.wishes]
            fits: list[Fit] = []
            for _ in range(seats):
                weight = parse(entrant.weights, lane.encoder.classes)
                cure = "fewer --folds or --runs" if folds else ""
                params = fits[0].params if fits else entrant.params  # settled once
                fit = Fit(entrant.spec, params, lane.encoder, None, cap, need, weight, cure, seats, solving)
                need += fit.nbytes() * (
                    2 if folds and fit.learner.merge is not None else 1
                )  # merged beside their parts
                solving = max(solving, fit.solving())  # one after another
                fit.loss = LogLoss() if probability.known(fit.learner) else None
                fits.append(fit)
            lane.entries.append(Entry(entrant, fits))
            self.entries.append(lane.entries[-1])
        for lane in self.lanes:
            lane.feed = Feed(lane.encoder, any(e.learner.tiles for e in lane.entries))

    @property
    def fit(self) -> Fit:
        """The first learner, whose measures are shown as the contest goes on."""
        return self.entries[0].fits[0]

    @property
    def learned(self) -> int:
        """Rows learned from so far."""
        return self.lanes[0].rows

    def learn(self, raw: Raw) -> None:
        """The next rows of the stream."""
        for lane in self.lanes:
            lane.learn(lane.feed.take(raw))

    def end(self) -> None:
        """The end of the stream."""
        for lane in self.lanes:
            lane.learn(lane.feed.rest())
