"""`--class-weight`: what a row counts by its class, as given or by how rare the class has been so far."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data import EACH_KIND
from test_cli import svm
from test_resume import cut_after

from bigclf.algorithms import registry
from bigclf.cli.main import main
from bigclf.model import load
from bigclf.state import flatten

WEIGHTED = [name for name in EACH_KIND if registry.get(name).uses_weights]
BY_CLASS = ["ter", "nr-rls"]  # each class weighs the same, whatever its rows do


def rows(n, seed=0, classes=2):
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((n, 3)), 3)
    X[r.random((n, 3)) < 0.2] = 0
    s = X @ [1.0, -1.0, 0.5] + 0.8 * r.standard_normal(n)
    return X, np.searchsorted([0.8, 1.5][: classes - 1], s)


def text(X, y, times=None):
    lines = [f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1) if v) + "\n" for x, t in zip(X, y)]
    return "".join(line * (1 if times is None else times[t]) for line, t in zip(lines, y))


def trained(good, *words, output="m.npz"):
    good("train", *words, "-o", output, "-q")
    return load(Path(output))


def weights(good, *words):
    """(units, 1 + 3) of the bias and the three columns; index 0 is no column of the data."""
    w = trained(good, *words).state.w
    assert not w[:, 1].any()
    return np.delete(w, 1, axis=1)


def plain(X):
    """As the encoder makes them under --scale none: the bias in front."""
    return np.column_stack([np.ones(len(X)), X])


def so_far(y, seen=()):
    """t / (k n) by its definition, the row itself counted."""
    shown = list(seen)
    out = []
    for t in y.tolist():
        shown.append(t)
        out.append(len(shown) / (len(set(shown)) * shown.count(t)))
    return np.array(out)


# --- weights as given


@pytest.mark.parametrize(
    "algo", ["ls", "rls", "rls --form recursive --scale none", "ls --scale std", "ls --features rm --b 1"]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_of_three_is_three_rows(good, write, algo, classes):
    X, y = rows(1500, classes=classes)
    write("a.svm", text(X, y)), write("b.svm", text(X, y, [1, 3, 1]))
    words = ["--algo", *algo.split(), *(["--scale", "none"] if "rm" in algo else []), "--dtype", "float64"]
    one = trained(good, "a.svm", *words, "--class-weight", "1=3")
    three = trained(good, "b.svm", *words)
    np.testing.assert_allclose(one.state.w, three.state.w, rtol=1e-9, atol=1e-9 * np.abs(three.state.w).max())
    assert not np.allclose(trained(good, "a.svm", *words).state.w, three.state.w, rtol=1e-3)
    assert one.counts == {str(c): int(np.sum(y == c)) for c in range(classes)}, "rows are counted once"


@pytest.mark.parametrize("scale", ["none", "minmax", "maxabs", "std"])
@pytest.mark.parametrize("factor", [1e-6, 0.25, 1e6])
def test_only_the_ratios_of_the_weights_and_the_ridge_matter(good, write, scale, factor):
    """All rows twice as heavy with a ridge twice as large is the same equation."""
    write("a.svm", text(*rows(800)))
    words = ["a.svm", "--algo", "ls", "--scale", scale, "--dtype", "float64"]
    plainly = weights(good, *words, "--b", 1.0, "--class-weight", "1=3")
    both = [w for c, g in ((0, 1), (1, 3)) for w in ("--class-weight", f"{c}={g * factor!r}")]
    np.testing.assert_allclose(weights(good, *words, "--b", repr(factor), *both), plainly, rtol=1e-9)


@pytest.mark.parametrize("algo", BY_CLASS)
def test_classes_that_weigh_the_same_are_left_so(good, write, algo):
    """1 / n_k times the weight, and a sum of weights n_k times as large."""
    write("a.svm", text(*rows(1500)))
    words = ["a.svm", "--algo", algo, "--dtype", "float64"]
    want = weights(good, *words)
    got = weights(good, *words, "--class-weight", "1=3", "--class-weight", "0=0.2")
    np.testing.assert_allclose(got, want, rtol=1e-9)


def test_within_the_rest_of_three_classes_weights_do_count(good, write):
    """One against all: what stands against a class is a mixture of the others."""
    write("a.svm", text(*rows(1500, classes=3)))
    want = weights(good, "a.svm", "--algo", "nr-rls")
    got = weights(good, "a.svm", "--algo", "nr-rls", "--class-weight", "1=3")
    changed = [not np.allclose(got[k], want[k], rtol=1e-6) for k in range(3)]
    assert changed == [True, False, True]


@pytest.mark.parametrize("algo", EACH_KIND)
def test_every_algorithm_goes_by_the_weights_or_refuses_them(cli, write, algo):
    """It is never passed over in silence."""
    write("a.svm", text(*rows(300)))
    cli("train", "a.svm", "--algo", algo, "-q")
    plain = load(Path("model.npz")).state
    said = cli("train", "a.svm", "--algo", algo, "-q", "--class-weight", "1=3")
    if algo not in WEIGHTED:
        assert said.code == 2 and f"--class-weight: {algo} has no place" in said.err and said.err.count("\n") == 1
    else:
        assert said.code == 0, said
        was, now = flatten(plain), flatten(load(Path("model.npz")).state)
        goes_by = [p for p in was if p.rsplit("/", 1)[-1] in ("w", "S")] or list(was)
        alike = all(np.allclose(now[p], was[p], rtol=1e-9) for p in goes_by)
        assert alike == (algo in BY_CLASS)


def test_which_algorithms_have_a_place_for_weights():
    alone = [name for name in WEIGHTED if registry.get(name).settled is None]
    assert alone == [
        "arow",
        "gnb",
        "logistic",
        "ls",
        "nr-rls",
        "pa-1",
        "pa-2",
        "pegasos",
        "perceptron",
        "rls",
        "ter",
        "vfdt",
    ]


# --- online, against plain loops


def loop(algo, X, y, g, C=0.05):
    """Row by row from the papers, with the weight of a row as the cap of its step, or as 1 / r."""
    w, S = np.zeros(X.shape[1]), np.eye(X.shape[1])
    for x, t, gi in zip(X, 2 * y - 1, g):
        m, v = t * (w @ x), x @ S @ x
        if algo == "perceptron":
            w = w + (m <= 0) * gi * t * x
        elif algo == "pa-1":
            w = w + min(C * gi, max(0.0, 1 - m) / (x @ x)) * t * x
        elif algo == "pa-2":
            w = w + max(0.0, 1 - m) / (x @ x + 1 / (2 * C * gi)) * t * x
        elif m < 1:
            b = 1 / (v + 1 / gi)
            w, S = w + (1 - m) * b * t * (S @ x), S - b * np.outer(S @ x, S @ x)
    return w


def least(X, y, g, b=1e-4, by_class=False):
    """Weighted normal equations; by_class: each class divided by the sum of its weights."""
    if by_class:
        g = g / np.where(y == 1, g[y == 1].sum(), g[y == 0].sum())
    return np.linalg.solve((X.T * g) @ X + b * np.eye(X.shape[1]), X.T @ (g * (2 * y - 1)))


ONLINE = [
    ("perceptron", lambda X, y, g: loop("perceptron", X, y, g)),
    ("pa-1 --C 0.05", lambda X, y, g: loop("pa-1", X, y, g)),
    ("pa-2 --C 0.05", lambda X, y, g: loop("pa-2", X, y, g)),
    ("arow --cov full", lambda X, y, g: loop("arow", X, y, g)),
    ("ls", least),
    ("rls", least),
    ("rls --form recursive", least),
    ("nr-rls", lambda X, y, g: least(X, y, g, by_class=True)),
    ("nr-rls --form per-row", lambda X, y, g: least(X, y, g, by_class=True)),
]
online = pytest.mark.parametrize(("algo", "want"), ONLINE, ids=[name for name, _ in ONLINE])


@online
@pytest.mark.parametrize("given", ["online", "1=2.5"])
def test_weights_enter_as_in_a_plain_loop(good, write, algo, want, given):
    X, y = rows(400)
    words = ["--algo", *algo.split(), "--scale", "none", "--dtype", "float64", "--class-weight", given]
    got = weights(good, write("a.svm", text(X, y)), *words)[0]
    g = so_far(y) if given == "online" else np.where(y == 1, 2.5, 1.0)
    np.testing.assert_allclose(got, want(plain(X), y, g), rtol=1e-8, atol=1e-9)


@online
def test_online_goes_on_with_the_counts_so_far(good, write, algo, want):
    """--continue: the rows before count, as if it were one run."""
    X, y = rows(400)
    write("1.svm", text(X[:150], y[:150])), write("2.svm", text(X[150:], y[150:]))
    words = ["--algo", *algo.split(), "--scale", "none", "--dtype", "float64", "--class-weight", "online"]
    trained(good, "1.svm", *words)
    for more in ([], ["--class-weight", "online"]):
        trained(good, "1.svm", *words)
        got = weights(good, "2.svm", "--continue", "m.npz", *more)[0]
        np.testing.assert_allclose(got, want(plain(X), y, so_far(y)), rtol=1e-8, atol=1e-9)
    assert load(Path("m.npz")).class_weight == "online"


def test_a_class_counts_from_its_first_row(good, write):
    """Two classes of ten rows, then a third: k is the number of classes met, not of those that will come."""
    X, y = rows(300, classes=3)
    y = np.concatenate([np.minimum(y[:200], 1), y[200:]])
    words = ["a.svm", "--algo", "ls", "--scale", "none", "--dtype", "float64", "--class-weight", "online"]
    write("a.svm", text(X, y))
    got = weights(good, *words)
    for c in range(3):
        g, t = so_far(y), np.where(y == c, 1.0, -1.0)
        P = plain(X)
        np.testing.assert_allclose(got[c], np.linalg.solve((P.T * g) @ P + 1e-4 * np.eye(4), P.T @ (g * t)), rtol=1e-8)
    assert np.array_equal(weights(good, *words, "--classes", "0,1,2,7")[:3], got), "a class without rows is none"


# --- the same bytes


@pytest.mark.parametrize("given", ["online", "2=3"])
@pytest.mark.parametrize("algo", WEIGHTED)
def test_same_bytes_for_any_blocks_and_after_an_interrupt(folder, write, monkeypatch, algo, given):
    write("a.svm", svm(10_400, 7, late=True))
    words = ["train", "a.svm", "--algo", algo, "--class-weight", given, "-q", "-o"]
    assert main([*words, "whole.npz"]) == 0
    whole = (folder / "whole.npz").read_bytes()
    assert main([*words, "m.npz", "--block-size", "7000"]) == 0
    assert (folder / "m.npz").read_bytes() == whole
    for looks in (2, 4, 7):
        (folder / "m.npz").unlink()
        with monkeypatch.context() as m:
            cut_after(m, looks)
            assert main([*words, "m.npz", "--block-size", "9000"]) == 130
        assert main(["train", "a.svm", "--resume", "m.ck.npz", "-q"]) == 0
        assert (folder / "m.npz").read_bytes() == whole, looks


# --- faults


@pytest.mark.parametrize("text_", ["1", "1=", "1=x", "1=0", "1=-2", "1=nan", "1=inf", "Online", "", "1:3"])
def test_texts_that_cannot_be_meant(fault, write, text_):
    write("a.svm", text(*rows(30)))
    line = fault(2, "train", "a.svm", "--algo", "ls", "--class-weight", text_)
    assert f"--class-weight: '{text_}'" in line


def test_weights_of_classes_that_are_not_there(good, fault, write):
    write("a.svm", text(*rows(30)))
    words = ["train", "a.svm", "--algo", "ls"]
    assert "class '7' is not among 0, 1" in fault(2, *words, "--class-weight", "7=2")
    assert "class '' is not among 0, 1" in fault(2, *words, "--class-weight", "=3")
    assert "'online' should be" in fault(2, *words, "--class-weight", "online", "--class-weight", "1=2")
    good(*words, "--class-weight", "7=2", "--classes", "7", "-q")
    assert load(Path("model.npz")).class_weight == {"7": 2.0}
    good(*words, "--class-weight", "+1.0=2", "-q")
    assert load(Path("model.npz")).class_weight == {"1": 2.0}, "a label has one spelling"


def test_info_tells_the_weights(good, write):
    write("a.svm", text(*rows(30)))
    for more, kept, told in ((["1=3"], {"1": 3.0}, "1: 3"), (["online"], "online", "online"), ([], None, None)):
        good("train", "a.svm", "--algo", "ls", *(w for m in more for w in ("--class-weight", m)), "-q")
        assert good("info", "model.npz", "--json").json["class_weight"] == kept
        lines = [line for line in good("info", "model.npz").lines if line.startswith("class weight")]
        assert [line.split("  ", 1)[1].strip() for line in lines] == ([told] if told else [])


def test_forms_without_a_place_are_refused(fault, write, folder):
    write("a.svm", text(*rows(30)))
    line = fault(1, "train", "a.svm", "--form", "algorithm1", "--class-weight", "1=2", "-o", "m.npz")
    assert "algorithm1" in line and not (folder / "m.npz").exists()


def test_going_on_refuses_other_weights(good, fault, write):
    write("a.svm", text(*rows(30)))
    good("train", "a.svm", "--algo", "ls", "--class-weight", "1=3", "-o", "w.npz", "-q")
    good("train", "a.svm", "--algo", "ls", "-o", "n.npz", "-q")
    for model, more, words in (("w", "1=2", "1=3"), ("w", "online", "1=3"), ("n", "1=2", "without --class-weight")):
        line = fault(1, "train", "a.svm", "--continue", f"{model}.npz", "--class-weight", more)
        assert words in line and f"--class-weight {more}" in line
    good("train", "a.svm", "--continue", "w.npz", "--class-weight", "1=3.0", "-o", "m.npz", "-q")


@pytest.mark.parametrize("algo", ["ls", "nr-rls"])
def test_merge_is_exact_for_weights_as_given_and_refuses_others(good, fault, write, algo):
    write("a.svm", text(*rows(900)))
    train = ["train", "a.svm", "--algo", algo, "-q", "-o"]
    for weight, name in (("1=3", "w"), ("1=2", "x"), ("online", "o"), ("0=1", "n")):
        for k in (1, 2):
            good(*train, f"{name}{k}.npz", "--class-weight", weight, "--shard", f"{k}/2")
    good("merge", "w1.npz", "w2.npz", "-o", "m.npz", "-q")
    merged, whole = load(Path("m.npz")), trained(good, *train[1:5], "--class-weight", "1=3", output="whole.npz")
    np.testing.assert_allclose(merged.state.w, whole.state.w, rtol=1e-10)
    assert merged.class_weight == {"1": 3.0} and merged.counts == whole.counts
    assert "x2.npz: its --class-weight" in fault(1, "merge", "w1.npz", "x2.npz", "-o", "m.npz")
    assert "o1.npz: --class-weight online" in fault(1, "merge", "o1.npz", "o2.npz", "-o", "m.npz")
