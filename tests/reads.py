"""Reading whole streams in tests: files of every format with rows at fault, and all that a stream gave."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bigclf.reading import csv_text, parquet, raw
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Words
from bigclf.reading.source import find
from bigclf.reading.stream import Stream

ALL = 1 << 20
PACKS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.fixture(autouse=True)
def small_head(monkeypatch, tmp_path):
    """A head that ends within the files of the tests, which lie in the folder in which the test runs."""
    monkeypatch.chdir(tmp_path)
    for module in (raw, csv_text, parquet):
        monkeypatch.setattr(module, "HEAD_ROWS", 10)


def libsvm_rows(n, bad=()):
    rows = [f"{'ab'[i % 2]} 1:{i} {3 + i % 4}:{i / 4}" + " 9:1.25" * (i % 5 == 0) + " # x" * (i % 3) for i in range(n)]
    return [f"b 1:x{i}" if i in bad else row + "\n" * (i % 6 == 1) for i, row in enumerate(rows)]


def csv_rows(n, bad=()):
    rows = [f'{i},"w{i % 4}\n\n, ""{i % 3}""",{"" if i % 7 == 2 else i / 8},{"ab"[i % 2]}' for i in range(n)]
    return [f"{i},w,inf,a" if i in bad else row + "\n" * (i % 6 == 1) for i, row in enumerate(rows)]


def plain_csv_rows(n, bad=()):
    return [f"{i},w{i % 4},{i / 8},{'ab'[i % 2]}" + ",1" * (i in bad) for i in range(n)]


def put(name, rows, end="\n", last=True, header=None, pack=""):
    text = end.join(row.replace("\n", end) for row in ([header] if header else []) + rows) + end * last
    name += pack
    with open(name, "wb") as file:
        file.write(PACKS[pack](text.encode()))
    return name


def put_parquet(name, n, bad=(), group=7):
    rows = range(n)
    table = {
        "x": [math.inf if i in bad else i for i in rows],
        "w": [None if i % 5 == 2 else f"w{i % 4}" for i in rows],
        "label": ["ab"[i % 2] for i in rows],
    }
    types = pa.schema({"x": pa.float64(), "w": pa.string(), "label": pa.string()})
    pq.write_table(pa.table(table, types), name, row_group_size=group)
    return name


HEADER = "x,w,z,label"
BAD = (3, 12, 13, 29)


def inputs(form, pack=""):
    """Four files of a format with rows at fault; one of them has no rows, one no last newline, one ends with CRLF."""
    if form == "libsvm":
        return [
            put("a.svm", ["", "# c", *libsvm_rows(31, BAD)], pack=pack),
            put("b.svm", [], last=False, pack=pack),
            put("c.svm", libsvm_rows(14, (0, 5)), "\r\n", pack=pack),
            put("d.svm", libsvm_rows(9, (8,)), last=False, pack=pack),
        ]
    if form == "parquet":
        return [
            put_parquet(f"{i}.parquet", n, bad)
            for i, (n, bad) in enumerate([(31, BAD), (0, ()), (14, (0, 5)), (9, (8,))])
        ]
    rows = csv_rows if form == "csv" else plain_csv_rows
    return [
        put("a.csv", rows(31, BAD), header="\ufeff" + HEADER, pack=pack),
        put("b.csv", [], header=HEADER, last=False, pack=pack),
        put("c.csv", rows(14, (0, 5)), "\r\n", header=HEADER, pack=pack),
        put("d.csv", rows(9, (8,)), last=False, header=HEADER, pack=pack),
    ]


def plain(column):
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if math.isnan(v) else v for v in column.tolist()]


def rows_of(r):
    """Number, place, label and values of each row of a Raw."""
    if isinstance(r.data, dict):
        values = list(zip(*map(plain, r.data.values()), strict=True))
    else:
        parts = [slice(a, b) for a, b in zip(r.data.indptr[:-1], r.data.indptr[1:], strict=True)]
        values = [(r.data.column[p].tolist(), r.data.value[p].tolist()) for p in parts]
    label = plain(r.label)
    return [(int(n), r.where(i), label[i], values[i]) for i, n in enumerate(r.row)]


class Read:
    """All that a stream gave."""

    def __init__(self, paths, kinds=None, skip=True, before=None, **how):
        options = {k: how.pop(k) for k in list(how) if k in ReadOptions.__dataclass_fields__}
        if "format" not in options:
            options["format"] = {"s": "libsvm", "c": "csv", "p": "parquet"}[paths[0].split(".")[1][0]]
        self.stream = Stream(
            find(paths, options["format"]), ReadOptions(on_error="skip" if skip else "stop", **options), kinds, **how
        )
        self.stream.skips.keep = 1000
        self.raws, self.done = [], []
        for r in self.stream:
            self.raws.append(r)
            self.done.append(self.stream.progress()[0])
            if before is not None:
                before(len(self.raws))
        self.rows = [row for r in self.raws for row in rows_of(r)]
        self.faults = [str(f) for f in self.stream.skips.faults]
        self.kinds = self.stream.kinds


FORMS = [("libsvm", p) for p in PACKS] + [("csv", p) for p in PACKS] + [("parquet", "")]
