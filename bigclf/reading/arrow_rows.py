"""Columns of an Arrow batch to rows, compiled: read where they lie, by the Arrow C data interface.

Arrow keeps a column in one piece, a block a row. The interface is a fixed layout of memory, which the kernel walks
itself: column by column in Python a batch of thousands of columns would take mostly calls.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_kernel
from bigclf.reading.memory import address, get_byte, get_float, get_float32, get_int64, put_float, put_float32
from bigclf.reading.raw import FIRST

# words of 64 bits of a `struct ArrowArray`: values to skip, addresses of the buffers' and of the columns' addresses
_OFFSET, _BUFFERS, _CHILDREN = 2, 5, 6
_TURN = 128  # rows that are written before the next column's: they stay in the nearest cache

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@exact_kernel
def _lay_out(batch: int, chosen: Array, wide: Array, matrix: Array) -> bool:
    """Write the chosen columns side by side; whether all values are numbers, neither missing nor infinite."""
    columns = get_int64(batch, _CHILDREN)
    n, width = matrix.shape
    out = address(matrix)
    good = True
    for begin in range(0, n, _TURN):
        size = min(n - begin, _TURN)
        for c in range(chosen.size):
            column = get_int64(columns, chosen[c])
            buffers = get_int64(column, _BUFFERS)
            present, values = get_int64(buffers, 0), get_int64(buffers, 1)
            skip = get_int64(batch, _OFFSET) + get_int64(column, _OFFSET) + begin
            to = begin * width + FIRST + c
            if wide[c]:
                for i in range(size):
                    y = get_float(values, skip + i)
                    good &= abs(y) < np.inf
                    put_float(out, to + i * width, y)
            elif matrix.itemsize == 8:
                for i in range(size):
                    x = get_float32(values, skip + i)
                    good &= abs(x) < np.inf
                    put_float(out, to + i * width, np.float64(x))
            else:
                for i in range(size):
                    x = get_float32(values, skip + i)
                    good &= abs(x) < np.inf
                    put_float32(out, to + i * width, x)
            if present != 0:
                for i in range(size):
                    if (get_byte(present, (skip + i) >> 3) >> ((skip + i) & 7)) & 1 == 0:
                        matrix[begin + i, FIRST + c] = np.nan
                        good = False
        matrix[begin : begin + size, :FIRST] = 0.0
    return good


def lay_out(batch: Any, columns: list[int], wide: list[bool]) -> Array | None:
    """Columns of floats, NaN where one is null, as (n, FIRST + columns) with zeros in front; None if one is infinite.

    columns: their places in the batch. wide: whether each is float64; the others are float32, and all are in the end
    when there is no other.
    """
    matrix = np.empty((batch.num_rows, FIRST + len(columns)), np.float64 if any(wide) else np.float32)
    _, capsule = batch.__arrow_c_array__()  # it holds the memory until it goes
    batch_at = _pointer(capsule, b"arrow_array")
    good = _lay_out(batch_at, np.array(columns, np.int64), np.array(wide, np.bool_), matrix)
    return matrix if good or not np.isinf(matrix).any() else None
