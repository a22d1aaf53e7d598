"""Raw rows become blocks: labels to class codes, values to numbers, the bias in front.

A block is cut at the row where a column or a class is born, so that what a learner sees depends on the rows alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.block import Csr, cols
from bigclf.core import TILE, Block
from bigclf.errors import DataError
from bigclf.reading.column_kernel import TURN, finish_columns
from bigclf.reading.csr_kernel import fill_csr, finish_csr, unit_rows_csr
from bigclf.reading.dropped import Dropped
from bigclf.reading.encode_faults import beyond, beyond_map, endless, first_beyond, zero_indices
from bigclf.reading.encode_kernel import (
    BIG,
    GROW,
    fill_dense,
    finish_dense,
    unit_rows,
)
from bigclf.reading.expand import Expander, hash_table
from bigclf.reading.feature_map import Mapper
from bigclf.reading.head import check_name
from bigclf.reading.options import CELLS
from bigclf.reading.other_kind import other_kind
from bigclf.reading.raw import Form, Raw, Skips, Sparse, Table
from bigclf.reading.scaling import Scaling
from bigclf.reading.schema import MAX_CLASSES, Schema, split_scale


class Encoder:
    """Encodes a stream of raw rows by a schema, which grows with it unless `frozen` (predict, evaluate)."""

    def __init__(
        self,
        schema: Schema,
        skips: Skips,
        frozen: bool = False,
        capacity: int = 0,
        gone: int = 0,
        alone: bool = True,
    ) -> None:
        """alone: nobody encodes the same rows in another way (see `Dropped`)."""
        self.schema = schema
        self.dropped = Dropped(schema, skips, gone, alone, frozen)
        self.frozen = frozen
        self.used = schema.used  # columns met
        self.cols = max(capacity, schema.used)  # columns of blocks to come; an eighth in reserve after growing
        self.width = self.cols  # columns of the block that was given out last, before the feature map
        self.classes = list(schema.classes)
        self.known = {name: k for k, name in enumerate(self.classes)}
        self.by_row = split_scale(schema.scale)[1]
        self.expander = Expander(schema.features, self.cols, schema.bias)
        self.admit: Callable[[int], None] = lambda need: None  # is told of the bytes of larger tables, and may refuse
        self.mapper = None if schema.map.kind == "linear" else Mapper(schema.map, schema.dtype)
        self._met = False
        self._lacking = 0  # columns of a table that a model of LIBSVM rows does not have
        self.missing = 0
        self.left_out: int = 0  # entries in columns that the model does not have
        self._stretch()

    def grown(self) -> Schema:
        """The schema with all columns and classes met so far."""
        return self.schema.widened(self.used, tuple(self.classes))

    @property
    def unseen(self) -> Counter[str]:
        """Rows with a category that training did not have, by column."""
        return self.expander.unseen

    @property
    def form(self) -> Form | None:
        """What sparse rows may look like, where nobody else has them, so that blocks need no copy."""
        schema = self.schema
        if schema.layout == "dense" or schema.dtype != "float32" or schema.hash_bits or self.mapper is not None:
            return None
        return Form(schema.bias)

    def blocks(self, raw: Raw, tiled: bool = False) -> Iterator[Block]:
        """Blocks of the rows, in order; read `classes` and `width` when one is given out.

        tiled: they end where tiles do, if they can.
        """
        if not self._met:
            self._meet(raw)
        raw = self.dropped.rest(raw, self.expander, self._scaling)
        n = len(raw.row)
        sparse, missing = self._as_sparse(raw)
        if sparse is not None and self.mapper is not None and self.schema.map.first > 1:
            self.left_out += zero_indices(raw, sparse, self.frozen)
        start = 0
        while start < n:
            y, end = self._codes(raw, start, n)
            while start < end:
                last = self._until(raw.row, start, end, tiled)
                if isinstance(raw.data, Csr):
                    X: Any = self._finished(raw, raw.data, start, last)
                elif sparse is None:
                    X = self._dense_table(raw, start, last)
                elif self.schema.layout == "dense":
                    X = self._dense_sparse(raw, sparse, start, last)
                else:
                    X = self._csr(raw, sparse, start, last)
                rows = len(X) if isinstance(X, np.ndarray) else len(X.indptr) - 1
                if not rows:
                    continue  # a column was born in the very first row
                if missing is not None:
                    self.missing += int(missing[start : start + rows].sum())
                yield from self._given(raw, start, X, y[:rows])
                y = y[rows:]
                start += rows

    def _given(self, raw: Raw, start: int, X: Any, y: NDArray[np.int32]) -> Iterator[Block]:
        """The rows as a block, mapped and brought to length one."""
        row = raw.row[start : start + len(y)]
        self.width = cols(X)
        if self.mapper is not None:
            X = self.mapper.rows(X)
            if (bad := endless(X)).size:
                if not self.dropped.lenient:
                    raise DataError(raw.where(start + int(bad[0])), beyond_map(self.schema))
                self.dropped.drop(raw, {start + int(i): beyond_map(self.schema) for i in bad})
                X, row, y = np.delete(X, bad, axis=0), np.delete(row, bad), np.delete(y, bad)
        if self.by_row:
            unit_rows(X) if isinstance(X, np.ndarray) else unit_rows_csr(X.indptr, X.data)
        if len(row):
            yield Block(row, X, y)

    def map_bytes(self) -> int:
        """Bytes of the feature map's tables."""
        return self.schema.map.nbytes(self.cols, np.dtype(self.schema.dtype).itemsize)

    def follow(self, used: int, width: int, classes: tuple[str, ...], zero_based: bool) -> None:
        """Stand as if rows with so many columns, and of these classes, had been encoded."""
        if len(classes) != len(self.classes):
            self.classes, self.known = list(classes), {name: k for k, name in enumerate(classes)}
        self.used, self.width = used, width
        if zero_based != self.schema.zero_based:
            self.schema = replace(self.schema, zero_based=zero_based)
        if width != self.cols:
            self.cols = width
            self._stretch()

    def _meet(self, raw: Raw) -> None:
        """Let a model of one kind of input read the other, where columns can be told by their numbers."""
        self._met = True
        features = other_kind(self.schema, raw)
        if features is None:
            return
        self._lacking = len(raw.data) - len(features)
        if self._lacking and not self.frozen:
            place = raw.where(0).rsplit(":", 1)[0]
            raise DataError(place, f"has {len(raw.data)} feature columns, and the model {self.schema.used - 2}")
        self.expander = Expander(features, self.cols, self.schema.bias)
        columns = [f.column for f in features]
        self._note(min(columns, default=0), max(columns, default=0))

    def _note(self, low: int, high: int) -> None:
        """Remember columns met, within the reserve too: before the rows are given out, as a checkpoint may follow."""
        if self.frozen:
            return
        if self.cols > self.used:
            self.used = max(self.used, high + 1)
        if low == 1 and not (self.schema.zero_based or self.schema.hash_bits):
            self.schema = replace(self.schema, zero_based=True)

    def _until(self, row: NDArray[np.int64], start: int, end: int, tiled: bool) -> int:
        """Where a block from `start` on ends: its cells and scores fit the cache."""
        sparse = self.schema.layout == "csr" and self.mapper is None
        wide = len(self.classes) if sparse else self.schema.map.size(self.cols)
        last = min(end, start + max(1, CELLS // max(wide, 1)))
        if not tiled:
            return last
        border = start + int(np.searchsorted(row[start:last], (int(row[last - 1]) + 1) // TILE * TILE))
        return border if border > start else last

    def _codes(self, raw: Raw, start: int, end: int) -> tuple[NDArray[np.int32], int]:
        """Class codes of the rows from `start` up to where the next class is born, which is then known."""
        if raw.label is None:
            return np.full(end - start, -1, np.int32), end
        if raw.label.names == self.classes[: len(raw.label.names)]:
            return raw.label.code[start:end], end  # they are the classes' codes already
        table = np.array([self.known.get(name, -2) for name in raw.label.names] + [-1], np.int32)
        y = table.take(raw.label.code[start:end])
        new = np.flatnonzero(y == -2) if table.min() == -2 else y[:0]
        if not new.size:
            return y, end
        if new[0] > 0:
            return y[: new[0]], start + int(new[0])
        name = raw.label.names[raw.label.code[start]]
        if len(self.classes) >= MAX_CLASSES:
            what = f"class '{name}' is one more than {MAX_CLASSES}: this looks like regression; choose another --label"
            raise DataError(raw.where(start), what)
        check_name(raw, [name])
        self.known[name] = len(self.classes)
        self.classes.append(name)
        return self._codes(raw, start, end)

    def _as_sparse(self, raw: Raw) -> tuple[Sparse | None, NDArray[np.int64] | None]:
        """Sparse rows of a block that has them, or that --hash-bits makes of a table; then with the missing values."""
        if isinstance(raw.data, Sparse):
            return raw.data, None
        if not self.schema.hash_bits:
            return None, None
        assert isinstance(raw.data, dict)
        rows, missing = hash_table(self.schema.features, raw.data, self.schema.hash_bits)
        return rows, missing

    def _dense_table(self, raw: Raw, start: int, end: int) -> NDArray[Any]:
        table = raw.data
        assert isinstance(table, Table)
        X: NDArray[Any] = np.empty((end - start, self.expander.used), self.schema.dtype)
        if table.lying is not None and self.expander.plain(table):
            corner = np.empty((len(table), TURN), X.dtype)
            missing, big = finish_columns(
                table.lying.at, table.lying.wide, start, X, corner, self._base, *self._scaling
            )
        else:
            F = self.expander.rows(table, start, end)
            missing, big = finish_dense(F, X, float(self.schema.bias), *self._scaling)
        self.left_out += self._lacking * (end - start)
        self.missing += missing + self.expander.absent
        self.expander.absent = 0
        if big:
            F = self.expander.rows(table, start, end)
            i, j = first_beyond(F, *self._scaling[1:])
            raise self._too_big(raw, start + i, j, F[i, j])
        return X

    def _known(self) -> int:
        """Columns that count; a model's reserve does not."""
        return self.schema.used if self.frozen else self.cols

    def _dense_sparse(self, raw: Raw, part: Sparse, start: int, end: int) -> NDArray[Any]:
        X = np.empty((end - start, self.cols), self.schema.dtype)
        why, rows, column, left_out, *ends = fill_dense(
            part.indptr, part.column, part.value, start, X,
            self._base, *self._scaling[1:], self._known(), self.frozen,
        )  # fmt: skip
        self._ended(raw, why, start + rows, column, left_out)
        self._note(*ends)
        return X[:rows]

    def _csr(self, raw: Raw, part: Sparse, start: int, end: int) -> Csr:
        entries = int(part.indptr[end] - part.indptr[start]) + (end - start)
        indptr, indices = np.empty(end - start + 1, np.int64), np.empty(entries, np.int32)
        data = np.empty(entries, self.schema.dtype)
        width = self.cols
        why, rows, column, left_out, *ends = fill_csr(
            part.indptr, part.column, part.value, start, indptr, indices, data,
            float(self.schema.bias), self._factors, self._scaling.limit, self._known(), self.frozen,
        )  # fmt: skip
        self._ended(raw, why, start + rows, column, left_out)
        self._note(*ends)
        entries = int(indptr[rows]) if rows else 0
        return Csr(data[:entries], indices[:entries], indptr[: rows + 1], width)

    def _finished(self, raw: Raw, part: Csr, start: int, end: int) -> Csr:
        indptr, width, base = np.empty(end - start + 1, np.int64), self.cols, int(part.indptr[start])
        why, rows, column, left_out, *ends = finish_csr(
            part.indptr, part.indices, part.data, start, indptr,
            self.schema.bias, self._factors, self._known(), self.frozen,
        )  # fmt: skip
        self._ended(raw, why, start + rows, column, left_out)
        self._note(*ends)
        last = base + int(indptr[rows]) if rows else base
        return Csr(part.data[base:last], part.indices[base:last], indptr[: rows + 1], width)

    def _ended(self, raw: Raw, why: int, row: int, column: int, left_out: int) -> None:
        self.left_out += left_out
        if why == BIG:
            raise self._too_big(raw, row, column)
        if why == GROW:
            self.used = column + 1
            self.schema.map.check_size(self.used)
            self.cols = max(self.used, self.cols + self.cols // 8)
            if self.mapper is not None:
                self.admit(self.map_bytes())
            self._stretch()

    def _too_big(self, raw: Raw, row: int, column: int, value: float = 0.0) -> DataError:
        return DataError(raw.where(row), beyond(self.schema, column, value, self.frozen))

    def _stretch(self) -> None:
        """Bring the schema's arrays to the columns of the blocks."""
        self._scaling = Scaling.of(self.schema, self.cols)
        self._base, self._factors = self._scaling.zeros(self.schema.bias, self.schema.dtype), self._scaling.factors
