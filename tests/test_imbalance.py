"""The methods for imbalanced streams against their transcription, on every base that has sense."""

from __future__ import annotations

import math

import naive_imbalance as naive
import numpy as np
import pytest
from data import BINARY, SIGNS, TEN, csr, train
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.algorithms.bagging import seeds
from bigclf.compose.kernel_space import in_kernel_space
from bigclf.core import Block, Shape
from bigclf.errors import BudgetError, UsageError
from bigclf.kernels import chain, gradient
from bigclf.kernels.chance import EXPECT, ONCE, POISSON, ROUND, poisson, uniform
from bigclf.kernels.class_sizes import harmonic
from bigclf.units import code_matrix, decode, new_plan

CELLS = [(m, b) for m in naive.METHODS for b in naive.BASES if not naive.refused(m, b)]
RANDOM = [m for m in naive.METHODS if any(p.name == "draw" for p in registry.get(m).params)]
CHANCE = [m for m in naive.METHODS if any(p.name == "seed" for p in registry.get(m).params)]
OURS = {
    "K": "neighbours",
    "g": "gamma",
    "gamma": "rate",
    "lam": "l1",
    "smoothing": "rho_smoothing",
    "R": "ratio",
    "n_plus": "n_positive",
}
OURS |= {"n_minus": "n_negative", "c_plus": "cost_positive", "c_minus": "cost_negative", "mu_plus": "mu_positive"}
OURS |= {"mu_minus": "mu_negative"}


class Drawn:
    """The draws of the compiled loops, for the transcription."""

    def __init__(self, seed):
        self.seed = seed

    def poisson(self, lam, t, m):
        return int(poisson(float(lam), POISSON, self.seed, t, m))

    def uniform(self, t, j):
        return float(uniform(self.seed, t, j))


class DrawnInside(Drawn):
    """The draws of members that draw themselves."""

    def __init__(self, seed, members):
        self.seeds = seeds({"seed": seed, "members": members})

    def poisson(self, lam, t, m):
        return int(poisson(float(lam), POISSON, self.seeds[m], t, 0))


def stream(n, seed, classes=2, d=5):
    """Rows whose classes overlap, the later ones rare."""
    r = np.random.default_rng(seed)
    y = np.minimum(r.geometric(0.7 if classes == 2 else 0.55, n) - 1, classes - 1).astype(np.int32)
    X = r.standard_normal((n, d)) + np.eye(max(classes, d))[y][:, :d]
    return X / np.linalg.norm(X, axis=1)[:, None], y


def built(method, base, **params):
    given = {OURS.get(k, k): v for k, v in params.items()}
    if method in naive.BAGS + naive.CHAINS:
        given.setdefault("members", 4)
    return registry.build(method, base=base, **given)


def draws(method, seed=1):
    """Those of a method with this seed."""
    if method not in CHANCE:
        return None
    return DrawnInside(seed, 4) if method == "okb" else Drawn(seed)


def learned(learner, X, y, classes=2):
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    plan = new_plan(code, y)
    s = learner.update(learner.init(Shape(len(code), X.shape[1], classes)), Block(np.arange(len(y)), X, y), plan)
    return s, plan.pre, decode(code, plan.pre)


def agree(learner, X, y, want, classes=2):
    """Scores before each row, answers, and scores of the final model on other rows."""
    s, pre, said = learned(learner, X, y, classes)
    scores = want.scores[None] if classes == 2 else want.scores.T
    ensemble = want.f.shape[1] > 1
    tie = {"rtol": 0, "atol": 2e-6} if ensemble else {"rtol": 1e-9, "atol": 1e-11}
    if ensemble and classes > 2:
        scores = 2 * scores - 1  # a share of the votes, from -1 to 1
    np.testing.assert_allclose(pre, scores, **tie)
    np.testing.assert_array_equal(said, want.labels)
    for path, array in states.flatten(s).items():
        if ensemble and want.W is not None and path.endswith("/w"):
            m = int(path.split("/")[-2]) if path.split("/")[-2].isdigit() else 0
            np.testing.assert_allclose(array, np.atleast_2d(want.W[m]), rtol=1e-9, atol=1e-11)
    Z, _ = stream(20, 99, classes)
    got = learner.decision(s, Z)
    told = [want.score(z) for z in Z]
    final = np.array([t[0] for t in told]).T.reshape(got.shape)
    np.testing.assert_allclose(got, 2 * final - 1 if ensemble and classes > 2 else final, **tie)
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    np.testing.assert_array_equal(decode(code, got), [t[1] for t in told])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("method", "base"), CELLS)
def test_every_cell_is_its_transcription(method, base, classes):
    X, y = stream(150, 3, classes)
    want = naive.run(method, base, X, y, classes=classes, members=4, draws=draws(method))
    agree(built(method, base), X, y, want, classes)


OTHER = [
    ("hgd", "svm", {"smoothing": 0.9}),
    ("hgd", "svm", {"smoothing": 0.9, "warmup": False}),
    ("hgd", "perceptron", {"grad_norm": "l2"}),
    ("csogd-cost1", "svm", {"c_plus": 3.0, "c_minus": 1.0}),
    ("csogd-sum2", "svm", {"n_plus": 0.3, "n_minus": 0.7}),
    ("csogd-sum1", "kernel", {"g": 0.3}),
    ("csrda1", "svm", {"l1_on": "mean", "lam": 0.01, "gamma": 0.1}),
    ("csrda2", "svm", {"window": 7, "mu_plus": 0.8, "mu_minus": 0.2}),
    ("csrda4", "perceptron", {"lam": 0.3}),
    ("ohr", "svm", {"hybrid_share": 0.2}),
    ("oor", "perceptron", {"apply": "repeat"}),
    ("oob", "svm", {"theta": 0.99}),
    ("ob", "svm", {"apply": "repeat"}),
    ("orusb1", "svm", {"R": 1.5, "apply": "repeat"}),
    ("oadac2", "svm", {"c_plus": 2.0, "c_minus": 0.5}),
    ("osmote", "svm", {"K": 5, "buffer": 10}),
    ("ogd", "svm", {"eta_schedule": "sqrt"}),
]
TWO_ONLY = [
    ("oor", "svm", {"ir": 4.0}),
    ("our", "svm", {"ir": 4.0}),
    ("csogd-sum2", "svm", {"ir": 4.0}),
    ("orusb3", "svm", {"ir": 4.0}),
]


@pytest.mark.parametrize(("method", "base", "params", "classes"), [(*o, c) for o in OTHER for c in (2, 4)])
def test_options_are_as_transcribed(method, base, params, classes):
    X, y = stream(150, 5, classes)
    want = naive.run(method, base, X, y, classes=classes, members=4, draws=draws(method), **params)
    if classes > 2:  # costs of many classes are alike, and windows compare all
        params = {k: v for k, v in params.items() if k[:2] not in ("c_", "n_", "mu")}
    agree(built(method, base, **params), X, y, want, classes)


@pytest.mark.parametrize(("method", "base", "params"), TWO_ONLY)
def test_a_known_ratio_of_two_classes_is_as_transcribed(method, base, params):
    X, y = stream(150, 6)
    agree(built(method, base, **params), X, y, naive.run(method, base, X, y, members=4, draws=draws(method), **params))


# --- the ten rows of the worked numbers: eta 0.3, draws rounded, three members

WORKED = {
    "ogd": [1.08, 0.48],
    "hgd": [1.706203, 1.220786],
    "csogd-cost1": [1.32, 0.75],
    "csogd-cost2": [4.80, 6.30],
    "csogd-sum1": [1.32, 0.75],
    "csogd-sum2": [1.365, 0.945],
    "csrda1": [158.113883, 189.736660],
    "csrda2": [132.815662, 265.631323],
    "csrda3": [1.356, 0.577],
    "csrda4": [0.0, 156.608037],
    "oor": [1.35, 0.99],
    "our": [1.08, 0.48],
    "ohr": [1.65, 0.60],
    "osmote": [1.08, 0.48],
    "oob": [1.59, 0.78],
    "owob": [1.08, 0.48],
    "oub": [0.75, 0.57],
    "owub": [1.08, 0.48],
    "oeb": [1.08, 0.48],
    "okb": [0.18, 0.21],
    "ob": [1.08, 0.48],
}
MEMBERS = {
    "ouob": [[0.75, 0.57], [1.65, 0.60], [1.35, 0.99]],
    "oadab": [[1.08, 0.48], [0.87, 0.66], [-0.39, -0.18]],
    "oadac2": [[1.08, 0.48], [0.87, 0.66], [-0.21, 0.27]],
    "ocsb2": [[1.08, 0.48], [0.87, 0.66], [-0.09, 0.21]],
    "orusb1": [[1.20, 0.42], [0.99, 0.60], [0.24, 0.60]],
    "orusb2": [[1.20, 0.42], [1.20, 0.42], [0.45, 0.42]],
    "orusb3": [[1.08, 0.48], [0.69, 0.45], [0.24, 0.60]],
}
TRUSTS = {
    "oadab": [1.386294, 1.190308, 0.980289],
    "oadac2": [1.504077, 1.318475, 1.101748],
    "ocsb2": [1.386294, 1.326111, 1.557762],
    "orusb1": [1.386294, 0.134573, 0.363725],
    "orusb2": [1.386294, 0.134573, 0.0],
    "orusb3": [1.386294, 0.0, 0.319904],
}


def ten(method, **params):
    more = {"draw": "round"} if method in RANDOM else {}
    more |= {"between": "half"} if method == "osmote" else {}
    more |= {"members": 3} if method in naive.BAGS + naive.CHAINS else {}
    learner = registry.build(method, **more, **params)
    s, pre, _ = learned(learner, TEN, SIGNS)
    return learner, s, pre[0]


def weights(s, path="w"):
    return [a[0] for p, a in states.flatten(s).items() if p.rsplit("/", 1)[-1] == path]


@pytest.mark.parametrize("method", WORKED)
def test_worked_weights(method):
    learner, s, _ = ten(method)
    if method.startswith("csrda"):
        np.testing.assert_allclose(learner.decision(s, np.eye(2))[0], WORKED[method], atol=5e-7)
        return
    for w in weights(s):
        np.testing.assert_allclose(w, WORKED[method], atol=1e-6)


@pytest.mark.parametrize("method", MEMBERS)
def test_worked_weights_of_members(method):
    np.testing.assert_allclose(weights(ten(method)[1]), MEMBERS[method], atol=1e-6)


@pytest.mark.parametrize("method", TRUSTS)
def test_worked_weights_of_votes(method):
    s = ten(method)[1]
    got = np.empty(3)
    kind = {"oadac2": chain.ADAC2, "ocsb2": chain.CSB2}.get(method, chain.ADABOOST)
    chain.trusts(kind, s.record.sums, 1, got)
    np.testing.assert_allclose(got, TRUSTS[method], atol=1e-6)


def test_worked_steps_of_harmonized_descent():
    _, s, pre = ten("hgd")
    want = [0, 0, 0.1875, 0.375, -1.257, 1.5585, -1.3665, 0.834, 2.321786, 0.241879]
    np.testing.assert_allclose(pre, want, atol=1e-6)
    np.testing.assert_allclose(s.pull, [0.372486, 0.719806], atol=1e-6)
    _, s, _ = ten("hgd", base="perceptron")
    np.testing.assert_allclose(s.w[0], [-0.04, 0.545], atol=1e-9)
    np.testing.assert_allclose(s.pull, [0.252750, 0.126], atol=1e-9)
    _, s, _ = ten("hgd", base="kernel")
    want = [-0.3, -0.15, 1.8, -0.48, -0.395604, -0.345533, -0.311137, 0.550301]
    np.testing.assert_allclose(s.base.w[0, :8], want, atol=1e-6)
    np.testing.assert_array_equal(s.points[:, :8].T, TEN[[0, 1, 2, 3, 4, 6, 7, 9]])
    np.testing.assert_allclose(ten("hgd", rho_smoothing=0.9)[1].w[0], [1.708221, 1.214732], atol=1e-6)
    np.testing.assert_allclose(ten("hgd", rho_smoothing=0.9, warmup=False)[1].w[0], [1.260232, 0.953904], atol=1e-6)


def test_worked_steps_of_many_classes():
    X = np.array([[1, 0], [0.8, 0.3], [0, 1], [0.9, -0.2], [-1, -0.4], [0.1, 0.7], [0.7, 0.1]])
    s, _, _ = learned(registry.build("hgd"), X, np.array([0, 0, 1, 0, 2, 1, 0], np.int32), 3)
    np.testing.assert_allclose(s.w, [[2.530742, -0.654054], [-0.3, 1.35], [-2.230742, -0.695946]], atol=1e-6)
    np.testing.assert_allclose(s.pull, [0.421787, 0.81, 1.2528], atol=1e-6)


def test_worked_rows_made_up():
    _, s, pre = ten("osmote", base="kernel")
    np.testing.assert_allclose(s.base.points[:, [6, 10]].T, [[0.95, 0.2], [0.9, 0.7]], atol=1e-12)
    np.testing.assert_allclose(pre[6:], [-0.350431, 0.089808, 0.286578, -0.391069], atol=1e-6)


def test_worked_score_of_a_chain():
    learner, s, _ = ten("oadab")
    assert learner.decision(s, np.array([[0.5, 0.5]]))[0, 0] == pytest.approx(0.448795, abs=2e-6)


def test_repeated_steps_stop_where_the_loss_ends():
    np.testing.assert_allclose(weights(ten("oor", apply="repeat")[1])[0], [1.32, 0.81], atol=1e-9)


@settings(deadline=None)
@given(st.floats(-3, 3), st.floats(0.01, 2), st.integers(0, 30), st.sampled_from([gradient.PERCEPTRON, gradient.HINGE]))
def test_how_many_repeats_move_is_what_a_loop_finds(m, move, k, gate):
    n = 0
    for _ in range(k):
        score = m + n * move
        if not (score <= 0 if gate == gradient.PERCEPTRON else score < 1):
            break
        n += 1
    got = gradient.times(gate, 1.0, m, move, k)
    at_gate = abs(m + min(n, got) * move - (0.0 if gate == gradient.PERCEPTRON else 1.0)) < 1e-9
    assert got == n or (at_gate and abs(got - n) == 1)


# --- laws


@pytest.mark.parametrize("base", naive.BASES)
@pytest.mark.parametrize(
    ("method", "params", "plain"),
    [
        ("csogd-cost2", {"cost_positive": 1.0, "cost_negative": 1.0}, "ogd"),
        ("oadac2", {"cost_positive": 1.0, "cost_negative": 1.0}, "oadab"),
        ("ocsb2", {"cost_positive": 1.0, "cost_negative": 1.0}, "oadab"),
        ("orusb3", {"ir": 1.0}, "oadab"),
        ("ohr", {"hybrid_share": 1.0}, "oor"),
        ("ohr", {"hybrid_share": 0.0}, "our"),
    ],
)
def test_without_costs_a_method_is_the_plain_one(method, params, plain, base):
    X, y = stream(200, 7)
    a, _, said = learned(registry.build(method, base=base, **params), X, y)
    b, _, other = learned(registry.build(plain, base=base), X, y)
    for mine, theirs in zip(weights(a), weights(b), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(said, other)


def test_a_margin_of_one_is_none():
    X, y = stream(200, 7)
    a = learned(registry.build("csogd-cost1", cost_positive=0.5, cost_negative=0.5), X, y)[0]
    b = learned(registry.build("ogd"), X, y)[0]
    np.testing.assert_array_equal(a.base.w, b.w)


def test_the_rule_of_many_classes_is_that_of_two_when_there_are_two():
    """And the positive class is the smaller one."""
    pull, size = np.array([0.7, 0.2]), np.array([30.0, 4.0])
    for c in (0, 1):
        two = harmonic(pull, size, 1.0, 0.0, c, c == 1, False)
        assert harmonic(pull, size, 1.0, 0.0, c, True, True) == pytest.approx(two, rel=1e-12)


def test_harmonized_descent_ends_where_the_ratio_of_the_classes_weighs():
    X, y = stream(6000, 8)

    def g_mean(method):
        _, _, said = learned(registry.build(method), X, y)
        return np.sqrt((said[y == 1] == 1).mean() * (said[y == 0] == 0).mean())

    assert abs(g_mean("hgd") - g_mean("csogd-sum2")) < 0.03
    assert g_mean("hgd") > g_mean("ogd")
    s = learned(registry.build("hgd"), X, y)[0]
    assert 0.9 < s.pull[0] / s.pull[1] < 1.15
    plain = learned(registry.build("ogd"), X, y)[0]
    assert s.gii[0] < plain.gii[0]


def test_share_and_index_of_the_gradient():
    """By the definitions, row by row, on the scores that the method itself gives."""
    X, y = stream(300, 9)
    s, pre, _ = learned(registry.build("ogd"), X, y)
    sign = 2.0 * y - 1
    moved = 0.09 * (X * X).sum(axis=1) * (sign * pre[0] < 1)
    up, down = np.cumsum(moved * y), np.cumsum(moved * (1 - y))
    np.testing.assert_allclose(s.pull, [down[-1], up[-1]], rtol=1e-9)
    known = (up > 0) & (down > 0)
    assert s.gii[0] == pytest.approx(((down[known] / up[known] - 1) ** 2).sum(), rel=1e-9)


# --- draws


@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0, 29.0, 75.0])
def test_draws_have_the_mean_and_variance_of_their_rate(rate):
    n = 40_000
    k = np.array([poisson(rate, POISSON, 1, row, 3) for row in range(n)])
    assert abs(k.mean() - rate) < 4.5 * np.sqrt(rate / n)
    assert abs(k.var() / rate - 1) < 4.5 * np.sqrt((2 + 1 / rate) / n)
    if rate < 5:
        for value in range(6):
            p = np.exp(-rate) * rate**value / math.factorial(value)
            assert abs((k == value).mean() - p) < 4.5 * np.sqrt(p * (1 - p) / n) + 1e-9


def test_draws_differ_by_seed_row_and_member():
    seen = {uniform(seed, row, which) for seed in range(10) for row in range(30) for which in range(30)}
    assert len(seen) == 9000
    assert abs(np.mean(list(seen)) - 0.5) < 0.02


def test_rounded_and_unchanced_rates():
    assert [poisson(r, ROUND, 1, 0, 0) for r in (0.4, 0.5, 1.49, 2.5)] == [0, 1, 1, 3]
    assert poisson(0.37, EXPECT, 1, 0, 0) == 0.37
    assert poisson(ONCE, POISSON, 1, 0, 0) == 1
    assert poisson(1e9, EXPECT, 1, 0, 0) == 1e4


def test_another_seed_draws_otherwise():
    X, y = stream(200, 10)
    one, same, other = (learned(registry.build("ob", seed=k), X, y)[0] for k in (1, 1, 2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(weights(one), weights(same)))
    assert any(a.tobytes() != b.tobytes() for a, b in zip(weights(one), weights(other)))


# --- compositions


def test_parts_multiply():
    """A row that counts twice in a bag in a bag counts as often as both draws say."""
    X, y = stream(200, 11)
    outer = registry.build("ob", base="ob", members=1, base_members=1)
    s = learned(outer, X, y)[0]
    k = np.array([poisson(1.0, POISSON, 1, t, 0) for t in range(200)])
    inner_seed = seeds({"seed": 1, "members": 1})[0]
    k *= np.array([poisson(1.0, POISSON, inner_seed, t, 0) for t in range(200)])
    w = np.zeros(X.shape[1])
    for x, t, times in zip(X, 2.0 * y - 1, k):
        if t * (w @ x) < 1:
            w = w + 0.3 * times * t * x
    np.testing.assert_allclose(weights(s)[0], w, rtol=1e-9, atol=1e-12)


def test_class_weights_multiply_with_those_of_a_method():
    X, y = stream(200, 12)
    plan = new_plan(BINARY, y, np.where(y == 1, 3.0, 1.0))
    learner = registry.build("csogd-cost2", cost_positive=2.0, cost_negative=1.0)
    s = learner.update(learner.init(Shape(1, X.shape[1], 2)), Block(np.arange(200), X, y), plan)
    six = registry.build("csogd-cost2", cost_positive=6.0, cost_negative=1.0)
    np.testing.assert_allclose(s.base.w, learned(six, X, y)[0].base.w, rtol=1e-12)


@pytest.mark.parametrize("method", ["oob", "oadab", "csogd-sum2"])
def test_members_share_kernel_values_whatever_lies_between(method):
    X, y = stream(300, 13)
    learner = registry.build(method, base="hgd", base_base="kernel", base_gamma=0.5)
    assert {a for names in learner.axes.values() for a in names if a == "supports"}
    assert [path for path, names in learner.axes.items() if names == ("cols", "supports")] == ["points"]
    s = train(learner, X, y)
    t = train(learner, csr(X), y)
    np.testing.assert_allclose(learner.decision(s, X), learner.decision(t, csr(X)), rtol=1e-7, atol=1e-9)


def test_a_full_support_set_is_told_and_a_limited_one_forgets_the_oldest():
    X, y = stream(2000, 14)
    limited = registry.build("ogd", base="kernel", kernel_budget=50)
    s = train(limited, X, y)
    assert s.filled[0] == 50
    whole = train(registry.build("ogd", base="kernel"), X, y)
    n = int(whole.filled[0])
    assert n > 50
    last = np.flatnonzero((X[:, None] == s.points.T[None, :50]).all(axis=2).any(axis=1))
    assert last.min() > 1024  # all are of the last rows
    small = registry.build("ogd", base="kernel")
    full = in_kernel_space(registry.build("ogd"), 1.0, 60, forget=False)
    assert small.most(Shape(1, 5, 2))["supports"] > 20_000
    with pytest.raises(BudgetError, match="more than 60 support points.*--kernel-budget"):
        train(full, X, y)


@pytest.mark.parametrize(
    ("method", "params", "why"),
    [
        ("csrda1", {"base": "perceptron"}, "no margin"),
        ("csogd-cost1", {"base": "perceptron"}, "no margin"),
        ("csogd-sum1", {"base": "perceptron"}, "no margin"),
        ("csrda1", {"base": "kernel"}, "each column"),
        ("csrda2", {"base": "kernel"}, "each column"),
        ("csrda3", {"base": "kernel"}, "each column"),
        ("csrda4", {"base": "kernel"}, "each column"),
        ("hgd", {"base": "arow"}, "part of the steps"),
        ("okb", {"base": "hgd"}, "part of the steps"),
        ("oob", {"base": "nr-rls"}, "row by row"),
        ("oob", {"base": "pa"}, "weights of rows"),
        ("oob", {"base": "fsvc"}, "row by row"),
        ("oob", {"base": "ob"}, None),
        ("ogd", {"base": "pa-1"}, "part of the steps"),
        ("oob", {"base": "osmote", "base_base": "kernel"}, "row by row"),
        ("oob", {"base": "csrda1", "base_base": "kernel"}, "each column"),
        ("oob", {"base": "csogd-cost1", "base_base": "perceptron"}, "no margin"),
        ("csogd-cost1", {"base": "oob", "base_base": "perceptron"}, "no margin"),
        ("hgd", {"gamma": 2.0}, "--gamma: goes with --base kernel"),
        ("hgd", {"base": "perceptron", "kernel_budget": 5}, "--kernel-budget: goes with --base kernel"),
        ("csogd-sum1", {"base": "arow"}, "what margin"),
        ("oob", {"base": "nothing"}, "no algorithm"),
        ("oob", {"base": "arow", "eta": 0.1}, "--eta"),
        ("oob", {"draw": "weight", "apply": "repeat"}, "--apply weight"),
    ],
)
def test_bases_without_sense_are_refused_by_name(method, params, why):
    if why is None:
        registry.build(method, **params)
        return
    with pytest.raises(UsageError, match=why):
        registry.build(method, **params)
