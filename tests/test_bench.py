"""The benchmark: its data, its arithmetic, and that it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

import bench
import bench_data
from bench import Took


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    bench_data.make(folder, 0.002)
    return folder


def pairs(line):
    return [(int(j), float(v)) for j, v in (pair.split(":") for pair in line.split()[1:])]


def test_every_format_holds_the_same_rows(made):
    lines = (made / "dense.svm").read_text().splitlines()
    table = pyarrow.csv.read_csv(made / "dense.csv")
    csv = np.column_stack([c.to_numpy() for c in table.columns])
    parquet = np.column_stack([c.to_numpy() for c in pyarrow.parquet.read_table(made / "dense.parquet").columns])
    svm = np.array([[float(line.split()[0]), *(v for _, v in pairs(line))] for line in lines])
    assert svm.shape == csv.shape == parquet.shape == (2000, 29)
    assert np.array_equal(svm, csv) and np.allclose(svm, parquet, rtol=1e-5, atol=1e-9)
    for stem in ("dense", "sparse", "dense_test", "sparse_test"):
        rows = (made / f"{stem}.svm").read_text().splitlines()
        assert [line.replace(" | ", " ") for line in (made / f"{stem}.vw").read_text().splitlines()] == rows


def test_the_laws_are_what_they_are_said_to_be():
    X, y = next(bench_data.dense_rows(16_000, 1))
    assert X.shape == (16_000, 28) and 0.25 < (y == 1).mean() < 0.29
    indptr, column, value, y = next(bench_data.sparse_rows(4_000, 1))
    assert 0.45 < (y == 1).mean() < 0.55 and 60 < np.diff(indptr).mean() < 90
    assert column.min() >= 1 and column.max() <= 47_236
    length = np.sqrt(np.add.reduceat(value.astype(float) ** 2, indptr[:-1]))
    assert np.allclose(length, 1, atol=1e-6)
    assert all((np.diff(column[a:b]) > 0).all() for a, b in zip(indptr, indptr[1:]))


def test_what_was_made_is_not_made_again_unless_the_size_differs(made):
    before = (made / "dense.svm").stat().st_mtime_ns
    bench_data.make(made, 0.002)
    assert (made / "dense.svm").stat().st_mtime_ns == before


def test_ratios_are_taken_round_by_round():
    table = {"a": [Took(1, 2, 9), Took(1, 30, 9), Took(1, 4, 9)], "b": [Took(1, 4, 9), Took(1, 60, 9), Took(1, 4, 9)]}
    assert bench.ratio(table, "a", "b") == 0.5
    assert bench.ratio(table, "a", "b", less=1) == pytest.approx(29 / 59)
    assert bench.median(table, "a", "cpu") == 4


def test_a_command_is_measured_as_a_whole_and_a_failure_is_told():
    took = bench.run([sys.executable, "-c", "bytes(50 << 20); sum(range(3_000_000))"])
    assert took.cpu > 0.03 and took.peak > 50 and took.wall > 0
    with pytest.raises(RuntimeError, match="exit 3"):
        bench.run([sys.executable, "-c", "raise SystemExit(3)"])


def test_it_runs(made, capsys):
    argv = ["--folder", str(made), "--share", "0.002", "--rounds", "1", "--algorithms", "pa-1"]
    assert bench.main(argv) == 0
    out = capsys.readouterr().out
    for file in ("dense.svm", "dense.csv", "dense.parquet", "sparse.svm"):
        assert f"| {file} | reading alone |" in out and f"| {file} | pa-1 |" in out


def test_readers_of_others_are_left_out_where_they_are_not_installed(made, monkeypatch):
    monkeypatch.setattr(bench, "there", lambda *packages: packages == ("pyarrow",))
    text = bench.against_readers(made, 1)
    assert "| dense.csv | pyarrow |" in text and "polars" not in text and "svmloader" not in text
