"""The measurement of --drift measures what it says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parent.parent / "scripts" / "measure_drift.py"


def module():
    spec = importlib.util.spec_from_file_location("measure_drift", SCRIPT)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_concept_changes_where_it_should():
    m = module()
    for gradual, end in ((False, 1000), (True, 1200)):
        X, y = m.stream(2000, 3, gradual)
        w = np.linalg.lstsq(X[:1000], 2.0 * y[:1000] - 1, rcond=None)[0]
        right = (X @ w > 0) == (y == 1)
        assert right[:1000].mean() > 0.85 and right[end:].mean() < 0.15
    assert 0.3 < right[1000:1200].mean() < 0.7


def test_drifts_are_where_the_learner_tells_them():
    m = module()
    X, y = m.stream(2000, 3, False)
    at, error = m.learned(m.built("arow --drift ddm"), X, y)
    assert at and min(i for i in at if i >= 1000) < 1100
    assert error < m.learned(m.built("arow"), X, y)[1]


def test_it_prints_a_table():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--cost", "--rows", "9000"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2 + len(module().WATCHED) and all(line.count("|") == 4 for line in lines)
