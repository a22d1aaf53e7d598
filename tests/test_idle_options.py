"""An option that would have no effect on the input at hand is refused, and never passed over in silence."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CSV = "label,x,z\n" + "0,1,2\n1,2,1\n" * 20
SVM = "0 1:1 2:2\n1 1:2 2:1\n" * 20
TABLES = [["--label", "1"], ["--ignore", "1"], ["--categorical", "1"]]
DIALECT = [["--delimiter", ";"], ["--decimal", ","], ["--quote", ""], ["--header"], ["--no-header"]]
IDLE = [("a.svm", o) for o in TABLES + DIALECT] + [("a.parquet", o) for o in [*DIALECT, ["--encoding", "latin1"]]]
ALGO = ["--algo", "pa-1"]
COMMANDS = {
    "train": ["train", *ALGO, "-o", "n.npz"],
    "continue": ["train", "--continue", "m.npz", "-o", "n.npz"],
    "resume": ["train", "--resume", "ck.npz", "-o", "n.npz"],
    "predict": ["predict", "m.npz"],
    "evaluate": ["evaluate", "m.npz"],
    "check": ["check"],
    "compare": ["compare", *ALGO],
    "cv": ["cv", *ALGO],
    "ikt": ["ikt"],
}


@pytest.fixture
def files(folder, write, good):
    """The same rows in three formats."""
    write("a.svm", SVM)
    write("a.csv", CSV)
    rows = [[int(v) for v in line.split(",")] for line in CSV.split()[1:]]
    pq.write_table(pa.table(dict(zip(("label", "x", "z"), map(list, zip(*rows))))), folder / "a.parquet")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name, option", IDLE, ids=lambda v: v if isinstance(v, str) else "".join(v))
def test_options_of_another_format_are_refused(files, good, fault, name, option, command):
    good("train", name, *ALGO, "-q", "-o", "m.npz", "--checkpoint", "ck.npz", "--checkpoint-every", "1")
    said = fault(2, *COMMANDS[command], name, *option)
    assert said.startswith(f"bigclf: {option[0]}: is for ") and f"{name} is " in said
    assert not (files / "n.npz").exists()


@pytest.mark.parametrize("option", [*TABLES, *DIALECT, ["--encoding", "latin1"]], ids="".join)
def test_options_of_the_format_at_hand_are_taken(files, cli, write, option):
    write("b.csv", CSV.replace(",", ";") if option[0] in ("--delimiter", "--decimal") else CSV)
    more = ["--delimiter", ";"] if option[0] == "--decimal" else []
    said = cli("check", "b.csv", "--no-label", *option, *more)
    assert said.code in (0, 1) and "is for" not in said.err  # a header taken for a row is a fault


def test_options_kept_in_a_model_are_no_options_given(files, good, write):
    """A model remembers how its rows were read; that says nothing of rows in another format."""
    write("b.csv", CSV.replace(",", ";"))
    read = ["--delimiter", ";", "--label", "label", "--encoding", "latin1"]
    good("train", "b.csv", *read, *ALGO, "-q", "-o", "m.npz")
    for name in ("a.svm", "a.parquet"):
        assert good("evaluate", "m.npz", name, "--json", "-q").json["rows"] == 40
        good("train", name, "--continue", "m.npz", "-q", "-o", "n.npz")


MIXED = "label,w,x,z\n" + "0,p,1,2\n1,3,2,1\n" * 20


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_columns_that_a_model_was_trained_on_are_read_as_they_were(good, fault, write, command):
    write("a.csv", MIXED)
    good("train", "a.csv", *ALGO, "--categorical", "w", "--ignore", "z", "-q", "-o", "m.npz")
    said = fault(2, command, "m.npz", "a.csv", "--ignore", "x")
    assert said.startswith("bigclf: --ignore: the model goes by column 'x'; train can leave it out")
    for name in ("x", "z", "label", "absent"):
        said = fault(2, command, "m.npz", "a.csv", "--categorical", name)
        assert said.startswith(f"bigclf: --categorical: the model has no column of words '{name}'; train can make it")


def test_what_training_took_as_words_and_left_out_stays_so_beside_what_is_named_now(good, fault, write):
    """A column that held only words may hold numbers now; columns that came later may be left out in silence."""
    write("a.csv", MIXED.replace("label,", "v,label,").replace("\n0,", "\nq,0,").replace("\n1,", "\nr,1,"))
    good("train", "a.csv", *ALGO, "--categorical", "w", "--ignore", "z", "-q", "-o", "m.npz")
    write("b.csv", "v,label,w,x,z,new\nq,0,p,1,2,5\n7,1,3,2,1,5\n")
    assert "column 'v': '7' is a number among words" in fault(1, "evaluate", "m.npz", "b.csv", "-q")
    said = good("evaluate", "m.npz", "b.csv", "--categorical", "v", "--ignore", "new", "--json")
    assert said.json["accuracy"] == 1.0
    assert "column 'v': 1 row has a category that the model has not seen" in said.err and "extra" not in said.err


def test_a_column_of_words_named_by_its_number_has_that_name_in_the_test_rows(good, write):
    write("a.csv", MIXED)
    write("b.csv", "z,x,w,label\n2,1,p,0\n1,2,3,1\n")
    said = good("compare", "a.csv", "--test", "b.csv", *ALGO, "--categorical", "2", "--json", "-q")
    assert said.json["algorithms"][0]["test"]["error"] == 0.0


def test_compare_takes_an_option_that_says_something_of_its_data_or_of_its_test_rows(files, good, fault, write):
    write("b.csv", CSV.replace(",", ";"))
    both = (("a.svm", "b.csv"), ("b.csv", "a.svm"), ("a.parquet", "b.csv"), ("b.csv", "a.parquet"))
    for data, test in both:
        told = good("compare", data, "--test", test, *ALGO, "--delimiter", ";", "--label", "label", "--json", "-q").json
        assert told["algorithms"][0]["test"]["error"] == 0.0
    assert "--quote: is for CSV" in fault(2, "compare", "a.svm", "--test", "a.parquet", *ALGO, "--quote", "'")


def test_gaps_matter_to_a_model_of_libsvm_rows_and_not_where_none_is_made(files, good, fault, write):
    """A model of LIBSVM rows reads tables too, and fills their gaps as it was asked to."""
    gaps = write("gaps.csv", "x,z\n,1\n2,\n")
    found = []
    for missing in ("mean", "zero"):
        good("train", "a.svm", *ALGO, "--missing", missing, "-q", "-o", "m.npz")
        found.append(good("predict", "m.npz", gaps, "--scores", "-q").out)
    assert found[0] != found[1]
    for words in (["cv", *ALGO], ["ikt"], ["compare", *ALGO], ["compare", *ALGO, "--test", "a.svm"]):
        assert "--missing: is for gaps in tables" in fault(2, *words, "a.svm", "--missing", "zero")
    good("compare", *ALGO, "a.svm", "--missing", "zero", "-q", "-o", "best.npz")
    good("compare", *ALGO, "a.svm", "--missing", "zero", "-q", "--test", "a.csv", "--label", "label")


@pytest.mark.parametrize("every", ["5min", "100"])
def test_how_often_to_save_says_nothing_without_where(fault, write, every):
    line = fault(2, "train", write("a.svm", SVM), *ALGO, "--checkpoint-every", every)
    assert line.startswith("bigclf: --checkpoint-every: goes with --checkpoint FILE")


def test_how_many_weights_to_show_says_nothing_where_none_are_shown(files, good, fault):
    good("train", "a.svm", *ALGO, "-q", "-o", "m.npz")
    for more in ([], ["--json"]):
        assert fault(2, "info", "m.npz", "--top", "3", *more).startswith("bigclf: --top: goes with --weights")
    rows = "".join(f"{i % 2} " + " ".join(f"{j}:{i % 2 + j}" for j in range(1, 20)) + "\n" for i in range(40))
    (files / "b.svm").write_text(rows)
    good("train", "b.svm", *ALGO, "-q", "-o", "m.npz")
    for more, shown in (([], 10), (["--top", "3"], 3)):
        assert len(good("info", "m.npz", "--weights", *more, "--json").json["weights"]["1"]) == shown


@pytest.mark.parametrize("names", ["1,1", "0,1,+1.0", "0,x,y,x"])
def test_a_class_is_declared_once(files, good, fault, names):
    good("train", "a.svm", *ALGO, "-q", "-o", "m.npz")
    for words in (COMMANDS["train"], COMMANDS["continue"], COMMANDS["compare"], COMMANDS["cv"]):
        line = fault(2, *words, "a.svm", "--classes", names)
        assert line.startswith(f"bigclf: --classes: names class '{'x' if 'x' in names else 1}' twice")
    assert not (files / "n.npz").exists()


THREE = "0 1:1\n1 1:2\n2 1:3\n" * 20


@pytest.mark.parametrize("command", ["train", "compare", "cv"])
def test_there_is_no_positive_class_of_three(fault, folder, write, command):
    write("a.svm", THREE)
    more = ["-o", "n.npz"] if command == "train" else []
    line = fault(1, command, "a.svm", *ALGO, "--positive", "1", *more)
    assert line == "bigclf: --positive: says which of two classes, and there are 3: 0, 1, 2; leave it out"
    assert "there are 3" in fault(
        1, command, write("b.svm", SVM), *ALGO, "--positive", "1", "--classes", "0,1,x", *more
    )
    assert not (folder / "n.npz").exists()


def test_a_third_class_that_comes_late_is_told_to_undo_the_positive_one(good, write, monkeypatch):
    monkeypatch.setattr("bigclf.reading.raw.HEAD_ROWS", 20)
    said = good("train", write("a.svm", SVM + THREE), *ALGO, "--positive", "0")
    assert "--positive says nothing any more: a third class came" in said.err
    assert "--positive" not in good("train", write("a.svm", SVM), *ALGO, "--positive", "0").err
