"""Members that take turns row by row: the compiled loop, which calls the kernel of any base, is what Python does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from data import BINARY, learners

import bigclf.compose.adaboost as compose
from bigclf import block as blk
from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.calls import address, arrays, call, entry, words
from bigclf.core import Block, Shape
from bigclf.jit import exact_kernel, kernel
from bigclf.units import code_matrix, new_plan

# Every base that is a single call, and the forms of those that have some.
BASES = {
    "gnb": {},
    "vfdt": {"base_grace_period": 20.0, "base_tie_threshold": 0.5, "base_max_leaves": 3},
    "perceptron": {"base_average": True},
    "svm": {"eta_schedule": "sqrt"},
    "kernel": {"gamma": 0.5},
    "hgd": {},
    "pa-1": {},
    "pa-2": {"base_C": 0.1},
    "arow": {},
    "arow full": {"base_cov": "full"},
    "logistic": {},
    "pegasos": {},
    "rls": {"base_form": "recursive"},
}
HARD = {"draw": "poisson", "on_weak": "reset"}
OPTIONS = [
    ("adob", {"moa_compat": True}),
    ("adob", HARD | {"apply": "repeat", "test_first": True}),
    ("bole", {"break_votes": True, "weight_shift": 0.1, "draw": "round"}),
    ("oabm1", HARD),
]


def sparse(X):
    """The same rows without their zeros."""
    at = np.nonzero(X)
    return blk.Csr(X[at], at[1].astype(np.int32), np.searchsorted(at[0], np.arange(len(X) + 1)), X.shape[1])


def stream(n, seed, classes, d=5):
    r = np.random.default_rng(seed)
    y = r.integers(0, classes, n).astype(np.int32)
    X = r.standard_normal((n, d)) * (r.random((n, d)) < 0.7) + 0.7 * np.eye(max(classes, d))[y][:, :d]
    y[::17] = -1
    return X, y


def went(method, base, options, rows, y, classes, cuts):
    """State and scores, with weights, rows without labels and scores after the rows, in blocks cut there."""
    learner = registry.build(method, base=base.split()[0], members=4, **BASES[base], **options)
    weight = np.random.default_rng(22).exponential(1.0, y.size)
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    s, found = learner.init(Shape(len(code), blk.cols(rows), classes)), []
    for a, b in zip([0, *cuts], [*cuts, y.size]):
        plan = new_plan(code, y[a:b], weight[a:b])
        plan = plan._replace(post=np.full(plan.target.shape, np.nan))
        s = learner.update(s, Block(np.arange(a, b), blk.take(rows, a, b), y[a:b]), plan)
        found += [np.concatenate([plan.pre, plan.post])]
    return states.flatten(s) | {"scores": np.concatenate(found, axis=1)}


@pytest.mark.parametrize(("method", "options"), OPTIONS)
@pytest.mark.parametrize("kind", [np.asarray, sparse])
@pytest.mark.parametrize(("base", "classes"), [(b, 2 + 3 * (k % 2)) for k, b in enumerate(BASES)] + [("arow", 2)])
def test_the_loop_is_row_by_row_to_the_bit_however_rows_are_cut(monkeypatch, base, classes, kind, method, options):
    X, y = stream(250, 21, classes)
    rows = kind(X)
    cuts = [[], [1, 2, 77], [150]] if base != "kernel" else [[]] * 3  # that goes by whole tiles
    one, parts = (went(method, base, options, rows, y, classes, at) for at in cuts[:2])
    ensemble = compose.adaboost
    monkeypatch.setattr(compose, "adaboost", lambda of, how: ensemble([replace(b, call=None) for b in of], how))
    want = went(method, base, options, rows, y, classes, cuts[2])
    if base == "vfdt" and "on_weak" not in options:  # trees do split
        assert max(len(a) for name, a in want.items() if name.endswith("/node")) > 4
    for name, a in one.items():
        assert a.tobytes() == parts[name].tobytes() == want[name].tobytes(), name


@pytest.mark.parametrize("base", ["gnb", "vfdt", "arow", "kernel", "rls"])
def test_members_do_begin_anew(base):
    """More often than there are members, in the streams of these tests."""
    X, y = stream(250, 21, 5)
    found = went("oabm1", base, HARD, X, y, 5, [])
    assert found["base/own/fresh" if base == "kernel" else "own/fresh"] > 4


@pytest.mark.parametrize("base", BASES)
def test_dense_and_sparse_rows_make_the_same_of_a_member(base):
    X, y = stream(250, 23, 2)
    a, b = (went("adob", base, HARD, kind(X), y, 2, []) for kind in (np.asarray, sparse))
    np.testing.assert_allclose(a["scores"], b["scores"], rtol=0, atol=1e-7)
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(("name", "learner"), [(n, found) for n, found in learners().items() if found.call])
def test_a_call_is_told_every_array_of_the_state(name, learner):
    """Else a member that begins anew would keep some of what it knew; and they are to be written to in place."""
    code, y = code_matrix(["a", "b", "c"]), np.zeros(1, np.int32)
    s = learner.init(Shape(3, 4, 3))
    _, *args = learner.call(s, Block(np.arange(1), np.zeros((1, 4)), y), new_plan(code, y))
    told = [a for a in arrays(tuple(args)) if address(a)]
    for path, a in states.flatten(s).items():
        assert any(np.shares_memory(a, b) for b in told), path
    assert {a.dtype for a in states.flatten(s).values()} == {np.dtype(np.float64)}


# --- a kernel that calls another one


@kernel
def summed(x, more, out):
    s = 0.0
    for v in x[0]:
        s += v
    out[0] = s * more[0] if more[1] else s + x[1][0, 0]


@kernel
def reached(out, row):
    out[0] += 1.0
    return row


@exact_kernel
def twice(base, table):
    return call(base, table, 0), call(base, table, 1)


def test_a_called_kernel_has_the_arguments_of_its_row():
    x = np.random.default_rng(3).standard_normal(1001)
    outs = np.zeros(1), np.zeros(1), np.zeros(1)
    calls = [
        ((x, np.full((1, 2), 5, np.int8)), (-0.5, True), outs[0]),
        ((x[:1], np.full((3, 1), -7, np.int8)), (2.0, False), outs[1]),
    ]
    table = np.array([words(args) for args in calls], np.uint64)
    assert twice(entry(summed, calls[0]), table) == (True, True)
    summed(calls[0][0], calls[0][1], outs[2])
    assert outs[0] == outs[2] and outs[1] == x[0] - 7.0


def test_a_called_kernel_may_stop_at_the_row():
    out = np.zeros(1)
    table = np.array([words((out, 0)), words((out, 1))], np.uint64)
    assert twice(entry(reached, (out, -3)), table) == (False, True)
    assert out == 2.0


def test_arrays_that_are_not_as_the_loop_reads_them_are_refused():
    for a in (np.zeros((4, 4))[:, :2], np.broadcast_to(np.zeros(1), 3)):
        with pytest.raises((TypeError, BufferError, ValueError)):
            words((a,))


COUNT = """
import numpy as np
from bigclf.algorithms import registry
from bigclf.core import Block, Shape
from bigclf.kernels import confidence, linear, turns
from bigclf.units import new_plan
for base in ("pa-1", "pa-2", "arow"):
    for options in ({}, {"draw": "poisson", "on_weak": "reset"}, {"apply": "repeat", "draw": "round"}):
        for code in (np.array([[-1, 1]]), 2 * np.eye(3, dtype=np.int8) - 1):
            learner, y = registry.build("bole", base=base, **options), np.zeros(2, np.int32)
            s = learner.init(Shape(len(code), 4, code.shape[1]))
            learner.update(s, Block(np.arange(2), np.ones((2, 4)), y), new_plan(code.astype(np.int8), y))
print(len(turns.learn.signatures), len(linear.update.signatures), len(confidence.update_diag.signatures))
"""


def test_the_loop_is_compiled_once_for_each_kernel_and_type_of_rows():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "1", "1"]
