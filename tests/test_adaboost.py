"""Online AdaBoost against its transcription, on bases that know probabilities and on linear ones."""

from __future__ import annotations

from pathlib import Path

import naive_boosting as naive
import numpy as np
import pytest
from data import BINARY

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.core import Block, Shape
from bigclf.kernels.chance import POISSON, poisson
from bigclf.units import code_matrix, decode, new_plan

BASES = {
    "gnb": (lambda K, d: naive.Gnb(K, d, 1e-3), {}),
    "pa-1": (lambda K, d: naive.Pa1(K, d), {}),
    "arow": (lambda K, d: naive.Arow(K, d), {}),
}
OPTIONS = [
    ("oabm1", {}),
    ("oabm1", {"test_first": True}),
    ("oabm1", {"eps_smooth": True}),
    ("oabm1", {"on_weak": "reset"}),
    ("oabm1", {"on_weak": "break"}),
    ("oabm1", {"draw": "poisson"}),
    ("oabm2", {}),
    ("oabm2", {"z": "running"}),
    ("oabm2", {"on_weak": "reset"}),
    ("oabm2", {"draw": "poisson", "test_first": True}),
    ("oza-boost", {}),
    ("oza-boost", {"moa_compat": True}),
    ("oza-boost", {"eps_min": 0.01}),
    ("adob", {}),
    ("adob", {"moa_compat": True}),
    ("adob", {"draw": "poisson"}),
    ("adob", {"on_weak": "reset"}),
    ("bole", {}),
    ("bole", {"break_votes": True, "error_bound": 0.3, "shift": 0.2}),
    ("bole", {"draw": "poisson", "on_weak": "reset"}),
]


class Drawn:
    """The draws of the compiled loops."""

    def poisson(self, lam, t, m):
        return int(poisson(float(lam), POISSON, 1, t, m))


def stream(n, seed, classes, d=4):
    """Rows with the bias in front."""
    r = np.random.default_rng(seed)
    y = r.integers(0, classes, n).astype(np.int32)
    X = 0.5 + 0.25 * r.standard_normal((n, d)) + 0.2 * np.eye(max(classes, d))[y][:, :d]
    return np.concatenate([np.ones((n, 1)), X], axis=1), y


def learned(learner, X, y, classes):
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    plan = new_plan(code, y)
    s = learner.update(learner.init(Shape(len(code), X.shape[1], classes)), Block(np.arange(len(y)), X, y), plan)
    return s, plan.pre, decode(code, plan.pre)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_every_method_is_its_transcription(method, options, base, classes):
    X, y = stream(120, 3, classes)
    made, params = BASES[base]
    columns = slice(1, None) if base == "gnb" else slice(None)  # naive Bayes has no use for the bias
    draws = Drawn() if options.get("draw") == "poisson" else None
    if classes == 2 and (draws is not None or "test_first" in options):
        pytest.skip("a member that was shown nothing says yes here, and the first label there")
    want = naive.run(
        method,
        lambda: made(classes, X[:, columns].shape[1]),
        X[:, columns],
        y,
        classes=classes,
        members=4,
        draws=draws,
        **options,
    )
    given = {{"shift": "weight_shift"}.get(k, k): v for k, v in options.items()}
    s, pre, said = learned(registry.build(method, base=base, members=4, **params, **given), X, y, classes)
    np.testing.assert_allclose(s.record.sums[:, 0], want.xi_c, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(s.record.sums[:, 1], want.xi_w, rtol=1e-8, atol=1e-12)
    spoken = want.votes.any(axis=1)
    total = want.votes.sum(axis=1)[spoken, None]
    share = 2 * want.votes[spoken] / total - 1
    scores = share[:, 1] if classes == 2 else share
    np.testing.assert_allclose(pre[:, spoken][0] if classes == 2 else pre[:, spoken].T, scores, rtol=0, atol=3e-6)
    clear = spoken.copy()
    clear[spoken] = np.diff(np.sort(share, axis=1)[:, -2:], axis=1)[:, 0] > 1e-5
    assert clear.sum() > 10 or "moa_compat" in options  # where a member without errors silences all
    np.testing.assert_array_equal(said[clear], want.labels[clear])


# --- the worked numbers: twelve rows of three classes, naive Bayes with floor 0.01, three members

TWELVE = np.array(
    [
        [0.1, 0.5],
        [0.2, 0.4],
        [0.3, 0.6],
        [0.2, 0.7],
        [0.6, 0.3],
        [0.7, 0.4],
        [0.3, 0.3],
        [0.8, 0.6],
        [0.6, 0.7],
        [0.2, 0.2],
        [0.7, 0.1],
        [0.4, 0.5],
    ]
)
KIND = np.array([0, 0, 1, 1, 2, 2, 0, 1, 1, 2, 2, 0], np.int32)
WORKED = {
    ("oabm1", ()): ((11, 10.5954545455, 5.2977272727), (1, 0, 0), (0, 30.0289143887, 0)),
    ("oza-boost", ()): ((11, 10.5954545455, 7.7414542811), (1, 0, 0), None),
    ("oza-boost", (("moa_compat", True),)): (
        (11, 10.5954545455, 7.7414542811),
        (1, 0, 0),
        (0.8139151587, 1.0516715603, 0.5323085537),
    ),
    ("adob", ()): ((8.2270334928, 10.2916008689, 11), (0, 0, 1), None),
    ("bole", ()): ((8.2270334928, 10.2916008689, 11), (0, 0, 1), (0.8139151587, 1.0516715603, 0.5323085537)),
    ("oabm2", ()): (
        (10.8815269232, 7.8414938181, 5.7142173216),
        (1.1184730768, 0.9562617652, 0.6177391098),
        (3.0632828110, 2.6023375014, 0.9382811744),
    ),
    ("oabm2", (("z", "running"),)): (
        (10.8815269232, 18.2281521347, 30.3665811548),
        (1.1184730768, 2.0513315881, 2.8546922026),
        (3.2381287656, 2.7794415012, 0.8063886305),
    ),
}


@pytest.mark.parametrize(("method", "options"), WORKED)
def test_worked_numbers(method, options):
    right, wrong, votes = WORKED[method, options]
    X = np.column_stack([np.ones(12), TWELVE])
    learner = registry.build(method, base="gnb", base_floor=0.01, members=3, **dict(options))
    s, _, _ = learned(learner, X, KIND, 3)
    np.testing.assert_allclose(s.record.sums[:, 0], right, rtol=1e-9)
    np.testing.assert_allclose(s.record.sums[:, 1], wrong, rtol=1e-9, atol=1e-12)
    if votes is not None:
        got = learner.decision(s, np.array([[1, 0.5, 0.5]]))[:, 0]
        np.testing.assert_allclose(got, 2 * np.array(votes) / sum(votes) - 1, atol=2e-6)


def test_a_silent_ensemble_of_moa_answers_the_first_class():
    """A member that has made no error ends the vote."""
    X, y = stream(30, 3, 2)
    one = y == 1
    for compat in (True, False):
        learner = registry.build("oza-boost", base="gnb", members=3, moa_compat=compat)
        s, _, _ = learned(learner, X[one], y[one], 2)
        scores = learner.decision(s, X)
        assert (decode(BINARY, scores) == (0 if compat else 1)).all() and (np.abs(scores) < 1e-6).all() == compat


def test_the_trees_of_a_method_go_as_in_moa_with_it():
    X, y = stream(300, 3, 3)
    one, other = (
        learned(registry.build("oza-boost", members=3, **options), X, y, 3)[0]
        for options in ({"moa_compat": True}, {"moa_compat": True, "base_moa_compat": True})
    )
    for a, b in zip(states.flatten(one).values(), states.flatten(other).values(), strict=True):
        assert a.tobytes() == b.tobytes()
    alone = learned(registry.build("vfdt", moa_compat=True), X, y, 3)[0]
    np.testing.assert_array_equal(one.base[0].slot, alone.slot)


def test_a_silent_ensemble_of_moa_has_no_scores():
    """Member 0 of adob made no error so far, and ends the vote."""
    X = np.column_stack([np.ones(12), TWELVE])
    learner = registry.build("adob", base="gnb", base_floor=0.01, members=3, moa_compat=True)
    s, _, _ = learned(learner, X, KIND, 3)
    assert not learner.decision(s, np.array([[1, 0.5, 0.5]])).any()


# --- laws


def test_with_two_classes_and_hard_votes_m2_is_m1():
    """A perceptron whose scores are beyond 1 has hard votes."""
    X, y = stream(200, 5, 2)
    params = {"base": "perceptron", "eta": 1e4, "members": 5, "eps_min": 1e-12}
    one = learned(registry.build("oabm1", **params), X, y, 2)[0]
    two = learned(registry.build("oabm2", **params), X, y, 2)[0]
    np.testing.assert_allclose(two.record.sums[:, :2], one.record.sums[:, :2], rtol=1e-9, atol=1e-9)


def test_the_first_member_of_both_sees_every_row_alike():
    X, y = stream(200, 6, 3)
    one = learned(registry.build("oabm1", base="gnb"), X, y, 3)[0]
    other = learned(registry.build("oza-boost", base="gnb"), X, y, 3)[0]
    for a, b in zip(one.base[0], other.base[0], strict=True):
        assert a.tobytes() == b.tobytes()
    assert one.record.sums[0, :2].sum() == 200


@pytest.mark.parametrize("method", ["oabm1", "oabm2", "oza-boost"])
def test_a_vfdt_below_is_the_tree_alone_for_the_first_member(method):
    """It sees each row once, with weight one."""
    X, y = stream(900, 7, 3)
    s = learned(registry.build(method, members=2), X, y, 3)[0]
    alone = learned(registry.build("vfdt"), X, y, 3)[0]
    for a, b in zip(states.flatten(s.base[0]).values(), states.flatten(alone).values(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_single_class_leaves_m2_without_errors():
    X, _ = stream(30, 8, 2)
    learner = registry.build("oabm2", base="gnb", members=3)
    code = code_matrix(["a"])
    plan = new_plan(code, np.zeros(30, np.int32))
    s = learner.update(learner.init(Shape(1, X.shape[1], 1)), Block(np.arange(30), X, np.zeros(30, np.int32)), plan)
    assert not s.record.sums.any()
    assert (decode(code, learner.decision(s, X)) == 0).all()


# --- on the command line


def table(n, seed=0):
    r = np.random.default_rng(seed)
    y = r.integers(0, 3, n)
    X = r.random((n, 3)) + 0.5 * np.eye(3)[y]
    return "kind,a,b,c\n" + "".join(f"{'xyz'[k]},{a:.4f},{b:.4f},{c:.4f}\n" for k, (a, b, c) in zip(y, X))


def test_train_and_info_tell_errors_and_bound(good, write):
    write("a.csv", table(800))
    words = ["a.csv", "--label", "kind", "--algo", "oabm2", "--base", "gnb", "--members", 4]
    told = good("train", *words, "--json", "-o", "m.npz").json["told"]
    errors = np.array(told["errors of members after learning each row"])
    assert len(errors) == 4 and (errors > 0).all() and (errors < 0.5).all()
    bound = 2 * np.prod(2 * np.sqrt(errors * (1 - errors)))
    assert told["error bound"] == (pytest.approx(bound, rel=1e-3) if bound < 1 else None)
    assert good("info", "m.npz", "--json").json["told"] == told
    assert "errors of members after learning each row" in good("info", "m.npz").out
    first = good("train", *words, "--test-first", "--json", "-o", "n.npz").json["told"]
    assert "errors of members" in first
    assert good("evaluate", "m.npz", "a.csv", "--json").json["accuracy"] > 0.7


@pytest.mark.parametrize(
    "words", ["oabm1 --members 3", "adob --base gnb --members 3", "oabm2 --base arow --on-weak reset"]
)
def test_models_are_the_same_bytes_whatever_was_read_at_once(good, write, words):
    write("a.csv", table(600))
    for size, name in ((100, "m.npz"), (100_000, "n.npz")):
        good("train", "a.csv", "--label", "kind", "--algo", *words.split(), "--block-size", size, "-o", name)
    assert Path("m.npz").read_bytes() == Path("n.npz").read_bytes()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("oabm1 --members 0", "--members"),
        ("oabm1 --z chord", "No such option: --z"),
        ("oabm2 --z half", "--z"),
        ("oza-boost --base nr-rls", "row by row"),
        ("bole --error-bound 2", "--error-bound"),
        ("oabm1 --on-weak stop", "--on-weak"),
    ],
)
def test_wrong_usage_is_told_in_one_line(fault, write, words, why):
    write("a.csv", table(20))
    assert why in fault(2, "train", "a.csv", "--label", "kind", "--algo", *words.split(), "-o", "m.npz")
