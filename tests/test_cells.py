"""Numbers of a column side by side: views that are a state's fields, and what kernels take out and put back."""

from __future__ import annotations

import numpy as np
import pytest
from data import csr
from hypothesis import given, settings
from hypothesis import strategies as st

from bigclf import state
from bigclf.algorithms import registry
from bigclf.block import Csr, row_dot, rows
from bigclf.core import Shape
from bigclf.jit import kernel
from bigclf.kernels.cells import LINE, all_back, all_out, fields, room, row_at, row_back, row_out, scores, value, whole


def numbered(units, cols, many):
    """Cells in which no two numbers are alike."""
    cells = whole(*fields(Shape(units, cols, 2), *np.zeros(many)))
    cells[...] = 1.0 + np.arange(cells.size).reshape(cells.shape)
    return cells


@kernel
def sums_to_columns(X, cells, at):
    """Each number of the columns of a row grows by what the row has there, times which number it is."""
    many = cells.shape[1]
    all_out(X, cells, at, many)
    for i in range(rows(X)):
        row_out(X, i, cells, at, many)
        first, size = row_at(X, i)
        for n in range(many):
            for k in range(size):
                at[n, k] += (n + 1) * value(X, i, first, k)
        row_back(X, i, cells, at, many)
    all_back(X, cells, at, many)


@pytest.mark.parametrize("many", [1, 2, 3, 4, 5])
def test_fields_are_full_of_their_starts_and_share_the_memory_of_their_cells(many):
    starts = np.arange(many) + 0.5
    parts = fields(Shape(2, 7, 2), *starts)
    cells = whole(*parts)
    assert cells.shape == (2, 7, many) and cells.flags.c_contiguous and cells.ctypes.data % LINE == 0
    np.testing.assert_array_equal(cells, np.broadcast_to(starts, cells.shape))
    parts[-1][1, 3] = -9.0
    assert cells[1, 3, -1] == -9.0


def test_arrays_that_do_not_stand_side_by_side_are_no_cells():
    a, b, c = fields(Shape(1, 4, 2), 0.0, 0.0, 0.0)
    others = fields(Shape(1, 4, 2), 0.0, 0.0, 0.0)
    for parts in ((a.copy(), b.copy(), c.copy()), (a, b), (a, c, b), (a, b, others[2]), (b, c, a)):
        with pytest.raises(AssertionError):
            whole(*parts)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 23), st.booleans(), st.sampled_from(["f4", "f8"]))
@settings(max_examples=60, deadline=None)
def test_what_is_taken_out_row_by_row_is_put_back_where_it_was(seed, many, cols, sparse, dtype):
    """Rows of any number of entries: fours and what is left of them."""
    r = np.random.default_rng(seed)
    X = ((r.random((9, cols)) < r.random()) * r.integers(-8, 9, (9, cols))).astype(dtype)
    cells = numbered(1, cols, many)[0]
    wanted = cells + X.sum(axis=0, dtype=float)[:, None] * np.arange(1, many + 1)
    X = csr(X) if sparse else X
    sums_to_columns(X, cells, room(X, many))
    np.testing.assert_array_equal(cells, wanted)


def test_scratch_is_as_wide_as_a_row_may_be_and_not_as_the_model():
    """Hashed rows have millions of columns, of which a block meets few."""
    wide = 1 << 23
    few = Csr(np.ones(3, "f4"), np.array([0, 5, wide - 1], "i4"), np.array([0, 2, 3]), wide)
    assert room(few, 5).shape == (5, 3)
    assert room(few._replace(cols=2), 4).shape == (4, 2)
    assert room(np.ones((2, 7)), 4).shape == (4, 7)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 23), st.booleans())
@settings(max_examples=40, deadline=None)
def test_scores_are_products_with_the_numbers_asked_for(seed, many, cols, sparse):
    r = np.random.default_rng(seed)
    X = (r.random((6, cols)) < 0.5) * r.integers(-8.0, 9.0, (6, cols))
    cells = numbered(2, cols, many)
    before = cells.copy()
    numbers = tuple(r.integers(0, many, 2).tolist())
    found = scores(cells, numbers, csr(X) if sparse else X)
    np.testing.assert_array_equal(cells, before)
    for k, number in enumerate(numbers):
        wanted = [[row_dot(X, i, cells[u, :, number]) for i in range(6)] for u in range(2)]
        np.testing.assert_allclose(found[k], wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "options"), [("logistic", {}), ("logistic", {"average": False}), ("arow", {}), ("acog-1", {})]
)
def test_fields_stay_side_by_side_as_columns_and_units_come(name, options):
    """Else the next rows would find no cells."""
    learner = registry.build(name, **options)
    old, new = np.array([[-1, 1]]), 2 * np.eye(3, dtype=int) - 1
    s = learner.init(Shape(1, 4, 2))
    fills = {path: r for r, path in enumerate(state.flatten(s), 1)}
    for path, a in state.flatten(s).items():
        a[...] = fills[path]
    grown = state.grow(learner, s, Shape(1, 9, 2))
    more = state.change_units(learner, grown, old, new, Shape(3, 9, 3))
    loaded = state.fill(learner, state.trim(learner, more, Shape(3, 7, 3)), Shape(3, 8, 3))
    own = [path for path, axes in learner.axes.items() if axes == ("units", "cols")]
    assert len(own) >= 2
    for made in (grown, more, loaded):
        found = [getattr(made, path) for path in sorted(own, key=lambda p: getattr(made, p).ctypes.data)]
        assert whole(*found).shape == (*found[0].shape, len(own))
    for path in own:
        assert (getattr(loaded, path)[1, :4] == fills[path]).all()
