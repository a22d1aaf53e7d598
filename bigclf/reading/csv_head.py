"""What the columns of a CSV file hold, by all rows of the head."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bigclf.errors import DataError
from bigclf.reading.csv_exact import (
    BROKEN,
    ENDLESS,
    GONE,
    NOT_A_NUMBER,
    NUMERIC,
    TRUE_FALSE,
    WORD,
    cells,
    fields,
    ragged,
)
from bigclf.reading.csv_piece import Piece
from bigclf.reading.table import Kinds, show

JOINED = 16 << 20  # bytes
DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([T ].*)?|[0-9]{1,2}([./])[0-9]{1,2}\2[0-9]{2,4}", re.DOTALL)


class _Found(NamedTuple):
    row: int
    place: str
    text: str


@dataclass
class _Seen:
    """What the head shows of one column."""

    numbers: int = 0
    words: int = 0
    value: _Found | None = None  # the first one that is not missing
    word: _Found | None = None  # the first word

    def look(self, piece: Piece, record: Any, column: Any) -> None:
        cell = cells(column, piece.dialect)
        number = (cell.state == NUMERIC) | (cell.state == TRUE_FALSE) | (cell.state == ENDLESS)
        word = cell.state == WORD
        self.numbers += int(number.sum())
        self.words += int(word.sum())

        def first(rows: Any) -> _Found | None:
            if not rows.any():
                return None
            at = int(np.argmax(rows))
            return _Found(piece.row + int(record[at]), piece.place(int(record[at])), cell.text[at].as_py())

        self.value = self.value or first((cell.state != GONE) & (cell.state != BROKEN))
        self.word = self.word or first(word)

    def verdict(self, name: str, stop: bool) -> tuple[str, list[tuple[int, DataError]]]:
        """Kind of the column, and its fault with the row; where rows may be dropped, the kind of most values wins."""
        if self.value is None or self.word is None:
            return "number", []
        if self.numbers and stop:
            what = f"column {name!r}: {NOT_A_NUMBER.format(value=show(self.word.text))}"
            return "number", [(self.word.row, DataError(self.word.place, what))]
        if self.numbers >= self.words:
            return "number", []
        if DATE.fullmatch(self.word.text):
            what = f"column {name!r}: {show(self.word.text)} looks like a date; --ignore it or turn it into numbers"
            return "words", [(self.word.row, DataError(self.word.place, what))]
        return "words", []


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, joined within a file up to some size: many small ones would cost many calls for each column."""
    group: list[Piece] = []
    size = 0
    for piece in [*pieces, None]:
        if group and (piece is None or piece.layout is not group[0].layout or size + len(piece.data) > JOINED):
            yield replace(group[0], data=b"".join(p.data for p in group)) if len(group) > 1 else group[0]
            group, size = [], 0
        if piece is not None:
            group.append(piece)
            size += len(piece.data)


def determine(head: Sequence[Piece], stop: bool) -> Kinds:
    """Kinds of the columns by the whole head; its first piece is of the first file.

    Raises DataError for a column that mixes numbers and words (where `stop`), or holds dates. When several things are
    wrong, the first one by rows is told, uneven rows included.
    """
    first = head[0].layout
    seen = {name: _Seen() for name, _ in first.features if name not in first.forced}
    uneven: list[tuple[int, DataError]] = []
    for piece in _joined(head):
        layout = piece.layout
        read = fields(piece, [at for name, at in layout.features if name in seen] or [0])
        for record in sorted(read.ragged)[:1]:
            what = ragged(read.ragged[record], layout.width)
            uneven.append((piece.row + record, DataError(piece.place(record), what)))
        for name, at in layout.features:
            if name in seen:
                seen[name].look(piece, read.record, read.columns[at])
    verdicts = {name: column.verdict(name, stop) for name, column in seen.items()}
    wrong = [fault for _, faults in verdicts.values() for fault in faults]
    if wrong:
        raise min(wrong + (uneven if stop else []), key=lambda fault: fault[0])[1]
    return first.kinds([verdicts[name][0] if name in verdicts else "words" for name, _ in first.features])
