"""Probabilities and log-loss on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from test_cli import svm

from bigclf import probability
from bigclf.algorithms import registry
from bigclf.training.metrics import LogLoss
from bigclf.units import code_matrix


def rows(n, seed, classes=2):
    """LIBSVM text, and the labels."""
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((n, 4)), 3)
    y = (np.digitize(X[:, 0] + 0.5 * r.standard_normal(n), [0.0, 1.0][: classes - 1]) + 1).tolist()
    lines = (f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1)) for x, t in zip(X, y))
    return "\n".join(lines) + "\n", y


def table(said):
    """The labels and the numbers beside them (n, columns)."""
    cells = [line.split("\t") for line in said.lines]
    return [c[0] for c in cells], np.array([[float(v) for v in c[1:]] for c in cells])


def test_of_two_classes_there_is_the_positive_ones(good, write):
    text, y = rows(900, 1)
    write("a.svm", text)
    good("train", "a.svm", "--algo", "logistic", "-q")
    labels, p = table(good("predict", "model.npz", "a.svm", "--proba", "-q"))
    _, scores = table(good("predict", "model.npz", "a.svm", "--scores", "-q"))
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-scores)), rtol=1e-12)
    assert labels == ["2" if v >= 0.5 else "1" for v in p[:, 0]]
    loss = good("evaluate", "model.npz", "a.svm", "--json", "-q").json["log_loss"]
    assert loss == pytest.approx(-np.log(np.where(np.array(y) == 2, p[:, 0], 1 - p[:, 0])).mean(), rel=1e-7)


def test_the_positive_class_may_be_another(good, write):
    write("a.svm", rows(300, 2)[0])
    good("train", "a.svm", "--algo", "logistic", "--positive", "1", "-q")
    labels, p = table(good("predict", "model.npz", "a.svm", "--proba", "-q"))
    assert labels == ["1" if v >= 0.5 else "2" for v in p[:, 0]]


def test_of_more_classes_each_has_one_in_their_order(good, write):
    text, y = rows(1500, 3, classes=3)
    lines = text.splitlines()
    write("a.svm", "\n".join([lines[y.index(3)], *lines]) + "\n")  # the first class seen is the last by name
    write("b.svm", text)
    good("train", "a.svm", "--algo", "logistic", "-q")
    labels, p = table(good("predict", "model.npz", "b.svm", "--proba", "-q"))
    _, scores = table(good("predict", "model.npz", "b.svm", "--scores", "-q"))
    odds = 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(p, odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    assert labels == [str(k + 1) for k in p.argmax(axis=1)]
    loss = good("evaluate", "model.npz", "b.svm", "--json", "-q").json["log_loss"]
    assert loss == pytest.approx(-np.log(p[np.arange(len(y)), np.array(y) - 1]).mean(), rel=1e-7)


@pytest.mark.parametrize("algo", ["gnb", "vfdt"])
def test_learners_whose_scores_are_shares_have_them_too(good, write, algo):
    write("a.svm", rows(600, 4)[0])
    good("train", "a.svm", "--algo", algo, "-q")
    _, p = table(good("predict", "model.npz", "a.svm", "--proba", "-q"))
    _, scores = table(good("predict", "model.npz", "a.svm", "--scores", "-q"))
    np.testing.assert_allclose(p, (1 + scores) / 2, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("algo", [("arow",), ("oob", "--base", "logistic"), ("oabm1", "--base", "logistic")])
def test_others_are_refused_with_the_reason(good, fault, write, algo):
    write("a.svm", rows(200, 5)[0])
    good("train", "a.svm", "--algo", *algo, "-q")
    said = fault(1, "predict", "model.npz", "a.svm", "--proba", "-o", "out.txt")
    assert f"the scores of {algo[0]} say which class, not how probable; --scores gives them" in said
    assert good("evaluate", "model.npz", "a.svm", "--json", "-q").json["log_loss"] is None
    assert "log-loss" not in good("evaluate", "model.npz", "a.svm", "-q").out


def test_a_watched_learner_keeps_its_probabilities(good, write):
    write("a.svm", rows(400, 6)[0])
    good("train", "a.svm", "--algo", "logistic", "--drift", "ddm", "-q")
    _, p = table(good("predict", "model.npz", "a.svm", "--proba", "-q"))
    assert ((p > 0) & (p < 1)).all()


def test_scores_and_probabilities_are_not_mixed(good, fault, write):
    write("a.svm", rows(100, 7)[0])
    good("train", "a.svm", "--algo", "logistic", "-q")
    assert "choose one" in fault(2, "predict", "model.npz", "a.svm", "--proba", "--scores")


def test_skipped_rows_leave_empty_lines(good, write):
    text, _ = rows(100, 8)
    write("a.svm", text)
    lines = text.splitlines()
    write("b.svm", "\n".join([*lines[:3], "1 1:x", *lines[3:6]]) + "\n")
    good("train", "a.svm", "--algo", "logistic", "-q")
    out = good("predict", "model.npz", "b.svm", "--proba", "--on-error", "skip", "-q").lines
    assert [line.count("\t") for line in out] == [1, 1, 1, 0, 1, 1, 1] and out[3] == ""


def test_compare_ranks_by_log_loss(good, fault, write):
    text, _ = rows(1200, 9)
    write("a.svm", text), write("b.svm", rows(500, 10)[0])
    words = ("--algo", "arow", "--algo", "gnb", "--algo", "logistic", "--algo", "logistic --eta 1e-4")
    found = good("compare", "a.svm", *words, "--test", "b.svm", "--by", "log_loss", "--json", "-q").json["algorithms"]
    losses = [e["test"]["log_loss"] for e in found]
    assert found[-1]["algorithm"] == "arow" and losses[-1] is None
    assert losses[:-1] == sorted(losses[:-1])
    good("train", "a.svm", "--algo", "logistic", "-q")
    alone = good("evaluate", "model.npz", "b.svm", "--json", "-q").json["log_loss"]
    assert alone in losses
    assert "log-loss" in good("compare", "a.svm", *words, "-q").out
    assert "log-loss" not in good("compare", "a.svm", "--algo", "arow", "--algo", "pa-1", "-q").out
    said = fault(2, "compare", "a.svm", "--algo", "arow", "--by", "log_loss")
    assert "--by log_loss: none of these algorithms has probabilities; logistic, for one, does" in said


def test_progressive_log_loss_is_of_rows_not_yet_learned(good, write):
    """One row after the other by hand: the first has p = 1/2."""
    write("a.svm", "1 1:1\n2 1:-1\n")
    (found,) = good("compare", "a.svm", "--algo", "logistic --no-average", "--json", "-q").json["algorithms"]
    learner = registry.build("logistic", average=False)
    from bigclf.core import Block, Shape
    from bigclf.units import new_plan

    X, y = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([0, 1], np.int32)
    plan = new_plan(np.array([[-1, 1]], np.int8), y)
    learner.update(learner.init(Shape(1, 2, 2)), Block(np.arange(2), X, y), plan)
    want = (np.log(2) + np.log1p(np.exp(-plan.pre[0, 1]))) / 2
    assert found["progressive"]["log_loss"] == pytest.approx(want, rel=1e-6)


def test_cross_validation_tells_it(good, write):
    write("a.svm", rows(300, 11)[0])
    words = ("cv", "a.svm", "--algo", "logistic", "--algo", "arow", "--folds", "3")
    first, second = good(*words, "--json", "-q").json["algorithms"]
    assert 0 < first["measures"]["log_loss"]["mean"] < np.log(2)
    assert second["measures"]["log_loss"] == {"mean": None, "std": None}
    assert "log-loss" in good(*words, "-q").out


def test_a_class_that_the_model_lacks_counts_as_impossible(good, write):
    write("a.svm", rows(300, 12)[0]), write("b.svm", "1 1:-1\n9 1:1\n")
    good("train", "a.svm", "--algo", "logistic", "-q")
    loss = good("evaluate", "model.npz", "b.svm", "--json", "-q").json["log_loss"]
    assert loss > -np.log(1e-15) / 2


def test_evaluate_says_the_same_for_any_block(good, write):
    write("a.svm", svm(3000, 13))
    good("train", "a.svm", "--algo", "logistic", "-q")
    said = [good("evaluate", "model.npz", "a.svm", "--block-size", b, "--json", "-q").json for b in ("16KiB", "1MiB")]
    assert said[0]["log_loss"] == said[1]["log_loss"]


def test_probabilities_add_up_however_far_the_scores_are():
    three = code_matrix(["a", "b", "c"])
    learner = registry.build("logistic")
    scores = np.array([[-2000.0, 0.0, 900.0], [-2001.0, 0.0, -900.0], [-1e5, 0.0, 3.0]])
    p = np.exp(probability.logs(learner, three, scores))
    np.testing.assert_allclose(p.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p[:2, 0], [np.e / (1 + np.e), 1 / (1 + np.e)], rtol=1e-9)
    assert (probability.losses(learner, three, scores, np.array([2, 2, 1], np.int32)) <= -np.log(1e-15)).all()


def test_of_one_class_there_is_no_doubt(good, write):
    write("a.svm", "1 1:1\n1 1:2\n")
    good("train", "a.svm", "--algo", "logistic", "-q")
    labels, p = table(good("predict", "model.npz", "a.svm", "--proba", "-q"))
    assert labels == ["1", "1"] and (p == 1).all()


def test_a_sum_of_losses_does_not_depend_on_how_rows_come():
    values = np.random.default_rng(1).exponential(1, 10_000)
    whole, parts = LogLoss(), LogLoss()
    whole.add(values)
    for part in np.array_split(values[::-1], 37):
        parts.add(part)
    assert whole.mean() == parts.mean() == pytest.approx(values.mean(), abs=1e-9)
    assert LogLoss().mean() is None


def test_info_tells_the_weights_that_answer(good, write):
    write("a.svm", rows(500, 14)[0])
    for algo in (("logistic",), ("pa-1", "--average")):
        good("train", "a.svm", "--algo", *algo, "--scale", "none", "-q")
        (listed,) = good("info", "model.npz", "--weights", "--json").json["weights"].values()
        weights = {str(name): w for name, w in listed}
        write("x.svm", "2 1:1\n2 1:2\n")
        _, scores = table(good("predict", "model.npz", "x.svm", "--scores", "-q"))
        assert scores[1, 0] - scores[0, 0] == pytest.approx(weights["1"], rel=1e-9)
