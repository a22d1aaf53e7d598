"""Which part of each text a read is to see: all of it, what follows a cursor, or the range of a share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from bigclf.errors import DataError, UsageError
from bigclf.reading.raw import Cursor
from bigclf.reading.source import Source, open_file

SHARE_ROWS = 1 << 40  # row numbers set aside for each share: whole tiles, and more than a share has rows
UTF8 = ("utf-8", "utf-8-sig")  # names of codecs whose text needs no decoding
_STEP = 1 << 16

Share = tuple[int, int]  # its number, from 1, and how many there are


class Span(NamedTuple):
    """A part of one text. Ranges of shares follow each other: a record belongs to the range in which it begins."""

    source: int = 0  # number of the input
    start: int | None = 0  # byte of the text at which a record begins; None: the first one in the range
    line: int = 1  # number of the line there, counted from the begin of the range
    low: int = 0  # range, in bytes of a plain file
    high: int | None = None  # None: the whole text
    least: int = 0  # no record begins before this byte

    @property
    def whole(self) -> bool:
        """Whether it is all of the text."""
        return self.start == 0 and self.high is None

    def settled(self, path: str) -> tuple[int, int | None]:
        """Byte at which the first record begins, and byte behind the last one; None: the end of the text."""
        start = self._begin(path) if self.start is None else self.start
        return start, None if self.high is None else aligned(path, self.high)

    def _begin(self, path: str) -> int:
        return max(aligned(path, self.low), self.least)

    def lines_before(self, path: str) -> Callable[[], int]:
        """What gives the number of lines of the file in front of the range; they are counted when it is first asked."""

        @cache
        def count() -> int:
            return 0 if self.high is None else _lines(path, self._begin(path))

        return count


WHOLE = Span()


def spans(sources: Sequence[Source], encoding: str, begin: Cursor | None, share: Share | None) -> list[Span]:
    """The parts of texts that are to be read, in order; the meters are set back.

    Raises DataError or UsageError for inputs that cannot be cut.
    """
    found = []
    for number, (low, high) in enumerate(_ranges(sources, encoding, share)):
        meter = sources[number].meter
        meter.begin(sources[number].size if high is None else high - low)
        if low == high or (begin is not None and number < begin.source):
            meter.finish()
        elif begin is not None and number == begin.source:
            found.append(Span(number, begin.offset, begin.line, low, high))
        else:
            found.append(Span(number, 0 if high is None else None, 1, low, high))
    return found


def first_row(begin: Cursor | None, share: Share | None) -> int:
    """Number of the first row that a read gives."""
    if begin is not None:
        return begin.row
    return 0 if share is None else (share[0] - 1) * SHARE_ROWS


def _ranges(sources: Sequence[Source], encoding: str, share: Share | None) -> list[tuple[int, int | None]]:
    """The bytes of each file that belong to a share: together all files are cut into ranges of equal size."""
    if share is None:
        return [(0, None)] * len(sources)
    sizes = []
    for source in sources:
        if source.path == "-":
            raise UsageError("standard input '-' cannot be cut; --shard needs plain files")
        if source.compression is not None:
            raise DataError(source.path, "a compressed file cannot be cut; --shard needs plain files")
        if source.size is None:
            raise DataError(source.path, "is no regular file and cannot be cut; --shard needs plain files")
        if encoding not in UTF8:
            raise DataError(source.path, f"text in {encoding} cannot be cut; --shard needs UTF-8")
        sizes.append(source.size)
    low, high = (sum(sizes) * i // share[1] for i in (share[0] - 1, share[0]))
    found: list[tuple[int, int | None]] = []
    before = 0
    for size in sizes:
        found.append((min(max(low - before, 0), size), min(max(high - before, 0), size)))
        before += size
    return found


def aligned(path: str, at: int) -> int:
    """First byte from `at` on at which a line begins, or the end of the file."""
    if at == 0:
        return 0
    with open_file(path) as file:
        at -= 1
        file.seek(at)
        while part := file.read(_STEP):
            found = part.find(b"\n")
            if found >= 0:
                return at + found + 1
            at += len(part)
        return at


def _lines(path: str, end: int) -> int:
    """Newlines in the first `end` bytes."""
    lines = 0
    with open_file(path) as file:
        while end > 0 and (part := file.read(min(_STEP, end))):
            lines += part.count(b"\n")
            end -= len(part)
    return lines
