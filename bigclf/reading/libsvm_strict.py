"""One LIBSVM line read slowly and with reasons: explains what the fast reader refused, and is what tests compare with.

    [label] [qid:N] index:value index:value ... [# comment]

Tokens are parted by blanks, tabs and the like; blanks behind a colon are let pass. Indices are taken as written.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bigclf.reading.labels import canonical
from bigclf.reading.options import LAST_COLUMN, ReadOptions

LONGEST_LABEL = 4096  # bytes
_TOKEN = re.compile(rb"[^ \t\r\v\f]+")
_STRAY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_INDEX = re.compile(rb"\+?[0-9]+")
_VALUE = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


class LineFault(Exception):
    """What is wrong with a line, and the column (from 1, in bytes) where it is."""

    def __init__(self, column: int, what: str) -> None:
        super().__init__(column, what)
        self.column = column
        self.what = what


class TooWide(LineFault):
    """An index beyond the columns that there is room for."""


class Line(NamedTuple):
    """A row as written: indices in the order of the file."""

    label: str | None
    entries: list[tuple[int, float]]
    qids: int


def shown(text: bytes, length: int = 40) -> str:
    r"""Text for a message, on one line and not too long.

    >>> shown(b"0x10"), shown(b"a'b\0")
    ("'0x10'", '"a\'b\\x00"')
    """
    words = text[: length + 1].decode("utf-8", "backslashreplace")
    return repr(words if len(words) <= length else words[:length] + "...")


def class_name(text: bytes) -> str:
    """Canonical class name of a label as written; raises LineFault (column 1)."""
    if b"," in text:
        raise LineFault(1, f"several labels ({shown(text)}): multi-label data is another task")
    if len(text) > LONGEST_LABEL:
        raise LineFault(1, f"label {shown(text)} is {len(text)} bytes long")
    try:
        name = canonical(text.decode())
    except UnicodeDecodeError:
        raise LineFault(1, f"label {shown(text)} is not UTF-8; try --encoding latin-1") from None
    except ValueError:
        name = text.decode()  # digits by the thousand, more than int() takes
    if "\ufeff" in name:
        raise LineFault(1, "a byte order mark stands before the label; take it out where files were joined")
    if not name or _NOT_FINITE.fullmatch(name):
        raise LineFault(1, f"label {shown(text)} is not a class")
    return name


def parse_line(line: bytes, options: ReadOptions) -> Line | None:
    """The row that a line (without its newline) holds; None where it holds none. Raises LineFault."""
    body = line.split(b"#", 1)[0]
    stray = _STRAY.search(body)
    if stray:
        raise LineFault(stray.start() + 1, f"byte 0x{stray[0][0]:02x} is no text; is this a LIBSVM file?")
    tokens = list(_TOKEN.finditer(body))
    if not tokens:
        return None
    label = None
    if b":" not in tokens[0][0]:
        try:
            label = class_name(tokens[0][0])
        except LineFault as fault:
            raise LineFault(tokens[0].start() + 1, fault.what) from None
        del tokens[0]
    elif options.need_label:
        raise LineFault(tokens[0].start() + 1, f"label is missing (the row starts with {shown(tokens[0][0])})")
    entries: list[tuple[int, float]] = []
    seen: set[int] = set()
    qids = i = 0
    while i < len(tokens):
        token, column = tokens[i][0], tokens[i].start() + 1
        i += 1
        name, colon, text = token.partition(b":")
        at = column + len(name) + 1
        if not colon:
            raise LineFault(column, f"{shown(token)} is not index:value (it has no colon)")
        if not text:
            if i == len(tokens) or b":" in tokens[i][0]:
                raise LineFault(column, f"{shown(token)} has no value")
            text, at = tokens[i][0], tokens[i].start() + 1
            i += 1
        if b":" in text:
            raise LineFault(column, f"{shown(token)} has two colons; is a blank missing?")
        if name == b"qid":
            if not text.isdigit():
                raise LineFault(at, f"qid {shown(text)} is not a whole number")
            qids += 1
            continue
        index = _index(name, column, options)
        value = _value(text, at)
        if index in seen:
            raise LineFault(column, f"index {index} appears twice in this row; --on-error skip drops such rows")
        seen.add(index)
        entries.append((index, value))
    return Line(label, entries, qids)


def _index(text: bytes, column: int, options: ReadOptions) -> int:
    if not _INDEX.fullmatch(text):
        if text[:1] == b"-" and _INDEX.fullmatch(text[1:]):
            raise LineFault(column, f"index {_short(text)} is negative")
        raise LineFault(column, f"index {shown(text)} is not a whole number")
    digits = text.lstrip(b"+0") or b"0"
    if options.hash_bits and (len(digits) > 20 or int(digits) >= 1 << 64):
        raise LineFault(column, f"feature index {_short(digits)} is beyond 64 bits")
    if not options.hash_bits and (len(digits) > 20 or int(digits) >= LAST_COLUMN):
        what = f"feature index {_short(digits)} is beyond {LAST_COLUMN - 1}"
        raise LineFault(column, f"{what}; train with --hash-bits {_bits(LAST_COLUMN - 1)}")
    if not options.hash_bits and int(digits) >= options.max_column:
        most = options.max_column - 1
        what = f"feature index {_short(digits)} is beyond {most}, by the memory"
        raise TooWide(column, f"{what}; try --hash-bits {_bits(most)}")
    return int(digits)


def _bits(most: int) -> int:
    """The --hash-bits that make at most so many columns; not more than anyone needs."""
    return max(1, min(22, most.bit_length() - 1))


def _short(digits: bytes) -> str:
    return digits.decode() if len(digits) <= 40 else digits[:40].decode() + "..."


def _value(text: bytes, column: int) -> float:
    if not _VALUE.fullmatch(text):
        if _NOT_FINITE.fullmatch(text.decode("latin-1")):
            raise LineFault(column, f"feature value {shown(text)} is not finite")
        raise LineFault(column, f"feature value {shown(text)} is not a number")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise LineFault(column, f"feature value {shown(text)} is not finite: it is beyond 1.8e308")
    return value
