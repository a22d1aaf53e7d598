"""The comparison with river measures what it says."""

from __future__ import annotations

import compare_river as script
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def sets(tmp_path):
    """A folder with a set of 300 rows of which a fifth are of the class named a."""
    rng = np.random.default_rng(1)
    y = np.arange(300) % 5 == 0
    X = rng.normal(size=(300, 2)) + np.where(y, 1.5, -1.5)[:, None]
    pq.write_table(pa.table({"u": X[:, 0], "v": X[:, 1], "label": np.where(y, "a", "b")}), tmp_path / "small.parquet")
    return tmp_path


def test_g_mean_is_the_root_of_both_recalls():
    assert script.g_mean(np.array([1, 1, 0, 0, 0]), np.array([1, 0, 0, 0, 1])) == pytest.approx((1 / 2 * 2 / 3) ** 0.5)


def test_the_rarer_class_is_positive(sets):
    X, y = script.table("small", sets)
    assert X.shape == (300, 2) and y.sum() == 60 and X[y == 1].mean() > 1


def test_both_sides_have_the_same_rows_in_the_same_order(sets):
    X, y = script.table("small", sets)
    for least, times in ((0, 1), (301, 2)):
        parquet, npz = script.ordered(X, y, 7, least, sets)
        mine, other = pq.read_table(parquet), np.load(npz)
        assert mine.num_rows == len(other["y"]) == 300 * times
        assert (mine["y"].to_numpy() == other["y"]).all() and (mine["x1"].to_numpy() == other["X"][:, 1]).all()
        for part in range(times):
            at = slice(300 * part, 300 * part + 300)
            assert sorted(other["X"][at].tolist()) == sorted(X.tolist()) and other["X"][at].tolist() != X.tolist()


@pytest.mark.parametrize("river", [False, True])
def test_a_line_has_the_means_of_both_sides_or_says_that_one_is_skipped(river, sets, monkeypatch, capsys):
    monkeypatch.setattr(script, "PAIRS", (("oob --base perceptron", "over", "perceptron"),))
    monkeypatch.setattr(script, "has_river", lambda python: river)
    monkeypatch.setattr(script, "theirs", lambda *_: {"us": 5000.0, "g": 0.5})
    assert script.main(["--data", str(sets), "--only", "small", "--runs", "1"]) == 0
    out, err = capsys.readouterr()
    head, line = (text.split() for text in out.splitlines())
    assert line[:4] == ["small", "oob", "--base", "perceptron"] and 0.8 < float(line[4]) < 1 and float(line[5]) > 0
    assert (line[6:9] == ["over", "0.500", "5000.0"]) == river == ("river" in head)
    assert ("river: skipped" in err) != river
