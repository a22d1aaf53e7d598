"""The script that repeats the comparisons of the thesis of the fast support vector classifier."""

from __future__ import annotations

import json
import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "reproduce_fsvc.py"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("reproduce_fsvc", SCRIPT)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_thesis_is_copied_right(script):
    """With the three sets for which there is no file, the mean is that of the 22 entries."""
    paper = script.published()
    assert set(paper) == set(script.SETS)
    small = [p["auto"] for name, p in paper.items() if not math.isnan(p["auto"]) and name not in ("magic", "mnist")]
    assert np.mean([*small, 57.3, 95.6, 59.3]) == pytest.approx(66.8, abs=0.05)


def test_words_are_columns_and_constants_are_left_out(script, tmp_path):
    columns = {"a": [1, 2, 3, 1], "b": [5, 5, 5, 5], "c": [0.5, None, 2, 1], "label": ["x", "y", "gone", "x"]}
    pq.write_table(pa.table(columns), tmp_path / "made.parquet")
    script.SETS["made"] = script.Source("made.parquet", (0,), "gone")
    try:
        X, y = script.load("made", tmp_path)
    finally:
        del script.SETS["made"]
    np.testing.assert_array_equal(X, [[1, 0, 0.5], [0, 1, math.nan], [1, 0, 1]])
    assert y.tolist() == [0, 1, 0]


def test_scaling_is_by_the_rows_to_train(script):
    Z = script.scaled(np.array([[1.0, 7], [3, 7], [5, 8], [math.nan, 7]]), np.array([True, True, False, False]))
    np.testing.assert_array_equal(Z, [[-1, 0], [1, 0], [3, 1], [0, 0]])


def test_one_set_is_repeated(script, tmp_path, capsys):
    told = tmp_path / "told.json"
    words = ["--data", str(tmp_path), "--only", "WDBC", "--json", str(told), "--markdown", str(tmp_path / "told.md")]
    assert script.main(words) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "told.md").read_text() == out and "| wdbc | 569 x 30, 2 | yes |" in out
    (found,) = json.loads(told.read_text())["sets"]
    assert found["equal"] and found["kappa"].keys() >= {*script.METHODS, "libsvm", "liblinear", "ikt"}
    assert 79 < found["kappa"]["auto"] < 90 and found["kappa"]["ikt"] > found["kappa"]["left-corner"] + 20


def test_many_rows_are_not_for_libsvm(script, tmp_path, capsys):
    words = ["--data", str(tmp_path), "--only", "wdbc", "--svc-rows", "500"]
    assert script.main(words) == 0
    row = capsys.readouterr().out.split("## Support")[1].split("| wdbc |")[1]
    assert row.startswith(" - / 87.6 | - / 89.1 | 9")


def test_what_is_not_there_is_told(script, tmp_path, capsys):
    assert script.main(["--data", str(tmp_path / "none")]) == 1
    assert "--data FOLDER" in capsys.readouterr().err
    assert script.main(["--data", str(tmp_path), "--only", "wine"]) == 1
    with pytest.raises(SystemExit):
        script.main(["--only", "wines"])
    assert "no set wines" in capsys.readouterr().err
