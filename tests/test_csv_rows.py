"""Rows of CSV files: records, faults and their places, the head; the same for any block size."""

import csv
import io
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tabular import SIZES, fault, features, labels, open_csv, plain, read

from bigclf.errors import DataError
from bigclf.reading import csv_part, csv_text
from bigclf.reading.csv_text import CsvReader
from bigclf.reading.options import ReadOptions
from bigclf.reading.parquet import ParquetReader
from bigclf.reading.raw import Skips
from bigclf.reading.source import find
from bigclf.reading.table import Kinds

# Rows


def test_ragged_rows(write):
    write("t.csv", "a,b,y\n1,2,0\n3,1\n5,6,1\n7,8,9,1\n")
    assert fault("t.csv", label="y") == "t.csv:3: 2 fields where the header has 3"
    skips = Skips(False)
    rows, _ = read("t.csv", label="y", skips=skips)
    assert [r for r, _, _ in rows] == [0, 2]
    assert skips.rows == 2
    assert str(skips.faults[1]) == "t.csv:5: 4 fields where the header has 3"


@pytest.mark.parametrize("size", SIZES)
def test_faults_are_told_in_the_order_of_rows_and_later_rows_keep_their_numbers(write, monkeypatch, size):
    monkeypatch.setattr(csv_text, "HEAD_ROWS", 3)
    lines = ["a,w,y", *["1,u,0"] * 10]
    lines[5], lines[7], lines[9] = "x,u,0", "1,2", "inf,u,"
    write("t.csv", "\n".join(lines))
    skips = Skips(False)
    rows, _ = read("t.csv", label="y", skips=skips, block_size=size)
    assert [r for r, _, _ in rows] == [0, 1, 2, 3, 5, 7, 9]
    assert [f.place for f in skips.faults] == ["t.csv:6", "t.csv:8", "t.csv:10"]
    with pytest.raises(DataError, match=r"^t.csv:6: "):
        read("t.csv", label="y", block_size=size)


def test_a_missing_label_is_a_fault_only_where_labels_are_needed(write):
    write("t.csv", "a,y\n1,0\n2,?\n")
    assert fault("t.csv", label="y") == "t.csv:3: label is missing"
    assert labels("t.csv", label="y", need_label=False) == ["0", None]


def test_classes_of_dropped_rows_are_not_classes(write):
    write("t.csv", "a,y\n1,0\noops,bad\n2,1\n")
    assert labels("t.csv", label="y", skips=Skips(False)) == ["0", "1"]
    raws = list(open_csv("t.csv", label="y", skips=Skips(False)))
    assert {raw.label.names[k] for raw in raws for k in raw.label.code} == {"0", "1"}


def test_blank_lines_are_no_rows(write):
    write("t.csv", "\n\r\na,y\n\n1,0\n\r\n\n2,1\n\n")
    (raw,) = open_csv("t.csv", label="y")
    assert raw.row.tolist() == [0, 1]
    assert [raw.where(i) for i in range(2)] == ["t.csv:5", "t.csv:8"]


@pytest.mark.parametrize("size", SIZES)
def test_quoted_newlines_delimiters_and_quotes_across_blocks(write, size):
    text = "a,note,y\r\n" + "".join(f'{i},"one, \r\n\n""two"" {i}",{i % 2}\r\n' for i in range(50))
    write("t.csv", text)
    rows, _ = read("t.csv", label="y", block_size=size)
    assert [x for _, x, _ in rows] == [(i, f'one, \r\n\n"two" {i}') for i in range(50)]
    raws = list(open_csv("t.csv", label="y", ignore=("note",), block_size=size))
    assert [raw.where(i) for raw in raws for i in range(len(raw.row))] == [f"t.csv:{3 * i + 2}" for i in range(50)]


@pytest.mark.parametrize("row, said", [
    ('5" disk,1', "a quote inside an unquoted field"),
    ('1, "x"', "a quote inside an unquoted field"),
    ('"x,1', "a quote opened here is not closed"),
])  # fmt: skip
def test_astray_quotes_stop_the_reading_with_their_line(write, row, said):
    write("t.csv", f"a,y\nx,0\n{row}\nx,1\n")
    assert fault("t.csv", label="y", categorical=("a",)).startswith(f"t.csv:3: {said}")


def test_no_quoting(write):
    write("t.csv", 'a,y\n5" disk,0\n"x,1\n')
    assert features("t.csv", label="y", quote="") == [('5" disk',), ('"x',)]


def test_another_quote(write):
    write("t.csv", "a,y\n'x,''z',0\n\"u,1\n")
    assert features("t.csv", label="y", quote="'") == [("x,'z",), ('"u',)]


def test_nul_bytes_are_refused(write):
    write("t.csv", b"a,y\nx,0\nb\0d,1\n")
    assert fault("t.csv", label="y").startswith("t.csv:3: column 'a': bytes that are no UTF-8 text, or a NUL")


def test_old_line_ends_are_refused(write):
    write("t.csv", b"a,y\nx,0\nz,0\rx,1\n")
    assert fault("t.csv", label="y") == "t.csv:3: a carriage return without newline; convert line ends"


@pytest.mark.parametrize("text", ["", "\n\n", "a,y\n", "a,y"])
def test_no_rows(write, text):
    write("t.csv", text)
    assert read("t.csv", label="y")[0] == []


def test_the_last_line_may_lack_its_newline(write):
    write("t.csv", "a,y\n1,0\n2,1")
    assert features("t.csv", label="y") == [(1,), (2,)]


# The head


@pytest.mark.parametrize("size", SIZES)
def test_no_raw_reaches_across_the_end_of_the_head(write, monkeypatch, size):
    monkeypatch.setattr(csv_text, "HEAD_ROWS", 10)
    write("a.csv", "a,y\n" + "1,0\n" * 7)
    write("b.csv", "a,y\n" + "1,0\n" * 9)
    raws = list(open_csv("a.csv", "b.csv", label="y", block_size=size))
    assert [r for raw in raws if raw.head for r in raw.row] == list(range(10))
    assert [r for raw in raws if not raw.head for r in raw.row] == list(range(10, 16))


@pytest.mark.parametrize("size", SIZES)
def test_the_head_is_bounded_in_bytes_too(write, monkeypatch, size):
    monkeypatch.setattr(csv_text, "HEAD_BYTES", 30)
    write("a.csv", "a,y\n" + "1,0\n" * 3)
    write("b.csv", "a,y\n" + "1,0\n" * 9)
    raws = list(open_csv("a.csv", "b.csv", label="y", block_size=size))
    assert sum(len(raw.row) for raw in raws if raw.head) == 3 + (30 - 16 - 4) // 4
    monkeypatch.setattr(csv_text, "HEAD_BYTES", 5)
    write("c.csv", "a,y\n" + "1.0000000001,0\n" * 4)
    heads = [len(raw.row) for raw in open_csv("c.csv", label="y", block_size=size) if raw.head]
    assert heads == [1]  # one row at least


def test_kinds_are_known_with_the_first_rows(write):
    write("t.csv", "a,y\n1,0\n")
    reader = open_csv("t.csv", label="y")
    assert reader.kinds is None
    next(iter(reader))
    assert reader.kinds == Kinds((("a", "number"),), "y")


def test_arrays_outlive_the_reading(write):
    write("t.csv", "a,w,y\n" + "".join(f"{i},w{i % 7}z,{i % 2}\n" for i in range(20_000)))
    raws = list(open_csv("t.csv", label="y", block_size=4096))
    assert np.array_equal(np.concatenate([raw.data["a"] for raw in raws]), np.arange(20_000))
    assert [w for raw in raws for w in plain(raw.data["w"])] == [f"w{i % 7}z" for i in range(20_000)]
    assert all(raw.where(i) == f"t.csv:{r + 2}" for raw in raws for i, r in enumerate(raw.row.tolist()))


def test_a_record_too_long_is_refused(write, monkeypatch):
    monkeypatch.setattr(csv_part, "RECORD_LIMIT", 1000)
    write("t.csv", "a,y\n1,0\n" + "x" * 3000 + ",1\n")
    with pytest.raises(DataError, match="is a quote open"):
        read("t.csv", label="y", block_size=64)


# Any table

letters = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z"), exclude_characters="0123456789+-."))
word = (letters | st.sampled_from(["a,b", 'say "x"', "line\nline", "tr ue", "é"])).map(lambda w: w and "w" + w)
number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15).map(float) | st.none()
table = st.lists(st.tuples(number, number, word, st.sampled_from("yn")), min_size=1)


@settings(max_examples=60, deadline=None)
@given(table, st.sampled_from(SIZES), st.sampled_from(["\n", "\r\n"]))
def test_any_table_reads_back_equal_from_csv_and_parquet(tmp_path_factory, rows, size, end):
    folder = tmp_path_factory.mktemp("any")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end)
    writer.writerow("abwy")
    writer.writerows(["" if v is None else v if isinstance(v, str) else repr(v) for v in row] for row in rows)
    (folder / "t.csv").write_bytes(text.getvalue().encode())
    columns = [list(column) for column in zip(*rows)]
    types = (pa.float64(), pa.float64(), pa.string(), pa.string())
    arrays = [pa.array(c, t) for c, t in zip(columns, types)]
    pq.write_table(pa.table(dict(zip("abwy", arrays))), folder / "t.parquet", row_group_size=7)
    wanted = [tuple(None if v == "" else v for v in row) for row in rows]
    kinds = Kinds((("a", "number"), ("b", "number"), ("w", "words")), "y")
    options = ReadOptions(label="y", block_size=size)
    for name, form, reader in (("t.csv", "csv", CsvReader), ("t.parquet", "parquet", ParquetReader)):
        found = []
        for raw in reader(find([str(folder / name)], form), replace(options, format=form), Skips(True), kinds):
            found += zip(*map(plain, raw.data.values()), plain(raw.label))
        assert found == wanted


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('a1,"\n\r ?é\0'), max_size=40), st.booleans(), st.integers(1, 5), st.integers(0, 40))
def test_any_text_gives_the_same_rows_and_faults_for_any_block_size(tmp_path_factory, text, stop, rows, size):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(b"a,y\n" + text.encode())
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "HEAD_ROWS", rows)
        patch.setattr(csv_text, "HEAD_BYTES", size)
        for block in (8, 20, 1000):
            skips, seen = Skips(stop), []
            try:
                for raw in open_csv(str(path), label="y", skips=skips, block_size=block):
                    places = [raw.where(i) for i in range(len(raw.row))]
                    seen += zip(
                        raw.row.tolist(), plain(raw.data["a"]), plain(raw.label), places, [raw.head] * len(places)
                    )
            except DataError as e:
                skips.faults.append(e)
            found.append((None if stop and skips.faults else seen, [str(f) for f in skips.faults]))
    assert found[0] == found[1] == found[2]
