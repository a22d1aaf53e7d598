"""The statistics and the tables of the script that repeats the nr-rls paper."""

from __future__ import annotations

import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

SCRIPT = Path(__file__).parent.parent / "scripts" / "reproduce_nr_rls.py"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("reproduce_nr_rls", SCRIPT)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_ties_share_their_ranks(script):
    assert script.ranks(np.array([[0.3, 0.9, 0.3], [0.1, 0.2, 0.3]])).tolist() == [[2.5, 1, 2.5], [3, 2, 1]]


def test_the_statistics_are_those_of_a_published_example(script):
    """Demšar, JMLR 7 (2006), section 3.2.2: four methods on 14 sets."""
    found = script.friedman(np.tile([3.143, 2.000, 2.893, 1.964], (14, 1)))
    assert found["chi2"] == pytest.approx(9.28, abs=0.01) and found["f"] == pytest.approx(3.69, abs=0.01)
    assert script.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


def test_friedman_is_that_of_scipy(script):
    values = np.random.default_rng(1).normal(size=(12, 5))
    found = script.friedman(script.ranks(values))
    chi2, p = stats.friedmanchisquare(*values.T)
    assert found["chi2"] == pytest.approx(chi2) and found["p_chi2"] == pytest.approx(p)


def test_methods_in_the_same_order_everywhere_differ_for_certain(script):
    found = script.friedman(np.tile([1.0, 2.0, 3.0], (6, 1)))
    assert found["chi2"] == pytest.approx(12) and math.isinf(found["f"]) and found["p_f"] == 0


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_values_are_of_the_studentised_range(script, k):
    exact = stats.studentized_range.ppf(0.95, k, np.inf) / math.sqrt(2)
    assert script.NEMENYI[k - 2] == pytest.approx(exact, abs=0.0015)


def test_the_paper_is_copied_right(script):
    """The averages that the paper prints, but for the ones it has wrong."""
    paper = script.published()
    assert len(paper) == 31 and {p.name for p in paper} >= set(script.FILES)
    means = np.array([p.means for p in paper])
    assert means.mean(axis=0).round(3).tolist() == [0.580, 0.552, 0.669, 0.623, 0.470, 0.664, 0.773, 0.783]
    stds = np.array([p.stds for p in paper]).mean(axis=0)
    assert stds == pytest.approx([0.037, 0.033, 0.040, 0.050, 0.147, 0.037, 0.034, 0.024], abs=0.0011)
    ranks = script.ranks(means).mean(axis=0).round(2).tolist()
    assert ranks == [5.94, 6.48, 4.35, 4.85, 7.02, 3.74, 2.31, 1.31]


def test_words_are_coded(script, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("party,a,b\ndemocrat,y,\nrepublican,n,y\n")
    X, y = script.coded("Votes", votes, "democrat")
    assert X.tolist() == [[1, 2], [0, 1]] and y.tolist() == [True, False]


def test_a_folder_that_is_not_there_is_told(script, tmp_path, capsys):
    assert script.main(["--data", str(tmp_path / "none")]) == 1
    assert "--data FOLDER" in capsys.readouterr().err
