"""Encoded rows on their way to a learner, and their form in a file.

A record in a file is a line of JSON and the bytes of its arrays, whose checksum the line holds.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.block import Csr, cols
from bigclf.core import Block
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Cursor, Raw
from bigclf.training.feed import Feed, Mark, Piece

LINE = 1 << 24  # bytes of a line of JSON
TYPES = ("float32", "float64", "int32", "int64")


class Record(NamedTuple):
    """Some encoded rows of a pass, and where the pass stood when they were encoded."""

    piece: Piece | None  # None: the rows that were read were all dropped
    at: Cursor | None  # from where the rows can be read again; None where it is that of the record before
    rows: int  # of the pass, up to the last that was read
    used: int  # columns met by then
    zero_based: bool  # the feature with index 0 was among them


def encoded(rows: Iterable[Raw], encoder: Encoder, feed: Feed) -> Iterator[Record]:
    """The records of raw rows."""
    for raw in rows:
        end = int(raw.row[-1]) + 1
        at: Cursor | None = raw.at
        for piece in feed.encoded(raw):
            yield Record(piece, at, end, encoder.used, encoder.schema.zero_based)
            at = None
        if at is not None:
            yield Record(None, at, end, encoder.used, encoder.schema.zero_based)
        del raw  # it need not wait for the next one


def write(f: IO[bytes], record: Record, base: int) -> int:
    """Append a record; how many bytes that were. base: row numbers of the pass begin there."""
    head: dict[str, Any] = {"rows": record.rows, "at": record.at, "used": record.used, "zero": record.zero_based}
    arrays: list[Any] = []
    if record.piece is not None:
        block, classes, width, mark = record.piece
        head |= {"classes": len(classes), "width": width, "mark": mark}
        row, first = block.row, int(block.row[0])
        if int(row[-1]) - first == len(row) - 1:
            head["first"] = first - base
        else:
            arrays.append(row - base)
        sparse = isinstance(block.X, Csr)
        head["cols"] = int(cols(block.X)) if sparse else None
        arrays += [block.y, *(block.X[:3] if sparse else (block.X,))]
    parts = [_bytes(a) for a in arrays]
    head |= {"arrays": [[str(a.dtype), list(a.shape)] for a in arrays], "sum": _sum(parts)}
    line = json.dumps(head).encode() + b"\n"
    f.write(line)
    f.writelines(parts)
    return len(line) + sum(part.nbytes for part in parts)


def read(f: IO[bytes], classes: tuple[str, ...], base: int) -> Record:
    """The next record. ValueError, KeyError or TypeError for what is none.

    classes: all of the pass, in the order in which they were met. base: number of the first row of the pass.
    """
    head = json.loads(f.readline(LINE))
    arrays = [_array(f, *shape) for shape in head["arrays"]]
    if _sum([_bytes(a) for a in arrays]) != head["sum"]:
        raise ValueError("a checksum does not fit")
    at = head["at"] and Cursor(*head["at"])
    piece = None
    if arrays:
        row = arrays.pop(0) if "first" not in head else None
        y, *parts = arrays
        if row is None:
            row = head["first"] + np.arange(len(y))
        row += base
        X: Any = parts[0] if head["cols"] is None else Csr(parts[0], parts[1], parts[2], head["cols"])
        mark = head["mark"] and Mark(*head["mark"])
        piece = Piece(Block(row, X, y), classes[: head["classes"]], head["width"], mark)
    return Record(piece, at, head["rows"], head["used"], head["zero"])


def _array(f: IO[bytes], dtype: str, shape: list[int]) -> NDArray[Any]:
    if dtype not in TYPES:
        raise ValueError(f"an array of {dtype[:20]}")
    a = np.empty(shape, dtype)  # its own: compiled code takes no other kind of memory
    if f.readinto(_bytes(a)) != math.prod(shape) * a.itemsize:  # type: ignore[attr-defined]
        raise ValueError("the file ends early")
    return a


def _bytes(a: NDArray[Any]) -> memoryview:
    flat: Any = np.ascontiguousarray(a).reshape(-1).view(np.uint8)
    return memoryview(flat)


def _sum(parts: list[memoryview]) -> int:
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total
