"""fsvc-svc against a reference solver and its own identities; dkp against hand numbers and its twin."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from data import BINARY, csr, made, train
from sklearn.metrics import cohen_kappa_score
from sklearn.svm import SVC

from bigclf.algorithms import registry
from bigclf.block import take
from bigclf.core import Shape
from bigclf.kernels import kernel_means, pairs, smo, spread
from bigclf.units import code_matrix, decode

THREE = code_matrix(["0", "1", "2"])


def mixed(n, seed, classes=3):
    """Rows of classes that lie in rings about the origin, so that no plane parts them."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, 4))
    size = np.linalg.norm(X[:, :2], axis=1) + 0.2 * r.standard_normal(n)
    return X, np.digitize(size, [0.9, 1.5][: classes - 1]).astype(np.int32)


def points(base, c, aside=True):
    return pairs.points_of(base, np.flatnonzero(base.kind) if aside else np.zeros(0, np.int64))[c]


def test_squares_far_from_the_origin_are_those_near_it():
    X = np.round(np.random.default_rng(0).standard_normal((40, 5)), 2)
    want = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel_means.squares(X, X), want, rtol=1e-12)
    np.testing.assert_allclose(kernel_means.squares(csr(X), X), want, rtol=1e-12, atol=1e-12)
    far = kernel_means.squares(X + 1e7, X + 1e7)
    np.testing.assert_allclose(far, want, rtol=1e-5)
    assert not far.diagonal().any()
    assert kernel_means.squares(X[:0], X).shape == (0, 40)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.3, 10.0, 1000.0])
def test_solver_equals_the_reference(C, weighted):
    X, y = mixed(300, 1, 2)
    t = np.where(y > 0, 1.0, -1.0)
    box = C * (np.random.default_rng(2).random(300) + 0.2 if weighted else np.ones(300))
    K = spread.gaussian(kernel_means.squares(X, X), 1.5)
    alpha = np.empty(300)
    bias = smo.solve(K, t, box, 1e-6, alpha, np.empty(300))
    want = SVC(C=1.0, gamma=1 / (2 * 1.5**2), tol=1e-6).fit(X, t, sample_weight=box)
    np.testing.assert_allclose(K @ (alpha * t) + bias, want.decision_function(X), atol=2e-3)
    assert (alpha >= 0).all() and (alpha <= box).all()
    assert abs(alpha @ t) < 1e-9 * box.sum()
    dual = want.dual_coef_[0]
    best = np.abs(dual).sum() - 0.5 * dual @ K[np.ix_(want.support_, want.support_)] @ dual
    assert alpha.sum() - 0.5 * (alpha * t) @ K @ (alpha * t) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_score_as_the_reference_on_the_same_prototypes(weighted):
    X, y = mixed(1500, 3, 2)
    learner = registry.build(
        "fsvc-svc", tuning="fixed", sigma=0.8, C=10.0, prototypes=60, **{"weight-prototypes": weighted}
    )
    s = train(learner, X, y)
    q, r = points(s.base, 0), points(s.base, 1)
    held = np.concatenate([q.held, r.held])
    assert len(held) == 120 and held.sum() == 1500
    machine = SVC(C=10.0, gamma=1 / (2 * 0.8**2), tol=1e-5)
    machine.fit(
        np.concatenate([q.X, r.X]), np.repeat([0, 1], 60), sample_weight=held / held.mean() if weighted else None
    )
    test = mixed(400, 4, 2)[0]
    np.testing.assert_allclose(learner.decision(s, test)[0], machine.decision_function(test), atol=5e-3)


def test_several_classes_answer_as_the_reference():
    X, y = mixed(1500, 5)
    learner = registry.build("fsvc-svc", tuning="ikt", prototypes=80)
    s = train(learner, X, y, code=THREE)
    each = [points(s.base, c) for c in range(3)]
    machine = SVC(C=100.0, gamma=1 / (2 * s.answer.sigma[0] ** 2), tol=1e-5)
    machine.fit(np.concatenate([p.X for p in each]), np.repeat(np.arange(3), [len(p.X) for p in each]))
    test = mixed(800, 6)[0]
    got = decode(THREE, learner.decision(s, test))
    assert np.mean(got == machine.predict(test)) > 0.99  # where each of three wins once, the rules differ


def test_scores_are_votes_and_less_than_a_third():
    X, y = mixed(900, 7)
    learner = registry.build("fsvc-svc", prototypes=50)
    scores = learner.decision(train(learner, X, y, code=THREE), X)
    won = np.round(scores)
    assert np.abs(scores - won).max() < 1 / 3
    np.testing.assert_array_equal(won.sum(axis=0), 3)


def test_choice_keeps_rows_apart_and_learns_from_them_at_the_end():
    X, y = mixed(2400, 8, 2)
    learner = registry.build("fsvc-svc", prototypes=40)
    s = train(learner, X, y)
    assert np.count_nonzero(s.base.kind) == sum(n // 2 for n in np.bincount(y))
    assert s.base.held.sum() == 2400 - np.count_nonzero(s.base.kind)
    assert s.answer.beta.any(axis=1).sum() > 10
    assert not s.answer.beta[s.base.kind == 0].any()
    assert s.answer.sigma[0] in spread.SIGMAS and s.answer.C[0] in pairs.COSTS
    test, truth = mixed(1000, 9, 2)
    plain = registry.build("fsvc", prototypes=40)
    wrong = np.mean((learner.decision(s, test)[0] > 0) != truth)
    assert wrong < 0.15 and wrong < np.mean((plain.decision(train(plain, X, y), test)[0] > 0) != truth) + 0.01


def test_distances_are_computed_once_for_all_spreads_where_there_is_room(monkeypatch):
    X, y = mixed(700, 14)
    base = train(registry.build("fsvc-svc", prototypes=30), X, y, code=THREE).base
    asked, squares = [], kernel_means.squares
    monkeypatch.setattr(kernel_means, "squares", lambda X, points: asked.append(len(X)) or squares(X, points))
    found = []
    for room in (pairs.ROOM, 0):
        choice = pairs.Choice(base, 14, pairs.COSTS, pairs.POINTS, room)
        asked.clear()
        found.append((choice.made(), choice.known))
        trials, spreads = len(choice.trials), {s for s, _, _ in choice.known}
        assert trials == 6  # three pairs, of whose few rows aside each half judges in turn
        if room:
            assert len(asked) == trials
        else:
            assert len(asked) > trials * len(spreads)
    assert found[0] == found[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_way_is_judged_on_rows_that_its_machines_have_not_seen(weighted):
    X, y = mixed(2400, 15, 2)
    base = train(registry.build("fsvc-svc", prototypes=40), X, y).base
    aside = np.flatnonzero(base.kind)
    half = np.concatenate([aside[base.kind[aside] == c][::2] for c in (1, 2)])  # judges; the others are points
    each = [p.X for p in pairs.points_of(base, np.setdiff1d(aside, half))]
    held = np.concatenate([p.held for p in pairs.points_of(base, np.setdiff1d(aside, half))])
    machine = SVC(C=10.0, gamma=1 / (2 * spread.SIGMAS[14] ** 2), tol=1e-2)
    machine.fit(
        np.concatenate(each), np.repeat([0, 1], [len(p) for p in each]), held / held.mean() if weighted else None
    )
    want = cohen_kappa_score(base.kind[half] - 1, machine.predict(base.aside[half]))
    got = pairs.Choice(base, 14, pairs.COSTS, pairs.POINTS, pairs.ROOM).values(14, [(1.0, True), (10.0, weighted)])
    assert got[1] == pytest.approx(want, abs=0.01) and 0.5 < want < 1


def test_rows_near_the_borders_become_points():
    X, y = mixed(4000, 16, 2)
    base = train(registry.build("fsvc-svc", prototypes=80), X, y).base
    aside = np.flatnonzero(base.kind)
    numbers = pairs.Numbers(1.0, 10.0, False)
    every = pairs.made(base, numbers, pairs.POINTS)  # there is room for all
    each = pairs.points_of(base, pairs.spaced(base, 600))
    machine = SVC(C=10.0, gamma=0.5, tol=1e-5)
    machine.fit(np.concatenate([p.X for p in each]), np.repeat([0, 1], [len(p.X) for p in each]))
    rest = np.setdiff1d(aside, pairs.spaced(base, 300))
    want = rest[np.argsort(np.abs(machine.decision_function(base.aside[rest])))[:300]]
    found = pairs.made(base, numbers, 600)
    points = np.flatnonzero(found.beta.any(axis=1))
    near = np.isin(points, want)
    assert 150 < near.sum() < len(points)
    assert np.isin(points[~near], pairs.spaced(base, 300)).mean() > 0.98  # rounding may swap some at the end
    test, truth = mixed(4000, 17, 2)
    wrong = [np.mean(pairs.votes(base, m, test).argmax(axis=0) != truth) for m in (every, found)]
    assert len(aside) > 1900 and wrong[1] < wrong[0] + 0.01, wrong


def test_first_points_are_of_all_classes_and_of_the_whole_stream():
    X, y = mixed(3000, 18)
    order = np.argsort(y, kind="stable")
    base = train(registry.build("fsvc-svc", prototypes=20), X[order], y[order], code=THREE).base
    got, kind = pairs.spaced(base, 90), base.kind[np.flatnonzero(base.kind)]
    assert len(set(got.tolist())) == 90
    share = 90 * np.bincount(kind.astype(int)) / len(kind)
    assert np.abs(np.bincount(base.kind[got].astype(int)) - share).max() < 1
    assert np.diff(got).max() <= np.ceil(len(kind) / 90) + 1
    few = pairs.near_borders(base, pairs.train_all(base, pairs.Numbers(1.0, 10.0, False), got), 90)
    assert len(few) == 90 and (np.diff(few) > 0).all() and (base.kind[few] > 0).all()


@pytest.mark.parametrize("name", ["fsvc-svc", "dkp"])
def test_scores_do_not_depend_on_how_rows_are_cut(name):
    X, y = made(2000, 10)
    for rows, code in ((X, BINARY), (csr(X), BINARY)):
        learner = registry.build(name)
        s = train(learner, rows, y, code=code)
        whole = learner.decision(s, rows)
        parts = [learner.decision(s, take(rows, a, b)) for a, b in ((0, 1), (1, 700), (700, 2000))]
        assert np.concatenate(parts, axis=1).tobytes() == whole.tobytes()


@pytest.mark.parametrize("name", ["fsvc-svc", "dkp"])
@pytest.mark.parametrize("tuning", ["auto", "min", "max", "left-corner", "ikt", "fixed"])
def test_every_rule_answers(name, tuning):
    X, y = mixed(600, 11)
    learner = registry.build(name, tuning=tuning, prototypes=30, sigma=1.0 if tuning == "fixed" else 0.0)
    assert np.isfinite(learner.decision(train(learner, X, y, code=THREE), X)).all()


@pytest.mark.parametrize("name", ["fsvc-svc", "dkp"])
def test_a_class_without_rows_is_never_the_answer_and_one_class_always(name):
    X, y = mixed(200, 12, 2)
    learner = registry.build(name)
    scores = learner.decision(train(learner, X, y, code=THREE), X)
    assert (scores[2] == -np.inf).all() and np.isfinite(scores[:2]).all()
    alone = train(learner, X, np.ones(200, np.int32))
    assert (learner.decision(alone, X) > 0).all()


ROWS = np.array(
    [[0, 0], [1, 0], [0.2, 0.2], [3, 3], [4, 3], [3.2, 3.4], [0.9, 0.1], [0, 3], [0.5, 3.5], [0.1, 2.6]], np.float64
)
KIND = np.array([0, 0, 0, 1, 1, 1, 0, 2, 2, 2], np.int32)
ASKED = np.array([[1, 1], [2, 2], [0, 2]], np.float64)
MEANS = np.array(  # of the kernel, of each class (down) at the three rows asked, worked by hand
    [
        [0.5404470692, 0.0565649844, 0.1293925869],
        [0.0056535471, 0.1739439789, 0.0020946685],
        [0.0824011779, 0.1069363284, 0.5058733574],
    ]
)


def test_dkp_of_linear_error_by_hand():
    learner = registry.build("dkp", error="linear", prototypes=2, tuning="fixed", sigma=1.0)
    scores = learner.decision(train(learner, ROWS, KIND, code=THREE), ASKED)
    np.testing.assert_allclose(scores, (2 * MEANS - MEANS.sum(axis=0)) / 6, atol=1e-9)
    assert decode(THREE, scores).tolist() == [0, 1, 2]


def test_dkp_of_quadratic_error_meets_its_targets():
    X, y = mixed(60, 13)
    learner = registry.build("dkp", prototypes=60, tuning="fixed", sigma=0.5)
    s = train(learner, X, y, code=THREE)
    want = 0.5 * np.where(y == np.arange(3)[:, None], 1.0, -1.0)
    np.testing.assert_allclose(learner.decision(s, X), want, atol=1e-3)


def test_fsvc_svc_answers_the_worked_example():
    learner = registry.build("fsvc-svc", prototypes=2, tuning="ikt")
    s = train(learner, ROWS, KIND, code=THREE)
    assert s.answer.sigma[0] == pytest.approx(2**0.5)
    assert decode(THREE, learner.decision(s, ASKED)).tolist() == [0, 1, 2]


def test_before_the_end_there_is_no_score():
    learner = registry.build("fsvc-svc")
    assert np.isnan(learner.decision(learner.init(Shape(1, 3, 2)), np.ones((2, 3)))).all()


def test_ten_rows_of_a_class_among_many_are_not_given_up():
    r = np.random.default_rng(3)
    X, y = r.standard_normal((20_000, 5)), np.zeros(20_000, np.int32)
    y[r.choice(20_000, 10, replace=False)] = 1
    X[y == 1] += 2
    learner = registry.build("fsvc-svc")
    s = train(learner, X, y)
    test = r.standard_normal((4000, 5)) + np.repeat([[0.0], [2.0]], [3000, 1000], axis=0)
    answer = learner.decision(s, test)[0] > 0
    assert (answer[:3000]).mean() < 0.01 and answer[3000:].mean() > 0.4
    assert "class 'rare'" in " ".join(learner.doubts(s, ("many", "rare")))
    assert learner.doubts(train(learner, *mixed(900, 1, 2)), ("many", "rare")) == []


def test_all_rows_aside_of_a_rare_class_are_points():
    X, y = mixed(3000, 18, 2)
    y[:] = 0
    y[::100] = 1
    base = train(registry.build("fsvc-svc", prototypes=20), X, y).base
    got = pairs.spaced(base, 90)
    assert len(set(got.tolist())) == 90 and (base.kind[got] == 2).sum() == 15 == (base.kind == 2).sum()


def test_what_solving_takes_falls_with_the_prototypes_and_is_no_more_than_is_counted():
    X, y = mixed(6000, 19, 2)
    counted = []
    for prototypes in (5, 20, 60):
        learner = registry.build("fsvc-svc", prototypes=prototypes)
        s = train(learner, X, y)
        s = s._replace(base=s.base._replace(solved=np.zeros(1)))
        tracemalloc.start()
        learner.finish(s)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        counted.append(learner.solving(Shape(1, X.shape[1], 2)))
        assert peak < counted[-1] + (4 << 20), (peak, counted)
    assert counted[0] < counted[1] / 3 < counted[2] / 9
