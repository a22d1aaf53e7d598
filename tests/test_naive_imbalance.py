"""The worked numbers of the imbalance methods, on their transcription: every check of the text, to the digits printed.

Ten rows, two columns, no bias, steps of 0.3, three members, k = floor(rate + 1/2), u = 1/2.
"""

import math

import naive_imbalance as naive
import naive_imbalance_parts as parts
import numpy as np
import pytest
from naive_imbalance import METHODS, run
from numpy.testing import assert_allclose

X = np.array(
    [[-0.5, 1.0], [-1.0, -0.5], [1.0, 0.5], [0.5, -1.0], [-0.8, 0.2]]
    + [[0.9, -0.1], [-0.3, -0.7], [0.2, 0.4], [0.8, 0.9], [-0.2, 0.6]]
)
y = np.array([0, 0, 1, 0, 0, 1, 0, 0, 1, 1])
POSITIVE, NEGATIVE = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
CELLS = [(m, b) for m in METHODS for b in naive.BASES if not naive.refused(m, b)]


def ten(method, base="svm", **params):
    return run(method, base, X, y, members=3, **params)


def close(found, printed, digits=6):
    """Equal to the digits printed."""
    assert_allclose(found, printed, rtol=0, atol=0.501 * 10.0**-digits)


def exact(found, printed):
    """Equal but for the rounding of float64."""
    assert_allclose(found, printed, rtol=1e-13, atol=1e-13)


def same_bits(a, b):
    """The same scores and the same model, bit by bit."""
    assert a.f.tobytes() == b.f.tobytes()
    for name in ("W", "coefficients", "points"):
        first, second = getattr(a, name), getattr(b, name)
        assert (first is None) == (second is None)
        assert first is None or first.tobytes() == second.tobytes()


def on(rows, values):
    """Entries of a trace at the rows, numbered from 1, of a single learner or of the first member."""
    return [np.ravel(values[t - 1])[0] for t in rows]


# Summary


def test_77_cells_and_seven_refused():
    assert len(METHODS) == 28
    assert len(CELLS) == 77
    per_base = {base: sum(b == base for _, b in CELLS) for base in naive.BASES}
    assert per_base == {"perceptron": 25, "svm": 28, "kernel": 24}
    with pytest.raises(ValueError, match="csrda1"):
        ten("csrda1", "perceptron")


def test_a_parameter_of_another_method_is_an_error():
    with pytest.raises(TypeError, match="theta2"):
        ten("ogd", theta2=1)


@pytest.mark.parametrize(("margin_type", "plain"), [("csogd-cost1", "ogd"), ("csogd-sum1", "ogd")])
def test_a_margin_means_nothing_to_a_perceptron(monkeypatch, margin_type, plain):
    monkeypatch.setattr(naive, "refused", lambda method, base: False)
    same_bits(ten(margin_type, "perceptron"), ten(plain, "perceptron"))


# Base learners


@pytest.mark.parametrize("gate", ["perceptron", "hinge"])
def test_repeats_in_closed_form(gate):
    draw = np.random.default_rng(5)
    binary = naive.Binary()
    for _ in range(5000):
        f, step, asked, q = draw.normal(size=1), draw.uniform(0.01, 2), draw.uniform(0.1, 4), draw.uniform(0, 3)
        q = 0.0 if draw.uniform() < 0.1 else q
        k, label = int(draw.integers(0, 9)), int(draw.integers(0, 2))
        c, _ = naive.shown(binary, gate, f, label, step, k, asked, q, "repeat")
        count = naive.effective(gate, binary.margin(f, label), step, k, asked, q)
        assert abs(c[0]) == pytest.approx(step * count, abs=1e-12)


def test_two_classes_as_many_move_the_margin_twice_as_far():
    f, far = np.array([0.1]), np.array([-0.05, 0.05])
    two, many = naive.Binary(), naive.Multiclass(2)
    assert two.margin(f, 1) == many.margin(far, 1)
    moved = [
        p.margin(naive.shown(p, "hinge", s, 1, 0.3, 1, 1.0, 2.0, "weight")[1], 1) - 0.1
        for p, s in ((two, f), (many, far))
    ]
    exact(moved, [0.6, 1.2])


@pytest.mark.parametrize(("method", "base"), [cell for cell in CELLS if cell[1] != "kernel"])
def test_an_empty_row_teaches_nothing(method, base):
    with_empty = run(method, base, np.vstack([np.zeros((1, 2)), X]), [1, *y], members=3)
    assert with_empty.scores[0] >= 0
    assert with_empty.labels[0] == 1
    exact(with_empty.f[1], 0)
    exact(with_empty.trace["A"][0], [0, 0])
    exact(with_empty.trace["N"][1], [1, 2])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("method", "base"), CELLS)
def test_one_class_so_far_stays_finite(method, base, classes):
    r = run(method, base, X, np.zeros(10, int), members=3, classes=classes)
    assert np.all(np.isfinite(r.trace["rate"]))
    assert np.all(np.isfinite(r.trace["alpha"]))
    assert np.all(np.isfinite(r.trace["lam"]))
    assert np.all(np.isfinite(r.scores))


def test_kernel_rows_that_move_nothing_are_not_kept():
    r = ten("ouob", "kernel")
    assert np.all(np.any(r.coefficients != 0, axis=0))
    assert np.any(np.all(r.coefficients[:1] == 0, axis=0))
    exact(r.points, X[r.trace["support"]])


# Votes


def test_equal_votes_go_to_the_summed_margins_then_to_the_positive_class():
    one = np.ones(2)
    assert parts.signed_vote(np.array([1.0, -2.0]), one) == (0, 0)
    assert parts.signed_vote(np.array([2.0, -1.0]), one) == (0, 1)
    assert parts.signed_vote(np.array([1.0, -1.0]), one) == (0, 1)
    assert parts.signed_vote(np.array([0.0, -1.0]), np.array([2.0, 1.0])) == (1 / 3, 1)


def test_no_vote_at_all_is_a_uniform_vote():
    f = np.array([1.0, -1.0, -2.0])
    assert parts.signed_vote(f, np.zeros(3)) == parts.signed_vote(f, np.ones(3)) == (-1 / 3, 0)


def test_margins_order_equal_votes_only():
    low, high = np.array([1e9, -1.0, -1.0]), np.array([1e-9, 1e-9, -1e9])
    levels = [parts.signed_vote(f, np.ones(3))[0] for f in (low, high)]
    assert levels[0] < levels[1]
    assert parts.ordered(levels[0], low) < parts.ordered(levels[1], high)
    assert parts.ordered(levels[0], low) > parts.ordered(levels[0], low - 0.5)


def test_the_mean_of_margins():
    r = ten("oadab", combine="mean")
    f = np.array([0.78, 0.765, -0.285])
    exact(r.score((0.5, 0.5))[0], sum(r.votes * f) / sum(r.votes))
    assert three("ouob", combine="mean").scores.shape == (10, 3)
    exact(three("ouob", combine="mean").scores, three("ouob").f.mean(axis=1))


@pytest.mark.parametrize("base", naive.BASES)
def test_shrinking_steps(base):
    r = run("hgd", base, X[:2], y[:2], eta_schedule="sqrt")
    model = r.W if base != "kernel" else r.coefficients @ r.points
    exact(model[0], -0.3 * X[0] - 0.3 / math.sqrt(2) * 0.5 * X[1])


def test_votes_of_many_classes():
    f = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.0]])
    s, label = parts.class_vote(f, np.ones(3))
    exact(s, [1 / 3, 1 / 3, 1 / 3])
    assert label == 2
    assert parts.class_vote(np.zeros((2, 3)), np.ones(2))[1] == 0


# HGD


def test_hgd_linear():
    r = ten("hgd")
    assert [t + 1 for t in r.trace["support"]] == [1, 2, 3, 4, 8, 10]
    close(on([1, 2, 3, 4, 8, 10], r.trace["alpha"]), [1, 0.5, 6, 1.6, 1.318681, 1.244600])
    close(r.f[:, 0], [0, 0, 0.1875, 0.375, -1.257, 1.5585, -1.3665, 0.834, 2.321786, 0.241879])
    close(r.W[0], [1.706203, 1.220786])
    close(r.trace["A"][-1], [0.372486, 0.719806])


def test_hgd_linear_steps():
    r = ten("hgd")
    A = r.trace["A"]
    assert A[0][1] == 0
    assert A[0][0] > 0
    exact(r.trace["N"][1], [2, 1])
    exact(on([2], r.trace["alpha"]), [1 / 2])
    exact(r.trace["N"][2], [3, 1])
    exact(on([3], r.trace["alpha"]), [6])
    assert A[1][1] == 0


def test_hgd_perceptron():
    r = ten("hgd", "perceptron")
    close(r.W[0], [-0.040000, 0.545000])
    close(r.trace["A"][-1], [0.252750, 0.126000])


def test_hgd_kernel():
    r = ten("hgd", "kernel")
    assert [t + 1 for t in r.trace["support"]] == [1, 2, 3, 4, 5, 7, 8, 10]
    close(r.coefficients[0], [-0.3, -0.15, 1.8, -0.48, -0.395604, -0.345533, -0.311137, 0.550301])


def test_hgd_smoothing_with_warm_up():
    r, plain = ten("hgd", smoothing=0.9), ten("hgd")
    exact(on(range(1, 10), r.trace["alpha"]), on(range(1, 10), plain.trace["alpha"]))
    close(on([10], r.trace["alpha"]), [1.210963])
    close(r.trace["odds"][9], 1.702703)
    close(r.W[0], [1.708221, 1.214732])


def test_hgd_smoothing_without_warm_up():
    r = ten("hgd", smoothing=0.9, warmup=False)
    assert [t + 1 for t in r.trace["support"]] == [1, 2, 3, 4, 5, 7, 8, 10]
    printed = [1, 0.818182, 2.938272, 1.235488, 0.980741, 0.900555, 0.846359, 1.617112]
    close(on([1, 2, 3, 4, 5, 7, 8, 10], r.trace["alpha"]), printed)
    close(r.W[0], [1.260232, 0.953904])


@pytest.mark.parametrize("L", [0.9, 0.999, 1 - 1e-12])
def test_warm_smoothing_starts_as_the_counts(L):
    r = ten("hgd", smoothing=L)
    close(r.trace["odds"][:9], [1, 2, 3, 1.5, 2, 2.5, 1.666667, 2, 2.333333])
    if L > 0.99:
        exact(r.trace["odds"], ten("hgd").trace["odds"])


@pytest.mark.parametrize("warmup", [True, False])
def test_smoothed_odds_are_bounded(warmup):
    """By 1 / (1 - L): the share of the class that is there goes to 1, that of the other stops at the floor."""
    r = run("hgd", "svm", np.ones((400, 1)), np.zeros(400, int), smoothing=0.9, warmup=warmup)
    assert np.all(np.diff(r.trace["odds"]) >= 0)
    assert r.trace["odds"][-1] == pytest.approx(1 / (1 - 0.9), rel=1e-9)
    exact(run("hgd", "svm", np.ones((400, 1)), np.ones(400, int), smoothing=0.9).trace["odds"][-1], 1 - 0.9)


def test_hgd_at_balance():
    even = np.ones(2)
    for label in (0, 1):
        assert parts.alpha_binary(label, 3 * even, 5 * even) == 1
    assert parts.alpha_binary(1, even, np.array([8.0, 2.0])) == 4
    assert parts.alpha_binary(0, even, np.array([8.0, 2.0])) == 1


def test_hgd_rests_where_the_shares_that_move_say():
    """(A_- / A_+)^2 = a_- / a_+, the shares of each class that pass the gate."""
    harmonic, stats = parts.Harmonic(2), parts.Stats(2)
    for t in range(20000):
        label = int(t % 5 == 0)
        harmonic(label, stats)
        turn = t // 5 % 5
        if (turn > 0) if label else (turn == 0):  # 4 of 5 positive rows pass, 1 of 5 negative ones
            harmonic.moved(label, 1.0)
        stats.after(label)
    assert (harmonic.A[0] / harmonic.A[1]) ** 2 == pytest.approx(0.2 / 0.8, rel=0.005)


@pytest.mark.parametrize("norm", ["squared", "l2"])
def test_both_norms_agree_on_unit_rows(norm):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    exact(run("hgd", "svm", unit, y, grad_norm=norm).W, run("hgd", "svm", unit, y).W)
    assert np.allclose(ten("hgd", grad_norm=norm).W, ten("hgd").W) == (norm == "squared")


def test_hgd_of_three_classes():
    rows = [(1, 0), (0.8, 0.3), (0, 1), (0.9, -0.2), (-1, -0.4), (0.1, 0.7), (0.7, 0.1)]
    r = run("hgd", "svm", rows, [0, 0, 1, 0, 2, 1, 0], classes=3)
    assert [t + 1 for t in r.trace["support"]] == [1, 2, 3, 4, 5]
    close(on(range(1, 6), r.trace["alpha"]), [1, 0.5, 4.5, 1.150895, 6])
    close(r.W[0], [[2.530742, -0.654054], [-0.3, 1.35], [-2.230742, -0.695946]])
    close(r.trace["A"][-1], [0.421787, 0.81, 1.2528])


def test_hgd_of_many_classes_is_hgd_of_two():
    draw = np.random.default_rng(0)
    for _ in range(300):
        A, minor = draw.exponential(size=2) * (draw.uniform(size=2) < 0.8), draw.integers(1, 20)
        N = np.array([minor + draw.integers(0, 20), minor], dtype=float)
        for label in (0, 1):
            exact(parts.alpha_multiclass(label, A, N), parts.alpha_binary(label, A, N))


def test_first_row_of_an_unseen_class():
    N = np.array([7.0, 2.0, 1.0])
    alpha = parts.alpha_multiclass(2, np.array([1.0, 2.0, 0.0]), N)
    exact(alpha, 7 * 3 / 2)
    assert alpha <= 2 * 7


# Gradient descent and resampling


def test_ogd():
    r = ten("ogd")
    close(r.f[:, 0], [0, 0, 0.375, 0.375, -0.42, 0.732, -0.48, 0.408, 1.182, -0.048])
    exact(r.W[0], [1.08, 0.48])
    exact(ten("ogd", "perceptron").W[0], [0.18, 0.21])


def test_ogd_worked_rows():
    for rows, w in ((1, (0.15, -0.30)), (2, (0.45, -0.15)), (3, (0.75, 0))):
        exact(run("ogd", "svm", X[:rows], y[:rows]).W[0], w)
    exact(ten("ogd").f[1:3, 0], [0, 0.375])


def test_oor():
    r = ten("oor")
    close(on([3, 6, 9, 10], r.trace["rate"]), [3, 2.5, 2.333333, 1.75])
    assert on([3, 6, 9, 10], r.trace["k"]) == [3, 3, 2, 2]
    exact(on([1, 2, 4, 5, 7, 8], r.trace["rate"]), np.ones(6))
    exact(r.W[0], [1.35, 0.99])
    exact(ten("oor", apply="repeat").W[0], [1.32, 0.81])
    exact(ten("oor", "perceptron").W[0], [0.12, 0.39])


def test_our():
    r = ten("our")
    close(on([2, 4, 5, 7, 8], r.trace["rate"]), [0.5, 0.666667, 0.5, 0.6, 0.5])
    assert set(np.ravel(r.trace["k"])) == {1}
    exact(r.W[0], [1.08, 0.48])


def test_ohr():
    r = ten("ohr")
    assert on([3, 6, 9, 10], r.trace["k"]) == [2, 2, 2, 1]
    exact(on([3, 5], r.trace["rate"]), [math.sqrt(3), math.sqrt(0.5)])
    exact(r.W[0], [1.65, 0.60])


@pytest.mark.parametrize(("share", "method"), [(1.0, "oor"), (0.0, "our")])
def test_the_hybrid_share_ends_at_the_plain_forms(share, method):
    same_bits(ten("ohr", hybrid_share=share), ten(method))


class NoDraw:
    def poisson(self, lam, t, m):
        raise AssertionError("a draw")


@pytest.mark.parametrize("base", naive.BASES)
@pytest.mark.parametrize("method", ["oor", "our", "ohr"])
def test_no_imbalance_is_no_draw(method, base):
    same_bits(ten(method, base, ir=1.0, draws=NoDraw()), ten("ogd", base))


class Recorded(naive.Deterministic):
    def __init__(self):
        self.asked, self.uniforms = [], []

    def poisson(self, lam, t, m):
        self.asked.append((t, m))
        return super().poisson(lam, t, m)

    def uniform(self, t, j):
        self.uniforms.append((t, j))
        return 0.5


def test_only_the_rarer_class_is_drawn():
    draws = Recorded()
    ten("oor", draws=draws)
    assert draws.asked == [(t, 0) for t in POSITIVE]
    draws = Recorded()
    ten("our", draws=draws)
    assert draws.asked == [(t, 0) for t in NEGATIVE if t > 0]


def test_of_equal_counts_the_positive_class_is_the_rarer():
    stats = parts.Stats(2)
    assert stats.minority() == 1
    stats.after(1)
    assert stats.minority() == 0
    assert parts.Resample(1.0, ir=4.0)(1, 0, 1, parts.Stats(2)) == (4.0, False)
    assert parts.Resample(0.0, ir=4.0)(0, 0, 1, parts.Stats(2)) == (0.25, False)


def test_a_rate_is_capped():
    r = run("oor", "svm", np.ones((3, 1)), [0, 0, 1], ir=1e6)
    assert on([3], r.trace["rate"]) == [1e4]


# SMOTE


@pytest.mark.parametrize("base", ["svm", "perceptron"])
def test_osmote_of_a_line_changes_nothing_here(base):
    r = ten("osmote", base)
    same_bits(r, ten("ogd", base))
    assert len(r.trace["synthetic"]) == 2


def test_osmote_scores_new_points_with_the_updated_model():
    (t6, z6, f6), (t9, z9, f9) = ten("osmote").trace["synthetic"]
    assert (t6 + 1, t9 + 1) == (6, 9)
    exact([z6, z9], [(0.95, 0.2), (0.9, 0.7)])
    close([f6[0], f9[0]], [1.0965, 1.236], 6)


def test_osmote_kernel():
    draws = Recorded()
    r = ten("osmote", "kernel", draws=draws)
    exact(np.abs(r.coefficients[0]), np.full(12, 0.3))
    exact(r.points[[6, 10]], [(0.95, 0.2), (0.9, 0.7)])
    exact(r.points[[5, 9]], X[[5, 8]])
    exact(r.coefficients[0, [6, 10]], [0.3, 0.3])
    close(r.f[6:, 0], [-0.350431, 0.089808, 0.286578, -0.391069])
    assert draws.uniforms == [(5, 0), (8, 0)]


def test_smote_takes_the_nearest_oldest_first_and_forgets():
    smote = parts.Smote(2, K=2, buffer=3)
    for z in ([9.0, 9.0], [0.0, 1.0], [1.0, 0.0], [3.0, 0.0]):
        smote.push(np.array(z), 1)
    assert len(smote.buffers[1]) == 3
    N = np.array([50.0, 2.0])
    exact(smote.points(np.zeros(2), 1, N, lambda j: 0.5), [(0, 0.5), (0.5, 0)])
    assert smote.points(np.zeros(2), 1, np.array([3.9, 2.0]), None) == []
    assert smote.points(np.zeros(2), 0, N, None) == []


# Cost-sensitive gradient descent


@pytest.mark.parametrize(
    ("method", "base", "w"),
    [
        ("csogd-cost1", "svm", (1.32, 0.75)),
        ("csogd-cost2", "svm", (4.80, 6.30)),
        ("csogd-sum1", "svm", (1.32, 0.75)),
        ("csogd-sum2", "svm", (1.365, 0.945)),
        ("csogd-cost2", "perceptron", (-0.90, 3.45)),
        ("csogd-sum2", "perceptron", (0.135, 0.345)),
    ],
)
def test_csogd(method, base, w):
    exact(ten(method, base).W[0], w)


@pytest.mark.parametrize(("method", "margin"), [("csogd-cost1", 19), ("csogd-sum1", 7 / 3)])
def test_row_nine_tells_the_margin_type_from_ogd(method, margin):
    r = ten(method)
    exact(r.f[8, 0], 1.182)
    exact(on([9], r.trace["asked"]), margin)
    assert on([9], r.trace["moved"]) == [True]
    assert on([9], ten("ogd").trace["moved"]) == [False]


@pytest.mark.parametrize("base", naive.BASES)
@pytest.mark.parametrize("kind", ["1", "2"])
def test_equal_costs_are_ogd(kind, base):
    if not naive.refused("csogd-cost" + kind, base):
        plain = ten("ogd", base)
        same_bits(ten("csogd-cost" + kind, base, c_plus=0.7, c_minus=0.7), plain)
        same_bits(ten("csogd-sum" + kind, base, ir=1.0), plain)


# Dual averaging


@pytest.mark.parametrize(
    ("method", "base", "w"),
    [
        ("csrda1", "svm", (158.113883, 189.736660)),
        ("csrda2", "svm", (132.815662, 265.631323)),
        ("csrda3", "svm", (1.356, 0.577)),
        ("csrda4", "svm", (0, 156.608037)),
        ("csrda2", "perceptron", (132.815662, 265.631323)),
        ("csrda3", "perceptron", (0.126, 0.252)),
        ("csrda4", "perceptron", (0, 156.608037)),
    ],
)
def test_csrda(method, base, w):
    close(ten(method, base).W[0], w)


def test_csrda2_scores():
    close(ten("csrda2").f[1:4, 0], [50, 848.528137, 635.085296])


def test_weights_of_dual_averaging_move_while_the_gate_is_shut():
    rows = np.array([[1.0], [1.0], [1.0]])
    w = [run("csrda2", "svm", rows[:n], np.ones(n, int)).W[0, 0] for n in (1, 2, 3)]
    exact([w[0] / w[1], w[0] / w[2]], [math.sqrt(2), math.sqrt(3)])


def test_the_mean_threshold_grows_with_the_rows():
    rows = np.array([[1.0], [1.0], [1.0]])
    w = [run("csrda2", "svm", rows[:n], np.ones(n, int), l1_on="mean", mu_plus=1.0).W[0, 0] for n in (1, 2, 3)]
    exact(w, [(1 - 0.1 * n) / (1e-3 * math.sqrt(n)) for n in (1, 2, 3)])


def test_the_window_forgets():
    stats = parts.Stats(2, window=3)
    for label in (1, 1, 0, 0, 0):
        stats.before(label)
        stats.after(label)
    exact(stats.in_window(), [4, 1])
    exact(parts.WindowRatio()(1, stats), 4)
    exact(parts.WindowRatio(down=True)(0, stats), 1 / 4)


# Bagging


RATES = {
    "oob": [1, 1, 2.152853, 1, 1, 2.279875, 1, 1, 2.382346, 2.093018],
    "owob": [1, 1, 1.152853, 1, 1, 1.279875, 1, 1, 1.382346, 1.093018],
    "oub": [0.45, 0.405, 1, 0.41805, 0.376245, 1, 0.394758, 0.355283, 1, 1],
    "owub": [0.818182, 0.680672, 1, 0.718361, 0.603194, 1, 0.652233, 0.551067, 1, 1],
    "oeb": [1, 0.5, 1, 0.666667, 0.5, 1, 0.6, 0.5, 1, 1],
    "okb": [1, 1, 0, 1, 0.117647, 0.181818, 0.275862, 1, 0.25, 1],
    "ob": [1] * 10,
}
BAGGED = {
    "oob": (1.59, 0.78),
    "owob": (1.08, 0.48),
    "oub": (0.75, 0.57),
    "owub": (1.08, 0.48),
    "oeb": (1.08, 0.48),
    "okb": (0.18, 0.21),
    "ob": (1.08, 0.48),
}


@pytest.mark.parametrize("method", RATES)
def test_bags(method):
    r = ten(method)
    close(r.trace["rate"], np.repeat(RATES[method], 3).reshape(10, 3))
    exact(r.W, [BAGGED[method]] * 3)


def test_multiplicities_of_bags():
    assert on([3, 6, 9, 10], ten("oob").trace["k"]) == [2, 2, 2, 2]
    assert set(np.ravel([ten("oub").trace["k"][t] for t in NEGATIVE])) == {0}
    okb = ten("okb")
    wrong = (okb.f[:, 0] >= 0) != (y == 1)
    assert np.array_equal(np.array(okb.trace["k"])[:, 0] == 1, wrong)


def test_votes_of_bags():
    exact(ten("oeb").votes, [0.5] * 3)
    close(ten("okb").votes, [0.074074] * 3)
    exact(ten("ob").votes, [1] * 3)


def test_ouob():
    r = ten("ouob")
    rate = np.array(r.trace["rate"])
    close(rate[:, 2], [1, 1, 3, 1, 1, 2.5, 1, 1, 2.333333, 1.75])
    exact(rate[:, 0], rate[:, 2] / 3)
    exact(rate[:, 1], rate[:, 2] * 2 / 3)
    exact(r.W, [(0.75, 0.57), (1.65, 0.60), (1.35, 0.99)])


@pytest.mark.parametrize("base", naive.BASES)
def test_one_show_each_is_ogd(base):
    bag, plain = ten("ob", base), ten("ogd", base)
    for m in range(3):
        assert bag.f[:, m].tobytes() == plain.f[:, 0].tobytes()


def test_plain_and_weighted_rates_of_bags():
    oob, owob = np.array(ten("oob").trace["rate"]), np.array(ten("owob").trace["rate"])
    oub, owub = np.array(ten("oub").trace["rate"]), np.array(ten("owub").trace["rate"])
    w = np.array(ten("oob").trace["w"])
    exact(oob[POSITIVE], 1 + owob[POSITIVE])
    exact(oub[NEGATIVE], w[NEGATIVE, :1] * owub[NEGATIVE])


@pytest.mark.parametrize(
    ("method", "classes", "rate"), [("oob", 2, 10), ("owob", 2, 9), ("owob", 4, 9), ("oob", 4, 10)]
)
def test_oversampling_is_capped_by_the_decay(method, classes, rate):
    """A first row after 299 of another class. Classes that never came do not matter."""
    r = run(method, "svm", np.ones((300, 1)), [0] * 299 + [1], classes=classes, members=1)
    assert r.trace["rate"][-1][0] == pytest.approx(rate)
    assert r.trace["rate"][-1][0] <= 1 / (1 - 0.9)


def test_worse_than_chance_neither_trains_nor_votes():
    assert parts.okb_rate(-0.4, errs=False) == 0
    assert parts.okb_rate(-0.4, errs=True) == 1
    r = run("okb", "perceptron", [[1.0], [1.0], [-1.0], [-1.0]], [0, 1, 1, 0], members=2)
    exact(r.votes, [0, 0])


def test_every_member_of_a_bag_draws_once_a_row():
    draws = Recorded()
    ten("oob", draws=draws)
    assert draws.asked == [(t, m) for t in range(10) for m in range(3)]


# Boosting


BOOSTED = {
    "oadab": (
        [(1.08, 0.48), (0.87, 0.66), (-0.39, -0.18)],
        [1.386294, 1.190308, 0.980289],
        [1, 2, 3.654167],
        [1, 2, 4],
    ),
    "oadac2": (
        [(1.08, 0.48), (0.87, 0.66), (-0.21, 0.27)],
        [1.504077, 1.318475, 1.101748],
        [1, 2, 3.692719],
        [1, 2, 4],
    ),
    "ocsb2": (
        [(1.08, 0.48), (0.87, 0.66), (-0.09, 0.21)],
        [1.386294, 1.326111, 1.557762],
        [1, 1.777778, 3.139918],
        [1, 2, 3],
    ),
    "orusb1": (
        [(1.20, 0.42), (0.99, 0.60), (0.24, 0.60)],
        [1.386294, 0.134573, 0.363725],
        [1, 2, 1.827083],
        [0, 1, 1],
    ),
    "orusb2": ([(1.20, 0.42), (1.20, 0.42), (0.45, 0.42)], [1.386294, 0.134573, 0], [1, 2, 1.827083], [0, 0, 0]),
    "orusb3": ([(1.08, 0.48), (0.69, 0.45), (0.24, 0.60)], [1.386294, 0, 0.319904], [1, 2, 1.624074], [1, 1, 1]),
}


@pytest.mark.parametrize("method", BOOSTED)
def test_chains(method):
    W, votes, lam, k = BOOSTED[method]
    r = ten(method)
    exact(r.W, W)
    close(r.votes, votes)
    close(r.trace["lam"][7], lam)
    assert r.trace["k"][7] == k


def test_oadab_score_of_a_point():
    close(ten("oadab").score((0.5, 0.5))[0], 0.448795)


def test_oadab_first_row():
    r = run("oadab", "svm", X[:1], y[:1], members=3)
    exact(r.trace["lam"][0], [1, 0.5, 0.25])
    assert r.trace["k"][0] == [1, 1, 0]
    exact(r.W, [(0.15, -0.30), (0.15, -0.30), (0, 0)])
    exact(r.votes, [math.log((1 - 1e-6) / 1e-6)] * 2 + [0])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("base", naive.BASES)
@pytest.mark.parametrize("method", ["oadac2", "ocsb2"])
def test_equal_costs_are_oadab(method, base, classes):
    costs = {"c_plus": 1.0, "c_minus": 1.0} if classes == 2 else {"costs": [1.0] * 3}
    first, plain = ten(method, base, classes=classes, **costs), ten("oadab", base, classes=classes)
    same_bits(first, plain)
    exact(first.trace["lam"], plain.trace["lam"])
    alike = plain.votes < 13  # where the bounds of the two votes do not show
    exact(first.votes[alike], plain.votes[alike])


@pytest.mark.parametrize("base", naive.BASES)
def test_orusb3_without_imbalance_is_oadab(base):
    first, plain = ten("orusb3", base, ir=1.0), ten("oadab", base)
    same_bits(first, plain)
    assert first.votes.tobytes() == plain.votes.tobytes()
    assert first.trace["lam"] == plain.trace["lam"]


def test_rusb_by_hand():
    n, mass = np.array([7.0, 3.0]), np.array([5.0, 2.0])
    exact(parts.rusb_share(0, 1, n, 0.7), 0.3)
    exact([parts.rusb1_rate(1.2, c, 1, n, mass, 0.7) for c in (1, 0)], [1.224, 0.3672])
    exact([parts.rusb2_rate(1.2, c, 1, n, mass, 0.7) for c in (1, 0)], [1.26, 0.3528])
    close([parts.rusb3_rate(1.2, c, 1, n) for c in (1, 0)], [1.2, 0.514286])
    close([parts.rusb3_rate(1.2, c, 1, n, ir=7 / 3) for c in (1, 0)], [1.2, 0.514286])


def test_rusb_with_an_empty_tally_is_the_chain():
    for n, mass in (([0.0, 3.0], [0.0, 2.0]), ([7.0, 3.0], [0.0, 2.0])):
        for rule in (parts.rusb1_rate, parts.rusb2_rate):
            assert rule(1.2, 1, 1, np.array(n), np.array(mass), 0.7) == 1.2


def test_rusb_of_three_classes_by_hand():
    n, mass = np.array([2.0, 4.0, 10.0]), np.array([1.0, 3.0, 4.0])
    rates = [parts.rusb1_rate(1.0, c, 0, n, mass, 0.7) for c in range(3)]
    exact(rates, np.array([1, 0.35, 0.14]) * 8 / 2.61 * 4.8 / 16)
    rates = [parts.rusb2_rate(1.0, c, 0, n, mass, 0.7) for c in range(3)]
    exact(rates, [(2 / 16) * 8, (1.4 / 16) * 8 / 3, (1.4 / 16) * 2])
    exact([parts.rusb3_rate(1.0, c, 0, n) for c in range(3)], [1, 0.5, 0.2])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [1, 2])
def test_rusb_roles_follow_the_counts_and_masses_stay_with_their_class(kind, classes):
    label = np.array([0, 1, 1, 0, 1, 1, 1, 2 % classes, 1, 0])
    r = run(f"orusb{kind}", "svm", X, label, members=2, classes=classes)
    rule = parts.rusb1_rate if kind == 1 else parts.rusb2_rate
    roles = set()
    for m in range(2):
        mass = np.zeros(classes)
        for t, c in enumerate(label):
            lam, N, n = r.trace["lam"][t][m], r.trace["N"][t], np.bincount(label[: t + 1], minlength=classes)
            mass[c] += lam
            rare = max(np.flatnonzero(min(N) == N)) if classes == 2 else min(np.flatnonzero(min(N) == N))
            roles.add(int(rare))
            exact(r.trace["rate"][t][m], rule(lam, c, rare, n, mass, 0.7))
    assert roles >= {0, 1}


def test_adac2_vote_is_bounded_by_its_masses():
    r = run("oadac2", "svm", X[:1], y[:1], members=1)
    exact(r.votes, [math.log(0.8 / 1e-6)])


def test_csb2_before_any_error_is_half():
    chain = parts.CSB2(1, 2)
    assert chain.after(0, True, 0, 1.0) == 0.5
    assert chain.after(0, False, 0, 0.5) == pytest.approx(0.8 * 0.5 / (0.5 / 1.5 + 0.4 / 1.5))


def test_more_classes_forgive_more_errors():
    chain = parts.Chain(1, 4)
    chain.sc[0], chain.sw[0] = 0.3, 0.7
    assert chain.vote(0) == pytest.approx(math.log(3 / 7) + math.log(3))
    chain.sc[0], chain.sw[0] = 0.2, 0.8
    assert chain.vote(0) == 0
    assert parts.Chain(1, 4).vote(0) == 0


# More than two classes


C3 = np.array([0, 0, 1, 0, 0, 1, 0, 2, 0, 2])


def three(method, base="svm", **params):
    return run(method, base, X, C3, members=3, classes=3, **params)


@pytest.mark.parametrize(("method", "base"), CELLS)
@pytest.mark.parametrize("apply", ["weight", "repeat"])
def test_weights_of_many_classes_sum_to_nothing(method, base, apply):
    """A step takes from one class what it gives to another; not so the shrunk weights of dual averaging."""
    r = three(method, base, apply=apply)
    model = r.W if base != "kernel" else r.coefficients
    assert model.shape[:2] == (1 if method in naive.SINGLE else 3, 3)
    assert np.any(model != 0)
    if not method.startswith("csrda"):
        assert np.allclose(model.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("base", naive.BASES)
def test_many_classes_where_nothing_is_weighed(base):
    plain = three("ogd", base)
    for method in ("csogd-cost1", "csogd-cost2"):
        if not naive.refused(method, base):
            same_bits(three(method, base), plain)
    assert three("ob", base).f[:, 2].tobytes() == plain.f[:, 0].tobytes()


def test_ratios_of_three_classes():
    r = three("csogd-sum2")
    N = np.array(r.trace["N"])
    exact(np.ravel(r.trace["alpha"]), N.max(axis=1) / N[np.arange(10), C3])
    exact(on([3, 8], r.trace["alpha"]), [3, 6])
    exact(np.ravel(three("csogd-cost2", costs=[2, 4, 6]).trace["alpha"]), np.array([1, 2, 3])[C3])
    exact(on([1, 3, 8, 10], three("csrda2").trace["alpha"]), [1, 3 / 2, 6 / 2, 7 / 3])
    exact(on([1, 3, 8, 10], three("csrda4").trace["alpha"]), [1 / 2, 1 / 2, 2 / 2, 3 / 3])
    exact(on([1, 3, 8], three("oor").trace["rate"]), [1, 3, 6])
    exact(on([2, 3, 8], three("our").trace["rate"]), [1 / 2, 1, 1])
    exact(on([8], three("ohr").trace["rate"]), [math.sqrt(6)])


def test_decayed_sizes_of_three_classes():
    w = np.array(three("oob").trace["w"])
    exact(w.sum(axis=1), np.ones(10))
    own = w[np.arange(10), C3]
    rate = np.array(three("owob").trace["rate"])[:, 0]
    exact(rate, w.max(axis=1) / own)
    exact(np.array(three("owub").trace["rate"])[:, 0], w.min(axis=1) / own)
    exact(np.array(three("oob").trace["rate"])[:, 0], np.where(own <= 1 / 3, 1 / own, 1))
    exact(np.array(three("oub").trace["rate"])[:, 0], np.where(own > 1 / 3, 1 - own, 1))


def test_kappa_and_recalls_of_three_classes():
    confusion = parts.Confusion(1, 3)
    for true, said in ((0, 0), (0, 0), (1, 1), (1, 0), (2, 2), (2, 1)):
        confusion.add(true, [said])
    exact(confusion.kappa(0), (4 / 6 - 1 / 3) / (1 - 1 / 3))
    exact(confusion.recalls(0), [3 / 4, 1 / 2, 1 / 2])
    assert parts.Confusion(1, 3).kappa(0) == 0
    r = three("oeb")
    hits = [np.sum((np.argmax(r.f[:, 0], axis=1) == c) & (c == C3)) for c in range(3)]
    exact(r.votes[0], np.prod((np.array(hits) + 1) / np.array([8, 4, 4])) ** (1 / 3))


def test_repeats_of_many_classes_change_rivals():
    problem = naive.Multiclass(3)
    f = np.array([0.0, 0.25, 0.2])
    c, after = naive.shown(problem, "hinge", f, 0, 0.1, 3, 1.0, 1.0, "repeat")
    exact(c, [0.3, -0.2, -0.1])
    exact(after, [0.3, 0.05, 0.1])
    c, _ = naive.shown(problem, "hinge", f, 0, 0.1, 3, 1.0, 1.0, "weight")
    exact(c, [0.3, -0.3, 0.0])
