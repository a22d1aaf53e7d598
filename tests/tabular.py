"""Reading tables in tests: rows and faults as plain values."""

import math
from collections import Counter

import pytest

from bigclf.errors import DataError
from bigclf.reading.csv_text import CsvReader
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Skips, Words
from bigclf.reading.source import find

SIZES = (16, 64, 1000, 1 << 20)


def plain(column):
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if math.isnan(v) else v for v in column.tolist()]


def open_csv(*paths, kinds=None, skips=None, notices=None, **options):
    options = ReadOptions(**({"format": "csv"} | options))
    return CsvReader(
        find(paths, options.format), options, skips or Skips(True), kinds, Counter() if notices is None else notices
    )


def read(*paths, **options):
    """Rows as a list of (row number, features, label), and the reader."""
    reader = open_csv(*paths, **options)
    rows = []
    for raw in reader:
        columns = [plain(c) for c in raw.data.values()]
        label = plain(raw.label) if raw.label is not None else [None] * len(raw.row)
        assert [list(raw.data)] * len(columns) == [[n for n, _ in reader.kinds.columns]] * len(columns)
        rows += list(zip(raw.row.tolist(), zip(*columns) if columns else [()] * len(label), label))
    return rows, reader


def features(*paths, **options):
    return [x for _, x, _ in read(*paths, **options)[0]]


def labels(*paths, **options):
    return [y for _, _, y in read(*paths, **options)[0]]


def fault(*paths, **options):
    """The one fault that stops the reading; the same for any block size."""
    found = set()
    for size in SIZES:
        with pytest.raises(DataError) as e:
            read(*paths, block_size=size, **options)
        found.add(str(e.value))
    assert len(found) == 1
    return found.pop()
