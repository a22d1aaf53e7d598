"""Reader of LIBSVM text: the compiled kernel does the rows, this module all that is rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import BigclfError, BudgetError, DataError
from bigclf.reading import libsvm_kernel as kernel
from bigclf.reading import raw
from bigclf.reading.libsvm_labels import Labels, longer
from bigclf.reading.libsvm_strict import LineFault, TooWide, parse_line
from bigclf.reading.libsvm_tokens import CHUNK
from bigclf.reading.lines import ByteBlock
from bigclf.reading.options import LAST_COLUMN, ReadOptions
from bigclf.reading.raw import Cursor, Raw, Skips, Sparse, Words
from bigclf.reading.source import Source
from bigclf.reading.span import SHARE_ROWS, WHOLE, Share, Span, first_row, spans
from bigclf.reading.text import codec, text_blocks

QID = "qid tokens were ignored"
LONGEST = 1 << 30  # bytes of a line
_FOR_EVER = -1  # number of no row


def read(
    sources: Sequence[Source],
    options: ReadOptions,
    skips: Skips,
    notices: Counter[str] | None = None,
    begin: Cursor | None = None,
    share: Share | None = None,
    until: int | None = None,
) -> Iterator[Raw]:
    """The rows of all sources, numbered through. `notices[QID]` counts the qid tokens passed over.

    begin, share: read from there on, or that share only; no row then belongs to the head.
    until: rows from this number on are not read.
    """
    head = begin is None and share is None
    parser = Parser(options, skips, Counter() if notices is None else notices, first_row(begin, share), head, until)
    before = 0  # bytes of the sources that are done
    for span in spans(sources, codec(options), begin, share):
        source = sources[span.source]
        parser.begin(source.path, span)
        size = 0
        stop = max(raw.HEAD_BYTES - before, 0) if head else 0
        for block in text_blocks(source, options, parser.count, stop, grow=parser.no_longer_than, span=span):
            size = block.offset + block.end - block.start
            yield from parser.rows(block, before + size)
            if parser.row == until:
                return
        before += size


def _trimmed(a: NDArray[Any], used: int) -> NDArray[Any]:
    """The used part; a copy where it would keep much unused memory alive."""
    part = a[:used]
    return part if 4 * a.size <= 5 * used else part.copy()


class _Output(NamedTuple):
    """Where the kernel writes, in the order of its arguments."""

    line: NDArray[np.int64]
    row: NDArray[np.int64]
    indptr: NDArray[np.int64]
    code: NDArray[np.int32]
    column: NDArray[np.int32]
    value: NDArray[np.float64]

    @classmethod
    def empty(cls, rows: int, entries: int) -> _Output:
        indptr = np.empty(rows + 1, np.int64)
        indptr[0] = 0
        return cls(
            np.empty(rows, np.int64),
            np.empty(rows, np.int64),
            indptr,
            np.empty(rows, np.int32),
            np.empty(entries, np.int32),
            np.empty(entries, np.float64),
        )


class Parser:
    """Text of one or more files to rows. Scratch arrays are used again; those that are given away are not."""

    def __init__(
        self,
        options: ReadOptions,
        skips: Skips,
        notices: Counter[str],
        first: int = 0,
        head: bool = True,
        until: int | None = None,
    ) -> None:
        self.options, self.skips, self.notices = options, skips, notices
        self.head, self.until = head, until
        self.labels = Labels()
        self.good = 0  # rows given out
        self.state = np.zeros(kernel.STATE, np.int64)
        self.state[kernel.ROW] = first
        self.state[kernel.LIMIT] = options.max_column - 1
        self.state[kernel.BITS] = options.hash_bits
        self.state[kernel.NEED] = options.need_label
        self.ask = np.empty((kernel.ASKS, 2), np.int64)
        self.answers = np.empty(kernel.ASKS, np.float64)
        self.per_byte = (1 / 64, 1 / 8)  # rows and entries, as of late
        self._scratch(2 * CHUNK)
        self.begin("", WHOLE)

    def _scratch(self, size: int) -> None:
        self.places = np.empty(size, np.int32)
        self.keys = np.empty(size // 2 + 1, np.uint64)  # each entry has a mark before and behind its colon

    def begin(self, path: str, span: Span) -> None:
        """Go on with the first line of a part of another file."""
        self.path, self.source, self.lines_before = path, span.source, span.lines_before(path)
        self.state[kernel.LINE] = span.line

    @property
    def row(self) -> int:
        """Number of the next row of the stream."""
        return int(self.state[kernel.ROW])

    def rows(self, block: ByteBlock, end: int) -> Iterator[Raw]:
        """The rows of a block that ends at byte `end` of all the text."""
        state = self.state
        state[kernel.AT], state[kernel.STOP_AT] = block.start, block.end
        while state[kernel.AT] < block.end and self.row != self.until:
            last = _FOR_EVER
            if self.head and self.row < raw.HEAD_ROWS and end <= raw.HEAD_BYTES:
                last = raw.HEAD_ROWS
            elif self.head and not self.good:  # the first row is in the head, however long
                last = self.row + 1
            head = last != _FOR_EVER
            if self.until is not None:
                last = min(last, self.until) if head else self.until
            state[kernel.LAST] = last
            start = block.offset + int(state[kernel.AT]) - block.start
            at = Cursor(self.source, start, int(state[kernel.LINE]), self.row, self.skips.read)
            size = int(block.end - state[kernel.AT])
            rows, entries = self.per_byte
            state[kernel.ROWS] = state[kernel.ENTRIES] = 0
            out = _Output.empty(
                min(size // 2 + 1, int(size * rows) + 64), min(size // 2 + 2, int(size * entries) + CHUNK // 2)
            )
            out, fault = self._run(block.buffer, out)
            if state[kernel.QIDS]:
                self.notices[QID] += int(state[kernel.QIDS])
                state[kernel.QIDS] = 0
            n, z = int(state[kernel.ROWS]), int(state[kernel.ENTRIES])
            done = size - int(block.end - state[kernel.AT])
            self.per_byte = (1.02 * n / max(done, 1), 1.02 * z / max(done, 1))
            if n:
                self.good += n
                yield self._raw(out, n, z, head, at)
            if fault is not None:
                raise fault

    def _raw(self, out: _Output, n: int, z: int, head: bool, at: Cursor) -> Raw:
        line, path, before = _trimmed(out.line, n), self.path, self.lines_before
        data = Sparse(_trimmed(out.indptr, n + 1), _trimmed(out.column, z), _trimmed(out.value, z))
        label = Words(_trimmed(out.code, n), self.labels.names)
        return Raw(_trimmed(out.row, n), data, label, lambda i: f"{path}:{before() + line[i]}", head, at)

    def count(self) -> int:
        """Rows read so far, skipped ones included; before the cursor, too."""
        return self.row % SHARE_ROWS

    def place(self) -> str:
        """Of the line at hand."""
        return f"{self.path}:{self.lines_before() + int(self.state[kernel.LINE])}"

    def no_longer_than(self, size: int) -> None:
        """Refuse a line that needs a larger buffer than the kernel can number the places of (int32)."""
        if size > LONGEST:
            raise DataError(self.place(), f"the line is longer than {LONGEST >> 20} MiB; is this LIBSVM text?")

    def _run(self, buffer: NDArray[np.uint8], out: _Output) -> tuple[_Output, BigclfError | None]:
        """Call the kernel until the block, or its part in the head, is done; the output may have grown.

        A fault that is to end the run is returned: the rows before it come first.
        """
        state, labels = self.state, self.labels
        while True:
            given = labels.slots, labels.arena, self.ask, self.answers
            why = kernel.read_rows(buffer, state, self.places, self.keys, *out, *given)
            if why in (kernel.END, kernel.STOP):
                return out, None
            if why == kernel.ROOM:
                out = self._grown(out)
            elif why == kernel.PLACES:
                self._scratch(2 * self.places.size)
            elif why == kernel.FLOATS:
                self._answer(buffer)
            elif why == kernel.LABEL:
                start, end = state[kernel.TEXT : kernel.TEXT + 2]
                try:
                    labels.add(buffer[start:end].tobytes(), int(state[kernel.KEY]))
                    continue
                except LineFault:
                    pass
            if why in (kernel.LABEL, kernel.FAULT):
                try:
                    self._fault(buffer)
                except (DataError, BudgetError) as fault:
                    return out, fault

    def _grown(self, out: _Output) -> _Output:
        n, z = int(self.state[kernel.ROWS]), int(self.state[kernel.ENTRIES])
        rows, entries = out.row.size, out.column.size
        if n == rows:
            rows *= 2
        if self.state[kernel.WANTED] > entries:
            entries = max(2 * entries, int(self.state[kernel.WANTED]))
        used = (n, n, n + 1, n, z, z)
        sizes = (rows, rows, rows + 1, rows, entries, entries)
        arrays: tuple[NDArray[Any], ...] = out
        return _Output(*(longer(a, u, s) for a, u, s in zip(arrays, used, sizes, strict=True)))

    def _answer(self, buffer: NDArray[np.uint8]) -> None:
        """Numbers of more than 19 digits, so near to a rounding border that the kernel leaves them to Python."""
        asked, done = int(self.state[kernel.ASKED]), int(self.state[kernel.ANSWERED])
        if done + asked > self.answers.size:
            self.answers = longer(self.answers, done, 2 * (done + asked))
        self.answers[done : done + asked] = [float(buffer[a:b].tobytes()) for a, b in self.ask[:asked]]
        self.state[kernel.ANSWERED] = done + asked

    def _fault(self, buffer: NDArray[np.uint8]) -> None:
        """Say what is wrong with the line at hand, or pass over it."""
        start, end = int(self.state[kernel.AT]), int(self.state[kernel.STOP_AT])
        step = 4096
        while (length := buffer[start : min(start + step, end)].tobytes().find(b"\n")) < 0:
            step *= 4
        line = buffer[start : start + length].tobytes()
        fault = first_fault(line, self.options)
        place = f"{self.place()}:{fault.column}"
        if isinstance(fault, TooWide) and self.options.max_column < LAST_COLUMN:
            raise BudgetError(f"{place}: {fault.what}")  # it is for want of memory: no row is to be dropped for that
        self.skips.fault(DataError(place, fault.what))
        self.state[kernel.AT] += length + 1
        self.state[kernel.LINE] += 1
        self.state[kernel.ROW] += 1
        self.state[kernel.ANSWERED] = 0


def explain(line: bytes, options: ReadOptions) -> tuple[int, str]:
    """Column and reason of the first fault of a line that the kernel refused."""
    fault = first_fault(line, options)
    return fault.column, fault.what


def first_fault(line: bytes, options: ReadOptions) -> LineFault:
    """The first fault of a line that the kernel refused."""
    try:
        parse_line(line, options)
    except LineFault as fault:
        return fault
    raise AssertionError(f"the LIBSVM kernel refused a line that is right: {line[:200]!r}")
