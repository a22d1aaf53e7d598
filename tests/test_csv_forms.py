"""Spellings of CSV files: delimiters, quotes, encodings, compression."""

import bz2
import gzip
import lzma
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from tabular import fault, features, labels, open_csv, read

from bigclf.errors import DataError, UsageError
from bigclf.reading.table import Kinds

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
    write("t.csv", "1,0,2\n0,1,0\n")
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


@pytest.mark.parametrize(("other", "option"), [
    (";", "--delimiter ';'"), ("|", "--delimiter '|'"), ("\t", "--format tsv"), (",", "--format csv"),
])  # fmt: skip
@pytest.mark.parametrize("names", ["a!b!y", '"a"!"b"!"y"', 'a!"b"!y', '"a, b; or c"!"b"!"y"', '"a ""x"""!b!"y"'])
def test_another_delimiter_in_the_first_row_is_named(write, names, other, option):
    """Whether its names are quoted or not, or hold delimiters within their quotes."""
    format = "tsv" if other == "," else "csv"
    own = {"tsv": "\t", "csv": ","}[format]
    write("t.csv", "\n" + names.replace("!", other) + "\n" + "1!2!0\n".replace("!", other) * 40)
    said = f"no {own!r} and has {other!r}; try {option}"
    assert fault("t.csv", label="y", format=format) == f"t.csv: the header has {said}"
    assert fault("t.csv", label="last", format=format, header=False) == f"t.csv: the first row has {said}"
    kinds = Kinds((("a", "number"), ("b", "number")), "y")
    assert fault("t.csv", kinds=kinds, need_label=False, format=format) == f"t.csv: the header has {said}"


def test_another_delimiter_is_not_named_where_this_one_fits_or_is_asked_for(write):
    write("t.csv", 'a;b,y\n1,"x"\n2;"3",0\n')
    assert fault("t.csv", label="y").startswith("t.csv:3: a quote inside an unquoted field; a field with quotes")
    write("u.csv", '"a";"y"\n1,2\n')
    assert fault("u.csv", label="y", delimiter=",").startswith("u.csv:1: a quote inside an unquoted field")
    write("v.csv", "a;b\n1\n2\n")
    model = Kinds((("a;b", "number"),), "y")
    assert features("v.csv", kinds=model, need_label=False) == [(1,), (2,)]


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


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda b: pa.compress(b, "zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text(write, ending):
    text = b"a,y\n" + b"".join(b"%d,%d\n" % (i * i, i % 2) for i in range(2000))
    write("t.csv." + ending, PACKERS[ending](text))
    assert features("t.csv." + ending, label="y", block_size=4096) == [(i * i,) for i in range(2000)]


def test_gzip_of_several_members(write):
    write("t.csv.gz", gzip.compress(b"a,y\n1,0\n") + gzip.compress(b"2,1\n"))
    assert features("t.csv.gz", label="y") == [(1,), (2,)]


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text_cut_short(write, ending):
    rng = np.random.default_rng(0)
    text = b"a,y\n" + b"".join(b"%d,1\n" % x for x in rng.integers(0, 10**9, 60_000))
    packed = PACKERS[ending](text)
    name = write("t.csv." + ending, packed[: len(packed) * 9 // 10])
    with pytest.raises(DataError, match=r"^t.csv.\w+: compressed data end too early after row \d+ \("):
        read(name, label="y", block_size=4096)
