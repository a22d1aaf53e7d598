"""`bigclf cv`: how folds are dealt, and that each is judged by what learned from all rows but its own."""

from __future__ import annotations

import shlex
import statistics
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import child, svm

from bigclf.training.folds import Folds

MEASURES = ("error", "g_mean", "kappa", "balanced_accuracy")
FOLDS = 3
ROWS = 600
LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=80)


def deal(y, runs=2, folds=3, seed=1, cuts=()):
    """(runs, n) folds of rows that come in parts."""
    dealer = Folds(runs, folds, seed)
    return np.concatenate([dealer.deal(part) for part in np.split(np.array(y, np.int32), sorted(cuts))], axis=1)


# --- folds


@given(LABELS, st.integers(2, 7), st.integers(0, 5), st.data())
@settings(max_examples=100, deadline=None)
def test_every_row_has_one_fold_a_run_however_the_rows_are_cut(y, folds, seed, data):
    cuts = data.draw(st.lists(st.integers(0, len(y)), max_size=5))
    dealt = deal(y, 3, folds, seed)
    assert dealt.shape == (3, len(y)) and dealt.min() >= 0 and dealt.max() < folds
    assert np.array_equal(deal(y, 3, folds, seed, cuts), dealt)
    for fold in dealt:
        for c in set(y):
            mine = [f for f, k in zip(fold.tolist(), y) if k == c]
            sizes = [mine.count(f) for f in range(folds)]
            assert max(sizes) - min(sizes) <= 1
            for a in range(0, len(mine) - folds + 1, folds):  # in every group of successive rows of a class
                assert sorted(mine[a : a + folds]) == list(range(folds))


@given(LABELS, LABELS)
@settings(max_examples=50, deadline=None)
def test_the_fold_of_a_row_depends_on_its_class_and_place_in_it_alone(y, others):
    """Not on rows of other classes around it."""
    places = sorted(range(len(y) + len(others)), key=lambda i: (i * 7919) % 101)[: len(y)]
    mixed = np.full(len(y) + len(others), -1)
    mixed[np.sort(places)] = y
    mixed[mixed < 0] = np.array(others, int) + 4
    assert np.array_equal(deal(mixed)[:, np.sort(places)], deal(y))


def test_seeds_and_runs_give_other_folds():
    y = np.arange(600) % 3
    dealt = [deal(y, 3, 5, seed) for seed in (0, 1, 2)]
    tables = [row.tobytes() for table in dealt for row in table]
    assert len(set(tables)) == 9
    again = deal(y, 2, 5, 1)
    assert np.array_equal(again, dealt[1][:2]), "more runs leave the earlier ones as they were"
    for table in dealt:  # two runs agree on about one row in five, as independent draws do
        assert 0.1 < np.mean(table[0] == table[1]) < 0.3


def test_classes_do_not_share_their_draws():
    y = np.arange(400) % 2
    fold = deal(y, 1, 4)[0]
    assert 0.1 < np.mean(fold[y == 0] == fold[y == 1]) < 0.4


def test_folds_are_the_same_in_every_process():
    """And in every release: a published number can be had again."""
    y = [0, 1, 0, 0, 1, 2, 1, 0, 0, 1, 1, 0]
    assert deal(y, 2, 3, 7).tolist() == [
        [1, 0, 0, 2, 2, 2, 1, 2, 0, 2, 1, 1],
        [1, 0, 0, 2, 1, 1, 2, 0, 1, 1, 0, 2],
    ]


# --- measures


def rows(n=ROWS, seed=3):
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((n, 4)), 3)
    y = (X @ [1.0, -0.5, 0.3, 0.0] + 0.7 * r.standard_normal(n) > 0.4).astype(int)
    y[r.random(n) < 0.1] = 2
    return X, y


def libsvm(X, y):
    return [f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1)) + "\n" for x, t in zip(X, y)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same rows in every form."""
    folder = tmp_path_factory.mktemp("files")
    X, y = rows()
    (folder / "a.svm").write_text("".join(libsvm(X, y)))
    table = pa.table({f"c{j}": X[:, j] for j in range(4)} | {"label": y})
    pyarrow.csv.write_csv(table, folder / "a.csv")
    pyarrow.parquet.write_table(table, folder / "a.parquet", row_group_size=500)
    return folder


def cv(good, *words, algos):
    """The document of --json, and its entries by their text."""
    document = good("cv", *words, *(w for a in algos for w in ("--algo", a)), "--json", "-q").json
    return document, {f"{e['algorithm']} {e['options']}".strip(): e for e in document["algorithms"]}


def untimed(document):
    for entry in document["algorithms"]:
        assert entry.pop("seconds") > 0.0
    return document


EXACT = ["ls", "rls", "nr-rls", "ter", "ls --b 3 --scale std", "nr-rls --scale maxabs"]
FIXED = [  # what the first rows fix would differ by hand
    *("pa-1 --C 0.01", "arow", "arow --cov full", "perceptron", "cw-var", "acog-1", "ar-rls"),
    *("rls --form recursive", "nr-rls --form per-row"),
    *("nr-rls --features rm", "ls --features rff --rff-dim 9 --sigma 1", "pa --features poly"),
]


@pytest.mark.parametrize(
    "algos", [EXACT, [f"{a} --scale none" for a in FIXED]], ids=["scaled by all rows", "not scaled"]
)
def test_each_fold_is_judged_by_what_learned_from_all_other_rows(good, files, write, algos):
    """By hand: a file without the rows of a fold, and one of them alone. What merges is merged."""
    X, y = rows()
    lines = libsvm(X, y)
    dealt = deal(y, 2, FOLDS, seed=5)
    document, entries = cv(good, files / "a.svm", "--folds", FOLDS, "--runs", 2, "--seed", 5, algos=algos)
    assert (document["rows"], document["skipped"]) == (ROWS, 0)
    assert (document["folds"], document["runs"], document["seed"]) == (FOLDS, 2, 5)
    assert list(entries) == algos, "in the order given"
    for seat, (run, fold) in enumerate((r, f) for r in range(2) for f in range(FOLDS)):
        mine = dealt[run] == fold
        write("train.svm", "".join(line for line, m in zip(lines, mine) if not m))
        write("test.svm", "".join(line for line, m in zip(lines, mine) if m))
        for text in algos:
            good("train", "train.svm", "--algo", *shlex.split(text), "-q")
            want = good("evaluate", "model.npz", "test.svm", "--json", "-q").json
            assert want["rows"] == mine.sum()
            got = {name: entries[text]["values"][name][seat] for name in MEASURES}
            assert got == {name: pytest.approx(want[name], abs=1e-12) for name in MEASURES}, (text, run, fold)


def test_forms_that_merge_and_forms_that_do_not_agree(good, files):
    """Learners of sums see their own fold and are merged; the others see all rows but their fold."""
    algos = ["rls --scale none", "rls --form recursive --scale none", "ls --scale none"]
    algos += ["nr-rls --scale none", "nr-rls --form per-row --scale none", "ir-rls --scale none"]
    for folds in (2, 5):
        _, entries = cv(good, files / "a.svm", "--folds", folds, "--dtype", "float64", algos=algos)
        one, two = (entries[a]["values"] for a in (algos[0], algos[3]))
        assert all(entries[a]["values"] == one for a in algos[1:3]), folds
        assert all(entries[a]["values"] == two for a in algos[4:]), folds
        assert one != two


def test_measures_are_means_and_deviations_of_the_values(good, files):
    _, entries = cv(good, files / "a.csv", "--folds", 3, "--runs", 2, algos=["nr-rls", "pa-1"])
    for e in entries.values():
        assert set(e) == {"algorithm", "options", "measures", "values", "seconds"}
        assert set(e["measures"]) == set(e["values"]) == {*MEASURES, "log_loss"}
        assert e["values"].pop("log_loss") == [None] * 6  # neither has probabilities
        for name, values in e["values"].items():
            assert len(values) == 6
            assert e["measures"][name]["mean"] == pytest.approx(statistics.fmean(values), rel=1e-12)
            assert e["measures"][name]["std"] == pytest.approx(statistics.stdev(values), rel=1e-12)
    said = good("cv", files / "a.csv", "--folds", 3, "--runs", 2, "--algo", "pa-1", "-q")
    m = entries["pa-1"]["measures"]
    want = [f"{m[name]['mean']:.4f} ± {m[name]['std']:.4f}" for name in MEASURES]
    (line,) = (line for line in said.lines if line.startswith("pa-1"))
    assert all(text in line for text in want)


def test_every_row_is_tested_once_a_run(good, files):
    """Errors of all folds of a run, by their sizes, are whole numbers of rows that add up to what a run missed."""
    _, y = rows()
    for folds, runs in ((2, 1), (7, 3)):
        dealt = deal(y, runs, folds)
        _, entries = cv(good, files / "a.svm", "--folds", folds, "--runs", runs, algos=["ls"])
        missed = np.array(entries["ls"]["values"]["error"]).reshape(runs, folds)
        sizes = np.array([[np.sum(d == f) for f in range(folds)] for d in dealt])
        assert (sizes.sum(axis=1) == ROWS).all()
        np.testing.assert_allclose(missed * sizes, np.round(missed * sizes), atol=1e-9)


@pytest.mark.parametrize("file", ["a.svm", "a.csv", "a.parquet"])
def test_no_result_depends_on_blocks_or_on_the_form_of_the_file(good, files, file):
    algos = ["ls", "nr-rls --features rm", "pa-1 --scale std", "arow", "rls --form recursive"]
    words = ["--folds", 3, "--runs", 2]
    want = untimed(cv(good, files / "a.svm", *words, algos=algos)[0])
    for size in ("900", "20KiB", "4MiB"):
        assert untimed(cv(good, files / file, *words, "--block-size", size, algos=algos)[0]) == want, size


def test_seeds_change_the_folds_and_nothing_else_does(good, files):
    alone = cv(good, files / "a.svm", "--folds", 3, algos=["ls"])[1]["ls"]["values"]
    beside = cv(good, files / "a.svm", "--folds", 3, algos=["arow", "pa-1 --features poly", "ls"])[1]["ls"]["values"]
    other = cv(good, files / "a.svm", "--folds", 3, "--seed", 2, algos=["ls"])[1]["ls"]["values"]
    assert alone == beside != other


def test_rows_that_are_skipped_are_in_no_fold(good, write):
    """A bad row, and for --missing skip one with a gap: what is left is as if they had never been there."""
    text = [f"{'ab'[i % 2]},{i % 7},{i % 5}\n" for i in range(60)]
    write("a.csv", "y,u,v\n" + "".join(text))
    write("b.csv", "y,u,v\n" + "".join([*text[:10], "a,1\n", *text[10:20], "b,,1\n", *text[20:]]))
    words = ["--label", "y", "--folds", 5, "--missing", "skip", "--on-error", "skip"]
    clean, bad = (cv(good, name, *words, algos=["ls", "pa-1"])[0] for name in ("a.csv", "b.csv"))
    assert (bad["rows"], bad["skipped"], clean["skipped"]) == (60, 2, 0)
    assert untimed(bad) | {"skipped": 0} == untimed(clean)


def test_the_first_rows_alone_may_be_taken(good, files, write):
    write("b.svm", "".join(libsvm(*rows())[:300]))
    some = cv(good, files / "a.svm", "--limit", 300, "--folds", 3, algos=["ls", "pa-1"])[0]
    assert some["rows"] == 300 and untimed(some) == untimed(cv(good, "b.svm", "--folds", 3, algos=["ls", "pa-1"])[0])


def test_a_class_that_comes_late(good, write):
    """Learners of sums are solved for it too; it comes in every fold."""
    text = svm(11_000, 2, late=True)
    assert Counter(line[0] for line in text.splitlines())["3"] >= 5
    document, entries = cv(good, write("a.svm", text), "--folds", 2, algos=["nr-rls", "ter"])
    assert document["rows"] == 11_000 and entries["nr-rls"]["values"] == entries["ter"]["values"]
    assert all(g > 0.0 for g in entries["nr-rls"]["values"]["g_mean"]), "of three classes, none is lost"


# --- faults


def test_standard_input_is_refused(fault, folder):
    assert "standard input" in fault(2, "cv", "-", "--algo", "ls")
    said = child("cv", "/dev/stdin", "--format", "csv", "--label", "y", "--algo", "ls", "-q", input=b"y,x\n0,1\n1,2\n")
    assert said.returncode == 2 and said.stdout == b"" and said.stderr.count(b"\n") == 1, said


def test_too_few_rows(fault, good, write):
    line = fault(1, "cv", write("a.svm", svm(9)), "--algo", "ls", "-q")
    assert "a.svm" in line and "9 rows" in line
    assert good("cv", "a.svm", "--algo", "ls", "--folds", 9, "--json", "-q").json["rows"] == 9
    assert "e.svm: no rows" in fault(1, "cv", write("e.svm", "\n\n"), "--algo", "ls")


@pytest.mark.parametrize("words", [["--folds", "1"], ["--folds", "x"], ["--runs", "0"], ["--seed", "-1"]])
def test_numbers_that_cannot_be_meant(fault, write, words):
    assert words[0] in fault(2, "cv", write("a.svm", svm(20)), "--algo", "ls", *words)
    assert "--algo" in fault(2, "cv", "a.svm")
    assert "is named twice" in fault(2, "cv", "a.svm", "--algo", "ls", "--algo", "ls")


def test_a_class_with_fewer_rows_than_folds_is_told(cli, write):
    rows = "".join(f"{i % 2} 1:{i}\n" for i in range(40)) + "2 1:9\n2 1:8\n"
    said = cli("cv", write("a.svm", rows), "--algo", "pa-1", "--folds", "5")
    assert said.code == 0 and "fewer rows than folds: 2; folds without one have neither G-mean" in said.err


def test_a_fold_without_a_class_has_no_mean_over_the_classes(good, write):
    rows = "".join(f"{int(i % 20 == 0)} 1:{i % 7} 2:{i % 3}\n" for i in range(100))
    found = good("cv", write("a.svm", rows), "--algo", "pa-1", "--folds", "10", "--json", "-q").json["algorithms"][0]
    assert found["values"]["g_mean"].count(None) == 5 == found["values"]["balanced_accuracy"].count(None)
    assert None not in found["values"]["error"]
