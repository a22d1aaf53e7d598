"""Short runs of the fuzzer, round trips of random tables and models, and every fault that fuzzing has found."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from data import EACH_KIND
from hypothesis import given, settings
from hypothesis import strategies as st
from tabular import SIZES, fault, open_csv, plain, read
from test_libsvm import collect, sources
from test_model_file import a_model, header_of
from test_model_file import write as write_model

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.core import Shape
from bigclf.errors import ModelFileError
from bigclf.model import Model, load, save
from bigclf.reading import lines
from bigclf.reading.raw import Skips
from bigclf.reading.schema import Feature, Schema
from bigclf.reading.table import Kinds

SCRIPT = Path(__file__).parent.parent / "scripts" / "fuzz.py"
TARGETS = ["libsvm", "csv", "model", "cli"]


@pytest.mark.parametrize("target", TARGETS)
def test_two_seconds_of_fuzzing_break_no_promise(target, tmp_path):
    argv = [sys.executable, SCRIPT, target, "--seconds", "2", "--seed", "1", "--save", tmp_path]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0 and f"{target}: " in ran.stdout, ran.stdout + ran.stderr


# Round trips

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9)
WORD = WORD.filter(lambda w: w == w.strip(" \t") and w[0] not in "+-.,0123456789").filter(
    lambda w: w.lower() not in ("na", "n/a", "nan", "null", "?", "true", "false", "inf", "infinity")
)
ROW = st.tuples(NUMBER | st.none(), WORD | st.none(), WORD, st.integers(0, 15), st.sampled_from(["", "\n", "\r\n"]))


def spelled(text, quoted, quote, delimiter):
    """A field, in quotes when asked for or needed, else perhaps with a blank."""
    if quote and (quoted & 1 or any(c in text for c in (quote, delimiter, "\n", "\r"))):
        return quote + text.replace(quote, quote * 2) + quote
    return " " * (quoted & 2) + text


@settings(max_examples=150, deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=30),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(['"', "'"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_any_table_comes_back_from_csv_however_it_is_quoted(tmp_path_factory, rows, delimiter, quote, end, bom, last):
    path = tmp_path_factory.getbasetemp() / "quoted.csv"
    decimal = "," if delimiter in ";|" else "."
    text = "\ufeff" * bom + spelled("a", bom, quote, delimiter) + f"{delimiter}w{delimiter}y{end}"
    for number, word, label, quoted, blank in rows:
        fields = "" if number is None else repr(number).replace(".", decimal), word or "", label
        text += delimiter.join(spelled(f, quoted >> k, quote, delimiter) for k, f in enumerate(fields)) + end + blank
    if not last and text.endswith(end):
        text = text.removesuffix(end)
    path.write_bytes(text.encode())
    kinds = Kinds((("a", "number"), ("w", "words")), "y")
    for size in SIZES:
        back = []
        options = {"delimiter": delimiter, "quote": quote, "decimal": decimal, "block_size": size, "label": "y"}
        for raw in open_csv(str(path), kinds=kinds, **options):
            back += zip(raw.row.tolist(), *map(plain, raw.data.values()), plain(raw.label))
        assert back == [(i, number, word, label) for i, (number, word, label, *_) in enumerate(rows)]


BLANK = st.sampled_from([" ", "  ", "\t", " \t ", "\v"])
VALUE = st.tuples(
    NUMBER, st.sampled_from(["{!r}", "{:.17g}", "{:+.17e}", "{:.60e}"]), BLANK, st.sampled_from(["", " "])
)
ENTRIES = st.dictionaries(st.integers(0, 2**31 - 3), VALUE, max_size=6)
SPARSE = st.lists(
    st.tuples(st.sampled_from(["+1", "-1.0", "yes", "é"]), ENTRIES, st.sampled_from(["", "#", " # 1:2", " \r"])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(SPARSE, st.sampled_from([8, 50, 1 << 20]), st.integers(0, 3))
def test_any_rows_come_back_from_libsvm_however_they_are_spelled(tmp_path_factory, rows, size, zeros):
    text = ""
    for label, entries, rest in rows:
        text += label
        for index, (value, form, blank, gap) in entries.items():
            text += f"{blank}{'0' * zeros}{index}:{gap}{form.format(value)}"
        text += rest + "\n"
    back, _, _ = collect(sources(tmp_path_factory.getbasetemp(), text), block_size=size)
    names = {"+1": "1", "-1.0": "-1"}
    assert [(label, columns, values) for _, _, label, columns, values in back] == [
        (names.get(label, label), [i + 1 for i in sorted(entries)], [entries[i][0] for i in sorted(entries)])
        for label, entries, _ in rows
    ]


NAME = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=8)


@pytest.mark.parametrize("name", EACH_KIND)
@settings(max_examples=15, deadline=None)
@given(st.lists(NAME, min_size=2, max_size=4, unique=True), st.lists(NAME, max_size=4, unique=True), st.data())
def test_any_state_comes_back_from_its_file(name, tmp_path_factory, classes, columns, data):
    folder = tmp_path_factory.getbasetemp()
    features = tuple(Feature(n, "number", i + 2) for i, n in enumerate(columns))
    features += (Feature("words", "words", len(columns) + 2, ("x", "y\n")),) if "words" not in columns else ()
    used, spare = len(columns) + 4, data.draw(st.integers(0, 9))
    r = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays = [r.choice([0.0, -0.0, 1.5, -1e300, 5e-324, 1 / 3], used) for _ in Schema.ARRAYS]
    schema = Schema(
        "table", "dense", "float32", True, 0, "mean", "minmax", "minmax", features, "y", tuple(classes), None, used,
        False, *arrays,
    )  # fmt: skip
    params = {p.name: data.draw(st.sampled_from([p.default, *p.choices])) for p in registry.get(name).params}
    if params.get("tuning") == "fixed":
        params["sigma"] = 1.0
    if params.get("draw") == "weight" and "apply" in params:
        params["apply"] = "weight"
    if params.get("base") == "vfdt":
        params["eta-schedule"] = "constant"  # which is that of steps
    model = Model(name, params, schema, None, used + spare, {"label": "ü\n"}, 7, 2, 14, dict.fromkeys(classes, 3))
    learner, shape = model.learner(), model.shape()
    model.state = learner.init(shape)
    for path, array in states.flatten(model.state).items():
        part = tuple(slice(0, n) for n in states.extents(learner, path, model.shape(used=True), array))
        array[part] = r.choice([0.0, -0.0, 1.5, -1e300, 5e-324, 1 / 3], array[part].shape)
    if learner.fault is not None and learner.fault(model.state):  # no tree that a run could have left: it is refused
        model.state = learner.init(shape)
    save(folder / "1.npz", model)
    back = load(folder / "1.npz")
    save(folder / "2.npz", back)
    assert (folder / "1.npz").read_bytes() == (folder / "2.npz").read_bytes()
    assert back.schema.head() == schema.head() and back.shape() == shape == Shape(*shape)
    for field in ("algorithm", "params", "cols", "reading", "rows", "passes", "next_row", "counts", "run"):
        assert getattr(back, field) == getattr(model, field)
    wanted = states.flatten(model.state)
    assert {k: a.tobytes() for k, a in states.flatten(back.state).items()} == {
        k: a.tobytes() for k, a in wanted.items()
    }


# Found by fuzzing


@pytest.mark.parametrize("row, fields", [(b"3,\xff", 2), (b"\xc3", 1), (b"1,u,0\x8a,u,0", 5)])
def test_an_uneven_row_that_is_no_text_either(write, row, fields):
    """pyarrow could not hand such a row to Python, and a trace was printed."""
    write("t.csv", b"a,b,y\n1,2,0\n" + row + b"\n5,6,1\n")
    assert fault("t.csv", label="y") == f"t.csv:3: {fields} field{'s' * (fields > 1)} where the header has 3"
    for size in SIZES:
        skips = Skips(False)
        rows, _ = read("t.csv", label="y", skips=skips, on_error="skip", block_size=size)
        assert [n for n, *_ in rows] == [0, 2] and [f.place for f in skips.faults] == ["t.csv:3"]


@pytest.mark.parametrize("name", ["a\nb", "a\r\nb", "\x0b", "\x1e", "\x85", "\u2028"])
def test_names_with_line_breaks_are_listed_on_one_line(write, name):
    write("t.csv", f'"{name}",y\n1,2\n'.encode())
    assert len(fault("t.csv", label="z").splitlines()) == 1
    assert len(fault("t.csv", label="y", ignore=("z",)).splitlines()) == 1


@pytest.mark.parametrize("size", ["64", "100", "4MiB"])
def test_a_class_that_holds_a_tab_is_told_with_its_line(cli, write, size):
    labels = ["uv"[i % 2] for i in range(40)]
    labels[30] = '"p\tq"'
    write("t.csv", ("a,y\n" + "".join(f"{i},{y}\n" for i, y in enumerate(labels))).encode())
    said = cli("train", "t.csv", "--label", "y", "-q", "--block-size", size)
    assert said.err.startswith("bigclf: t.csv:32: class 'p\\tq' holds a tab")


@pytest.mark.parametrize("label", ['"p\tq"', '"two\nlines"', "a\x0cb"])
def test_check_tells_a_class_that_train_refuses(cli, write, label):
    write("t.csv", f"a,y\n1,u\n2,{label}\n".encode())
    assert cli("train", "t.csv", "--label", "y", "-q").err.startswith("bigclf: t.csv:3: class ")
    said = cli("check", "t.csv", "--label", "y", "-q")
    assert said.code == 1 and "t.csv:3: class " in said.out + said.err


def test_a_text_of_two_bytes_is_no_byte_order_mark(monkeypatch):
    """What the memory behind it held was looked at, too."""
    monkeypatch.setattr(lines.np, "empty", lambda n, t: np.full(n, 0xBF, t))
    (block,) = lines.blocks(io.BytesIO(b"\xef\xbb"), 8)
    assert block.buffer[block.start : block.end].tobytes() == b"\xef\xbb\n"


def altered(tmp_path, change):
    """The file of a model after `change(header, arrays)`."""
    save(tmp_path / "m.npz", a_model()[0])
    header, arrays = header_of(tmp_path / "m.npz")
    header["reading"] = dict(header["reading"], hash_bits=0, ignore=[], categorical=[], encoding="utf-8", quote='"')
    change(header, arrays)
    write_model(tmp_path / "bad.npz", header, arrays)
    return tmp_path / "bad.npz"


def test_the_model_that_is_altered_below_is_right(tmp_path):
    load(altered(tmp_path, lambda header, arrays: None))


def refused(path):
    """It is refused, in one line."""
    with pytest.raises(ModelFileError) as e:
        load(path)
    assert len(str(e.value).splitlines()) == 1


INF = float("inf")
HEADERS = [  # each made some command print a trace; hash_bits -1 and 104 were segmentation faults
    *({"format": v} for v in (0, -1, 0.5, INF)),
    *({k: INF} for k in ("cols", "rows", "passes", "next_row")),
    {"next_row": 2**63},
    *({"share": v} for v in ([1], [0, 2], [2, 3], [1, 2, 3], 7)),
    {"counts": {"0": INF, "1": 3}},
    *({"reading": {"hash_bits": v}} for v in (-1, 104, 2**63, 1e30, "", "csr", None)),
    *({"reading": {k: v}} for k in ("ignore", "categorical") for v in (None, 7, float("nan"), [[]], "\ud800")),
    *({"reading": {"encoding": v}} for v in (2, [], {}, float("nan"), "\ud800")),
    *({"reading": {"delimiter": v}} for v in (True, 7, 0.5, {})),
    *({"reading": {"quote": v}} for v in (1, [], [[]], {"a": 1})),
    *({"reading": {"label": v}} for v in (-1, [], ["0"], {})),
    *({"schema": {"dtype": v}} for v in (2, "float0", "a\nb", ["0"], None)),
    *({"schema": {"scale": v}} for v in (None, 7, ["0"])),
    *({"schema": {"hash_bits": v}} for v in (-1, "csr", 2**63)),
    *({"schema": {"bias": v}} for v in ("", None)),
    *({"schema": {"features": [["a", "number", c, []]]}} for c in (7, 103, 1e30)),
    {"schema": {"features": [["a", "words", 5, ["x", "y", "z"]]]}},
    *({"schema": {"classes": ["a", f"b{c}c"]}} for c in "\n\t\u2028"),
    *(
        {"schema": {"map": v}}
        for v in (["cubic"], ["rm", 7], ["rff", 2, 0], ["rff", 2, 5, INF], ["rff"] * 2, [1] * 9, 7)
    ),
]


@pytest.mark.parametrize("edit", HEADERS, ids=lambda e: json.dumps(e, separators=(",", ":")))
def test_a_header_that_cannot_be_meant_is_refused(edit, tmp_path):
    def change(header, _):
        for key, value in edit.items():
            if key in ("reading", "schema"):
                header[key] |= value
                if "features" in value:
                    header[key] |= {"kind": "table"}
            else:
                header[key] = value

    refused(altered(tmp_path, change))


@pytest.mark.parametrize("name", Schema.ARRAYS)
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_scaling_that_is_no_finite_number_is_refused(name, value, tmp_path):
    """With fill predict ended in a trace, with the others numpy's warnings were printed."""
    refused(altered(tmp_path, lambda _, arrays: arrays[f"schema/{name}"].__setitem__(3, value)))


def test_a_model_whose_sums_are_no_numbers_ends_in_one_line(fault, folder, write):
    write("t.svm", b"1 1:1 2:2\n0 1:2 3:1\n")
    path = altered(folder, lambda _, arrays: arrays["state/gram"].__setitem__((0, 1, 1), np.inf))
    assert "beyond the range of numbers" in fault(1, "train", "t.svm", "--continue", path, "-o", "n.npz", "-q")


@pytest.mark.parametrize("name", ["schema/reference", "schema/offset"])
def test_a_model_of_huge_numbers_prints_no_warning(name, cli, write, folder):
    write("t.svm", b"1 1:1 2:2\n0 1:2 3:1\n")
    path = altered(folder, lambda _, arrays: arrays[name].__setitem__(2, 1e308))
    assert "Warning" not in cli("predict", path, "t.svm", "-q").err


@pytest.mark.parametrize(
    "head",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), } }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ((((",
        "{'descr': '<f8', 'fortran_order': False, 1: (7,), }",
        "{'descr': '<f8', (): False, 'shape': (7,), }",
        "{'descr': '001<f8', 'fortran_order': False, 'shape': (7,), }",
        "(" * 5000,
    ],
)
def test_an_array_whose_own_head_is_damaged_is_refused(head, tmp_path):
    save(tmp_path / "m.npz", a_model()[0])
    with zipfile.ZipFile(tmp_path / "m.npz") as z, zipfile.ZipFile(tmp_path / "bad.npz", "w") as bad:
        for info in z.infolist():
            data = z.read(info)
            if info.filename == "schema/fill.npy":
                data = b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head.encode() + bytes(56)
            bad.writestr(info.filename, data)
    refused(tmp_path / "bad.npz")


def test_a_header_of_brackets_is_refused(tmp_path):
    save(tmp_path / "m.npz", a_model()[0])
    _, arrays = header_of(tmp_path / "m.npz")
    np.savez(tmp_path / "bad.npz", header=np.frombuffer(b"[" * 5000, np.uint8), **arrays)
    refused(tmp_path / "bad.npz")


def test_classes_that_are_no_text_are_wrong_usage(fault, write):
    """Bytes of the command line that are no UTF-8; a trace was printed when all was learned."""
    write("t.svm", b"1 1:1\n0 1:2\n")
    assert "--classes" in fault(2, "train", "t.svm", "-q", "--classes", "0,1,x\udcff")


def test_a_file_whose_name_is_no_text_leaves_a_checkpoint(good, write):
    """Paths are kept in checkpoints; a trace was printed, and the run was lost."""
    write("t\udcff.svm", b"1 1:1\n0 1:2\n")
    good("train", "t\udcff.svm", "-q", "-o", "m.npz", "--checkpoint", "c.npz", "--checkpoint-every", "1")
    good("predict", "c.npz", "t\udcff.svm", "-q", "-o", "labels.txt")


def test_info_of_a_model_whose_name_is_no_text(good, write):
    write("t.svm", b"1 1:1\n0 1:2\n")
    good("train", "t.svm", "-q", "-o", "m\udcff.npz")
    assert "nr-rls" in good("info", "m\udcff.npz").out


@pytest.mark.parametrize("value", ["4.9e-324", "1e-310"])
@pytest.mark.parametrize("scale", ["minmax", "maxabs"])
def test_a_column_of_tiny_numbers_can_be_scaled(scale, value, good, write):
    """The factor overflowed: "the value is beyond 3.4e+38", and a warning of numpy's was printed."""
    write("t.csv", f"a,b,y\n{value},1,1\n0,2,0\n0,3,1\n".encode())
    assert good("train", "t.csv", "--label", "y", "-q", "--algo", "pa", "--scale", scale).err == ""


@pytest.mark.parametrize("word", ["1e999", "inf", "-Infinity"])
def test_a_number_without_end_among_words_is_told_by_train_and_check(word, cli, write):
    """In the head it counted as a number for the kind of its column, and as a word when the rows were read."""
    write("t.csv", f"a,w,y\n1,red,0\n2,blue,1\n3,{word},0\n4,red,1\n".encode())
    assert cli("train", "t.csv", "--label", "y", "-q").code == 1
    said = cli("check", "t.csv", "--label", "y", "-q")
    assert said.code == 1 and "t.csv:4: column 'w': " in said.out + said.err


def test_a_table_goes_on_where_sparse_rows_have_grown_a_reserve_of_columns(good, write):
    """As the same rows in LIBSVM would."""
    head = "".join(f"{i % 2} " + " ".join(f"{j}:{(i * j) % 7}" for j in range(1, 17)) + "\n" for i in range(10_000))
    first = write("first.svm", head + "1 1:1 17:2\n")
    good("train", first, "--algo", "pa-1", "--scale", "none", "-o", "a.npz")
    rows = [[i % 2, *((i + j) % 5 for j in range(17))] for i in range(30)]
    table = write(
        "more.csv",
        "y," + ",".join(f"x{j}" for j in range(17)) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows),
    )
    lines = write(
        "more.svm", "".join(f"{r[0]} " + " ".join(f"{j}:{v}" for j, v in enumerate(r[1:], 1)) + "\n" for r in rows)
    )
    good("train", table, "--label", "y", "--continue", "a.npz", "-o", "b.npz")
    good("train", lines, "--continue", "a.npz", "-o", "c.npz")
    assert good("info", "b.npz", "--weights", "--json").out == good("info", "c.npz", "--weights", "--json").out
