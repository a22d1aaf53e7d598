"""Pieces of CSV text that know where they stand in the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np

from bigclf.errors import DataError
from bigclf.reading.csv_piece import Dialect, Piece
from bigclf.reading.lines import ByteBlock
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Cursor, Raw
from bigclf.reading.source import Source
from bigclf.reading.span import Span
from bigclf.reading.text import text_blocks

RECORD_LIMIT = 1 << 30  # bytes; pyarrow counts them in 32 bits
_CUT_HELP = "with --shard no field may hold a newline"


def _none() -> int:
    return 0


@dataclass(frozen=True)
class Part(Piece):
    """A piece of one of the inputs. Its lines are counted from the begin of the range that is read."""

    source: int = 0  # number of the input
    offset: int = 0  # of its first byte in the text
    lines_before: Callable[[], int] = _none  # lines of the file in front of the range

    def place_at(self, position: int) -> str:
        """path:LINE of a byte."""
        line = self.lines_before() + self.line + int(np.searchsorted(self._newlines, position))
        return f"{self.path}:{line}"

    def split(self, records: int) -> tuple[Part, Part | None]:
        """The first records, and the rest if there is one."""
        first, rest = super().split(records)
        if rest is not None:
            rest = replace(cast("Part", rest), offset=self.offset + len(first.data))
        return cast("Part", first), rest

    def behind(self, at: int, line: int, row: int) -> Part:
        """What follows byte `at`, where the line and the record of these numbers begin."""
        return replace(self, data=self.data[at:], offset=self.offset + at, line=line, row=row)

    def sound(self) -> tuple[Part | None, DataError | None]:
        """See `Piece.sound`."""
        part, fault = super().sound()
        return cast("Part | None", part), fault

    def cursor(self, skipped: int) -> Cursor:
        """Where its first record begins, which has number `row`; so many were skipped before it."""
        return Cursor(self.source, self.offset, self.line, self.row, skipped)


Texts: TypeAlias = Iterator[Part | Raw | DataError]
Quick: TypeAlias = Callable[[ByteBlock, int, int], tuple[Raw | None, int, int, bool]]


def texts(
    source: Source,
    span: Span,
    dialect: Dialect,
    options: ReadOptions,
    rows: Callable[[], int],
    stop: int,
    quick: Quick | None = None,
) -> Texts:
    """The text of a span, block after block: the sound records, and last what is wrong with the one behind them.

    rows, stop: as for `text_blocks`.
    quick: is given a block, a place in it and the number of the line there. It gives some rows from there on, which are
        given out as they are; the place behind them, its line, and whether it could go on there.

    Raises DataError for records too long for pyarrow.
    """

    def limit(wanted: int) -> None:
        if wanted > RECORD_LIMIT:
            raise DataError(source.path, f"a record after row {rows()} is longer than 512 MiB; is a quote open?")

    line, before = span.line, span.lines_before(source.path)
    first = not span.start and span.high is None  # whether no record of the file was met yet
    for block in text_blocks(source, options, rows, stop, dialect.quote_byte, limit, span):
        at, more = block.start, quick is not None
        while more and quick is not None and at < block.end:
            raw, at, line, more = quick(block, at, line)
            if raw is not None:
                first = False
                yield raw
        if at == block.end:
            continue
        data, offset = block.buffer[at : block.end].tobytes(), block.offset + at - block.start
        part = Part(data, source.path, dialect, line, source=span.source, offset=offset, lines_before=before)
        line += part.lines
        sound, broken = part.sound()
        if broken is not None and span.high is not None and "quote" in broken.what:
            broken = DataError(broken.place, f"{broken.what}; {_CUT_HELP}")
        if broken is not None and sound is None and first and len(part.starts):
            broken = part.doubt(options) or broken
        first = first and not len(part.starts)
        if sound is not None:
            yield sound
        if broken is not None:
            yield broken
