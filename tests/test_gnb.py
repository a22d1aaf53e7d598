"""Gaussian naive Bayes: the worked numbers, and the laws of its sums."""

from __future__ import annotations

import numpy as np
import pytest
from data import BINARY, csr, made, train

from bigclf.algorithms import registry
from bigclf.core import Block, Shape
from bigclf.units import code_matrix, decode, new_plan

THREE = code_matrix(["0", "1", "2"])
TWELVE = np.array(
    [
        (0.1, 0.5, 0),
        (0.2, 0.4, 0),
        (0.3, 0.6, 1),
        (0.2, 0.7, 1),
        (0.6, 0.3, 2),
        (0.7, 0.4, 2),
        (0.3, 0.3, 0),
        (0.8, 0.6, 1),
        (0.6, 0.7, 1),
        (0.2, 0.2, 2),
        (0.7, 0.1, 2),
        (0.4, 0.5, 0),
    ]
)
QUERY = np.array([[1.0, 0.5, 0.5]])


def twelve():
    return np.column_stack([np.ones(12), TWELVE[:, :2]]), TWELVE[:, 2].astype(np.int32)


def learn(learner, X, y, code, weight=None, repeat=None, state=None):
    plan = new_plan(code, y, weight)
    if repeat is not None:
        plan = plan._replace(repeat=np.broadcast_to(repeat, plan.target.shape).astype(np.int32).copy())
    plan = plan._replace(post=np.full(plan.target.shape, np.nan))
    cols = X.cols if hasattr(X, "cols") else X.shape[1]
    state = learner.init(Shape(len(code), cols, code.shape[1])) if state is None else state
    return learner.update(state, Block(np.arange(len(y)), X, y), plan), plan


def votes(learner, state, X):
    """Shares by class from the scores of units."""
    f = learner.decision(state, X)
    return (1 + (f if len(f) > 1 else np.concatenate([-f, f]))) / 2


def test_worked_numbers():
    """boosting.md, section 5."""
    X, y = twelve()
    gnb = registry.build("gnb", floor=0.01)
    s, _ = learn(gnb, X, y, THREE)
    np.testing.assert_allclose(s.mean[:, 1:], [(0.25, 0.425), (0.475, 0.65), (0.55, 0.25)], atol=1e-15)
    np.testing.assert_allclose(s.M2[:, 1:], [(0.05, 0.0275), (0.2275, 0.01), (0.17, 0.05)], atol=1e-15)
    np.testing.assert_allclose(votes(gnb, s, QUERY)[:, 0], [0.3394289851, 0.4385811058, 0.2219899091], atol=1e-10)


def test_equals_the_formula_of_two_passes():
    """Means, variances and densities by numpy over all rows at once."""
    X, y = made(700, 1, dtype=np.float64)
    w = np.random.default_rng(2).uniform(0.1, 3, 700)
    gnb = registry.build("gnb", floor=0.05)
    s, _ = learn(gnb, X, y, BINARY, w)
    log = np.empty((2, 700))
    for c in range(2):
        mean = np.average(X[y == c], axis=0, weights=w[y == c])
        v = np.average((X[y == c] - mean) ** 2, axis=0, weights=w[y == c]) + 0.05
        log[c] = np.log(w[y == c].sum() / w.sum()) - 0.5 * (np.log(2 * np.pi * v) + (X - mean) ** 2 / v).sum(axis=1)
    p = np.exp(log - log.max(axis=0))
    np.testing.assert_allclose(gnb.decision(s, X)[0], (p[1] - p[0]) / p.sum(axis=0), rtol=1e-9, atol=1e-12)


def test_large_means_lose_no_spread():
    X, y = made(500, 3, dtype=np.float64)
    X[:, 1:] += 1e6
    gnb = registry.build("gnb")
    s, _ = learn(gnb, X, y, BINARY)
    np.testing.assert_allclose(s.M2[1] / s.n[1], X[y == 1].var(axis=0), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_shards_add_up(sparse):
    """One of them empty, and one without a class."""
    X, y = made(900, 4, dtype=np.float64)
    gnb = registry.build("gnb")
    whole = train(gnb, X, y)
    parts = [y < 9, (y == 1) & (X[:, 1] > 1), np.zeros(900, bool)]
    parts[0] &= ~parts[1]
    merged = None
    for part in parts:
        s = train(gnb, csr(X[part]) if sparse else X[part], y[part])
        merged = s if merged is None else gnb.merge(merged, s)
    for name in ("n", "mean", "M2"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(merged.code, whole.code)
    empty = gnb.merge(train(gnb, X[:0], y[:0]), train(gnb, X[:0], y[:0]))
    assert not gnb.decision(empty, X).any()


@pytest.mark.parametrize("how", ["weight", "repeat"])
def test_weight_two_is_twice_the_row(how):
    X, y = made(60, 5, dtype=np.float64)
    gnb = registry.build("gnb")
    w = np.where(np.arange(60) % 3 == 0, 2, 1)
    s, _ = learn(gnb, X, y, BINARY, **{how: w})
    twice, _ = learn(gnb, np.repeat(X, w, axis=0), np.repeat(y, w), BINARY)
    for a, b in zip(s, twice, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    none, _ = learn(gnb, X, y, BINARY, **{how: np.zeros(60)})
    assert not none.n.any() and not none.mean.any()


def test_scores_before_and_after_each_row():
    X, y = twelve()
    gnb = registry.build("gnb")
    _, plan = learn(gnb, X, y, THREE)
    s = gnb.init(Shape(3, 3, 3))
    for i in range(12):
        np.testing.assert_array_equal(plan.pre[:, i : i + 1], gnb.decision(s, X[i : i + 1]))
        s, _ = learn(gnb, X[i : i + 1], y[i : i + 1], THREE, state=s)
        np.testing.assert_array_equal(plan.post[:, i : i + 1], gnb.decision(s, X[i : i + 1]))
    np.testing.assert_allclose(plan.pre[:, 0], 2 / 3 - 1)
    np.testing.assert_array_equal(plan.pre[:, 1], [1, -1, -1])  # one class is known, and it is the answer


def test_which_class_is_positive_is_known_by_the_targets():
    X, y = made(300, 6)
    gnb = registry.build("gnb")
    s, _ = learn(gnb, X, y, BINARY)
    turned, _ = learn(gnb, X, y, -BINARY)
    np.testing.assert_array_equal(gnb.decision(s, X), -gnb.decision(turned, X))
    np.testing.assert_array_equal(decode(BINARY, gnb.decision(s, X)), decode(-BINARY, gnb.decision(turned, X)))


def test_extreme_rows_give_numbers():
    """A class of one row, constant columns, values at the ends of float32."""
    X = np.array([[1, 3e38, 0, 5], [1, -3e38, 1e-38, 5], [1, 1e-30, 0, 5], [1, 2, 0, 5]], np.float32)
    y = np.array([0, 1, 1, 1], np.int32)
    gnb = registry.build("gnb", floor=1e-12)
    s, plan = learn(gnb, X, y, BINARY)
    f = gnb.decision(s, X)
    assert np.isfinite(f).all() and np.isfinite(plan.pre).all() and np.isfinite(plan.post).all()
    assert (decode(BINARY, f) == y).all()


def test_command_line(good, write):
    r = np.random.default_rng(7)
    y = r.integers(0, 3, 600)
    X = r.standard_normal((600, 2)) + 3 * np.eye(3)[y][:, :2]
    write("a.csv", "kind,a,b\n" + "".join(f"k{k},{a:.4f},{b:.4f}\n" for k, (a, b) in zip(y, X)))
    write("a.svm", "".join(f"{k} 1:{a:.4f} 2:{b:.4f}\n" for k, (a, b) in zip(y, X)))
    for name, more in (("a.csv", ("--label", "kind")), ("a.svm", ())):
        document = good("train", name, *more, "--algo", "gnb", "--json", "-q").json
        assert document["progressive"]["error"] < 0.15
        assert good("info", "model.npz", "--json").json["scale"] == "none"
        labels = good("predict", "model.npz", name, "-q").lines
        right = np.mean([p.removeprefix("k") == str(k) for p, k in zip(labels, y, strict=True)])
        assert right == pytest.approx(good("evaluate", "model.npz", name, "--json", "-q").json["accuracy"])
        assert right > 0.85


def test_shards_on_the_command_line(good, write):
    r = np.random.default_rng(8)
    write("a.svm", "".join(f"{i % 2} 1:{r.normal(i % 2):.4f} 2:{r.normal():.4f}\n" for i in range(400)))
    for i in (1, 2):
        good("train", "a.svm", "--algo", "gnb", "--shard", f"{i}/2", "-o", f"{i}.npz", "-q")
    good("merge", "1.npz", "2.npz", "-o", "both.npz", "-q")
    good("train", "a.svm", "--algo", "gnb", "-o", "one.npz", "-q")
    both, one = (
        [float(line.split("\t")[1]) for line in good("predict", m, "a.svm", "--scores", "-q").lines]
        for m in ("both.npz", "one.npz")
    )
    np.testing.assert_allclose(both, one, rtol=1e-6, atol=1e-6)


def test_what_naive_bayes_cannot_carry_is_told(good, write):
    r = np.random.default_rng(1)
    rows = [f"{'xy'[i % 2]},{r.random():.4f},{r.random():.4f}\n" for i in range(60)]
    for value, what in (("0.5", ""), ("1e30", "hide all else"), ("-1e140", "hide all else")):
        write("a.csv", "kind,a,b\n" + "".join([*rows, f"x,{value},0.5\n"]))
        said = good("train", "a.csv", "--label", "kind", "--algo", "gnb", "--dtype", "float64", "-o", "m.npz").err
        assert what in said
        assert what or "column number" not in said


def test_wide_sparse_rows_are_told_to_be_no_case_for_it(good, write):
    write("a.svm", "".join(f"{i % 2} {1 + 37 * i % 3000}:1 3000:1\n" for i in range(200)))
    assert "wide sparse rows" in good("train", "a.svm", "--algo", "gnb", "-o", "m.npz").err
