"""What the CSV reader takes, what it refuses and where it says so."""

import bz2
import csv
import gzip
import io
import lzma
import math
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf.errors import DataError, UsageError
from bigclf.reading import csv_text
from bigclf.reading.csv_text import CsvReader
from bigclf.reading.options import ReadOptions
from bigclf.reading.parquet import ParquetReader
from bigclf.reading.raw import Skips, Words
from bigclf.reading.source import find
from bigclf.reading.table import Kinds

SIZES = (16, 64, 1000, 1 << 20)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write text or bytes to a file of the folder in which the test runs."""
    monkeypatch.chdir(tmp_path)

    def to(name, text):
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return to


def plain(column):
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if math.isnan(v) else v for v in column.tolist()]


def open_csv(*paths, kinds=None, skips=None, notices=None, **options):
    options = ReadOptions(**({"format": "csv"} | options))
    return CsvReader(find(paths, options.format), options, skips or Skips(True), kinds, notices)


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


# Columns


def test_numbers_are_float64_and_words_are_words(write):
    write("t.csv", "a,color,y\n1,red,0\n2.5,blue,1\n-3e2,red,0\n")
    rows, reader = read("t.csv", label="y")
    assert rows == [(0, (1.0, "red"), "0"), (1, (2.5, "blue"), "1"), (2, (-300.0, "red"), "0")]
    assert reader.kinds == Kinds((("a", "number"), ("color", "words")), "y")


@pytest.mark.parametrize("label, name", [("y", "y"), ("3", "y"), ("last", "y"), ("first", "a"), ("2", "b")])
def test_label_by_name_number_first_or_last(write, label, name):
    write("t.csv", "a,b,y\n1,2,3\n")
    rows, reader = read("t.csv", label=label)
    assert reader.kinds.label == name
    assert rows[0][2] == {"a": "1", "b": "2", "y": "3"}[name]


def test_a_name_wins_over_a_number_and_over_first(write):
    write("t.csv", "a,1,first\n10,20,30\n")
    assert labels("t.csv", label="1") == ["20"]
    assert labels("t.csv", label="first") == ["30"]


def test_without_label_a_column_called_label_is_taken_and_said(write):
    write("t.csv", "a,label\n1,x\n")
    notices = Counter()
    assert labels("t.csv", notices=notices) == ["x"]
    assert notices == {"label taken from column 'label'": 1}


def test_label_that_is_missing_lists_the_columns(write):
    write("t.csv", "a,b,y\n1,2,3\n")
    assert fault("t.csv") == "t.csv: no --label given; columns are: a, b, y"
    assert fault("t.csv", label="target") == "t.csv: no column 'target'; columns are: a, b, y"
    assert fault("t.csv", label="4") == "t.csv: no column '4'; columns are: a, b, y"
    assert fault("t.csv", label="y", ignore=("z",)) == "t.csv: no column 'z'; columns are: a, b, y"
    assert fault("t.csv", label="y", categorical=("z",)) == "t.csv: no column 'z'; columns are: a, b, y"
    assert "cannot be ignored" in fault("t.csv", label="y", ignore=("3",))


def test_labels_that_are_one_number_are_one_class(write):
    write("t.csv", "a,y\n1,1\n1,+1\n1,1.0\n1, -1\n1,no \n")
    assert labels("t.csv", label="y") == ["1", "1", "1", "-1", "no"]
    (raw,) = open_csv("t.csv", label="y")
    assert raw.label.names == ["1", "-1", "no"]


def test_ignored_columns_may_hold_anything(write):
    write("t.csv", b"a,id,when,y\n1,x7,2024-01-31,0\n2,7,\xff,1\n")
    assert features("t.csv", label="y", ignore=("id", "3")) == [(1.0,), (2.0,)]


def test_categorical_makes_words_of_numbers(write):
    write("t.csv", "zip,y\n1,a\n1.0,b\n007,a\nx,a\n,b\n")
    rows, reader = read("t.csv", label="y", categorical=("1",))
    assert [x for _, x, _ in rows] == [("1",), ("1",), ("7",), ("x",), (None,)]
    assert reader.kinds == Kinds((("zip", "words"),), "y", forced=("zip",))
    write("u.csv", "y,zip\na,7.0\n")
    assert features("u.csv", kinds=reader.kinds, categorical=("1",)) == [("7",)]  # the model knows it by name


def test_true_and_false_are_one_and_zero(write):
    write("t.csv", "a,b,y\ntrue,1,0\nFalse,TRUE,1\n,2,1\n true,0,0\n")
    assert features("t.csv", label="y") == [(1, 1), (0, 1), (None, 2), (1, 0)]


def test_columns_of_true_and_false_stay_on_the_fast_path(write, monkeypatch):
    write("t.csv", "a,y\n" + "true,1\nfalse,0\n" * 400)
    slow = []
    monkeypatch.setattr(csv_text, "HEAD_ROWS", 10)
    monkeypatch.setattr(csv_text, "exact", lambda *a, real=csv_text.exact: slow.append(1) or real(*a))
    assert features("t.csv", label="y", block_size=100) == [(1,), (0,)] * 400
    assert len(slow) == 1


def test_missing_tokens_with_blanks_around_them(write):
    tokens = ["", "NA", "N/A", "NaN", "nan", "null", "?"]
    lines = [f"{b}{t}{e},{b}{t}{e},1" for t in tokens for b in ("", " ", "\t ") for e in ("", "  ")]
    write("t.csv", "a,w,y\n1,red,0\n" + "\n".join(lines) + '\n"NA","?",0\n')
    assert features("t.csv", label="y") == [(1, "red")] + [(None, None)] * (len(lines) + 1)


def test_blanks_around_values_do_not_count(write):
    write("t.csv", "a , w,y\n 1 , red , yes\n2\t,red,yes \n")
    assert read("t.csv", label="y")[0] == [(0, (1, "red"), "yes"), (1, (2, "red"), "yes")]


def test_a_column_missing_in_the_whole_head_is_numeric(write):
    write("t.csv", "a,b,y\n,1,0\nNA,2,1\n")
    assert read("t.csv", label="y")[1].kinds.columns == (("a", "number"), ("b", "number"))


def test_numbers_are_the_nearest_float64(write):
    texts = ["0.1", "1e-400", "4.9e-324", "1.7976931348623157e308", "9007199254740993", ".5", "5.", "+3", "-0"]
    write("t.csv", "a,y\n" + "".join(f"{t},1\n" for t in texts))
    assert [x for (x,) in features("t.csv", label="y")] == [float(t) for t in texts]
    write("u.csv", "a,y\n" + "".join(f"{t},1\n" for t in texts) + "true,1\n")  # the exact path
    assert [x for (x,) in features("u.csv", label="y")] == [*map(float, texts), 1]


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e400", "NAN"])
def test_values_that_are_not_finite_are_refused(write, text):
    write("t.csv", f"a,y\n1,0\n{text},1\n")
    assert fault("t.csv", label="y") == f"t.csv:3: column 'a': value '{text}' is not finite"


@pytest.mark.parametrize("text", ["0x10", "1_000", "1d3", "--1", "1 2", "1\x002"])
def test_what_is_no_number(write, text):
    write("t.csv", f"a,y\n1,0\n{text},1\n")
    assert fault("t.csv", label="y").startswith("t.csv:3: column 'a': ")


# Mixed columns


def test_a_word_in_a_column_of_numbers_in_the_head(write):
    write("t.csv", "a,b,y\n1,2,0\n\n1,oops,1\nx,2,0\n")
    wanted = "t.csv:4: column 'b': 'oops' is not a number; name it in --categorical or --ignore"
    assert fault("t.csv", label="y") == wanted


def test_a_word_in_a_column_of_numbers_after_the_head(write):
    write("t.csv", "a,b,y\n" + "1,2,0\n" * 12_000 + "1,oops,1\n")
    for size in (4096, 1 << 20):
        with pytest.raises(DataError, match=r"^t.csv:12002: column 'b': 'oops' is not a number"):
            read("t.csv", label="y", block_size=size)


def test_a_number_among_words_after_the_head(write):
    write("t.csv", "a,y\n" + "red,0\n" * 10_000 + "7,1\n")
    with pytest.raises(DataError, match=r"^t.csv:10002: column 'a': '7' is a number among words; name it in --cat"):
        read("t.csv", label="y")


def test_where_rows_may_be_dropped_the_kind_of_most_values_wins(write):
    write("t.csv", "a,b,y\n1,u,0\noops,v,1\n2,3,0\n3,w,1\n")
    skips = Skips(False)
    rows, reader = read("t.csv", label="y", skips=skips, on_error="skip")
    assert rows == [(0, (1, "u"), "0"), (3, (3, "w"), "1")]
    assert [f.place for f in skips.faults] == ["t.csv:3", "t.csv:4"]
    assert [k for _, k in reader.kinds.columns] == ["number", "words"]


def test_dates_are_refused_with_a_hint(write):
    write("t.csv", "a,d,y\n1,,0\n1,2024-01-31 10:00,0\n")
    assert fault("t.csv", label="y") == (
        "t.csv:3: column 'd': '2024-01-31 10:00' looks like a date; --ignore it or turn it into numbers"
    )
    assert features("t.csv", label="y", ignore=("d",)) == [(1,), (1,)]
    assert features("t.csv", label="y", categorical=("d",)) == [(1, None), (1, "2024-01-31 10:00")]


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
    (raw,) = open_csv("t.csv", label="y", skips=Skips(False))
    assert raw.label.names == ["0", "1"]


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


# Forms of text


def test_byte_order_mark(write):
    write("t.csv", b"\xef\xbb\xbfy,a\n1,2\n")
    assert read("t.csv", label="y")[0] == [(0, (2,), "1")]


def test_no_header(write):
    write("t.csv", "1,0,cat\n0,1,dog\n")
    rows, reader = read("t.csv", label="last", header=False)
    assert rows == [(0, (1, 0), "cat"), (1, (0, 1), "dog")]
    assert reader.kinds == Kinds((("1", "number"), ("2", "number")), "3")
    write("u.csv", "5,6\n")
    assert features("u.csv", kinds=reader.kinds, header=False, label="last", need_label=False) == [(5, 6)]


def test_a_header_of_numbers_is_doubted(write):
    write("t.csv", "1,0,1\n0,1,0\n")
    notices = Counter()
    read("t.csv", label="last", notices=notices)
    assert notices == {"all names in the header are numbers; is --no-header meant?": 1}


def test_delimiter_and_decimal(write):
    write("t.csv", "a;b;y\n1,5;0,0;up\n,5;1e3;1,50\n")
    rows, _ = read("t.csv", label="y", delimiter=";", decimal=",")
    assert rows == [(0, (1.5, 0), "up"), (1, (0.5, 1000), "1.5")]
    assert fault("t.csv", label="y") == "t.csv: the header has no ',' and has ';'; try --delimiter ';'"
    write("u.csv", "a;y\n1,5;0\n2.5;1\n")
    assert fault("u.csv", label="y", delimiter=";", decimal=",").startswith(
        "u.csv:3: column 'a': '2.5' is not a number"
    )


def test_tabs(write):
    write("t.tsv", "a\ty\n1\tx,z\n")
    assert labels("t.tsv", label="y", format="auto") == ["x,z"]
    assert labels("t.tsv", label="y", delimiter="\\t") == ["x,z"]


@pytest.mark.parametrize("options", [
    {"delimiter": ";;"}, {"delimiter": ""}, {"delimiter": "é"}, {"decimal": ""}, {"decimal": ","}, {"quote": "\n"},
    {"decimal": "5"}, {"encoding": "klingon"},
])  # fmt: skip
def test_options_that_cannot_be_meant(write, options):
    write("t.csv", "a,y\n1,2\n")
    with pytest.raises(UsageError):
        open_csv("t.csv", label="y", **options)


def test_encodings(write):
    text = "größe,farbe,y\n1,grün,ja\n"
    for encoding in ("utf-8", "latin1", "utf-16", "cp1252"):
        write("t.csv", text.encode(encoding))
        rows, reader = read("t.csv", label="y", encoding=encoding)
        assert rows == [(0, (1, "grün"), "ja")]
        assert reader.kinds.columns[0][0] == "größe"


def test_bytes_that_are_not_utf8(write):
    write("t.csv", "a,y\nx,0\ngrün,1\n".encode("latin1"))
    assert fault("t.csv", label="y") == (
        "t.csv:3: column 'a': bytes that are no UTF-8 text, or a NUL; try --encoding latin1"
    )
    write("h.csv", "größe,y\nx,0\n".encode("latin1"))
    assert fault("h.csv", label="y").startswith("h.csv:1: bytes that are no UTF-8 text")
    write("a.csv", "a,y\nx,0\ngrün,1\n".encode("latin1"))
    assert "no text in ascii" in fault("a.csv", label="y", encoding="ascii")


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": lambda b: pa.compress(b, "zstd", asbytes=True)}  # fmt: skip


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text(write, ending):
    text = b"a,y\n" + b"".join(b"%d,%d\n" % (i * i, i % 2) for i in range(2000))
    write("t.csv." + ending, PACKERS[ending](text))
    assert features("t.csv." + ending, label="y", block_size=4096) == [(i * i,) for i in range(2000)]


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text_cut_short(write, ending):
    rng = np.random.default_rng(0)
    text = b"a,y\n" + b"".join(b"%d,1\n" % x for x in rng.integers(0, 10**9, 60_000))
    packed = PACKERS[ending](text)
    name = write("t.csv." + ending, packed[: len(packed) * 9 // 10])
    with pytest.raises(DataError, match=r"^t.csv.\w+: compressed data end too early after row \d+: "):
        read(name, label="y", block_size=4096)


# Several files, and reading by given kinds


def test_files_are_matched_by_name_and_rows_run_on(write):
    write("a.csv", "a,b,y\n1,2,0\n")
    write("e.csv", "")
    write("b.csv", "y,extra,b,a\n1,9,3,4\n")
    notices = Counter()
    rows, _ = read("a.csv", "e.csv", "b.csv", label="y", notices=notices)
    assert rows == [(0, (1, 2), "0"), (1, (4, 3), "1")]
    assert notices == {"extra columns ignored: extra": 1}
    raws = list(open_csv("a.csv", "b.csv", label="y"))
    assert [raw.where(0) for raw in raws] == ["a.csv:2", "b.csv:2"]
    write("c.csv", "a,y\n1,2\n")
    assert fault("a.csv", "c.csv", label="y") == "c.csv: no column 'b'; columns are: a, y"


def test_a_name_may_not_be_there_twice_unless_ignored(write):
    write("t.csv", "a,b,a,y\n1,2,3,0\n")
    assert fault("t.csv", label="y") == "t.csv: column 'a' appears twice; name it in --ignore"
    assert features("t.csv", label="y", ignore=("a",)) == [(2,)]
    assert features("t.csv", "t.csv", label="y", ignore=("1",)) == [(2, 3)] * 2


KINDS = Kinds((("a", "number"), ("w", "words")), "y")


def test_given_kinds_match_by_name_and_the_label_may_be_absent(write):
    write("t.csv", "w,z,a\nred,0,1\n")
    notices = Counter()
    rows, reader = read("t.csv", kinds=KINDS, label="1", need_label=False, notices=notices)
    assert rows == [(0, (1, "red"), None)]
    assert reader.kinds == KINDS
    assert notices == {"extra columns ignored: z": 1}
    assert not any(raw.head for raw in open_csv("t.csv", kinds=KINDS, need_label=False))


def test_given_kinds_and_a_label_that_is_there(write):
    write("t.csv", "y,w,a\nno,red,1\n,blue,2\n")
    assert labels("t.csv", kinds=KINDS, need_label=False) == ["no", None]
    assert fault("t.csv", kinds=KINDS) == "t.csv:3: label is missing"


def test_given_kinds_are_not_changed_by_the_data(write):
    write("t.csv", "a,w\n1,2\n")
    assert "'2' is a number among words" in fault("t.csv", kinds=KINDS, need_label=False)
    write("u.csv", "a,w\nred,red\n")
    assert "'red' is not a number" in fault("u.csv", kinds=KINDS, need_label=False)


def test_absent_columns_are_named(write):
    write("t.csv", "b,c\n1,2\n")
    assert fault("t.csv", kinds=KINDS, need_label=False) == "t.csv: no columns 'a', 'w'; columns are: b, c"
    write("u.csv", "a,w\n1,red\n")
    assert fault("u.csv", kinds=KINDS) == "u.csv: no column 'y'; columns are: a, w"


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
    monkeypatch.setattr(csv_text, "RECORD_LIMIT", 1000)
    write("t.csv", "a,y\n1,0\n" + "x" * 3000 + ",1\n")
    with pytest.raises(DataError, match="is a quote open"):
        read("t.csv", label="y", block_size=64)


# Any table

word = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z"), exclude_characters='0123456789+-.')) | st.sampled_from(
    ["a,b", 'say "x"', "line\nline", "tr ue", "é"]
)  # fmt: skip
clean = word.filter(lambda w: w.strip(" \t") == w and w not in ("true", "True", "TRUE", "false", "False", "FALSE"))
number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15).map(float) | st.none()
table = st.lists(st.tuples(number, number, clean.map(lambda w: w and "w" + w), st.sampled_from("yn")), min_size=1)


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


def test_gzip_of_several_members(write):
    write("t.csv.gz", gzip.compress(b"a,y\n1,0\n") + gzip.compress(b"2,1\n"))
    assert features("t.csv.gz", label="y") == [(1,), (2,)]
    assert zlib  # the members are joined by the decompressor, not by name
