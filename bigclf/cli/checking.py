"""The work of `bigclf check`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.algorithms import registry
from bigclf.block import owners
from bigclf.cli.options import Given
from bigclf.cli.report import Report, emit, show, table
from bigclf.cli.session import no_rows, read_options
from bigclf.core import Shape
from bigclf.errors import DataError
from bigclf.reading.head import check_name
from bigclf.reading.labels import sort_key
from bigclf.reading.options import LAST_COLUMN
from bigclf.reading.raw import Raw, Skips, Sparse, Words, without
from bigclf.reading.scaling import LIMITS
from bigclf.reading.schema import MAX_CLASSES
from bigclf.reading.source import find
from bigclf.reading.stream import Stream
from bigclf.state import nbytes
from bigclf.training.budget import human
from bigclf.units import code_matrix

ADVISED = ("nr-rls", "pa-1", "arow")  # one of each kind of memory


class _Told(Skips):
    """Faults are told as they come, up to a number."""

    def __init__(self, most: int) -> None:
        super().__init__(stop=False, keep=0)
        self.most = most

    def drop(self, fault: DataError) -> None:
        """Print the fault."""
        super().drop(fault)
        if self.rows <= self.most:
            print(f"bigclf: {fault}", file=sys.stderr)
        elif self.rows == self.most + 1:
            print(f"bigclf: more than {self.most} faults; the others are only counted", file=sys.stderr)


class Tally:
    """What is in the rows."""

    def __init__(self) -> None:
        self.rows = self.filled = self.missing = self.columns = 0
        self.zero_based = False
        self.largest = 0.0  # absolute value
        self.place = ("", "")  # once it is beyond the type, of its row and the name of its column
        self.classes: Counter[str] = Counter()
        self.words: dict[str, set[str]] = {}

    def add(self, raw: Raw) -> None:
        """Count these rows."""
        n = len(raw.row)
        self.rows += n
        if raw.label is not None:
            counts = np.bincount(raw.label.code[raw.label.code >= 0], minlength=len(raw.label.names))
            self.classes.update({raw.label.names[k]: int(counts[k]) for k in np.flatnonzero(counts)})
        if isinstance(raw.data, Sparse):
            self.columns = max(self.columns, int(raw.data.column.max(initial=0)) - 1)
            self.zero_based |= bool((raw.data.column == 1).any())
            self.filled += len(raw.data.column)
            self._meet(raw, raw.data.value)
            return
        assert isinstance(raw.data, dict)
        self.columns = len(raw.data)
        for name, column in raw.data.items():
            if isinstance(column, Words):
                self.missing += int((column.code < 0).sum())
                self.words.setdefault(name, set()).update(column.names)
            else:
                self.missing += int(np.isnan(column).sum())
                self._meet(raw, column, name)
        self.filled = self.rows * self.columns - self.missing

    def _meet(self, raw: Raw, values: NDArray[Any], name: str = "") -> None:
        """Note the largest of the values. name: of their column, where they are those of one."""
        size = np.abs(values)
        largest = float(np.fmax.reduce(size, initial=self.largest))
        if largest > max(self.largest, LIMITS["float32"]):
            at = int(np.nanargmax(size))
            row = int(owners(raw.data.indptr, at)) if isinstance(raw.data, Sparse) else at
            column = str(raw.data.column[at] - 1) if isinstance(raw.data, Sparse) else name
            self.place = (raw.where(row), column)
        self.largest = largest

    def features(self) -> int:
        """Columns that a row may have."""
        return self.columns + self.zero_based

    def encoded(self, hash_bits: int) -> int:
        """Columns of a block: each category one, the bias and index 0 one each."""
        if hash_bits:
            return 1 + (1 << hash_bits)
        return 2 + self.columns + sum(len(w) - 1 for w in self.words.values())


def run(
    data: Sequence[str], no_label: bool, most: int, json: bool, quiet: bool, reading: Given, encoding: Given
) -> int:
    """Read all; returns the exit code."""
    report = Report(quiet)
    sources = find(data, reading.get("format", "auto"))
    options = read_options({**reading, **encoding}, sources, on_error="skip", need_label=not no_label)
    stream = Stream(sources, replace(options, max_column=LAST_COLUMN), limit=reading.get("limit", 0))
    stream.skips = _Told(most)
    tally = Tally()
    widest = LAST_COLUMN if options.hash_bits else options.max_column
    try:
        for raw in stream:
            _count(tally, _narrow(raw, widest, stream.skips), stream.skips)
    except DataError as e:  # what follows cannot be told apart
        if not tally.rows and not stream.skips.rows:
            raise
        stream.skips.drop(e)
        report.note("what stands behind this fault was not read")
    faults = stream.skips.rows
    if not tally.rows and not faults:
        raise no_rows(sources, stream.skips)
    if len(tally.classes) > MAX_CLASSES:
        report.note(f"{len(tally.classes):,} different labels: this looks like regression; choose another --label")
        faults += 1
    if tally.largest > LIMITS["float32"]:
        wide = "train with --dtype float64, or " if tally.largest <= LIMITS["float64"] else ""
        row, column = tally.place
        place = row if options.hash_bits else f"{row}: column '{column}'"  # a hash says nothing
        report.note(f"{place}: values up to {tally.largest:.3g}, which train refuses: {wide}leave their columns out")
    memory = _memory(tally, options.hash_bits)
    if json:
        emit(_document(tally, faults, memory))
    else:
        _tables(tally, faults, memory)
    report.notices(stream.notices)
    report.note(report.speed(tally.rows))
    return 1 if faults else 0


def _count(tally: Tally, raw: Raw, skips: Skips) -> None:
    """Count these rows, and tell names of classes that cannot be."""
    known = set(tally.classes)
    tally.add(raw)
    for name in [name for name in tally.classes if name not in known]:
        try:
            check_name(raw, [name])
        except DataError as e:
            skips.drop(e)


def _narrow(raw: Raw, widest: int, skips: Skips) -> Raw:
    """The rows that training has the memory for: with indices below `widest`. The others are told."""
    if not isinstance(raw.data, Sparse) or raw.data.column.max(initial=0) <= widest:
        return raw
    wide = np.flatnonzero(raw.data.column > widest)
    rows, first = np.unique(owners(raw.data.indptr, wide), return_index=True)
    for row, at in zip(rows.tolist(), wide[first].tolist(), strict=True):
        what = f"feature index {raw.data.column[at] - 1} is beyond {widest - 1}, by the memory; try --hash-bits"
        skips.drop(DataError(raw.where(row), what))
    return without(raw, rows)


def _memory(tally: Tally, hash_bits: int) -> dict[str, int]:
    """Bytes of the state of some algorithms at this width and number of classes."""
    if not tally.classes or len(tally.classes) > MAX_CLASSES:
        return {}
    code = code_matrix(list(tally.classes))
    shape = Shape(len(code), tally.encoded(hash_bits), code.shape[1])
    return {name: nbytes(registry.build(name), shape) for name in ADVISED}


def _density(tally: Tally) -> float:
    return tally.filled / max(tally.rows * max(tally.features(), 1), 1)


def _document(tally: Tally, faults: int, memory: dict[str, int]) -> dict[str, Any]:
    return {
        "rows": tally.rows,
        "faults": faults,
        "features": tally.features(),
        "density": round(_density(tally), 6),
        "missing": tally.missing,
        "classes": sorted(tally.classes, key=sort_key),
        "counts": dict(tally.classes),
        "state_bytes": memory,
    }


def _tables(tally: Tally, faults: int, memory: dict[str, int]) -> None:
    top = [
        ["rows", f"{tally.rows:,}"],
        ["faults", f"{faults:,}"],
        ["features", f"{tally.features():,}"],
        ["density", f"{_density(tally):.4f}"],
        ["missing values", f"{tally.missing:,}"],
        *([f"memory of {name}", human(size)] for name, size in memory.items()),
    ]
    most = tally.classes.most_common(20)
    rows = [[name, f"{n:,}", f"{n / max(tally.rows, 1):.4f}"] for name, n in sorted(most, key=lambda c: sort_key(c[0]))]
    title = "Rows by class" if len(tally.classes) <= len(most) else f"The largest of {len(tally.classes):,} classes"
    show(table(["", ""], top), "", title, table(["class", "rows", "share"], rows))
