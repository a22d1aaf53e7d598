"""`bigclf compare`: one reading gives each entrant what `train` and `evaluate` would give it alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from data import EACH_KIND
from test_cli import MORE, child, svm

from bigclf.algorithms import registry
from bigclf.cli.comparing import begun
from bigclf.cli.entrants import entrants
from bigclf.errors import BudgetError
from bigclf.limits import RESERVE, Headroom, Limit
from bigclf.model import load
from bigclf.training import fit
from bigclf.training.contest import Entry

MEASURES = ("rows", "error", "g_mean", "kappa", "balanced_accuracy", "log_loss")
OPTIONS = (
    *("pa-1 --C 0.01", "pa-1 --C 0.01 --scale std", "arow --cov full", "ls --features rm", "nr-rls --scale std,row-l2"),
    *("nr-rls --features rff --rff-dim 20", "rls --form recursive --scale none", "perceptron --features poly"),
)
ENTRANTS = [*EACH_KIND, *OPTIONS]
FAST = [a for a in ENTRANTS if a != "ir-rls"]  # it goes through all rows at each row
FILES = ("dense.svm", "sparse.svm", "a.csv", "a.parquet")


def rows(n, seed):
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((n, 4)), 3)
    X[r.random((n, 4)) < 0.2] = 0
    return X, (X @ [1.0, -0.5, 0.0, 0.2] + 0.5 * r.standard_normal(n) > 0.4).astype(int)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Rows to train, and others named test.*, in every form; the sparse ones are others again."""
    folder = tmp_path_factory.mktemp("files")
    for test, n, seed in (("", 2500, 1), ("test.", 700, 2)):
        X, y = rows(n, seed)
        lines = [f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1) if v) for x, t in zip(X, y)]
        (folder / f"{test}dense.svm").write_text("\n".join(lines) + "\n")
        late = [f"{line} {8 + i * 7 % 11}:0.5 {20 + i % 9}:1" for i, line in enumerate(lines)]
        (folder / f"{test}sparse.svm").write_text("\n".join(late) + "\n")
        words = {"word": [f"w{v}" for v in (X[:, 0] > 1).astype(int)]}
        table = pa.table({f"c{j}": X[:, j] for j in range(4)} | words | {"label": [f"k{t}" for t in y]})
        pyarrow.csv.write_csv(table, folder / f"{test}a.csv")
        pyarrow.parquet.write_table(table, folder / f"{test}a.parquet", row_group_size=600)
    return folder


def compare(good, *words, algos):
    """The entries of --json by their text, and the document."""
    document = good("compare", *words, *(w for a in algos for w in ("--algo", a)), "--json", "-q").json
    entries = {f"{e['algorithm']} {e['options']}".strip(): e for e in document["algorithms"]}
    assert len(entries) == len(document["algorithms"])
    return entries, document


def untimed(document):
    return [{k: v for k, v in e.items() if k != "microseconds_per_row"} for e in document["algorithms"]]


@pytest.mark.parametrize("file", FILES)
def test_measures_are_those_of_train_and_evaluate(good, files, file):
    """Of every algorithm alone, progressive and on rows held out; the model of the best is its own to the byte."""
    layout = "csr" if file == "sparse.svm" else "dense"
    algos = ENTRANTS if file == "a.csv" else FAST
    entries, document = compare(
        good, files / file, "--test", files / f"test.{file}", "-o", "best.npz", "--by", "error", algos=algos
    )
    assert document["rows"] == 2500 and document["skipped"] == 0 and set(entries) == set(algos)
    for k, text in enumerate(algos):
        alone = good("train", files / file, "--algo", *shlex.split(text), "-o", f"{k}.npz", "--json", "-q").json
        before = {name: v for name, v in entries[text]["progressive"].items() if name != "log_loss"}
        assert before == alone["progressive"], text
        size = good("info", f"{k}.npz", "--json").json["state_bytes"]  # with what is made at the end
        assert entries[text]["state_bytes"] == size or registry.build(text.split()[0]).grain == "end", text
        assert load(Path(f"{k}.npz")).schema.layout == layout
        judged = good("evaluate", f"{k}.npz", files / f"test.{file}", "--json", "-q").json
        assert entries[text]["test"] == {name: judged[name] for name in MEASURES}, text
    best = algos.index(next(iter(entries)))
    with open("best.npz", "rb") as mine, open(f"{best}.npz", "rb") as alone:
        assert mine.read() == alone.read()


@pytest.mark.parametrize("text", FAST)
def test_the_model_of_one_entrant_is_that_of_train(good, files, folder, text):
    """To the byte, though it was judged before it was saved."""
    good("compare", files / "sparse.svm", "--algo", text, "--test", files / "test.dense.svm", "-o", "c.npz", "-q")
    good("train", files / "sparse.svm", "--algo", *shlex.split(text), "-o", "t.npz", "-q")
    assert (folder / "c.npz").read_bytes() == (folder / "t.npz").read_bytes()


def test_classes_and_columns_that_come_late(good, write, folder):
    """Born after the head, in training; a class that only the test rows have is never answered."""
    write("a.svm", svm(MORE, 4, late=True)), write("b.svm", svm(300, 5, late=True) + "8 1:1\n" * 9)
    entries, document = compare(good, "a.svm", "--test", "b.svm", "-o", "best.npz", algos=FAST)
    for text in FAST:
        alone = good("train", "a.svm", "--algo", *shlex.split(text), "-o", "m.npz", "--json", "-q").json
        assert sorted(alone["classes"]) == ["1", "2", "3"]
        judged = good("evaluate", "m.npz", "b.svm", "--json", "-q").json
        assert judged["unseen_classes"] == ["8"] and judged["per_class"]["8"]["support"] == 9
        before = {name: v for name, v in entries[text]["progressive"].items() if name != "log_loss"}
        assert before == alone["progressive"], text
        assert entries[text]["test"] == {name: judged[name] for name in MEASURES}, text
        if text == next(iter(entries)):
            assert (folder / "m.npz").read_bytes() == (folder / "best.npz").read_bytes()


@pytest.mark.parametrize("file", ["sparse.svm", "a.csv", "a.parquet"])
def test_no_result_depends_on_the_size_of_the_blocks(good, files, file):
    words = [files / file, "--test", files / f"test.{file}"]
    want = untimed(compare(good, *words, algos=FAST)[1])
    for size in ("700", "9000", "50KiB"):
        assert untimed(compare(good, *words, "--block-size", size, algos=FAST)[1]) == want, size


def test_options_outside_hold_for_entrants_that_have_none_of_their_own(good, files):
    outside, _ = compare(good, files / "a.csv", "--scale", "std", algos=["pa-1", "arow --scale none"])
    inside, _ = compare(good, files / "a.csv", algos=["pa-1 --scale std", "arow --scale none", "pa-1"])
    assert outside["pa-1"]["progressive"] == inside["pa-1 --scale std"]["progressive"]
    assert outside["pa-1"]["progressive"] != inside["pa-1"]["progressive"]
    assert outside["arow --scale none"]["progressive"] == inside["arow --scale none"]["progressive"]
    words = ["--features", "rff", "--rff-dim", 9, "--sigma", 2]
    outside, _ = compare(good, files / "a.csv", *words, algos=["pa-1", "pa-1 --features linear", "pa-1 --features rm"])
    algos = ["pa-1 --features rff --rff-dim 9 --sigma 2", "pa-1", "pa-1 --features rm"]
    inside, _ = compare(good, files / "a.csv", algos=algos)
    for mine, theirs in zip(["pa-1", "pa-1 --features linear", "pa-1 --features rm"], algos):
        assert outside[mine]["progressive"] == inside[theirs]["progressive"], mine


# --- the table


@pytest.mark.parametrize("by", ["g_mean", "error", "balanced_accuracy", "kappa"])
@pytest.mark.parametrize("test", [False, True])
def test_the_best_stands_first(good, files, by, test):
    held = ["--test", files / "test.a.csv"] if test else []
    algos = ["perceptron", "nr-rls", "pa --scale none", "ls", "cw-var"]
    _, document = compare(good, files / "a.csv", *held, "--by", by, algos=algos)
    values = [e["test" if test else "progressive"][by] for e in document["algorithms"]]
    assert values == sorted(values, reverse=by != "error") and len(set(values)) > 2
    said = good("compare", files / "a.csv", *held, "--by", by, *(w for a in algos for w in ("--algo", a)), "-q")
    order = [f"{e['algorithm']} {e['options']}".strip() for e in document["algorithms"]]
    assert [next(a for a in algos if line.startswith(f"{a}  ")) for line in said.lines[-5:]] == order
    assert ("balanced" in said.out) == (by == "balanced_accuracy") and ("test kappa" in said.out) == test


def test_the_table_has_the_numbers(good, files):
    algos = ["nr-rls", "pa-1 --C 0.01"]
    entries, _ = compare(good, files / "a.csv", algos=algos)
    said = good("compare", files / "a.csv", "--algo", algos[0], "--algo", algos[1], "-q")
    for text, e in entries.items():
        (line,) = (line for line in said.lines if line.startswith(text))
        shown = line[len(text) :].split()
        assert shown[:3] == [f"{e['progressive'][m]:.4f}" for m in ("error", "g_mean", "kappa")]
        assert float(shown[3]) > 0.0 and e["microseconds_per_row"] > 0.0


@pytest.mark.parametrize("order", [1, -1])
def test_equals_stay_in_the_order_given_and_what_is_undefined_is_last(good, write, order):
    """ls and rls are one; with 100 rows they have no solution before the end, so no running measures."""
    write("a.svm", svm(100, 1))
    algos = ["ls", "rls", "perceptron", "pa-1 --C 100", "pa --scale minmax"][::order]
    _, document = compare(good, "a.svm", algos=algos)
    names = [e["algorithm"] for e in document["algorithms"]]
    assert names[-2:] == ["ls", "rls"][::order] and document["algorithms"][-1]["progressive"]["g_mean"] is None
    _, judged = compare(good, "a.svm", "--test", "a.svm", algos=algos)
    two = [e for e in judged["algorithms"] if e["algorithm"] in ("ls", "rls")]
    assert two[0]["test"] == two[1]["test"] and [e["algorithm"] for e in two] == ["ls", "rls"][::order]


def test_the_first_call_does_not_count_where_there_are_others():
    """A kernel may have been compiled in it."""
    fit = SimpleNamespace(learner=None, rows=2)
    entry = Entry(None, [fit])
    entry.seconds = entry.first_seconds = 8.0
    entry.first_rows = 2
    assert entry.per_row() == 4.0
    entry.seconds, fit.rows = 12.0, 10
    assert entry.per_row() == 0.5


def test_rows_come_from_standard_input_too(good, files):
    want, _ = compare(good, files / "sparse.svm", algos=["ls", "pa"])
    words = ["compare", "-", "--algo", "ls", "--algo", "pa", "--json", "-q"]
    said = child(*words, stdin=(files / "sparse.svm").open())
    assert said.returncode == 0 and all(str(e["progressive"]["kappa"]).encode() in said.stdout for e in want.values())


def test_standard_input_is_read_once(fault):
    assert "--test" in fault(2, "compare", "-", "--algo", "ls", "--test", "-")


# --- faults


@pytest.mark.parametrize(
    ("algos", "words"),
    [
        (["nr-rls", "foo"], "no algorithm 'foo'"),
        (["foo --C 1"], "no algorithm 'foo'"),
        (["pa-1 --b 1"], "'pa-1 --b 1'"),
        (["pa-1 --passes 2"], "--passes"),
        (["pa-1 more"], "'pa-1 more'"),
        (["pa-1 --C -1"], "'pa-1 --C -1'"),
        (["pa-1 --C one"], "'pa-1 --C one'"),
        (["pa-1 --scale great"], "'great'"),
        (["pa-1 --order 3"], "--order"),
        (["pa-1 --C '1"], "'pa-1 --C '1': no closing quotation"),
        (["pa-1", "arow", "pa-1"], "'pa-1': is named twice"),
        (["pa-1 --C 2", "pa-1  --C  2"], "is named twice"),
        (["pa-1 --C 2", "arow", "pa-1 --C 2.0"], "'pa-1 --C 2.0': is named twice"),
        (["pa-1 --scale minmax --C 1", "pa-1"], "'pa-1': is named twice"),
        (["pa-1 --help"], "bigclf train --algo pa-1 --help"),
        ([""], "names no algorithm"),
        ([], "--algo"),
    ],
)  # fmt: skip
def test_entrants_that_cannot_be_meant(fault, files, algos, words):
    line = fault(2, "compare", files / "a.csv", *(w for a in algos for w in ("--algo", a)))
    assert words in line


def test_a_missing_test_file_is_told_before_any_training(fault, write, folder):
    write("bad.svm", "1 1:1\n" * 20_000 + "1 1:x\n")  # training would end with this fault
    line = fault(1, "compare", "bad.svm", "--algo", "pa-1", "--test", "gone.svm", "-o", "m.npz")
    assert "gone.svm: no such file" in line and not (folder / "m.npz").exists()
    assert "bad.svm:20001" in fault(1, "compare", "bad.svm", "--algo", "pa-1", "--test", "bad.svm", "-o", "m.npz")


def test_test_rows_must_fit(fault, write, folder):
    write("a.csv", "y,u,v\n0,1,2\n1,2,3\n"), write("b.csv", "y,u\n0,1\n"), write("c.csv", "u,v\n1,2\n")
    write("d.csv", "y,u,v\n")
    words = ["compare", "a.csv", "--label", "y", "--algo", "pa-1", "-o", "m.npz", "--test"]
    assert "b.csv: no column 'v'" in fault(1, *words, "b.csv")
    assert "c.csv: no column 'y'" in fault(1, *words, "c.csv")
    assert "d.csv: no rows" in fault(1, *words, "d.csv")
    assert not (folder / "m.npz").exists()


def test_the_model_is_not_written_over_the_rows(fault, write, folder):
    write("a.svm", svm(50)), write("b.svm", svm(50))
    for name in ("a.svm", "b.svm"):
        assert name in fault(1, "compare", "a.svm", "--algo", "pa-1", "--test", "b.svm", "-o", name)
        assert (folder / name).read_text() == svm(50)


def test_the_memory_of_all_is_counted_together(write):
    """One covariance of 2,000 columns takes 30.5 MiB: one fits, nine do not, and are refused before the first row."""
    write("wide.svm", "".join(f"{i % 2} 1:1 {i + 2}:1\n" for i in range(50)) + "1 1999:1\n")
    words = ["compare", "wide.svm", "--budget", "400MiB", "--json", "-q"]
    algos = [w for k in range(9) for w in ("--algo", f"arow --cov full --r {k + 1}")]
    one, nine = child(*words, *algos[:2]), child(*words, *algos)
    assert one.returncode == 0, one
    assert nine.returncode == 1 and nine.stdout == b"", nine
    assert nine.stderr.count(b"\n") == 1 and b"arow" in nine.stderr and b"--budget" in nine.stderr


@pytest.mark.parametrize("order", [1, -1])
def test_room_to_solve_in_is_counted_beside_the_states_of_all(order, write, monkeypatch):
    """They solve one after another, each while the states of all are there."""
    rows = write("wide.svm", "".join(f"{i % 2} 1:1 {i + 2}:1\n" for i in range(50)) + "1 99:1\n")
    texts = ["dkp --tuning min --prototypes 200", "fsvc-linear --prototypes 500", "pa-1"][::order]
    free = [1 << 40]
    monkeypatch.setattr(fit, "headroom", lambda cap: Headroom((Limit("--budget", 1 << 41, free[0] + RESERVE),), 0))

    def contest():
        return begun([rows], entrants(texts, {}), {}, {})[0]

    made = contest()
    fits = [e.fits[0] for e in made.entries]
    solving = max(f.solving() for f in fits)
    assert solving == 3 * 8 * (2 * 200) ** 2 + 8 * 101 * 2 * 200  # three matrices, and all prototypes as rows
    assert solving > max(f.nbytes() for f in fits) > 0 and len(made.lanes) == 2
    free[0] = sum(lane.nbytes() for lane in made.lanes) + sum(f.nbytes() for f in fits) + solving
    contest()
    free[0] -= 1
    with pytest.raises(BudgetError, match="to solve in"):
        contest()


def test_the_tables_of_all_feature_maps_are_counted_together(write):
    """One of 4,000 columns and 6,000 features takes 92 MiB, and draws them once for training and test rows."""
    write("wide.svm", "".join(f"{i % 2} 1:1 {i + 2}:1\n" for i in range(50)) + "1 3999:1\n")
    words = [
        "compare",
        "wide.svm",
        "--features",
        "rff",
        "--rff-dim",
        "6000",
        "--test",
        "wide.svm",
        "--budget",
        "400MiB",
    ]
    algos = [w for k in range(3) for w in ("--algo", f"pa-1 --sigma {k + 1}")]
    one, three = child(*words, *algos[:2]), child(*words, *algos)
    assert one.returncode == 0, one
    assert three.returncode == 1 and three.stderr.count(b"\n") == 1 and b"--budget" in three.stderr, three


def test_what_one_of_several_encodings_notices_is_told_once(cli, files):
    words = ["--algo", "pa-1 --scale none", "--algo", "arow", "--algo", "perceptron --scale std"]
    said = cli("compare", files / "sparse.svm", *words)
    assert said.err.count("--scale minmax acts as maxabs") == said.err.count("--scale std acts as maxabs") == 1


def test_unknown_classes_and_values_of_the_test_rows_are_told(cli, write):
    write("a.csv", "a,w,y\n" + "1,u,0\n2,v,1\n" * 30)
    write("b.csv", "a,w,y\n1,u,0\n2,z,1\n,u,7\n")
    said = cli("compare", "a.csv", "--label", "y", "--algo", "pa-1", "--test", "b.csv")
    assert all(text in said.err for text in ("'w': 1 row has a category", "not seen, always wrong: 7", "1 missing"))


def test_one_that_cannot_go_on_is_left_out_and_the_others_are_ranked(cli, files):
    words = ["--algo", "ir-rls --max-rows 100", "--algo", "pa-1", "--json", "-q"]
    said = cli("compare", files / "a.csv", *words, "--test", files / "test.a.csv")
    assert said.code == 0 and "ir-rls --max-rows 100: left out: ir-rls keeps every row" in said.err
    best, worst = said.json["algorithms"]
    assert best["algorithm"] == "pa-1" and best["test"]["rows"] == 700 and worst["test"]["g_mean"] is None


def test_what_the_test_file_lacks_is_told_before_any_training(fault, files, write):
    write("t.csv", "x,z\n1,2\n")
    assert "label" in fault(1, "compare", files / "a.csv", "--algo", "pa-1", "--test", "t.csv", "-q")
