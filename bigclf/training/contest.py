"""Several learners in one reading of the data: a row is parsed once, and encoded once for all that want it alike."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from bigclf.core import Array, Spec, State
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, make_schema
from bigclf.reading.raw import Raw, Skips
from bigclf.reading.stream import Stream
from bigclf.training.feed import Feed, Piece
from bigclf.training.fit import Fit
from bigclf.training.folds import Folds


class Entrant(NamedTuple):
    """An algorithm with its options, and how it wants its rows encoded."""

    options: str  # as the user wrote them
    spec: Spec
    params: dict[str, Any]
    wishes: Wishes


class Pace:
    """Processor time a row. The first call, in which a kernel is compiled or loaded, counts only if it is the only."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._seconds, self._rows = 0.0, 0

    def add(self, seconds: float, rows: int) -> None:
        """Of one call."""
        if self._first is None:
            self._first = seconds, rows
            return
        self._seconds += seconds
        self._rows += rows

    def per_row(self) -> float:
        """Seconds."""
        seconds, rows = (self._seconds, self._rows) if self._rows else self._first or (0.0, 0)
        return seconds / max(rows, 1)


class Entry:
    """An entrant at work: one learner, or for cross-validation one for each fold of each run, run by run.

    A learner that merges is shown its own fold alone, and the learners of the other folds are merged at the end; any
    other is shown all rows but those of its fold.
    """

    def __init__(self, entrant: Entrant, fits: list[Fit]) -> None:
        self.entrant = entrant
        self.fits = fits
        self.learner = fits[0].learner
        self.pace = Pace()  # to score and to learn
        self.closing = 0.0  # seconds of processor time, for all states at the end

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
            self.pace.add(time.thread_time() - began, fit.rows - before)

    def states(self, folds: int) -> list[State]:
        """The finished state of each fit; with `folds` a run, of all rows but those of its fold."""
        began = time.thread_time()
        merge, finish = self.learner.merge, self.learner.finish
        states = [fit.state for fit in self.fits]
        if folds and merge is not None:
            groups = [states[a : a + folds] for a in range(0, len(states), folds)]
            states = [reduce(merge, g[:f] + g[f + 1 :]) for g in groups for f in range(folds)]
        if finish is not None:
            states = [finish(s) for s in states]
        self.closing += time.thread_time() - began
        return states

    def seconds(self, rows: float) -> float:
        """Of processor time that one learner takes for so many rows."""
        return self.pace.per_row() * rows + self.closing / len(self.fits)


class Lane:
    """The entries that share encoded rows."""

    def __init__(self, encoder: Encoder, folds: Folds | None) -> None:
        self.encoder = encoder
        self.feed = Feed(encoder, tiled=True)
        self.folds = folds
        self.entries: list[Entry] = []

    def learn(self, pieces: Iterator[Piece]) -> None:
        """Every entry learns from every piece."""
        for piece in pieces:
            folds = None if self.folds is None else self.folds.deal(piece.block.y)
            for entry in self.entries:
                entry.learn(piece, folds)


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
        self.entries: list[Entry] = []
        label = stream.kinds.label if stream.kinds is not None else None
        seats = folds[0] * folds[1] if folds else 1
        need = 0
        for entrant in entrants:
            wishes = entrant.wishes
            if wishes not in lanes:
                schema = make_schema(head, label, wishes, Counter() if lanes else stream.notices)
                encoder = Encoder(schema, Skips(stream.skips.stop) if lanes else stream.skips)
                lanes[wishes] = Lane(encoder, Folds(*folds) if folds else None)
            lane = lanes[wishes]
            tables = sum(other.encoder.map_bytes() for other in lanes.values() if other is not lane)
            fits = []
            for _ in range(seats):
                fit = Fit(entrant.spec, entrant.params, lane.encoder, cap=cap, beside=need + tables)
                need += fit.nbytes()
                fits.append(fit)
            lane.entries.append(Entry(entrant, fits))
            self.entries.append(lane.entries[-1])
        self.lanes = list(lanes.values())

    @property
    def fit(self) -> Fit:
        """The first learner, whose measures are shown as the contest goes on."""
        return self.entries[0].fits[0]

    def learn(self, raw: Raw) -> None:
        """The next rows of the stream."""
        for lane in self.lanes:
            lane.learn(lane.feed.take(raw))

    def end(self) -> None:
        """The end of the stream."""
        for lane in self.lanes:
            lane.learn(lane.feed.rest())
