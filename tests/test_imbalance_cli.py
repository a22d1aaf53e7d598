"""The methods for skewed streams as their user has them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_cli import svm

from bigclf.algorithms import composed, registry
from bigclf.model import load


def skewed(n, seed=0):
    """LIBSVM rows of which one in twenty is positive."""
    r = np.random.default_rng(seed)
    y = r.random(n) < 0.05
    X = r.standard_normal((n, 3)) + 1.2 * y[:, None]
    return "".join(
        f"{'+1' if t else '-1'} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(x)) + "\n" for x, t in zip(X, y)
    )


def test_train_tells_how_far_each_class_has_moved_the_weights(good, write):
    write("a.svm", skewed(3000))
    told = good("train", "a.svm", "--algo", "hgd", "--json", "--log-file", "log.jsonl", "-o", "m.npz")
    share = told.json["gradient"]["share"]
    assert set(share) == {"-1", "1"} and sum(share.values()) == pytest.approx(1)
    assert 0.4 < share["1"] < 0.6
    assert told.json["gradient"]["gii"] >= 0
    assert "gradient by class: -1 " in told.err and "GII" in told.err
    last = json.loads(Path("log.jsonl").read_text().splitlines()[-1])
    assert last["gradient"] == told.json["gradient"]
    assert good("train", "a.svm", "--algo", "nr-rls", "--json", "-o", "m.npz").json["gradient"] is None


def test_compare_tells_it_for_each(good, write):
    write("a.svm", skewed(2000))
    said = good("compare", "a.svm", "--algo", "hgd", "--algo", "oob --base arow", "--algo", "csrda3", "--json")
    told = {a["algorithm"]: a["gradient"] for a in said.json["algorithms"]}
    assert told["oob"] is None
    assert set(told["hgd"]["share"]) == set(told["csrda3"]["share"]) == {"-1", "1"}
    table = good("compare", "a.svm", "--algo", "hgd", "--algo", "ob", "-q").out
    assert "gradient by class" in table and " %, 1 " in table


def test_shares_of_many_classes_have_no_index(good, write):
    write("a.svm", svm(600, classes=(1, 2, 3)))
    told = good("train", "a.svm", "--algo", "hgd", "--json", "-o", "m.npz").json["gradient"]
    assert set(told["share"]) == {"1", "2", "3"} and told["gii"] is None


@pytest.mark.parametrize(
    "words",
    [
        "oob --base hgd --base-base kernel --base-gamma 0.5 --base-kernel-budget 60",
        "oadab --base pa-1 --base-C 0.2 --members 3",
        "osmote --base ouob --base-members 3 --neighbours 2",
        "csogd-sum2 --base ob --base-members 3",
    ],
)
def test_a_nested_method_is_kept_with_all_its_options(good, write, words):
    write("a.svm", skewed(1500))
    good("train", "a.svm", "--algo", *words.split(), "--seed", 7, "-o", "m.npz")
    kept = load(Path("m.npz")).params
    for option, value in zip(words.split()[1::2], words.split()[2::2]):
        assert str(kept[option.removeprefix("--")]) == value
    assert kept["seed"] == 7
    scores = good("predict", "m.npz", "a.svm", "--scores").lines
    good("train", "a.svm", "--algo", *words.split(), "--seed", 7, "--block-size", "1000", "-o", "n.npz")
    assert good("predict", "n.npz", "a.svm", "--scores").lines == scores
    assert Path("m.npz").read_bytes() == Path("n.npz").read_bytes()
    good("train", "a.svm", "--algo", *words.split(), "--seed", 8, "-o", "n.npz")
    if "pa-1" not in words:  # its draws come out alike only by chance
        assert good("predict", "n.npz", "a.svm", "--scores").lines != scores
    write("b.svm", skewed(300, 1))
    good("train", "b.svm", "--continue", "m.npz", "-o", "more.npz")
    assert load(Path("more.npz")).params == kept


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("oob --base pa1 --base-C 0.5", "--base: there is no algorithm 'pa1'; did you mean pa-1"),
        ("oob --base-C 0.5", "No such option: --base-C"),
        ("hgd --base kernel --gamma 0", "--gamma"),
        ("hgd --gamma 2", "--gamma: goes with --base kernel, not with svm"),
        ("oor --ir 0.5", "--ir"),
        ("oob --members 0", "--members"),
        ("oob --theta 1", "--theta"),
        ("osmote --between middle", "--between"),
        ("csrda1 --base kernel", "csrda1 makes no sense with it: it keeps sums for each column"),
        ("csogd-cost2 --cost-positive 1e300", "--cost-positive"),
        ("oob --draw weight --apply repeat", "--apply weight"),
        ("csrda2 --eta 1", "No such option: --eta"),
    ],
)
def test_wrong_usage_is_told_in_one_line(fault, write, words, why):
    write("a.svm", skewed(50))
    assert why in fault(2, "train", "a.svm", "--algo", *words.split(), "-o", "m.npz")
    assert why in fault(2, "compare", "a.svm", "--algo", words)


def test_a_seed_that_a_model_was_not_trained_with_is_refused(good, fault, write):
    write("a.svm", skewed(100))
    good("train", "a.svm", "--algo", "ob", "--seed", 3, "-o", "m.npz")
    assert "with --seed 3, not with --seed 4" in fault(1, "train", "a.svm", "--continue", "m.npz", "--seed", 4)


def test_a_full_support_set_saves_the_model_of_the_rows_before(good, cli, write, monkeypatch):
    monkeypatch.setattr(composed, "FULL", 1200)
    write("a.svm", svm(4000))
    said = cli("train", "a.svm", "--algo", "ogd", "--base", "kernel", "--block-size", "64000", "-o", "m.npz", "-q")
    assert said.code == 1 and said.err.count("\n") == 1
    assert "more than 1,200 support points; with --kernel-budget N" in said.err
    assert good("evaluate", "m.npz", "a.svm", "--json").json["rows"] == 4000


@pytest.mark.parametrize("name", [n for n, s in registry.specs().items() if s.settled is not None])
def test_one_class_one_row_and_rows_of_zeros(good, write, name):
    write("one.svm", "1 1:1\n")
    write("alone.svm", "1 1:1 2:2\n1\n1 2:1\n" * 40)
    write("zeros.svm", "1\n0\n" * 40)
    for file in ("one.svm", "alone.svm", "zeros.svm"):
        good("train", file, "--algo", name, "-o", "m.npz")
        said = good("predict", "m.npz", file).lines
        assert set(said) <= {"0", "1"}


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        ({}, "std,row-l2"),
        ({"base": "arow"}, "std,row-l2"),
        ({"base": "logistic"}, "std,row-l2"),  # which has std alone
        ({"base": "gnb"}, "none"),
        ({"base": "oabm2"}, "none"),  # over trees
        ({"base": "oabm2", "base-base": "pa-1"}, "std,row-l2"),
    ],
)
def test_rows_are_scaled_alike_over_all_bases_but_those_that_go_by_no_unit(words, scale):
    assert registry.meant("oob", words).scale == scale
