"""CSV and TSV: text becomes blocks of whole records, and pyarrow converts each block by explicit column types.

Cutting the text here, instead of letting pyarrow stream the file, gives what its streaming reader does not: the line
of every row, blocks whose border is put where the head ends, memory of one block, and a second and exact look at a
block that did not convert. pyarrow is given each block as one piece of memory.

The records of the head are kept as text until the head is complete, because only then the kinds of the columns are
known. After the head every block takes the fast path (`_fast`); one with anything out of the ordinary is read again
field by field (`csv_exact`), which finds the first fault in the order of rows, or drops the rows at fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa

from bigclf.errors import DataError
from bigclf.reading.csv_exact import BAD_TEXT, ENDLESS_WORDS, exact
from bigclf.reading.csv_head import determine
from bigclf.reading.csv_part import Part, Texts, texts
from bigclf.reading.csv_piece import Dialect
from bigclf.reading.labels import NUMBER
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import HEAD_BYTES, HEAD_ROWS, Column, Raw, Table, Words
from bigclf.reading.source import Source
from bigclf.reading.span import Span, spans
from bigclf.reading.stored import Meter
from bigclf.reading.table import (
    TRUTH,
    Kinds,
    Layout,
    TableReader,
    align,
    choose,
    codes,
    finite,
    floats,
    spell,
    whole,
    words,
)
from bigclf.reading.text import codec

_START = 1 << 16  # bytes in which the first record of a file is looked for


class CsvReader(TableReader):
    """Rows of CSV or TSV files; the head fixes the kinds in training.

    Iteration raises DataError for a fault (under --on-error skip only where rows cannot be dropped one by one), and
    gives nothing when there are no rows. The constructor raises UsageError for options that cannot be meant.

    A share cannot see whether it begins within quotes: it takes the newline for the end of a record. The share before
    it then ends within quotes, which is a fault that ends its run; so such shares never pass as a whole.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._dialects = [Dialect.of(self.options, source.format) for source in self.sources]
        codec(self.options)
        self._training = self.kinds is None
        self._first: Layout | None = None  # of the first file, in training
        self._broken: DataError | None = None  # ends the run once the rows before it were given out
        self._bytes = 0  # decompressed, of the files before this one
        self._truths: set[str] = set()  # columns of numbers that are written as true and false so far

    def __iter__(self) -> Iterator[Raw]:
        head: list[Part] = []
        for at, part in self._parts():
            body: Part | None = replace(part, row=self.rows)
            if self.until is not None:
                if self.rows + len(part.starts) >= self.until:
                    self._broken = None
                body = cast("Part", body).split(self.until - self.rows)[0]
            if self.kinds is None:
                within, body = self._head_part(cast("Part", body), at)
                if within is not None:
                    head.append(within)
                    self.rows += len(within.starts)
                if body is None:
                    continue
                yield from self._raws(self._determined(head), True)
                head = []  # its text is not needed any more
            yield from self._raws([cast("Part", body)], False)
        if self.kinds is None and self.rows:
            yield from self._raws(self._determined(head), True)
        if self._broken is not None:
            raise self._broken

    def _determined(self, head: list[Part]) -> list[Part]:
        """The head, after it has fixed the kinds; its rows are about to be counted once more."""
        self.kinds = determine(head, self.skips.stop)
        self.rows = 0
        return head

    def _head_part(self, piece: Part, at: int) -> tuple[Part | None, Part | None]:
        """What of a piece that begins at byte `at` belongs to the head, and the rest. The first row always does."""
        full = at + len(piece.data) > HEAD_BYTES
        if self.rows >= HEAD_ROWS or (full and self.rows):
            return None, piece
        return piece.split(1 if full else HEAD_ROWS - self.rows)

    def _parts(self) -> Iterator[tuple[int, Part]]:
        """Byte of the whole input at which it begins and text, part after part, without the headers."""
        for span in spans(self.sources, codec(self.options), self.begin, self.share):
            yield from self._file(span)
            if self._broken is not None or self.rows == self.until:
                return

    def _file(self, span: Span) -> Iterator[tuple[int, Part]]:
        source, end = self.sources[span.source], 0
        layout = None
        if not span.whole:
            layout, least = self._start(span.source)
            span = span._replace(least=least)
            if self._broken is not None:
                return
        for sound, broken in self._texts(source, span, self.options):
            part, self._broken = sound, broken
            if part is not None:
                end = part.offset + len(part.data)
                if layout is None and len(part.starts):
                    header, rest = part.split(1)
                    layout = self._layout(header, source)
                    part = rest if self.options.header else part
            if part is not None and layout is not None:
                yield self._bytes + part.offset, replace(part, layout=layout)
            if self._broken is not None or self.rows == self.until:
                return
        self._bytes += end

    def _start(self, number: int) -> tuple[Layout | None, int]:
        """Layout by the first record of a file, and the byte behind that if it is a header."""
        options = replace(self.options, block_size=min(self.options.block_size, _START))
        source = self.sources[number]._replace(meter=Meter(None))
        for part, broken in self._texts(source, Span(number), options):
            if part is not None and len(part.starts):
                header, _ = part.split(1)
                return self._layout(header, source), len(header.data) + header.offset if self.options.header else 0
            self._broken = broken
        return None, 0

    def _texts(self, source: Source, span: Span, options: ReadOptions) -> Texts:
        stop = max(0, HEAD_BYTES - self._bytes) if self._training else 0
        return texts(source, span, self._dialects[span.source], options, self._count, stop)

    def _layout(self, record: Part, source: Source) -> Layout:
        """Where the columns stand in a file that begins with this record."""
        try:
            names = record.dialect.fields(record.data.decode().strip("\r\n"))
        except UnicodeDecodeError:
            raise DataError(record.place(0), BAD_TEXT) from None
        numbers = all(NUMBER.fullmatch(name) for name in names) and len(names) > 1
        if self.options.header and numbers:
            self.notices["all names in the header are numbers; is --no-header meant?"] += 1
        if not self.options.header:
            names = [str(i + 1) for i in range(len(names))]
        fits = self.kinds is not None and all(name in names for name, _ in self.kinds.columns)
        doubt = record.doubt(self.options) if len(names) == 1 and not fits else None
        if doubt is not None:
            raise doubt
        if self.kinds is not None:
            return align(names, self.kinds, self.options, source.path, self.notices)
        if self._first is None:
            self._first = choose(names, self.options, source.path, self.notices)
            return self._first
        return align(
            names, self._first.kinds(["number"] * len(self._first.features)), self.options, source.path, self.notices
        )

    def _raws(self, pieces: list[Part], head: bool) -> Iterator[Raw]:
        for piece in pieces:
            at = piece.cursor(self.skips.read)
            kinds = dict(cast("Kinds", self.kinds).columns)
            fast = self._fast(piece, kinds)
            if fast is not None:
                data, label, total = fast
                row = np.arange(piece.row, piece.row + total)
                self.rows += total
            else:
                result = exact(piece, kinds, self.options.need_label)
                data, label, row = result.data, result.label, piece.row + result.record
                self.rows += result.total
                for name, only in result.truths.items():
                    (self._truths.add if only else self._truths.discard)(name)
                for fault in result.faults:
                    self.skips.fault(fault)
            if len(row):
                yield Raw(row, Table(data), label, partial(_where, piece, row), head, at)

    def _fast(self, piece: Part, kinds: dict[str, str]) -> tuple[dict[str, Column], Words | None, int] | None:
        """Columns, label and number of rows by pyarrow's conversion; None where a closer look is due."""
        if b"\0" in piece.data:
            return None
        layout = piece.layout
        types: dict[int, Any] = {} if layout.label is None else {layout.label: _WORDS}
        for name, at in layout.features:
            types[at] = _WORDS if kinds[name] == "words" else pa.bool_() if name in self._truths else pa.float64()
        try:
            table, uneven = piece.parse(types or {0: pa.large_binary()})
        except pa.ArrowInvalid:
            return None
        if uneven:
            return None
        data: dict[str, Column] = {}
        columns = dict(zip(types, map(whole, table.itercolumns()), strict=False))
        for name, at in layout.features:
            column = columns[at]
            if kinds[name] == "words":
                data[name] = found = self._words(column, piece.dialect)
                if name not in layout.forced and any(_numeric(word) for word in found.names):
                    return None
            else:
                data[name] = values = floats(column)
                if not (finite(values) if not column.null_count else _regular(values, column.null_count)):
                    return None
        label = None if layout.label is None else self._words(columns[layout.label], piece.dialect)
        if label is not None and self.options.need_label and label.code.size and label.code.min() < 0:
            return None
        return data, label, table.num_rows

    @staticmethod
    def _words(column: Any, dialect: Dialect) -> Words:
        return words(codes(column), [spell(t, dialect.decimal) for t in column.dictionary.to_pylist()])


_WORDS = pa.dictionary(pa.int32(), pa.string())


def _numeric(word: str) -> bool:
    return word in TRUTH or word.lower() in ENDLESS_WORDS or NUMBER.fullmatch(word) is not None


def _regular(values: Any, missing: int) -> bool:
    """Whether NaN stands for missing fields only, and nothing is infinite."""
    return int(np.isnan(values).sum()) == missing and not np.isinf(values).any()


def _where(piece: Part, row: Any, i: int) -> str:
    return piece.place(int(row[i]) - piece.row)
