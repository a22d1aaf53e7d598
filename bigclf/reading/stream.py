"""The stream of raw rows that a command reads: the reader of the right format, with its notices and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bigclf import start
from bigclf.reading.raw import Raw, Skips, Sparse, Words

if TYPE_CHECKING:
    from bigclf.reading.options import ReadOptions
    from bigclf.reading.source import Source
    from bigclf.reading.table import Kinds


class Stream:
    """One pass over the inputs. `kinds` says what a table's columns hold, once the first rows were given out."""

    def __init__(
        self, sources: Sequence[Source], options: ReadOptions, kinds: Kinds | None = None, limit: int = 0
    ) -> None:
        self.sources = sources
        self.options = options
        self.limit = limit
        self.skips = Skips(options.on_error == "stop")
        self.notices: Counter[str] = Counter()
        self._kinds = kinds
        self._reader: Any = None

    def again(self) -> Stream:
        """The same stream from its start, for another pass."""
        return Stream(self.sources, self.options, self.kinds, self.limit)

    @property
    def kinds(self) -> Kinds | None:
        """Kinds of a table's columns; None for LIBSVM."""
        return getattr(self._reader, "kinds", None) or self._kinds

    def __iter__(self) -> Iterator[Raw]:
        for raw in self._open():
            start.over()
            if not self.limit:
                yield raw
                continue
            n = int((raw.row < self.limit).sum())
            if n:
                yield cut(raw, 0, n)
            if n < len(raw.row):
                return

    def _open(self) -> Iterator[Raw]:
        form = self.sources[0].format
        if form == "libsvm":
            from bigclf.reading import libsvm

            return libsvm.read(self.sources, self.options, self.skips, self.notices)
        if form == "parquet":
            from bigclf.reading.parquet import ParquetReader as Reader
        else:
            from bigclf.reading.csv_text import CsvReader as Reader  # type: ignore[assignment]
        self._reader = Reader(self.sources, self.options, self.skips, self._kinds, self.notices)
        return iter(self._reader)


def cut(raw: Raw, first: int, end: int) -> Raw:
    """Rows first to end of a block."""

    def words(w: Words) -> Words:
        return Words(w.code[first:end], w.names)

    data: Any
    if isinstance(raw.data, Sparse):
        a, b = int(raw.data.indptr[first]), int(raw.data.indptr[end])
        data = Sparse(raw.data.indptr[first : end + 1] - a, raw.data.column[a:b], raw.data.value[a:b])
    else:
        data = {k: words(v) if isinstance(v, Words) else v[first:end] for k, v in raw.data.items()}
    label = words(raw.label) if raw.label is not None else None
    return Raw(raw.row[first:end], data, label, lambda i: raw.where(first + i), raw.head)
