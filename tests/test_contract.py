"""What every learner promises. A new algorithm is in here without being named."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from data import BINARY, csr, learners, made, train
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.core import TILE, Block, Shape
from bigclf.errors import UnsupportedError
from bigclf.training.feed import Piece, Tiler
from bigclf.units import code_matrix, new_plan

LEARNERS = learners()
each = pytest.mark.parametrize("name", LEARNERS)


def same(a, b):
    fa, fb = states.flatten(a), states.flatten(b)
    assert fa.keys() == fb.keys()
    for path in fa:
        assert fa[path].tobytes() == fb[path].tobytes(), path


@each
@given(st.integers(1, 3000), st.integers(0, 999), st.lists(st.integers(0, 3000), max_size=5))
@settings(max_examples=12, deadline=None)
def test_cutting_the_stream_changes_no_byte(name, n, seed, cuts):
    learner = LEARNERS[name]
    X, y = made(n, seed)
    whole = train(learner, X, y)
    ends = sorted({0, n, *(min(c, n) for c in cuts)})
    pieces = [
        Piece(Block(np.arange(a, b), X[a:b], y[a:b]), ("0", "1"), X.shape[1], None) for a, b in zip(ends, ends[1:])
    ]
    tiler = Tiler()
    tiles = [*chain.from_iterable(map(tiler.take, pieces)), *tiler.rest()]
    s = learner.init(Shape(1, X.shape[1], 2))
    for piece in tiles if learner.tiles else pieces:
        s = learner.update(s, piece.block, new_plan(BINARY, piece.block.y))
    same(whole, learner.finish(s) if learner.finish else s)


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if not learner.tiles])
@pytest.mark.parametrize("weighed", [False, True])
def test_rows_of_many_classes_and_weights_may_come_one_by_one(name, weighed):
    """More classes than sums take in one stride, and weights whose sums are rounded."""
    learner, n, r = LEARNERS[name], 60, np.random.default_rng(30)
    X, y = r.standard_normal((n, 4)), r.integers(0, 12, n).astype(np.int32)
    weight, code = r.exponential(1.0, n), code_matrix([str(c) for c in range(12)])
    left = []
    for size in (n, 1, 7):
        s = learner.init(Shape(12, 4, 12))
        for a in range(0, n, size):
            b = min(n, a + size)
            plan = new_plan(code, y[a:b], weight[a:b] if weighed else None)
            s = learner.update(s, Block(np.arange(a, b), X[a:b], y[a:b]), plan)
        left.append(s)
    same(left[0], left[1])
    same(left[0], left[2])


@each
def test_dense_and_sparse_rows_give_the_same_scores(name):
    learner = LEARNERS[name]
    X, y = made(2100 if learner.grain == "tile" else 150, 1)  # rounding grows from row to row where rows disagree
    dense, sparse = train(learner, X, y), train(learner, csr(X), y)
    a, b = learner.decision(dense, X), learner.decision(sparse, csr(X))
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@each
def test_state_is_flat_arrays_with_named_axes(name):
    learner = LEARNERS[name]
    X, y = made(50, 2)
    flat = states.flatten(train(learner, X, y))
    assert flat.keys() == learner.axes.keys()
    shape = Shape(1, X.shape[1], 2)
    for path, array in flat.items():
        assert array.dtype == np.float64
        assert array.shape == states.extents(learner, path, shape, array), path
    most = learner.most(shape)
    longer = {str(n): k for path, a in flat.items() for n, k in zip(learner.axes[path], a.shape) if n in most}
    assert all(size <= most[axis] for axis, size in longer.items())
    real = replace(learner, most=lambda shape: longer)
    assert sum(a.nbytes for a in flat.values()) == states.nbytes(real, shape)


@each
def test_every_axis_is_one_of_a_shape_or_has_a_bound(name):
    learner = LEARNERS[name]
    for shape in (Shape(1, 8, 2), Shape(3, 5, 3)):
        known = {*Shape._fields, "sides", *learner.most(shape)}
        assert {axis for axes in learner.axes.values() for axis in axes if isinstance(axis, str)} <= known


def test_an_unknown_axis_is_a_mistake_of_ours():
    learner = replace(LEARNERS["pa-1"], axes={"w": ("units", "colums")})
    with pytest.raises(AssertionError, match="axis 'colums' is none of sides, units, cols, classes"):
        states.nbytes(learner, Shape(1, 3, 2))


@each
def test_growing_columns_equals_having_had_them(name):
    learner = LEARNERS[name]
    X, y = made(2048, 3, d=6)
    X[:TILE, 4:] = 0  # the last two are born in the second tile
    narrow = train(learner, np.ascontiguousarray(X[:TILE, :4]), y[:TILE], finish=False)
    grown = states.grow(learner, narrow, Shape(1, 6, 2))
    late = train(learner, np.ascontiguousarray(X[TILE:]), y[TILE:], state=grown, start=TILE)
    want = train(learner, X, y)
    np.testing.assert_allclose(learner.decision(late, X), learner.decision(want, X), rtol=1e-9, atol=1e-9)


@each
def test_score_before_the_row_is_the_decision_just_before_it(name):
    learner = LEARNERS[name]
    n = 60 if learner.grain == "row" else 3 * TILE
    step = 1 if learner.grain == "row" else TILE
    X, y = made(n, 5)
    s = learner.init(Shape(1, X.shape[1], 2))
    for a in range(0, n, step):
        want = np.full((1, step), np.nan) if learner.grain == "end" else learner.decision(s, X[a : a + step])
        plan = new_plan(BINARY, y[a : a + step])
        s = learner.update(s, Block(np.arange(a, a + step), X[a : a + step], y[a : a + step]), plan)
        if learner.tiled:  # sums are in another order
            np.testing.assert_allclose(plan.pre, want, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(plan.pre, want)


@each
def test_score_after_the_row_is_the_decision_just_after_it(name):
    learner = LEARNERS[name]
    if learner.grain != "row" or not registry.get(name.split()[0]).uses_weights:
        pytest.skip("is no base of others")
    if "drift" in name:
        pytest.skip("a drift puts another learner in its place")
    X, y = made(40, 15)
    s = learner.init(Shape(1, X.shape[1], 2))
    for i in range(len(y)):
        plan = new_plan(BINARY, y[i : i + 1])
        plan = plan._replace(post=np.full((1, 1), np.nan))
        s = learner.update(s, Block(np.arange(i, i + 1), X[i : i + 1], y[i : i + 1]), plan)
        if name.startswith("osmote"):  # rows made up beside it were learned since
            assert np.isfinite(plan.post).all()
            continue
        done = learner.finish(s) if learner.finish else s
        np.testing.assert_allclose(plan.post, learner.decision(done, X[i : i + 1]), rtol=1e-7, atol=1e-9)


@each
def test_a_row_that_a_unit_skips_teaches_it_nothing(name):
    """Neither one without a label, nor one whose target is 0."""
    learner = LEARNERS[name]
    X, y = made(TILE, 6)
    s = train(learner, X, y, finish=False)
    before = {k: v.copy() for k, v in states.flatten(s).items()}
    unlabelled = np.full(40, -1, np.int32)
    for labels in (unlabelled, y[:40]):
        plan = new_plan(BINARY, labels)
        plan.target[...] = 0
        s = learner.update(s, Block(np.arange(40), X[:40], labels), plan)
        for path, array in states.flatten(s).items():
            assert before[path].tobytes() == array.tobytes(), path


@each
def test_a_third_class_starts_from_the_two(name):
    learner = LEARNERS[name]
    X, y = made(TILE, 7)
    old, new = code_matrix(["0", "1"]), code_matrix(["0", "1", "2"])
    s = train(learner, X, y, finish=False)
    want = learner.decision(learner.finish(s) if learner.finish else s, X)[0]
    promoted = states.change_units(learner, s, old, new, Shape(3, X.shape[1], 3))
    if learner.rival:
        want = want / 2  # of its own score and of the rival's
    if any("record/" in path for path in learner.axes) and learner.refit is None:
        _members_start_from_the_two(learner, s, promoted)
        return
    scores = learner.decision(learner.finish(promoted) if learner.finish else promoted, X)
    if learner.grain == "end":  # each class has a score of its own, and the unit of two classes their difference
        scores[1] -= scores[0]
        scores[0] = -scores[1]
        assert np.isneginf(scores[2]).all()
    elif any("record/" in path for path in learner.axes):  # members that know probabilities keep them
        np.testing.assert_allclose(scores[1], want, rtol=0, atol=2e-6)  # scores order what has equal votes
        np.testing.assert_allclose(scores[0], -want, rtol=0, atol=2e-6)
        return
    elif "w" not in learner.axes and learner.refit is not None:  # 2 p - 1, and the unit of two classes p - q
        scores[1] = (scores[1] - scores[0]) / 2
        scores[0] = -scores[1]
        assert (scores[2] == -1).all()
    np.testing.assert_allclose(scores[1], want, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scores[0], -want, rtol=1e-9, atol=1e-9)


def _members_start_from_the_two(learner, old, new):
    """Votes weigh anew where there are more classes; what the members had learned is in the units of the two."""
    was, now = states.flatten(old), states.flatten(new)
    paths = [p for p in was if p.endswith("/w")]
    assert paths
    for path in paths:
        share = 0.5 if learner.rival else 1.0
        cols = was[path].shape[1]
        np.testing.assert_array_equal(now[path][1, :cols], share * was[path][0])
        np.testing.assert_array_equal(now[path][0, :cols], -share * was[path][0])
        assert not now[path][2].any()


@each
def test_merge_equals_one_run(name):
    learner = LEARNERS[name]
    if learner.merge is None:
        pytest.skip("no exact merge")
    X, y = made(4 * TILE, 8)
    parts = [train(learner, X[a::3], y[a::3], finish=False) for a in range(3)]
    merged = parts[0]
    for part in parts[1:]:
        merged = learner.merge(merged, part)
    np.testing.assert_allclose(
        learner.decision(learner.finish(merged) if learner.finish else merged, X),
        learner.decision(train(learner, X, y), X),
        rtol=1e-9,
        atol=1e-11,
    )


@each
def test_weights_count_where_the_declaration_says_so(name):
    learner = LEARNERS[name]
    X, y = made(200, 9)
    plan = new_plan(BINARY, y)
    light = plan._replace(weight=np.full(plan.target.shape, 0.25))
    a = learner.update(learner.init(Shape(1, X.shape[1], 2)), Block(np.arange(200), X, y), plan)
    b = learner.update(learner.init(Shape(1, X.shape[1], 2)), Block(np.arange(200), X, y), light)
    fa, fb = states.flatten(a), states.flatten(b)
    differ = any(fa[path].tobytes() != fb[path].tobytes() for path in fa)
    assert differ == registry.get(name.split()[0]).uses_weights


@pytest.mark.parametrize("name", ["ar-rls", "acog-1", "acog-2 --cov full"])
def test_counts_of_the_sides_change_places_with_the_sign(name):
    learner = LEARNERS[name]
    X, y = made(TILE, 12)
    y[:700] = 0
    s = train(learner, X, y, finish=False)
    three = states.change_units(learner, s, BINARY, code_matrix(["0", "1", "2"]), Shape(3, X.shape[1], 3))
    np.testing.assert_array_equal(three.seen[1], s.seen[0])
    np.testing.assert_array_equal(three.seen[0], s.seen[0, ::-1])


def test_one_class_becomes_two_by_changing_the_sign():
    learner = LEARNERS["pa-1"]
    X, _ = made(50, 10)
    s = train(learner, X, np.zeros(50, np.int32), code=code_matrix(["b"]), finish=False)
    two = states.change_units(learner, s, code_matrix(["b"]), code_matrix(["b", "c"]), Shape(1, X.shape[1], 2))
    np.testing.assert_array_equal(two.w, -s.w)


def test_published_recursion_refuses_a_late_class():
    learner = registry.build("nr-rls", form="algorithm1")
    s = learner.init(Shape(1, 3, 2))
    with pytest.raises(UnsupportedError, match="--classes"):
        states.change_units(learner, s, BINARY, code_matrix(["0", "1", "2"]), Shape(3, 3, 3))


def test_a_row_shown_to_nobody_brings_no_solution():
    learner = registry.build("nr-rls", form="per-row")
    X, y = made(3, 13)
    plan = new_plan(BINARY, np.array([-1, 1, 0], np.int32))
    learner.update(learner.init(Shape(1, X.shape[1], 2)), Block(np.arange(3), X, np.array([-1, 1, 0], np.int32)), plan)
    assert np.isnan(plan.pre[0, :2]).all() and np.isfinite(plan.pre[0, 2])


def test_ar_rls_after_a_late_class_solves_as_seldom_as_before():
    learner = registry.build("ar-rls")
    X, y = made(40 * TILE, 14)
    three = code_matrix(["0", "1", "2"])
    s = train(learner, X[: 8 * TILE], y[: 8 * TILE], finish=False)
    s = states.change_units(learner, s, BINARY, three, Shape(3, X.shape[1], 3))
    y[8 * TILE :: 5] = 2
    solved = set()
    for a in range(8 * TILE, 40 * TILE, TILE):
        s = train(learner, X[a : a + TILE], y[a : a + TILE], code=three, state=s, start=a, finish=False)
        solved.add(tuple(s.solved[:, 0]))
    assert len(solved) <= 8
