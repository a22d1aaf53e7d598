"""Prototypes and the classifiers over them: worked numbers, naive twins, and what their source states."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import naive
import numpy as np
import pytest
from data import BINARY, csr, made, train
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.cli.main import main
from bigclf.core import Shape
from bigclf.kernels import kernel_means, spread, tuning
from bigclf.limits import RESERVE, Headroom, Limit
from bigclf.model import load
from bigclf.training import fit
from bigclf.units import code_matrix, decode

THREE = code_matrix(["0", "1", "2"])
NAMES = ("fsvc", "fsvc-ova", "fsvc-linear", "fsvc-linear-ova")
GAUSSIAN = NAMES[:2]

# Ten rows of three classes, at most two prototypes of each; and three rows to score.
X = np.array([[0, 0], [1, 0], [0.2, 0.2], [3, 3], [4, 3], [3.2, 3.4], [0.9, 0.1], [0, 3], [0.5, 3.5], [0.1, 2.6]])
Y = np.array([0, 0, 0, 1, 1, 1, 0, 2, 2, 2], np.int32)
T = np.array([[1.0, 1], [2, 2], [0, 2]])
H = np.array(
    [
        (0.1164634908, -0.3674185940, -0.2945909915),
        (-0.4077888992, -0.2394984674, -0.4113477778),
        (-0.3444327298, -0.3198975794, 0.0790394496),
    ]
)
CURVE = (
    *[0.25] * 9, 0.2499986992, 0.2494823338, 0.2389504387, 0.1978432735, 0.1360326256, 0.0814014719, 0.0508653139,
    0.0756216924, 0.1705616929, 0.2862608918, 0.3768761025, 0.4337264816, 0.4655927050, 0.4824663187, 0.4911490466,
    0.4955532910, 0.4977713117, 0.4988843192,
)  # fmt: skip


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)


def taught(name, rows=X, labels=Y, code=THREE, cuts=(), **params):
    """A learner and its state; under a fixed spread of 1 where nothing else is said, as no row is kept aside then."""
    if name in GAUSSIAN and "tuning" not in params:
        params = {"sigma": 1.0} | params | {"tuning": "fixed"}
    learner = registry.build(name, **params)
    return learner, train(learner, np.asarray(rows, float), labels, cuts, code)


def eighths(y):
    """Which rows are the 8th, 16th, ... of their class."""
    return np.array([(y[: i + 1] == c).sum() % 8 == 0 for i, c in enumerate(y.tolist())])


def scores(name, Z=T, **params):
    learner, s = taught(name, **params)
    return learner.decision(s, Z)


def held(s, q):
    """Prototypes (L, d) of a class, and how many rows each holds."""
    n = int(s.base.filled[q])
    return s.base.P[q, :, :n].T, s.base.held[q, :n]


def rows_of(n, seed, classes=3, d=5):
    r = np.random.default_rng(seed)
    y = r.integers(0, classes, n).astype(np.int32)
    rows = r.normal(size=(n, d)) + 1.5 * r.normal(size=(classes, d))[y]
    rows[r.random(rows.shape) < 0.2] = 0
    return rows, y


# --- worked numbers


def test_prototypes_of_ten_rows():
    _, s = taught("fsvc", prototypes=2)
    for q, P, n in (
        (0, [[0.1, 0.1], [0.95, 0.05]], [2, 2]),
        (1, [[3.1, 3.2], [4, 3]], [2, 1]),
        (2, [[0.05, 2.8], [0.5, 3.5]], [2, 1]),
    ):
        close(held(s, q)[0], P)
        assert held(s, q)[1].tolist() == n
    close(2 * s.answer.offset, (0.8479671568, 0.8268848926, 0.8536678155))
    close(s.answer.offset[0] - s.answer.offset[1], 0.0105411321)


def test_curve_of_ten_rows():
    _, s = taught("fsvc", prototypes=2)
    close(tuning.curve(s.base, "first"), CURVE)


@pytest.mark.parametrize(
    ("rule", "power"), [("min", 0.5), ("ikt", 0.5), ("max", 6), ("left-corner", -1.5), ("auto", 0.5)]
)
def test_spread_of_ten_rows(rule, power):
    """`auto` keeps the eighth row aside, which leaves classes 0 and 1 as they were."""
    _, s = taught("fsvc", prototypes=2, tuning=rule, labels=np.where(np.arange(10) == 7, -1, Y).astype(np.int32))
    assert s.answer.sigma[0] == pytest.approx(2.0**power, rel=1e-15)


def test_means_and_scores_of_three_rows():
    learner, s = taught("fsvc", prototypes=2)
    h = learner.decision(s, T)
    close(h, H)
    close(
        h + s.answer.offset[:, None],
        np.transpose(
            [
                (0.5404470692, 0.0056535471, 0.0824011779),
                (0.0565649844, 0.1739439789, 0.1069363284),
                (0.1293925869, 0.0020946685, 0.5058733574),
            ]
        ),
    )
    close(h[1] - h[0], (-0.5242523899, 0.1279201266, -0.1167567863))
    close(
        (3 * h - h.sum(axis=0)).T,
        [
            (0.9851486106, -0.5876085593, -0.3975400513),
            (-0.1754411412, 0.2083192385, -0.0328780973),
            (-0.2568736548, -0.6071440136, 0.8640176684),
        ],
    )
    assert decode(THREE, h).tolist() == [0, 1, 2]


def test_binary_output_of_three_rows():
    two = Y < 2
    got = scores("fsvc", rows=X[two], labels=Y[two], code=BINARY, prototypes=2)
    close(got[0], (-0.5242523899, 0.1279201266, -0.1167567863))


def test_linear_scores_of_three_rows():
    learner, s = taught("fsvc-linear", prototypes=2)
    close(s.answer.w, [(0.525, 0.075), (3.55, 3.1), (0.275, 3.15)])
    close(s.answer.w[1] - s.answer.w[0], (3.025, 3.025))
    close(s.answer.offset[0] - s.answer.offset[1], -10.965625)
    close(
        learner.decision(s, T).T,
        [(0.459375, -4.45625, -1.5740625), (1.059375, 2.19375, 1.8509375), (0.009375, -4.90625, 1.3009375)],
    )


def test_scores_against_all_of_three_rows():
    close(
        scores("fsvc-ova", prototypes=2).T,
        [
            (0.3007514505, -0.4367098117, -0.3217408484),
            (-0.3023529285, -0.0507389124, -0.2163022403),
            (-0.4070010235, -0.5992736105, 0.2452421889),
        ],
    )
    _, s = taught("fsvc-ova", prototypes=2)
    close(kernel_means.rows_of(s.base, kernel_means.rest(s.base, 2)[0]), [(3.1, 3.2), (0.05, 2.8)])


# --- twins


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_the_naive_twin(name, classes, weighted, sparse):
    most, sigma = 12, 1.7
    rows, y = rows_of(400, 1, classes)
    Z = rows_of(40, 2)[0]
    code = code_matrix([str(q) for q in range(classes)])
    params = {"prototypes": most, "weight_prototypes": weighted}
    if name in GAUSSIAN:
        params |= {"tuning": "fixed", "sigma": sigma}
    learner = registry.build(name, **params)
    s = train(learner, csr(rows) if sparse else rows, y, code=code)
    got = learner.decision(s, csr(Z) if sparse else Z)
    if name == "fsvc-linear" and weighted:  # the means of all rows
        found = {q: (rows[y == q], np.ones((y == q).sum())) for q in range(classes)}
    else:
        found = naive.prototypes(rows, y, most)
        for q, (P, n) in found.items():
            np.testing.assert_allclose(held(s, q)[0], P, rtol=0, atol=1e-12)
            assert held(s, q)[1].tolist() == n.tolist()
    K = naive.inner if "linear" in name else naive.gaussian(sigma)
    if name.endswith("ova"):
        want = naive.against_all(K, found, Z, most, weighted)
        if classes == 2:
            want = want[1:] - want[:1]
    else:
        want = naive.votes(K, found, Z, weighted)
        if classes == 2:
            want = want[1:]
        else:  # the sums of all pairs from the score of each class
            assert (got.argmax(axis=0) == want.argmax(axis=0)).all()
            got = classes * got - got.sum(axis=0)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ova", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_auto_is_kappa_on_the_rows_aside_near_the_least_of_the_curve(seed, ova):
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    rows, y = rows_of(500, seed, d=3)
    most = 10
    _, s = taught("fsvc-ova" if ova else "fsvc", rows=rows, labels=y, tuning="auto", prototypes=most)
    aside = eighths(y)
    found = naive.prototypes(rows[~aside], y[~aside], most)
    answers = []
    for sigma in spread.SIGMAS:
        K = naive.gaussian(sigma)
        v = naive.against_all(K, found, rows[aside], most) if ova else naive.votes(K, found, rows[aside])
        answers.append(v.argmax(axis=0))
    kappas = np.array([cohen_kappa_score(y[aside], a) for a in answers])
    right = accuracy_score(y[aside], answers[int(kappas.argmax())])
    near = np.flatnonzero(kappas >= kappas.max() - math.sqrt(right * (1 - right) / aside.sum()))
    least = int(naive.curve(found, (0, 1), spread.SIGMAS).argmin())
    assert s.answer.sigma[0] == spread.SIGMAS[near[np.abs(near - least).argmin()]]


# --- prototypes


@given(st.integers(1, 300), st.integers(0, 999), st.integers(1, 20), st.lists(st.integers(0, 300), max_size=4))
@settings(max_examples=30, deadline=None)
def test_every_prototype_is_a_mean_of_rows(n, seed, most, cuts):
    rows, y = rows_of(n, seed)
    _, s = taught("fsvc", rows=rows, labels=y, prototypes=most, cuts=tuple(min(c, n) for c in cuts))
    for q in range(3):
        P, count = held(s, q)
        assert count.sum() == (y == q).sum() and len(P) == min(most, (y == q).sum())
        np.testing.assert_allclose(count @ P, rows[y == q].sum(axis=0), rtol=1e-10, atol=1e-10)
    assert s.base.P.shape[2] <= max(most, 1)


def test_with_room_for_all_the_prototypes_are_the_rows():
    rows, y = rows_of(90, 3)
    _, s = taught("fsvc", rows=rows, labels=y, prototypes=100)
    for q in range(3):
        np.testing.assert_array_equal(held(s, q)[0], rows[y == q])


def test_equal_seeds_are_kept_and_the_lowest_slot_wins():
    rows = np.array([[1.0, 1], [1, 1], [3, 1], [1, 2], [2, 1]])
    _, s = taught("fsvc", rows=rows, labels=np.zeros(5, np.int32), code=BINARY, prototypes=3)
    P, count = held(s, 0)
    assert count.tolist() == [2, 2, 1]  # (2, 1) is as far from slot 1 as from slot 2, and further from slot 0
    np.testing.assert_array_equal(P[0], [1, 1.5])


def test_a_class_of_one_row():
    learner, s = taught("fsvc", rows=X[:4], labels=Y[:4], code=BINARY)
    assert 2 * s.answer.offset[1] == 1.0
    assert np.isfinite(learner.decision(s, T)).all()


def test_a_class_without_rows_is_never_the_answer():
    for name in NAMES:
        learner, s = taught(name, rows=X[Y < 2], labels=Y[Y < 2])
        got = learner.decision(s, np.concatenate([T, 1e3 * T]))
        assert np.isneginf(got[2]).all() and (got[:2] > -np.inf).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_class_is_the_answer_to_everything(name):
    learner, s = taught(name, rows=X[:3], labels=Y[:3], code=code_matrix(["a"]))
    assert decode(code_matrix(["a"]), learner.decision(s, T)).tolist() == [0, 0, 0]


# --- what the source states


@pytest.mark.parametrize("pair", [NAMES[::2], NAMES[1::2]])
def test_a_wide_spread_is_the_linear_kernel(pair):
    rows, y = rows_of(500, 4)
    Z = rows_of(300, 5)[0]
    gauss, linear = (
        scores(name, Z, rows=rows, labels=y, prototypes=20, **more)
        for name, more in zip(pair, ({"sigma": 2.0**10}, {}))
    )
    assert (gauss.argmax(axis=0) == linear.argmax(axis=0)).all()


@pytest.mark.parametrize("name", NAMES)
def test_classes_that_change_places_take_their_scores_along(name):
    rows, y = rows_of(300, 6)
    order = np.array([2, 0, 1], np.int32)
    params = {"prototypes": 1} if name.endswith("ova") else {"prototypes": 15}  # which negatives goes by their order
    a, b = (scores(name, T @ np.eye(2, 5), rows=rows, labels=labels, **params) for labels in (y, order[y]))
    if name.endswith("ova"):
        a, b = scores(name, rows=X, labels=Y, prototypes=2), scores(name, rows=X, labels=order[Y], prototypes=2)
    np.testing.assert_allclose(b[order], a, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_added_to_all_rows_changes_nothing(name):
    rows, y = rows_of(300, 7)
    Z, c = rows_of(50, 8)[0], np.array([1.0, -2, 3, 0, 0.5])
    more = {"tuning": "min"} if name in GAUSSIAN else {}
    a = scores(name, Z, rows=rows, labels=y, prototypes=15, **more)
    b = scores(name, Z + c, rows=rows + c, labels=y, prototypes=15, **more)
    np.testing.assert_allclose(a - a[0], b - b[0], rtol=1e-8, atol=1e-8)


def test_of_two_classes_one_against_all_is_twice_the_binary_machine():
    rows, y = made(300, 9)
    a, b = (scores(n, rows, rows=rows, labels=y, code=BINARY, prototypes=20) for n in GAUSSIAN)
    np.testing.assert_allclose(b, 2 * a, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("classes", "most", "few", "last"), [(3, 100, 50, 50), (6, 100, 20, 20), (7, 100, 16, 20), (26, 100, 4, 4)]
)
def test_numbers_of_negatives(classes, most, few, last):
    base = registry.build("fsvc").init(Shape(classes, 2, classes)).base
    base = base._replace(filled=np.full(classes, most, float), held=np.ones((classes, most)))
    for group in kernel_means.rest(base, most)[:-1]:
        counts = np.bincount(group.at, minlength=classes)
        assert sorted(counts[counts > 0]) == [few] * (classes - 2) + [last] and counts[-1] == last
        assert group.at.size == most and group.weight.sum() == pytest.approx(1)


def test_of_very_many_classes_only_the_first_are_negatives():
    base = registry.build("fsvc").init(Shape(131, 2, 131)).base
    base = base._replace(filled=np.full(131, 3.0), held=np.tile([1.0, 5.0, 2.0], (131, 1)))
    group = kernel_means.rest(base, 50)[7]
    assert group.at.tolist() == [q for q in range(51) if q != 7] and (group.slot == 1).all()


# --- far rows and extreme spreads


@pytest.mark.parametrize("name", GAUSSIAN)
def test_far_rows_go_to_the_class_of_the_nearest_prototypes(name):
    learner, s = taught(name, sigma=1e-3)
    Z = X + [0.3, -0.2]
    got = learner.decision(s, Z)
    near = [int(Y[np.argmin(((X - z) ** 2).sum(axis=1))]) for z in Z]
    assert decode(THREE, got).tolist() == near and np.isfinite(got).all()


@pytest.mark.parametrize("sigma", [1e-30, 1e-12, 1e12, 1e30])
@pytest.mark.parametrize("name", GAUSSIAN)
def test_no_spread_gives_scores_that_are_no_numbers(name, sigma):
    learner, s = taught(name, sigma=sigma)
    assert np.isfinite(s.answer.offset).all()
    assert not np.isnan(learner.decision(s, np.concatenate([X, T, 1e100 * T, 1e300 * T]))).any()


def test_spreads_from_powers_are_those_from_exponentials():
    D = np.random.default_rng(0).exponential(30, (40, 40))
    for sigma, K in zip(spread.SIGMAS[::-1], spread.kernels(D), strict=True):
        np.testing.assert_allclose(K, np.exp(-D / (2 * sigma**2)), rtol=1e-8, atol=1e-300)


# --- rules


def test_rules_on_curves_made_up():
    j = np.arange(27.0)
    valley = 0.25 + 0.01 * np.abs(j - 15)
    assert spread.least(valley) == spread.ideal(valley) == 15
    assert spread.left_corner(valley) == 1
    assert spread.largest(valley) == 26
    step = np.where(j < 12, 0.4, 0.2)  # like a sigmoid: its least is its end, and the steepest place is taken
    assert spread.least(step) == 12 and spread.left_corner(step) == 12
    sigmoid = 1 / (1 + np.exp((j - 9.6) / 1.5))
    assert spread.ideal(sigmoid) == 10 and spread.least(sigmoid) == 26
    flat = np.full(27, 0.3)
    assert spread.least(flat) == 0 and spread.left_corner(flat) == 26  # nothing is steep: no corner, the widest


def test_populous_classes_are_those_of_most_rows():
    _, s = taught("fsvc", rows=np.concatenate([X, X[7:] + 0.1]), labels=np.concatenate([Y, Y[7:]]))
    pair = naive.prototypes(np.concatenate([X, X[7:] + 0.1]), np.concatenate([Y, Y[7:]]), 100)
    close(tuning.curve(s.base, "populous"), naive.curve(pair, (0, 2), spread.SIGMAS))
    close(tuning.curve(s.base, "first"), naive.curve(pair, (0, 1), spread.SIGMAS))


@pytest.mark.parametrize("name", ["fsvc", "fsvc-ova", "fsvc-svc", "dkp"])
def test_a_rule_gives_every_learner_the_same_spread(name):
    for rule, at in [*spread.RULES.items(), ("auto", spread.least)]:
        some = [0, 3] if rule == "auto" else [0, 1, 3, 4]  # too few to keep one aside, and then auto is min
        curve = naive.curve(naive.prototypes(X[some], Y[some], 100), (0, 1), spread.SIGMAS)
        _, s = taught(name, rows=X[some], labels=Y[some], code=BINARY, tuning=rule)
        assert s.answer.sigma == spread.SIGMAS[at(curve)], rule
        _, s = taught(name, rows=X[:2], labels=Y[:2], code=code_matrix(["a"]), tuning=rule)
        assert s.answer.sigma == 1.0, rule


# --- rows kept aside


def test_every_eighth_row_of_a_class_is_kept_aside_and_is_no_prototype():
    rows, y = rows_of(20_000, 10, d=2)
    learner = registry.build("fsvc", prototypes=5, tuning="auto")
    for cuts in ((), (3, 1000, 1001, 9999)):
        s = train(learner, rows, y, cuts, THREE)
        kept, numbers = [0, 0, 0], []
        for i in np.flatnonzero(eighths(y)):  # a class gets its third of 2,000, or half of what the others leave
            left = 2000 - sum(kept) + kept[y[i]]
            if kept[y[i]] < max(left // 2, min(2000 // 3, left)):
                kept[y[i]] += 1
                numbers.append(i)
        n = len(numbers)
        assert 1990 < n == (s.base.kind > 0).sum() <= 2000
        np.testing.assert_array_equal(s.base.aside[:n], rows[numbers])
        np.testing.assert_array_equal(s.base.kind[:n] - 1, y[numbers])
        assert s.base.held.sum() == 20_000 - n and s.base.seen[0] == 20_000


@pytest.mark.parametrize("name", ["fsvc", "fsvc-svc", "dkp"])
def test_rows_sorted_by_class_leave_some_of_each_aside(name):
    rows, y = made(20_000, 15)
    order = np.argsort(y, kind="stable")
    s = train(registry.build(name), rows[order], y[order])
    assert np.bincount(s.base.kind.astype(int), minlength=3)[1:].min() >= 400


@pytest.mark.parametrize("rule", ["min", "max", "left-corner", "ikt", "fixed"])
def test_other_rules_keep_no_row_aside(rule):
    more = {"sigma": 1.0} if rule == "fixed" else {}
    _, s = taught("fsvc", rows=rows_of(50, 11)[0], labels=rows_of(50, 11)[1], tuning=rule, **more)
    assert s.base.kind.size == 0 and s.base.held.sum() == 50


def test_with_very_many_columns_fewer_rows_are_kept_aside():
    y = np.tile([0, 1], 3500).astype(np.int32)
    rows = np.zeros((7000, 8000), np.float32)
    rows[np.arange(7000), np.arange(7000) % 8000] = 1
    learner = registry.build("fsvc", prototypes=2, tuning="auto")
    s = train(learner, csr(rows), y)
    assert (s.base.kind > 0).sum() == 500


@pytest.mark.parametrize("name", ["fsvc", "fsvc-svc", "dkp"])
@pytest.mark.parametrize("period", [2, 4, 8])
def test_classes_in_turn_lose_no_row_of_theirs(name, period):
    """By the number of the row every eighth would be of one class."""
    r = np.random.default_rng(14)
    y = (np.arange(1600) % period).astype(np.int32)
    rows = 6.0 * np.stack([y % 3, y // 3], axis=1) + 0.5 * r.standard_normal((1600, 2))
    code = code_matrix([str(c) for c in range(period)])
    learner = registry.build(name)
    s = train(learner, rows, y, code=code)
    assert (decode(code, learner.decision(s, rows)) == y).mean() > 0.99


# --- growth


@pytest.mark.parametrize("name", NAMES)
def test_late_columns_and_classes_are_as_if_they_had_been_there(name):
    rows, y = rows_of(400, 12, d=6)
    rows[:200, 4:] = 0
    y[:200] = np.where(y[:200] == 2, 0, y[:200])
    params = {"prototypes": 9} | ({"tuning": "auto"} if name in GAUSSIAN else {})
    learner = registry.build(name, **params)
    s = train(learner, np.ascontiguousarray(rows[:200, :4]), y[:200], finish=False)
    s = states.grow(learner, s, Shape(1, 6, 2))
    s = states.change_units(learner, s, BINARY, THREE, Shape(3, 6, 3))
    s = train(learner, rows[200:], y[200:], code=THREE, state=s, start=200)
    want = train(learner, rows, y, code=THREE)
    for path, array in states.flatten(want).items():
        assert states.flatten(s)[path].tobytes() == array.tobytes(), path


def test_an_answer_is_made_anew_after_more_rows():
    learner, s = taught("fsvc", rows=X[:6], labels=Y[:6])
    s = train(learner, X[6:], Y[6:], code=THREE, state=s, start=6)
    close(learner.decision(s, T), scores("fsvc"))


# --- memory


@pytest.mark.parametrize("cuts", [(), (3, 100), tuple(range(0, 400, 7))])
@pytest.mark.parametrize("name", [*GAUSSIAN, "dkp"])
def test_the_end_takes_no_more_beside_the_state_than_is_counted(name, cuts):
    """Of many columns, where a copy of the prototypes is what counts."""
    rows, y = rows_of(400, 20, 2, d=20_000)
    rows[np.random.default_rng(21).random(rows.shape) < 0.999] = 0
    X, cols = csr(rows), rows.shape[1]
    del rows
    learner = registry.build(name, prototypes=40)
    shape = Shape(1, cols, 2)
    s = train(learner, X, y, cuts, BINARY)  # compiles
    size = sum(a.nbytes for a in states.flatten(s).values())
    assert size <= states.nbytes(learner, shape)
    s = s._replace(base=s.base._replace(solved=np.zeros(1)))
    tracemalloc.start()
    learner.finish(s)
    ended = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tracemalloc.start()
    train(learner, X, y, cuts, BINARY)
    whole = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counted = learner.solving(shape)
    assert ended < counted < states.nbytes(learner, shape), (ended, counted, size)
    assert whole < size + counted + (1 << 20), (whole, counted, size)


# --- from the command line


def svm(rows, y):
    return "".join(f"{t} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(x, 1)) + "\n" for x, t in zip(rows, y))


def test_merge_of_weighted_linear_prototypes_is_exact(good, write):
    rows, y = rows_of(3000, 13)
    data = write("a.svm", svm(rows, y))
    words = ("--algo", "fsvc-linear", "--weight-prototypes", "-q")
    good("train", data, *words, "-o", "whole.npz")
    for i in (1, 2, 3):
        good("train", data, *words, "--shard", f"{i}/3", "-o", f"{i}.npz")
    good("merge", "1.npz", "2.npz", "3.npz", "-o", "merged.npz", "-q")
    whole, merged = (load(Path(name)).state for name in ("whole.npz", "merged.npz"))
    np.testing.assert_allclose(merged.first, whole.first, rtol=1e-11, atol=1e-9)
    np.testing.assert_array_equal(merged.rows, whole.rows)
    np.testing.assert_array_equal(merged.code, whole.code)
    assert good("predict", "merged.npz", data, "-q").out == good("predict", "whole.npz", data, "-q").out


@pytest.mark.parametrize("name", NAMES)
def test_other_prototypes_refuse_to_merge_by_name(name, good, fault, write):
    data = write("a.svm", svm(*rows_of(60, 14)))
    for i in (1, 2):
        good("train", data, "--algo", name, "--shard", f"{i}/2", "-o", f"{i}.npz", "-q")
    assert f"{name} cannot be merged exactly" in fault(1, "merge", "1.npz", "2.npz", "-o", "m.npz")


@pytest.mark.parametrize("name", NAMES)
def test_a_model_does_not_depend_on_how_the_file_was_read(name, good, write):
    data = write("a.svm", svm(*rows_of(3000, 15)))
    for i, size in enumerate(("4MiB", "7000", "64")):
        good("train", data, "--algo", name, "--block-size", size, "--prototypes", 20, "-o", f"{i}.npz", "-q")
    models = {Path(f"{i}.npz").read_bytes() for i in range(3)}
    assert len(models) == 1


def test_no_score_before_the_end_is_no_measure(good, write):
    data = write("a.svm", svm(*rows_of(200, 16)))
    said = good("compare", data, "--algo", "fsvc", "--algo", "fsvc-linear", "--test", data, "--json", "-q").json
    for found in said["algorithms"]:
        assert found["progressive"]["kappa"] is None and found["test"]["kappa"] > 0.5


@pytest.mark.parametrize("name", ["fsvc", "fsvc-svc"])
def test_train_tells_how_many_prototypes_fit(name, good, write, monkeypatch):
    data = write("a.svm", svm(*rows_of(400, 19)))
    words = ("train", data, "--algo", name, "--tuning", "min", "--prototypes")
    said = good(*words, "auto", "--json")
    default = {p.name: p.default for p in registry.get(name).params}["prototypes"]
    assert said.json["params"]["prototypes"] == default
    assert said.err.count(f"bigclf: --prototypes auto: {default}\n") == 1
    assert "--prototypes" not in good(*words, 40).err and good(*words, "auto", "-q").err == ""
    monkeypatch.setattr(fit, "headroom", lambda cap: Headroom((Limit("--budget", 1 << 30, RESERVE + (1 << 16)),), 0))
    said = good(*words, "auto", "--json")
    few = said.json["params"]["prototypes"]
    assert 1 < few < 100 and f"bigclf: --prototypes auto: {few}\n" in said.err
    assert load(Path("model.npz")).state.base.P.shape[2] == few


def test_advice_is_true_where_little_memory_is_left(fault, write, monkeypatch):
    """Fewer prototypes are proposed where they help; and the budget that is named is enough, and no less is."""
    data = write("a.svm", svm(*rows_of(400, 19)))
    words = ("train", data, "--algo", "fsvc-svc", "-q", "-o", "m.npz")

    def left(size, total=200 << 20):
        monkeypatch.setattr(
            fit, "headroom", lambda cap: Headroom((Limit("--budget", total, RESERVE + size),), 100 << 20)
        )

    left(1 << 20)
    said = fault(1, *words, "--prototypes", 300)
    assert "try fewer --prototypes, or auto; --budget " in said and "prototypes" in said and "slots" not in said
    enough = int(said.split("; --budget ")[1].split("MiB")[0])
    assert main([str(w) for w in (*words, "--prototypes", "auto")]) == 0
    left((1 << 20) + (enough - 200 << 20))
    assert main([str(w) for w in (*words, "--prototypes", 300)]) == 0
    left((1 << 20) + (enough - 201 << 20))
    fault(1, *words, "--prototypes", 300)
    left(1000)
    for n in ("auto", 300):
        assert "fewer --prototypes" not in fault(1, *words, "--prototypes", n)


@pytest.mark.parametrize("name", [*NAMES, "fsvc-svc", "dkp"])
def test_what_wide_sparse_files_cost_is_told(name, good):
    said = good("algos", name).out
    assert "dense in the columns, however sparse the rows" in said
    assert "8 bytes x classes x prototypes x columns" in said
    assert any("dense" in note for note in good("algos", name, "--json").json[name]["notes"])
    assert "dense in the columns" in " ".join(good("train", "--algo", name, "--help").out.replace("│", " ").split())


def test_a_spread_out_of_bounds_is_refused(fault, write):
    data = write("a.svm", svm(*rows_of(20, 17)))
    assert "--sigma" in fault(2, "train", data, "--algo", "fsvc", "--tuning", "fixed", "--sigma", "1e-200", "-o", "m")


@pytest.mark.parametrize("name", ["fsvc", "fsvc-ova", "fsvc-svc", "dkp"])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e30])
def test_that_no_spread_is_better_is_told_in_one_line(name, scale, good, write):
    X, y = rows_of(60, 17)
    lines = [f"{t} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(x, 1)) for x, t in zip((X * scale).tolist(), y)]
    data = write("a.svm", "\n".join(lines) + "\n")
    words = ("train", data, "--algo", name, "--scale", "none", "--dtype", "float64")
    assert good(*words).err.count("no spread is better than another") == 1
    assert "no spread" not in good(*words, "--sigma", 1).err and good(*words, "-q").err == ""
    assert "no spread" not in good("train", write("b.svm", svm(X, y)), "--algo", name).err


@pytest.mark.parametrize("name", ["fsvc", "fsvc-ova", "fsvc-svc", "dkp"])
@pytest.mark.parametrize("rule", ["ikt", "min", "max", "left-corner"])
def test_a_rule_and_a_spread_together_are_refused(name, rule, fault, write):
    data = write("a.svm", svm(*rows_of(20, 17)))
    said = fault(2, "train", data, "--algo", name, "--tuning", rule, "--sigma", 2)
    assert f"--tuning {rule}" in said and "--sigma" in said and not Path("model.npz").exists()


def test_a_model_that_has_grown_very_wide_loads(good, write):
    """Narrow rows leave more aside than wide ones may."""
    rows, y = rows_of(17_000, 18, d=2)
    data = write("a.svm", svm(rows, y) + "1 1:0.5 9000:1\n")
    good("train", data, "--algo", "fsvc", "--prototypes", 3, "-o", "m.npz", "-q")
    assert len(good("predict", "m.npz", data, "-q").lines) == 17_001
    model = load(Path("m.npz"))
    assert (model.state.base.kind > 0).sum() == 4_000_000 // model.cols
