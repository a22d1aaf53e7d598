"""Plain CSV by the compiled kernel: the same rows, to the bit, and the same faults as field by field."""

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tabular import SIZES

from bigclf.errors import BigclfError
from bigclf.reading import csv_arrow, csv_plain, csv_text
from bigclf.reading.csv_plain import Plain
from bigclf.reading.csv_text import CsvReader
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Skips, Words
from bigclf.reading.source import find


def bits(column):
    """Every value of a column, distinct where its bits are; NaN is a missing value."""
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if math.isnan(v) else struct.pack("<d", v) for v in column.tolist()]


def outcome(path, plain, size, stop, **options):
    """All that can be seen of a read, with or without the kernel: rows, places, what was skipped, and how it ended."""
    skips = Skips(stop, keep=1000)
    options = ReadOptions(**({"format": "csv", "block_size": size, "label": "y"} | options))
    rows, end, of = [], None, Plain.of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "HEAD_ROWS", 4)
        patch.setattr(csv_text, "MOST_ROWS", 3)
        if not plain:
            patch.setattr(Plain, "of", lambda *a: None)
        try:
            reader = CsvReader(find([path], "csv"), options, skips)
            for raw in reader:
                columns = [bits(c) for c in raw.data.values()]
                label = bits(raw.label) if raw.label is not None else [None] * len(raw.row)
                where = [raw.where(i) for i in range(len(raw.row))]
                rows += zip(raw.row.tolist(), zip(*columns, strict=True), label, where, [raw.head] * len(where))
            end = reader.kinds
        except BigclfError as e:
            end = str(e)
    assert Plain.of == of
    faults = [str(fault) for fault in skips.faults]
    return (rows if not isinstance(end, str) else None), faults, skips.rows, end


digits = st.text("0123456789", min_size=1, max_size=25)
number = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e4, 1e4).map(lambda x: f"{x:.6g}"),
    st.integers(-(10**20), 10**20).map(str),
    st.builds(
        "{}{}.{}{}".format, st.sampled_from(["", "-", "+"]), digits, digits, st.sampled_from(["", "e5", "E-320"])
    ),
    st.builds("{}.".format, digits),
    st.builds(".{}".format, digits),
    st.sampled_from(["-0", "0.0", "-0.0", "00012", "1e22", "1e23", "9007199254740993", "5e-324", "2.4703e-324"]),
)
missing = st.sampled_from(["", "NA", "N/A", "NaN", "nan", "null", "?", " NA", "  "])
usual = st.one_of(number, number, number, missing, st.builds("{}{}{}".format, *[st.sampled_from(["", " ", "\t"])] * 3))
odd = st.sampled_from(
    [
        '"1.5"',
        '"a,b"',
        '"',
        '1"',
        "x",
        "1.5.2",
        "1,2",
        "inf",
        "-nan",
        "1e999",
        "true",
        "FALSE",
        "0x10",
        "1_0",
        "--1",
        "é",
        "\0",
    ]
    + ["1e", "+", ".", "1 2", "\ufeff1", "\r", "\v1", "1\r2", "9" * 400, "NAN", "n/a", "NULL", "null0"]
)
name = st.sampled_from(["0", "1", "+1", "1.0", "yes", " no ", "a longer class", "", "?", "é", "1e3", "-0", "x;y"])
END = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n\r\n"])


@st.composite
def tables(draw, cell=usual):
    delimiter = draw(st.sampled_from([",", ";", "\t", "|", " "]))
    width = draw(st.integers(1, 4))
    place = draw(st.integers(0, width))
    names = [f"x{i}" for i in range(width)]
    names.insert(place, "y")
    lines = [delimiter.join(names) + draw(END)]
    for _ in range(draw(st.integers(1, 12))):
        cells = [draw(cell).replace(delimiter, "") for _ in range(width)]
        cells.insert(place, draw(st.sampled_from(["0", "1"]) if draw(st.booleans()) else name).replace(delimiter, ""))
        lines.append(delimiter.join(cells) + draw(END))
    text = "".join(lines)
    return delimiter, text[:-1] if draw(st.booleans()) and not text.endswith("\r\n") else text


@pytest.mark.parametrize("stop", [True, False])
@settings(max_examples=300, deadline=None)
@given(table=tables(), size=st.sampled_from(SIZES), need=st.booleans())
@example(table=(",", "y,x0\n1,-0\n0,2.4703e-324\n1,NA\n"), size=16, need=True)
def test_numbers_in_every_form_are_the_same_to_the_bit(stop, table, size, need, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(table[1], newline="")
    options = {"delimiter": table[0], "need_label": need}
    fast, slow = (outcome(str(path), plain, size, stop, **options) for plain in (True, False))
    assert fast == slow


@pytest.mark.parametrize("stop", [True, False])
@settings(max_examples=300, deadline=None)
@given(table=tables(st.one_of(usual, usual, usual, odd)), size=st.sampled_from(SIZES), ignore=st.booleans())
def test_odd_fields_are_told_and_skipped_as_ever(stop, table, size, ignore, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_bytes(table[1].encode())
    options = {"delimiter": table[0], "ignore": ("x0",) if ignore and "x1" in table[1] else ()}
    fast, slow = (outcome(str(path), plain, size, stop, **options) for plain in (True, False))
    assert fast == slow


def test_plain_rows_need_no_pyarrow(write, monkeypatch):
    monkeypatch.setattr(csv_arrow, "parse", None)
    write("t.csv", "y,a,b\n" + "".join(f"{i % 2},{i / 7},NA\r\n" for i in range(100)))
    rows = outcome("t.csv", True, 300, True)[0]
    assert [struct.unpack("<d", r[1][0])[0] for r in rows] == [i / 7 for i in range(100)]


def test_only_what_is_odd_goes_field_by_field(write, monkeypatch):
    """Behind a block with an odd row the kernel takes over again."""
    write("t.csv", "y,a\n" + "".join(f"1,{'true' if i == 50 else i}\n" for i in range(200)))
    seen = []
    monkeypatch.setattr(
        csv_arrow, "fast", lambda piece, *a, real=csv_arrow.fast: seen.append(piece.data) or real(piece, *a)
    )
    assert len(outcome("t.csv", True, 64, True)[0]) == 200
    assert len(seen) == 1 and seen[0].startswith(b"1,true\n") and len(seen[0]) < 64


def test_a_table_of_numbers_has_its_rows_laid_out(write):
    write("t.csv", "y,a,b\n1,2,3\n0,4,5\n")
    (raw,) = CsvReader(find(["t.csv"], "csv"), ReadOptions(format="csv", label="y"), Skips(True))
    assert raw.data.matrix.tolist() == [[0, 0, 2, 3], [0, 0, 4, 5]]
    assert all(np.shares_memory(column, raw.data.matrix) for column in raw.data.values())
    part = raw.data.rows(np.array([1]))
    assert part.matrix.tolist() == [[0, 0, 4, 5]] and part["b"].tolist() == [5]


def test_labels_that_are_no_classes_are_not_kept(write, monkeypatch):
    monkeypatch.setattr(csv_plain, "MOST_NAMES", 10)
    write("t.csv", "y,a\n" + "".join(f"{i},1\n" for i in range(300)))
    raws = list(CsvReader(find(["t.csv"], "csv"), ReadOptions(format="csv", label="y", block_size=64), Skips(True)))
    assert [raw.label.names[k] for raw in raws for k in raw.label.code] == [str(i) for i in range(300)]
    assert max(len(raw.label.names) for raw in raws[1:]) < 50
