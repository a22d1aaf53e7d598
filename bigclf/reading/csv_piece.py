"""A piece of CSV text: some whole records of one file, and where each begins.

pyarrow tells neither the line of a row nor that its quotes have gone astray, so both are found here from the bytes.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import DataError, UsageError
from bigclf.reading.options import ReadOptions
from bigclf.reading.table import BLANKS, Layout

BAD_TEXT = "bytes that are no UTF-8 text, or a NUL; try --encoding latin1"
_QUOTE_HELP = "a field with quotes is quoted as a whole and its quotes doubled; or give --quote ''"
_NO_LAYOUT = Layout(0, (), None, None, frozenset(), frozenset())
_OTHERS = {";": "--delimiter ';'", "\t": "--format tsv", "|": "--delimiter '|'", ",": "--format csv"}


@dataclass(frozen=True)
class Dialect:
    """The characters that structure the text; each one ASCII character, `quote` may be empty."""

    delimiter: str
    quote: str
    decimal: str

    @classmethod
    def of(cls, options: ReadOptions, format: str) -> Dialect:
        """By the options, else by the format. Raises UsageError."""
        delimiter = {None: "\t" if format == "tsv" else ",", "\\t": "\t", "tab": "\t"}.get(
            options.delimiter, options.delimiter or ""
        )
        given = {"--delimiter": delimiter, "--decimal": options.decimal, "--quote": options.quote or '"'}
        for name, value in given.items():
            if len(value) != 1 or not value.isascii() or value in "\r\n\0":
                raise UsageError(f"{name}: {value!r} is not one ASCII character")
        if len({delimiter, options.decimal, options.quote}) < 3:
            raise UsageError("--delimiter, --decimal and --quote must differ from each other")
        if options.decimal.isalnum() or options.decimal in "+- \t":
            raise UsageError(f"--decimal: {options.decimal!r} cannot separate decimals")
        return cls(delimiter, options.quote, options.decimal)

    @property
    def quote_byte(self) -> int | None:
        return ord(self.quote) if self.quote else None

    def fields(self, record: str) -> list[str]:
        """The fields of one record, blanks at their ends removed."""
        lines = io.StringIO(record, newline="")
        if self.quote:
            reader = csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote)
        else:
            reader = csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return [field.strip(BLANKS) for field in next(reader, [])]

    def other(self, record: bytes) -> tuple[str, str] | None:
        """Another delimiter that splits a record, and the option for it; None where this one does or none is seen.

        >>> Dialect(",", '"', ".").other(b'"a, of b";"c"')
        (';', "--delimiter ';'")
        """
        mark = re.escape(self.quote.encode())
        quoted = rb"(?:^|(?<=[,;|\t]))%b(?:[^%b]|%b%b)*%b" % ((mark,) * 5)
        bare = re.sub(quoted, b"", record) if mark else record
        if self.delimiter.encode() in bare:
            return None
        seen = [other for other in _OTHERS if other != self.decimal and other.encode() in bare]
        return (seen[0], _OTHERS[seen[0]]) if seen else None


@dataclass(frozen=True)
class Piece:
    """Whole records of one file, the last byte a newline. Blank lines are no records."""

    data: bytes
    path: str
    dialect: Dialect
    line: int  # number of the first line
    row: int = 0  # number of the first record in the stream
    layout: Layout = _NO_LAYOUT

    @cached_property
    def _newlines(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == 10)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Positions at which the records begin."""
        text = np.frombuffer(self.data, np.uint8)
        ends = self._newlines
        if self.dialect.quote_byte is not None and self.dialect.quote.encode() in self.data:
            quotes = np.flatnonzero(text == self.dialect.quote_byte)
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        starts: NDArray[np.intp] = np.concatenate([[0], ends[:-1] + 1]) if ends.size else ends
        length = ends - starts
        kept: NDArray[np.intp] = starts[(length > 1) | ((length == 1) & (text[starts] != 13))]
        return kept

    def doubt(self, options: ReadOptions) -> DataError | None:
        """What tells, by the first record of a file, that another delimiter is meant; None where one was given."""
        first = self.split(1)[0].data[int(self.starts[0]) :]
        other = self.dialect.other(first) if options.delimiter is None else None
        if other is None:
            return None
        record = "header" if options.header else "first row"
        what = f"the {record} has no {self.dialect.delimiter!r} and has {other[0]!r}; try {other[1]}"
        return DataError(self.path, what)

    def place(self, record: int) -> str:
        """path:LINE of a record, counted within the piece."""
        return self.place_at(int(self.starts[record]))

    def place_at(self, position: int) -> str:
        return f"{self.path}:{self.line + int(np.searchsorted(self._newlines, position))}"

    @property
    def lines(self) -> int:
        return int(np.count_nonzero(np.frombuffer(self.data, np.uint8) == 10))

    def split(self, records: int) -> tuple[Piece, Piece | None]:
        """The first records, and the rest if there is one."""
        if records >= len(self.starts):
            return self, None
        at = int(self.starts[records])
        first = replace(self, data=self.data[:at])
        return first, replace(self, data=self.data[at:], line=self.line + first.lines, row=self.row + records)

    def sound(self) -> tuple[Piece | None, DataError | None]:
        """The records before the first one whose end cannot be told, and what is wrong with that one.

        Records are cut by the parity of quotes. That is what pyarrow sees too, unless a quote stands inside an
        unquoted field, where it is a character like others; or the file ends inside quotes. Behind such a place
        reading on would be guessing, so it ends the run even under --on-error skip.
        """
        text = np.frombuffer(self.data, np.uint8)
        quotes = np.empty(0, np.intp)
        wrong: list[tuple[int, str]] = []
        if self.dialect.quote and self.dialect.quote.encode() in self.data:
            quotes = np.flatnonzero(text == self.dialect.quote_byte)
            opening = quotes[::2]
            before = text[opening - 1]  # the last byte, a newline, for position 0
            astray = (before != ord(self.dialect.delimiter)) & (before != 10) & (before != self.dialect.quote_byte)
            wrong += [(at, "a quote inside an unquoted field") for at in opening[astray][:1].tolist()]
            wrong += [(at, "a quote opened here is not closed") for at in quotes[-1:].tolist() if len(quotes) % 2]
            wrong = [(at, f"{what}; {_QUOTE_HELP}") for at, what in wrong]
        if b"\r" in self.data:
            returns = np.flatnonzero(text == 13)
            alone = returns[text[returns + 1] != 10]
            alone = alone[np.searchsorted(quotes, alone) % 2 == 0]
            wrong += [(at, "a carriage return without newline; convert line ends") for at in alone[:1].tolist()]
        if not wrong:
            return self, None
        at, what = min(wrong)
        before_it = int(np.searchsorted(self.starts, at, side="right")) - 1
        return (self.split(before_it)[0] if before_it > 0 else None), DataError(self.place_at(at), what)


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
