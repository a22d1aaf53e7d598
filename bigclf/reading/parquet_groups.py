"""Row groups of Parquet files: where they begin, what they weigh, and which of them are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bigclf.errors import DataError
from bigclf.reading.arrow_columns import whole
from bigclf.reading.arrow_parquet import pq
from bigclf.reading.source import Source
from bigclf.reading.span import Share
from bigclf.reading.table import Layout

TOGETHER = 8  # columns: pyarrow keeps the pages and dictionaries of those it reads in one call until the last is done
SMALL = 1 << 18  # bytes of a column that are read in one go: those of TOGETHER columns are held at once
_UNREADABLE = (OSError, EOFError, pa.ArrowException)


class Groups(NamedTuple):
    """Row groups of one file, as its metadata tell."""

    ends: NDArray[np.int64]  # (g,) rows up to the end of each
    weights: NDArray[np.int64]  # (g,) stored bytes of each
    widest: NDArray[np.int64]  # (g,) stored bytes of its largest column

    @classmethod
    def of(cls, metadata: Any) -> Groups:
        """All groups of a file."""
        every = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
        rows = np.array([group.num_rows for group in every], np.int64)
        sizes = [[group.column(c).total_compressed_size for c in range(group.num_columns)] for group in every]
        weights, widest = [sum(of) for of in sizes], [max(of, default=0) for of in sizes]
        return cls(np.cumsum(rows), np.array(weights, np.int64), np.array(widest, np.int64))

    def start(self, g: int) -> int:
        """Row of the file with which a group begins."""
        return int(self.ends[g - 1]) if g else 0

    def rows(self, chosen: Sequence[int]) -> int:
        """How many rows these groups hold."""
        return sum(int(self.ends[g]) - self.start(g) for g in chosen)

    def small(self, chosen: Sequence[int]) -> bool:
        """Whether no column of these groups is large as it is stored."""
        return bool((self.widest[list(chosen)] <= SMALL).all())

    def runs(self, chosen: Sequence[int], most: int) -> list[list[int]]:
        """The chosen groups by turns: as many at a time as hold no more than `most` rows, but one at least.

        pyarrow lets go of the pages of one turn before it takes those of the next.
        """
        found: list[list[int]] = []
        rows = most
        for g in chosen:
            more = self.rows([g])
            if rows + more > most or not found:
                found.append([])
                rows = 0
            found[-1].append(g)
            rows += more
        return found

    def place(self, path: str, first: int, i: int) -> str:
        """Place of row i of a batch whose first row is row `first` of the file."""
        row = first + i
        return f"{path}: row group {int(np.searchsorted(self.ends, row, side='right')) + 1}, row {row + 1}"


def picked(sources: Sequence[Source], share: Share | None, rows: Callable[[], int]) -> list[list[int] | None]:
    """Numbers of the row groups of each file that are read, None: all; the meters are set back.

    A group belongs to the share in whose part of all rows it begins.
    """
    if share is None:
        for source in sources:
            source.meter.begin(source.size)
        return [None] * len(sources)
    files = []
    for source in sources:
        with readable(source.path, rows):
            files.append(Groups.of(pq.read_metadata(source.path)))
    every = sum(int(groups.ends[-1]) for groups in files if groups.ends.size)
    found: list[list[int] | None] = []
    before = 0
    for source, groups in zip(sources, files, strict=True):
        all_of_it = range(groups.ends.size)
        mine = [g for g in all_of_it if (before + groups.start(g)) * share[1] // max(every, 1) == share[0] - 1]
        source.meter.begin(int(groups.weights[mine].sum()))
        found.append(mine)
        before += int(groups.ends[-1]) if groups.ends.size else 0
    return found


@contextmanager
def readable(path: str, rows: Callable[[], int]) -> Iterator[None]:
    """Tell in one line what makes a file unreadable; `rows` gives how many rows were read."""
    try:
        yield
    except UnicodeDecodeError:
        raise DataError(path, f"text in the rows after row {rows()} is not UTF-8") from None
    except BrokenPipeError:  # of the output, while a fault was told
        raise
    except _UNREADABLE as e:
        code = getattr(e, "errno", None)
        if code is not None:
            raise DataError(path, f"cannot be read after row {rows()}: {os.strerror(code)}") from None
        what = (str(e) or type(e).__name__).splitlines()[0]
        raise DataError(path, f"is not a readable Parquet file: {what}") from None


def decoded(file: Any, run: Sequence[int], names: Sequence[str]) -> Any:
    """The whole of some row groups as one batch."""
    columns: list[Any] = []
    for at in range(0, len(names), TOGETHER):
        some = file.read_row_groups(run, columns=names[at : at + TOGETHER], use_threads=False)
        columns += [whole(some.column(name)) for name in names[at : at + TOGETHER]]
    return pa.RecordBatch.from_arrays(columns, names)


def value_bytes(schema: Any, names: Sequence[str]) -> int:
    """Bytes of a decoded row of numbers: at most 8 for each of these columns."""
    types = dict(zip(schema.names, schema.types, strict=True))
    return max(1, sum(4 if types[name] == pa.float32() else 8 for name in names))


def row_bytes(metadata: Any, layout: Layout) -> int:
    """Bytes of a decoded row, estimated from the first row group: at least 8 for each column."""
    names = {name for name, _ in layout.features} | {layout.label_name}
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        if group.num_rows:
            columns = [c for c in map(group.column, range(group.num_columns)) if c.path_in_schema in names]
            return max(1, sum(max(8, int(c.total_uncompressed_size) // int(group.num_rows)) for c in columns))
    return 8 * max(1, len(names))
