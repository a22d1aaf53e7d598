"""CSV fields one by one as text: what a column holds (in the head), and which row is at fault (in a block that failed).

Slower than letting pyarrow convert, so only the head and blocks with something out of the ordinary come here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bigclf.errors import DataError
from bigclf.reading.arrow_columns import codes, floats, whole
from bigclf.reading.csv_arrow import parse
from bigclf.reading.csv_piece import BAD_TEXT, Dialect, Piece, is_text
from bigclf.reading.labels import ENDLESS_WORDS, NUMBER
from bigclf.reading.raw import Column, Words
from bigclf.reading.table import BLANKS, MISSING, TRUTH, finite, show, spell, words

NUMERIC, TRUE_FALSE, GONE, WORD, ENDLESS, BROKEN = range(6)


class Cells(NamedTuple):
    """A column of fields: what each one is, and its text with the blanks at the ends removed."""

    state: NDArray[np.int8]  # (n,) one of the constants above; BROKEN: a NUL or bytes that are no text
    value: NDArray[np.float64]  # (n,) NaN where the field is no number
    text: Any  # pyarrow string array (n,)


class Fields(NamedTuple):
    """Fields of the well-formed records of a piece."""

    record: NDArray[np.int64]  # (n,) number of the record in the piece
    columns: dict[int, Any]  # position -> pyarrow binary array (n,)
    ragged: dict[int, int]  # record -> number of its fields


def fields(piece: Piece, positions: list[int]) -> Fields:
    """All fields as bytes, nothing converted."""
    table, ragged = parse(piece, {at: pa.large_binary() for at in positions})
    record = np.arange(table.num_rows + len(ragged))
    if ragged:
        record = np.delete(record, list(ragged))
    columns = {at: whole(column) for at, column in zip(positions, table.itercolumns(), strict=True)}
    return Fields(record, columns, ragged)


def cells(column: Any, dialect: Dialect, numbers: bool = True) -> Cells:
    """What the fields are; with numbers False only GONE, WORD and BROKEN are told apart."""
    if numbers and dialect.decimal == ".":
        try:  # the usual column in a few calls, because with thousands of columns calls are what takes the time
            text = column.cast(pa.large_string())
            value = floats(text.cast(pa.float64()))
        except pa.ArrowInvalid:
            pass
        else:
            if finite(value):
                return Cells(np.full(len(text), NUMERIC, np.int8), value, text)
    broken = pc.match_substring(column, b"\0").to_numpy(zero_copy_only=False)
    try:
        text = column.cast(pa.large_string())
    except pa.ArrowInvalid:
        bad = np.array([not is_text(b) for b in column.to_pylist()])
        text = pc.if_else(pa.array(bad), pa.scalar(b"", pa.large_binary()), column).cast(pa.large_string())
        broken = broken | bad
    text = pc.ascii_trim(text, BLANKS)
    state = np.full(len(text), WORD, np.int8)
    value = np.full(len(text), np.nan)
    if numbers:
        point = dialect.decimal
        pattern = "^(?:" + NUMBER.pattern.replace(r"\.", "\\" + point) + r")\z"
        state[_mask(pc.match_substring_regex(text, pattern))] = NUMERIC
        plain = text if point == "." else pc.replace_substring(text, point, ".")
        plain = pc.ascii_ltrim(pc.if_else(pa.array(state == NUMERIC), plain, None), "+")
        value = floats(plain.cast(pa.float64())).copy()
        state[_mask(pc.is_in(text, pa.array(TRUTH, text.type)))] = TRUE_FALSE
        value[state == TRUE_FALSE] = 0
        value[_mask(pc.is_in(text, pa.array(TRUTH[:3], text.type)))] = 1
        state[_endless(text) | np.isinf(value)] = ENDLESS
    state[_mask(pc.is_in(text, pa.array(sorted(MISSING), text.type)))] = GONE
    state[broken] = BROKEN
    return Cells(state, value, text)


def _endless(text: Any) -> NDArray[np.bool_]:
    return _mask(pc.is_in(pc.ascii_lower(text), pa.array(ENDLESS_WORDS, text.type)))


def _mask(array: Any) -> NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


class Exact(NamedTuple):
    """A piece read field by field; `record` (n,) numbers the rows without fault, faults are in the order of rows."""

    record: NDArray[np.int64]
    data: dict[str, Column]
    label: Words | None
    faults: list[DataError]
    total: int  # records, those at fault included
    truths: dict[str, bool]  # columns of numbers: whether every value there is is true or false


def exact(piece: Piece, kinds: dict[str, str], need_label: bool) -> Exact:
    """Read a piece field by field: the good rows, and what is wrong with the first bad field of each other row."""
    layout, dialect = piece.layout, piece.dialect
    label = [] if layout.label is None else [layout.label]
    read = fields(piece, sorted({at for _, at in layout.features} | set(label)) or [0])
    wrong: dict[int, str] = {record: ragged(n, layout.width) for record, n in read.ragged.items()}
    parsed: dict[int, Cells] = {}

    def note(at: int, rows: NDArray[np.bool_], what: str) -> None:
        for row in np.flatnonzero(rows).tolist():
            found = what.format(value=show(parsed[at].text[row].as_py()))
            wrong.setdefault(int(read.record[row]), found)

    truths = {}
    for name, at in layout.features:
        forced = name in layout.forced
        parsed[at] = cell = cells(read.columns[at], dialect, numbers=not forced)
        column = f"column {name!r}: ".replace("{", "{{").replace("}", "}}")
        note(at, cell.state == BROKEN, column + BAD_TEXT)
        if kinds[name] == "number":
            note(at, cell.state == ENDLESS, column + "value {value} is not finite")
            note(at, cell.state == WORD, column + NOT_A_NUMBER)
            truths[name] = bool(np.isin(cell.state, (TRUE_FALSE, GONE)).all() and (cell.state == TRUE_FALSE).any())
        elif not forced:
            numeric = np.isin(cell.state, (NUMERIC, TRUE_FALSE, ENDLESS))
            note(at, numeric, column + "{value} is a number among words; name it in --categorical or --ignore")
    for at in label:
        parsed[at] = cell = cells(read.columns[at], dialect, numbers=False)
        note(at, cell.state == BROKEN, f"label: {BAD_TEXT}")
        note(at, (cell.state == WORD) & _endless(cell.text), "label {value} is not a class")
        if need_label:
            note(at, cell.state == GONE, "label is missing")
    good = ~np.isin(read.record, list(wrong))

    def as_words(at: int) -> Words:
        encoded = parsed[at].text.filter(pa.array(good)).dictionary_encode()
        return words(codes(encoded), [spell(t, dialect.decimal) for t in encoded.dictionary.to_pylist()])

    return Exact(
        read.record[good],
        {name: parsed[at].value[good] if kinds[name] == "number" else as_words(at) for name, at in layout.features},
        as_words(layout.label) if layout.label is not None else None,
        [DataError(piece.place(record), what) for record, what in sorted(wrong.items())],
        len(read.record) + len(read.ragged),
        truths,
    )


NOT_A_NUMBER = "{value} is not a number; name it in --categorical or --ignore"


def ragged(found: int, width: int) -> str:
    return f"{found} field{'s' if found != 1 else ''} where the header has {width}"
