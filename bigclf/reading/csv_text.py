"""CSV and TSV: text becomes blocks of whole records, and pyarrow converts each block by explicit column types.

Cutting the text here, instead of letting pyarrow stream the file, gives what its streaming reader does not: the line
of every row, blocks whose border is put where the head ends, memory of one block, and a second and exact look at a
block that did not convert. pyarrow is given each block as one piece of memory.

The records of the head are kept as text until the head is complete, because only then the kinds of the columns are
known. After the head every block takes the fast path (`_fast`); one with anything out of the ordinary is read again
field by field (`csv_exact`), which finds the first fault in the order of rows, or drops the rows at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from bigclf import start
from bigclf.errors import DataError
from bigclf.reading.csv_part import Part, Quick, Texts, texts
from bigclf.reading.csv_piece import BAD_TEXT, Dialect
from bigclf.reading.csv_plain import Plain, Taken
from bigclf.reading.labels import NUMBER
from bigclf.reading.libsvm_labels import Labels
from bigclf.reading.lines import PAD, ByteBlock
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import HEAD_BYTES, HEAD_ROWS, Cursor, Raw, Table
from bigclf.reading.source import Source
from bigclf.reading.span import Span, spans
from bigclf.reading.stored import Meter
from bigclf.reading.table import Kinds, Layout, TableReader, align, choose
from bigclf.reading.text import codec

MOST_ROWS = 8_192  # plain rows given out at once: more would leave the nearest caches, and gain nothing
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
        self._plain: Plain | None = None  # reads the file at hand, once that and the kinds are known
        self._labels = Labels()
        self._truths: set[str] = set()  # columns of numbers that are written as true and false so far

    def __iter__(self) -> Iterator[Raw]:
        head: list[Part] = []
        for at, found in self._parts():
            if isinstance(found, Raw):
                self.rows += len(found.row)
                yield found
                continue
            body: Part | None = replace(found, row=self.rows)
            if self.until is not None:
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
        layout = head[0].layout
        self.kinds = layout.kinds(["number"] * len(layout.features))
        if layout.forced or not all(self._taken(part).at == len(part.data) for part in head):
            self.kinds = self._plain = None
            start.require("words")
            from bigclf.reading.csv_head import determine

            self.kinds = determine(head, self.skips.stop)
        self.rows = 0
        return head

    def _plain_of(self, layout: Layout | None, dialect: Dialect) -> Plain | None:
        """What reads rows of these columns quickly; None where nothing does, or the kinds are not known yet."""
        if layout is None or self.kinds is None:
            return None
        if self._plain is None or self._plain.layout is not layout:
            self._plain = Plain.of(layout, self.kinds, dialect, self.options.need_label, self._labels)
        return self._plain

    def _taken(self, part: Part) -> Taken:
        """The rows with which a part begins, as far as they are plain; `at` counts from its begin."""
        plain = self._plain_of(part.layout, part.dialect)
        if plain is None:
            return Taken(Table(), None, np.empty(0, np.int64), 0, part.line)
        size = len(part.data)
        buffer = np.full(size + 2 * PAD, 10, np.uint8)
        buffer[PAD : PAD + size] = np.frombuffer(part.data, np.uint8)
        taken = plain.take(buffer, PAD, PAD + size, part.line)
        return taken._replace(at=taken.at - PAD)

    def _head_part(self, piece: Part, at: int) -> tuple[Part | None, Part | None]:
        """What of a piece that begins at byte `at` belongs to the head, and the rest. The first row always does."""
        full = at + len(piece.data) > HEAD_BYTES
        if self.rows >= HEAD_ROWS or (full and self.rows):
            return None, piece
        return piece.split(1 if full else HEAD_ROWS - self.rows)

    def _parts(self) -> Iterator[tuple[int, Part | Raw]]:
        """Byte of the whole input at which it begins and text, part after part, without the headers."""
        for span in spans(self.sources, codec(self.options), self.begin, self.share):
            yield from self._file(span)
            if self._broken is not None or self.rows == self.until:
                return

    def _file(self, span: Span) -> Iterator[tuple[int, Part | Raw]]:
        source, end = self.sources[span.source], 0
        layout: Layout | None = None
        if not span.whole:
            layout, least = self._start(span.source)
            span = span._replace(least=least)
            if self._broken is not None:
                return
        before = span.lines_before(source.path)

        def quick(block: ByteBlock, start: int, line: int) -> tuple[Raw | None, int, int, bool]:
            plain = self._plain_of(layout, self._dialects[span.source])
            if plain is None:
                return None, start, line, False
            most = MOST_ROWS if self.until is None else min(MOST_ROWS, self.until - self.rows)
            taken = plain.take(block.buffer, start, block.end, line, most)
            at = Cursor(span.source, block.offset + start - block.start, line, self.rows, self.skips.read)
            raw = _raw(taken, source.path, before, at, False)
            return raw, taken.at, taken.next_line, len(taken.line) == most

        for found in self._texts(source, span, self.options, quick):
            if isinstance(found, DataError):
                self._broken = found
                return
            part: Part | Raw | None = found
            if isinstance(found, Part):
                end = found.offset + len(found.data)
                if layout is None and len(found.starts):
                    header, rest = found.split(1)
                    layout = self._layout(header, source)
                    part = rest if self.options.header else found
                if isinstance(part, Part) and layout is not None:
                    part = replace(part, layout=layout)
            if part is not None and layout is not None:
                yield self._bytes + (part.at if isinstance(part, Raw) else part).offset, part
            if self.rows == self.until:
                return
        self._bytes += end

    def _start(self, number: int) -> tuple[Layout | None, int]:
        """Layout by the first record of a file, and the byte behind that if it is a header."""
        options = replace(self.options, block_size=min(self.options.block_size, _START))
        source = self.sources[number]._replace(meter=Meter(None))
        for found in self._texts(source, Span(number), options):
            if isinstance(found, DataError):
                self._broken = found
            elif isinstance(found, Part) and len(found.starts):
                header, _ = found.split(1)
                return self._layout(header, source), len(header.data) + header.offset if self.options.header else 0
        return None, 0

    def _texts(self, source: Source, span: Span, options: ReadOptions, quick: Quick | None = None) -> Texts:
        stop = max(0, HEAD_BYTES - self._bytes) if self._training else 0
        return texts(source, span, self._dialects[span.source], options, self._count, stop, quick)

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
            taken, rest = self._taken(piece), piece
            if taken.at:
                raw = _raw(taken, piece.path, piece.lines_before, piece.cursor(self.skips.read), head)
                if raw is not None:
                    self.rows += len(raw.row)
                    yield raw
                rest = piece.behind(taken.at, taken.next_line, self.rows)
            if rest.data:
                yield from self._any(rest, head)

    def _any(self, piece: Part, head: bool) -> Iterator[Raw]:
        """Rows of whatever kind, by pyarrow."""
        start.require("words")
        from bigclf.reading.csv_arrow import fast
        from bigclf.reading.csv_exact import exact

        at = piece.cursor(self.skips.read)
        kinds = dict(cast("Kinds", self.kinds).columns)
        found = fast(piece, kinds, self._truths, self.options.need_label)
        if found is not None:
            data, label, total = found
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


def _raw(taken: Taken, path: str, before: Callable[[], int], at: Cursor, head: bool) -> Raw | None:
    """Rows that were taken, the first one at a cursor; None where there are none."""
    n, line = len(taken.line), taken.line
    if not n:
        return None
    row = np.arange(at.row, at.row + n)
    return Raw(row, taken.table, taken.label, lambda i: f"{path}:{before() + int(line[i])}", head, at)


def _where(piece: Part, row: Any, i: int) -> str:
    return piece.place(int(row[i]) - piece.row)
