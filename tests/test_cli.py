"""The command line as its user has it: what goes in, what comes out."""

import bz2
import gzip
import json
import lzma
import os
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data import EACH_KIND

from bigclf.algorithms import registry

ALGORITHMS = sorted(registry.specs())
LONG = [a for a in EACH_KIND if a != "ir-rls"]  # learn from more rows than ir-rls keeps
MORE = 10_100  # rows: more than the head
CSV = "y,x1,x2\nno,1,2\nyes,2,1\nno,0,3\nyes,3,0\n"
SVM = "-1 1:1 2:2\n+1 1:2 2:1\n-1 2:3\n+1 1:3\n"


def svm(n, seed=0, late=False, classes=(1, 2)):
    """LIBSVM rows; with `late` a column and a class are born after the head."""
    r = random.Random(seed)
    rows = []
    for i in range(n):
        y = r.choice(classes)
        row = f"1:{r.gauss(y, 1):.3f} 2:{r.gauss(-y, 1):.3f} 3:{r.random():.3f}"
        if late and i >= n - 40:
            row += f" {9 + i % 3}:{r.random():.3f}"
        rows.append(f"{3 if late and i >= n - 30 and i % 2 else y} {row}\n")
    return "".join(rows)


def csv(n, seed=0):
    r = random.Random(seed)
    return "y,a,b,c\n" + "".join(
        f"{y},{r.gauss(len(y), 1):.3f},{r.gauss(0, 1):.3f},{r.choice('pqr')}\n"
        for y in (r.choice(("no", "yes")) for _ in range(n))
    )


def scores(said):
    return np.array([[float(v) for v in line.split("\t")[1:]] for line in said.lines])


def child(*argv, **more):
    return subprocess.run(
        [sys.executable, "-m", "bigclf", *map(str, argv)], capture_output=True, timeout=120, check=False, **more
    )


# --- documents


def test_train_json(good, write):
    said = good("train", write("a.csv", CSV), "--label", "y", "--json", "-q")
    assert said.err == ""
    d = said.json
    assert (d["model"], d["algorithm"], d["rows"], d["skipped"], d["missing"]) == ("model.npz", "nr-rls", 4, 0, 0)
    assert d["features"] == 2 and d["classes"] == ["no", "yes"] and d["counts"] == {"no": 2, "yes": 2}
    assert set(d["progressive"]) == {"rows", "error", "g_mean", "kappa", "balanced_accuracy"}
    assert d["seconds"] >= 0 and d["rows_per_second"] > 0 and d["peak_memory_mib"] > 1


def test_train_is_silent_on_stdout_and_tells_on_stderr(good, write):
    said = good("train", write("a.csv", CSV), "--label", "y")
    assert said.out == "" and "4 rows" in said.err and "no: 2, yes: 2" in said.err and "model: model.npz" in said.err
    assert all(line.startswith("bigclf: ") for line in said.err.splitlines())


def test_evaluate_json(good, write):
    write("a.csv", csv(300))
    good("train", "a.csv", "--label", "y", "-q")
    d = good("evaluate", "model.npz", "a.csv", "--json", "-q").json
    labels = good("predict", "model.npz", "a.csv", "-q").lines
    truth = [line.split(",")[0] for line in csv(300).splitlines()[1:]]
    c = [[sum(t == a and p == b for t, p in zip(truth, labels)) for b in ("no", "yes")] for a in ("no", "yes")]
    assert d["confusion"] == c and d["classes"] == ["no", "yes"] and d["rows"] == 300
    assert d["skipped"] == 0 and d["unseen_classes"] == []
    recall = [c[k][k] / sum(c[k]) for k in (0, 1)]
    precision = [c[k][k] / (c[0][k] + c[1][k]) for k in (0, 1)]
    f1 = [2 * p * r / (p + r) for p, r in zip(precision, recall)]
    agreed = (c[0][0] + c[1][1]) / 300
    chance = sum(sum(c[k]) * (c[0][k] + c[1][k]) for k in (0, 1)) / 300**2
    expected = {
        "accuracy": agreed,
        "error": 1 - agreed,
        "balanced_accuracy": sum(recall) / 2,
        "g_mean": (recall[0] * recall[1]) ** 0.5,
        "kappa": (agreed - chance) / (1 - chance),
        "macro_precision": sum(precision) / 2,
        "macro_recall": sum(recall) / 2,
        "macro_f1": sum(f1) / 2,
    }
    for name, value in expected.items():
        assert d[name] == pytest.approx(value, abs=1e-12), name
    for k, name in enumerate(("no", "yes")):
        assert d["per_class"][name]["support"] == sum(c[k])
        assert d["per_class"][name]["recall"] == pytest.approx(recall[k])
        assert d["per_class"][name]["precision"] == pytest.approx(precision[k])
        assert d["per_class"][name]["f1"] == pytest.approx(f1[k])
    s = scores(good("predict", "model.npz", "a.csv", "--scores", "-q"))[:, 0]
    high, low = s[np.array(truth) == "yes"], s[np.array(truth) == "no"]
    area = ((high[:, None] > low).sum() + 0.5 * (high[:, None] == low).sum()) / (len(high) * len(low))
    assert d["auc"] == pytest.approx(area, abs=d["auc_error_bound"] + 1e-9)
    table = good("evaluate", "model.npz", "a.csv")
    assert "Confusion matrix" in table.out and "300 rows" in table.err


def test_evaluate_counts_unseen_classes_as_wrong(good, write):
    good("train", write("a.svm", SVM), "-q")
    said = good("evaluate", "model.npz", write("b.svm", SVM + "7 1:1\n"), "--json")
    d = said.json
    assert d["unseen_classes"] == ["7"] and d["classes"] == ["-1", "1", "7"] and d["rows"] == 5
    assert d["per_class"]["7"]["recall"] == 0.0 and "7" in said.err and len(said.err.splitlines()) == 2


def test_check(good, cli, write):
    d = good("check", write("a.csv", "y,x,c\na,1,p\nb,,q\na,3,p\n"), "--label", "y", "--json", "-q").json
    assert (d["rows"], d["faults"], d["features"], d["missing"]) == (3, 0, 2, 1)
    assert d["classes"] == ["a", "b"] and d["counts"] == {"a": 2, "b": 1}
    assert d["density"] == pytest.approx(5 / 6, abs=1e-6) and d["state_bytes"]["nr-rls"] > 0
    bad = cli("check", write("b.csv", "y,x\na,1\nb,2,3\na\nb,4\n"), "--label", "y")
    assert bad.code == 1 and "b.csv:3" in bad.err and "b.csv:4" in bad.err
    one = cli("check", "b.csv", "--label", "y", "--max-errors", "1", "--json")
    assert one.code == 1 and one.json["faults"] == 2 and one.json["rows"] == 2
    assert "b.csv:3" in one.err and "b.csv:4" not in one.err
    assert cli("check", write("u.svm", "1:2\n"), "-q").code == 1
    assert good("check", "u.svm", "--no-label", "--json", "-q").json["rows"] == 1


def test_check_goes_on_behind_an_index_that_there_is_no_room_for(cli, write):
    """Training ends there; `check` is there to list the faults."""
    rows = "1 1:1\n0 99999999999:1\n1 2:x\n0 1:1 1500000000:1 1500000001:1\n1 3:1\n0 2000000000:1\n"
    said = cli("check", write("a.svm", rows), "--json", "-q", "--budget", "1GiB")
    assert (said.code, said.json["rows"], said.json["faults"], said.json["features"]) == (1, 2, 4, 3)
    lines = sorted(said.err.splitlines())
    assert [line.split(" ")[1] for line in lines] == ["a.svm:2:3:", "a.svm:3:5:", "a.svm:4:", "a.svm:6:"]
    assert "feature index 1500000000 is beyond" in lines[2] and "feature index 2000000000 is beyond" in lines[3]
    hashed = cli("check", "a.svm", "--json", "-q", "--budget", "1GiB", "--hash-bits", "4")
    assert (hashed.json["rows"], hashed.json["faults"]) == (5, 1)


def test_check_tells_what_it_read_before_a_quote_that_stays_open(cli, write):
    write("a.csv", 'y,x\na,1\nb,2\nb,"3\na,4\n')
    said = cli("check", "a.csv", "--label", "y", "--json")
    assert said.code == 1 and said.json["counts"] == {"a": 1, "b": 1} and said.json["faults"] == 1
    place, after = said.err.splitlines()[:2]
    assert place.startswith("bigclf: a.csv:4: a quote opened here is not closed")
    assert after == "bigclf: what stands behind this fault was not read"
    nothing = cli("check", write("b.csv", 'y,x\n"a,1\n'), "--label", "y", "--json")
    assert (nothing.code, nothing.out, nothing.err.count("\n")) == (1, "", 1)


def test_check_goes_on_at_every_fault_whatever_is_asked(fault, write):
    assert "--on-error" in fault(2, "check", write("a.svm", "1 1:1\n"), "--on-error", "stop")


@pytest.mark.parametrize(
    "name, text, column",
    [
        ("a.svm", "1 1:1\n\n0 1:2 7:1e38\n0 3:1 7:-1e39\n1 7:2e38\n", "7"),
        ("a.csv", "label,w,x\n1,1,\n1,1,1e38\n0,1,-1e39\n1,1,9e38\n", "x"),
    ],
)
def test_check_tells_the_place_of_the_largest_value_that_needs_float64(good, cli, write, name, text, column):
    told = f"bigclf: {name}:4: column '{column}': values up to 1e+39, which train refuses: "
    assert told + "train with --dtype float64, or leave" in good("check", write(name, text)).err
    hashed = good("check", name, "--hash-bits", "4").err
    assert f"bigclf: {name}:4: values up to 1e+39, which train refuses: " in hashed
    assert "3.4e+38; train with --dtype float64" in cli("train", name, "--algo", "pa-1", "-o", "m.npz").err
    assert good("train", name, "--algo", "pa-1", "--dtype", "float64", "-o", "m.npz").code == 0


def test_info(good, write):
    write("a.csv", csv(50))
    good("train", "a.csv", "--label", "y", "--algo", "pa-1", "--C", "0.5", "-q")
    d = good("info", "model.npz", "--json", "--weights", "--top", "2").json
    off = {"average": False, "drift": "none"}
    assert (d["algorithm"], d["params"], d["rows"], d["passes"]) == ("pa-1", {"C": 0.5} | off, 50, 1)
    assert d["classes"] == ["no", "yes"] and d["positive"] == "yes" and d["label"] == "y" and d["input"] == "table"
    assert list(d["weights"]) == ["yes"] and len(d["weights"]["yes"]) == 2
    assert "pa-1" in good("info", "model.npz").out
    assert "weights" not in good("info", "model.npz", "--json").json


def test_algos(good):
    assert sorted(good("algos", "--json").json) == ALGORITHMS
    d = good("algos", "pa-1", "--json").json["pa-1"]
    assert [p["name"] for p in d["params"]] == ["C", "average", "drift"] and d["source"] and d["cost"] and d["memory"]
    text = good("algos").out
    assert all(name in text for name in ALGORITHMS)
    assert "--C" in good("algos", "pa-1").out


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "check", "info", "algos"])
def test_help_has_an_example(good, command):
    assert f"Example: bigclf {command}" in good(command, "--help").out or command == "predict"


def test_version_and_bare(cli):
    from bigclf import __version__

    assert cli("--version").out == f"bigclf {__version__}\n"
    bare = cli()
    assert bare.code == 2 and bare.out == "" and "Usage" in bare.err


# --- labels


@pytest.mark.parametrize("algo", EACH_KIND)
def test_labels_come_back_in_their_one_spelling(good, write, algo):
    good("train", write("a.svm", "+1 1:1\n-1.0 1:-1\n1e0 1:2\n-1 1:-2\n" * 50), "--algo", algo, "--json", "-q")
    assert good("predict", "model.npz", "a.svm", "-q").lines[-4:] == ["1", "-1", "1", "-1"]


def test_words_as_labels(good, write):
    names = ["a b", "c, d", 'e "q"', "ünï", "NO"]
    rows = "".join('"{}",{}\n'.format(n.replace('"', '""'), ",".join("01"[k == j] for j in range(5)))
                   for k, n in enumerate(names))  # fmt: skip
    said = good("train", write("a.csv", "y,v,w,x,z,q\n" + rows * 3), "--label", "y", "--json", "-q")
    assert sorted(said.json["classes"]) == sorted(names)
    assert good("predict", "model.npz", "a.csv", "-q").lines == names * 3


@pytest.mark.parametrize("name", ["a\tb", "a\nb"])
def test_no_label_breaks_the_lines_of_predict(cli, write, name):
    """A label that holds a tab or a new line is refused, or written so that lines and fields stay what they are."""
    said = cli("train", write("a.csv", f'y,x\n"{name}",1\nc,2\n'), "--label", "y", "-q")
    if said.code == 0:
        out = cli("predict", "model.npz", "a.csv", "--scores", "-q").out
        assert [line.count("\t") for line in out.splitlines()] == [1, 1]


@pytest.mark.parametrize("label", ["y", "2", "first", "last"])
def test_label_position(good, write, label):
    header = {"first": "y,a,b", "last": "a,b,y"}.get(label, "a,y,b")
    at = header.split(",").index("y")
    rows = "".join(",".join([*"13"[:at], k, *"13"[at:]]) + "\n" for k in ("u", "v"))
    said = good("train", write("a.csv", f"{header}\n{rows}"), "--label", label, "--json", "-q")
    assert said.json["classes"] == ["u", "v"] and said.json["features"] == 2
    assert good("evaluate", "model.npz", "a.csv", "--json", "-q").json["rows"] == 2


def test_a_column_called_label_is_taken_and_told(good, write):
    assert "label taken from column 'label'" in good("train", write("a.csv", CSV.replace("y,", "label,"))).err


@pytest.mark.parametrize("algo", ["nr-rls", "arow"])
def test_positive(good, write, algo):
    write("a.csv", csv(200))
    plain = ["train", "a.csv", "--label", "y", "--algo", algo, "-q"]
    good(*plain, "-o", "yes.npz")
    good(*plain, "-o", "no.npz", "--positive", "no")
    assert good("info", "no.npz", "--json").json["positive"] == "no"
    yes, no = (good("predict", f"{k}.npz", "a.csv", "--scores", "-q") for k in ("yes", "no"))
    assert np.allclose(scores(yes), -scores(no), atol=1e-12)
    assert [x.split("\t")[0] for x in yes.lines] == [x.split("\t")[0] for x in no.lines]


def test_positive_is_the_larger_number(good, write):
    good("train", write("a.svm", "10 1:1\n9 1:-1\n"), "-q")
    assert good("info", "model.npz", "--json").json["positive"] == "10"


# --- predict


def test_scores_two_and_more_classes(good, write):
    good("train", write("a.svm", SVM * 5), "-q")
    two = good("predict", "model.npz", "a.svm", "--scores", "-q")
    assert all(line.split("\t")[0] == ("1" if s >= 0 else "-1") for line, s in zip(two.lines, scores(two)[:, 0]))
    good("train", write("b.svm", "10 1:1\n9 2:1\nx 3:1\n" * 5), "-q")
    three = good("predict", "model.npz", "b.svm", "--scores", "-q")
    s = scores(three)
    assert s.shape == (15, 3)
    order = ["9", "10", "x"]  # of the columns: numbers by value, then words
    assert [line.split("\t")[0] for line in three.lines] == [order[k] for k in s.argmax(axis=1)] == ["10", "9", "x"] * 5


def test_predict_to_a_file_and_to_stdout_are_the_same(good, write, folder):
    good("train", write("a.csv", CSV), "--label", "y", "-q")
    text = good("predict", "model.npz", "a.csv", "-q").out
    assert good("predict", "model.npz", "a.csv", "-q", "-o", "out.txt").out == ""
    assert (folder / "out.txt").read_text() == text == good("predict", "model.npz", "a.csv", "-q", "-o", "-").out


def test_unlabelled_rows(good, write, fault):
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "c.npz")
    labels = good("predict", "c.npz", "a.csv", "-q").out
    write("u.csv", "\n".join(line.split(",", 1)[1] for line in CSV.splitlines()) + "\n")
    assert good("predict", "c.npz", "u.csv", "-q").out == labels
    assert "no column 'y'" in fault(1, "evaluate", "c.npz", "u.csv")
    good("train", write("a.svm", SVM), "-q", "-o", "s.npz")
    labels = good("predict", "s.npz", "a.svm", "-q").out
    write("u.svm", "".join(line.split(" ", 1)[1] + "\n" for line in SVM.splitlines()))
    assert good("predict", "s.npz", "u.svm", "-q").out == labels
    assert "u.svm:1" in fault(1, "evaluate", "s.npz", "u.svm")
    assert "u.svm:1" in fault(1, "train", "u.svm")


def test_column_order_does_not_matter(good, write):
    good("train", write("a.csv", CSV), "--label", "y", "-q")
    turned = "\n".join(",".join(reversed(line.split(","))) for line in CSV.splitlines()) + "\n"
    labels = good("predict", "model.npz", "a.csv", "--scores", "-q").out
    assert good("predict", "model.npz", write("b.csv", turned), "--scores", "-q").out == labels


def test_what_the_model_has_not_seen_weighs_nothing_and_is_told(good, write):
    good("train", write("a.csv", csv(100)), "--label", "y", "-q")
    said = good("predict", "model.npz", write("b.csv", "a,b,c,more\n1,2,NEW,5\n1,2,p,6\n"))
    assert "more" in said.err and "column 'c': 1 row" in said.err and len(said.lines) == 2
    good("train", write("a.svm", SVM), "-q")
    known = good("predict", "model.npz", write("k.svm", "1 1:1\n"), "--scores", "-q").out
    said = good("predict", "model.npz", write("b.svm", "1 1:1 70:5 80:1\n"), "--scores")
    assert said.out == known and "2 values" in said.err


def test_skipped_rows_give_empty_lines(good, write, fault):
    good("train", write("a.svm", SVM), "-q")
    write("b.svm", "1:x\n1 1:1\n1 1:1 1:2\n1:y\n-1 2:9\n1 q\n")
    said = good("predict", "model.npz", "b.svm", "--on-error", "skip")
    assert [bool(line) for line in said.out.split("\n")[:-1]] == [False, True, False, False, True, False]
    assert "4 bad rows were skipped" in said.err and "b.svm:1" in said.err
    for size in (64, 1000):
        assert good("predict", "model.npz", "b.svm", "--on-error", "skip", "-q", "--block-size", size).out == said.out
    assert "b.svm:1" in fault(1, "predict", "model.npz", "b.svm")
    good("train", write("a.csv", CSV), "--label", "y", "-q", "--missing", "skip")
    said = good("predict", "model.npz", write("b.csv", "x1,x2\n1,\n1,2\n1\n2,x\n3,4\n,\n"), "--on-error", "skip")
    assert [bool(line) for line in said.out.split("\n")[:-1]] == [False, True, False, False, True, False]


# --- going on


@pytest.mark.parametrize("algo", LONG)
def test_continue_equals_one_run(good, write, algo):
    """The same head, so the same scaling; then rows in two runs are rows in one."""
    a, b = svm(MORE, 1), svm(1500, 2)
    write("a.svm", a), write("b.svm", b), write("ab.svm", a + b)
    good("train", "ab.svm", "--algo", algo, "-q", "-o", "one.npz")
    good("train", "a.svm", "--algo", algo, "-q", "-o", "half.npz")
    good("train", "b.svm", "--continue", "half.npz", "-q", "-o", "two.npz")
    one, two = (good("predict", f"{k}.npz", "b.svm", "--scores", "-q") for k in ("one", "two"))
    if algo in ("perceptron", "pa", "pa-1", "pa-2", "arow"):
        assert one.out == two.out
    else:
        assert np.allclose(scores(one), scores(two), rtol=0, atol=1e-9)


def test_continue_counts_all_rows(good, write):
    good("train", write("a.svm", SVM), "-q")
    good("train", write("b.svm", SVM * 2), "-q", "--continue", "model.npz")
    d = good("info", "model.npz", "--json").json
    assert d["rows"] == 12 and d["counts"] == {"-1": 6, "1": 6}


def test_continue_with_new_classes_and_columns(good, write):
    good("train", write("a.svm", SVM * 9), "--algo", "perceptron", "-q", "-o", "a.npz")
    said = good("train", write("b.svm", "7 5:1\n1 1:1\n" * 9), "--continue", "a.npz", "-o", "b.npz", "--json")
    assert said.json["classes"] == ["-1", "1", "7"] and "a class came late" in said.err
    assert good("predict", "b.npz", write("c.svm", "0 5:1\n"), "-q").lines == ["7"]
    assert good("info", "a.npz", "--json").json["classes"] == ["-1", "1"]  # as it was


def test_continue_onto_the_same_file(good, write):
    good("train", write("a.svm", SVM), "-q")
    good("train", "a.svm", "-q", "--continue", "model.npz")
    assert good("info", "model.npz", "--json").json["rows"] == 8


def test_passes(good, write):
    write("a.svm", svm(300))
    for n in (1, 3):
        good("train", "a.svm", "-q", "--algo", "pa-1", "--passes", n, "-o", f"{n}.npz")
    assert good("info", "3.npz", "--json").json["rows"] == 300 and good("info", "3.npz", "--json").json["passes"] == 3
    write("aaa.svm", svm(300) * 3)
    good("train", "aaa.svm", "-q", "--algo", "pa-1", "-o", "aaa.npz")
    assert good("predict", "3.npz", "a.svm", "--scores").out == good("predict", "aaa.npz", "a.svm", "--scores").out
    said = good("train", "a.svm", "--algo", "pa-1", "--passes", "2", "--json")
    assert said.json["rows"] == 300 and said.json["counts"] == good("info", "1.npz", "--json").json["counts"]
    said = good("train", "a.svm", "--passes", "3")
    assert "exact after one pass" in said.err and good("info", "model.npz", "--json").json["passes"] == 1
    refused = child("train", "-", "--passes", "2", input=SVM.encode())
    assert refused.returncode == 2 and b"standard input" in refused.stderr and refused.stderr.count(b"\n") == 1


# --- encoding


@pytest.mark.parametrize("algo", ["nr-rls", "perceptron"])
def test_declared_classes(good, write, algo):
    write("a.svm", svm(MORE, late=True))
    write("b.svm", SVM)
    good("train", "b.svm", "--algo", algo, "-q", "--classes", "-1,1,later")
    d = good("info", "model.npz", "--json").json
    assert d["classes"] == ["-1", "1", "later"] and d["counts"] == {"-1": 2, "1": 2, "later": 0}
    assert set(good("predict", "model.npz", "b.svm", "-q").lines) <= {"-1", "1"}
    told = good("train", "a.svm", "--algo", algo, "-o", "late.npz", "--json")
    assert told.json["classes"] == ["1", "2", "3"] and told.json["rows"] == MORE
    assert ("a class came late" in told.err) == (algo == "perceptron")
    told = good("train", "a.svm", "--algo", algo, "-o", "declared.npz", "--classes", "1,2,3")
    assert "a class came late" not in told.err
    assert len(good("predict", "late.npz", "b.svm", "--scores", "-q").lines[0].split("\t")) == 4


def test_promotion_is_exact_for_sums(good, write):
    write("a.svm", svm(MORE, late=True))
    common = ["train", "a.svm", "--algo", "nr-rls", "-q", "-o"]
    good(*common, "late.npz")
    good(*common, "declared.npz", "--classes", "1,2,3")
    late, declared = (scores(good("predict", f"{k}.npz", "a.svm", "--scores", "-q")) for k in ("late", "declared"))
    assert np.allclose(late, declared, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["svm", "csv"])
@pytest.mark.parametrize("algo", ["nr-rls", "arow"])
def test_hash_bits(good, write, form, algo):
    name = write("a.svm", svm(400)) if form == "svm" else write("a.csv", csv(400))
    label = [] if form == "svm" else ["--label", "y"]
    good("train", name, *label, "--algo", algo, "--hash-bits", "8", "-q")
    d = good("info", "model.npz", "--json").json
    assert d["hash_bits"] == 8 and d["features"] == 256
    assert good("evaluate", "model.npz", name, "--json", "-q").json["accuracy"] > 0.6
    if form == "svm":  # columns that training has not seen fall somewhere and disturb nothing
        assert len(good("predict", "model.npz", write("b.svm", "1 4000000000:1\n"), "-q").lines) == 1


def test_limit(good, write, folder):
    write("a.svm", svm(500)), write("b.svm", "".join(svm(500).splitlines(True)[:123]))
    good("train", "a.svm", "--limit", "123", "-q", "-o", "a.npz", "--algo", "pa")
    good("train", "b.svm", "-q", "-o", "b.npz", "--algo", "pa")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    assert len(good("predict", "a.npz", "a.svm", "b.svm", "--limit", "510", "-q").lines) == 510
    assert good("evaluate", "a.npz", "a.svm", "--limit", "7", "--json", "-q").json["rows"] == 7
    assert good("check", "a.svm", "--limit", "7", "--json", "-q").json["rows"] == 7


def test_ignore_is_kept_in_the_model(good, write):
    write("a.csv", csv(60).replace("y,a,b,c", "y,a,b,id"))
    assert (
        good("train", "a.csv", "--label", "y", "--ignore", "id", "--ignore", "3", "--json", "-q").json["features"] == 1
    )
    said = good("predict", "model.npz", "a.csv")
    assert "ignored" not in said.err and len(said.lines) == 60
    assert len(good("predict", "model.npz", write("b.csv", "a\n1\n"), "-q").lines) == 1


def test_categorical_is_kept_in_the_model(good, write):
    write("a.csv", "y,z\n" + "a,1\nb,2\na,3\n" * 9)
    assert good("train", "a.csv", "--label", "y", "--json", "-q").json["features"] == 1
    assert good("train", "a.csv", "--label", "y", "--categorical", "z", "--json", "-q").json["features"] == 3
    assert good("evaluate", "model.npz", "a.csv", "--json", "-q").json["accuracy"] == 1.0
    assert "category" in good("predict", "model.npz", write("b.csv", "z\n1.0\n7\n")).err
    assert good("predict", "model.npz", "b.csv", "-q").lines[0] == "a"


def test_missing(good, write, fault, folder):
    gaps = "y,x,c\na,1,p\nb,NA,q\na,3,?\nb,8,q\n"
    write("a.csv", gaps)
    common = ["train", "a.csv", "--label", "y", "--dtype", "float64", "--json"]
    said = good(*common, "-o", "mean.npz")
    assert said.json["missing"] == 2 and "2 missing values" in said.err
    write("full.csv", gaps.replace("NA", "4"))
    mean = good("predict", "mean.npz", "a.csv", "--scores", "-q").out
    assert mean == good("predict", "mean.npz", "full.csv", "--scores", "-q").out
    good(*common, "--missing", "zero", "-o", "zero.npz")
    write("null.csv", gaps.replace("NA", "0"))
    zero = good("predict", "zero.npz", "a.csv", "--scores", "-q").out
    assert zero == good("predict", "zero.npz", "null.csv", "--scores", "-q").out != mean
    line = fault(1, *common, "--missing", "error", "-o", "error.npz")
    assert "a.csv:3" in line and "'x'" in line and not (folder / "error.npz").exists()
    said = good(*common, "--missing", "skip", "-o", "skip.npz")
    assert (said.json["rows"], said.json["skipped"]) == (2, 2) and "2 bad rows" in said.err
    assert [bool(x) for x in good("predict", "skip.npz", "a.csv", "-q").out.split("\n")[:-1]] == [1, 0, 0, 1]


def test_bias(good, write):
    write("a.svm", "2 1:1\n2 1:2\n1 1:3\n" * 5)
    good("train", "a.svm", "--no-bias", "-q", "--scale", "none")
    assert scores(good("predict", "model.npz", write("z.svm", "1\n"), "--scores", "-q")).tolist() == [[0.0]]
    good("train", "a.svm", "-q", "--scale", "none")
    assert scores(good("predict", "model.npz", "z.svm", "--scores", "-q"))[0, 0] != 0.0


def test_dtype(good, write):
    write("a.csv", "y,x\n" + "".join(f"{k % 2},{1 + k % 2 + k * 1e-9!r}\n" for k in range(40)))
    out = []
    for dtype in ("float32", "float64"):
        good("train", "a.csv", "--label", "y", "--dtype", dtype, "-q", "--scale", "none")
        assert good("info", "model.npz", "--json").json["dtype"] == dtype
        out.append(good("predict", "model.npz", "a.csv", "--scores", "-q").out)
    assert len({*out[0].splitlines()}) == 2 and len({*out[1].splitlines()}) > 2


@pytest.mark.parametrize("scale", ["none", "minmax", "std", "maxabs", "row-l2", "std,row-l2", "minmax,row-l2"])
@pytest.mark.parametrize("algo", ["nr-rls", "perceptron"])
def test_scale(good, write, scale, algo):
    write("a.csv", csv(300))
    good("train", "a.csv", "--label", "y", "--algo", algo, "--scale", scale, "-q")
    assert good("info", "model.npz", "--json").json["scale"] == scale
    assert good("evaluate", "model.npz", "a.csv", "--json", "-q").json["accuracy"] > 0.55


def test_scaling_by_columns_undoes_units(good, write):
    """Millions in place of ones change nothing when columns are scaled."""
    text = csv(200)
    wide = "\n".join([text.splitlines()[0], *(
        ",".join([r[0], repr(float(r[1]) * 2**20), *r[2:]]) for r in (x.split(",") for x in text.splitlines()[1:])
    )]) + "\n"  # fmt: skip
    write("a.csv", text), write("b.csv", wide)
    for scale in ("minmax", "std", "maxabs"):
        for k in "ab":
            good("train", f"{k}.csv", "--label", "y", "--algo", "pa-1", "--scale", scale, "-q", "-o", f"{k}.npz")
        a, b = (scores(good("predict", f"{k}.npz", f"{k}.csv", "--scores", "-q")) for k in "ab")
        assert np.allclose(a, b, atol=1e-5), scale


# --- inputs


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("form", ["svm", "csv"])
def test_compressed(good, write, folder, ending, form):
    text = (svm(300) if form == "svm" else csv(300)).encode()
    packed = {
        "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
        "zst": lambda b: pa.Codec("zstd").compress(b, asbytes=True),
    }[ending](text)  # fmt: skip
    label = ["--label", "y"] if form == "csv" else []
    good("train", write(f"a.{form}", text), *label, "-q", "-o", "plain.npz")
    good("train", write(f"a.{form}.{ending}", packed), *label, "-q", "-o", "packed.npz")
    good("train", write("noname", packed), *label, "-q", "-o", "noname.npz")
    assert (folder / "plain.npz").read_bytes() == (folder / "packed.npz").read_bytes()
    assert (folder / "plain.npz").read_bytes() == (folder / "noname.npz").read_bytes()
    write("many", packed + packed)  # several members one after the other
    if form == "svm":
        assert good("train", "many", "--json", "-q").json["rows"] == 600


def test_many_files_globs_and_folders(good, write, folder):
    lines = svm(300).splitlines(True)
    write("all.svm", "".join(lines))
    for k in range(3):
        write(f"d/part-{k}.svm", "".join(lines[100 * k : 100 * k + 100]))
    write("d/README", "not data")
    write("d/.hidden", "not data")
    common = ["--algo", "pa-1", "-q", "-o"]
    good("train", "all.svm", *common, "all.npz")
    whole = (folder / "all.npz").read_bytes()
    for data in (
        ["d"],
        ["d/*.svm"],
        ["d/part-0.svm", "d/part-1.svm", "d/part-2.svm"],
        ["d/part-0.svm", "d/part-[12].svm"],
    ):
        good("train", *data, *common, "m.npz")
        assert (folder / "m.npz").read_bytes() == whole, data
    good("train", "d/part-2.svm", "d/part-1.svm", "d/part-0.svm", *common, "m.npz")  # in the order given
    assert (folder / "m.npz").read_bytes() != whole
    assert good("train", "all.svm", "all.svm", "--json", "-q").json["rows"] == 600


def test_odd_names(good, write):
    write("sp ace/dä ta.csv", CSV), write("[x].csv", CSV), write("-dash.csv", CSV)
    for name in ("sp ace/dä ta.csv", "[x].csv", "./-dash.csv"):
        good("train", name, "--label", "y", "-q", "-o", "sp ace/mö del.npz")
        assert len(good("predict", "sp ace/mö del.npz", name, "-q", "-o", "sp ace/o ut").out) == 0
    good("train", "--label", "y", "-q", "--", "-dash.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks(good, write, folder, end, bom):
    for name, text, more in (("a.csv", CSV, ["--label", "y"]), ("a.svm", SVM, [])):
        good("train", write(name, text), *more, "-q", "-o", "plain.npz")
        good("train", write(name, bom + text.replace("\n", end).rstrip("\r\n")), *more, "-q", "-o", "other.npz")
        assert (folder / "plain.npz").read_bytes() == (folder / "other.npz").read_bytes()


def test_mixed_line_ends(good, write):
    assert good("train", write("a.csv", "y,x\r\n0,1\n1,2\r\n"), "--label", "y", "--json", "-q").json["rows"] == 2


# --- the same bytes


def written(folder):
    return (folder / "m.npz").read_bytes()


@pytest.mark.parametrize("algo", LONG)
@pytest.mark.parametrize("form", ["svm", "csv", "parquet"])
def test_model_bytes_do_not_depend_on_blocks(good, write, folder, algo, form):
    """Late-born columns and a late-born third class are in the LIBSVM rows."""
    label = ["--label", "y"]
    if form == "svm":
        name, label = write("a.svm", svm(MORE, late=True)), []
    elif form == "csv":
        name = write("a.csv", csv(1500))
    else:
        name = "a.parquet"
        rows = [line.split(",") for line in csv(1500).splitlines()]
        columns = list(zip(*rows[1:]))
        table = {n: list(map(float, c)) if n in "ab" else c for n, c in zip(rows[0], columns)}
        pq.write_table(pa.table(table), folder / name, row_group_size=700)
    found = set()
    for size in ("64", "1000", "4MiB", "4MiB"):
        good("train", name, *label, "--algo", algo, "-q", "-o", "m.npz", "--block-size", size)
        found.add(written(folder))
    assert len(found) == 1


def test_predictions_do_not_depend_on_blocks(good, write):
    write("a.svm", svm(MORE, late=True)), write("a.csv", csv(1500))
    for name, more in (("a.svm", []), ("a.csv", ["--label", "y"])):
        good("train", name, *more, "-q")
        out = {good("predict", "model.npz", name, "--scores", "-q", "--block-size", b).out for b in (64, 1000, "4MiB")}
        assert len(out) == 1


# --- as a process of its own


def test_standard_input(good, write, folder):
    write("a.svm", SVM), write("a.csv", CSV)
    for name, more in (("a.svm", []), ("a.csv", ["--label", "y"])):
        good("train", name, *more, "-q", "-o", "file.npz")
        with open(name, "rb") as f:
            said = child("train", "-", *more, "-q", "-o", "stdin.npz", stdin=f)
        assert said.returncode == 0, said
        assert (folder / "file.npz").read_bytes() == (folder / "stdin.npz").read_bytes()
        piped = child("predict", "file.npz", "-", "-q", input=(folder / name).read_bytes())
        assert piped.returncode == 0, piped
        assert piped.stdout.decode() == good("predict", "file.npz", name, "-q").out


def test_closed_pipe_ends_quietly(good, write, folder):
    good("train", write("a.svm", SVM), "-q")
    write("b.svm", SVM * 30_000)
    with open(folder / "err", "wb") as err:
        p = subprocess.Popen(
            [sys.executable, "-m", "bigclf", "predict", "model.npz", "b.svm"], stdout=subprocess.PIPE, stderr=err
        )
        assert p.stdout.readline() == b"-1\n"
        p.stdout.close()
        assert p.wait(60) == 141
    assert (folder / "err").read_bytes() == b""


def test_exit_codes_of_the_process(write):
    write("a.svm", SVM)
    for code, argv in ((0, ["train", "a.svm", "-q"]), (1, ["train", "nope"]), (2, ["train", "--nope"])):
        said = child(*argv)
        assert said.returncode == code and b"Traceback" not in said.stderr
        assert said.stderr.count(b"\n") == (code > 0)


def test_a_trace_on_demand_only(write):
    assert b"Traceback" in child("train", "nope", "-vv").stderr
    assert b"Traceback" in child("train", "nope", env={**os.environ, "BIGCLF_DEBUG": "1"}).stderr


@pytest.mark.parametrize(
    "words, at, expected",
    [
        ("bigclf train --algo p", 3, ["pa", "pa-1", "pa-2", "pegasos", "perceptron"]),
        ("bigclf algos n", 2, ["nr-rls"]),
        ("bigclf pre", 1, ["predict"]),
        ("bigclf train --algo pa-1 --C", 4, ["--C"]),
    ],
)
def test_completion(words, at, expected):
    env = {**os.environ, "_BIGCLF_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    run = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['bigclf']; from bigclf.__main__ import run; run()"],
        env=env, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert [w for w in run.stdout.decode().split() if w.startswith(expected[0][:3])] == expected or set(
        expected
    ) == set(run.stdout.decode().split())


def test_json_goes_with_quiet_and_nothing_else_on_stdout(write):
    write("a.svm", SVM)
    said = child("train", "a.svm", "--json")
    assert json.loads(said.stdout)["rows"] == 4 and said.stderr
    said = child("train", "a.svm", "--json", "-q")
    assert json.loads(said.stdout)["rows"] == 4 and said.stderr == b""


def test_a_closed_standard_error_costs_no_more_than_what_is_said_there(good, write, folder):
    write("a.csv", csv(50))
    good("train", "a.csv", "--label", "y", "--algo", "arow", "-q", "-o", "want.npz")
    words = [sys.executable, "-m", "bigclf", "train", "a.csv", "--label", "y", "--algo", "arow"]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *words], cwd=folder, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (folder / "model.npz").read_bytes() == (folder / "want.npz").read_bytes()
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *words, "--passes", "0"], cwd=folder, capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
