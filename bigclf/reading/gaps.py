"""Rows that were read and cannot be encoded: they end the run, or are dropped and counted."""

from __future__ import annotations

import numpy as np

from bigclf.errors import DataError
from bigclf.reading.encode_faults import refuse_infinite
from bigclf.reading.expand import Expander
from bigclf.reading.raw import Raw, Skips, take


class Gaps:
    """Rows dropped in a pass. missing: what is to be done with such rows; gone: dropped before the next rows."""

    def __init__(self, missing: str, skips: Skips, gone: int = 0) -> None:
        self.missing = missing
        self.begin(skips, gone)

    def begin(self, skips: Skips, gone: int = 0) -> None:
        """Count anew, for another pass."""
        self.skips = skips
        self._before, self._rows = gone, np.empty(0, np.int64)  # before the last raw rows, in them

    def until(self, row: int) -> int:
        """How many rows before this one were dropped."""
        return self._before + (int((self._rows < row).sum()) if self._rows.size else 0)

    def next(self) -> None:
        """Other raw rows are at hand."""
        self._before += len(self._rows)
        self._rows = self._rows[:0]

    def refuse(self, row: int, fault: DataError) -> None:
        """A row that no block can have; raises its fault if that is to end the run."""
        if self.skips.stop:
            raise fault
        self.skips.drop(fault)
        self._rows = np.append(self._rows, row)

    def without(self, raw: Raw, expander: Expander) -> Raw:
        """The rows without missing values; the others are faults."""
        assert isinstance(raw.data, dict)
        bad: list[int] = []
        lacking = list(expander.incomplete(raw.data, 0, len(raw.row)))
        refuse_infinite(raw, [i for i, _ in lacking])
        for i, name in lacking:
            fault = DataError(raw.where(i), f"column '{name}': value is missing; --missing mean or zero would fill it")
            if self.missing == "error" and self.skips.stop:
                raise fault
            self.skips.drop(fault)
            bad.append(i)
        self.next()
        self._rows = raw.row[bad]
        if not bad:
            return raw
        return take(raw, np.delete(np.arange(len(raw.row)), bad))
