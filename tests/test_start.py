"""The start under a limit on the address space: one line, in time, and settings that must come first."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from bigclf import start
from bigclf.errors import BudgetError, Stopped

KINDS = ("model", "libsvm", "packed", "csv", "tsv", "words", "parquet")


@pytest.fixture
def limited(monkeypatch):
    """Pretends a limit in MiB; nothing was asked for before."""
    monkeypatch.setattr(start, "_asked", [])
    monkeypatch.setattr(start, "_cap", [])

    def put(mib):
        monkeypatch.setattr(start, "limit", lambda: None if mib is None else mib << 20)

    return put


@pytest.mark.parametrize("kind", KINDS)
def test_below_the_floor_is_refused_in_one_line(limited, kind):
    floor = start.floor("csv" if kind == "tsv" else kind)
    limited(floor)
    start.require(kind)
    limited(floor - 1)
    with pytest.raises(
        BudgetError, match=f"address space limit is {floor - 1} MiB, at least {floor} MiB is needed to "
    ):
        start.require(kind)


def test_csv_of_words_must_fit_the_budget(limited):
    limited(None)
    start.cap(180 << 20)
    start.require("csv")
    with pytest.raises(BudgetError, match="--budget is 180 MiB, at least 200 MiB is needed to read CSV of more than"):
        start.require("words")
    start.cap(200 << 20)
    start.require("words")


def test_the_kind_that_needs_most_is_named(limited):
    limited(256)
    with pytest.raises(BudgetError, match=r"needed to read CSV; raise ulimit -v$"):
        start.require("libsvm", "csv")


def test_compiling_needs_more(limited):
    limited(start.floor("libsvm"))
    start.compiling()  # nothing was asked for: somebody else's process
    start.require("libsvm")
    with pytest.raises(
        BudgetError, match="at least 485 MiB is needed to read LIBSVM the first time, while kernels are"
    ):
        start.compiling()
    limited(start.floor("libsvm", compiling=True))
    start.compiling()


def test_compiling_must_fit_the_budget(limited):
    limited(None)
    start.require("libsvm")
    start.cap(272 << 20)
    start.compiling()
    start.cap(200 << 20)
    with pytest.raises(BudgetError, match="--budget is 200 MiB, at least 272 MiB is needed the first time"):
        start.compiling()


def test_without_a_limit_nothing_is_refused(limited):
    limited(None)
    start.require(*KINDS)
    start.compiling()


def test_floors_stay_below_the_promises():
    assert start.floor("libsvm") <= 448 and start.floor("libsvm", compiling=True) <= 512
    assert start.floor("csv") <= 448 and start.floor("csv", compiling=True) <= 512
    assert max(start.floor("words", True), start.floor("parquet", True)) <= 560


def child(code, mib=None):
    cap = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({mib} << 20, {mib} << 20));" if mib else ""
    return subprocess.run([sys.executable, "-c", cap + code], capture_output=True, text=True, timeout=60, check=False)


SHOW = (
    "import os; from bigclf import start; start._one_arena = lambda: print('one arena'); start.prepare();"
    "print(os.environ['OPENBLAS_NUM_THREADS'], os.environ.get('ARROW_IO_THREADS'), start.limit())"
)


def test_settings_by_the_limit(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS", "MALLOC_ARENA_MAX"):
        monkeypatch.delenv(name, raising=False)
    assert child(SHOW).stdout.split() == ["1", "None", "None"]
    assert child(SHOW, 300).stdout.split() == ["one", "arena", "1", "1", str(300 << 20)]
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    monkeypatch.setenv("ARROW_IO_THREADS", "3")
    assert child(SHOW, 300).stdout.split() == ["1", "3", str(300 << 20)]


def test_the_start_imports_nothing_heavy():
    code = (
        "import sys; from bigclf import start; start.prepare(); print({'numpy', 'numba', 'typer'} & set(sys.modules))"
    )
    assert child(code, 100).stdout.strip() == "set()"


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS binds on Linux")
@pytest.mark.parametrize("mib", [100, 180, 256, 350, 399])
def test_a_low_limit_is_one_line_at_once(tmp_path, mib):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bigclf", "train", str(tmp_path / "a.svm"), "-o", str(tmp_path / "m.npz")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert time.monotonic() - began < 5
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert done.stderr == (
        f"bigclf: address space limit is {mib} MiB, at least 400 MiB is needed to read LIBSVM; raise ulimit -v\n"
    )
    assert not (tmp_path / "m.npz").exists()


def test_a_signal_that_was_swallowed_before_the_run_began_stops_it(monkeypatch):
    """It comes while a kernel is loaded: what a handler raises in a callback of a compiled library is lost."""
    from bigclf.training.interrupt import Interrupt, Stop

    with pytest.raises(Stopped):
        start.on_signal(2)
    with Interrupt() as interrupt, pytest.raises(Stop) as stop:
        interrupt.check()
    assert stop.value.number == 2
    assert start.arrived() == 0


def test_only_stops_are_not_told_as_lost(capsys):
    class Unraisable:
        exc_type, exc_value, exc_traceback, err_msg, object = Stopped, None, None, None, None

    start.lost(Unraisable)
    assert capsys.readouterr().err == ""


def test_it_is_said_once_when_kernels_are_compiled_and_not_when_they_are_there(tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1\n1 1:2\n" * 9)
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "bigclf", "train", "a.svm", "--algo", "perceptron"]

    def run(*more):
        return subprocess.run([*words, *more], cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stderr

    line = "bigclf: compiling, once for each version: it takes some seconds\n"
    first, second = run(), run()
    assert first.count("compiling") == 1 and line in first and "compiling" not in second
    assert run("--dtype", "float64", "-q") == ""


@pytest.mark.parametrize("after", [0.0, 0.7, 1.9])
def test_a_signal_while_kernels_are_compiled_waits_for_the_one_at_hand(tmp_path, after):
    (tmp_path / "a.svm").write_text("0 1:1\n1 1:2\n" * 9)
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "bigclf", "train", "a.svm", "--algo", "vfdt"]
    with subprocess.Popen(words, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline()
        assert "compiling" in line, line
        time.sleep(after)
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) in (0, 143) and "Traceback" not in rest, rest
    assert process.returncode == 0 or "terminated" in rest or "row" in rest, rest


def test_the_first_signal_comes_when_the_step_is_over_and_a_second_at_once():
    came = []
    old = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        start.begin_unbroken()
        start.begin_unbroken()
        start.on_signal(signal.SIGTERM)
        with pytest.raises(Stopped):
            start.on_signal(signal.SIGTERM)
        assert start.arrived() == signal.SIGTERM
        start.end_unbroken()
        assert came == []
        start.end_unbroken()
        assert came == [signal.SIGTERM]
        with pytest.raises(Stopped):
            start.on_signal(signal.SIGTERM)
        assert start.arrived() == signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, old)


@pytest.mark.parametrize("kind", ["nbc", "nbi"])
@pytest.mark.parametrize("size", [0, 300])
def test_kernels_whose_files_were_cut_short_are_compiled_again(tmp_path, kind, size):
    (tmp_path / "a.svm").write_text("0 1:1\n1 1:2\n" * 9)
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "bigclf", "train", "a.svm", "--algo", "perceptron", "-o", "m.npz"]

    def run():
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr, (tmp_path / "m.npz").read_bytes()

    model = run()[1]
    for file in (tmp_path / "cache").rglob(f"*.{kind}"):
        os.truncate(file, size)
    said, again = run()
    assert "compiling" in said and again == model
    said, again = run()
    assert "compiling" not in said and again == model


LOADED = """
import sys
from bigclf.cli.main import main
import bigclf.jit
before = set(sys.modules)
assert main(sys.argv[1:]) == 0
print(*(m for m in sorted(set(sys.modules) - before) if m.startswith("numba.")))
"""


@pytest.mark.parametrize("algo", ["nr-rls", "pa-1", "arow", "logistic", "perceptron", "hgd", "vfdt", "gnb"])
def test_a_kernel_that_was_compiled_before_loads_no_more_of_numba(tmp_path, algo):
    """A kernel brings along the modules of all that is compiled into it: `np.zeros`, an array written into a slice,
    `reshape` or `x in (1, 2)` would make it the slowest part of a start."""
    (tmp_path / "a.svm").write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 3} 3:{i % 5}\n" for i in range(50)))
    (tmp_path / "wide.svm").write_text("".join(f"{i % 2} {i + 1}:1 {i + 60}:2\n" for i in range(50)))
    (tmp_path / "a.csv").write_text("label,x,y\n" + "".join(f"{i % 2},{i % 7},{i % 3}\n" for i in range(50)))
    for file in ("a.svm", "a.csv", *(["wide.svm"] if algo not in ("nr-rls", "vfdt") else [])):
        for words in (
            ["train", file, "--algo", algo, "-q", "-o", "m.npz"],
            ["predict", "m.npz", file, "-q", "-o", "p"],
        ):
            for _ in range(2):  # the first time it may be compiled
                done = subprocess.run(
                    [sys.executable, "-c", LOADED, *words], cwd=tmp_path, capture_output=True, text=True
                )
                assert done.returncode == 0, done.stderr
            assert done.stdout.split() == [], words


def test_an_interrupt_while_the_program_is_loaded_is_one_line(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 1:2\n")
    told = set()
    for wait in (0.06, 0.1, 0.15, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-m", "bigclf", "train", "a.svm"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        told.add("Traceback" in said and "bigclf/cli" in said)
    assert told == {False}


def test_what_loads_kernels_is_given_back_once_a_process(monkeypatch):
    """A shuffled run opens a stream for each of its many parts."""
    from bigclf import jit

    given = []
    monkeypatch.setattr(start, "shed", lambda: given.append(1))
    jit.warm_up.cache_clear()
    for _ in range(3):
        jit.warm_up()
    assert len(given) == 1
