"""Full disks, kills, unreadable inputs, growth beyond memory and signals: one line each, and no file is ever half."""

import errno
import gzip
import json
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from bigclf.cli.main import main
from bigclf.reading.stored import Stored

KILLS = 100 if os.environ.get("BIGCLF_SLOW") == "1" else 15
FULL_COV = ("--algo", "arow", "--cov", "full", "--block-size", "64k", "-q")
SPACE = 48 << 10


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """wide.svm (its full covariance is larger than the disks here), a.svm, and a small model of it."""
    folder = tmp_path_factory.mktemp("given")
    X = np.round(np.random.default_rng(0).standard_normal((600, 120)), 3)
    rows = [f"{int(x[0] > 0)} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1)) + "\n" for x in X]
    (folder / "wide.svm").write_text("".join(rows))
    (folder / "a.svm").write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 3}.5 3:{i % 2}\n" for i in range(12_000)))
    for name, words in (("big.npz", ["wide.svm", *FULL_COV]), ("old.npz", ["a.svm", "--algo", "pa-1", "-q"])):
        assert main(["train", str(folder / words[0]), *words[1:], "-o", str(folder / name)]) == 0
    assert (folder / "big.npz").stat().st_size > 2 * SPACE
    return folder


def call(*words, before=None, **more):
    return subprocess.run(
        [sys.executable, "-m", "bigclf", *map(str, words)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, "preexec_fn": before} | more,
        text=True,
        check=False,
    )


def one_line(done, *parts, code=1):
    assert done.returncode == code, done
    assert done.stderr.startswith("bigclf: ") and done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


def mounted(folder, *words):
    """Mount there until the test is over; skips where that is not allowed."""
    folder.mkdir(exist_ok=True)
    if (
        sys.platform != "linux"
        or os.geteuid()
        or subprocess.run(["mount", *words, folder], capture_output=True).returncode
    ):
        pytest.skip("only root can mount, and only where the container lets it")
    return lambda: subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(params=["limited", "tmpfs"])
def disk(request, tmp_path):
    """A folder that takes little, and what the child must do for that."""
    folder = tmp_path / "disk"
    if request.param == "tmpfs":
        umount = mounted(folder, "-t", "tmpfs", "-o", f"size={SPACE}", "tmpfs")
        request.addfinalizer(umount)
        return folder, None
    folder.mkdir()
    return folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, SPACE))


@pytest.mark.parametrize("what", ["model", "checkpoint"])
def test_a_full_disk_leaves_the_old_model(what, disk, given, tmp_path):
    folder, before = disk
    old = (given / "old.npz").read_bytes()
    (folder / "m.npz").write_bytes(old)
    words = ["-o", folder / "m.npz"]
    if what == "checkpoint":
        words = ["-o", tmp_path / "x.npz", "--checkpoint", folder / "m.npz", "--checkpoint-every", 100]
    one_line(call("train", given / "wide.svm", *FULL_COV, *words, before=before), f"{folder / 'm.npz'}: ")
    assert (folder / "m.npz").read_bytes() == old
    assert os.listdir(folder) == ["m.npz"] and os.listdir(tmp_path) == ["disk"]


def test_a_full_disk_leaves_the_old_predictions(disk, given):
    folder, before = disk
    (folder / "p").write_text("old\n")
    words = ["predict", given / "old.npz", given / "a.svm", "--scores", "-q"]
    one_line(call(*words, "-o", folder / "p", before=before), f"{folder / 'p'}: cannot be written")
    assert (folder / "p").read_text() == "old\n" and os.listdir(folder) == ["p"]
    with open(folder / "q", "w") as out:
        one_line(call(*words, before=before, stdout=out), "standard output: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", ["predict old.npz a.svm -q", "info old.npz --json", "algos"])
def test_a_full_standard_output_is_one_line(words, given):
    with open("/dev/full", "w") as out:
        one_line(call(*words.split(), cwd=given, stdout=out), "standard output: No space left on device")


def test_a_log_that_cannot_be_written_is_named(disk, given, tmp_path):
    folder, before = disk
    (folder / "log").write_bytes(b"\n" * SPACE)
    done = call(
        "train",
        given / "a.svm",
        "--algo",
        "pa-1",
        "-q",
        "--log-file",
        folder / "log",
        "-o",
        tmp_path / "m",
        before=before,
    )
    one_line(done, str(folder / "log"), code=done.returncode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_standard_error_does_not_end_a_run(given, tmp_path):
    with open("/dev/full", "w") as err:
        done = call("train", given / "a.svm", "--algo", "pa-1", "-o", tmp_path / "m.npz", stderr=err)
    assert (tmp_path / "m.npz").exists() and done.returncode == 0


# kill -9

LIVES = """
import json, os, random, signal, sys, time
from bigclf import start
start.prepare()
from bigclf.cli.main import main
from bigclf.model import load
data, folder, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.chdir(folder)
words = "--algo arow --cov full --block-size 16k --passes".split() + [str(8 * kills)]
keep = "--checkpoint ck.npz --checkpoint-every 1 -o m.npz -q".split()
assert main(["train", data, *words, "-o", "whole.npz", "-q"]) == 0
assert main(["train", data, "--algo", "arow", "--cov", "full", "--limit", "500", "-o", "old.npz", "-q"]) == 0
os.link("old.npz", "m.npz")
r, bad, half, at, over = random.Random(int(sys.argv[4])), [], 0, 0, 0
for life in range(kills):
    began = os.stat("ck.npz").st_mtime_ns if life else 0
    child = os.fork()
    if not child:
        os._exit(main(["train", data, *(["--resume", "ck.npz"] if life else words), *keep]))
    while not os.path.exists("ck.npz") or os.stat("ck.npz").st_mtime_ns == began:
        time.sleep(0.0005)
        assert not os.waitpid(child, os.WNOHANG)[0], "ended before it saved"
    time.sleep(r.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    over += os.waitpid(child, 0)[1] != signal.SIGKILL
    left = [n for n in os.listdir() if n.endswith(".tmp")]
    half += bool(left)
    for n in left:
        os.unlink(n)
    try:
        run = load(__import__("pathlib").Path("ck.npz")).run
        now = run["base"] + run["row"]
        assert now >= at, (now, at)
        at = now
        assert open("m.npz", "rb").read() == open("old.npz", "rb").read()
    except Exception as e:
        bad.append(f"{life}: {e!r}")
code = main(["train", data, "--resume", "ck.npz", "-o", "m.npz", "-q"])
same = open("m.npz", "rb").read() == open("whole.npz", "rb").read()
print(json.dumps(dict(bad=bad, half=half, rows=at, over=over, code=code, same=same)))
"""


def test_a_kill_while_saving_leaves_a_whole_file_that_goes_on_to_the_same_bytes(given, tmp_path):
    """Every life goes on from the checkpoint of the one killed before it; the last one ends the run."""
    seed = os.environ.get("BIGCLF_SEED", "1")
    done = subprocess.run(
        [sys.executable, "-c", LIVES, given / "wide.svm", tmp_path, str(KILLS), seed],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(f"{KILLS} kills: {told}")
    assert told["bad"] == [] and told["same"] and told["code"] == 0, told
    assert told["over"] == 0 and told["half"] > 0, told  # all were killed, some in the middle of a file


# places that cannot be written to


@pytest.fixture
def unread(monkeypatch):
    """Reading anything but the first bytes is a mistake."""

    def readinto(self, buffer):
        raise AssertionError("it was read")

    monkeypatch.setattr(Stored, "readinto", readinto)


def writes(given, option, place):
    if option == "predict":
        return ("predict", given / "old.npz", given / "a.svm", "-o", place)
    return ("train", given / "a.svm", *(() if option == "-o" else ("-o", "fine.npz")), option, place)


@pytest.mark.parametrize("option", ["-o", "--checkpoint", "--log-file", "predict"])
@pytest.mark.parametrize("place", ["nowhere/x", "file/x", "sub", "n" * 300])
def test_a_place_that_cannot_be_written_to_is_refused_before_reading(
    option, place, given, fault, write, folder, unread
):
    write("file", "")
    (folder / "sub").mkdir()
    assert place in fault(1, *writes(given, option, place))


@pytest.mark.parametrize("option", ["-o", "--checkpoint", "predict"])
def test_a_folder_that_is_read_only(option, given, fault, folder, unread, request):
    ro = folder / "ro"
    ro.mkdir()
    if os.geteuid():
        ro.chmod(0o555)
    else:
        request.addfinalizer(mounted(ro, "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs"))
    assert "cannot be written to" in fault(1, *writes(given, option, "ro/x"))


@pytest.mark.parametrize("name", ["n" * 255, "模" * 83 + ".npz"])
def test_a_name_as_long_as_the_system_allows_works(name, given, good, folder):
    good("train", given / "a.svm", "--algo", "pa-1", "-q", "-o", name)
    assert (folder / name).exists()


# inputs that fail or change while they are read


@pytest.fixture
def at_byte(monkeypatch):
    """Does something once so many stored bytes were read."""

    def put(limit, act):
        inner, seen, done = Stored.readinto, [0], []

        def readinto(self, buffer):
            if seen[0] >= limit and not done:
                done.append(act())
            n = inner(self, memoryview(buffer)[:4096])
            seen[0] += n
            return n

        monkeypatch.setattr(Stored, "readinto", readinto)

    return put


def eio():
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("command", ["train", "predict"])
@pytest.mark.parametrize("pack", ["", ".gz", ".bz2", ".xz"])
def test_a_read_error_in_the_middle_names_the_row(pack, command, given, fault, write, folder, at_byte):
    import bz2
    import lzma

    text = "".join(f"{i % 2} 1:{i * 7919 % 10007} 2:{i * 104729 % 9973}\n" for i in range(12_000)).encode()
    packed = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[pack](text)
    write(f"b.svm{pack}", packed)
    (folder / "m.npz").write_bytes((given / "old.npz").read_bytes())
    at_byte(len(packed) * 4 // 5, eio)
    more = ["--algo", "pa-1"] if command == "train" else ["m.npz"]
    out = "m.npz" if command == "train" else "p"
    said = fault(1, command, *more, f"b.svm{pack}", "-o", out, "--block-size", "8k", "-q")
    assert (folder / "m.npz").read_bytes() == (given / "old.npz").read_bytes() and not (folder / "p").exists()
    assert f"b.svm{pack}: cannot be read after row " in said and "Input/output error" in said
    assert int(said.split("after row ")[1].split(":")[0]) > 1000


@pytest.mark.parametrize("change", ["shrink", "grow", "rewrite"])
@pytest.mark.parametrize("name", ["c.svm", "c.svm.gz", "c.csv"])
def test_a_file_that_changes_while_it_is_read(name, change, given, fault, write, folder, at_byte):
    line = "{} {}:1.5 3:{}\n" if "svm" in name else "{},{},{}\n"
    text = "" if "svm" in name else "label,a,b\n"
    text += "".join(line.format(i % 2, 1 + i * 31 % 2, i * 7919 % 10007) for i in range(12_000))
    packed = gzip.compress(text.encode()) if "gz" in name else text.encode()
    write(name, packed)
    (folder / "m.npz").write_bytes((given / "old.npz").read_bytes())
    size = (folder / name).stat().st_size

    def act():
        with open(name, "r+b") as f:
            f.seek(0, os.SEEK_END if change == "grow" else os.SEEK_SET)
            f.truncate(size // 2) if change == "shrink" else f.write(packed[-len(line) :])

    at_byte(size * 3 // 5, act)
    said = fault(1, "train", name, "--algo", "pa-1", "-o", "m.npz", "--block-size", "8k", "-q")
    assert name in said and ("while it was read" in said or ("gz" in name and "compressed data" in said))
    assert (folder / "m.npz").read_bytes() == (given / "old.npz").read_bytes()
