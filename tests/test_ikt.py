"""bigclf ikt: the spread of a Gaussian kernel, from the command line."""

from __future__ import annotations

import sys

import naive
import numpy as np
import pytest

from bigclf.cli.tuning import doubtful, plot
from bigclf.kernels import spread
from bigclf.limits import RESERVE, Headroom, Limit
from bigclf.training import fit


def table(n=400, classes="abc", seed=0):
    r = np.random.default_rng(seed)
    y = r.choice(len(classes), n, p=np.arange(1, len(classes) + 1) / sum(range(1, len(classes) + 1)))
    X = r.normal(size=(n, 3)) + 2 * y[:, None] * [1, -1, 0]
    return X, y, "y,a,b,c\n" + "".join(f"{classes[k]},{','.join(map(str, x))}\n" for k, x in zip(y, X.tolist()))


def test_the_document_is_the_curve_of_standardised_rows(good, write):
    X, y, text = table()
    said = good("ikt", write("a.csv", text), "--label", "y", "--json", "-q", "--dtype", "float64").json
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    want = naive.curve(naive.prototypes(Z, y, 100), (1, 2), spread.SIGMAS)
    got = [p["distance"] for p in said["curve"]]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-7)
    assert said["sigma"] == spread.SIGMAS[np.argmin(want)] and said["gamma"] == pytest.approx(0.5 / said["sigma"] ** 2)
    assert (said["classes"], said["prototypes"]) == (["b", "c"], [100, 100])
    assert (said["rows"], said["method"], said["scale"]) == (400, "ikt", "std")
    assert [p["gamma"] for p in said["curve"]] == [2.0**i for i in range(13, -14, -1)]


def test_options_reach_the_learner(good, write):
    data = write("a.csv", table()[2])
    words = ("ikt", data, "--label", "y", "--json", "-q")
    first = good(*words, "--tuning-classes", "first", "--prototypes", 20).json
    assert set(first["classes"]) <= set("abc") and first["prototypes"] == [20, 20]
    raw = good(*words, "--scale", "none", "--limit", 100).json
    assert raw["scale"] == "none" and raw["rows"] == 100
    assert good(*words, "--method", "min").json["sigma"] == good(*words).json["sigma"]
    assert good(*words, "--method", "left-corner").json["sigma"] < good(*words).json["sigma"]


def test_the_grid_is_kappa_on_rows_kept_aside(good, write):
    said = good("ikt", write("a.csv", table(900)[2]), "--label", "y", "--method", "grid", "--json", "-q").json
    kappas = [p["kappa"] for p in said["curve"]]
    assert len(kappas) == 27 and max(kappas) > 0.7
    assert said["sigma"] == said["curve"][int(np.argmax(kappas))]["sigma"]


def test_two_lines_for_people(good, write, folder):
    data = write("a.csv", table()[2])
    said = good("ikt", data, "--label", "y")
    sigma, gamma = (float(line.split()[1]) for line in said.lines)
    assert [line.split()[0] for line in said.lines] == ["sigma", "gamma"]
    assert gamma == pytest.approx(0.5 / sigma**2, rel=1e-9)
    assert "for rows encoded with --scale std" in said.err
    assert good("ikt", data, "--label", "y", "-q").err == ""


@pytest.mark.parametrize(("method", "title"), [("ikt", "distance to the ideal kernel"), ("grid", "kappa on the rows")])
def test_a_terminal_gets_a_plot(method, title, good, write, monkeypatch):
    data = write("a.csv", table()[2])
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    said = good("ikt", data, "--label", "y", "--method", method, "-q")
    assert title in said.lines[-1] and said.out.isascii()
    assert sum(line.count("O") for line in said.lines) == 1
    assert sum(line.count("*") for line in said.lines) == 26
    assert max(map(len, said.lines)) <= 79


def test_marks_stand_over_their_spreads():
    values = np.abs(np.arange(27.0) - 14) / 14
    lines = plot(values, 14)
    assert lines[0].startswith("  1.0000 | *") and "0.0000 |" in lines[-3]
    assert lines[-3].index("O") == lines[-1].index("2^-1") + 4  # an octave, of four places, to the right: 2^0
    assert len(plot(np.ones(27), 0)) == len(lines)


def test_every_kind_of_input_and_any_cut_gives_the_same(good, write):
    X, y, text = table(3000)
    write("a.csv", text)
    write("a.svm", "".join(f"{k} 1:{a} 2:{b} 3:{c}\n" for k, (a, b, c) in zip(y, X.tolist())))
    said = [good("ikt", "a.csv", "--label", "y", "--block-size", b, "--json", "-q").json for b in ("4MiB", "777")]
    assert said[0] == said[1]
    assert said[0]["sigma"] == good("ikt", "a.svm", "--json", "-q").json["sigma"]


def constant(n=200, a=lambda i: 1.0):
    return "y,a,b\n" + "".join(f"{i % 2},{float(a(i))},7\n" for i in range(n))


@pytest.mark.parametrize("method", ["ikt", "min", "left-corner", "grid"])
def test_a_spread_that_constant_columns_cannot_tell_is_refused(method, fault, write):
    words = ("ikt", write("a.csv", constant()), "--label", "y", "--method", method)
    for more in ((), ("--json",)):
        said = fault(1, *words, *more, "-q")
        assert "a.csv: no spread is better than another" in said and "columns in which the classes differ" in said


@pytest.mark.parametrize("tuning", ["ikt", "min", "left-corner", "auto"])
def test_of_a_spread_that_is_refused_here_training_says_the_same_and_has_a_model(tuning, good, fault, write):
    """The spread is all that is asked for here. A model answers, as any does on such columns, and is doubted."""
    words = (write("a.csv", constant()), "--label", "y")
    rule = "grid" if tuning == "auto" else tuning
    said = good("train", *words, "--algo", "fsvc", "--tuning", tuning, "-o", "a.npz").err
    assert fault(1, "ikt", *words, "--method", rule, "-q").split("a.csv: ")[1].strip() in said


def test_a_best_kappa_of_all_spreads_is_told():
    assert "no spread is better than another, and sigma 1 says nothing" in (doubtful(np.ones(27), spread.ONE) or "")


def test_a_spread_at_the_end_of_the_grid_is_told_in_one_line(good, write):
    data = write("a.csv", constant(200, lambda i: i % 50 == 7))  # but for four rows the classes are alike
    said = good("ikt", data, "--label", "y", "--method", "min")
    assert said.lines[0] == "sigma 0.0078125"
    assert "a.csv: sigma 0.0078125 is the smallest of those tried" in said.err and "--scale" in said.err
    assert "those tried" not in good("ikt", write("b.csv", table()[2]), "--label", "y").err
    assert "sigma 64 is the largest" in doubtful(np.arange(27.0), 26) and doubtful(np.arange(27.0), 25) is None


def test_auto_is_as_many_prototypes_as_fit(good, fault, write, monkeypatch):
    words = ("ikt", write("a.csv", table(900)[2]), "--label", "y", "--json", "-q")
    assert good(*words, "--prototypes", "auto").json == good(*words).json == good(*words, "--prototypes", 100).json
    monkeypatch.setattr(fit, "headroom", lambda cap: Headroom((Limit("--budget", 1 << 30, RESERVE + (1 << 20)),), 0))
    few = good(*words, "--prototypes", "auto", "--method", "min").json["prototypes"]
    assert few[0] == few[1] and 1 < few[0] < 100
    assert "--prototypes" in fault(2, *words, "--prototypes", "all")


def test_faults_are_one_line(fault, write):
    one = write("one.svm", "1 1:1\n1 1:2\n")
    assert "two classes" in fault(1, "ikt", one, "-q")
    few = write("few.svm", "1 1:1\n2 1:2\n")
    assert "too few" in fault(1, "ikt", few, "-q", "--method", "grid")
    assert "no rows" in fault(1, "ikt", write("empty.svm", ""), "-q")
    assert "no such file" in fault(1, "ikt", "nothing.svm").lower()
    assert "--method" in fault(2, "ikt", few, "--method", "best")
    assert "--prototypes" in fault(2, "ikt", few, "--prototypes", 0)
    assert "scale" in fault(2, "ikt", few, "--scale", "wide", "-q")
