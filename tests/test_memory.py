"""Memory in the large: peaks of whole processes under --budget and `ulimit -v`, and growth that is stopped in time."""

import re
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from bigclf import start
from bigclf.cli import session
from bigclf.limits import RESERVE, Headroom, Limit
from bigclf.model import load
from bigclf.training import fit

MIB = 1 << 20
PART = 16 * MIB  # bytes of the smaller file; the larger one has five times its rows
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and binds addresses")

# ru_maxrss would begin with the size of the process that started this one
CHILD = """
import sys
from bigclf import start
start.prepare()
from bigclf.cli.main import main
code = main(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(code)
"""


def peak(*words):
    """Largest resident size of a process with these arguments, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, words)], capture_output=True, text=True, timeout=120, check=True
    )
    return int(done.stderr.split()[-1]) / 1024


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Dense and sparse rows, once and five times: 16 and 80 MiB."""
    folder = tmp_path_factory.mktemp("files")
    r = np.random.default_rng(2)
    kinds = {
        "dense": [" ".join(f"{j}:{v:.3f}" for j, v in enumerate(x, 1)) for x in r.standard_normal((2000, 30))],
        "sparse": [" ".join(f"{j}:1.5" for j in sorted(set(x))) for x in r.integers(1, 20_000, (4000, 20)).tolist()],
    }
    for kind, rows in kinds.items():
        text = "".join(f"{i % 2} {row}\n" for i, row in enumerate(rows)).encode()
        for times in (1, 5):
            with open(folder / f"{kind}{times}.svm", "wb") as f:
                for _ in range(times * PART // len(text)):
                    f.write(text)
    yield folder
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("kind", "algo", "budget"),
    [("dense", "nr-rls", 288), ("dense", "arow", 288), ("sparse", "pa-1", 288), ("sparse", "arow", 400)],
)
def test_the_peak_stays_below_the_budget_and_does_not_grow_with_the_rows(kind, algo, budget, files, tmp_path):
    def least(times):
        words = ["train", files / f"{kind}{times}.svm", "--algo", algo, "--budget", f"{budget}MiB"]
        return min(peak(*words, "-o", tmp_path / "m.npz", "-q") for _ in range(2))

    once, five = least(1), least(5)
    print(f"{kind} {algo}: {once:.1f} MiB, five times the rows {five:.1f} MiB, budget {budget} MiB")
    assert five < budget
    assert five < once + 10


def test_the_peak_of_predict(files, tmp_path):
    peak("train", files / "dense1.svm", "--algo", "nr-rls", "-o", tmp_path / "m.npz", "-q")
    words = ["--budget", "288MiB", "-o", tmp_path / "p", "--scores", "-q"]
    once, five = (
        min(peak("predict", tmp_path / "m.npz", files / f"dense{n}.svm", *words) for _ in range(2)) for n in (1, 5)
    )
    print(f"predict: {once:.1f} MiB, five times the rows {five:.1f} MiB")
    assert five < 288 and five < once + 10


def limited(mib, *words):
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bigclf", *map(str, words)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done, time.monotonic() - began


@pytest.mark.parametrize("algo", ["pa-1", "nr-rls"])
def test_a_limit_of_addresses_at_the_floor_suffices(algo, files, tmp_path):
    words = ["train", files / "dense1.svm", "--algo", algo, "-o", tmp_path / "m.npz", "-q"]
    peak(*words)  # compiles
    done, _ = limited(start.floor("libsvm"), *words)
    assert done.returncode == 0 and done.stderr == "", done
    done, _ = limited(start.floor("libsvm"), "predict", tmp_path / "m.npz", files / "dense1.svm", "-q")
    assert done.returncode == 0 and done.stderr == "", done


@pytest.mark.parametrize("mib", [64, 120, 200, 300, start.floor("libsvm") - 1])
@pytest.mark.parametrize("command", ["train", "predict"])
def test_a_limit_below_the_floor_is_one_line_at_once(command, mib, files, tmp_path):
    words = ["train"] if command == "train" else ["predict", tmp_path / "none.npz"]
    done, seconds = limited(mib, *words, files / "dense1.svm", "-o", tmp_path / "out")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "ulimit -v" in done.stderr, done
    assert seconds < 5
    assert list(tmp_path.iterdir()) == []


# growth


def rooms(monkeypatch, plenty):
    """The first `plenty` questions are answered with much room, later ones with none."""
    asked = []

    def headroom(budget=None):
        asked.append(1)
        free = 4096 * MIB if len(asked) <= plenty else RESERVE
        return Headroom((Limit("--budget", 4200 * MIB, free),), 100 * MIB)

    monkeypatch.setattr(fit, "headroom", headroom)


def lines(late):
    """12,000 plain rows, the last 2,000 behind the head; and 300 that are late."""
    plain = [f"{i % 2} {1 + i % 7}:1.5 {10 + i % 5}:{i % 3 + 1}\n" for i in range(12_000)]
    return "".join(plain + [late(i) for i in range(300)])


LATE = {
    "columns": lambda i: f"{i % 2} 1:1 {20 + 7 * i}:1\n",
    "classes": lambda i: f"new{i % 60} {1 + i % 7}:1.5\n",
}


@pytest.mark.parametrize("what", LATE)
@pytest.mark.parametrize("algo", [("nr-rls",), ("ls",), ("arow", "--cov", "full"), ("pa-1",)], ids=lambda a: a[0])
def test_growth_beyond_memory_saves_the_model_of_the_rows_before(what, algo, fault, good, write, folder, monkeypatch):
    """It is the model of a run that was limited to these rows."""
    write("g.svm", lines(LATE[what]))
    with monkeypatch.context() as m:
        rooms(m, plenty=1)
        said = fault(1, "train", "g.svm", "--algo", *algo, "-o", "got.npz", "-q")
    assert (
        " needs " in said
        and "; 0 bytes are left of --budget 4.1 GiB; " in said
        and re.search("try |raise --budget", said)
        and "saved as got.npz" in said
    )
    got = load(folder / "got.npz")
    assert 12_000 <= got.rows < 12_020 and f" {got.rows:,} rows before" in said
    good("train", "g.svm", "--algo", *algo, "--limit", got.rows, "-o", "want.npz", "-q")
    want = load(folder / "want.npz")
    assert got.counts == want.counts and got.schema.classes == want.schema.classes
    assert got.schema.used == want.schema.used
    for name, a in want.state._asdict().items():
        assert np.array_equal(a, getattr(got.state, name)), name
    for name in ("got", "want"):
        good("predict", f"{name}.npz", "g.svm", "-o", f"{name}.txt", "-q")
    assert (folder / "got.txt").read_bytes() == (folder / "want.txt").read_bytes()
    assert got.next_row == want.next_row  # whoever goes on with the rows that follow gets their numbers


@pytest.mark.parametrize("algo", ["pa-1", "nr-rls"])
def test_the_saved_model_goes_on_when_there_is_room_again(algo, fault, good, write, folder, monkeypatch):
    text = lines(LATE["columns"])
    write("g.svm", text)
    good("train", "g.svm", "--algo", algo, "-o", "whole.npz", "-q")
    with monkeypatch.context() as m:
        rooms(m, plenty=1)
        fault(1, "train", "g.svm", "--algo", algo, "-o", "half.npz", "-q")
    write("rest.svm", "".join(text.splitlines(keepends=True)[load(folder / "half.npz").rows :]))
    good("train", "rest.svm", "--continue", "half.npz", "-o", "again.npz", "-q")
    a, b = load(folder / "whole.npz"), load(folder / "again.npz")
    assert a.rows == b.rows == 12_300 and a.schema.used == b.schema.used
    assert np.allclose(a.state.w[:, : a.schema.used], b.state.w[:, : a.schema.used], rtol=1e-6, atol=1e-9)


def test_a_late_column_beyond_what_memory_allows_is_growth_too(fault, write, folder, monkeypatch):
    """The largest column follows from free memory: it is the memory's limit that ends the run."""
    write("g.svm", lines(lambda i: f"{i % 2} {5_000 * (i + 1)}:1\n"))
    monkeypatch.setattr(session, "max_column", lambda room: 100_000)
    said = fault(1, "train", "g.svm", "--algo", "pa-1", "-o", "got.npz", "-q")
    assert "--hash-bits" in said
    assert load(folder / "got.npz").rows == 12_019


def test_a_first_block_that_does_not_fit_saves_nothing(fault, write, folder, monkeypatch):
    write("g.svm", lines(LATE["columns"]))
    (folder / "m.npz").write_text("old")
    rooms(monkeypatch, plenty=0)
    said = fault(1, "train", "g.svm", "--algo", "arow", "--cov", "full", "--hash-bits", 8, "-o", "m.npz", "-q")
    assert " needs " in said and (folder / "m.npz").read_text() == "old"


def test_a_full_disk_where_the_model_of_a_grown_run_goes(fault, write, monkeypatch):
    write("g.svm", lines(LATE["columns"]))
    rooms(monkeypatch, plenty=1)
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    said = fault(1, "train", "g.svm", "--algo", "pa-1", "-o", "got.npz", "-q")
    assert "No space left" in said and "got.npz" in said


# allocations


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_block_allocates_as_much_as_the_one_before_and_leaves_nothing(kind, files):
    """Counts of bytes do not drift as seconds do: what a block of text costs is held here."""
    import tracemalloc

    from bigclf.reading.encode import Encoder
    from bigclf.reading.head import Wishes, collect, make_schema
    from bigclf.reading.options import ReadOptions
    from bigclf.reading.source import find
    from bigclf.reading.stream import Stream

    size = 1 << 16
    stream = Stream(find([str(files / f"{kind}5.svm")]), ReadOptions(block_size=size, threads=1))
    head, rest = collect(iter(stream))
    encoder = Encoder(make_schema(head, None, Wishes(), stream.notices), stream.skips)
    del head
    for _, raw in zip(range(3), rest):
        list(encoder.blocks(raw))
    tracemalloc.start()
    try:
        held, peaks = [], []
        for _, raw in zip(range(20), rest):
            for block in encoder.blocks(raw):
                pass
            peaks.append(tracemalloc.get_traced_memory()[1])
            del raw, block
            held.append(tracemalloc.get_traced_memory()[0])
            tracemalloc.reset_peak()
    finally:
        tracemalloc.stop()
    print(f"{kind}: at most {max(peaks) / size:.1f} bytes for a byte of text; held {min(held)} to {max(held)}")
    assert len(held) == 20 and max(held[1:]) - min(held[1:]) < size // 4
    assert max(peaks) < 8 * size
