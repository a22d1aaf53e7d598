"""Detectors of drift against their transcription, and learners that are watched against a loop row by row."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import naive_drift as naive
import numpy as np
import pytest
from data import BINARY, csr, params_of, train
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.block import take
from bigclf.compose import drift
from bigclf.core import Block, Shape
from bigclf.errors import UsageError
from bigclf.kernels import drift as kernels
from bigclf.units import code_matrix, decode, new_plan

EVENTS = {kernels.WARNING: "warning", kernels.DRIFT: "drift", kernels.CALM: "calm"}

LEVELS = st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), min_size=1, max_size=5)  # rows, share of errors


def errors(levels, seed):
    r = np.random.default_rng(seed)
    return np.concatenate([r.random(n) < p for n, p in levels]).astype(np.int8)


def found(detector, wrongs, cuts=()):
    """All that a detector of ours says; it begins anew after each drift."""
    s, out = detector.init(), []
    for a, b in pairwise(sorted({0, len(wrongs), *(c for c in cuts if c < len(wrongs))})):
        at = 0
        while True:
            at, event = detector.find(s, wrongs[a:b], at)
            if event == kernels.NOTHING:
                break
            out.append((a + at, EVENTS[event]))
            at += 1
            if event == kernels.DRIFT:
                s = detector.init()
    return out


def said(detector, wrongs):
    """The same of a transcription."""
    out = []
    for i, wrong in enumerate(wrongs.tolist()):
        event = detector.tell(wrong) if wrong >= 0 else None
        if event:
            out.append((i, event))
        if event == "drift":
            detector.reset()
    return out


CUTS = st.lists(st.integers(1, 2000), max_size=4)


@given(LEVELS, st.integers(0, 99), CUTS, st.sampled_from([(30, 2.0, 3.0), (7, 1.2, 1.95), (1, 1.0, 1.5)]))
@settings(max_examples=60, deadline=None)
def test_ddm_is_as_transcribed(levels, seed, cuts, numbers):
    wrongs = errors(levels, seed)
    wrongs[::7] = -1
    assert found(drift.ddm(*numbers), wrongs, cuts) == said(naive.DDM(*numbers), wrongs)


@given(LEVELS, st.integers(0, 99), CUTS, st.sampled_from([(0.002, None), (0.002, 0.01), (0.3, 1.0)]))
@settings(max_examples=40, deadline=None)
def test_adwin_is_as_transcribed(levels, seed, cuts, deltas):
    wrongs = errors(levels, seed)
    wrongs[::11] = -1
    assert found(drift.adwin(*deltas), wrongs, cuts) == said(naive.ADWIN(*deltas), wrongs)


def test_adwin_holds_the_rows_it_should():
    """After a cut the buckets, newest first, are those of the transcription, to the last one."""
    wrongs = errors([(1000, 0.1), (300, 0.6), (500, 0.2)], 3)
    s, detector, window = drift.adwin(0.002, None).init(), drift.adwin(0.002, None), naive.Window(0.002)
    widths = []
    for i in range(len(wrongs)):
        detector.find(s, wrongs[i : i + 1], 0)
        window.tell(int(wrongs[i]))
        totals = {2**k: s.buckets[0, k, : int(n)].tolist() for k, n in enumerate(s.filled[0]) if n}
        assert totals == {size: list(map(sum, row)) for size, row in window.sizes.items()}
        widths.append(s.sums[0, kernels.WIDTH])
        assert s.sums[0, kernels.TOTAL] == sum(window.rows()) and widths[-1] == len(window.rows())
    assert min(np.diff(widths)) < -500  # something was cut


@pytest.mark.parametrize("detector", [drift.ddm(30, 2.0, 3.0), drift.adwin(0.002, 0.01)], ids=["ddm", "adwin"])
@pytest.mark.parametrize("wrong", [0, 1])
def test_a_constant_stream_has_no_drift(detector, wrong):
    assert found(detector, np.full(20_000, wrong, np.int8)) == []


@pytest.mark.parametrize("detector", [drift.ddm(30, 2.0, 3.0), drift.adwin(0.002, None)], ids=["ddm", "adwin"])
def test_errors_that_become_fewer_are_no_drift_and_more_are_one(detector):
    fewer, more = errors([(1000, 0.5), (3000, 0.2)], 1), errors([(1000, 0.2), (1000, 0.5)], 1)
    assert "drift" not in [event for _, event in found(detector, fewer)]
    assert any(event == "drift" and 1000 < i < 1200 for i, event in found(detector, more))


@given(st.integers(1, 4), st.integers(0, 999), st.integers(1, 40))
@settings(deadline=None)
def test_what_is_wrong_is_as_decoded(classes, seed, n):
    r = np.random.default_rng(seed)
    code = code_matrix([str(c) for c in range(max(classes, 2))])
    pre = r.integers(-1, 2, (len(code), n)).astype(float)  # with ties
    y = r.integers(-1, code.shape[1], n).astype(np.int32)
    pre[:, r.random(n) < 0.1] = np.nan
    want = np.where((y < 0) | np.isnan(pre).any(axis=0), -1, decode(code, np.nan_to_num(pre)) != y)
    out = np.empty(n, np.int8)
    kernels.wrong(pre, new_plan(code, y).target, y, out)
    np.testing.assert_array_equal(out, want)


# --- around learners


def drifting(n, seed, classes=2, d=5):
    """Rows whose classes change places every n / 3 rows, some of them without a label."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, d)).astype(np.float32)
    X[:, 0] = 1
    ideal = r.standard_normal((3, d, classes))
    y = np.array([int((X[i] @ ideal[i * 3 // n]).argmax()) for i in range(n)], np.int32)
    y = np.where(r.random(n) < 0.05, r.integers(0, classes, n), y).astype(np.int32)
    y[::50] = -1
    return X, y


def by_row(base, X, y, code, detector, replace):
    """As `naive.watch` has it, of a learner that sees one row at a time."""

    def fresh():
        s = [base.init(Shape(len(code), X.shape[1], code.shape[1]))]

        def learner(i):
            plan = new_plan(code, y[i : i + 1])
            s[0] = base.update(s[0], Block(np.array([i]), X[i : i + 1], y[i : i + 1]), plan)
            return plan.pre[:, 0].copy()

        return learner

    def right(score, i):
        return None if y[i] < 0 else decode(code, score[:, None])[0] == y[i]

    return naive.watch(fresh, right, len(y), detector, replace)


BOLE = {"drift": "ddm", "drift_rows": 7, "drift_warning": 1.2, "drift_level": 1.95}  # as BOLE's authors have it
DETECTORS = {
    "ddm": ({"drift": "ddm"}, lambda: naive.DDM()),
    "bole": (BOLE, lambda: naive.DDM(7, 1.2, 1.95)),
    "adwin": ({"drift": "adwin"}, lambda: naive.ADWIN(0.002, 0.01)),
    "quick": ({"drift": "adwin", "drift_delta": 0.5, "drift_warning_delta": 1.0}, lambda: naive.ADWIN(0.5, 1.0)),
}


SLOW = [  # to change their minds
    ("arow", {}),
    ("pa-1", {"C": 0.01}),
    ("ogd", {"base": "svm", "eta": 0.003}),
    ("oob", {"base": "arow", "members": 3}),
]


@pytest.mark.parametrize("replace", [False, True], ids=["reset", "replace"])
@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize(("name", "params"), SLOW)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_watched_learner_is_as_in_a_loop(name, params, detector, replace, classes):
    given, transcribed = DETECTORS[detector]
    given = {k: v for k, v in given.items() if replace or k != "drift_warning_delta"}
    X, y = drifting(2400, 5, classes)
    code = code_matrix([str(c) for c in range(classes)])
    scores, warnings, drifts, last = by_row(registry.build(name, **params), X, y, code, transcribed(), replace)
    assert drifts
    watched = registry.build(name, **params, **given, on_drift="replace" if replace else "reset")
    plan = new_plan(code, y)
    s = watched.update(watched.init(Shape(len(code), 5, classes)), Block(np.arange(len(y)), X, y), plan)
    np.testing.assert_array_equal(plan.pre, np.transpose(scores))
    want = {"warnings": warnings, "drifts": drifts, "last_drift": last}
    if given["drift"] == "adwin" and not replace:
        del want["warnings"]  # there is no second detector
    assert watched.told(s) == want


FORMS = (
    "arow --drift ddm",
    "arow --drift ddm --on-drift replace",
    "pa-1 --C 0.01 --drift adwin --drift-delta 0.5",
    "arow --drift adwin --on-drift replace",
    "oob --base arow --base-drift adwin --base-on-drift replace",
    "oob --eta 0.003 --drift ddm --on-drift replace",
    "nr-rls --form algorithm1 --drift ddm --on-drift replace",
)


@pytest.mark.parametrize("words", FORMS)
@given(st.integers(0, 20), CUTS)
@settings(max_examples=6, deadline=None)
def test_drifts_do_not_depend_on_how_rows_are_cut(words, seed, cuts):
    name, params = params_of(words)
    watched = registry.build(name, **params)
    X, y = drifting(2400, seed)
    whole = train(watched, X, y, finish=False)
    once = train(watched, X, y, cuts=[c for c in cuts if c < 2400], finish=False)
    assume(np.sum(watched.told(whole)["drifts"]) >= 1)
    a, b = states.flatten(whole), states.flatten(once)
    for path in a:
        assert a[path].tobytes() == b[path].tobytes(), path


@pytest.mark.parametrize("words", FORMS)
def test_going_on_from_what_was_saved_changes_nothing(words):
    name, params = params_of(words)
    watched = registry.build(name, **params)
    X, y = drifting(2400, 7)
    shape = Shape(1, 5, 2)
    want = states.flatten(train(watched, X, y, finish=False))
    s, ends = watched.init(shape), [0, 700, 850, 900, 1650, 2400]
    for a, b in pairwise(ends):
        s = train(watched, X[a:b], y[a:b], state=s, start=a, finish=False)
        s = states.fill(watched, {k: v.copy() for k, v in states.trim(watched, s, shape).items()}, shape)
        assert states.misfit(watched, states.trim(watched, s, shape), shape) is None
    for path, array in states.flatten(s).items():
        assert want[path].tobytes() == array.tobytes(), path


def test_a_kernel_machine_with_one_behind_it_may_have_more_points_than_that():
    name, params = params_of("ogd --base kernel --drift ddm --on-drift replace")
    watched = registry.build(name, **params)
    X, y = drifting(2048, 3)
    s = train(watched, X, y)
    shape = Shape(1, 5, 2)
    assert len(s.base.norm) > len(s.fresh.norm)
    assert states.misfit(watched, states.trim(watched, s, shape), shape) is None


def test_sparse_rows_drift_as_dense_ones():
    name, params = params_of("arow --drift ddm --on-drift replace")
    watched = registry.build(name, **params)
    X, y = drifting(2400, 9)
    dense, sparse = train(watched, X, y), train(watched, csr(X), y)
    assert watched.told(dense) == watched.told(sparse) and watched.told(dense)["drifts"]
    np.testing.assert_allclose(watched.decision(dense, X), watched.decision(sparse, csr(X)), rtol=1e-7, atol=1e-9)


def test_a_late_class_is_taken_in_by_the_learner_and_by_the_one_behind_it():
    """As each of them takes it: here from the sums of both of its classes."""
    name, params = params_of("rls --form recursive --drift ddm --on-drift replace")
    watched, base = registry.build(name, **params), registry.build("rls", form="recursive")
    X, y = drifting(2400, 5)
    s = train(watched, X[:812], y[:812])  # between a warning and its drift
    assert s.log.behind[0] and states.flatten(s.fresh)["w"].any()
    three, shape = code_matrix(["0", "1", "2"]), Shape(3, 5, 3)
    new = states.change_units(watched, s, BINARY, three, shape)
    for had, has in ((s.base, new.base), (s.fresh, new.fresh)):
        want = states.flatten(states.change_units(base, had, BINARY, three, shape))
        for path, array in states.flatten(has).items():
            assert array.tobytes() == want[path].tobytes(), path
    assert watched.told(new) == watched.told(s)


def test_rows_that_are_not_shown_are_not_told():
    watched = registry.build("arow", drift="ddm")
    X, y = drifting(900, 2)
    plan = new_plan(BINARY, y)
    plan.target[:, 400:] = 0
    s = watched.update(watched.init(Shape(1, 5, 2)), Block(np.arange(900), X, y), plan)
    t = train(watched, take(X, 0, 400), y[:400])
    assert s.detector.errors.tobytes() == t.detector.errors.tobytes()


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("nr-rls", {"drift": "ddm"}, "--drift ddm: nr-rls does not go row by row"),
        ("fsvc", {"drift": "adwin"}, "--drift adwin: fsvc does not go row by row"),
        ("arow", {"drift": "ddm", "drift_warning": 4.0}, "--drift-warning: is above"),
        ("arow", {"drift": "adwin", "on_drift": "replace", "drift_warning_delta": 0.001}, "--drift-warning-delta"),
        ("arow", {"drift": "adwin", "drift_warning_delta": 0.02}, "goes with --on-drift replace"),
        ("oob", {"base": "ar-rls", "base_drift": "ddm"}, "ar-rls does not go row by row"),
    ],
)
def test_what_cannot_be_watched_is_refused_by_name(name, params, words):
    with pytest.raises(UsageError, match=words):
        registry.build(name, **params)


# --- the command line


def rows_of(X, y):
    return "".join(
        f"{c} " + " ".join(f"{j}:{v:.5f}" for j, v in enumerate(x[1:], 1)) + "\n" for x, c in zip(X, y) if c >= 0
    )


def test_the_command_line_tells_of_drifts(good, write):
    write("a.svm", rows_of(*drifting(2400, 5)))
    argv = ("train", "a.svm", "--algo", "arow", "--scale", "none", "--drift", "ddm", "--on-drift", "replace")
    told = good(*argv, "--json", "-q").json["told"]
    assert told["drifts"] >= 1 and told["warnings"] >= told["drifts"] and 800 < told["last_drift"] <= 2400
    assert f"drifts {told['drifts']}, last drift {told['last_drift']:,}" in good(*argv).err
    assert good("info", "model.npz", "--json").json["told"] == told
    shown = good("info", "model.npz").out
    assert f"drifts {told['drifts']}" in shown and "drift-level 3.0" in shown
    labels = good("predict", "model.npz", "a.svm", "-q").lines
    assert len(labels) == sum(drifting(2400, 5)[1] >= 0)


def test_a_run_that_is_not_watched_tells_nothing(good, write):
    write("a.svm", rows_of(*drifting(100, 5)))
    assert good("train", "a.svm", "--algo", "arow", "--json", "-q").json["told"] is None
    assert good("info", "model.npz", "--json").json["told"] is None
    assert "drifts" not in good("train", "a.svm", "--algo", "arow").err


def test_two_runs_that_follow_each_other_are_as_one(good, write):
    X, y = drifting(2400, 5)
    write("a.svm", rows_of(X, y))
    write("b.svm", rows_of(X[:900], y[:900]))
    write("c.svm", rows_of(X[900:], y[900:]))
    more = ("--algo", "oob", "--base", "arow", "--base-drift", "adwin", "--base-on-drift", "replace", "--scale", "none")
    one = good("train", "a.svm", *more, "--json", "-q").json["told"]
    good("train", "b.svm", *more, "-q", "-o", "b.npz")
    two = good("train", "c.svm", "--continue", "b.npz", "--json", "-q").json["told"]
    assert one == two and len(one["drifts"]) == 10 and sum(one["drifts"]) > 0


def test_compare_takes_watched_learners(good, write):
    write("a.svm", rows_of(*drifting(2400, 5)))
    texts = ("arow", "arow --drift ddm", "arow --drift adwin --drift-delta 0.01", "oob --base arow --base-drift ddm")
    argv = [word for text in texts for word in ("--algo", text)]
    found = good("compare", "a.svm", "--scale", "none", *argv, "--json", "-q").json
    error = {f"{e['algorithm']} {e['options']}".strip(): e["progressive"]["error"] for e in found["algorithms"]}
    assert set(error) == set(texts)
    assert max(error.values()) == error["arow"] > 2 * error["arow --drift ddm"]


def test_what_the_command_line_refuses(fault, good, write):
    write("a.svm", rows_of(*drifting(100, 5)))
    assert "nr-rls does not go row by row" in fault(2, "train", "a.svm", "--drift", "ddm")
    assert "--on-drift" in fault(2, "train", "a.svm", "--algo", "arow", "--on-drift", "replace")
    assert "--drift-rows" in fault(2, "train", "a.svm", "--algo", "arow", "--drift", "adwin", "--drift-rows", "9")
    assert "--drift" in fault(2, "train", "a.svm", "--algo", "arow", "--drift", "eddm")
    good("train", "a.svm", "--algo", "arow", "--drift", "ddm", "-q")
    assert "--drift ddm" in fault(1, "train", "a.svm", "--continue", "model.npz", "--drift", "adwin")
    assert "arow cannot be merged" in fault(1, "merge", "model.npz", "model.npz", "-o", "m.npz")


def test_help_shows_what_a_detector_brings(good):
    assert "--drift " in good("algos", "arow").out
    assert "--drift-level" in good("train", "--algo", "arow", "--drift", "ddm", "--help").out
    assert "--drift-level" not in good("train", "--algo", "arow", "--help").out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("arow --on-drift replace", "--on-drift: goes with --drift ddm or adwin"),
        ("arow --drift adwin --drift-rows 50", "--drift-rows: goes with --drift ddm"),
        ("oabm1 --base gnb --base-drift-level 4", "--base-drift-level: goes with --base-drift ddm"),
        ("oadab --base-drift ddm", "--base-drift: goes with a --base that is an algorithm, not a gate"),
        ("arow --drift ddm --drift-rows 0", "should be a whole number at least 1"),
    ],
)
def test_options_that_go_with_others_say_so(fault, write, words, why):
    write("a.csv", "kind,a\nx,1\ny,2\n")
    assert why in fault(2, "train", "a.csv", "--label", "kind", "--algo", *words.split(), "-o", "m.npz")


def test_what_the_watched_learner_tells_is_told_too(good):
    data = Path(__file__).parent.parent / "sample_data" / "segment.parquet"
    argv = ["train", data, "--algo", "oabm2", "--base", "gnb", "--members", "3", "-q", "--json"]
    alone = good(*argv).json["told"]
    assert good(*argv, "--drift", "ddm", "--drift-level", "1000").json["told"] == alone | {
        "warnings": 0,
        "drifts": 0,
        "last_drift": None,
    }
