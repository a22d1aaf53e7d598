"""bigclf doctor: what it says of the machine, what it finds wrong, and that --warm leaves nothing to compile."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from bigclf import start
from bigclf.cli import doctoring


def doctor(*words, home, before=None):
    env = os.environ | {"XDG_CACHE_HOME": str(home)}
    argv = [sys.executable, "-m", "bigclf", *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, preexec_fn=before, check=False)


def test_it_tells_versions_limits_processors_and_kernels(tmp_path):
    done = doctor("doctor", "--json", home=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    told = json.loads(done.stdout)
    assert set(told["packages"]) == {"numpy", "numba", "pyarrow", "psutil", "typer", "rich"}
    assert all(told["packages"].values()) and told["problems"] == []
    assert 1 <= told["processors"]["usable"] <= told["processors"]["machine"]
    assert told["memory"]["may_take"] > 256 << 20 and "free memory" in {x["name"] for x in told["memory"]["limits"]}
    assert Path(told["kernels"]["folder"]).parent == tmp_path / "bigclf" and told["kernels"]["compiled"] == 0


def test_what_is_warm_is_not_compiled_again(tmp_path):
    done = doctor("doctor", "--warm", "--algo", "perceptron", home=tmp_path / "cache")
    assert done.returncode == 0 and "perceptron: " in done.stderr and "kernels are compiled" in done.stdout
    for name, rows in {
        "a.svm": "0 1:1 2:2\n1 1:2\n" * 20,
        "b.svm": "0 1:1 50:2\n1 90:2\n" * 20,
        "a.csv": "label,a,b\n" + "0,1,2.5\n1,2,3\n" * 20,
    }.items():
        (tmp_path / name).write_text(rows)
        words = ["train", str(tmp_path / name), "--algo", "perceptron", "-o", str(tmp_path / "m.npz")]
        for argv in (words, ["evaluate", str(tmp_path / "m.npz"), str(tmp_path / name)]):
            done = doctor(*argv, home=tmp_path / "cache")
            assert done.returncode == 0 and "compiling" not in done.stderr, (name, done)


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path):
    (tmp_path / "file").write_text("")
    done = doctor("doctor", home=tmp_path / "file")
    assert done.returncode == 1
    assert [line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if line.startswith("kernels")] == [
        "cannot be kept"
    ]
    assert "bigclf: compiled kernels cannot be kept" in done.stderr and "XDG_CACHE_HOME" in done.stderr


def test_a_limit_of_addresses_that_is_too_low_for_one_format_is_a_problem(tmp_path):
    mib = (start.floor("libsvm") + start.floor("parquet")) // 2
    before = lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))  # noqa: E731
    done = doctor("doctor", home=tmp_path, before=before)
    assert done.returncode == 1 and f"ulimit -v is {mib} MiB, and parquet needs" in done.stderr
    assert "libsvm" not in done.stderr


def test_extras_are_told_with_what_brings_them(monkeypatch, capsys):
    monkeypatch.setattr(doctoring, "_extras", lambda: {"one": {"a": "1.0"}, "two": {"b": None, "c": "2"}})
    monkeypatch.setattr(doctoring, "_problems", lambda facts: iter(()))
    doctoring.run(False, [], False, True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines if line.startswith("extra")] == [
        "is there",
        "lacks b: pip install 'bigclf[two]'",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--algo", "perceptron"], "--algo: goes with --warm"),
        (["--warm", "--algo", "none-such"], "--algo: there is no algorithm 'none-such'"),
    ],
)
def test_wrong_usage(fault, words, line):
    assert line in fault(2, "doctor", *words)


@pytest.mark.parametrize(("code", "wanted"), [(130, 130), (143, 143), (1, 1), (2, 2)])
def test_how_a_run_of_warm_ends_is_how_the_doctor_ends(cli, monkeypatch, code, wanted):
    import bigclf.cli.main as application

    monkeypatch.setattr(application, "main", lambda argv: print("bigclf: what it was") or code)
    said = cli("doctor", "--warm", "--algo", "perceptron", "-q")
    assert said.code == wanted and "Traceback" not in said.err
    assert ("--warm: perceptron: what it was" in said.err) == (code < 128)
