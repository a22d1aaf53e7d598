"""Rows in random order: each once, decided by the seed, the same whatever the block size."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from bigclf import draws
from bigclf.cli.main import main
from bigclf.reading import shuffle
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Cursor
from bigclf.reading.source import find


@pytest.fixture
def numbered(tmp_path, monkeypatch):
    """3,000 rows sorted by class, each with its number as a feature; in parts of 4 KiB."""
    monkeypatch.setattr(shuffle, "PART", 4096)
    path = tmp_path / "n.svm"
    path.write_text("".join(f"{int(i >= 1500)} 1:{i}\n" for i in range(3000)))
    return path


def values(path, **more):
    stream = shuffle.Shuffled(find([str(path)]), ReadOptions(block_size=more.pop("block_size", 1 << 22)), None, **more)
    raws = list(stream)
    row = np.concatenate([r.row for r in raws])
    assert (np.diff(row) == 1).all()
    return np.concatenate([r.data.value for r in raws]).astype(int).tolist(), raws


def test_every_row_once_and_well_mixed(numbered):
    got, _ = values(numbered, seed=1)
    assert sorted(got) == list(range(3000))
    first = np.array(got[:600])
    assert 150 < (first >= 1500).sum() < 450


def test_the_seed_and_the_pass_decide(numbered):
    got, _ = values(numbered, seed=1)
    assert got == values(numbered, seed=1, block_size=100)[0]
    assert got != values(numbered, seed=2)[0]
    assert got != values(numbered, seed=1, number=2)[0]


def test_labels_stay_with_their_rows_and_places_are_true(numbered):
    _, raws = values(numbered, seed=3)
    for r in raws:
        for i in range(0, len(r.row), 97):
            value = int(r.data.value[i])
            assert r.label.names[r.label.code[i]] == str(int(value >= 1500))
            assert r.where(i).endswith(f"n.svm:{value + 1}")


def test_it_goes_on_from_any_block(numbered):
    got, raws = values(numbered, seed=4)
    for r in raws:
        start = int(r.row[0]) + 5
        rest, _ = values(numbered, seed=4, begin=Cursor(*r.at), from_row=start)
        assert rest == got[start:]


def test_a_sorted_file_is_learned_when_shuffled(tmp_path, capsys):
    r = np.random.default_rng(0)
    rows = [f"{t} 1:{t + r.standard_normal():.3f} 2:{r.standard_normal():.3f}\n" for t in (0, 1) for _ in range(60_000)]
    (tmp_path / "s.svm").write_text("".join(rows))
    errors = []
    for order in ("none", "block"):
        model = str(tmp_path / f"{order}.npz")
        data = str(tmp_path / "s.svm")
        assert main(["train", data, "--algo", "perceptron", "--shuffle", order, "-o", model, "-q"]) == 0
        assert main(["evaluate", model, data, "--json", "-q"]) == 0
        import json

        errors.append(json.loads(capsys.readouterr().out)["balanced_accuracy"])
    assert errors[1] > errors[0]


@pytest.mark.parametrize("more", [["-"], ["s.svm", "--limit", "5"], ["s.svm", "--shard", "1/2"]])
def test_what_cannot_be_shuffled(more, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.svm").write_text("1 1:1\n0 1:2\n")
    assert main(["train", *more, "--shuffle", "block"]) == 2


def test_permutations_are_fair():
    """Each thing is as likely in each place."""
    counts = np.zeros((6, 6))
    for k in range(6000):
        counts[np.arange(6), draws.order(6, k)] += 1
    assert abs(counts / 1000 - 1).max() < 0.15


def test_a_group_that_does_not_fit_is_refused_with_its_size(apart, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 400_000
    table = pa.table({"label": np.arange(n) % 2} | {f"x{k}": np.arange(n, dtype=float) for k in range(20)})
    pq.write_table(table, folder / "one.parquet", row_group_size=n)
    said = apart("train", "one.parquet", "--algo", "pa-1", "-q", "--shuffle", "block", "--budget", "330MiB")
    assert said.code == 1
    assert "--shuffle" in said.err and "MiB" in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize("size", ["64", "4MiB"])
def test_packed_input_is_told_before_its_faults(fault, write, size):
    packed = gzip.compress(b"a,y\n" + b"1,0\n2,1\n" * 40 + b"1,2,3\n")
    said = fault(2, "train", write("d.csv.gz", packed), "--shuffle", "block", "--label", "y", "--block-size", size)
    assert "only plain files" in said
