"""Measures against scikit-learn, and against figures done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bigclf.training.metrics import Curve, add_pairs, measures

sk = pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("k", [2, 3, 7])
def test_measures_equal_scikit_learn(k):
    r = np.random.default_rng(k)
    truth = r.integers(0, k, 500)
    guess = np.where(r.random(500) < 0.6, truth, r.integers(0, k, 500))
    m = measures(add_pairs(np.zeros((0, 0), np.int64), truth, guess))
    each = sk.precision_recall_fscore_support(truth, guess)
    assert m.rows == 500
    assert m.accuracy == pytest.approx(sk.accuracy_score(truth, guess))
    assert m.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(truth, guess))
    assert m.kappa == pytest.approx(sk.cohen_kappa_score(truth, guess))
    assert m.mcc == pytest.approx(sk.matthews_corrcoef(truth, guess))
    assert m.macro_f1 == pytest.approx(sk.f1_score(truth, guess, average="macro"))
    assert m.macro_precision == pytest.approx(sk.precision_score(truth, guess, average="macro"))
    assert m.g_mean == pytest.approx(float(np.prod(each[1])) ** (1 / k))
    np.testing.assert_allclose([(c.precision, c.recall, c.f1) for c in m.classes], np.array(each[:3]).T)


def test_what_is_undefined_is_none_and_not_zero():
    m = measures(np.array([[5, 0], [0, 0]]))
    assert (m.accuracy, m.kappa, m.mcc, m.classes[1].recall, m.g_mean) == (1.0, None, None, None, None)
    assert measures(np.array([[3, 2], [0, 0]])).g_mean is None
    assert measures(np.zeros((2, 2), np.int64)).accuracy is None


@pytest.mark.parametrize("k", [2, 3, 7])
def test_kappa_and_mcc_are_1_where_all_is_right_and_nowhere_beyond(k):
    """A root of each factor of the denominator made it 1.0000000000000002 of 1 and 3 rows, all right."""
    r = np.random.default_rng(k)
    for most in (10, 10**3, 10**9):
        for _ in range(300):
            rows = r.integers(1, most, k)
            right, wrong = measures(np.diag(rows)), measures(np.roll(np.diag(rows), 1, axis=0))
            assert (right.kappa, right.mcc) == (1.0, 1.0)
            assert -1.0 <= wrong.kappa < 0.0 and -1.0 <= wrong.mcc < 0.0
    assert measures(np.array([[0, 3], [1, 0]])).mcc == -1.0


def test_a_class_never_found_makes_the_g_mean_zero():
    assert measures(np.array([[5, 0], [3, 0]])).g_mean == 0.0


def test_area_is_within_its_stated_error():
    r = np.random.default_rng(1)
    positive = r.random(20_000) < 0.3
    scores = r.standard_normal(20_000) + positive
    curve = Curve(1)
    for a in range(0, 20_000, 3_000):
        curve.add(scores[None, a : a + 3_000], positive[None, a : a + 3_000])
    area, bound = curve.area()
    assert bound < 1e-3
    assert abs(area - sk.roc_auc_score(positive, scores)) <= bound


def test_area_of_scores_in_the_wrong_order_is_zero_and_of_ties_one_half():
    positive = np.array([[True, True, False, False]])
    for scores, want in (([-3.0, -2.0, -1.0, 4.0], 0.0), ([2.0, 1e9, -1e9, 1.0], 1.0), ([0.0, -0.0, 0.0, 0.0], 0.5)):
        curve = Curve(1)
        curve.add(np.array([scores]), positive)
        assert curve.area()[0] == want
    assert Curve(1).area() == (None, None)


def test_area_orders_infinities_and_tiny_numbers():
    curve = Curve(1)
    curve.add(np.array([[-np.inf, -1e-300, 1e-30, np.inf]]), np.array([[False, False, True, True]]))
    assert curve.area()[0] == 1.0
