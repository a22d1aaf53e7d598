"""Inputs are cut into shares: together these are the whole, each row once, with its own place."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reads import ALL, Read, inputs, libsvm_rows, put, rows_of, small_head  # noqa: F401

from bigclf.errors import DataError, UsageError
from bigclf.reading import source, span
from bigclf.reading.options import ReadOptions
from bigclf.reading.source import find
from bigclf.reading.stream import Stream


def shares(paths, n, kinds, **how):
    return [Read(paths, kinds, share=(i, n), **how) for i in range(1, n + 1)]


def check_shares(paths, n, whole, **how):
    parts = shares(paths, n, whole.kinds, **how)
    assert [row[1:] for p in parts for row in p.rows] == [row[1:] for row in whole.rows]
    assert [f for p in parts for f in p.faults] == whole.faults
    for i, p in enumerate(parts):
        numbers = [row[0] for row in p.rows]
        assert numbers == sorted(set(numbers)) and all(i << 40 <= k < (i << 40) + 1000 for k in numbers)
        assert not any(r.head for r in p.raws)
        done, total = p.stream.progress()
        assert done == total and p.done == sorted(p.done)
    return parts


@pytest.mark.parametrize("form", ["libsvm", "plain", "parquet"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
def test_shares_make_up_the_whole(form, n):
    paths = inputs(form)
    whole = Read(paths)
    assert len(whole.faults) == 7
    for size in (64, ALL):
        parts = check_shares(paths, n, whole, block_size=size)
        if form != "parquet":
            assert sum(p.stream.progress()[1] for p in parts) == sum(map(os.path.getsize, paths))
        if 1 < n < 8:
            assert all(p.rows for p in parts)


@pytest.mark.parametrize("form", ["libsvm", "plain", "parquet"])
def test_a_share_can_begin_in_the_middle(form):
    paths = inputs(form)
    kinds = Read(paths).kinds
    for part in shares(paths, 3, kinds, block_size=64):
        share = part.stream.share
        for r in part.raws:
            begun = Read(paths, kinds, share=share, begin=r.at, from_row=int(r.row[0]))
            assert begun.rows == [row for row in part.rows if row[0] >= r.row[0]]
            assert begun.faults == part.faults[r.at.skipped :]
            assert begun.stream.progress() == part.stream.progress()
        again = part.stream.again()
        assert [row for r in again for row in rows_of(r)] == part.rows


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["1", "0 1:1", "", "# c", "1 " + "7:3 8:2 " * 9, "x 2:y"]), max_size=6).flatmap(
            lambda lines: st.sampled_from(["\n", "\r\n"]).flatmap(
                lambda end: st.sampled_from([end, ""]).map(lambda last: end.join(lines) + last)
            )
        ),
        min_size=1,
        max_size=3,
    ),
    n=st.integers(1, 12),
    size=st.sampled_from([1, 16, ALL]),
)
def test_any_libsvm_text_is_cut_into_whole_rows(texts, n, size):
    paths = []
    for i, text in enumerate(texts):
        paths.append(f"{i}.svm")
        with open(paths[-1], "wb") as file:
            file.write(text.encode())
    check_shares(paths, n, Read(paths), block_size=size)


@pytest.mark.parametrize("n", range(1, 9))
def test_csv_without_header_and_with_one_longer_than_a_share(n):
    rows = [f"{i},{i % 3}" for i in range(12)]
    whole = Read([put("t.csv", rows)], header=False, label="2")
    assert len(whole.rows) == 12
    check_shares(["t.csv"], n, whole, header=False, label="2")
    whole = Read([put("u.csv", rows, header="\n\n" + "x" * 100 + ",label")])
    assert len(whole.rows) == 12
    parts = check_shares(["u.csv"], n, whole)
    assert n < 4 or not parts[0].rows


@pytest.mark.parametrize("n", range(2, 40))
def test_newlines_in_quotes_never_pass_unnoticed_between_shares(n):
    rows = [f'{i},"{i}\n{i},{i}\n{i}",a' if i % 4 == 1 else f"{i},{i},b" for i in range(16)]
    whole = Read([put("t.csv", rows, header="x,w,label")], categorical=("w",))
    found, faults = [], []
    for i in range(1, n + 1):
        try:
            part = Read(["t.csv"], whole.kinds, share=(i, n), categorical=("w",))
        except DataError as e:
            faults.append(str(e))
        else:
            found += [row[1:] for row in part.rows]
    assert any("with --shard no field may hold a newline" in f for f in faults) or found == [r[1:] for r in whole.rows]


def test_what_cannot_be_cut_is_refused(monkeypatch):
    path = put("t.svm", libsvm_rows(5), pack=".gz")
    with pytest.raises(DataError, match=r"t.svm.gz: a compressed file cannot be cut; --shard needs plain files"):
        Read([path], share=(1, 2))
    monkeypatch.setattr(source, "_PIPES", {"-": io.BufferedReader(io.BytesIO(b"1 1:1\n"))})
    with pytest.raises(UsageError, match="standard input '-' cannot be cut"):
        Read(["-"], share=(1, 2), format="libsvm")
    with pytest.raises(DataError, match=r"text in utf-16 cannot be cut; --shard needs UTF-8"):
        Read([put("u.svm", libsvm_rows(5))], share=(1, 2), encoding="utf-16")


def test_lines_in_front_of_a_share_are_counted_once_and_only_for_messages(monkeypatch):
    counted = []
    monkeypatch.setattr(span, "_lines", lambda *a, real=span._lines: counted.append(1) or real(*a))
    stream = Stream(find([put("t.svm", libsvm_rows(50))]), ReadOptions(block_size=64), share=(2, 2))
    raws = list(stream)
    assert len(raws) > 5 and not counted
    last = [r.where(len(r.row) - 1) for r in raws][-1]
    assert last == f"t.svm:{Path('t.svm').read_text().rstrip().count(chr(10)) + 1}"
    assert len(counted) == 1
