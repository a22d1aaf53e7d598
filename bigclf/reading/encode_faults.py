"""Values that the encoder cannot take: where they are, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.block import owners
from bigclf.core import Array
from bigclf.errors import DataError
from bigclf.reading.raw import Numbers, Raw, Sparse, Words
from bigclf.reading.scaling import LIMITS
from bigclf.reading.schema import Schema


def first_beyond(F: Numbers, reference: Array, offset: Array, factor: Array, limit: float) -> tuple[int, int]:
    """Row and column of the first value that cannot be learned from, as it is or as scaling makes it."""
    v = np.where(np.isnan(F), 0.0, F) - reference
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (v - offset) * factor
    good = (np.abs(v) <= limit) & (np.abs(scaled) <= limit)
    row, column = np.argwhere(~good)[0].tolist()
    return row, column


def not_finite(name: str, value: float) -> str:
    """What is told of an infinite value in a table."""
    return f"column {name!r}: value {value} is not finite"


def refuse_infinite(raw: Raw, rows: list[int]) -> None:
    """Refuse a table if there is an infinite value in one of these rows, which are not to be encoded."""
    assert isinstance(raw.data, dict)
    for name, column in raw.data.items() if rows else ():
        if not isinstance(column, Words) and (bad := np.isinf(column[rows])).any():
            row = rows[int(bad.argmax())]
            raise DataError(raw.where(row), not_finite(name, column[row]))


def zero_indices(raw: Raw, rows: Sparse, frozen: bool) -> int:
    """Entries with index 0 where the feature map begins at index 1, as the first rows had none; they are left out.

    Raises DataError for the first of them in training (not `frozen`).
    """
    late = np.flatnonzero(rows.column == 1)
    if late.size and not frozen:
        row = int(owners(rows.indptr, late[0]))
        raise DataError(
            raw.where(row), "index 0 did not occur in the first rows, by which --features numbered its columns"
        )
    return int(late.size)


def beyond(schema: Schema, column: int, value: float, trained: bool) -> str:
    """What is told of a value that is too large for the rows' type; trained: the model cannot be changed."""
    name = schema.columns_named()[column] if column < schema.used else str(column - 1)
    if np.isinf(value):
        return not_finite(name, value)
    wide = schema.dtype == "float64" or abs(value) > LIMITS["float64"]
    cure = "leave the column out" if wide else "train with --dtype float64"
    if trained:
        cure = f"the model was trained on {schema.dtype}"
    scaled = "" if schema.factor[column : column + 1].tolist() in ([], [1.0]) else ", as it is or scaled,"
    return f"column '{name}': the value{scaled} is beyond {LIMITS[schema.dtype]:.3g}; {cure}"


def endless(X: NDArray[Any]) -> NDArray[np.int64]:
    """Which rows a feature map brought beyond the range of numbers."""
    bad = np.flatnonzero(~np.isfinite(X.sum(axis=1)))
    found: NDArray[np.int64] = bad[~np.isfinite(X[bad]).all(axis=1)]
    return found


def beyond_map(schema: Schema) -> str:
    """What is told of such a row."""
    what = f"the row is beyond the range of {schema.dtype} after --features {schema.map.kind}"
    cure = "scale it" if schema.dtype == "float64" else "scale it, or train with --dtype float64"
    return f"{what}; {cure}"
