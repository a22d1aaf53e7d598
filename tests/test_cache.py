"""`--cache`: a run that reads kept rows ends with the same bytes as one that reads the data."""

from __future__ import annotations

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_resume import cut_after, inputs  # noqa: F401  # a fixture

from bigclf import files
from bigclf.cli.main import main
from bigclf.model import load

CASES = [
    *((f, a, []) for f in ("a.svm", "a.csv", "a.parquet") for a in ("pa-1", "nr-rls", "oob")),
    ("a.svm.gz", "arow", []),
    ("1.svm 2.svm", "arow", []),
    ("bad.svm", "pa-1", ["--on-error", "skip"]),
    ("a.csv", "arow", ["--missing", "skip"]),
    ("a.csv", "pa-1", ["--hash-bits", "5"]),
    ("a.svm", "pa-1", ["--limit", "4200"]),
    ("a.svm", "pa-1", ["--shard", "2/3"]),
    ("a.svm", "pa-1", ["--dtype", "float64", "--scale", "none"]),
    ("a.csv", "pa-1", ["--features", "rff", "--rff-dim", "20"]),
    ("a.csv", "pa-1", ["--class-weight", "online"]),
]


def words_of(inputs, files, algo, more):  # noqa: F811
    return ["train", *(inputs / f for f in files.split()), "--algo", algo, *more]


def kept(folder):
    return sorted(p for p in folder.iterdir() if p.suffix == ".bigclf-cache")


@pytest.mark.parametrize(("files", "algo", "more"), CASES)
def test_the_model_and_the_report_are_those_of_reading_the_data(good, folder, inputs, files, algo, more):  # noqa: F811
    words = [*words_of(inputs, files, algo, more), "--passes", "3", "--json"]
    plain = good(*words, "-o", "plain.npz")
    first = good(*words, "-o", "first.npz", "--cache", "rows")
    assert len(kept(folder / "rows")) == 1
    again = good(*words, "-o", "again.npz", "--cache", "rows", "--block-size", "5000")
    assert len(kept(folder / "rows")) == 1
    bytes_of = [(folder / f"{name}.npz").read_bytes() for name in ("plain", "first", "again")]
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]
    told = [{k: v for k, v in said.json.items() if k not in SHIFTING} for said in (plain, first, again)]
    assert told[0] == told[1] == told[2]
    lines = [
        [x for x in said.err.splitlines() if "rows/s" not in x and "model:" not in x] for said in (plain, first, again)
    ]
    assert sorted(lines[0]) == sorted(lines[1]) == sorted(lines[2])


SHIFTING = {"seconds", "rows_per_second", "peak_memory_mib", "model"}


@pytest.mark.parametrize("looks", range(1, 12))
def test_a_run_that_is_interrupted_goes_on_to_the_same_bytes(folder, inputs, monkeypatch, looks):  # noqa: F811
    words = [*map(str, words_of(inputs, "a.svm", "pa-1", ["--passes", "3", "-q", "--block-size", "20000"]))]
    assert main([*words, "-o", "whole.npz"]) == 0
    for turn in ("new", "kept"):
        with monkeypatch.context() as m:
            cut_after(m, looks)
            assert main([*words, "-o", f"{turn}.npz", "--cache", "rows", "--checkpoint", "ck.npz"]) == 130
        if turn == "new" and looks < 4:
            assert kept(folder / "rows") == []  # of a pass that was not whole nothing stays
        rest = [*words[:2], "--resume", "ck.npz", "--cache", "rows", "-q", "-o", f"{turn}.npz"]
        assert main(rest) == 0
        assert (folder / f"{turn}.npz").read_bytes() == (folder / "whole.npz").read_bytes()
        assert main([*words, "-o", "more.npz", "--cache", "rows"]) == 0  # it is whole for the second turn


def test_going_on_with_new_rows_keeps_them_apart(good, folder, inputs):  # noqa: F811
    good(*words_of(inputs, "2.svm", "pa-1", ["-q", "--cache", "rows"]), "-o", "a.npz")
    for k in ("b", "c"):
        more = ["--continue", "a.npz", "--passes", "2", "-q", "--cache", "rows"]
        good("train", inputs / "1.svm", *more, "-o", f"{k}.npz")
        assert len(kept(folder / "rows")) == 2
    good("train", inputs / "1.svm", "--continue", "a.npz", "--passes", "2", "-q", "-o", "d.npz")
    assert (folder / "b.npz").read_bytes() == (folder / "c.npz").read_bytes() == (folder / "d.npz").read_bytes()


OTHER = [["--scale", "none"], ["--dtype", "float64"], ["--no-bias"], ["--limit", "100"], ["--on-error", "skip"]]


@pytest.mark.parametrize("other", OTHER, ids=" ".join)
def test_rows_that_were_made_otherwise_are_not_taken(good, folder, inputs, other):  # noqa: F811
    words = words_of(inputs, "a.svm", "pa-1", ["-q", "--cache", "rows"])
    good(*words)
    good(*words, "--algo", "arow", "--scale", "maxabs")
    shared = len(kept(folder / "rows"))
    good(*words, *other)
    assert len(kept(folder / "rows")) == shared + 1


def test_learners_that_want_the_same_rows_share_them(good, folder, inputs):  # noqa: F811
    for algo in ("pa-1", "pa-2", "perceptron"):
        good(*words_of(inputs, "a.svm", algo, ["-q", "--cache", "rows", "--scale", "std"]))
    assert len(kept(folder / "rows")) == 1


def test_a_file_that_was_written_to_is_read_again(good, write, folder):
    path = folder / write("a.svm", "0 1:1\n1 1:2\n" * 50)
    words = ["train", path, "--algo", "perceptron", "--cache", "rows", "-q"]
    good(*words)
    path.write_text("1 1:1\n0 1:2\n" * 50)  # as long
    os.utime(path, ns=(path.stat().st_mtime_ns + 1,) * 2)
    good(*words, "-o", "new.npz")
    good(*words[:4], "-q", "-o", "plain.npz")
    assert (folder / "new.npz").read_bytes() == (folder / "plain.npz").read_bytes()
    assert len(kept(folder / "rows")) == 2


def test_the_least_used_goes_when_there_is_no_room(good, write, folder):
    for k in range(3):
        write(f"{k}.svm", "".join(f"{i % 2} 1:{i}\n" for i in range(500 + k)))
    words = ["--algo", "pa-1", "--cache", "rows", "-q"]
    good("train", "0.svm", *words)
    size = kept(folder / "rows")[0].stat().st_size
    good("train", "1.svm", *words)
    oldest, other = sorted(kept(folder / "rows"), key=lambda p: p.stat().st_mtime_ns)
    good("train", "0.svm", *words)  # is used again
    good("train", "2.svm", *words, "--cache-size", str(int(2.5 * size)))
    assert oldest in kept(folder / "rows") and other not in kept(folder / "rows")
    assert sum(p.stat().st_size for p in kept(folder / "rows")) <= 2.5 * size


def test_rows_that_take_too_much_are_not_kept_and_it_is_said(good, write, folder):
    write("a.svm", "".join(f"{i % 2} 1:{i}\n" for i in range(500)))
    said = good("train", "a.svm", "--algo", "pa-1", "--passes", "2", "--cache", "rows", "--cache-size", "2k")
    assert "--cache: rows: the rows take more than --cache-size 2 KiB; nothing is kept" in said.err
    assert kept(folder / "rows") == []


def test_a_full_disk_ends_the_keeping_and_not_the_run(good, write, folder, monkeypatch):
    from bigclf.training import cache

    def full(f, record, base):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "write", full)
    write("a.svm", "0 1:1\n1 1:2\n" * 50)
    said = good("train", "a.svm", "--algo", "pa-1", "--passes", "2", "--cache", "rows")
    assert said.err.count("--cache: rows: No space left on device; nothing is kept") == 1
    assert list((folder / "rows").iterdir()) == []


def test_columns_that_dense_rows_did_not_have_end_the_keeping(good, write, folder):
    rows = "".join(f"{i % 2} 1:{i % 7} 2:{i % 5}{' 3:1' * (i > 11_000)}\n" for i in range(12_000))
    write("a.svm", rows)
    words = ["train", "a.svm", "--algo", "pa-1", "--passes", "2"]
    said = good(*words, "--cache", "rows", "-o", "a.npz")
    assert "columns were met that the first rows did not have" in said.err and kept(folder / "rows") == []
    good(*words, "-o", "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


@given(st.data())
def test_a_damaged_file_changes_nothing(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damage")
    path = folder / "a.svm"
    path.write_text("".join(f"{i % 2} 1:{i}\n" for i in range(300)))
    words = ["train", str(path), "--algo", "pa-1", "-q", "--cache", str(folder / "rows")]
    assert main([*words, "-o", str(folder / "a.npz")]) == 0
    file = kept(folder / "rows")[0]
    content = bytearray(file.read_bytes())
    at = int(data.draw(st.floats(0, 1, exclude_max=True)) * len(content))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    file.write_bytes(content)
    assert main([*words, "-o", str(folder / "b.npz")]) == 0
    assert (folder / "b.npz").read_bytes() == (folder / "a.npz").read_bytes()


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("a.svm", []),
        ("bad.svm", ["--on-error", "skip"]),
        ("a.csv", ["--missing", "skip"]),
        ("a.svm", ["--shard", "2/3"]),
    ],
)
def test_where_a_record_is_damaged_the_rest_of_the_pass_is_read_from_the_data(good, folder, inputs, file, more, where):  # noqa: F811
    words = [*words_of(inputs, file, "pa-1", more), "--passes", "3", "--json", "--block-size", "9000"]
    plain = good(*words, "-o", "plain.npz")
    good(*words, "-o", "first.npz", "--cache", "rows")
    path = kept(folder / "rows")[0]
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1
    path.write_bytes(content)
    again = good(*words, "-o", "again.npz", "--cache", "rows")
    assert f"{path.relative_to(folder)} is damaged and was deleted; the data are read again" in again.err
    assert (folder / "plain.npz").read_bytes() == (folder / "again.npz").read_bytes()
    told = [{k: v for k, v in said.json.items() if k not in SHIFTING} for said in (plain, again)]
    assert told[0] == told[1]


def test_files_of_others_are_left_alone(good, write, folder):
    (folder / "rows").mkdir()
    other = folder / "rows" / "other.bigclf-cache"
    other.write_bytes(b"x" * 100_000)
    good("train", write("a.svm", "0 1:1\n1 1:2\n" * 50), "--algo", "pa-1", "--cache", "rows", "--cache-size", "50k")
    assert other.exists() and len(kept(folder / "rows")) == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--cache-size", "1GiB"], "--cache-size: goes with --cache DIR"),
        (["--cache", "rows", "--shuffle", "block"], "--cache: keeps rows in their order"),
        (["--cache", "rows", "--cache-size", "much"], "'much' is no size"),
        (["--cache", "a.svm"], "--cache"),
    ],
)
def test_wrong_usage(cli, write, folder, words, line):
    said = cli("train", write("a.svm", "0 1:1\n1 1:2\n"), "--algo", "pa-1", *words)
    assert said.code == 2 and line in said.err
    assert not (folder / "rows").exists()


def test_a_folder_that_cannot_be_made(fault, write):
    line = fault(1, "train", write("a.svm", "0 1:1\n1 1:2\n"), "--algo", "pa-1", "--cache", "no/such/rows")
    assert "no/such/rows: No such file or directory; --cache names a folder" in line


def test_a_pipe_cannot_be_known_again(cli):
    said = cli("train", "-", "--algo", "pa-1", "--cache", "rows")
    assert said.code == 2 and "--cache: standard input" in said.err


def test_kept_rows_are_read_without_the_data_being_parsed(good, write, folder, monkeypatch):
    """But for the head, which tells how rows are encoded."""
    write("a.svm", "".join(f"{i % 2} 1:{i % 9} 2:{i % 4}\n" for i in range(30_000)))
    words = ["train", "a.svm", "--algo", "pa-1", "-q", "--cache", "rows", "--block-size", "20000"]
    good(*words, "-o", "a.npz")
    from bigclf.reading import libsvm

    seen, read = [], libsvm.read

    def counted(*given, **more):
        for raw in read(*given, **more):
            seen.append(len(raw.row))
            yield raw

    monkeypatch.setattr(libsvm, "read", counted)
    good(*words, "-o", "b.npz")
    assert 10_000 <= sum(seen) < 15_000
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    assert load(folder / "b.npz").rows == 30_000


def test_what_is_kept_appears_whole(good, write, folder, monkeypatch):
    """Without files that have no name it is written under another one first."""
    monkeypatch.setattr(files, "_unnamed", lambda folder: None)
    good("train", write("a.svm", "0 1:1\n1 1:2\n" * 9), "--algo", "pa-1", "-q", "--cache", "rows")
    assert [p.suffix for p in (folder / "rows").iterdir()] == [".bigclf-cache"]


def test_a_run_that_goes_on_in_its_first_pass_says_that_it_keeps_nothing(good, folder, inputs, monkeypatch):  # noqa: F811
    words = [*map(str, words_of(inputs, "a.svm", "pa-1", ["--passes", "2", "-q", "--block-size", "20000"]))]
    with monkeypatch.context() as m:
        cut_after(m, 2)
        assert main([*words, "--cache", "rows", "--checkpoint", "ck.npz"]) == 130
    said = good(*words[:2], "--resume", "ck.npz", "--cache", "rows")
    assert "--cache: rows of a pass that was broken off are not kept" in said.err and kept(folder / "rows") == []
