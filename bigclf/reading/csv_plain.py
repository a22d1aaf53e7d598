"""Rows of plain CSV by the compiled kernel: all columns numbers, and nothing out of the ordinary in sight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.reading import csv_kernel as kernel
from bigclf.reading.csv_piece import Dialect
from bigclf.reading.libsvm_labels import Labels, longer
from bigclf.reading.libsvm_strict import LineFault, class_name
from bigclf.reading.libsvm_tokens import CHUNK
from bigclf.reading.raw import FIRST, Table, Words
from bigclf.reading.table import Kinds, Layout, spell

MOST_NAMES = 4096  # of classes that are kept in mind: more are no classes, and would fill the memory
_NO_LABELS = Labels()
_DELIMITERS, _QUOTES = (",", ";", "\t", "|", " ", ":"), ("", '"', "'", "`")  # others may be a part of numbers


class Taken(NamedTuple):
    """The rows that were read, in order, and where others have to go on."""

    table: Table
    label: Words | None
    line: NDArray[np.int64]  # (n,) number of each row's line
    at: int  # position behind the last one
    next_line: int


class Plain:
    """Reads rows of one file as long as they are plain. Scratch arrays are used again; those given away are not."""

    def __init__(self, layout: Layout, dialect: Dialect, need_label: bool, labels: Labels) -> None:
        self.layout = layout
        self._names = [name for name, _ in layout.features]
        self._labels = labels if layout.label is not None else None
        self._roles = np.full(layout.width, kernel.PASSED, np.int32)
        for column, (_, at) in enumerate(layout.features, FIRST):
            self._roles[at] = column
        if layout.label is not None:
            self._roles[layout.label] = kernel.LABEL
        self._state = np.zeros(kernel.STATE, np.int64)
        self._state[kernel.DELIMITER] = ord(dialect.delimiter)
        self._state[kernel.QUOTE] = ord(dialect.quote or dialect.delimiter)
        self._state[kernel.NEED] = need_label
        self._places = np.empty(2 * CHUNK, np.int32)
        self._per_byte = 0.0  # rows, as of late

    @classmethod
    def of(cls, layout: Layout, kinds: Kinds, dialect: Dialect, need_label: bool, labels: Labels) -> Plain | None:
        """What reads a file of these columns; None where they are not plain."""
        usual = dialect.delimiter in _DELIMITERS and dialect.quote in _QUOTES and dialect.decimal == "."
        return cls(layout, dialect, need_label, labels) if kinds.plain and usual else None

    def take(self, buffer: NDArray[np.uint8], start: int, end: int, line: int, most: int = -1) -> Taken:
        """Rows of buffer[start:end], which begins with line number `line`; not more than `most`, if that is not -1.

        The last byte is a newline, and PAD bytes before and behind may be read.
        """
        if self._labels is not None and len(self._labels.names) > MOST_NAMES:
            self._labels = Labels()
        state, labels = self._state, self._labels or _NO_LABELS
        state[[kernel.AT, kernel.STOP_AT, kernel.LINE, kernel.ROWS, kernel.MOST]] = start, end, line, 0, most
        rows = int((end - start) * (self._per_byte or self._guess(buffer, start, end))) + 16
        if most >= 0:
            rows = min(rows, most)
        lines, code = np.empty(rows, np.int64), np.empty(rows, np.int32)
        matrix = np.empty((rows, FIRST + len(self._names)))
        while True:
            why = kernel.read_table(
                buffer, state, self._places, self._roles, lines, code, matrix, labels.slots, labels.arena
            )
            n = int(state[kernel.ROWS])
            if why == kernel.ROOM:
                lines, code, matrix = (longer(a, n, 2 * len(a)) for a in (lines, code, matrix))
            elif why == kernel.PLACES:
                self._places = np.empty(2 * self._places.size, np.int32)
            elif why != kernel.NEW or not self._learn(buffer, labels):
                break
        at = int(state[kernel.AT])
        if n:
            self._per_byte = 1.02 * n / (at - start)
        label = Words(code[:n], labels.names) if self._labels is not None else None
        table = Table.laid_out(self._names, matrix[:n])
        return Taken(table, label, lines[:n], at, int(state[kernel.LINE]))

    @staticmethod
    def _guess(buffer: NDArray[np.uint8], start: int, end: int) -> float:
        """Rows in a byte, by the first line."""
        length = buffer[start : min(end, start + CHUNK)].tobytes().find(b"\n") + 1
        return 1.25 / (length or CHUNK)

    def _learn(self, buffer: NDArray[np.uint8], labels: Labels) -> bool:
        """Note a label that the kernel did not know; False where it is for others to judge."""
        state = self._state
        text = buffer[state[kernel.TEXT] : state[kernel.TEXT + 1]].tobytes()
        try:
            plain = text.decode("ascii").isprintable() and spell(text.decode()) == class_name(text)
        except (UnicodeDecodeError, LineFault):
            plain = False
        if plain:
            labels.add(text, int(state[kernel.KEY]))
        return plain
