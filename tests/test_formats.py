"""One table in four formats is one model."""

import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data import EACH_KIND

ALGORITHMS = EACH_KIND
COLUMNS = 5
FORMATS = ("svm", "csv", "tsv", "parquet")


def table(n, seed=1, fill=1.0, classes=("-1", "1")):
    r = random.Random(seed)
    labels = [r.choice(classes) for _ in range(n)]
    X = [[round(r.gauss(float(y), 1) * 4**j, 3) if r.random() < fill else 0.0 for j in range(COLUMNS)] for y in labels]
    return labels, X


def put(folder, stem, labels, X, zeros=True):
    """The table in every format; `zeros` says whether LIBSVM rows write them."""
    names = [f"f{j}" for j in range(COLUMNS)]
    with open(folder / f"{stem}.svm", "w") as f:
        for y, x in zip(labels, X):
            f.write(" ".join([y, *(f"{j + 1}:{v!r}" for j, v in enumerate(x) if zeros or v)]) + "\n")
    for ending, sep in (("csv", ","), ("tsv", "\t")):
        with open(folder / f"{stem}.{ending}", "w") as f:
            f.write(sep.join(["y", *names]) + "\n")
            f.writelines(sep.join([y, *map(repr, x)]) + "\n" for y, x in zip(labels, X))
    columns = dict(zip(names, np.array(X).T))
    pq.write_table(pa.table({"y": [int(y) for y in labels], **columns}), folder / f"{stem}.parquet", row_group_size=900)


def label(ending):
    return [] if ending == "svm" else ["--label", "y"]


def state(path, schema=("reference", "offset", "factor")):
    """The learner's arrays of a model, and those of the schema that change what is learned."""
    with np.load(path) as z:
        names = [k for k in z.files if k.startswith("state/")] + [f"schema/{k}" for k in schema]
        return {k: (z[k].dtype.str, z[k].shape, z[k].tobytes()) for k in names}


def values(text):
    return np.array([[float(v) for v in line.split("\t")[1:]] for line in text.splitlines()])


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("classes", [("-1", "1"), ("1", "2", "3")], ids=["two", "three"])
def test_one_table_in_four_formats(good, folder, algo, classes):
    put(folder, "a", *table(1500, classes=classes))
    states, scores = [], []
    for ending in FORMATS:
        good("train", f"a.{ending}", *label(ending), "--algo", algo, "-q", "-o", f"{ending}.npz")
        states.append(state(f"{ending}.npz"))
        scores.append(good("predict", f"{ending}.npz", f"a.{ending}", "--scores", "-q").out)
    for ending, s in zip(FORMATS, states):
        assert s == states[0], ending
    assert len(set(scores)) == 1


@pytest.mark.parametrize("scale", ["minmax", "std", "none", "maxabs,row-l2"])
@pytest.mark.parametrize("more", [[], ["--no-bias"], ["--dtype", "float64"]], ids=["plain", "no-bias", "float64"])
def test_scalings_agree_between_formats(good, folder, scale, more):
    put(folder, "a", *table(600))
    states = []
    for ending in FORMATS:
        good("train", f"a.{ending}", *label(ending), "--algo", "arow", "--scale", scale, *more, "-q", "-o", "m.npz")
        states.append(state("m.npz"))
    assert all(s == states[0] for s in states)


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("scale", ["none", "maxabs", "row-l2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_against_sparse(good, folder, algo, scale, dtype):
    """Rows four fifths of which are zeros: CSR of LIBSVM, dense of CSV."""
    put(folder, "a", *table(1500, fill=0.2), zeros=False)
    out = []
    for ending in ("svm", "csv"):
        common = ["--algo", algo, "--scale", scale, "--dtype", dtype, "-q", "-o", "m.npz"]
        good("train", f"a.{ending}", *label(ending), *common)
        assert good("info", "m.npz", "--json").json["layout"] == {"svm": "csr", "csv": "dense"}[ending]
        out.append(values(good("predict", "m.npz", f"a.{ending}", "--scores", "-q").out))
    assert np.allclose(*out, rtol=1e-7, atol=1e-7)


def test_zeros_left_out_are_zeros(good, folder):
    """Dense LIBSVM rows: written or not, a zero is a zero."""
    put(folder, "all", *table(500, fill=0.8))
    put(folder, "some", *table(500, fill=0.8), zeros=False)
    for stem in ("all", "some"):
        good("train", f"{stem}.svm", "-q", "-o", f"{stem}.npz")
        assert good("info", f"{stem}.npz", "--json").json["layout"] == "dense"
    assert state("all.npz") == state("some.npz")


@pytest.mark.parametrize("algo", ["nr-rls", "perceptron"])
@pytest.mark.parametrize("zeros", [True, False])
def test_across_formats(good, folder, algo, zeros):
    """A model of CSV predicts LIBSVM rows by the places of its columns, and the other way round."""
    put(folder, "a", *table(400, fill=0.7), zeros=zeros)
    for ending in FORMATS:
        good("train", f"a.{ending}", *label(ending), "--algo", algo, "-q", "-o", f"{ending}.npz")
    for model in FORMATS:
        found = {}
        for ending in FORMATS:
            more = ["--label", "y"] if model == "svm" and ending != "svm" else []
            found[ending] = good("predict", f"{model}.npz", f"a.{ending}", *more, "--scores", "-q").out
        assert len(set(found.values())) == 1, model


def test_across_formats_places_hold_when_the_label_is_in_the_middle(good, folder, write):
    write("a.csv", "p,y,q\n1,u,5\n-1,v,6\n2,u,4\n-2,v,7\n")
    good("train", "a.csv", "--label", "y", "-q")
    rows = write("a.svm", "u 1:1 2:5\nv 1:-1 2:6\nu 1:2 2:4\nv 1:-2 2:7\n")
    want = good("predict", "model.npz", "a.csv", "--scores", "-q").out
    assert good("predict", "model.npz", rows, "--scores", "-q").out == want
    assert good("evaluate", "model.npz", rows, "--json", "-q").json["accuracy"] == 1.0


def test_schema_arrays_agree_between_formats(good, folder):
    put(folder, "a", *table(100))
    found = []
    for ending in FORMATS:
        good("train", f"a.{ending}", *label(ending), "-q", "-o", "m.npz")
        found.append(state("m.npz", ("reference", "offset", "factor", "fill")))
    assert all(s == found[0] for s in found)


def test_evaluate_agrees_between_formats(good, folder):
    put(folder, "a", *table(700, classes=("1", "2", "3")))
    found = set()
    for ending in FORMATS:
        good("train", f"a.{ending}", *label(ending), "-q")
        found.add(json.dumps(good("evaluate", "model.npz", f"a.{ending}", "--json", "-q").json))
    assert len(found) == 1


def test_check_agrees_between_formats(good, folder):
    put(folder, "a", *table(300))
    found = set()
    for ending in FORMATS:
        found.add(json.dumps(good("check", f"a.{ending}", *label(ending), "--json", "-q").json, sort_keys=True))
    assert len(found) == 1


def test_types_of_parquet_are_numbers_like_others(good, folder, write):
    """int, float32, bool and decimal columns say what the same text in CSV says."""
    from decimal import Decimal

    ints, bools = [1, -2, 3, 4], [True, False, True, True]
    halves, tenths = [0.5, 1.5, -2.5, 0.25], ["0.1", "0.2", "-0.3", "1.7"]
    columns = {
        "y": ["u", "v", "u", "v"],
        "i": pa.array(ints, pa.int16()),
        "b": bools,
        "h": pa.array(halves, pa.float32()),
        "d": pa.array([Decimal(t) for t in tenths], pa.decimal128(5, 1)),
    }
    pq.write_table(pa.table(columns), folder / "a.parquet")
    lines = zip(columns["y"], ints, map(str, bools), halves, tenths)
    write("a.csv", "y,i,b,h,d\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
    states = []
    for name in ("a.csv", "a.parquet"):
        good("train", name, "--label", "y", "-q", "-o", "m.npz")
        states.append(state("m.npz"))
    assert states[0] == states[1]


def test_words_and_gaps_agree_between_csv_and_parquet(good, folder, write):
    r = random.Random(3)
    rows = [(r.choice("uv"), r.choice(["p", "q", "", "z z"]), r.choice(["1", "2.5", ""])) for _ in range(300)]
    write("a.csv", "y,c,x\n" + "".join(f"{y},{c},{x}\n" for y, c, x in rows))
    y, c, x = zip(*rows)
    columns = {"y": y, "c": [v or None for v in c], "x": [float(v) if v else None for v in x]}
    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=77)
    for missing in ("mean", "zero", "skip"):
        found = []
        for name in ("a.csv", "a.parquet"):
            good("train", name, "--label", "y", "--missing", missing, "-q", "-o", "m.npz")
            found.append((state("m.npz"), good("predict", "m.npz", name, "--scores", "-q").out))
        assert found[0] == found[1], missing


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("word", ["inf", "-Infinity", "+NaN"])
def test_a_number_that_is_none_is_no_class(good, fault, cli, write, folder, word, late, monkeypatch):
    """As in LIBSVM text, so in tables of numbers alone and with words, in the first rows and behind them."""
    monkeypatch.setattr("bigclf.reading.raw.HEAD_ROWS", 4)
    monkeypatch.setattr("bigclf.reading.csv_text.HEAD_ROWS", 4)
    monkeypatch.setattr("bigclf.reading.parquet.HEAD_ROWS", 4)
    y = [*"0101", *"01" * 4 * late, word, "0"]
    write("a.svm", "".join(f"{t} 1:{i}\n" for i, t in enumerate(y)))
    write("a.csv", "label,x\n" + "".join(f"{t},{i}\n" for i, t in enumerate(y)))
    write("words.csv", "label,x\n" + "".join(f"{t},{'ab'[i % 2]}\n" for i, t in enumerate(y)))
    pq.write_table(pa.table({"label": y, "x": range(len(y))}), "words.parquet")
    numbers = pa.array([float(t) for t in y])
    pq.write_table(pa.table({"label": numbers, "x": range(len(y))}), "a.parquet")
    for name in ("a.svm", "a.csv", "words.csv", "words.parquet", *["a.parquet"] * (word == "inf")):
        line = fault(1, "train", name, "--algo", "pa-1", "-q", "-o", "m.npz")
        assert f"{name}:" in line and f"label '{word}' is not a class" in line
        assert cli("check", name, "-q", "--json").json["faults"] == 1
        told = good("train", name, "--algo", "pa-1", "-q", "-o", "m.npz", "--on-error", "skip", "--json").json
        assert (told["rows"], told["skipped"], told["classes"]) == (len(y) - 1, 1, ["0", "1"])
        (folder / "m.npz").unlink()
        assert not (folder / "m.npz").exists()


def test_the_first_label_that_is_no_class_is_told_whatever_its_name(fault):
    pq.write_table(pa.table({"label": ["a", "inf", "-inf", "infinity", "-infinity"], "x": range(5)}), "a.parquet")
    assert "row 2: label 'inf'" in fault(1, "train", "a.parquet", "--algo", "pa-1")
