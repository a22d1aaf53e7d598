"""Mistakes: one line that names the place, the right exit code, and nothing half-written."""

import gzip
import os
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CSV = "y,x1,x2\nno,1,2\nyes,2,1\nno,0,3\nyes,3,0\n"
SVM = "-1 1:1 2:2\n+1 1:2 2:1\n-1 2:3\n+1 1:3\n"


def bash(command):
    env = {**os.environ, "BIGCLF": f"{sys.executable} -m bigclf"}
    return subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, timeout=120, check=False)


# --- wrong usage: 2


@pytest.mark.parametrize(
    "said, options",
    [
        ("--algo", ["--algo", "perceptorn"]),
        ("--algo", ["--algo"]),
        ("--C", ["--algo", "pa-1", "--C", "0"]),
        ("--C", ["--algo", "pa-1", "--C", "-1"]),
        ("--C", ["--algo", "pa-1", "--C", "much"]),
        ("--C", ["--algo", "pa-1", "--C", "nan"]),
        ("--C", ["--algo", "pa-1", "--C", "inf"]),
        ("--C", ["--C", "1"]),
        ("--classes", ["--classes", "nan,0"]),
        ("--average-power", ["--algo", "logistic", "--no-average", "--average-power", "7"]),
        ("--cost", ["--algo", "acog-2", "--cost", "0.5"]),
        ("--diag", ["--algo", "arow", "--cov", "full", "--diag", "drop"]),
        ("no algorithm 'bagging'", ["--algo", "bagging", "--help"]),
        ("--b", ["--algo", "pa-1", "--b", "1"]),
        ("--b", ["--b", "-1"]),
        ("--eta", ["--eta", "0"]),
        ("--solve-every", ["--solve-every", "-1"]),
        ("--solve-every", ["--solve-every", "1.5"]),
        ("--form", ["--form", "x"]),
        ("--passes", ["--passes", "0"]),
        ("--passes", ["--passes", "x"]),
        ("--limit", ["--limit", "0"]),
        ("--block-size", ["--block-size", "63"]),
        ("--block-size", ["--block-size", "2GiB"]),
        ("--block-size", ["--block-size", "much"]),
        ("--scale", ["--scale", "foo"]),
        ("--scale", ["--scale", ""]),
        ("--scale", ["--scale", "std,minmax"]),
        ("--scale", ["--scale", "row-l2,std"]),
        ("--scale", ["--scale", "std,std"]),
        ("--missing", ["--missing", "x"]),
        ("--hash-bits", ["--hash-bits", "0"]),
        ("--hash-bits", ["--hash-bits", "29"]),
        ("--dtype", ["--dtype", "float16"]),
        ("--format", ["--format", "xls"]),
        ("--on-error", ["--on-error", "x"]),
        ("--delimiter", ["--delimiter", ",,"]),
        ("--delimiter", ["--delimiter", ""]),
        ("--decimal", ["--decimal", "x"]),
        ("--decimal", ["--decimal", ","]),
        ("--quote", ["--quote", "ab"]),
        ("--encoding", ["--encoding", "klingon"]),
        ("--labell", ["--labell", "y"]),
        ("--label", ["--label"]),
    ],
)
def test_wrong_options_of_train(fault, write, folder, said, options):
    write("a.csv", CSV)
    label = [] if "--label" in options else ["--label", "y"]
    assert said in fault(2, "train", "a.csv", *label, "-o", "new.npz", *options)
    assert not (folder / "new.npz").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["train"], ["predict"], ["predict", "m.npz"], ["evaluate", "m.npz"], ["check"], ["info"],
        ["trian", "a.csv"], ["info", "m.npz", "--top", "0"], ["check", "a.csv", "--max-errors", "0"],
        ["algos", "nope"], ["algos", "a", "b"], ["predict", "m.npz", "a.csv", "--limit", "-1"],
        ["evaluate", "m.npz", "a.csv", "--block-size", "1"], ["--nope"],
    ],
)  # fmt: skip
def test_wrong_usage(fault, argv):
    assert "--help`" in fault(2, *argv)


def test_an_algorithm_that_there_is_not_is_told_by_the_name_of_the_argument(fault):
    assert fault(2, "algos", "pa-3").startswith("bigclf: NAME: there is no algorithm 'pa-3'; did you mean pa-")


def test_an_option_of_another_algorithm_is_not_taken_silently(good, cli, write):
    """Without --algo, --continue goes by the model: its options are the ones that count, and no others."""
    good("train", write("a.csv", CSV), "--label", "y", "--algo", "pa-1", "--C", "2", "-q")
    assert cli("train", "a.csv", "--continue", "model.npz", "-q", "-o", "b.npz", "--b", "1").code != 0
    assert cli("train", "a.csv", "--continue", "model.npz", "-q", "-o", "b.npz", "--C", "2").code == 0
    assert cli("train", "a.csv", "--continue", "model.npz", "-q", "-o", "b.npz", "--C", "3").code != 0


# --- faults of data: 1


@pytest.mark.parametrize(
    "name, text, place",
    [
        ("e.csv", "", "e.csv: no rows"),
        ("e.svm", "", "e.svm: no rows"),
        ("c.svm", "# only a comment\n\n", "c.svm: no rows"),
        ("h.csv", "x,y\n", "h.csv: no rows"),
        ("a.csv", "x,y\n1,2\n1\n", "a.csv:3"),
        ("a.csv", "x,y\n1,2\n1,2,3\n", "a.csv:3"),
        ("a.csv", "x,y\n1,a\ntwo,b\n", "a.csv:3: column 'x'"),
        ("a.csv", "x,y\n1,a\n2,\n", "a.csv:3: label"),
        ("a.csv", "x,y\n2024-01-01,a\n", "a.csv:2: column 'x'"),
        ("a.csv", "x,y\ninf,a\n", "a.csv:2: column 'x'"),
        ("a.csv", "x,y\n1e999,a\n", "a.csv:2: column 'x'"),
        ("a.csv", "x,z\n1,a\n", "a.csv: no column 'y'; columns are: x, z"),
        ("a.csv", "x,x,y\n1,2,a\n", "a.csv: column 'x' appears twice"),
        ("a.csv", "y,x,y\n1,2,a\n", "a.csv: column 'y' appears twice"),
        ("a.csv", "x;y\n1;a\n", "a.csv"),
        ("a.csv", b"x,y\n\xff\xfe,a\n", "a.csv"),
        ("a.csv", 'x,y\n"1,a\n', "a.csv:2"),
        ("a.csv", "x,y\r1,a\r", "a.csv:1"),
        ("a.svm", "1 1:1\n1 1:x\n", "a.svm:2:5"),
        ("a.svm", "1 1:1\n1 1:\n", "a.svm:2"),
        ("a.svm", "1 1:1\n1 1:1 1:2\n", "a.svm:2"),
        ("a.svm", "1 1:1\n1 -1:2\n", "a.svm:2:3"),
        ("a.svm", "1 1:1\n1 1:nan\n", "a.svm:2:5"),
        ("a.svm", "1 1:1\n1 1:inf\n", "a.svm:2:5"),
        ("a.svm", "1 1:1\n1 1:1e999\n", "a.svm:2:5"),
        ("a.svm", "1 1:1\n1 1:0x10\n", "a.svm:2:5"),
        ("a.svm", "1 1:1\n1,2 1:1\n", "a.svm:2:1"),
        ("a.svm", "1 1:1\n1:1\n", "a.svm:2"),
        ("a.svm", b"1 1:1\n1 1:\x00\n", "a.svm:2"),
        ("a.svm", "1 1:1\n1 5000000000:1\n", "a.svm:2:3: feature index 5000000000"),
        ("a.svm.gz", gzip.compress(SVM.encode() * 999, mtime=0)[:-20], "a.svm.gz"),
        ("a.csv.gz", gzip.compress(CSV.encode() * 999, mtime=0)[:-20], "a.csv.gz"),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0) + b"junk" * 9, "a.csv.gz"),
        ("a.parquet", b"PAR1" + b"junk" * 9, "a.parquet"),
        ("a.csv", "y,x\n" + "".join(f"{k},1\n" for k in range(1001)), "a.csv: more than 1000 classes"),
        ("a.svm", "".join(f"{k} 1:1\n" for k in range(1001)), "a.svm: more than 1000 classes"),
        ("a.csv", "y,x\n" + "".join(f"{k % 2},w{k}\n" for k in range(1500)), "a.csv: column 'x' has 1500 words"),
    ],
)  # fmt: skip
def test_faults_of_data(fault, write, folder, name, text, place):
    """With the place; the old model stays and no new one is written, whether the fault is in the head or not."""
    write(name, text), write("old.npz", "old")
    label = ["--label", "y"] if ".csv" in name else []
    for size in ("64", "4MiB"):
        for output in ("old.npz", "new.npz"):
            line = fault(1, "train", name, *label, "-o", output, "--block-size", size)
            assert line.startswith(f"bigclf: {place}"), line
    assert (folder / "old.npz").read_text() == "old"
    assert sorted(os.listdir()) == sorted([name, "old.npz"])


@pytest.mark.parametrize("algo", ["nr-rls", "perceptron"])
@pytest.mark.parametrize("bad", ["yes,9\n", "yes,oops,1\n"])
def test_faults_after_the_head(fault, write, folder, algo, bad):
    write("a.csv", "y,x1,x2\n" + CSV.split("\n", 1)[1] * 3000 + bad)
    line = fault(1, "train", "a.csv", "--label", "y", "--algo", algo, "-o", "new.npz")
    assert line.startswith("bigclf: a.csv:12002") and os.listdir() == ["a.csv"]


def test_faults_while_predicting(good, fault, write, folder):
    good("train", write("a.csv", CSV), "--label", "y", "-q")
    write("out.txt", "old"), write("b.csv", CSV + "yes,1\n")
    assert "b.csv:6" in fault(1, "predict", "model.npz", "b.csv", "-o", "out.txt")
    assert "b.csv:6" in fault(1, "predict", "model.npz", "b.csv", "-o", "new.txt")
    assert (folder / "out.txt").read_text() == "old" and not (folder / "new.txt").exists()
    assert "b.csv: no columns 'x1', 'x2'" in fault(1, "predict", "model.npz", write("b.csv", "a,b\n1,2\n"))
    assert "e.csv: no rows" in fault(1, "predict", "model.npz", write("e.csv", "x1,x2\n"))
    assert "e.csv: no rows" in fault(1, "evaluate", "model.npz", write("e.csv", "y,x1,x2\n"))
    assert "--proba" in fault(1, "predict", "model.npz", "a.csv", "--proba")


def test_files_that_are_not_there_or_do_not_fit(good, fault, write, folder):
    write("a.csv", CSV), write("a.svm", SVM)
    good("train", "a.csv", "--label", "y", "-q", "-o", "m.npz")
    assert "nope.csv: no such file" in fault(1, "train", "nope.csv")
    assert "nope.csv: no such file" in fault(1, "train", "a.csv", "nope.csv", "--label", "y")
    assert "nope.csv: no such file" in fault(1, "predict", "m.npz", "nope.csv")
    assert "no*.csv: no file matches" in fault(1, "train", "no*.csv")
    assert "a.svm" in fault(1, "train", "a.csv", "a.svm", "--label", "y")
    (folder / "d").mkdir()
    write("d/README", "no data")
    assert "d: no data files" in fault(1, "train", "d")
    assert "m.npz" in fault(1, "train", "m.npz", "-o", "x.npz")
    assert "m.npz" in fault(1, "predict", "m.npz", "m.npz")
    assert "''" in fault(1, "train", "", "-o", "x.npz")


def test_files_that_are_no_models(good, fault, write, folder):
    write("a.csv", CSV)
    np.savez("other.npz", x=np.arange(3))
    np.savez("pickle.npz", header=np.array([{}], dtype=object), allow_pickle=True)
    good("train", "a.csv", "--label", "y", "-q", "-o", "m.npz")
    write("cut.npz", (folder / "m.npz").read_bytes()[:-100]), write("empty.npz", "")
    with zipfile.ZipFile("zip.npz", "w") as z:
        z.writestr("a.txt", "x")
    (folder / "d").mkdir()
    for name in ("a.csv", "other.npz", "pickle.npz", "cut.npz", "empty.npz", "zip.npz", "d", "nope.npz"):
        for argv in (["predict", name, "a.csv"], ["evaluate", name, "a.csv"], ["info", name],
                     ["train", "a.csv", "-o", "x.npz", "--continue", name]):  # fmt: skip
            assert fault(1, *argv).startswith(f"bigclf: {name}: "), argv
    assert "pickle" in fault(1, "info", "pickle.npz") and "holds x" in fault(1, "info", "other.npz")


def test_places_that_cannot_be_written(good, fault, write, folder):
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "m.npz")
    (folder / "d").mkdir()
    for argv in (["train", "a.csv", "--label", "y"], ["predict", "m.npz", "a.csv"]):
        assert "no folder 'none'" in fault(1, *argv, "-o", "none/x")
        assert "a.csv/x" in fault(1, *argv, "-o", "a.csv/x")
        assert fault(1, *argv, "-o", "n" * 300).startswith("bigclf: nnn")
    if os.geteuid():  # root may do all
        os.chmod("d", 0o555)
        os.chmod("a.csv", 0)
        assert "d/x" in fault(1, "train", "a.csv", "--label", "y", "-o", "d/x")
        assert "a.csv: cannot be opened" in fault(1, "predict", "m.npz", "a.csv")


@pytest.mark.parametrize("argv", [["train", "a.csv", "--label", "y"], ["predict", "m.npz", "a.csv"]])
def test_output_that_is_a_folder(good, fault, write, folder, argv):
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "m.npz")
    (folder / "d").mkdir()
    assert "d: is a folder" in fault(1, *argv, "-o", "d")


@pytest.mark.parametrize(
    "argv",
    [["train", "a.csv", "--label", "y", "-o", "a.csv"], ["predict", "m.npz", "a.csv", "-o", "m.npz"],
     ["predict", "m.npz", "a.csv", "-o", "./a.csv"]],
)  # fmt: skip
def test_inputs_are_not_overwritten(good, cli, write, folder, argv):
    """-o that names an input, or the model of predict, is a slip that would destroy data."""
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "m.npz")
    before = [(folder / name).read_bytes() for name in ("a.csv", "m.npz")]
    assert cli(*argv).code != 0
    assert [(folder / name).read_bytes() for name in ("a.csv", "m.npz")] == before


def test_a_model_is_not_renamed_over_a_special_file(cli, write, folder):
    """As root, a rename would replace /dev/null itself; a pipe of our own stands for it here."""
    write("a.csv", CSV)
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").read_bytes, daemon=True).start()
    cli("train", "a.csv", "--label", "y", "-q", "-o", "pipe")
    assert stat.S_ISFIFO(os.stat("pipe").st_mode), "the pipe was replaced by a file"


def test_a_link_is_followed(good, write, folder):
    """-o that is a link to a file elsewhere writes there, as a shell's > would."""
    write("a.csv", CSV), write("real/m.npz", "old")
    os.symlink("real/m.npz", "link.npz")
    good("train", "a.csv", "--label", "y", "-q", "-o", "link.npz")
    assert (folder / "link.npz").is_symlink() and (folder / "real/m.npz").read_bytes()[:2] == b"PK"


def test_predict_into_a_pipe(good, write):
    good("train", write("a.csv", CSV), "--label", "y", "-q")
    os.mkfifo("pipe")
    got = []
    thread = threading.Thread(target=lambda: got.append(Path("pipe").read_text()))
    thread.start()
    good("predict", "model.npz", "a.csv", "-q", "-o", "pipe")
    thread.join(30)
    assert got == ["no\nyes\nno\nyes\n"]


@pytest.mark.parametrize(
    "command, code",
    [
        ("$BIGCLF train - -q < a.svm", 0),
        ("cat a.csv | $BIGCLF predict m.npz /dev/stdin --format csv -q", 0),
        ("cat a.csv | $BIGCLF predict m.npz /dev/stdin -q", 0),
        ("printf '' | $BIGCLF train - -q", 1),
        ("$BIGCLF train - - -q < a.svm", 2),
        ("$BIGCLF predict m.npz a.csv -q > /dev/full", 1),
        ("$BIGCLF train - -q <&-", 1),
        ("$BIGCLF predict m.npz a.csv -q >&-", 1),
    ],
)
def test_streams_of_a_process(good, write, command, code):
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "m.npz")
    write("a.svm", SVM)
    said = bash(command)
    assert said.returncode == code and "Traceback" not in said.stderr, said
    assert len(said.stderr.splitlines()) == (code > 0), said


def test_a_named_pipe_as_input(good, write):
    good("train", write("a.csv", CSV), "--label", "y", "-q", "-o", "m.npz")
    said = bash("mkfifo p; cat a.csv > p & timeout 8 $BIGCLF predict m.npz p --format csv -q; e=$?; kill %1; exit $e")
    assert (said.returncode, said.stdout) == (0, "no\nyes\nno\nyes\n")


# --- going on with what does not fit


@pytest.mark.parametrize(
    "options",
    [
        ["--algo", "arow"], ["--algo", "pa-1"], ["--scale", "none"], ["--dtype", "float64"], ["--no-bias"],
        ["--hash-bits", "4"], ["--missing", "zero"], ["--positive", "no"], ["--label", "x1"],
        ["--ignore", "x1"], ["--categorical", "x1"], ["--classes", "no,yes,maybe"],
    ],
)  # fmt: skip
def test_continue_refuses_what_contradicts_the_model(good, fault, write, folder, options):
    good("train", write("a.csv", CSV), "--label", "y", "--algo", "perceptron", "-q", "-o", "p.npz")
    old = (folder / "p.npz").read_bytes()
    line = fault(1, "train", "a.csv", "--continue", "p.npz", "-o", "p.npz", *options)
    assert "perceptron" in line or options[-2 if len(options) > 1 else 0] in line
    assert "True" not in line and "None" not in line, "values are told as they are spelled on the command line"
    assert (folder / "p.npz").read_bytes() == old


def test_continue_tells_in_words_what_the_model_was_trained_without(fault, good, write):
    """No such value can be given: --hash-bits 0 is none, and a map has only its own options."""
    train = ["train", write("a.csv", CSV), "--label", "y", "--algo", "perceptron", "-q", "-o"]
    good(*train, "p.npz")
    good(*train, "poly.npz", "--features", "poly")
    for model, option, value in (
        ("p.npz", "--hash-bits", "4"),
        ("p.npz", "--rff-dim", "500"),
        ("p.npz", "--sigma", "2"),
        ("p.npz", "--order", "3"),
        ("p.npz", "--max-features", "9"),
        ("poly.npz", "--rff-dim", "500"),
    ):
        line = fault(1, "train", "a.csv", "--continue", model, option, value)
        shown = "2.0" if option == "--sigma" else value
        assert line == f"bigclf: {model}: was trained without {option}, not with {option} {shown}"
    line = fault(1, "train", "a.csv", "--continue", "poly.npz", "--order", "3")
    assert line == "bigclf: poly.npz: was trained with --order 2, not with --order 3"


def test_continue_refuses_other_parameters_and_columns(good, fault, write):
    good("train", write("a.csv", CSV), "--label", "y", "--algo", "pa-1", "--C", "2", "-q", "-o", "p.npz")
    line = fault(1, "train", "a.csv", "--algo", "pa-1", "--C", "3", "--continue", "p.npz")
    assert "--C 2" in line and "3" in line
    assert "no columns 'x1', 'x2'" in fault(1, "train", write("b.csv", "y,z\nno,1\n"), "--continue", "p.npz")


def test_positive_must_be_a_class(fault, write):
    write("a.csv", CSV)
    assert "no, yes" in fault(1, "train", "a.csv", "--label", "y", "--positive", "maybe", "-o", "x.npz")


# --- skipping


def test_all_rows_skipped(fault, write, folder):
    """Not one row is left: a fault that says so, and no model."""
    for name, text, more in (("a.svm", "1 1:x\n1 1:y\n", []), ("a.csv", "y,x\n,1\n,2\n", ["--label", "y"])):
        line = fault(1, "train", write(name, text), *more, "--on-error", "skip", "-o", "new.npz")
        assert name in line and "skip" in line and not (folder / "new.npz").exists()


def test_first_ten_faults_are_told(good, write):
    said = good("train", write("a.svm", SVM + "1 1:x\n" * 15), "--on-error", "skip", "--json")
    assert said.json["skipped"] == 15 and said.json["rows"] == 4 and "15 bad rows" in said.err
    assert said.err.count("bigclf:   a.svm:") == 10


# --- numbers at the end of their range


@pytest.mark.parametrize("algo", ["nr-rls", "perceptron", "arow", "pa-1"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [1e30, 1e160, 1.7e308])
def test_huge_values_are_refused_or_learned(cli, good, write, algo, dtype, value):
    """One line that names the value, or a model whose scores are numbers: never a trace, a warning or nan."""
    write("a.csv", "y,a,b\n" + f"0,{value},1\n1,{-value},2\n0,{value / 2},1\n1,{-value / 3},3\n" * 3)
    said = cli("train", "a.csv", "--label", "y", "--algo", algo, "--dtype", dtype, "-q", "-o", "m.npz")
    if said.code:
        assert said.code == 1 and said.err.startswith("bigclf: a.csv") and said.err.count("\n") == 1, said
        return
    assert said.err == ""
    out = good("predict", "m.npz", "a.csv", "--scores", "-q")
    values = [float(line.split("\t")[1]) for line in out.lines]
    assert np.isfinite(values).all()


@pytest.mark.parametrize("algo", ["nr-rls", "perceptron", "arow", "pa-1"])
def test_huge_values_without_scaling(cli, good, write, algo):
    write("a.svm", "1 1:1e200 2:1\n-1 1:-1e200\n1 1:3e200 2:1\n")
    said = cli("train", "a.svm", "--algo", algo, "--dtype", "float64", "--scale", "none", "-q", "-o", "m.npz")
    if said.code:
        assert said.code == 1 and said.err.startswith("bigclf: ") and said.err.count("\n") == 1, said
        return
    assert said.err == ""
    assert not {"nan", "inf", "-inf"} & set(good("predict", "m.npz", "a.svm", "--scores", "-q").out.split())


def test_advice_can_be_followed(good, cli, write):
    """predict cannot change the type of its model, and has no such option."""
    good("train", write("a.csv", CSV), "--label", "y", "-q")
    said = cli("predict", "model.npz", write("b.csv", "x1,x2\n1e300,1\n"), "-q")
    assert "--dtype" not in said.err


# --- shapes at the end of their range


def test_small_and_odd_tables(good, write):
    for text, rows, features in (
        ("y,x\na,1\n", 1, 1),
        ("y,x\na,\nb,NA\n", 2, 1),
        ("y,x\na,5\nb,5\n", 2, 1),
        ("y,x\n\na,1\n\n\nb,2\n\n", 2, 1),
        ("y" + "".join(f",c{k}" for k in range(1500)) + "\na" + ",1" * 1500 + "\nb" + ",2" * 1500 + "\n", 2, 1500),
    ):
        said = good("train", write("a.csv", text), "--label", "y", "--algo", "pa-1", "--json")
        assert (said.json["rows"], said.json["features"]) == (rows, features)
        assert "Warning" not in said.err and len(good("predict", "model.npz", "a.csv", "-q").lines) == rows
    only = good("train", write("a.svm", "1\n1\n"))
    assert "only one class" in only.err and good("predict", "model.npz", "a.svm", "-q").lines == ["1", "1"]


def test_a_table_of_labels_alone_is_refused(fault, write):
    for more in ([], ["--hash-bits", "3"]):
        line = fault(1, "train", write("a.csv", "y\na\nb\n"), "--label", "y", *more)
        assert "a.csv" in line and "no column beside the label" in line


def test_parquet_labels_that_are_missing(good, fault, folder):
    for k, y in enumerate(([0.0, float("nan"), 1.0], pa.array([0, None, 1]))):
        pq.write_table(pa.table({"y": y, "x": [1, 2, 3]}), folder / f"{k}.parquet")
        assert f"{k}.parquet: row group 1, row 2: label" in fault(1, "train", f"{k}.parquet", "--label", "y")
        said = good("train", f"{k}.parquet", "--label", "y", "--on-error", "skip", "--json")
        assert said.json["rows"] == 2 and said.json["skipped"] == 1 and said.json["classes"] == ["0", "1"]


@pytest.mark.parametrize("algo", ["perceptron", "nr-rls"])
def test_many_late_classes_do_not_take_for_ever(good, write, algo):
    """Two classes in the head, then 500 more: about a second; with a cubic cost it took minutes."""
    import time

    write("a.svm", "1 1:1\n2 1:2\n" * 5001 + "".join(f"{k} 1:{k}\n" for k in range(3, 503)))
    begun = time.monotonic()
    good("train", "a.svm", "--algo", algo, "-q")
    assert time.monotonic() - begun < 20.0


def test_one_unknown_word_names_encoding_of_utf16(fault, write):
    """UTF-16 is what spreadsheets write: latin1 would not help."""
    line = fault(1, "train", write("a.csv", CSV.encode("utf-16")), "--label", "y", "-o", "x.npz")
    assert "utf-16" in line


def test_a_model_does_not_go_to_standard_output(fault, write, folder):
    """A file of that name would be left, and nothing written to the pipe."""
    write("a.svm", SVM)
    assert "-: standard output" in fault(1, "train", "a.svm", "-o", "-")
    assert not (folder / "-").exists()
