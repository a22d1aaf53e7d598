"""What the Parquet reader takes, what it refuses and where it says so."""

import ctypes
import decimal
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bigclf.errors import DataError
from bigclf.reading import parquet, parquet_groups
from bigclf.reading.options import ReadOptions
from bigclf.reading.parquet import ParquetReader
from bigclf.reading.parquet_groups import TOGETHER, decoded
from bigclf.reading.raw import Skips, Words
from bigclf.reading.source import find
from bigclf.reading.table import Kinds, spell


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write columns to a file of the folder in which the test runs."""
    monkeypatch.chdir(tmp_path)

    def to(name, groups=None, **columns):
        pq.write_table(pa.table(columns), name, row_group_size=groups)
        return name

    return to


def plain(column):
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if np.isnan(v) else v for v in column.tolist()]


def open_parquet(*paths, kinds=None, skips=None, notices=None, **options):
    return ParquetReader(
        find(paths),
        ReadOptions(**({"label": "y"} | options)),
        skips or Skips(True),
        kinds,
        Counter() if notices is None else notices,
    )


def read(*paths, **options):
    """Columns by name, with "label" and "row" beside them, and the reader."""
    reader = open_parquet(*paths, **options)
    out = {}
    for raw in reader:
        for name, column in {**raw.data, **({"label": raw.label} if raw.label is not None else {})}.items():
            out.setdefault(name, []).extend(plain(column))
        out.setdefault("row", []).extend(raw.row.tolist())
    return out, reader


def fault(*paths, **options):
    with pytest.raises(DataError) as e:
        read(*paths, **options)
    return str(e.value)


NUMBERS = {
    "int8": pa.array([1, None, -3], pa.int8()),
    "uint64": pa.array([1, None, 2**63], pa.uint64()),
    "int64": pa.array([1, None, 2**53 + 1], pa.int64()),
    "half": pa.array(np.array([1, 0.5, 2], np.float16)),
    "float": pa.array([0.1, float("nan"), None], pa.float32()),
    "decimal": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal("-2.35")], pa.decimal128(9, 2)),
    "wide": pa.array(
        [decimal.Decimal("0.1234567"), None, decimal.Decimal("12345678901.7654321")], pa.decimal128(18, 7)
    ),
    "bool": pa.array([True, None, False]),
    "null": pa.nulls(3),
    "dict": pa.array([5, None, 5]).dictionary_encode(),
}
VALUES = {
    "int8": [1, None, -3],
    "uint64": [1, None, 2.0**63],
    "int64": [1, None, float(2**53 + 1)],
    "half": [1, 0.5, 2],
    "float": [float(np.float32(0.1)), None, None],
    "decimal": [0.1, None, -2.35],
    "wide": [0.1234567, None, 12345678901.7654321],
    "bool": [1, None, 0],
    "null": [None] * 3,
    "dict": [5, None, 5],
}


def test_every_scalar_type_of_number_becomes_float64(write):
    write("t.parquet", **NUMBERS, y=["p", "n", "p"])
    found, reader = read("t.parquet")
    assert {name: found[name] for name in VALUES} == VALUES
    assert reader.kinds == Kinds(tuple((name, "number") for name in VALUES), "y")


def test_strings_and_dictionaries_are_words_by_value(write):
    values = ["b", None, "a", "b", "?", " a ", ""]
    write(
        "t.parquet", s=values, l=pa.array(values, pa.large_string()), d=pa.array(values).dictionary_encode(), y=[1] * 7
    )
    found, reader = read("t.parquet")
    for name in "sld":
        assert found[name] == ["b", None, "a", "b", None, "a", None]
    assert [k for _, k in reader.kinds.columns] == ["words"] * 3


def test_a_dictionary_is_not_a_code(write):
    tables = [pa.table({"d": pa.array(v).dictionary_encode(), "y": [0] * len(v)}) for v in (["a", "b"], ["b", "a"])]
    with pq.ParquetWriter("t.parquet", tables[0].schema) as out:
        for t in tables:
            out.write_table(t)
    assert read("t.parquet", block_size=1)[0]["d"] == ["a", "b", "b", "a"]


@pytest.mark.parametrize("column, called", [
    (pa.array([[1], [2]]), "a list"),
    (pa.array([[1], [2]], pa.large_list(pa.int8())), "a list"),
    (pa.array([{"k": 1}, {"k": 2}]), "a struct"),
    (pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())), "a map"),
    (pa.array([1, 2], pa.timestamp("us")), "a timestamp"),
    (pa.array([1, 2], pa.date32()), "a date"),
    (pa.array([1, 2], pa.time64("us")), "a time"),
    (pa.array([1, 2], pa.duration("us")), "a duration"),
    (pa.array([b"x", b"z"]), "binary"),
])  # fmt: skip
def test_what_cannot_be_a_feature_is_refused_by_name_unless_ignored(write, column, called):
    write("t.parquet", a=[1, 2], tags=column, y=[0, 1])
    assert fault("t.parquet") == f"t.parquet: column 'tags' is {called}; name it in --ignore"
    assert read("t.parquet", ignore=("tags",))[0]["a"] == [1, 2]


def test_categorical_numbers_are_words(write):
    columns = {
        "i": pa.array([1, 2**60, None]),
        "f": pa.array([1.0, 2.5, float("nan")]),
        "b": pa.array([True, False, None]),
        "d": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.00"), None]),
    }
    write("t.parquet", **columns, y=[0, 1, 0])
    found, reader = read("t.parquet", categorical=("i", "f", "b", "4"))
    assert found["i"] == ["1", str(2**60), None]
    assert found["f"] == ["1", "2.5", None]
    assert found["b"] == ["true", "false", None]
    assert found["d"] == ["1.5", "2", None]
    assert reader.kinds.forced == ("b", "d", "f", "i")
    write("u.parquet", i=[1.0], f=["1.0"], b=[True], d=[2])
    found, _ = read("u.parquet", kinds=reader.kinds, need_label=False)
    assert (found["i"], found["f"], found["d"]) == (["1"], ["1"], ["2"])


@pytest.mark.parametrize("column, names", [
    (pa.array([1.0, -1.0]), ["1", "-1"]),
    (pa.array([True, False]), ["true", "false"]),
    (pa.array(["+1", " no"]), ["1", "no"]),
    (pa.array(["+1", "1.0"]).dictionary_encode(), ["1", "1"]),
])  # fmt: skip
def test_labels(write, column, names):
    write("t.parquet", a=[1, 2], y=column)
    assert read("t.parquet")[0]["label"] == names


def test_missing_label(write):
    write("t.parquet", groups=2, a=[1, 2, 3], y=["p", "p", None])
    assert fault("t.parquet") == "t.parquet: row group 2, row 3: label is missing"
    assert read("t.parquet", need_label=False)[0]["label"] == ["p", "p", None]


def test_label_that_cannot_be_found(write):
    write("t.parquet", a=[1], b=[2])
    assert fault("t.parquet") == "t.parquet: no column 'y'; columns are: a, b"
    assert fault("t.parquet", label=None) == "t.parquet: no --label given; columns are: a, b"
    assert read("t.parquet", label="last")[0]["label"] == ["2"]


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_infinite_values_are_faults_with_their_place(write, size):
    write(
        "t.parquet",
        groups=4,
        a=[1.0] * 5 + [float("inf")] + [2.0] * 3 + [float("-inf")],
        w=list("abcdefghij"),
        y=[0] * 10,
    )
    assert fault("t.parquet", block_size=size) == "t.parquet: row group 2, row 6: column 'a': value inf is not finite"
    skips = Skips(False)
    found, _ = read("t.parquet", block_size=size, skips=skips)
    assert found["row"] == [0, 1, 2, 3, 4, 6, 7, 8]
    assert found["w"] == list("abcdeghi")
    assert skips.rows == 2
    assert skips.faults[1].place == "t.parquet: row group 3, row 10"


@pytest.mark.parametrize("stop", [True, False])
def test_infinite_values_may_be_left_to_the_encoder_after_the_head(write, monkeypatch, stop):
    """Where faults stop the run: else it is the reader that drops rows."""
    monkeypatch.setattr(parquet, "HEAD_ROWS", 2)
    values = [1.0, 2.0, 3.0, float("inf")]
    write("t.parquet", a=values, y=[0] * 4)
    found, _ = read("t.parquet", endless=True, skips=Skips(stop))
    assert found["a"] == (values if stop else values[:3])
    for more in ({"endless": False}, {"endless": True, "hash_bits": 4}):
        assert "value inf is not finite" in fault("t.parquet", **more)
    write("t.parquet", a=values[::-1], y=[0] * 4)
    assert "value inf is not finite" in fault("t.parquet", endless=True)
    write("t.parquet", a=values, w=list("abcd"), y=[0] * 4)
    assert "value inf is not finite" in fault("t.parquet", endless=True)


def test_places(write):
    write("t.parquet", groups=3, a=list(range(7)), y=[0] * 7)
    raws = list(open_parquet("t.parquet", "t.parquet", block_size=1))
    places = [raw.where(i) for raw in raws for i in range(len(raw.row))]
    assert places == [f"t.parquet: row group {r // 3 + 1}, row {r + 1}" for r in range(7)] * 2
    assert [r for raw in raws for r in raw.row.tolist()] == list(range(14))


def test_files_are_matched_by_name_and_numbers_widened(write):
    write("a.parquet", a=[1], b=[2], w=["x"], y=[0])
    write("b.parquet", y=[1.0], extra=[5], w=pa.nulls(1), b=pa.array([2.5], pa.float32()), a=[True])
    notices = Counter()
    found, _ = read("a.parquet", "b.parquet", notices=notices)
    assert found == {"a": [1, 1], "b": [2, 2.5], "w": ["x", None], "label": ["0", "1"], "row": [0, 1]}
    assert notices == {"extra columns ignored: extra": 1}
    write("c.parquet", a=["one"], b=[1], w=["x"], y=[0])
    assert fault("a.parquet", "c.parquet") == "c.parquet: column 'a' holds words here and numbers before"
    write("d.parquet", a=[1], y=[0])
    assert fault("a.parquet", "d.parquet") == "d.parquet: no columns 'b', 'w'; columns are: a, y"


def test_given_kinds(write):
    kinds = Kinds((("a", "number"), ("w", "words")), "y")
    write("t.parquet", w=["x"], z=[0], a=[3])
    notices = Counter()
    found, _ = read("t.parquet", kinds=kinds, need_label=False, notices=notices)
    assert found == {"a": [3], "w": ["x"], "row": [0]}
    assert notices == {"extra columns ignored: z": 1}
    assert not any(raw.head for raw in open_parquet("t.parquet", kinds=kinds, need_label=False))
    assert fault("t.parquet", kinds=kinds) == "t.parquet: no column 'y'; columns are: w, z, a"


def test_no_name_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table([pa.array([1]), pa.array([2]), pa.array([0])], names=["a", "a", "y"]), "t.parquet")
    assert fault("t.parquet") == "t.parquet: column 'a' appears twice; name it in --ignore"


def test_names_with_dots(write):
    write("t.parquet", **{"a.b": [1], "a": [2], "y": [0]})
    found, _ = read("t.parquet")
    assert (found["a.b"], found["a"]) == ([1], [2])


def test_no_rows(write):
    write("t.parquet", a=pa.array([], pa.int8()), y=pa.array([], pa.int8()))
    assert read("t.parquet")[0] == {}


def test_a_damaged_file(write):
    write("t.parquet", a=list(range(1000)), y=[0] * 1000)
    data = Path("t.parquet").read_bytes()
    for cut in (data[:200], data[:20] + b"\xff" * 200 + data[220:]):
        Path("t.parquet").write_bytes(cut)
        assert fault("t.parquet").startswith("t.parquet: is not a readable Parquet file: ")
        assert "\n" not in fault("t.parquet")


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_no_raw_reaches_across_the_end_of_the_head(write, monkeypatch, size):
    monkeypatch.setattr(parquet, "HEAD_ROWS", 10)
    write("t.parquet", groups=4, a=list(range(7)), y=[0] * 7)
    raws = list(open_parquet("t.parquet", "t.parquet", block_size=size))
    assert [r for raw in raws if raw.head for r in raw.row] == list(range(10))
    assert [r for raw in raws if not raw.head for r in raw.row] == list(range(10, 14))
    monkeypatch.setattr(parquet, "HEAD_BYTES", 1)
    assert [len(raw.row) for raw in open_parquet("t.parquet", block_size=size) if raw.head] == [1]


def test_words_of_a_large_dictionary_hold_only_what_is_used(write):
    values = [f"w{i}" for i in range(500)]
    write("t.parquet", d=pa.array(values).dictionary_encode(), y=[0] * 500)
    raws = list(open_parquet("t.parquet", block_size=100))
    assert all(len(raw.data["d"].names) == len(raw.row) for raw in raws)
    assert [w for raw in raws for w in plain(raw.data["d"])] == values


@pytest.mark.parametrize("type", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("spread", [2, 255, 256, 10_000])
def test_labels_of_whole_numbers_are_the_words_of_their_values(type, spread):
    info = np.iinfo(type)
    for low in {info.min, 0, max(info.max - spread, 0)}:
        values = np.array([low, min(low + spread, info.max), low, low + 1], type)
        found = parquet._words(pa.array(values), "label", {})
        assert [found.names[code] for code in found.code] == [spell(str(value)) for value in values.tolist()]
        assert len(set(found.names)) == len(found.names) == len(set(values.tolist()))


def test_blocks_whose_labels_are_words_have_few_rows(write):
    """The names may be long; those of numbers are as large as the block size says."""
    n, kinds = 3 * parquet.MOST_ROWS, Kinds((("a", "number"),), "y")
    for y, most in (([0, 1], n), (["no" * 200, "yes"], parquet.MOST_ROWS)):
        write("t.parquet", a=pa.array([0.5] * n, pa.float32()), y=y * (n // 2))
        sizes = [len(raw.row) for raw in open_parquet("t.parquet", block_size=8 << 20, kinds=kinds)]
        assert sum(sizes) == n and max(sizes) == most


@pytest.mark.parametrize("types", [("float32",) * 3, ("float64",) * 3, ("float32", "float64", "float32")])
@pytest.mark.parametrize("size", [100, 10_000, 1 << 20])
@pytest.mark.parametrize("short", [0, 100, 1000])
def test_columns_of_numbers_lie_where_kernels_find_them(write, monkeypatch, types, size, short):
    """Row groups in part, one by one, and together; columns where pyarrow left them, and side by side."""
    monkeypatch.setattr(parquet, "SHORT", short)
    cells = [[1.5, 2.5, 3.0] * 100, [0.0, -0.0, None] * 100, [None, 2.0, float("nan")] * 100]
    columns = {name: pa.array(c, t) for name, c, t in zip("abc", cells, types, strict=True)}
    write("t.parquet", groups=70, **columns, y=[0] * 300)
    found = []
    for raw in open_parquet("t.parquet", block_size=size):
        at, wide = raw.data.lying
        kind = [ctypes.c_double if double else ctypes.c_float for double in wide]
        found += zip(*((k * len(raw.row)).from_address(a) for k, a in zip(kind, at.tolist(), strict=True)), strict=True)
    want = np.array(cells, float).T
    assert np.array_equal(np.array(found), want, equal_nan=True)
    assert (np.signbit(found) == np.signbit(want))[:, 1].all()


def test_more_columns_than_are_decoded_at_a_time_stay_in_order(write):
    columns = {f"c{j}": [j, j + 0.5] * 20 for j in range(2 * TOGETHER + 1)}
    write("t.parquet", groups=9, **columns, y=[0, 1] * 20)
    found, reader = read("t.parquet")
    assert {name: found[name] for name in columns} == columns
    assert [name for name, _ in reader.kinds.columns] == list(columns)


@pytest.mark.parametrize("small", [0, 1 << 18])
def test_columns_go_through_a_read_buffer_where_they_are_large(write, monkeypatch, small):
    monkeypatch.setattr(parquet_groups, "SMALL", small)
    buffers, used, opened = {}, [], parquet._opened

    def noted(stored, buffer, *metadata):
        file = opened(stored, buffer, *metadata)
        buffers[file] = buffer
        return file

    monkeypatch.setattr(parquet, "_opened", noted)
    monkeypatch.setattr(parquet, "decoded", lambda file, *what: used.append(file) or decoded(file, *what))
    write("t.parquet", groups=7, a=[0.5, 1.5] * 10, y=[0, 1] * 10)
    found, _ = read("t.parquet")
    assert found["a"] == [0.5, 1.5] * 10
    assert {buffers[file] for file in used} == {0 if small else parquet.READ_BUFFER}
