"""Full disks, kills, unreadable inputs, growth beyond memory and signals: one line each, and no file is ever half."""

import bz2
import errno
import gzip
import inspect
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from bigclf import model as mf
from bigclf.cli.main import main
from bigclf.reading.stored import Stored
from bigclf.training.interrupt import Interrupt

KILLS = 100 if os.environ.get("BIGCLF_SLOW") == "1" else 15
FULL_COV = ("--algo", "arow", "--cov", "full", "--block-size", "64k", "-q")
PA = ("--algo", "pa-1", "-q")
SPACE = 48 << 10
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """wide.svm (its full covariance is larger than the disks here), a.svm, and a small model of it."""
    folder = tmp_path_factory.mktemp("given")
    X = np.round(np.random.default_rng(0).standard_normal((600, 120)), 3)
    rows = [f"{int(x[0] > 0)} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1)) + "\n" for x in X]
    (folder / "wide.svm").write_text("".join(rows))
    (folder / "a.svm").write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 3}.5 3:{i % 2}\n" for i in range(12_000)))
    for model, data, words in (("big.npz", "wide.svm", FULL_COV), ("old.npz", "a.svm", PA)):
        assert main(["train", str(folder / data), *words, "-o", str(folder / model)]) == 0
    return folder


def call(*words, before=None, **more):
    words = [sys.executable, "-m", "bigclf", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run(words, **pipes, text=True, timeout=60, preexec_fn=before, check=False)


def one_line(done, part, code=1):
    assert done.returncode == code, done
    assert done.stderr.startswith("bigclf: ") and done.stderr.count("\n") == 1 and part in done.stderr, done.stderr


def mounted(folder, *words):
    """Mount there until the test is over; skips where that is not allowed."""
    folder.mkdir(exist_ok=True)
    may = sys.platform == "linux" and os.geteuid() == 0
    if not may or subprocess.run(["mount", *words, folder], capture_output=True).returncode:
        pytest.skip("only root can mount, and only where the container lets it")
    return lambda: subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(params=["limited", "tmpfs"])
def disk(request, tmp_path):
    """A folder that takes little, and what the child must do for that."""
    folder = tmp_path / "disk"
    if request.param == "tmpfs":
        request.addfinalizer(mounted(folder, "-t", "tmpfs", "-o", f"size={SPACE}", "tmpfs"))
        return folder, None
    folder.mkdir()
    return folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, SPACE))


def test_a_full_disk_leaves_the_old_model(disk, given, tmp_path):
    folder, before = disk
    old = (given / "old.npz").read_bytes()
    (folder / "m.npz").write_bytes(old)
    words = ["-o", folder / "m.npz"]
    one_line(call("train", given / "wide.svm", *FULL_COV, *words, before=before), f"{folder / 'm.npz'}: ")
    assert (folder / "m.npz").read_bytes() == old
    assert os.listdir(folder) == ["m.npz"] and os.listdir(tmp_path) == ["disk"]


def test_a_disk_full_of_checkpoints_is_warned_of_once_and_the_run_goes_on(disk, given, tmp_path):
    """Where the model can be written nothing is lost; where it cannot, that ends the run with a fault of its own."""
    folder, before = disk
    old = (given / "old.npz").read_bytes()
    (folder / "ck.npz").write_bytes(old)
    words = ["-o", tmp_path / "m.npz", "--checkpoint", folder / "ck.npz", "--checkpoint-every", 100]
    done = call("train", given / "wide.svm", *FULL_COV, *words, before=before)
    warned, *more = done.stderr.splitlines()
    assert warned.startswith(f"bigclf: {folder / 'ck.npz'}: cannot be written: ") and "the run goes on" in warned
    assert (folder / "ck.npz").read_bytes() == old and os.listdir(folder) == ["ck.npz"]
    if before is None:
        assert (done.returncode, more) == (0, [])
        assert (tmp_path / "m.npz").read_bytes() == (given / "big.npz").read_bytes()
    else:
        assert done.returncode == 1 and len(more) == 1 and f"{tmp_path / 'm.npz'}: cannot be written" in more[0]
        assert os.listdir(tmp_path) == ["disk"]


@pytest.fixture
def room(monkeypatch):
    """How often a model file may be written before the disk is full, and how often it is full then."""
    left, inner = {"good": 0, "full": 0}, mf.write_arrays

    def write_arrays(*given):
        kind = next((k for k in left if left[k]), "good")
        left[kind] -= 1
        if kind == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        inner(*given)

    monkeypatch.setattr(mf, "write_arrays", write_arrays)
    return left


def test_checkpoints_are_tried_again_when_the_next_one_is_due(room, given, good, folder):
    room |= {"good": 1, "full": 2}
    words = ["--checkpoint", "ck.npz", "--checkpoint-every", 2000, "--block-size", "8k"]
    said = good("train", given / "a.svm", *PA, "-o", "m.npz", *words).err.splitlines()
    assert said == [
        "bigclf: ck.npz: cannot be written: No space left on device; "
        "the run goes on without this checkpoint and tries again when the next one is due",
        "bigclf: ck.npz: checkpoints can be written again",
    ]
    assert (folder / "m.npz").read_bytes() == (given / "old.npz").read_bytes()
    good("train", given / "a.svm", "--resume", "ck.npz", "-o", "again.npz", "-q")
    assert (folder / "again.npz").read_bytes() == (given / "old.npz").read_bytes()


def test_a_checkpoint_that_ends_a_run_must_be_written(room, given, write, fault, folder, monkeypatch):
    """What ended it is told too."""
    room |= {"full": 9}
    write("b.svm", (given / "a.svm").read_text() + "1 1:x\n")
    words = ["train", "b.svm", *PA, "-o", "m.npz", "--checkpoint", "ck.npz"]
    full = "ck.npz: cannot be written: No space left on device"
    said = fault(1, *words)
    assert said.startswith("bigclf: b.svm:12001:5: ") and said.endswith(f"; {full}")
    inner, looks = Interrupt.check, []

    def check(self):
        looks.append(1)
        if len(looks) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        inner(self)

    monkeypatch.setattr(Interrupt, "check", check)
    said = fault(1, *words)
    assert said.startswith("bigclf: interrupted at row ") and said.endswith(f"; {full}")
    assert os.listdir(folder) == ["b.svm"]


def test_a_full_disk_leaves_the_old_predictions(disk, given):
    folder, before = disk
    (folder / "p").write_text("old\n")
    words = ["predict", given / "old.npz", given / "a.svm", "--scores", "-q"]
    one_line(call(*words, "-o", folder / "p", before=before), f"{folder / 'p'}: cannot be written")
    assert (folder / "p").read_text() == "old\n" and os.listdir(folder) == ["p"]
    with open(folder / "q", "w") as out:
        one_line(call(*words, before=before, stdout=out), "standard output: ")


@FULL
@pytest.mark.parametrize("words", ["predict old.npz a.svm -q", "info old.npz --json", "algos"])
def test_a_full_standard_output_is_one_line(words, given):
    with open("/dev/full", "w") as out:
        one_line(call(*words.split(), cwd=given, stdout=out), "standard output: No space left on device")


def test_a_log_that_cannot_be_written_is_named(disk, given, tmp_path):
    folder, before = disk
    (folder / "log").write_bytes(b"\n" * SPACE)
    done = call("train", given / "a.svm", *PA, "--log-file", folder / "log", "-o", tmp_path / "m", before=before)
    one_line(done, str(folder / "log"), code=done.returncode)


@FULL
def test_a_full_standard_error_does_not_end_a_run(given, tmp_path):
    with open("/dev/full", "w") as err:
        done = call("train", given / "a.svm", "--algo", "pa-1", "-o", tmp_path / "m.npz", stderr=err)
    assert (tmp_path / "m.npz").exists() and done.returncode == 0


def nameless(pid, folder):
    """The files without a name that a process writes there; a kill leaves nothing of them."""
    from contextlib import suppress
    from pathlib import Path

    found = []
    for fd in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):  # closed by now
            name = str(fd.readlink())
            found += [fd] if name.startswith(f"{folder}/#") and name.endswith(" (deleted)") else []
    return found


LIVES = """
import json, os, random, signal, sys, time
from bigclf import start
start.prepare()
from bigclf.cli.main import main
from bigclf.model import load
from pathlib import Path
kills, data = int(sys.argv[1]), sys.argv[2]
def saving():  # whether the child has begun a file that is not there under its own name yet
    return bool(nameless(child, os.getcwd()) or list(Path().glob(".*.tmp")))
words = ["train", data, *"--algo arow --cov full --block-size 16k -q --passes".split(), str(8 * kills)]
resume = ["train", data, *"--resume ck.npz -o m.npz -q".split()]
keep = "--checkpoint ck.npz --checkpoint-every 1 -o m.npz".split()
assert main([*words, "-o", "whole.npz"]) == 0
whole = Path("whole.npz").read_bytes()
Path("m.npz").write_bytes(whole[::-1])
half = at = left = held = 0
for life in range(kills):
    began = os.stat("ck.npz").st_ino if life else 0
    child = os.fork()
    if not child:
        os._exit(main([*(resume if life else words), *keep]))
    while not os.path.exists("ck.npz") or os.stat("ck.npz").st_ino == began:
        assert not os.waitpid(child, os.WNOHANG)[0], "ended before it saved"
    end = time.monotonic() + (random.random() * 0.03 if life % 2 else 0.1)
    while time.monotonic() < end and (life % 2 or not saving()):  # every other one: in mid-file
        pass
    os.kill(child, signal.SIGSTOP)
    os.waitpid(child, os.WUNTRACED)
    half += saving()
    held += len(nameless(child, os.getcwd()))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    left += len(list(Path().glob(".*.tmp")))
    [path.unlink() for path in Path().glob(".*.tmp")]
    run = load(Path("ck.npz")).run
    assert run["base"] + run["row"] >= at, "an older checkpoint than before"
    at = run["base"] + run["row"]
    assert Path("m.npz").read_bytes() == whole[::-1], "the model is not what it was"
assert main(resume) == 0 and Path("m.npz").read_bytes() == whole, "the last life ends with other bytes"
print(json.dumps({"kills": kills, "in the middle of a file": half, "nameless": held, "left": left, "rows": at}))
"""


def test_a_kill_while_saving_leaves_a_whole_file_that_goes_on_to_the_same_bytes(given, tmp_path):
    """Every life goes on from the checkpoint of the one killed before it; the last one ends the run."""
    words = [sys.executable, "-c", inspect.getsource(nameless) + LIVES, str(KILLS), given / "wide.svm"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    print(done.stdout)
    told = json.loads(done.stdout)
    assert told["in the middle of a file"] > 0
    if told["nameless"]:
        assert told["left"] <= KILLS // 3, "it has a name for an instant only, before it takes the old one's place"


@pytest.mark.parametrize("without", ["O_TMPFILE", "link"])
def test_where_files_need_a_name_or_links_are_refused_the_model_is_written_too(
    without, given, good, folder, monkeypatch
):
    def refused(*given, **more):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if without == "link":
        monkeypatch.setattr(os, "link", refused)
    else:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    for _ in range(2):
        good("train", given / "a.svm", *PA, "-o", "m.npz")
    assert (folder / "m.npz").read_bytes() == (given / "old.npz").read_bytes() and os.listdir(folder) == ["m.npz"]


# places that cannot be written to, and inputs that fail or change


@pytest.mark.parametrize("option", ["-o", "--checkpoint", "--log-file", "predict"])
@pytest.mark.parametrize("place", ["nowhere/x", "old/x", "sub", "n" * 300, "ro/x"], ids=lambda p: p[:9])
def test_a_place_that_cannot_be_written_to_is_refused_before_reading(
    option, place, given, fault, folder, monkeypatch, request
):
    monkeypatch.setattr(Stored, "readinto", None)  # reading anything but the first bytes ends in a trace
    (folder / "old").write_text("a file")
    (folder / "sub").mkdir()
    if place == "ro/x":
        (folder / "ro").mkdir(0o555)
        if not os.geteuid():
            request.addfinalizer(mounted(folder / "ro", "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs"))
    words = ["predict", given / "old.npz"] if option == "predict" else ["train"]
    words += ["-o", "fine.npz", option] if option.startswith("--") else ["-o"]
    assert place in fault(1, *words, place, given / "a.svm")


@pytest.mark.parametrize("name", ["n" * 255, "模" * 83 + ".npz"], ids=["ascii", "chinese"])
def test_a_name_as_long_as_the_system_allows_works(name, given, good, folder):
    good("train", given / "a.svm", *PA, "-o", name)
    assert (folder / name).exists()


def eio(_):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


CHANGES = {
    "eio": eio,
    "shrinks": lambda path: os.truncate(path, path.stat().st_size // 2),
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"1 1:1 2:2\n"),
    "is rewritten": lambda path: path.write_bytes(path.read_bytes()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("command", ["train", "predict"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gz", "bz2", "xz"])
def test_an_input_that_fails_or_changes_while_it_is_read(pack, command, change, given, fault, folder, monkeypatch):
    packed = pack("".join(f"{i % 2} 1:{i * 7919 % 10007} 2:{i * 104729 % 9973}\n" for i in range(12_000)).encode())
    (folder / "b.svm").write_bytes(packed)
    (folder / "m.npz").write_bytes((given / "old.npz").read_bytes())
    inner, seen, done = Stored.readinto, [0], []

    def readinto(self, buffer):
        if seen[0] > len(packed) * 4 // 5 and not done:
            done.append(1)
            CHANGES[change](folder / "b.svm")
        n = inner(self, memoryview(buffer)[:4096])
        seen[0] += n
        return n

    monkeypatch.setattr(Stored, "readinto", readinto)
    more = ["--algo", "pa-1", "-o", "m.npz"] if command == "train" else ["m.npz", "-o", "p"]
    said = fault(1, command, *more, "b.svm", "--block-size", "8k", "-q")
    assert (folder / "m.npz").read_bytes() == (given / "old.npz").read_bytes() and not (folder / "p").exists()
    if change == "eio":
        assert "b.svm: cannot be read after row " in said and said.endswith(": Input/output error")
        assert pack is bz2.compress or int(said.split("row ")[1].split(":")[0]) > 1000  # bz2: one block holds them all
    else:
        assert "b.svm: " in said and ("while it was read" in said or (pack is not bytes and "compressed data" in said))


# signals

PLACES = [(mf, "write_arrays"), (os, "open"), (os, "fsync"), (os, "link"), (os, "replace"), (threading.Thread, "join")]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("place", PLACES, ids=lambda at: at[1])
def test_a_signal_again_at_any_place_of_the_end(place, number, code, given, fault, folder, monkeypatch):
    """The first one came in the middle of the run; the second one while its checkpoint is saved, and after."""
    looks, lost = [], []
    inner, (owner, name) = Interrupt.check, place
    original = getattr(owner, name)

    def check(self):
        looks.append(1)
        if len(looks) == 3:
            os.kill(os.getpid(), number)
        inner(self)

    def hit(*given, **more):
        made = original(*given, **more)
        if len(looks) >= 3 and (name != "open" or not os.path.isfile(given[0])):
            os.kill(os.getpid(), number)
        return made

    monkeypatch.setattr(Interrupt, "check", check)
    monkeypatch.setattr(owner, name, hit)
    monkeypatch.setattr(sys, "unraisablehook", lambda what: lost.append(what.exc_value))
    said = fault(code, "train", given / "a.svm", *PA, "-o", "m.npz", "--block-size", "8k")
    assert "interrupted at row" in said or "stopped at once" in said
    assert lost == [] and not (folder / "m.npz").exists()


def size(file):
    """Bytes of a file; 0 where it has gone since it was listed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def begun(folder, wanted, *words, feed=None):
    """A process that was started there and has made a file that is wanted, or begun one."""
    words = [sys.executable, "-m", "bigclf", *map(str, words)]
    p = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    if feed is not None:
        p.stdin.write(feed)
        p.stdin.flush()  # and then nothing more comes
    end = time.monotonic() + 60
    while not any(size(f) > 4096 for f in [*folder.glob(wanted), *nameless(p.pid, folder)]):
        assert p.poll() is None and time.monotonic() < end
    return p


@pytest.mark.parametrize("gap", [0, 0.003, 0.01, 0.03])
def test_two_signals_of_a_process(gap, given, tmp_path):
    words = [*FULL_COV, "--passes", 100_000, "--checkpoint", "ck.npz", "--checkpoint-every", 100]
    p = begun(tmp_path, "ck.npz", "train", given / "wide.svm", *words)
    while not (tmp_path / "ck.npz").exists():  # one checkpoint is whole; the next are being written
        time.sleep(0.001)
    p.send_signal(signal.SIGINT)
    time.sleep(gap)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=30)[1].decode()
    assert p.returncode in (130, -signal.SIGINT) and err.count("\n") == 1, err
    assert os.listdir(tmp_path) == ["ck.npz"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_predicting_leaves_no_half_file(number, code, given, tmp_path):
    (tmp_path / "p").write_text("old\n")
    words = ["predict", given / "old.npz", "-", "-o", "p", "--block-size", "4k"]
    p = begun(tmp_path, ".p.*", *words, feed=(given / "a.svm").read_bytes())
    p.send_signal(number)
    assert p.wait(timeout=20) == code
    assert (tmp_path / "p").read_text() == "old\n" and os.listdir(tmp_path) == ["p"]
    assert p.stderr.read().count(b"\n") == 1
