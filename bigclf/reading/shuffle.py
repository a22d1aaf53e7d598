"""Rows in a random order without holding them all: parts of the input in random order, a few at a time, mixed.

The input is cut into parts of about a quarter of a mebibyte (or a Parquet row group), as shards are. They are visited
in an order that the seed decides; the rows of every GROUP parts are held and given out in random order. So rows that
lay together are spread over the whole pass, and the rows of one group come from all over the input (as in Xu et al.,
"In-database machine learning with CorgiPile", SIGMOD 2022). Nothing is written to disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bigclf import block as blk
from bigclf import draws
from bigclf.block import Csr
from bigclf.errors import UsageError
from bigclf.reading.raw import Cursor, Form, Raw, Skips, Sparse, Table, Words, take
from bigclf.reading.stream import Stream

if TYPE_CHECKING:
    from bigclf.reading.options import ReadOptions
    from bigclf.reading.source import Source
    from bigclf.reading.table import Kinds

PART = 1 << 18  # bytes; a constant, so that the order depends on the input and the seed alone
GROUP = 16  # parts that are mixed
ROWS = 8192  # rows given out at once
TEXT_FACTOR = 12


def require_plain(sources: Sequence[Source]) -> None:
    """UsageError for inputs that cannot be read in parts."""
    if any(s.path == "-" or s.compression for s in sources):
        raise UsageError("--shuffle: only plain files can be read in parts; unpack the data first")


class Shuffled:
    """A stream in random order; takes the place of `Stream`. `number` is that of the pass: each has its own order.

    The cursor of its blocks counts groups in `offset`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        options: ReadOptions,
        kinds: Kinds | None,
        seed: int,
        number: int = 1,
        begin: Cursor | None = None,
        from_row: int = 0,
    ) -> None:
        require_plain(sources)
        self.sources = sources
        self.options = replace(options, threads=1)  # parts are small
        self.kinds = kinds
        self.seed = seed
        self.number = number
        self.begin = begin
        self.from_row = from_row
        self.form: Form | None = None  # what sparse rows are to look like
        self.skips = Skips(options.on_error == "stop")
        if begin is not None:
            self.skips.rows = self.skips.read = begin.skipped
        self.notices: Counter[str] = Counter()
        self._size = sum(s.size or 0 for s in sources)
        self.parts = max(1, -(-self._size // PART))
        self._groups_done = 0

    def again(self) -> Shuffled:
        """The next pass, in another order."""
        again = Shuffled(self.sources, self.options, self.kinds, self.seed, self.number + 1)
        again.form = self.form
        return again

    def progress(self) -> tuple[int, int | None]:
        """Bytes read in this pass, about, and in all."""
        return min(self._size, self._groups_done * GROUP * PART), self._size

    def __iter__(self) -> Iterator[Raw]:
        order = draws.order(self.parts, self.seed, self.number)
        group, row = (self.begin.offset, self.begin.row) if self.begin else (0, 0)
        while group * GROUP < self.parts:
            skipped = self.skips.read
            raws = [raw for part in order[group * GROUP : (group + 1) * GROUP] for raw in self._part(int(part))]
            if raws:
                mixed = join(raws, Cursor(0, group, 0, row, skipped))
                del raws
                n = len(mixed.row)
                mixed = mixed._replace(row=row + np.arange(n))
                mixing = draws.order(n, self.seed, self.number, group)
                for a in range(max(0, self.from_row - row), n, ROWS):
                    some = take(mixed, mixing[a : a + ROWS])
                    yield some._replace(row=row + np.arange(a, a + len(some.row)))
                row += n
            group += 1
            self._groups_done = group

    def _part(self, part: int) -> Iterator[Raw]:
        stream = Stream(self.sources, self.options, self.kinds, share=(part + 1, self.parts))
        stream.skips, stream.notices, stream.form = self.skips, self.notices, self.form
        return iter(stream)


def group_bytes(sources: Sequence[Source]) -> int:
    """Bytes that the rows of one group take at most, as read and joined.

    Text: twelve bytes of arrays for each byte, which short rows need. Parquet: as many of the largest row groups as
    parts are mixed, or as there are.
    """
    if sources[0].format != "parquet":
        return TEXT_FACTOR * min(GROUP * PART, sum(s.size or 0 for s in sources))
    import pyarrow.parquet as pq

    largest = count = 0
    for source in sources:
        metadata = pq.read_metadata(source.path)
        rows = (metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
        largest = max(largest, *(n * (8 * metadata.num_columns + 28) for n in rows), 0)
        count += metadata.num_row_groups
    return 2 * largest * min(GROUP, count)


def join(raws: list[Raw], at: Cursor) -> Raw:
    """The rows of all blocks, which have the same columns, one after the other."""
    starts = np.cumsum([0] + [len(r.row) for r in raws])
    first: Any = raws[0].data

    places = [r.where for r in raws]

    def where(i: int) -> str:
        k = int(np.searchsorted(starts, i, side="right")) - 1
        return places[k](i - int(starts[k]))

    data: Any
    if isinstance(first, Csr):
        data = blk.join([r.data for r in raws])
    elif isinstance(first, Sparse):
        parts: list[Any] = [r.data for r in raws]
        ends = np.cumsum([0] + [int(p.indptr[-1]) for p in parts])
        indptr = [parts[0].indptr[:1], *(p.indptr[1:] + e for p, e in zip(parts, ends, strict=False))]
        entries = [np.concatenate([getattr(p, name) for p in parts]) for name in ("column", "value")]
        data = Sparse(np.concatenate(indptr), *entries)
    else:
        every: list[Any] = [r.data for r in raws]
        columns = {name: _column([tables[name] for tables in every]) for name in first}
        words = any(isinstance(column, Words) for column in columns.values())
        data = Table(columns) if words else Table.of_numbers(columns)
    label = None if raws[0].label is None else _column([r.label for r in raws])
    return Raw(np.concatenate([r.row for r in raws]), data, label, where, False, at)


def _column(parts: list[Any]) -> Any:
    if not isinstance(parts[0], Words):
        return np.concatenate(parts)
    place: dict[str, int] = {}
    codes = []
    for p in parts:
        table = np.array([place.setdefault(name, len(place)) for name in p.names] + [-1], np.int32)
        codes.append(table[p.code])
    return Words(np.concatenate(codes), list(place))
