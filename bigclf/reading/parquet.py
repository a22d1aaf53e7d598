"""Parquet: some rows at a time, columns by name.

Row groups of numbers that are no larger than a block are decoded whole, one column after the other, which is what
costs pyarrow least. For all others `ParquetFile.iter_batches` with a read buffer decodes page by page, so that memory
holds neither a row group nor the file; the dataset scanner, which would also take many files, reads ahead without a
bound.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bigclf.core import TILE
from bigclf.errors import DataError
from bigclf.reading.arrow_columns import bare, codes, floats
from bigclf.reading.arrow_parquet import pq
from bigclf.reading.encode_faults import not_finite
from bigclf.reading.labels import no_class, number_name
from bigclf.reading.parquet_groups import Groups, decoded, picked, readable, row_bytes, value_bytes
from bigclf.reading.raw import HEAD_BYTES, HEAD_ROWS, Column, Cursor, Numbers, Raw, Table, Words
from bigclf.reading.stored import check
from bigclf.reading.table import Kinds, Layout, TableReader, align, choose, finite, show, spell, words

MOST_ROWS = 8_192  # of a batch that holds words: more would leave the nearest caches, and gain nothing
READ_BUFFER = 1 << 16  # bytes for each column
SHORT = 1_024  # rows: below that, what is kept of each column is small beside the objects that keep it
NEAR = 256  # values of a byte
RUN = 4  # batches, at least, that row groups read in one go give


class ParquetReader(TableReader):
    """Rows of Parquet files; the types of the first one fix the kinds in training. Shares are of the row groups.

    Places are `path: row group G, row R`, both counted from 1, R within the file. Iteration raises DataError for a
    fault, and gives nothing when there are no rows.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._from = self.begin or Cursor()
        self._head = 0 if self.kinds is not None else HEAD_ROWS  # rows

    def __iter__(self) -> Iterator[Raw]:
        mine = picked(self.sources, self.share, self._count)
        for number, source in enumerate(self.sources):
            if number >= self._from.source and mine[number] != []:
                with (
                    readable(source.path, self._count),
                    pa.OSFile(source.path) as stored,
                    _opened(stored, READ_BUFFER) as file,
                    _opened(stored, 0, file.metadata) as direct,
                ):
                    yield from self._file(file, direct, number, mine[number])
                    if self.rows == self.until:
                        return
                    check(source.path, os.fstat(stored.fileno()), cast("int", source.size), source.mtime)
            source.meter.finish()

    def _file(self, file: Any, direct: Any, number: int, mine: list[int] | None) -> Iterator[Raw]:
        """Rows of the row groups that are read of a file; direct: the same without a read buffer."""
        source, metadata = self.sources[number], file.metadata
        layout = self._layout(file.schema_arrow, source.path)
        size = row_bytes(metadata, layout)
        if self.rows == 0 and self._head:
            self._head = min(HEAD_ROWS, max(1, HEAD_BYTES // size))
        groups = Groups.of(metadata)
        if mine is None:
            mine = list(range(groups.ends.size))
        ends, weights = groups.ends[mine], np.cumsum(groups.weights[mine])
        first = self._from.offset if number == self._from.source else 0
        left = [g for g in mine if groups.ends[g] > first]
        at = groups.start(left[0]) if left else 0
        for whole in self._batches(file, direct, groups, left, layout, size):
            passed = min(max(first - at, 0), whole.num_rows)
            at += passed
            batch = whole.slice(passed, None if self.until is None else self.until - self.rows)
            inside = min(max(self._head - self.rows, 0), batch.num_rows)
            for part, head in ((batch.slice(0, inside), True), (batch.slice(inside), False)):
                if part.num_rows:
                    cursor = Cursor(number, at, 0, self.rows, self.skips.read)
                    yield from self._raw(part, layout, partial(groups.place, source.path, at), head, cursor)
                    at += part.num_rows
            del whole, batch, part  # the next rows take their memory
            if done := int(np.searchsorted(ends, at, side="right")):
                source.meter.reach(int(weights[done - 1]))
            if self.rows == self.until:
                return

    def _batches(
        self, file: Any, direct: Any, groups: Groups, left: list[int], layout: Layout, size: int
    ) -> Iterator[Any]:
        """The rows of these row groups, some at a time; size: bytes of a row that holds words."""
        names, schema = [name for name, _ in layout.features], file.schema_arrow
        plain = cast("Kinds", self.kinds).plain
        if layout.label is not None:
            label = cast("str", layout.label_name)
            names.append(label)
            plain = plain and _kind(schema.field(label).type) != "words"  # names of classes may be of any length
        rows = max(1, self.options.block_size // (value_bytes(schema, names) if plain else size))
        rows = rows if plain else min(rows, MOST_ROWS)
        rows = _tiles(rows)
        for run in groups.runs(left, rows if plain else RUN * rows):
            if plain and groups.rows(run) <= rows:
                # what is read through a buffer is copied once more, and takes a call of the system for each filling
                yield decoded(direct if groups.small(run) else file, run, names)
            else:
                # pages and dictionaries of all columns are held beside the rows, which are to be few then
                some = _tiles(max(rows // 4, min(rows, MOST_ROWS)))
                yield from file.iter_batches(some, row_groups=run, columns=names, use_threads=False)

    def _layout(self, schema: Any, path: str) -> Layout:
        """Where the columns stand in a file; sets `kinds` by the first one."""
        training = self.kinds is None
        names = schema.names  # and types: each a new list at every look
        every = schema.types
        if training:
            layout = choose(names, self.options, path, self.notices)
        else:
            layout = align(names, cast("Kinds", self.kinds), self.options, path, self.notices)
        used = [
            *layout.features,
            *([(cast("str", layout.label_name), layout.label)] if layout.label is not None else []),
        ]
        types = {name: every[at] for name, at in used}
        count = Counter(names)
        for name, type in types.items():
            if count[name] > 1:
                raise DataError(path, f"column {name!r} appears twice")
            if _kind(type) is None:
                raise DataError(path, f"column {name!r} is {_called(type)}; name it in --ignore")
        if training:
            kinds = [
                "words" if name in layout.forced else cast("str", _kind(types[name])) for name, _ in layout.features
            ]
            self.kinds = layout.kinds(kinds)
        for name, kind in cast("Kinds", self.kinds).columns:
            found = _kind(types[name])
            if found != kind and name not in layout.forced and not pa.types.is_null(types[name]):
                raise DataError(path, f"column {name!r} holds {_PLURAL[found]} here and {_PLURAL[kind]} before")
        return layout

    def _raw(
        self, batch: Any, layout: Layout, place: Callable[[int], str], head: bool, cursor: Cursor
    ) -> Iterator[Raw]:
        wrong: dict[int, str] = {}
        data: dict[str, Column] = {}
        kinds = cast("Kinds", self.kinds)
        # to look at every value takes a tenth of the reading, and the encoder does
        left = kinds.plain and not head and self.skips.stop and self.options.endless and not self.options.hash_bits
        for name, kind in kinds.columns:
            if kind == "words":
                data[name] = _words(batch.column(name), f"column {name!r}", wrong)
                continue
            data[name] = values = _numbers(batch.column(name))
            if not left and not finite(values):
                for at in np.flatnonzero(np.isinf(values)).tolist():
                    wrong.setdefault(at, not_finite(name, values[at]))
        label = None
        if layout.label is not None:
            label = _words(batch.column(cast("str", layout.label_name)), "label", wrong)
            if self.options.need_label:
                for at in np.flatnonzero(label.code < 0).tolist():
                    wrong.setdefault(at, "label is missing")
            for k in [k for k, name in enumerate(label.names) if no_class(name)]:
                for at in np.flatnonzero(label.code == k).tolist():
                    wrong.setdefault(at, f"label {label.names[k]!r} is not a class")
        row = np.arange(self.rows, self.rows + batch.num_rows)
        start = self.rows
        self.rows += batch.num_rows
        if kinds.plain and batch.num_rows < SHORT:
            data = dict(zip(data, np.stack(cast("list[Numbers]", list(data.values()))), strict=True))
        table = Table.of_numbers(cast("dict[str, Numbers]", data)) if kinds.plain else Table(data)
        if wrong:
            for at in sorted(wrong):
                self.skips.fault(DataError(place(at), wrong[at]))
            good = np.delete(np.arange(batch.num_rows), list(wrong))
            row, label = row[good], None if label is None else words(label.code[good], label.names)
            table = table.rows(good)
        if len(row):
            yield Raw(row, table, label, lambda i: place(int(row[i]) - start), head, cursor)


def _tiles(rows: int) -> int:
    """So many rows, whole tiles if they are: then blocks end with them, and no batch makes two.

    >>> _tiles(3000), _tiles(1000)
    (2048, 1000)
    """
    return rows // TILE * TILE or rows


def _opened(stored: Any, buffer: int, metadata: Any = None) -> Any:
    """A file, whose columns are read by so many bytes; 0: each in one go."""
    return pq.ParquetFile(
        stored, metadata=metadata, pre_buffer=False, buffer_size=buffer, page_checksum_verification=True
    )


_PLURAL = {"number": "numbers", "words": "words", None: "neither numbers nor words"}


def _kind(type: Any) -> str | None:
    """What a column of this Arrow type holds: number, words, or nothing that can be a feature."""
    t = pa.types
    if t.is_dictionary(type):
        return None if t.is_dictionary(type.value_type) else _kind(type.value_type)
    if t.is_integer(type) or t.is_floating(type) or t.is_decimal(type) or t.is_boolean(type) or t.is_null(type):
        return "number"
    if t.is_string(type) or t.is_large_string(type) or t.is_string_view(type):
        return "words"
    return None


def _called(type: Any) -> str:
    """The type in words.

    >>> _called(pa.list_(pa.int8())), _called(pa.timestamp("ms")), _called(pa.binary())
    ('a list', 'a timestamp', 'binary')
    """
    for name in ("list", "struct", "map", "union", "timestamp", "duration", "interval", "date", "time"):
        if re.sub("^(large|fixed_size|dense|sparse)_", "", str(type)).startswith(name):
            return f"an {name}" if name == "interval" else f"a {name}"
    return str(type)


def _numbers(column: Any) -> Numbers:
    """A column of numbers as they lie in memory where that can be, NaN where one is missing."""
    values = bare(column)
    if values is not None and values.dtype.kind == "f":
        return values
    if pa.types.is_float32(column.type):
        return cast("Numbers", column.to_numpy(zero_copy_only=False))
    return floats(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column)


def _words(column: Any, what: str, wrong: dict[int, str]) -> Words:
    """A column of any usable type as words; rows whose text holds a NUL are noted in `wrong`."""
    values = bare(column)
    if values is not None and len(values):
        low, high = values.min(), values.max()
        if values.dtype.kind in "iu" and int(high) - int(low) < NEAR:
            return _near(values, int(low), int(high))
        found = np.unique(values)
        if not np.isnan(found[-1]):
            return words(np.searchsorted(found, values).astype(np.int32), [_name(value) for value in found.tolist()])
    t = pa.types
    if t.is_null(column.type):
        return Words(np.full(len(column), -1, np.int32), [])
    if t.is_decimal(column.type) or t.is_string_view(column.type):
        column = column.cast(pa.string())
    elif t.is_float16(column.type):
        column = column.cast(pa.float64())
    encoded = column if t.is_dictionary(column.type) else column.dictionary_encode()
    code, names = codes(encoded), encoded.dictionary
    if len(names) > len(code):  # a dictionary of the whole row group: look at the used part only
        used, back = np.unique(np.append(code, -1), return_inverse=True)
        code, names = (back[:-1] - 1).astype(np.int32), names.take(pa.array(used[1:]))
    named = words(code, [_name(value) for value in names.to_pylist()])
    for at, name in enumerate(named.names):
        if "\0" in name:
            for row in np.flatnonzero(named.code == at).tolist():
                wrong.setdefault(row, f"{what}: a NUL in {show(name)}")
    return named


def _near(values: NDArray[Any], low: int, high: int) -> Words:
    """Whole numbers that are near to each other as words, by their lowest bytes."""
    lowest = (values.astype(np.uint8) - np.uint8(low % NEAR)).tobytes()
    found = [x for x in range(high - low + 1) if x in lowest]
    place = bytearray(NEAR)
    for at, x in enumerate(found):
        place[x] = at
    code = np.frombuffer(lowest.translate(place), np.uint8)
    return Words(code.astype(np.int32), [cast("str", _name(low + x)) for x in found])


def _name(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return None if math.isnan(value) else number_name(value)
    return None if value is None else spell(str(value))
