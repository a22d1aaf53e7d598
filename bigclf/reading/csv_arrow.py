"""The fields of CSV text by pyarrow, converted by explicit column types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from bigclf.reading.arrow_columns import codes, floats, whole
from bigclf.reading.csv_piece import Dialect, Piece, is_text
from bigclf.reading.labels import ENDLESS_WORDS, NUMBER, no_class
from bigclf.reading.options import MISSING_TOKENS
from bigclf.reading.raw import Column, Words
from bigclf.reading.table import TRUTH, finite, spell, words

pa.enable_signal_handlers(False)  # Ctrl-C is ours: pyarrow would end the run in the middle of a block

_PADDED = [before + token + after for token in MISSING_TOKENS for before in ("", " ") for after in ("", " ")]
_TRUE = [before + token for token in ("1", *TRUTH[:3]) for before in ("", " ")]
_FALSE = [before + token for token in ("0", *TRUTH[3:]) for before in ("", " ")]
_BOM = b"\xef\xbb\xbf"
_ASCII = bytes(range(128)) + b"?" * 128
_WORDS = pa.dictionary(pa.int32(), pa.string())


def fast(
    piece: Piece, kinds: dict[str, str], truths: set[str], need_label: bool
) -> tuple[dict[str, Column], Words | None, int] | None:
    """Columns, label and number of rows by pyarrow's conversion; None where a closer look is due."""
    if b"\0" in piece.data:
        return None
    layout = piece.layout
    types: dict[int, Any] = {} if layout.label is None else {layout.label: _WORDS}
    for name, at in layout.features:
        types[at] = _WORDS if kinds[name] == "words" else pa.bool_() if name in truths else pa.float64()
    try:
        table, uneven = parse(piece, types or {0: pa.large_binary()})
    except pa.ArrowInvalid:
        return None
    if uneven:
        return None
    data: dict[str, Column] = {}
    columns = dict(zip(types, map(whole, table.itercolumns()), strict=False))
    for name, at in layout.features:
        column = columns[at]
        if kinds[name] == "words":
            data[name] = found = _words(column, piece.dialect)
            if name not in layout.forced and any(_numeric(word) for word in found.names):
                return None
        else:
            data[name] = values = floats(column)
            if not (finite(values) if not column.null_count else _regular(values, column.null_count)):
                return None
    label = None if layout.label is None else _words(columns[layout.label], piece.dialect)
    if label is not None and need_label and label.code.size and label.code.min() < 0:
        return None
    if label is not None and any(map(no_class, label.names)):
        return None
    return data, label, table.num_rows


def _words(column: Any, dialect: Dialect) -> Words:
    return words(codes(column), [spell(t, dialect.decimal) for t in column.dictionary.to_pylist()])


def _numeric(word: str) -> bool:
    return word in TRUTH or word.lower() in ENDLESS_WORDS or NUMBER.fullmatch(word) is not None


def _regular(values: Any, missing: int) -> bool:
    """Whether NaN stands for missing fields only, and nothing is infinite."""
    return int(np.isnan(values).sum()) == missing and not np.isinf(values).any()


def parse(piece: Piece, types: dict[int, Any]) -> tuple[Any, dict[int, int]]:
    """Columns by position with the given Arrow types; rows with another number of fields are left out.

    Returns a pyarrow.Table with the positions as names, and record -> number of fields of the rows left out.
    Raises pyarrow.ArrowInvalid where a value does not fit its type.
    """
    if piece.data.isascii() or is_text(piece.data):
        return _parse(piece, piece.data, types)
    # pyarrow must hand an uneven row to Python as text: of such rows the bytes beyond ASCII are replaced.
    _, ragged = _parse(piece, piece.data.translate(_ASCII), dict.fromkeys(types, pa.string()))
    data, ends = bytearray(piece.data), np.append(piece.starts, len(piece.data))
    for row in ragged:
        data[ends[row] : ends[row + 1]] = data[ends[row] : ends[row + 1]].translate(_ASCII)
    return _parse(piece, bytes(data), types)


def _parse(piece: Piece, data: bytes, types: dict[int, Any]) -> tuple[Any, dict[int, int]]:
    ragged: dict[int, int] = {}

    def note(row: Any) -> str:
        ragged[row.number - 1] = row.actual_columns
        return "skip"

    data = b"\n" + data if data.startswith(_BOM) else data  # pyarrow would drop these bytes
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        pa_csv.ReadOptions(
            use_threads=False, block_size=len(data) + 1, column_names=[str(i) for i in range(piece.layout.width)]
        ),
        pa_csv.ParseOptions(
            delimiter=piece.dialect.delimiter,
            quote_char=piece.dialect.quote or False,
            newlines_in_values=True,
            invalid_row_handler=note,
        ),
        pa_csv.ConvertOptions(
            column_types={str(i): t for i, t in types.items()},
            include_columns=[str(i) for i in types],
            null_values=_PADDED,
            true_values=_TRUE,
            false_values=_FALSE,
            decimal_point=piece.dialect.decimal,
            strings_can_be_null=False,
        ),
    )
    return table, ragged
