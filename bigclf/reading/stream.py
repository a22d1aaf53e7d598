"""The stream of raw rows that a command reads: the reader of the right format, with its notices and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bigclf import start
from bigclf.reading.raw import Cursor, Form, Raw, Skips, cut
from bigclf.reading.span import first_row

if TYPE_CHECKING:
    from bigclf.reading.options import ReadOptions
    from bigclf.reading.source import Source
    from bigclf.reading.span import Share
    from bigclf.reading.table import Kinds


class Stream:
    """One pass over the inputs. `kinds` says what a table's columns hold, once the first rows were given out.

    limit: so many rows are read only, skipped ones included; of a share, of its own rows. 0: all.
    begin: where the read begins; what was skipped before counts as skipped.
    share: its number, from 1, and how many there are; its rows have numbers from `first_row` on. Tables then need
        `kinds`, and no row belongs to the head.
    from_row: rows of lower number are not given out.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        options: ReadOptions,
        kinds: Kinds | None = None,
        limit: int = 0,
        begin: Cursor | None = None,
        share: Share | None = None,
        from_row: int = 0,
    ) -> None:
        self.sources = sources
        self.options = options
        self.limit = limit
        self.begin, self.share, self.from_row = begin, share, from_row
        self.skips = Skips(options.on_error == "stop")
        if begin is not None:
            self.skips.rows = self.skips.read = begin.skipped
        self.notices: Counter[str] = Counter()
        self.form: Form | None = None  # what sparse rows are to look like from now on
        self._kinds = kinds
        self._reader: Any = None

    def again(self) -> Stream:
        """The same stream from its start, for another pass."""
        stream = Stream(self.sources, self.options, self.kinds, self.limit, share=self.share)
        stream.form = self.form
        return stream

    @property
    def kinds(self) -> Kinds | None:
        """Kinds of a table's columns; None for LIBSVM."""
        return getattr(self._reader, "kinds", None) or self._kinds

    def progress(self) -> tuple[int, int | None]:
        """Stored bytes read so far in this pass, and all that it will read; None where that is not known."""
        meters = [source.meter for source in self.sources]
        known = [meter.total for meter in meters if meter.total is not None]
        return sum(meter.done for meter in meters), sum(known) if len(known) == len(meters) else None

    def __iter__(self) -> Iterator[Raw]:
        from bigclf.jit import warm_up

        warm_up()
        for raw in self._open():
            start.over()
            n = len(raw.row)
            first = int(np.searchsorted(raw.row, self.from_row))
            if first < n:
                yield cut(raw, first, n) if first else raw
            del raw

    def _open(self) -> Iterator[Raw]:
        until = first_row(None, self.share) + self.limit if self.limit else None
        form = self.sources[0].format
        if form == "libsvm":
            from bigclf.reading import libsvm

            return libsvm.read(
                self.sources,
                self.options,
                self.skips,
                self.notices,
                begin=self.begin,
                share=self.share,
                until=until,
                form=lambda: self.form,
            )
        if form == "parquet":
            from bigclf.reading.parquet import ParquetReader as Reader
        else:
            from bigclf.reading.csv_text import CsvReader as Reader  # type: ignore[assignment]
        self._reader = Reader(
            self.sources,
            self.options,
            self.skips,
            self._kinds,
            self.notices,
            begin=self.begin,
            share=self.share,
            until=until,
        )
        return iter(self._reader)
