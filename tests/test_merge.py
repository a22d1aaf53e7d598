"""Shards and their merge: n runs over parts of the input equal one run over all of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from test_resume import inputs, table  # noqa: F401 - the fixture

from bigclf.cli.main import main
from bigclf.model import load

SUMS = ("gram", "first", "rows", "lo", "hi")


def run(*words):
    return main([*map(str, words), "-q"])


@pytest.mark.parametrize("algo", ["nr-rls", "rls"])
@pytest.mark.parametrize("file", ["a.svm", "a.csv", "a.parquet"])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_merged_shards_equal_one_run(n, file, algo, inputs, tmp_path):  # noqa: F811
    data = inputs / file
    assert run("train", data, "--algo", algo, "-o", tmp_path / "whole.npz") == 0
    parts = []
    for i in range(1, n + 1):
        parts.append(tmp_path / f"{i}.npz")
        assert run("train", data, "--algo", algo, "--shard", f"{i}/{n}", "-o", parts[-1]) == 0
    assert run("merge", *parts, "-o", tmp_path / "merged.npz") == 0
    whole, merged = load(tmp_path / "whole.npz"), load(tmp_path / "merged.npz")
    assert merged.schema.classes == whole.schema.classes
    assert (merged.rows, merged.counts) == (whole.rows, whole.counts)
    assert merged.schema.used == whole.schema.used
    used = whole.schema.used
    for name in SUMS:
        a, b = getattr(merged.state, name), getattr(whole.state, name)
        cut = tuple(slice(0, used) if s > used else slice(None) for s in b.shape)
        np.testing.assert_allclose(
            a[tuple(slice(0, n) for n in b[cut].shape)],
            b[cut],
            rtol=1e-12,
            atol=1e-12 * np.abs(b[np.isfinite(b)]).max(),
        )
    w, v = merged.state.w[:, :used], whole.state.w[:, :used]
    assert np.linalg.norm(w - v) <= 1e-11 * np.linalg.norm(v)


def test_index_0_in_one_shard_counts_in_the_merged_model(tmp_path):
    data = tmp_path / "a.svm"
    data.write_text("".join(f"{i % 2} {'0:1 ' if i == 11_000 else ''}1:{i % 7} 2:{i % 5}\n" for i in range(12_000)))
    words = ["train", data, "--algo", "nr-rls", "-o"]
    assert run(*words, tmp_path / "whole.npz") == 0
    parts = [tmp_path / f"{i}.npz" for i in (1, 2)]
    assert [run(*words, part, "--shard", f"{i}/2") for i, part in enumerate(parts, 1)] == [0, 0]
    assert run("merge", *parts, "-o", tmp_path / "merged.npz") == 0
    counts = [load(tmp_path / f"{name}.npz").schema.count() for name in ("1", "2", "merged", "whole")]
    assert counts == [2, 3, 3, 3]


def test_processes_side_by_side(inputs, tmp_path):  # noqa: F811
    words = [sys.executable, "-m", "bigclf", "train", str(inputs / "a.svm"), "-q", "--shard"]
    running = [subprocess.Popen([*words, f"{i}/2", "-o", str(tmp_path / f"{i}.npz")]) for i in (1, 2)]
    assert [p.wait(timeout=120) for p in running] == [0, 0]
    assert run("merge", tmp_path / "1.npz", tmp_path / "2.npz", "-o", tmp_path / "m.npz") == 0
    assert run("evaluate", tmp_path / "m.npz", inputs / "a.svm") == 0


def test_what_cannot_be_merged_is_refused_by_name(inputs, tmp_path, capsys):  # noqa: F811
    train = ["train", inputs / "a.svm", "-o"]
    assert run(*train, tmp_path / "arow.npz", "--algo", "arow") == 0
    assert run(*train, tmp_path / "ls.npz", "--algo", "ls") == 0
    assert run(*train, tmp_path / "b.npz", "--algo", "ls", "--b", "1") == 0
    assert run(*train, tmp_path / "std.npz", "--algo", "ls", "--scale", "std") == 0
    assert run("train", inputs / "a.csv", "-o", tmp_path / "csv.npz", "--algo", "ls") == 0
    assert run("train", inputs / "2.svm", "-o", tmp_path / "two.npz", "--algo", "ls", "--scale", "minmax,row-l2") == 0
    for other, words in (
        ("arow", "arow"),
        ("b", "same options"),
        ("std", "scale"),
        ("csv", "kind"),
        ("two", "scale"),
        ("absent", "no such file"),
    ):
        capsys.readouterr()
        assert run("merge", tmp_path / "ls.npz", tmp_path / f"{other}.npz", "-o", tmp_path / "m.npz") == 1
        said = capsys.readouterr().err
        assert words in said and f"{other}.npz" in said and said.count("\n") == 1
    capsys.readouterr()
    assert run("merge", tmp_path / "arow.npz", tmp_path / "arow.npz", "-o", tmp_path / "m.npz") == 1
    assert "nr-rls" in capsys.readouterr().err
    assert not (tmp_path / "m.npz").exists()


@pytest.mark.parametrize("text", ["0/2", "3/2", "x", "1", "1/0", "-1/2"])
def test_shards_that_cannot_be_meant(text, inputs, capsys):  # noqa: F811
    assert run("train", inputs / "a.svm", f"--shard={text}") == 2
    assert "--shard" in capsys.readouterr().err


def test_a_packed_file_has_no_shards(inputs, tmp_path, capsys):  # noqa: F811
    assert run("train", inputs / "a.svm.gz", "--shard", "1/2", "-o", tmp_path / "m.npz") == 1
    assert "a.svm.gz" in capsys.readouterr().err


def test_a_shard_without_rows_adds_nothing(tmp_path, capsys):
    (tmp_path / "a.svm").write_text("1 1:1 2:3\n0 1:2\n1 2:2\n")
    parts = []
    for i in range(1, 8):
        parts.append(tmp_path / f"{i}.npz")
        assert run("train", tmp_path / "a.svm", "--shard", f"{i}/7", "-o", parts[-1]) == 0
    assert run("merge", *parts, "-o", tmp_path / "m.npz") == 0
    assert run("train", tmp_path / "a.svm", "-o", tmp_path / "w.npz") == 0
    merged, whole = load(tmp_path / "m.npz"), load(tmp_path / "w.npz")
    assert merged.rows == 3
    np.testing.assert_allclose(merged.state.w, whole.state.w, rtol=1e-9)


def test_a_merged_model_knows_its_shards(cli, good, write):
    data = write("a.svm", "".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(300)))
    for i in (1, 2, 3):
        good("train", data, "--shard", f"{i}/3", "-o", f"{i}.npz", "-q")
    assert "of 3 shards 3 are not among these" in good("merge", "1.npz", "2.npz", "-o", "b.npz").err
    for others in (["1.npz"], ["b.npz"], ["3.npz", "2.npz"]):
        said = cli("merge", "b.npz", *others, "-o", "c.npz", "-q")
        assert said.code == 1 and "its rows would count twice" in said.err
    assert "not among" not in good("merge", "b.npz", "3.npz", "-o", "c.npz").err
    assert cli("merge", "b.npz", "3.npz", "-o", "3.npz", "-q").code == 1


def test_a_shard_beside_a_model_that_may_hold_its_rows_is_told(good, write):
    """Which rows the other holds is in no model: it may be of the same input, or of another."""
    data = write("a.svm", "".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(300)))
    good("train", data, "-o", "whole.npz", "-q")
    for i in (1, 2, 3):
        good("train", data, "--shard", f"{i}/3", "-o", f"{i}.npz", "-q")
    assert "no shard" not in good("merge", "1.npz", "2.npz", "3.npz", "-o", "merged.npz").err
    for other in ("whole.npz", "merged.npz"):
        told = f"bigclf: {other}: is no shard; if it is of the whole input, rows of 2.npz count twice\n"
        for models in ([other, "2.npz"], ["2.npz", other]):
            said = good("merge", *models, "-o", "m.npz").err
            assert said.startswith(told + "bigclf: of 3 shards 1, 3 are not among the others\n") and "400 rows" in said
        said = good("merge", "2.npz", "1.npz", "3.npz", other, "-o", "m.npz").err
        assert said.startswith(told) and "not among" not in said
    assert "no shard" not in good("merge", "whole.npz", "merged.npz", "-o", "m.npz").err


def test_a_shard_that_cannot_be_merged_is_told_at_once(good, write):
    data = write("a.svm", "1 1:1\n0 1:2\n" * 40)
    assert "pa-1 cannot be merged" in good("train", data, "--algo", "pa-1", "--shard", "1/2").err


def test_rows_that_count_twice_are_told(good, write, folder):
    """It is what one run over the rows twice would give, but seldom what is meant."""
    for name, k in (("a", 2), ("b", 3)):
        rows = "".join(f"{i // k % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(300))
        good("train", write(f"{name}.svm", rows), "-o", f"{name}.npz", "-q")
    (folder / "copy.npz").write_bytes((folder / "a.npz").read_bytes())
    twice = good("merge", "a.npz", "b.npz", "a.npz", "-o", "m.npz").err
    assert "bigclf: a.npz: is named twice; its rows count twice\n" in twice and "900 rows" in twice
    assert (
        "bigclf: copy.npz: holds the same as a.npz; its rows count twice\n"
        in good("merge", "a.npz", "copy.npz", "-o", "m.npz").err
    )
    assert "twice" not in good("merge", "a.npz", "b.npz", "-o", "m.npz").err
    assert good("merge", "a.npz", "a.npz", "-o", "m.npz", "-q").err == ""
