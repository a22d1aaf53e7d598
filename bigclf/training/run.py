"""A run of training: its passes over the inputs, and where it stands, so that another process can go on from there."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bigclf.model import Model
from bigclf.reading.ahead import ahead
from bigclf.reading.raw import Cursor, Raw
from bigclf.reading.shuffle import Shuffled
from bigclf.reading.stream import Stream
from bigclf.training.cache import Cache, Damaged, Kept
from bigclf.training.feed import Feed, Mark, Piece
from bigclf.training.fit import Fit
from bigclf.training.records import Record, encoded

START = Cursor(0, 0, 1, 0, 0)


class Run:
    """Passes over a stream. Between two blocks `snapshot` tells all that is needed to go on.

    base: number of the first row of this pass (row numbers run on over passes, and over --continue).
    """

    def __init__(
        self, fit: Fit, stream: Stream | Shuffled, passes: int, base: int = 0, cache: Cache | None = None
    ) -> None:
        self.fit = fit
        self.cache = cache
        self.broken = False  # the pass does not begin with its first row
        self.stream = stream
        stream.form = fit.encoder.form
        self.passes = passes
        self.base = base
        self.number = 1  # of the pass
        self.rows = 0  # of this pass, skipped ones included
        self.first: dict[str, Any] = {}  # what the first pass showed, once it is over
        self.notices = stream.notices  # of the first pass
        self._cursors: deque[Cursor] = deque()

    def go(self, rows: Iterator[Raw], after: Callable[[], None], waiting: Callable[[], None]) -> None:
        """Learn from these rows, the rest of the pass, and from all passes that follow.

        `after` is called between blocks, `waiting` while none is there; what they raise ends the run where it stands.
        """
        while True:
            feed = Feed(self.fit.encoder, self.fit.learner.tiles, self.base)
            self._pass(self._records(rows, feed, waiting), feed, after)
            if self.number == 1:
                self.first = self._measured()
            if self.number >= self.passes:
                return
            self.number += 1
            self.broken = False
            self.base += self.rows
            self.rows = 0
            self._cursors.clear()
            self.fit.next_row = self.base
            self.fit.matrix[:] = 0
            self.stream = self.stream.again()
            self.fit.encoder.dropped.begin(self.stream.skips)
            rows = iter(self.stream)

    @property
    def learned(self) -> int:
        """Rows learned from so far, in all passes."""
        return self.fit.rows

    def _records(self, rows: Iterator[Raw], feed: Feed, waiting: Callable[[], None]) -> Iterator[Record]:
        """The rest of the pass, encoded: kept rows where there are some, else these."""
        encoder, stream = self.fit.encoder, self.stream
        kept = self.cache.open() if self.cache and not self.broken else None
        if kept is not None and isinstance(stream, Stream):
            return self._kept(kept, stream, feed, waiting)
        records = encoded(ahead(rows, waiting), encoder, feed)
        if self.cache and self.number == 1 and not self.broken and isinstance(stream, Stream):
            return self.cache.keep(records, encoder, stream, self.base)
        return records

    def _kept(self, kept: Kept, stream: Stream, feed: Feed, waiting: Callable[[], None]) -> Iterator[Record]:
        """Kept records; where one is damaged the rest of the pass is read from the data."""
        encoder, rest, gone = self.fit.encoder, stream.again(), 0
        records = ahead(kept.records(stream, self.base), waiting)
        try:
            for record in kept.followed(records, encoder, stream, first=self.number == 1):
                rest.from_row = record.rows
                if record.piece is not None:
                    rest.from_row = int(record.piece.block.row[-1]) + 1 - self.base
                    gone = record.piece.mark.gone if record.piece.mark else gone
                yield record
        except Damaged as e:
            assert self.cache is not None
            self.cache.note(f"--cache: {e}; the data are read again")
            rest.skips.rows = gone
            self.stream = rest
            encoder.dropped.begin(rest.skips, gone)
            yield from encoded(ahead(iter(rest), waiting), encoder, feed)
            self.notices |= rest.notices

    def _pass(self, records: Iterator[Record], feed: Feed, after: Callable[[], None]) -> None:
        for record in records:
            if record.at is not None:
                self.rows = record.rows
                self._cursors.append(record.at)
                self._forget()
            if record.piece is not None:
                self._learn(feed.cut(record.piece), after)
        self._learn(feed.rest(), after)

    def _learn(self, pieces: Iterator[Piece], after: Callable[[], None]) -> None:
        for piece in pieces:
            self.fit.learn(piece)
            if piece.mark is not None:  # all rows that were encoded are learned: what was counted fits the state
                after()

    def _forget(self) -> None:
        """Drop the cursors of blocks that were learned from whole; the first that stays is where to go on."""
        row = self.fit.next_row - self.base
        while len(self._cursors) > 1 and self._cursors[1].row <= row:
            self._cursors.popleft()

    def _measured(self) -> dict[str, Any]:
        fit, encoder = self.fit, self.fit.encoder
        return {
            "rows": fit.rows,
            "skipped": self.stream.skips.rows,
            "matrix": fit.matrix.tolist(),
            "counts": {name: int(n) for name, n in zip(fit.classes, fit.counts, strict=True)},
            "missing": encoder.missing,
            "unseen": dict(encoder.unseen),
        }

    def measured(self) -> dict[str, Any]:
        """What the first pass showed, or what it has shown so far."""
        return self.first or self._measured()

    def snapshot(self) -> dict[str, Any]:
        """Where the run stands, as JSON: all rows before `row` were learned from, none after it."""
        self._forget()
        return {
            "pass": self.number,
            "passes": self.passes,
            "base": self.base,
            "row": self.fit.next_row - self.base,
            "cursor": list(self._cursors[0] if self._cursors else START),
            "rows": self.fit.rows,
            "matrix": self.fit.matrix.tolist(),
            "counts": self.fit.counts.tolist(),
            "promoted": self.fit.promoted,
            "missing": self.fit.mark.missing,
            "gone": self.fit.mark.gone,
            "unseen": self.fit.mark.unseen,
            "first": self.first,
        }

    def restore(self, found: dict[str, Any]) -> None:
        """Stand where a snapshot was taken; the stream must begin at its cursor."""
        self.broken = True
        self.number, self.base, self.first = int(found["pass"]), int(found["base"]), dict(found["first"])
        fit = self.fit
        fit.rows, fit.promoted = int(found["rows"]), bool(found["promoted"])
        fit.matrix, fit.counts = np.array(found["matrix"], np.int64), np.array(found["counts"], np.int64)
        fit.next_row = self.base + int(found["row"])
        fit.encoder.missing = int(found["missing"])
        fit.mark = Mark(int(found["missing"]), int(found["gone"]), dict(found["unseen"]))
        self.stream.skips.rows += int(found["gone"])
        fit.encoder.unseen.update({str(k): int(n) for k, n in found["unseen"].items()})
        self._cursors.append(Cursor(*found["cursor"]))
        self.rows = int(found["row"])
        self.fit.earlier = {str(k): int(n) for k, n in found["before"].items()}

    def model(self, reading: dict[str, Any]) -> Model:
        """The model as it is now, finished: what predicts."""
        return self._counted(self.fit.model(reading, self.fit.next_row, self.number))

    def checkpoint(self, reading: dict[str, Any], more: dict[str, Any]) -> Model:
        """The model as it is now, not finished, with the snapshot: what training can go on from to the same bytes."""
        model = self._counted(self.fit.unfinished(reading, self.fit.next_row, self.number))
        return replace(model, run=self.snapshot() | {"before": dict(self.fit.earlier)} | more)

    def _counted(self, model: Model) -> Model:
        """With the rows by class of one pass, and of the model that was gone on from."""
        counts = Counter(self.fit.earlier)
        counts.update(self.measured()["counts"])
        return replace(model, counts={name: counts[name] for name in model.schema.classes}, rows=sum(counts.values()))
