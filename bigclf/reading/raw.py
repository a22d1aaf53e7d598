"""Rows as they were read: what every reader hands on, and what the encoder takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bigclf import block as blk
from bigclf.block import Csr, picked
from bigclf.errors import DataError

HEAD_ROWS = 10_000
FIRST = 2  # block's column of a table's first one, as of a LIBSVM file's index 1: then formats agree
HEAD_BYTES = 64 << 20  # of decompressed text, or of decoded Parquet; whichever comes first. Never from the budget.


class Words(NamedTuple):
    """A column of words: `names[code[i]]` is the word of row i; code -1 where it is missing."""

    code: NDArray[np.int32]  # (n,)
    names: list[str]


class Sparse(NamedTuple):
    """Rows of a LIBSVM file. Within a row the columns ascend and none is there twice."""

    indptr: NDArray[np.int64]  # (n + 1,)
    column: NDArray[np.int32]  # (nnz,) index as written + 1, or 1 + hash under --hash-bits; column 0 is the bias's
    value: NDArray[np.float64]  # (nnz,)


class Form(NamedTuple):
    """What sparse rows of float32 look like in blocks. A reader that knows it hands on such rows, as `block.Csr`.

    They are not scaled yet. A value beyond float32 is infinite.
    """

    bias: bool  # each begins with a one in column 0


Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.float32]  # NaN where missing
Column: TypeAlias = Numbers | Words


class Lying(NamedTuple):
    """Where columns of numbers lie, each in one piece."""

    at: NDArray[np.int64]  # (columns,) addresses
    wide: NDArray[np.bool_]  # (columns,) whether float64, else float32


class Table(dict[str, Column]):
    """Columns by name, in the order of the file. The numbers may be there for kernels, in one of two ways.

    matrix: (n, FIRST + columns) the same numbers once more, by rows, each where a block has it: the j-th column, from
        1, stands in column j + 1. What stands before is zero. None where a column holds words, or rows were not laid
        out. The columns of a table that has it are views of it.
    lying: where the columns lie. None where one holds words, or where there is a matrix.
    """

    matrix: Numbers | None = None
    lying: Lying | None = None

    @classmethod
    def laid_out(cls, names: Iterable[str], matrix: Numbers) -> Table:
        """The table of a matrix."""
        table = cls(zip(names, matrix[:, FIRST:].T, strict=True))
        table.matrix = matrix
        return table

    @classmethod
    def of_numbers(cls, columns: Mapping[str, Numbers]) -> Table:
        """The table of columns that each lie in one piece."""
        table = cls(columns)
        at = [column.__array_interface__["data"][0] for column in columns.values()]
        wide = [column.itemsize == np.float64().itemsize for column in columns.values()]
        table.lying = Lying(np.array(at, np.int64), np.array(wide, np.bool_))
        return table

    def rows(self, which: Any) -> Table:
        """Some of the rows, by a slice or by their positions."""
        if self.matrix is not None:
            return Table.laid_out(self, self.matrix[which])
        rows: dict[str, Any] = {name: _part(column, which) for name, column in self.items()}
        return Table(rows) if self.lying is None else Table.of_numbers(rows)


class Cursor(NamedTuple):
    """A place in the inputs from which they can be read again."""

    source: int = 0  # number of the input in the call
    offset: int = 0  # into its decompressed text in UTF-8, to a record's begin; Parquet: number of the row in the file
    line: int = 0  # number of the line there, in a share counted from the begin of its range; Parquet: 0
    row: int = 0  # number in the stream of the first record from there on, be it skipped or not
    skipped: int = 0  # rows that the reader skipped before it


class Raw(NamedTuple):
    """Some rows of the stream."""

    row: NDArray[np.int64]  # (n,) number of the row in the stream, from 0; rows that were skipped keep theirs
    data: Sparse | Csr | Table
    label: Words | None  # canonical class names; None where the input has no label column
    where: Callable[[int], str]  # position in this block -> place of the row, for messages
    head: bool  # the rows belong to the head; a Raw never reaches across the head's end
    at: Cursor = Cursor()  # reading from there gives these rows again; rows of lower number may come first


class Skips:
    """Rows dropped under --on-error skip: how many, and the first few faults.

    rows: all of them. read: those among them that a reader dropped; the others could be read and not encoded.
    """

    def __init__(self, stop: bool, keep: int = 10) -> None:
        self.stop = stop
        self.keep = keep
        self.rows = self.read = 0
        self.faults: list[DataError] = []

    def fault(self, fault: DataError) -> None:
        """Note a row that cannot be read and is to be dropped; raises it when faults are to stop the run."""
        if self.stop:
            raise fault
        self.read += 1
        self.drop(fault)

    def drop(self, fault: DataError) -> None:
        """Note a row that is dropped."""
        self.rows += 1
        if len(self.faults) < self.keep:
            self.faults.append(fault)


Reader: TypeAlias = Iterator[Raw]


def _part(column: Any, which: Any) -> Any:
    return Words(column.code[which], column.names) if isinstance(column, Words) else column[which]


def take(raw: Raw, rows: NDArray[np.int64]) -> Raw:
    """The rows with these positions, in this order."""
    data: Sparse | Csr | Table
    if isinstance(raw.data, Csr):
        data = blk.pick(raw.data, rows)
    elif isinstance(raw.data, Sparse):
        indptr, at = picked(raw.data.indptr, rows)
        data = Sparse(indptr, raw.data.column[at], raw.data.value[at])
    else:
        data = raw.data.rows(rows)
    label = None if raw.label is None else _part(raw.label, rows)
    return Raw(raw.row[rows], data, label, lambda i: raw.where(int(rows[i])), raw.head, raw.at)


def without(raw: Raw, rows: Sequence[int] | NDArray[np.int64]) -> Raw:
    """All rows but those with these positions."""
    return take(raw, np.delete(np.arange(len(raw.row)), rows))


def cut(raw: Raw, first: int, end: int) -> Raw:
    """Rows first to end of a block."""

    def words(w: Words) -> Words:
        return Words(w.code[first:end], w.names)

    data: Sparse | Csr | Table
    if isinstance(raw.data, Csr):
        data = blk.take(raw.data, first, end)
    elif isinstance(raw.data, Sparse):
        a, b = int(raw.data.indptr[first]), int(raw.data.indptr[end])
        data = Sparse(raw.data.indptr[first : end + 1] - a, raw.data.column[a:b], raw.data.value[a:b])
    else:
        data = raw.data.rows(slice(first, end))
    label = words(raw.label) if raw.label is not None else None
    return Raw(raw.row[first:end], data, label, lambda i: raw.where(first + i), raw.head, raw.at)
