"""Sums of squares and products: from dense rows, and from sparse ones by pairs of entries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data import csr

from bigclf.kernels import gram
from bigclf.model import load


def sums(X, y, weight, pooled, classes=3):
    """What `gram.add` makes of nothing and these rows."""
    d = X.cols if hasattr(X, "cols") else X.shape[1]
    out = (
        np.zeros((1 if pooled else classes, d, d)),
        np.zeros((classes, d)),
        np.zeros(classes),
        np.full(d, np.inf),
        np.full(d, -np.inf),
    )
    gram.add(X, y, weight, pooled, *out, gram.Scratch())
    return out


def defined(X, y, weight, pooled, classes=3):
    """The same by their definition."""
    X, g = X.astype(float), weight if weight.size else np.ones(len(y))
    each = [(X[y == c].T * g[y == c]) @ X[y == c] for c in range(classes)]
    first = np.array([g[y == c] @ X[y == c] for c in range(classes)])
    shown = X[y >= 0]
    lo, hi = shown.min(axis=0, initial=np.inf), shown.max(axis=0, initial=-np.inf)
    return np.array([sum(each)] if pooled else each), first, np.array([g[y == c].sum() for c in range(classes)]), lo, hi


@pytest.fixture(params=[0.0, 1e300], ids=["pairs", "dense"])
def way(request, monkeypatch):
    """Sparse rows are always summed by pairs of entries, or never."""
    monkeypatch.setattr(gram, "PAIRS", request.param)
    return request.param


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("filled", [0.0, 0.05, 0.5, 1.0])
def test_sums_are_their_definition(way, pooled, weighted, dtype, filled):
    r = np.random.default_rng(int(100 * filled))
    X = (r.standard_normal((200, 30)) + 3.0).astype(dtype)  # above zero: then zeros are minima
    X[r.random(X.shape) >= filled] = 0
    X[:, 0], X[:, 1] = 1, -2  # columns of every row have no zero among their extremes
    X[y_hidden := np.arange(0, 200, 7), 0] = 0  # not even where a row that is not shown leaves them out
    y = r.integers(0, 2, 200).astype(np.int32)  # the third class has no rows
    y[y_hidden] = -1
    weight = r.random(200) + 0.1 if weighted else np.empty(0)
    rows = csr(X)
    assert gram.sparse_pays(rows) == (way == 0.0) and not gram.sparse_pays(X)
    for got, want in zip(sums(rows, y, weight, pooled), defined(X, y, weight, pooled), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    lo, hi = sums(rows, y, weight, pooled)[3:]
    assert (lo[0], hi[0], lo[1], hi[1]) == (1, 1, -2, -2)


def test_rows_of_which_none_is_shown_add_nothing(way):
    X = np.eye(5)
    gram_, first, rows, lo, hi = sums(csr(X), np.full(5, -1, np.int32), np.empty(0), False)
    assert not gram_.any() and not first.any() and not rows.any()
    assert np.isposinf(lo).all() and np.isneginf(hi).all()


def test_which_way_is_taken_depends_on_the_entries():
    """60 additions of a product of matrices in the time of one pair; very wide rows are never made dense."""
    X = np.zeros((10, 100))
    X[:, :12] = 1  # 144 pairs a row: 8,640 < 10,000
    assert gram.sparse_pays(csr(X))
    X[:, 12] = 1  # 169: 10,140
    assert not gram.sparse_pays(csr(X))
    wide = csr(np.ones((2, 3)))._replace(cols=gram.WIDE + 1)
    assert gram.sparse_pays(wide) and not gram.sparse_pays(wide._replace(cols=3))


@pytest.mark.parametrize("algo", ["ls", "nr-rls", "ls --scale std", "ls --scale none", "nr-rls --class-weight online"])
def test_the_model_is_the_same_either_way(good, write, monkeypatch, algo):
    """To rounding: weights and scores; extremes exactly. Half of the columns come after the first tile."""
    r = np.random.default_rng(1)
    lines = []
    for i in range(3000):
        columns = np.sort(r.choice(20 if i < 1500 else 40, 4, replace=False)) + 1
        values = np.round(r.standard_normal(4) + 2, 2)
        lines.append(f"{int(values @ (columns % 3 - 1) > 0)} " + " ".join(f"{c}:{v}" for c, v in zip(columns, values)))
    write("a.svm", "\n".join(lines) + "\n")
    models = []
    for k, pairs in enumerate((0.0, 1e300)):
        monkeypatch.setattr(gram, "PAIRS", pairs)
        good("train", "a.svm", "--algo", *algo.split(), "--dtype", "float64", "-q", "-o", f"{k}.npz")
        models.append(load(Path(f"{k}.npz")))
        assert models[-1].schema.layout == "csr"
    one, two = (m.state for m in models)
    assert np.array_equal(one.lo, two.lo) and np.array_equal(one.hi, two.hi)
    np.testing.assert_allclose(one.gram, two.gram, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(one.first, two.first, rtol=1e-11)
    np.testing.assert_allclose(one.w, two.w, rtol=1e-9, atol=1e-9 * np.abs(two.w).max())
    assert (two.lo[2:] <= 0).all() and (two.lo[2:] == 0).any() and (two.hi[2:] > 2).all()
