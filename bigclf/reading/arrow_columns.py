"""Columns of pyarrow as arrays of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def codes(column: Any) -> NDArray[np.int32]:
    """Codes (n,) of a dictionary array, -1 at nulls."""
    indices = column.indices
    if indices.null_count:
        indices = indices.fill_null(-1)
    return np.asarray(indices.to_numpy(zero_copy_only=False), np.int32)


def floats(column: Any) -> NDArray[np.float64]:
    """A column of numbers or truths as (n,) float64, NaN at nulls."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # by its text the value is the nearest one; by arithmetic not always
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def whole(column: Any) -> Any:
    """The one array of a column that a table holds in chunks."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def bare(column: Any) -> NDArray[Any] | None:
    """The numbers of a column as they lie in memory, read-only; None for other types, and where one is missing.

    pyarrow's own way would look for pandas and import it.
    """
    t = pa.types
    if column.null_count or not (t.is_integer(column.type) or t.is_float32(column.type) or t.is_float64(column.type)):
        return None
    kind = np.dtype(column.type.to_pandas_dtype())
    values = np.frombuffer(column.buffers()[1], kind, len(column) + column.offset)
    return values[column.offset :]
