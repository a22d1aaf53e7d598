"""The LIBSVM reader: rows, faults, labels, order, head; equal to the slow reader on any text and any block size."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bigclf.errors import DataError, UsageError
from bigclf.reading import libsvm, libsvm_kernel, libsvm_labels, raw
from bigclf.reading.libsvm_strict import LineFault, parse_line
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Skips
from bigclf.reading.source import find

WORD = (1 << 64) - 1


def sources(tmp_path, *texts):
    paths = []
    for i, text in enumerate(texts):
        path = tmp_path / f"{i}.svm"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(str(path))
    return find(paths, "libsvm")


def collect(inputs, stop=True, notices=None, **options):
    """Rows as (number, place, label, columns, values), faults, and sizes of the head and of the rest."""
    skips = Skips(stop, keep=1000)
    rows, head, rest = [], 0, 0
    for r in libsvm.read(inputs, ReadOptions(**options), skips, notices):
        indptr, column, value = r.data
        assert len(r.row) == len(r.label.code) == len(indptr) - 1 > 0
        assert indptr[0] == 0 and indptr[-1] == len(column) == len(value)
        assert not (r.head and rest)
        head, rest = head + r.head * len(r.row), rest + (not r.head) * len(r.row)
        for i, number in enumerate(r.row):
            part = slice(indptr[i], indptr[i + 1])
            assert (np.diff(column[part]) > 0).all()
            code = r.label.code[i]
            label = r.label.names[code] if code >= 0 else None
            rows.append((int(number), r.where(i), label, column[part].tolist(), value[part].tolist()))
    return rows, [str(f) for f in skips.faults], head


def one(tmp_path, text, **options):
    """Label and entries (index as written) of the only row."""
    rows, _, _ = collect(sources(tmp_path, text), **options)
    assert len(rows) == 1
    return rows[0][2], [(c - 1, v) for c, v in zip(rows[0][3], rows[0][4], strict=True)]


def fault(tmp_path, text, **options):
    with pytest.raises(DataError) as e:
        collect(sources(tmp_path, text), **options)
    return str(e.value).removeprefix(str(tmp_path) + "/")


@pytest.mark.parametrize(
    "text",
    [
        "+1 1:.5 3:-2",
        "1  1:0.5\t3:-2.0  \r\n",
        "\t1 1:5e-1 3:-2e0\n\n\n",
        " 1.0 1:+0.5 3:-2.#c",
        "1 1: 0.5 3:\t-2#c:d e",
        "1 3:-2 1:0.50",
        "\ufeff1 001:.5 +3:-2",
        "# c\n \n1 1:0.5000000000000000000000000001 3:-02.0 # x 1:1",
        "1e0 qid:99999999999999999999999 1:.5 3:-2",
        "1 1:.5\x0b3:-2\x0c",
    ],
)
def test_one_row_written_in_many_ways(tmp_path, text):
    assert one(tmp_path, text) == ("1", [(1, 0.5), (3, -2.0)])


def test_rows_without_entries_and_index_zero(tmp_path):
    assert one(tmp_path, "yes") == ("yes", [])
    assert one(tmp_path, "-1 0:3 2147483644:1") == ("-1", [(0, 3.0), (2147483644, 1.0)])
    assert collect(sources(tmp_path, "", "\n# nothing\n \t\r\n"))[0] == []


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("1 1:1 2:0x10", "2:9", "feature value '0x10' is not a number"),
        ("1 12:1 3:1 12:2", "2:12", "index 12 appears twice in this row; --on-error skip drops such rows"),
        ("1:1 2:2", "2:1", "label is missing (the row starts with '1:1')"),
        ("+1 5000000000:1", "2:4", "feature index 5000000000 is beyond 2147483645; train with --hash-bits 22"),
        ("+1 99999999999999999999999:1", "2:4", "feature index 99999999999999999999999 is beyond"),
        ("1 1:nan", "2:5", "feature value 'nan' is not finite"),
        ("1 1:-Infinity", "2:5", "feature value '-Infinity' is not finite"),
        ("1 1:1e400", "2:5", "feature value '1e400' is not finite"),
        ("1 -3:1", "2:3", "index -3 is negative"),
        ("1,3 1:1", "2:1", "several labels ('1,3'): multi-label data is another task"),
        ("-1 1: 2:2", "2:4", "'1:' has no value"),
        ("-1 1:", "2:4", "'1:' has no value"),
        ("1 1:0.52:3", "2:3", "'1:0.52:3' has two colons"),
        ("1 1:2 3", "2:7", "'3' is not index:value"),
        ("1 1_0:2", "2:3", "index '1_0' is not a whole number"),
        ("1 1:1_0", "2:5", "feature value '1_0' is not a number"),
        ("1 1:2\0 3:1", "2:6", "byte 0x00 is no text"),
        ("nan 1:2", "2:1", "label 'nan' is not a class"),
        ("-inf 1:2", "2:1", "label '-inf' is not a class"),
        ("1 qid:x 1:2", "2:7", "qid 'x' is not a whole number"),
        ("1 1:" + "9" * 60 + "x", "2:5", "feature value '" + "9" * 40 + "...' is not a number"),
    ],
)
def test_faults_have_place_and_reason(tmp_path, line, place, message):
    text = f"1 1:1\n{line}\n1 1:3\n"
    assert fault(tmp_path, text).startswith(f"0.svm:{place}: {message}")
    rows, faults, _ = collect(sources(tmp_path, text), stop=False)
    assert [r[0] for r in rows] == [0, 2] and rows[1][1].endswith("0.svm:3") and len(faults) == 1


def test_labels(tmp_path):
    words = [
        "+1",
        "1.0",
        "1e0",
        "-1",
        "a",
        "yes_it_is_long",
        "yes_it_is_lone",
        "é",
        "12345678",
        "123456789",
        "-0",
        "a" * 99,
    ]
    rows, _, _ = collect(sources(tmp_path, "\n".join(words)))
    names = ["1", "1", "1", "-1", *words[4:10], "0", "a" * 99]
    assert [r[2] for r in rows] == names
    assert "latin-1" in fault(tmp_path, b"\xe9 1:1")
    assert one(tmp_path, b"\xe9 1:1", encoding="latin-1") == ("é", [(1, 1.0)])
    with pytest.raises(UsageError):
        one(tmp_path, "1", encoding="latin-99")
    assert "no text in ascii" in fault(tmp_path, b"\xe9 1:1", encoding="ascii")


def test_many_labels(tmp_path):
    labels = [str(i * 37 % 20_011) + ("long_enough" if i % 3 else "") for i in range(30_000)]
    rows, _, _ = collect(sources(tmp_path, "\n".join(labels)), block_size=5000)
    assert [r[2] for r in rows] == labels


def test_label_may_lack_when_predicting(tmp_path):
    rows, _, _ = collect(sources(tmp_path, "1:1 2:2\n-1 1:1\n3: 4\n"), need_label=False)
    assert [(r[2], r[3]) for r in rows] == [(None, [2, 3]), ("-1", [2]), (None, [4])]


def test_qid_is_counted_once_a_token(tmp_path):
    notices = Counter()
    collect(sources(tmp_path, "1 qid:1 1:1\n1 qid:2 1:1 1:2\n1 1:1 qid:3\n"), stop=False, notices=notices)
    assert notices[libsvm.QID] == 2


def test_numbers_go_on_over_sources_and_lines_start_anew(tmp_path):
    rows, _, _ = collect(sources(tmp_path, "1\n\n2", "#\n3\n"))
    assert [(r[0], r[1].rsplit("/")[-1], r[2]) for r in rows] == [
        (0, "0.svm:1", "1"),
        (1, "0.svm:3", "2"),
        (2, "1.svm:2", "3"),
    ]


@pytest.mark.parametrize("size", [7, 100, 1 << 20])
def test_head(tmp_path, monkeypatch, size):
    """The head ends behind the rows or behind the bytes, a first long row is always in it, and blocks do not matter."""
    two = sources(tmp_path, "1 1:1\n" * 10, "2 1:1\n" * 10)
    monkeypatch.setattr(raw, "HEAD_ROWS", 13)
    assert collect(two, block_size=size)[2] == 13
    monkeypatch.setattr(raw, "HEAD_BYTES", 77)
    assert collect(two, block_size=size)[2] == 12
    monkeypatch.setattr(raw, "HEAD_BYTES", 78)
    assert collect(two, block_size=size)[2] == 13
    monkeypatch.setattr(raw, "HEAD_BYTES", 5)
    assert collect(two, block_size=size)[2] == 1
    assert len(collect(two, block_size=size)[0]) == 20
    assert collect(sources(tmp_path, "# a long comment\n1:1\n2 1:1\n3 1:1"), stop=False, block_size=size)[2] == 1


def test_hash_bits(tmp_path):
    def place(index, bits):
        return 1 + (libsvm_labels._mix(index) & (1 << bits) - 1)

    indices = [*range(40), 1 << 40, WORD]
    text = " ".join(f"{i}:{i % 7 - 3.3}" for i in indices)
    want = {}
    for i in sorted(indices, key=lambda i: (place(i, 5), libsvm_labels._mix(i) >> 5)):
        want[place(i, 5)] = want.get(place(i, 5), 0.0) + (i % 7 - 3.3)
    turned = " ".join(reversed(text.split()))
    rows, _, _ = collect(sources(tmp_path, f"1 {text}\n1 {turned}"), hash_bits=5)
    assert dict(zip(rows[0][3], rows[0][4], strict=True)) == want
    assert rows[0][3:] == rows[1][3:]
    assert "beyond 64 bits" in fault(tmp_path, f"1 {WORD + 1}:1", hash_bits=5)
    assert "appears twice" in fault(tmp_path, "1 7:1 8:1 7:1", hash_bits=5)


@pytest.mark.parametrize("n", [2, 17, 300, 20_000])
def test_unsorted_rows(tmp_path, n):
    rng = np.random.default_rng(n)
    tokens = [f"{i}:{float(i / 7)!r}" for i in rng.choice(3 * n, n, replace=False)]
    ascending = sorted(tokens, key=lambda t: int(t.split(":")[0]))
    a, b = (collect(sources(tmp_path, "1 " + " ".join(t)), block_size=4096)[0] for t in (tokens, ascending))
    assert a == b
    assert "appears twice" in fault(tmp_path, "1 " + " ".join([*tokens, tokens[0]]))


def test_numbers_that_only_python_can_decide(tmp_path):
    hard = "9007199254740993." + "0" * 30
    tokens = [hard + str(i % 2) if i % 3 else "2.5" for i in range(100)]
    text = "1 " + " ".join(f"{200 - i}:{t}" for i, t in enumerate(tokens))
    rows, _, _ = collect(sources(tmp_path, f"1 1:1\n{text}\n{text}\n"))
    assert rows[1][4] == rows[2][4] == [float(t) for t in reversed(tokens)]


def test_broken_input(tmp_path):
    text = b"".join(b"1 1:%d 2:%d\n" % (i * i, i * 7919 % 1013) for i in range(20_000))
    for name, pack in (("x.gz", gzip.compress), ("x.bz2", bz2.compress), ("x.xz", lzma.compress)):
        path = tmp_path / name
        path.write_bytes(pack(text))
        assert len(collect(find([str(path)]))[0]) == 20_000
        path.write_bytes(pack(text)[:-1000])
        with pytest.raises(DataError, match=r"end too early after row \d+"):
            collect(find([str(path)], "libsvm"), block_size=1000)


PIECES = [
    *("1", "-1", "x", "a,b", "nan", "é", "e", ".", ":", "#", " ", "  ", "\t", "\r", "\0", "qid:3", "qid:", "4:", "0:1"),
    *("2:3", "7:.5", "3:1e5", "+6:-2.", "13:1.", "14:-0.0", "15:1e-400", "11:12345678", "12:123456789.123456789"),
    *("5:0.123456789012345678", "16:9007199254740993.00000001", "2147483646:1", "00000000015:1", "12345678901:1"),
    *("8:1e400", "9:nan", "9:0x1", "10:1_0", "-2:1"),
]
LINES = st.lists(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
        st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join),
        st.lists(st.sampled_from(PIECES), max_size=9).map(lambda p: "1 " + " ".join(p)),
        st.text("012:.-+e# \t\r,q", max_size=20),
    ),
    max_size=12,
)


def by_the_slow_reader(text, path, options):
    rows, faults, number = [], [], 0
    for n, line in enumerate(text.split(b"\n"), 1):
        try:
            found = parse_line(line, options)
        except LineFault as f:
            faults.append(f"{path}:{n}:{f.column}: {f.what}")
            number += 1
            continue
        if found is not None:
            entries = sorted(found.entries)
            rows.append((number, f"{path}:{n}", found.label, [i + 1 for i, _ in entries], [v for _, v in entries]))
            number += 1
    return rows, faults


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, size=st.integers(7, 200), label=st.booleans())
@example(lines=["1 1: 2:2", "1 1 :2", "1 1: .5:2"], size=7, label=True)
@example(lines=[": 1", " :1"], size=7, label=False)
def test_equal_to_the_slow_reader_for_any_text_and_block(tmp_path, lines, size, label):
    text = "\n".join(lines).encode()
    inputs = sources(tmp_path, text)
    want = by_the_slow_reader(text, inputs[0].path, ReadOptions(need_label=label))
    rows, faults, _ = collect(inputs, stop=False, block_size=size, need_label=label)
    assert (rows, faults) == want
    assert str(rows) == str(want[0])  # signs of zeros too


def test_one_signature():
    assert len(libsvm_kernel.read_rows.signatures) <= 1
