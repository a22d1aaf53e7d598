"""Every algorithm against its naive twin; and the identities that its source states."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from data import BINARY, csr, made, train

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.core import Block, Shape
from bigclf.units import code_matrix, new_plan

CASES = [
    *((name, {}) for name, spec in registry.specs().items() if spec.settled is None),  # those over a base have theirs
    ("pa-1", {"C": 0.05}),
    ("pa-2", {"C": 0.05}),
    ("logistic", {"eta": 2.0}),
    ("pegasos", {"lam": 0.1}),
    ("pegasos", {"lam": 0.1, "project": True}),
    ("arow", {"cov": "full", "r": 0.3}),
    ("arow", {"r": 3.0}),
    ("arow", {"diag": "drop"}),
    ("ar-rls", {"weights": "decay", "b": 0.01, "tau": 0.2}),
    ("cw-var", {"cov": "full", "eta": 0.9}),
    ("cw-stdev", {"cov": "full", "eta": 0.9}),
    ("acog-1", {"cov": "full", "eta": 0.3}),
    ("acog-1", {"metric": "cost", "cost": 0.6, "gamma": 2.0}),
    ("acog-2", {"cov": "full", "mean-cov": "old"}),
    ("acog-2", {"mean-cov": "old", "eta": 0.1}),
    ("rls", {"form": "recursive", "b": 0.01, "tau": 0.2}),
    ("ir-rls", {"b": 0.01, "eta": 0.5}),
    ("ls", {"b": 2.0, "tau": 0.3, "eta": 0.7}),
    ("nr-rls", {"b": 0.01, "tau": -0.3, "eta": 2.0}),
]
# on noisy rows confidence-weighted variances go to zero, and then nothing can be compared; ir-rls is O(rows^2)
ROWS = {"cw-var": 150, "cw-stdev": 150, "ir-rls": 600}


def error(got, want):
    """Distance relative to the length of the right vector: the recursions round, and some weights are near zero."""
    return np.linalg.norm(got - want) / np.linalg.norm(want)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "params"), CASES)
def test_equals_its_naive_twin(name, params, sparse):
    if registry.build(name).grain == "end" or name in ("gnb", "vfdt"):
        pytest.skip("its answer is no row of weights: its own tests compare scores with a twin's")
    twin = getattr(naive, name.replace("-", "_"))
    X, y = made(ROWS.get(name, 3000), seed=5, d=9, dtype=np.float64)
    X[17] = 0  # a row of zeros teaches nothing
    state = train(
        registry.build(name, **{k.replace("-", "_"): v for k, v in params.items()}), csr(X) if sparse else X, y
    )
    of_twin = {k.replace("-", "_"): v for k, v in params.items() if k != "form"}
    assert error(state.w[0], twin(X, 2.0 * y - 1, **of_twin)) < 1e-9


@pytest.mark.parametrize("name", ["ls", "ter"])
def test_scaling_when_solving_equals_scaled_rows(name):
    """Minima and maxima of the whole stream, in one pass."""
    X, y = made(3000, seed=6, dtype=np.float64)
    X[:, 2] = X[:, 2] * 40 + 300
    X[:, 3] = 7.5  # constant: maps to 0
    spec = registry.get(name)
    learner = spec.build(**registry.arguments(spec, {}), scale="minmax")
    scores = learner.decision(train(learner, X, y), X)[0]
    scaled = naive.minmax(X)
    want = scaled @ getattr(naive, name)(scaled, 2.0 * y - 1)
    np.testing.assert_allclose(scores, want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["nr-rls", "ls"])
def test_order_of_rows_does_not_matter(name):
    X, y = made(2500, seed=7, dtype=np.float64)
    order = np.random.default_rng(0).permutation(len(y))
    learner = registry.build(name)
    np.testing.assert_allclose(train(learner, X, y).w, train(learner, X[order], y[order]).w, rtol=1e-10, atol=1e-12)


def test_nr_rls_does_not_mind_how_often_a_class_is_repeated():
    X, y = made(900, seed=8, dtype=np.float64)
    learner = registry.build("nr-rls")
    more = np.concatenate([np.arange(900), np.flatnonzero(y == 1), np.flatnonzero(y == 1)])
    np.testing.assert_allclose(train(learner, X, y).w, train(learner, X[more], y[more]).w, rtol=1e-9, atol=1e-12)


def test_flipped_labels_flip_the_weights():
    X, y = made(900, seed=9, dtype=np.float64)
    for name in ("nr-rls", "ls", "arow", "pa-1"):
        learner = registry.build(name)
        np.testing.assert_allclose(train(learner, X, y).w, -train(learner, X, 1 - y).w, rtol=1e-9, atol=1e-12)


def test_published_recursion_equals_the_batch_solution():
    X, y = made(400, seed=10, d=5, dtype=np.float64)
    learner = registry.build("nr-rls", form="algorithm1", b=0.01)
    assert error(train(learner, X, y).w[0], naive.ter(X, 2.0 * y - 1, b=0.01)) < 1e-8


@pytest.mark.parametrize("rows", [1, 2, 7, 150])
def test_nr_rls_ter_and_ir_rls_agree_after_every_row(rows):
    X, y = made(150, seed=11, dtype=np.float64)
    want = naive.ter(X[:rows], 2.0 * y[:rows] - 1)
    for name, params in (("nr-rls", {}), ("nr-rls", {"form": "per-row"}), ("ter", {}), ("ir-rls", {})):
        assert error(train(registry.build(name, **params), X[:rows], y[:rows]).w[0], want) < 1e-8


@pytest.mark.parametrize(
    ("name", "form"), [("nr-rls", "per-row"), ("nr-rls", "algorithm1"), ("rls", "recursive"), ("ir-rls", None)]
)
def test_forms_by_row_score_each_row_by_all_before_it(name, form):
    X, y = made(120, seed=12, d=4, dtype=np.float64)
    params = {"b": 0.01} | ({"form": form} if form else {})
    learner = registry.build(name, **params)
    plan = new_plan(BINARY, y)
    learner.update(learner.init(Shape(1, 4, 2)), Block(np.arange(120), X, y), plan)
    for i in (1, 2, 60, 119):
        w = getattr(naive, name.replace("-", "_"))(X[:i], 2.0 * y[:i] - 1, b=0.01)
        assert plan.pre[0, i] == pytest.approx(w @ X[i], rel=1e-6)


def test_recursive_rls_takes_a_late_class_exactly():
    X, y = made(200, seed=13, dtype=np.float64)
    y[150:] = np.where(X[150:, 2] > 0, 2, y[150:])
    learner = registry.build("rls", form="recursive")
    early, late = code_matrix(["0", "1"]), code_matrix(["0", "1", "2"])
    s = train(learner, X[:150], y[:150])
    s = states.change_units(learner, s, early, late, Shape(3, X.shape[1], 3))
    s = train(learner, X[150:], y[150:], code=late, state=s, start=150)
    for u in range(3):
        assert error(s.w[u], naive.ls(X, np.where(y == u, 1.0, -1.0))) < 1e-8
