"""Several threads parse LIBSVM: no result depends on how many, and how many there are depends on what there is."""

from __future__ import annotations

import gzip
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reads import libsvm_rows, put, rows_of

from bigclf import cpus
from bigclf.cli.main import main
from bigclf.errors import DataError
from bigclf.limits import Headroom, Limit, Roots
from bigclf.reading import libsvm, pool, raw
from bigclf.reading.options import BLOCK_SIZE, ReadOptions, text_size
from bigclf.reading.pool import Pool, window
from bigclf.reading.raw import Skips
from bigclf.reading.source import find
from bigclf.training.threads import MOST, parsers

MIB = 1 << 20


def everything(paths, threads, size, stop=False, until=None):
    """All that a reader gives and tells; the error that ends it last."""
    skips, notices, rows, places = Skips(stop, keep=1000), Counter(), [], []
    end = None
    try:
        reader = libsvm.read(
            find(paths, "libsvm"), ReadOptions(block_size=size, threads=threads), skips, notices, until=until
        )
        for r in reader:
            rows += [(*row, r.head) for row in rows_of(r)]
            places.append((r.at, r.label.names[: 1 + max(r.label.code)]))
    except DataError as e:
        end = str(e)
    return rows, places, [str(f) for f in skips.faults], skips.rows, skips.read, notices, end


LINE = st.one_of(
    st.builds(
        lambda label, x, y: f"{label} 1:{x} 7:{y} # c",
        st.sampled_from(["ab", "c", "d", "+1", "-1", "1.0", "a-long-label"]),
        st.integers(-9, 9),
        st.floats(-1e3, 1e3),
    ),
    st.sampled_from(
        ["", "# c", "1 qid:3 2:1", "1 2:x", "1 2:1 2:1", "x\x00y 1:1", "1 1:0.30000000000000001665334536937"]
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(LINE, min_size=1, max_size=60),
    size=st.integers(7, 300),
    cut=st.integers(0, 60),
    stop=st.booleans(),
    until=st.none() | st.integers(1, 60),
    head=st.integers(1, 10),
)
@example(lines=["1 1:1"] * 9 + ["1 2:x"] + ["2 1:1"] * 9, size=7, cut=3, stop=True, until=9, head=2)
def test_any_number_of_threads_gives_the_same(tmp_path_factory, monkeypatch, lines, size, cut, stop, until, head):
    """Rows, places, labels in order, cursors, faults, notices, and what ends the read; over two files."""
    monkeypatch.setattr(raw, "HEAD_ROWS", head)
    folder = tmp_path_factory.mktemp("t")
    paths = [str(folder / name) for name in ("a.svm", "b.svm")]
    for path, part in zip(paths, (lines[:cut], lines[cut:]), strict=True):
        Path(path).write_text("\n".join(part))
    one = everything(paths, 1, size, stop, until)
    for threads in (2, 3):
        assert everything(paths, threads, size, stop, until) == one


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of several blocks behind its head, which is short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(raw, "HEAD_ROWS", 10)
    return put("a.svm", libsvm_rows(3000, (700, 701, 2500)))


def test_helpers_do_a_part_of_the_work(file):
    """Else nothing here would be a test of them."""
    seen = set()
    for r in libsvm.read(find([file], "libsvm"), ReadOptions(block_size=4096, threads=3), Skips(False)):
        seen |= {t.name for t in threading.enumerate()}
        assert sum(t.name == "parser" for t in threading.enumerate()) <= 2
        del r
    assert "parser" in seen
    assert not any(t.name == "parser" for t in threading.enumerate())


def test_the_first_fault_of_the_text_ends_the_run_whoever_finds_it(file):
    for threads in (1, 2, 3):
        rows, *_, end = everything([file], threads, 512, stop=True)
        assert len(rows) == 700 and end.startswith("a.svm:") and end.endswith("'x700' is not a number")


def test_what_cannot_be_read_is_told_when_all_rows_before_it_were_given_out(file):
    packed = gzip.compress(Path(file).read_bytes())
    Path("b.svm.gz").write_bytes(packed[: len(packed) // 2])
    one = everything(["b.svm.gz"], 1, 512)
    assert "end too early after row" in one[-1]
    for threads in (2, 3):
        assert everything(["b.svm.gz"], threads, 512) == one


@pytest.mark.parametrize("more", [["--on-error", "skip"], ["--on-error", "skip", "--limit", "900"], []])
@pytest.mark.parametrize("algo", ["pa-1", "nr-rls"])
def test_models_and_messages_are_the_same(file, more, algo, capsys):
    told = set()
    for threads in ("1", "2", "3"):
        for size in ("300", "4KiB"):
            how = ["--threads", threads, "--block-size", size, "--progress", "none", "-o", "m.npz"]
            code = main(["train", file, "--algo", algo, *more, *how])
            written = Path("m.npz").read_bytes() if code == 0 else b""
            told.add(
                (code, written, "".join(line for line in capsys.readouterr().err.splitlines() if "rows/s" not in line))
            )
    assert len(told) == 1


def sleeper(n):
    time.sleep(0.001 * (n % 5))
    if n == 17:
        raise ValueError(n)
    return 2 * n


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_results_come_in_order_and_errors_in_their_place(helpers):
    work = Pool(sleeper, lambda: sleeper, helpers)
    got = []
    with pytest.raises(ValueError, match="17"):
        for n in range(40):
            work.give(n)
            if len(work) == 4:
                got.append(work.take())
    assert got == [2 * n for n in range(17)]
    work.close()


def test_where_no_thread_can_be_started_the_caller_does_it_all(monkeypatch):
    def full(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(pool.threading.Thread, "start", full)
    work = Pool(sleeper, lambda: sleeper, 2)
    for n in range(3):
        work.give(n)
    assert work.wait() == [0, 2, 4] == [work.take() for _ in range(3)]


def room(free):
    return Headroom((Limit("--budget", free, free),), 0)


def test_short_of_memory_fewer_threads_parse():
    assert parsers(room(4096 * MIB), "libsvm", 4, None) == 4
    assert parsers(room(200 * MIB), "libsvm", 4, None) < 4
    assert parsers(room(100 * MIB), "libsvm", 4, None) == 1
    assert parsers(room(4096 * MIB), "csv", 4, None) == 1
    assert parsers(room(600 * MIB), "libsvm", 2, 64 * MIB) == 1
    assert parsers(room(4096 * MIB), "libsvm", None, None) == min(MOST, cpus.usable())


def test_more_threads_need_more_for_blocks_of_one_size_and_little_more_for_their_share():
    from bigclf.reading.ahead import IN_FLIGHT
    from bigclf.training.budget import DENSE_TEXT, BlockNeed

    need = {n: BlockNeed("libsvm", DENSE_TEXT["libsvm"], flight=IN_FLIGHT, threads=n) for n in (1, 2, 8)}
    assert need[2].bytes(BLOCK_SIZE) > 1.5 * need[1].bytes(BLOCK_SIZE)
    shares = {n: need[n].bytes(text_size(n)) for n in need}
    assert shares[8] < shares[1] < shares[2] < 1.25 * shares[1]
    assert (window(1), window(2)) == (1, 3)


def test_processors_are_those_of_affinity_and_quota(tmp_path):
    def quota(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return cpus.usable(Roots(tmp_path / "proc", tmp_path / "cgroup"), affinity=8)

    assert quota() == 8
    assert cpus.usable() >= 1
    assert quota(proc__self__cgroup="0::/a/b\n") == 8
    assert quota(**{"cgroup__a__b__cpu.max": "max 100000\n"}) == 8
    assert quota(**{"cgroup__a__cpu.max": "350000 100000\n"}) == 3
    assert quota(**{"cgroup__a__b__cpu.max": "50000 100000\n"}) == 1
    (tmp_path / "proc/self/cgroup").write_text("4:cpu,cpuacct:/x\n")
    assert quota(**{"cgroup__cpu__x__cpu.cfs_quota_us": "-1\n", "cgroup__cpu__x__cpu.cfs_period_us": "100000\n"}) == 8
    assert quota(**{"cgroup__cpu__x__cpu.cfs_quota_us": "200000\n"}) == 2
