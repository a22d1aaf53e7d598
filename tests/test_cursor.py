"""Reading can begin in the middle, ends at a limit, tells how far it is, and notices inputs that change."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from reads import ALL, FORMS, HEADER, Read, csv_rows, inputs, libsvm_rows, put, put_parquet, small_head  # noqa: F401

from bigclf.errors import DataError
from bigclf.reading import source
from bigclf.reading.options import ReadOptions
from bigclf.reading.parquet_groups import readable
from bigclf.reading.raw import Cursor
from bigclf.reading.source import changed, find
from bigclf.reading.stream import Stream


@pytest.mark.parametrize(("form", "pack"), FORMS)
@pytest.mark.parametrize("size", [64, 300, ALL])
def test_reading_again_from_any_block_gives_the_same_to_the_end(form, pack, size):
    paths = inputs(form, pack)
    whole = Read(paths, block_size=size)
    assert len(whole.rows) == 47 and len(whole.faults) == 7
    assert size == ALL or len(whole.raws) > 4
    for r in whole.raws:
        first = int(r.row[0])
        begun = Read(paths, whole.kinds, begin=r.at, from_row=first, block_size=64 if size == ALL else ALL)
        assert begun.rows == [row for row in whole.rows if row[0] >= first]
        assert begun.faults == whole.faults[r.at.skipped :]
        assert begun.stream.skips.rows == len(whole.faults)
        assert not any(x.head for x in begun.raws)
        assert begun.stream.progress() == whole.stream.progress()


@pytest.mark.parametrize("form", ["libsvm", "csv", "parquet"])
def test_a_cursor_is_where_the_block_begins(form):
    paths = inputs(form)
    whole = Read(paths, block_size=64)
    again = Read(paths, whole.kinds, block_size=64)
    for r in whole.raws:
        assert all(type(x) is int for x in r.at) and r.at.row <= r.row[0]
        if form != "parquet":
            text = Path(paths[r.at.source]).read_bytes()[: r.at.offset]
            assert text.count(b"\n") == r.at.line - 1 and text[-1:] in (b"\n", b"", b"\xbf")
    for r in again.raws:  # reading from there, the first Raw has its cursor there
        begun = Read(paths, whole.kinds, begin=r.at, block_size=64)
        if begun.raws[0].at.row == r.at.row:
            assert begun.raws[0].at == r.at


@pytest.mark.parametrize("form", ["libsvm", "csv", "parquet"])
def test_the_fault_that_stops_the_run_has_the_same_place(form):
    paths = inputs(form)[:1]
    skipped = Read(paths, block_size=64)
    for r in skipped.raws:
        later = skipped.faults[r.at.skipped :]
        if later:
            with pytest.raises(DataError) as e:
                Read(paths, skipped.kinds, skip=False, begin=r.at)
            assert str(e.value) == later[0]


def test_other_encodings_begin_by_their_text_in_utf8():
    rows = [f"{i},{'wä'[i % 2]},{i / 8},{'ab'[i % 2]}" for i in range(40)]
    for encoding in ("utf-16", "latin1"):
        with open("t.csv", "w", encoding=encoding) as file:
            file.write("\n".join([HEADER, *rows]))
        whole = Read(["t.csv"], block_size=100, encoding=encoding)
        assert len(whole.rows) == 40
        for r in whole.raws:
            begun = Read(["t.csv"], whole.kinds, begin=r.at, from_row=int(r.row[0]), encoding=encoding)
            assert begun.rows == [row for row in whole.rows if row[0] >= r.row[0]]


def test_a_cursor_of_the_libsvm_reader_is_exact_at_the_end_of_the_head():
    whole = Read([put("t.svm", libsvm_rows(30))])
    assert [(int(r.row[0]), r.at.row, r.head) for r in whole.raws] == [(0, 0, True), (10, 10, False)]


# limits


@pytest.mark.parametrize("form", ["libsvm", "csv", "parquet"])
@pytest.mark.parametrize("size", [64, 300, ALL])
@pytest.mark.parametrize("limit", [1, 9, 10, 12])
def test_nothing_behind_the_limit_is_looked_at(form, size, limit):
    n, bad = 30, (limit, limit + 1, 25)
    if form == "libsvm":
        paths = [put("t.svm", libsvm_rows(n, bad))]
    elif form == "csv":
        paths = [put("t.csv", [*csv_rows(n, bad), '1,a"b,1,a'], header=HEADER)]
    else:
        paths = [put_parquet("t.parquet", n, bad)]
    read = Read(paths, skip=False, limit=limit, block_size=size)
    assert [row[0] for row in read.rows] == list(range(limit))
    kinds = read.kinds
    read = Read(paths, kinds, skip=False, limit=limit, block_size=size)
    assert [row[0] for row in read.rows] == list(range(limit))
    read = Read(paths, kinds, limit=limit + 3, block_size=size)
    assert len(read.rows) == limit + 1 and len(read.faults) == 2
    if form == "libsvm":
        read = Read(paths, limit=4, share=(2, 2), block_size=size)
        assert len(read.rows) + len(read.faults) == 4


# progress and changes


@pytest.mark.parametrize(("form", "pack"), FORMS)
def test_progress_ends_at_the_total(form, pack):
    paths = inputs(form, pack)
    total = sum(map(os.path.getsize, paths))
    read = Read(paths, block_size=64)
    assert read.stream.progress() == (total, total)
    assert read.done == sorted(read.done) and (pack or len(set(read.done)) > 3)
    again = read.stream.again()
    next(iter(again))
    assert again.progress()[0] < total


def test_progress_of_standard_input_has_no_total(monkeypatch):
    text = "\n".join(libsvm_rows(30)).encode()
    monkeypatch.setattr(source, "_PIPES", {"-": io.BufferedReader(io.BytesIO(text))})
    read = Read(["-"], format="libsvm", block_size=100)
    assert len(read.rows) == 30 and read.stream.progress() == (len(text), None)


@pytest.mark.parametrize(("form", "pack"), FORMS)
def test_a_file_that_changes_while_it_is_read_is_a_fault(form, pack):
    path = inputs(form, pack)[0]
    size = os.path.getsize(path)

    def append(k):
        if k == 1:
            with open(path, "ab") as file:
                file.write(b"\n\n" if form != "parquet" else b"x")

    def touch(k):
        if k == 1:
            os.utime(path, ns=(1, 1))

    def replace(k):
        if k == 1:
            os.rename(put("other.svm", ["1 1:1"]), path)

    if not pack:  # a decompressor may take what comes behind for damage, which is a fault as well
        with pytest.raises(DataError, match="changed while it was read") as e:
            Read([path], block_size=64, before=append)
        now = os.path.getsize(path)
        assert str(e.value) == f"{path}: changed while it was read (it had {size} bytes, now {now})"
    inputs(form, pack)
    with pytest.raises(DataError, match="was written to while it was read"):
        Read([path], block_size=64, before=touch)
    inputs(form, pack)
    assert len(Read([path], block_size=64, before=touch, limit=12).rows) == 11
    inputs(form, pack)
    assert len(Read([path], block_size=64, before=replace).rows) == 27


def test_what_changed_since():
    path = put("t.svm", ["1 1:1"])
    found = find([path])[0]
    assert changed(path, found.size, found.mtime) is None
    assert changed(path, 12, found.mtime) == "has 6 bytes, had 12"
    assert changed(path, found.size, found.mtime + 1) == "was written to since"
    os.remove(path)
    assert changed(path, found.size, found.mtime) == "is gone"


def test_a_read_error_of_parquet_names_the_row():
    with (
        pytest.raises(DataError, match=r"^t.parquet: cannot be read after row 7: Input/output error$"),
        readable("t.parquet", lambda: 7),
    ):
        raise OSError(5, "whatever")


def test_skipped_rows_before_the_cursor_are_counted():
    path = put("t.svm", libsvm_rows(20, (1, 2)))
    stream = Stream(find([path]), ReadOptions(on_error="skip"), begin=Cursor(0, 0, 1, 0, 5))
    assert sum(len(r.row) for r in stream) == 18 and stream.skips.rows == stream.skips.read == 7
    assert np.concatenate([r.row for r in stream.again()]).tolist() == [0, *range(3, 20)]
