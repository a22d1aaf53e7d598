"""Logistic regression against its twin, and the laws of its steps; averages of first-order weights."""

from __future__ import annotations

import naive_logistic
import numpy as np
import pytest
from data import BINARY, csr, made, train
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf.algorithms import registry
from bigclf.core import Block, Shape
from bigclf.kernels.logistic import flow
from bigclf.units import code_matrix, new_plan


def grown(m, c):
    """Of the margin m, under steps that would move it by c in all if the gradient stayed 1."""
    a = float(np.exp(m))
    return flow(a, 1 / (1 + a), c)


def learn(learner, X, y, weight=None, repeat=None):
    """State and plan after these rows."""
    plan = new_plan(BINARY, y, weight)
    if repeat is not None:
        plan = plan._replace(repeat=np.ascontiguousarray(np.broadcast_to(repeat, plan.target.shape), np.int32))
    plan = plan._replace(post=np.full(plan.target.shape, np.nan))
    cols = X.cols if hasattr(X, "cols") else X.shape[1]
    return learner.update(learner.init(Shape(1, cols, 2)), Block(np.arange(len(y)), X, y), plan), plan


def twin_of(X, y, weight=None, eta=0.3):
    twin = naive_logistic.Logistic(X.shape[1], eta)
    for i, (x, t) in enumerate(zip(X, 2 * y - 1)):
        twin.row(x, t, 1.0 if weight is None else weight[i])
    return twin


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("power", [0, 3, 7])
def test_weights_and_their_average_are_those_of_the_twin(power, sparse):
    X, y = made(400, 1, d=5, dtype=np.float64)
    weight = np.random.default_rng(2).choice([0.25, 1.0, 3.0], 400)
    learner = registry.build("logistic", average_power=power)
    s, _ = learn(learner, csr(X) if sparse else X, y, weight)
    twin = twin_of(X, y, weight)
    np.testing.assert_allclose(s.w[0], twin.w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learner.weights(s)[0], twin.average(power), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(learner.decision(s, X)[0], X @ twin.average(power), rtol=1e-8, atol=1e-11)


def test_first_row_by_hand():
    """G = g^2 = 1/4, so d = (1/2, 2) x 2 / s^2 x s^2 ..., k = 2 + 2: each column of a first row counts alike."""
    X, y = np.array([[0.5, -8.0]]), np.array([1], np.int32)
    s, plan = learn(registry.build("logistic", eta=1.0), X, y)
    z = naive_logistic.flow(0.0, 4.0, 1.0)
    np.testing.assert_allclose(s.w[0], [z / 4 * 2 / 0.5, -z / 4 * 2 / 8.0], rtol=1e-9)
    np.testing.assert_allclose(plan.post[0, 0], z, rtol=1e-9)
    assert plan.pre[0, 0] == 0.0


@given(st.floats(-600, 480), st.floats(1e-12, 1e6))
@settings(max_examples=300, deadline=None)
def test_the_flow_ends_where_it_should(m, c):
    """z + e^m (e^z - 1) = c, by relative distance of the sides."""
    z = grown(m, c)
    assert 0 < z <= c * (1 + 1e-12)
    assert z + np.exp(m) * np.expm1(z) == pytest.approx(c, rel=1e-9)


@given(st.floats(-30, 30), st.floats(1e-6, 100), st.floats(1e-6, 100))
@settings(max_examples=200, deadline=None)
def test_the_flow_in_two_parts_ends_where_the_whole_does(m, a, b):
    """Importance a, then b, is importance a + b."""
    first = grown(m, a)
    assert first + grown(m + first, b) == pytest.approx(grown(m, a + b), rel=1e-8)


@given(st.lists(st.floats(1e-8, 1e8), min_size=6, max_size=6), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_units_of_the_columns_do_not_matter(units, seed):
    X, y = made(200, seed, d=6, dtype=np.float64)
    learner = registry.build("logistic")
    _, plain = learn(learner, X, y)
    _, other = learn(learner, X * np.array(units), y)
    np.testing.assert_allclose(other.pre, plain.pre, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("importance", [1e-9, 1.0, 1e3, 1e9])
def test_no_importance_takes_a_row_too_far(importance):
    """With a = e^margin a step ends before log(a + eta h k), and k is at most columns (1 + a) / sqrt(h)."""
    X, y = made(60, 4, dtype=np.float64)
    X = np.sign(X)  # all columns in their units from the first row on
    learner = registry.build("logistic", average=False)
    _, plan = learn(learner, X, y, np.full(60, importance))
    before, after = plan.pre[0] * plan.target[0], plan.post[0] * plan.target[0]
    assert (after > before).all()
    a = np.exp(before)
    assert (after <= np.log(a + 0.3 * importance**0.5 * X.shape[1] * (1 + a)) + 1e-9).all()


def test_weights_of_one_are_no_weights_and_rows_that_weigh_nothing_teach_nothing():
    X, y = made(90, 5)
    learner = registry.build("logistic")
    plain, _ = learn(learner, X, y)
    ones, _ = learn(learner, X, y, np.ones(90))
    odd = np.arange(90) % 2 == 1
    none, _ = learn(learner, X, y, odd.astype(float))
    half, _ = learn(learner, X[odd], y[odd])
    for a, b in ((plain, ones), (none, half)):
        assert all(p.tobytes() == q.tobytes() for p, q in zip(a, b))


def test_a_row_repeated_is_as_many_rows():
    X, y = made(80, 6, dtype=np.float64)
    times = np.random.default_rng(1).integers(0, 4, 80)
    for name in ("logistic", "perceptron", "pa-1"):
        learner = registry.build(name, average=True)
        a, _ = learn(learner, X, y, repeat=times)
        b, _ = learn(learner, np.repeat(X, times, axis=0), np.repeat(y, times))
        np.testing.assert_allclose(learner.decision(a, X), learner.decision(b, X), rtol=1e-8, atol=1e-10)


def test_values_of_any_size_leave_finite_scores():
    """Far margins, values near the ends of their range, columns that were zero so far."""
    X, y = made(300, 7, dtype=np.float64)
    X[:, 1] *= 1e150
    X[:, 2] *= 1e-150
    X[150:, 3] *= 1e100  # after which what came before is next to nothing
    X[:200, 4] = 0
    y[250:] = 1 - y[250:]
    for average in (False, True):
        learner = registry.build("logistic", average=average, eta=1000.0)
        s, plan = learn(learner, X, y)
        assert np.isfinite(plan.pre).all() and np.isfinite(plan.post).all()
        assert np.isfinite(learner.decision(s, X)).all()


def test_a_larger_value_leaves_what_was_learned_in_its_units():
    """Weights shrink as the column's largest value grows; the other columns stay."""
    X = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 10.0]])
    y = np.array([1, 0, 1], np.int32)
    learner = registry.build("logistic", average=False)
    s, _ = learn(learner, X[:2], y[:2])
    before = s.w.copy()
    plan = new_plan(BINARY, y[2:])._replace(weight=np.full((1, 1), 1e-30))
    s = learner.update(s, Block(np.arange(2, 3), X[2:], y[2:]), plan)
    np.testing.assert_allclose(s.w[0], before[0] * [1.0, 0.1], rtol=1e-12)


def test_probabilities_of_rows_drawn_from_them():
    """One pass over rows of a logistic model: the log-loss is near the least there can be, and so are the weights."""
    r = np.random.default_rng(8)
    n, truth = 40_000, np.array([-0.5, 1.5, -1.0, 0.0, 0.3])
    X = r.standard_normal((n, 5)) * [1, 1, 30, 1, 0.01]
    X[:, 0] = 1
    m = X / [1, 1, 30, 1, 0.01] @ truth
    y = (r.random(n) < 1 / (1 + np.exp(-m))).astype(np.int32)
    learner = registry.build("logistic")
    s, plan = learn(learner, X[:30_000], y[:30_000])
    scores = learner.decision(s, X[30_000:])[0]
    t = 2 * y[30_000:] - 1
    least = np.logaddexp(0, -t * m[30_000:]).mean()
    assert np.logaddexp(0, -t * scores).mean() < least + 0.003
    np.testing.assert_allclose(learner.weights(s)[0] * [1, 1, 30, 1, 0.01], truth, atol=0.12)


def test_each_class_is_a_unit_of_its_own():
    X, y = made(500, 9)
    y[::3] = 2
    code = code_matrix(["0", "1", "2"])
    learner = registry.build("logistic")
    whole = train(learner, X, y, code=code)
    for k in range(3):
        alone = train(learner, X, (y == k).astype(np.int32))
        np.testing.assert_array_equal(whole.w[k], alone.w[0])


def test_flipped_labels_flip_the_scores():
    X, y = made(300, 10)
    for name in ("logistic", "perceptron", "pa-2"):
        learner = registry.build(name, average=True)
        if name == "perceptron":  # a score of 0 is wrong for both
            y[0] = 1
        a, b = train(learner, X, y), train(learner, X, 1 - y)
        np.testing.assert_allclose(learner.decision(a, X), -learner.decision(b, X), rtol=1e-9, atol=1e-12)


STEPS = {
    "perceptron": lambda m, sq: float(m <= 0),
    "pa": lambda m, sq: max(0.0, 1 - m) / sq,
    "pa-1": lambda m, sq: min(0.1, max(0.0, 1 - m) / sq),
    "pa-2": lambda m, sq: max(0.0, 1 - m) / (sq + 1 / 0.2),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_averaged_weights_are_the_mean_of_all_that_were(name, sparse):
    X, y = made(300, 11, dtype=np.float64)
    learner = registry.build(name, average=True, **({"C": 0.1} if name in ("pa-1", "pa-2") else {}))
    s, plan = learn(learner, csr(X) if sparse else X, y)
    w, sums = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i, (x, t) in enumerate(zip(X, 2 * y - 1)):
        if i:
            assert plan.pre[0, i] == pytest.approx(sums / i @ x, rel=1e-9, abs=1e-11)
        w = w + STEPS[name](t * (w @ x), x @ x) * t * x
        sums += w
    np.testing.assert_allclose(learner.weights(s)[0], sums / 300, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(s.w[0], w, rtol=1e-9, atol=1e-12)


def test_averages_count_rows_by_their_weights():
    X, y = made(100, 12, dtype=np.float64)
    weight = np.random.default_rng(3).choice([0.5, 1.0, 4.0], 100)
    learner = registry.build("perceptron", average=True)
    s, _ = learn(learner, X, y, weight)
    w, sums = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for x, t, g in zip(X, 2 * y - 1, weight):
        w = w + g * (t * (w @ x) <= 0) * t * x
        sums += g * w
    np.testing.assert_allclose(learner.weights(s)[0], sums / weight.sum(), rtol=1e-9, atol=1e-12)


def test_an_average_outdoes_the_last_weights_on_noisy_rows():
    r = np.random.default_rng(13)
    X = r.standard_normal((6000, 10))
    y = (X[:, 0] + X[:, 1] + 2 * r.standard_normal(6000) > 0).astype(np.int32)
    right = {}
    for average in (False, True):
        learner = registry.build("perceptron", average=average)
        s = train(learner, X[:5000], y[:5000])
        right[average] = ((learner.decision(s, X[5000:])[0] >= 0) == y[5000:]).mean()
    assert right[True] > right[False] + 0.03


@pytest.mark.parametrize("name", ["logistic", "logistic --drift ddm"])
def test_scores_are_log_odds(name):
    assert registry.build("logistic", **({"drift": "ddm"} if "drift" in name else {})).logit


@pytest.mark.parametrize("method", ["oob", "ob", "oadac2", "orusb1", "oabm1", "bole", "csogd-sum1"])
def test_votes_of_an_ensemble_are_none(method):
    if registry.get(method).settled is None or "members" not in [p.name for p in registry.get(method).params]:
        pytest.skip("has no members")
    learner = registry.build(method, base="logistic", members=3)
    assert not learner.logit and not learner.probable and learner.weights is None
