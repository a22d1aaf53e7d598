"""An interrupted run goes on from its checkpoint and ends with the same bytes as one that was never interrupted."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bigclf.cli.main import main
from bigclf.model import load
from bigclf.training.interrupt import Interrupt, Stop

ROWS = 5000
ALGORITHMS = ("pa-1", "arow", "nr-rls", "ls", "perceptron")


def table(rows=ROWS, seed=3):
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((rows, 6)), 4)
    X[r.random((rows, 6)) < 0.3] = 0
    y = (X[:, 0] + 0.4 * r.standard_normal(rows) > 0.2).astype(int)
    y[3500:][r.random(rows - 3500) < 0.1] = 2  # a class that is born late
    return X, y


def svm_lines(X, y):
    late = {4100: " 40:1.5", 4600: " 50:2"}  # and two columns
    for i, (x, t) in enumerate(zip(X, y)):
        yield f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1) if v) + late.get(i, "") + "\n"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The same rows in every format and compression; LIBSVM also with bad rows and in two files."""
    folder = tmp_path_factory.mktemp("inputs")
    X, y = table()
    lines = list(svm_lines(X, y))
    text = "".join(lines).encode()
    bad = "".join(line if i % 997 else "1 1:x\n" + line for i, line in enumerate(lines)).encode()
    (folder / "a.svm").write_bytes(text)
    (folder / "bad.svm").write_bytes(bad)
    (folder / "huge.svm").write_text("".join(line if i % 997 else "1 2:1e39\n" + line for i, line in enumerate(lines)))
    thin = [f"{t} {i % 50 + 1}:{x[0]:g} {i % 50 + 60}:{x[1]:g}\n" for i, (x, t) in enumerate(zip(X, y))]
    (folder / "thin.svm").write_text("".join(line if i % 997 else "1 2:1e39\n" + line for i, line in enumerate(thin)))
    (folder / "a.svm.gz").write_bytes(gzip.compress(text))
    (folder / "a.svm.bz2").write_bytes(bz2.compress(text))
    (folder / "a.svm.xz").write_bytes(lzma.compress(text))
    (folder / "a.svm.zst").write_bytes(pa.Codec("zstd").compress(text, asbytes=True))
    (folder / "1.svm").write_text("".join(lines[:1700]))
    (folder / "2.svm").write_text("".join(lines[1700:]))
    columns = {f"c{j}": [None if v == 0 and i % 50 == 0 else v for i, v in enumerate(X[:, j])] for j in range(6)}
    columns["word"] = [f"w{i % 5}" for i in range(ROWS)]
    columns["label"] = y
    data = pa.table(columns)
    pyarrow.csv.write_csv(data, folder / "a.csv")
    (folder / "a.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    pyarrow.parquet.write_table(data, folder / "a.parquet", row_group_size=700)
    columns["c1"] = [v if (i + 1) % 997 else 1e39 for i, v in enumerate(X[:, 1])]
    pyarrow.csv.write_csv(pa.table(columns), folder / "huge.csv")
    return folder


def cut_after(monkeypatch, looks):
    """Let the run be interrupted at the given look for a signal."""
    left = [looks]

    def check(self):
        left[0] -= 1
        if left[0] == 0:
            raise Stop(signal.SIGINT, at_once=False)

    monkeypatch.setattr(Interrupt, "check", check)


def run(*words):
    return main(["train", *map(str, words), "-q"])


CASES = [
    *((f, a, []) for f in ("a.svm", "a.csv", "a.parquet") for a in ALGORITHMS),
    *((f, "pa-1", []) for f in ("a.svm.gz", "a.svm.bz2", "a.svm.xz", "a.svm.zst", "a.csv.gz")),
    ("1.svm 2.svm", "arow", []),
    ("bad.svm", "nr-rls", ["--on-error", "skip"]),
    ("bad.svm", "pa-1", ["--on-error", "skip"]),
    *((f, "pa-1", ["--on-error", "skip"]) for f in ("huge.svm", "thin.svm", "huge.csv")),
    *((f, "pa-1", ["--on-error", "skip", "--shuffle", "block"]) for f in ("bad.svm", "huge.svm", "thin.svm")),
    ("thin.svm", "nr-rls", ["--on-error", "skip", "--passes", "2"]),
    ("a.svm", "pa-2", ["--passes", "3"]),
    ("a.svm", "pa-2", ["--passes", "2", "--shuffle", "block", "--seed", "5"]),
    ("a.csv", "arow", ["--missing", "skip"]),
    *((f, "pa-1", ["--missing", "error", "--on-error", "skip"]) for f in ("a.csv", "a.parquet")),
    ("a.csv", "nr-rls", ["--hash-bits", "5"]),
    ("a.svm", "nr-rls", ["--limit", "4321"]),
    ("a.svm", "perceptron", ["--shard", "2/3"]),
]


@pytest.mark.parametrize(("files", "algo", "more"), CASES, ids=lambda v: " ".join(v) if isinstance(v, list) else v)
def test_resumed_run_ends_with_the_same_bytes(files, algo, more, inputs, tmp_path, monkeypatch, capsys):
    data = [inputs / f for f in files.split()]
    size = ["--block-size", "9000"]
    assert run(*data, "--algo", algo, *more, *size, "-o", tmp_path / "whole.npz", "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    r = np.random.default_rng(len(files) + len(algo) + len(more))
    cuts = 0
    for looks in sorted({1, 2, *r.integers(2, 30, 3).tolist()}):
        ck, out = tmp_path / "ck.npz", tmp_path / "out.npz"
        with monkeypatch.context() as m:
            cut_after(m, looks)
            code = run(*data, "--algo", algo, *more, *size, "-o", out, "--checkpoint", ck)
        if code == 0:  # it was over before
            continue
        assert code == 130
        assert not out.exists()
        cuts += 1
        with monkeypatch.context() as m:  # interrupted once more, with other blocks
            cut_after(m, 2)
            again = run(*data, "--resume", ck, "--checkpoint", ck, "--block-size", "30000")
        assert again in (0, 130)
        if again == 130:
            assert run(*data, "--resume", ck, "--json") == 0
            told = json.loads(capsys.readouterr().out)
            for key in ("rows", "skipped", "missing", "counts", "progressive", "features", "classes"):
                assert told[key] == whole[key], key
        assert out.read_bytes() == (tmp_path / "whole.npz").read_bytes(), looks
        out.unlink()
    assert cuts


def test_columns_that_come_after_the_head_outlive_an_interrupt_anywhere(tmp_path, monkeypatch):
    """The first one makes room for more than itself; the others fit into that, in the same block."""
    late = {10500: " 101:1", 10600: " 105:2.5", 10700: " 106:-1", 11900: " 0:1"}
    X = np.random.default_rng(0).standard_normal((12_000, 2))
    rows = [f"{int(a > 0)} 1:{a:.3f} 2:{b:.3f}" + (" 100:1" if i % 50 == 0 else "") for i, (a, b) in enumerate(X)]
    (tmp_path / "a.svm").write_text("".join(f"{row}{late.get(i, '')}\n" for i, row in enumerate(rows)))
    words = [tmp_path / "a.svm", "--algo", "pa-1", "-o"]
    assert run(*words, tmp_path / "whole.npz") == 0
    stood = []
    while True:
        with monkeypatch.context() as m:
            cut_after(m, len(stood) + 1)
            if run(*words, tmp_path / "m.npz") == 0:
                break
        checkpoint = load(tmp_path / "m.ck.npz")
        stood.append((checkpoint.run["row"], checkpoint.schema.used))
        assert run(tmp_path / "a.svm", "--resume", tmp_path / "m.ck.npz") == 0
        assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes(), stood
    assert (10_500, 102) in stood and {used for row, used in stood if row > 10_700} == {108}
    assert load(tmp_path / "whole.npz").schema.count() == 107  # index 0 is one of them


def test_checkpoint_is_a_model_too(inputs, tmp_path, monkeypatch, capsys):
    cut_after(monkeypatch, 3)
    assert run(inputs / "a.svm", "-o", tmp_path / "m.npz", "--block-size", "9000") == 130
    said = capsys.readouterr().err
    assert "--resume" in said and "m.ck.npz" in said and said.count("\n") == 1
    assert main(["predict", str(tmp_path / "m.ck.npz"), str(inputs / "a.svm"), "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == ROWS


def test_the_command_that_is_told_works(inputs, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as m:
        cut_after(m, 3)
        assert run(inputs / "a.svm", "-o", tmp_path / "a model.npz", "--block-size", "9000") == 130
    command = capsys.readouterr().err.split("go on with: ")[1]
    import shlex

    assert main(shlex.split(command)[1:]) == 0
    assert (tmp_path / "a model.npz").exists()


def test_checkpoints_by_rows_are_whole_and_good(inputs, tmp_path, monkeypatch):
    words = [inputs / "a.svm", "--algo", "arow", "--block-size", "9000"]
    assert (
        run(*words, "-o", tmp_path / "whole.npz", "--checkpoint", tmp_path / "ck.npz", "--checkpoint-every", 700) == 0
    )
    assert run(inputs / "a.svm", "--resume", tmp_path / "ck.npz", "-o", tmp_path / "again.npz") == 0
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.write_bytes(p.read_bytes() + b"1 1:1\n"), "bytes"),
        (lambda p: os.utime(p, (1, 1)), "written"),
        (lambda p: p.unlink(), "no such file"),
    ],
)
def test_a_changed_or_missing_input_is_named(change, words, inputs, tmp_path, monkeypatch, capsys):
    (tmp_path / "a.svm").write_bytes((inputs / "a.svm").read_bytes())
    with monkeypatch.context() as m:
        cut_after(m, 3)
        assert run(tmp_path / "a.svm", "-o", tmp_path / "m.npz", "--block-size", "9000") == 130
    capsys.readouterr()
    change(tmp_path / "a.svm")
    assert run(tmp_path / "a.svm", "--resume", tmp_path / "m.ck.npz") == 1
    said = capsys.readouterr().err
    assert "a.svm" in said and words in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--algo", "arow"], 1, "arow"),
        (["--passes", "4"], 1, "--passes"),
        (["--limit", "10"], 1, "--limit"),
        (["--continue", "m.ck.npz"], 2, "--continue"),
        (["--scale", "std"], 1, "--scale"),
    ],
)
def test_resume_refuses_what_contradicts_the_run(more, code, words, inputs, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as m:
        cut_after(m, 3)
        assert run(inputs / "a.svm", "--algo", "pa-1", "-o", tmp_path / "m.npz", "--block-size", "9000") == 130
    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    assert run(inputs / "a.svm", "--resume", "m.ck.npz", *more) == code
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize(("had", "asked"), [(3, 2), (3, 4), (3, 1), (1, 2)])
def test_passes_are_those_the_run_began_with(had, asked, inputs, tmp_path, monkeypatch, capsys):
    """Its steps do not depend on them, but what is left to do does; more can be had with --continue."""
    words, ck = [inputs / "a.svm", "--algo", "pa-1", "-o", tmp_path / "m.npz"], tmp_path / "m.ck.npz"
    with monkeypatch.context() as m:
        cut_after(m, 3)
        assert run(*words, "--passes", had, "--block-size", "9000") == 130
    capsys.readouterr()
    assert run(inputs / "a.svm", "--resume", ck, "--passes", asked) == 1
    said = f"bigclf: {ck}: the run went with --passes {had}; leave --passes out, or start anew without --resume\n"
    assert capsys.readouterr().err == said
    assert run(inputs / "a.svm", "--resume", ck, "--passes", had) == 0
    assert load(tmp_path / "m.npz").passes == had


def test_passes_left_out_by_an_exact_learner_are_left_out_again(inputs, tmp_path, monkeypatch, capsys):
    """Who repeats the words of the first command is not told that they were others."""
    with monkeypatch.context() as m:
        cut_after(m, 3)
        assert run(inputs / "a.svm", "--passes", 3, "-o", tmp_path / "m.npz", "--block-size", "9000") == 130
    capsys.readouterr()
    assert main(["train", str(inputs / "a.svm"), "--resume", str(tmp_path / "m.ck.npz"), "--passes", "3"]) == 0
    assert "nr-rls is exact after one pass; the other 2 are left out\n" in capsys.readouterr().err


def test_a_run_that_has_ended_is_not_resumed_for_more_passes(inputs, tmp_path, capsys):
    assert run(inputs / "a.svm", "--algo", "pa-1", "-o", tmp_path / "m.npz") == 0
    assert run(inputs / "a.svm", "--resume", tmp_path / "m.npz", "--passes", 2) == 1
    said = "is a model and no checkpoint; --continue goes on from it with new rows\n"
    assert capsys.readouterr().err == f"bigclf: {tmp_path / 'm.npz'}: {said}"


def test_a_bad_row_far_down_does_not_cost_the_work(inputs, tmp_path, capsys):
    """With --checkpoint the rows before it are kept, and the run can go on without it."""
    text = "".join(svm_lines(*table())) * 3  # longer than the head
    late = tmp_path / "late.svm"
    late.write_text(text + "1 1:x\n" + "1 1:2\n")
    words = [late, "--algo", "arow", "--block-size", "9000"]
    assert run(*words, "-o", tmp_path / "m.npz", "--checkpoint", tmp_path / "ck.npz") == 1
    said = capsys.readouterr().err
    assert "late.svm:15001:5" in said and "--resume" in said and "ck.npz" in said and said.count("\n") == 1
    assert not (tmp_path / "m.npz").exists()
    assert run(late, "--resume", tmp_path / "ck.npz", "--on-error", "skip", "--json") == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 1
    assert run(*words, "--on-error", "skip", "-o", tmp_path / "whole.npz") == 0
    assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


def test_a_model_is_no_checkpoint(inputs, tmp_path, capsys):
    assert run(inputs / "a.svm", "-o", tmp_path / "m.npz") == 0
    assert run(inputs / "a.svm", "--resume", tmp_path / "m.npz") == 1
    assert "--continue" in capsys.readouterr().err
    assert main(["train", "-", "--resume", str(tmp_path / "m.npz")]) == 2


def wait_for(path, process):
    """Until the file is there, which the process should make within a minute."""
    end = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


def started(*words, stdin=None):
    return subprocess.Popen(
        [sys.executable, "-m", "bigclf", "train", *map(str, words)], stdin=stdin, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_of_a_process(number, code, inputs, tmp_path):
    p = started(
        inputs / "a.svm",
        "--algo",
        "pa-1",
        "--passes",
        1_000_000,
        "-o",
        tmp_path / "m.npz",
        "--log-file",
        tmp_path / "log",
    )
    wait_for(tmp_path / "log", p)
    time.sleep(0.5)
    p.send_signal(number)
    _, err = p.communicate(timeout=30)
    assert p.returncode == code
    assert "m.ck.npz" in err and "Traceback" not in err
    assert (tmp_path / "m.ck.npz").exists()
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_signal_reaches_a_run_that_waits_for_a_pipe(tmp_path, inputs):
    p = started(
        "-",
        "--format",
        "libsvm",
        "--algo",
        "pa-1",
        "-o",
        tmp_path / "m.npz",
        "--log-file",
        tmp_path / "log",
        stdin=subprocess.PIPE,
    )
    text = (inputs / "a.svm").read_text() * 40
    p.stdin.write(text)
    p.stdin.flush()  # and then nothing more comes
    wait_for(tmp_path / "log", p)
    time.sleep(1)
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=20) == 130
    err = p.stderr.read()
    assert "--continue" in err and (tmp_path / "m.ck.npz").exists()
