"""Rows that were read and cannot be encoded: they end the run, or are dropped and counted.

They are found before the others are encoded, so that nothing of a dropped row is left: no column, no class.
"""

from __future__ import annotations

import numpy as np

from bigclf.block import Csr, owners
from bigclf.core import Array
from bigclf.errors import DataError
from bigclf.reading.encode_faults import beyond, refuse_infinite
from bigclf.reading.expand import Expander
from bigclf.reading.raw import Raw, Skips, Words, without
from bigclf.reading.scaling import LIMITS, Scaling
from bigclf.reading.schema import Schema


class Dropped:
    """The rows dropped in a pass.

    gone: dropped before the next rows. alone: rows may be dropped for values beyond their type, which depend on how
    rows are encoded: not where others encode the same rows in another way. frozen: the schema is a model's.
    """

    def __init__(self, schema: Schema, skips: Skips, gone: int, alone: bool, frozen: bool) -> None:
        self.schema, self.alone, self.frozen = schema, alone, frozen
        self.begin(skips, gone)

    def begin(self, skips: Skips, gone: int = 0) -> None:
        """Count anew, for another pass."""
        self.skips = skips
        self._before, self._rows = gone, np.empty(0, np.int64)  # before the last raw rows, in them

    def before(self, row: int) -> int:
        """How many rows before this one were dropped."""
        return self._before + (int((self._rows < row).sum()) if self._rows.size else 0)

    @property
    def lenient(self) -> bool:
        """Whether rows are dropped for values beyond their type."""
        return self.alone and not self.skips.stop

    def rest(self, raw: Raw, expander: Expander, scaling: Scaling) -> Raw:
        """The rows, the next of the stream, that can be encoded."""
        self._before += len(self._rows)
        self._rows = self._rows[:0]
        faults: dict[int, str] = {}
        if self.schema.missing in ("error", "skip") and isinstance(raw.data, dict):
            faults = self._lacking(raw, expander)
        if self.lenient:
            for i, (column, value) in beyond_type(raw, self.schema, expander, scaling, self.frozen).items():
                faults.setdefault(i, beyond(self.schema, column, value, self.frozen))
        if not faults:
            return raw
        self.drop(raw, faults)
        return without(raw, sorted(faults))

    def drop(self, raw: Raw, faults: dict[int, str]) -> None:
        """Count these rows, and note what is wrong with them."""
        for i in sorted(faults):
            self.skips.drop(DataError(raw.where(i), faults[i]))
        self._rows = np.concatenate([self._rows, raw.row[sorted(faults)]])

    def _lacking(self, raw: Raw, expander: Expander) -> dict[int, str]:
        """The rows with missing values."""
        assert isinstance(raw.data, dict)
        lacking = dict(expander.incomplete(raw.data, 0, len(raw.row)))
        refuse_infinite(raw, list(lacking))
        faults = {
            i: f"column '{name}': value is missing; --missing mean or zero would fill it" for i, name in lacking.items()
        }
        if faults and self.schema.missing == "error" and self.skips.stop:
            raise DataError(raw.where(min(faults)), faults[min(faults)])
        return faults


def beyond_type(
    raw: Raw, schema: Schema, expander: Expander, scaling: Scaling, frozen: bool
) -> dict[int, tuple[int, float]]:
    """Rows with values that are too large for the type of the rows, as they are or scaled: the first column, its value.

    A value goes the way that the encoder's loops have. frozen: columns that the model has not weigh nothing.
    """
    found: dict[int, tuple[int, float]] = {}
    if isinstance(raw.data, dict):
        for f in expander.features:
            column = raw.data[f.name]
            if isinstance(column, Words):
                continue
            j = f.column if not schema.hash_bits else 0  # of hashed columns none is shifted or scaled
            reference, offset, factor = (a[j : j + 1] for a in scaling[1:4])
            its = scaling._replace(reference=reference, offset=offset, factor=factor)
            for i in _too_large(column, np.zeros(1, np.int64), its, schema.dtype).tolist():
                found.setdefault(i, (f.column, float(column[i])))
        return found
    sparse = raw.data
    value, place = (sparse.data, sparse.indices) if isinstance(sparse, Csr) else (sparse.value, sparse.column)
    for k in _too_large(value, place, scaling, schema.dtype).tolist():
        row = int(owners(sparse.indptr, k))
        if frozen and place[k] >= schema.used:
            continue
        found.setdefault(row, (int(place[k]), 0.0))
    return found


def without_extremes(raw: Raw, dtype: str) -> Raw:
    """The rows that no scaling makes fit for this type left out: for statistics, which they would spoil."""
    limit, bad = LIMITS[dtype], np.empty(0, np.int64)
    if isinstance(raw.data, dict):
        columns = [column for column in raw.data.values() if not isinstance(column, Words)]
        for column in columns:
            bad = np.union1d(bad, np.flatnonzero(np.abs(column) > limit))
    elif not isinstance(raw.data, Csr):
        at = np.flatnonzero(np.abs(raw.data.value) > limit)
        bad = np.unique(owners(raw.data.indptr, at))
    return without(raw, bad) if bad.size else raw


def _too_large(value: Array, place: Array, scaling: Scaling, dtype: str) -> Array:
    """Which of the values are; place: of each its column, or of all of them. Columns beyond the scaling's stay."""
    _, reference, offset, factor, limit = scaling
    if not value.size:
        return np.empty(0, np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(max(np.fmax.reduce(value), -np.fmin.reduce(value)))
        shift = float(np.abs(reference).max(initial=0.0) + np.abs(offset).max(initial=0.0))
        if (abs(largest) + shift) * max(1.0, float(np.abs(factor).max(initial=1.0))) < 0.5 * limit:
            return np.empty(0, np.int64)
        inside = place < factor.size
        at = np.where(inside, place, 0)
        v = (value - np.where(inside, reference[at], 0.0)).astype(dtype).astype(float)
        w = (v - np.where(inside, offset[at], 0.0)) * np.where(inside, factor[at], 1.0)
        return np.flatnonzero(~((np.abs(v) <= limit) & (np.abs(w) <= limit)) & ~np.isnan(value))
