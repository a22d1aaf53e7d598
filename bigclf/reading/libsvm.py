"""Reader of LIBSVM text: blocks are parsed, by several threads where that is wanted, and joined in order.

What a block holds does not depend on what is before it but for the numbers of its rows and lines, which it gets when it
is joined; faults come to light then. So all is the same for any number of threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bigclf.block import Csr
from bigclf.errors import BudgetError, DataError
from bigclf.reading import raw
from bigclf.reading.libsvm_parse import FOR_EVER, Fault, Parser, Part
from bigclf.reading.lines import ByteBlock
from bigclf.reading.options import ReadOptions
from bigclf.reading.pool import Pool, window
from bigclf.reading.raw import Cursor, Form, Raw, Skips, Sparse, Words
from bigclf.reading.source import Source
from bigclf.reading.span import SHARE_ROWS, Share, Span, first_row, spans
from bigclf.reading.text import codec, text_blocks

QID = "qid tokens were ignored"
LONGEST = 1 << 30  # bytes of a line


def read(
    sources: Sequence[Source],
    options: ReadOptions,
    skips: Skips,
    notices: Counter[str] | None = None,
    begin: Cursor | None = None,
    share: Share | None = None,
    until: int | None = None,
    form: Callable[[], Form | None] = lambda: None,
) -> Iterator[Raw]:
    """The rows of all sources, numbered through. `notices[QID]` counts the qid tokens passed over.

    begin, share: read from there on, or that share only; no row then belongs to the head.
    until: rows from this number on are not read.
    form: what rows are to look like by now.
    """
    head = begin is None and share is None
    joiner = Joiner(
        options, skips, Counter() if notices is None else notices, first_row(begin, share), head, until, form
    )
    before = 0  # bytes of the sources that are done
    try:
        for span in spans(sources, codec(options), begin, share):
            joiner.begin(sources[span.source], span, before)
            yield from joiner.rows()
            if joiner.row == until:
                return
            before += joiner.size
    finally:
        joiner.pool.close()


class Joiner:
    """Parts of the text in their order: numbers their rows and lines, and raises their faults."""

    def __init__(
        self,
        options: ReadOptions,
        skips: Skips,
        notices: Counter[str],
        first: int,
        head: bool,
        until: int | None,
        form: Callable[[], Form | None],
    ) -> None:
        self.options, self.skips, self.notices, self.form = options, skips, notices, form
        self.head, self.until = head, until
        self.row = first  # number of the next row of the stream
        self.good = 0  # rows given out
        self.parser = Parser(options, skips.stop, form)
        self.names: list[str] = []  # of all classes so far
        self.numbers: dict[str, int] = {}
        self.codes: dict[int, list[int]] = {}  # of a parser's names, by the identity of their list
        self.pool: Pool[ByteBlock, Part] = Pool(
            self.parser.parse, lambda: Parser(options, skips.stop, form).parse, options.threads - 1
        )

    def begin(self, source: Source, span: Span, before: int) -> None:
        """Go on with a part of another file. before: bytes of all text in front of it."""
        self.source, self.span, self.before = source, span, before
        self.path, self.lines_before = source.path, span.lines_before(source.path)
        self.line = span.line
        self.size = 0  # bytes of the text that were read

    def rows(self) -> Iterator[Raw]:
        """The rows of the part at hand."""
        stop = max(raw.HEAD_BYTES - self.before, 0) if self.head else 0
        blocks = text_blocks(
            self.source,
            self.options,
            self.count,
            stop,
            grow=self.no_longer_than,
            span=self.span,
            ring=window(self.options.threads),
        )
        waiting: list[ByteBlock] = []
        while True:
            late: Exception | None = None
            try:
                block = next(blocks, None)
            except Exception as e:  # what was read before it comes first
                block, late = None, e
            if block is not None:
                self.size = block.offset + block.end - block.start
                if self.options.threads > 1 and self._past_head():
                    self.pool.give(block)
                    waiting.append(block)
                else:
                    yield from self._one(block)
            while waiting and (block is None or len(waiting) == window(self.options.threads)):
                yield from self._joined(waiting.pop(0), self.pool.take())
                if self.row == self.until:
                    return
            if late is not None:
                raise late
            if block is None or self.row == self.until:
                return

    def _past_head(self) -> bool:
        """Whether all of the next block is beyond the head; and the kernel was compiled, which no helper should do."""
        past = self.row >= raw.HEAD_ROWS or self.before + self.size > raw.HEAD_BYTES
        return self.good > 0 and (past or not self.head)

    def _one(self, block: ByteBlock) -> Iterator[Raw]:
        """The rows of a block, read here and now."""
        while block.start < block.end and self.row != self.until:
            last = FOR_EVER
            if self.head and self.row < raw.HEAD_ROWS and self.before + self.size <= raw.HEAD_BYTES:
                last = raw.HEAD_ROWS
            elif self.head and not self.good:  # the first row is in the head, however long
                last = self.row + 1
            head = last != FOR_EVER
            if self.until is not None:
                last = min(last, self.until) if head else self.until
            part = self.parser.parse(block, FOR_EVER if last == FOR_EVER else last - self.row)
            yield from self._joined(block, part, head, True)
            block = block._replace(start=block.start + part.size, offset=block.offset + part.size)

    def _joined(self, block: ByteBlock, part: Part, head: bool = False, exact: bool = False) -> Iterator[Raw]:
        """The rows of the next part, then the fault that ends it. exact: it has none beyond the last one wanted."""
        if not exact and self.until is not None and self.row + part.seen >= self.until:
            self.parser = Parser(self.options, self.skips.stop, self.form)  # one that knows no labels of later blocks
            yield from self._one(block)
            return
        line, row = self.line, self.row
        at = Cursor(self.span.source, block.offset, line, row, self.skips.read)
        label = self._named(part)
        if part.qids:
            self.notices[QID] += part.qids
        end: BudgetError | DataError | None = None
        for fault in part.faults:
            end = self._noted(fault)
        self.line += part.lines
        self.row += part.seen
        rows, path, before = part.rows, self.path, self.lines_before
        if len(rows.row):
            self.good += len(rows.row)
            rows.row[:] += row
            value: Any = rows.value
            data = Csr(value, rows.column, rows.indptr, 0) if part.form else Sparse(rows.indptr, rows.column, value)
            where = rows.line
            yield Raw(rows.row, data, label, lambda i: f"{path}:{before() + line + where[i]}", head, at)
        if end is not None:
            raise end

    def _named(self, part: Part) -> Words:
        """The labels; their codes are given in the order of the text, whichever parser knew them first."""
        code = part.rows.code
        if self.options.threads == 1:
            return Words(code, part.names)
        table = self.codes.setdefault(id(part.names), [])
        for name in part.names[len(table) : part.known]:
            table.append(self.numbers.setdefault(name, len(self.names)))
            if len(self.numbers) > len(self.names):
                self.names.append(name)
        if table != list(range(len(table))):
            code = np.array([*table, -1], np.int32).take(code)
        return Words(code, self.names)

    def _noted(self, fault: Fault) -> BudgetError | DataError | None:
        """The fault, if it is to end the run; else it is counted."""
        place = f"{self.path}:{self.lines_before() + self.line + fault.line}:{fault.column}"
        if fault.memory:
            return BudgetError(f"{place}: {fault.what}")
        try:
            self.skips.fault(DataError(place, fault.what))
        except DataError as end:
            return end
        return None

    def count(self) -> int:
        """Rows of the text so far, skipped ones included; before the cursor, too."""
        return (self.row + sum(part.seen for part in self.pool.wait())) % SHARE_ROWS

    def no_longer_than(self, size: int) -> None:
        """Refuse a line that needs a larger buffer than the kernel can number the places of (int32)."""
        if size > LONGEST:
            line = self.lines_before() + self.line + sum(part.lines for part in self.pool.wait())
            raise DataError(f"{self.path}:{line}", f"the line is longer than {LONGEST >> 20} MiB; is this LIBSVM text?")
