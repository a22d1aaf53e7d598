"""Feature maps: sizes, layouts, and that a row is mapped alike whatever is beside it."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from bigclf import draws
from bigclf.block import Csr, take
from bigclf.reading.feature_map import FeatureMap, Mapper

MAPS = [
    FeatureMap("rm", order=1),
    FeatureMap("rm", order=4),
    FeatureMap("poly", order=1),
    FeatureMap("poly", order=3, first=1),
    FeatureMap("rff", dim=37, sigma=2.0),
    FeatureMap("rff", dim=1, first=1),
]
each_map = pytest.mark.parametrize("map", MAPS, ids=lambda m: f"{m.kind}-{m.order}-{m.dim}-{m.first}")
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def block(n=50, inputs=6, map=FeatureMap(), dtype="float64", bias=1.0, seed=0):
    """Rows with bias, columns that are no inputs, and inputs of which a third is zero."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, map.first + inputs), dtype)
    X[:, 0] = bias
    X[:, map.first :] = np.where(rng.random((n, inputs)) > 0.3, rng.normal(size=(n, inputs)), 0.0)
    return X


def sparse(X):
    row, column = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(X)))])
    return Csr(X[row, column], column.astype(np.int32), indptr.astype(np.int64), X.shape[1])


def mapped(X, map, dtype="float64"):
    return Mapper(map, dtype).rows(X)


# Sizes


@pytest.mark.parametrize("order, size", [*enumerate([32, 93, 154, 215, 276, 337], 1)])
def test_size_of_the_reduced_polynomial_of_30_inputs(order, size):
    assert FeatureMap("rm", order).size(32) == size


def test_size_of_other_maps():
    assert FeatureMap("poly", 2).size(32) == 496
    assert FeatureMap("poly", 6).size(32) == 1_947_792
    assert FeatureMap("rff", dim=500).size(32) == 501
    assert FeatureMap("linear").size(32) == 32
    assert FeatureMap("poly", 6).size(1 << 62) > 1 << 300  # told, not made


@each_map
@pytest.mark.parametrize("inputs", [0, 1, 5])
def test_rows_names_and_tables_have_the_size_told(map, inputs):
    mapper = Mapper(map, "float32")
    out = mapper.rows(block(3, inputs, map, "float32"))
    assert out.shape == (3, map.size(map.first + inputs)) and out.dtype == np.float32
    assert len(map.names([str(i) for i in range(map.first + inputs)])) == out.shape[1]
    tables = {"rm": [], "poly": [mapper.parent, mapper.factor], "rff": [mapper.omega, mapper.phase]}[map.kind]
    assert sum(t.nbytes for t in tables) == map.nbytes(map.first + inputs, 4)


# Values


def test_worked_row_of_the_reduced_polynomial():
    """Bias 1 and inputs .1 and .9: the specification's values in an order to which new inputs append."""
    X = np.array([[1.0, 0.0, 0.1, 0.9]])
    out = mapped(X, FeatureMap("rm", order=2))
    np.testing.assert_allclose(out[0], [1, 1, 1, 0.1, 0.01, 0.1, 0.9, 0.81, 0.9], rtol=1e-15)
    assert FeatureMap("rm").names(["(bias)", "0", "x1", "x2"]) == [
        *("(bias)", "s", "s^2", "x1", "x1^2", "x1 s", "x2", "x2^2", "x2 s")
    ]


@pytest.mark.parametrize("order", range(1, 7))
def test_reduced_polynomial_is_its_definition(order):
    X = block(bias=0.5)
    x = X[:, 2:]
    s = x.sum(axis=1)
    columns = [X[:, 0], *(s**k for k in range(1, order + 1))]
    for xj in x.T:
        columns += [xj**k for k in range(1, order + 1)] + [xj * s**k for k in range(1, order)]
    np.testing.assert_allclose(mapped(X, FeatureMap("rm", order)), np.stack(columns, 1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("order", range(1, 5))
@pytest.mark.parametrize("bias", [0.0, 3.0])
def test_polynomial_has_every_monomial_once(order, bias):
    X = block(bias=bias)
    map = FeatureMap("poly", order)
    monomials = [c for k in range(1, order + 1) for c in combinations_with_replacement(range(2, X.shape[1]), k)]
    monomials.sort(key=lambda c: c[-1])
    out = mapped(X, map)
    by_name = dict(zip(map.names([f"x{j}" for j in range(X.shape[1])]), out.T, strict=True))
    assert len(by_name) == 1 + len(monomials)
    assert (by_name.pop("x0") == bias).all()
    for c in monomials:
        powers = [(j, c.count(j)) for j in sorted(set(c))]
        name = " ".join(f"x{j}" if p == 1 else f"x{j}^{p}" for j, p in powers)
        np.testing.assert_allclose(by_name[name], X[:, c].prod(axis=1), rtol=1e-14)


@each_dtype
def test_fourier_features_are_their_definition(dtype):
    map = FeatureMap("rff", dim=23, sigma=1.5, seed=9)
    X = block(dtype=dtype, bias=0.5)
    mapper = Mapper(map, dtype)
    out = mapper.rows(X)
    right = np.sqrt(2 / 23) * np.cos(X[:, 2:].astype(float) @ mapper.omega + mapper.phase)
    np.testing.assert_allclose(out[:, 1:], right, atol=100 * np.finfo(dtype).eps)
    assert (out[:, 0] == 0.5).all()


def test_inner_products_of_fourier_features_approach_the_gaussian_kernel():
    """Each is a mean of D terms 2 cos a cos b = cos(a - b) + cos(a + b), of mean K and variance 1 - K^2 + K^4 / 2 <= 1.

    So an error is below 1 / sqrt(D) in the mean.
    """
    map = FeatureMap("rff", dim=4000, sigma=2.0)
    X = block(60)
    Z = mapped(X, map)[:, 1:]
    apart = ((X[:, None, 2:] - X[None, :, 2:]) ** 2).sum(axis=2)
    error = np.abs(Z @ Z.T - np.exp(-apart / (2 * map.sigma**2)))
    assert error.mean() < 1 / np.sqrt(map.dim)
    assert error.max() < 5 / np.sqrt(map.dim)


# What a row is mapped to depends on nothing but the row


@each_map
@each_dtype
def test_dense_and_sparse_rows_are_mapped_alike(map, dtype):
    for bias in (0.0, 1.0):
        X = block(map=map, dtype=dtype, bias=bias)
        assert mapped(X, map, dtype).tobytes() == mapped(sparse(X), map, dtype).tobytes()


@each_map
@each_dtype
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_rows_may_be_cut_anywhere(map, dtype, size):
    X = block(1009, map=map, dtype=dtype)
    mapper = Mapper(map, dtype)
    whole = mapper.rows(X)
    for rows in (X, sparse(X)):
        parts = [mapper.rows(take(rows, a, min(a + size, len(X)))) for a in range(0, len(X), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


@each_map
@each_dtype
def test_new_inputs_append_columns(map, dtype):
    """Zero inputs change nothing that was there, and tables are the same whether made at once or grown."""
    X = block(map=map, dtype=dtype)
    wide = np.concatenate([X, np.zeros((len(X), 3), dtype)], axis=1)
    growing = Mapper(map, dtype)
    before = growing.rows(X)
    after = growing.rows(wide)
    assert after[:, : before.shape[1]].tobytes() == before.tobytes()
    assert map.kind == "rff" or not after[:, before.shape[1] :].any()
    wide[:, -3:] = 0.5
    assert growing.rows(wide).tobytes() == mapped(wide, map, dtype).tobytes()
    assert growing.rows(X).tobytes() == before.tobytes()
    names = [f"x{j}" for j in range(wide.shape[1])]
    assert map.names(names)[: before.shape[1]] == map.names(names[: X.shape[1]])


def test_an_input_keeps_its_fourier_row_whatever_is_the_first():
    one, two = (Mapper(FeatureMap("rff", dim=5, first=f), "float64") for f in (1, 2))
    for m in (one, two):
        m.rows(np.ones((1, 7)))
    assert np.array_equal(one.omega[1:], two.omega)


def test_zero_inputs_beside_an_overflow_stay_zero():
    X = np.array([[1, 0, 1e200, 0]])
    for rows in (X, sparse(X)):
        assert not mapped(rows, FeatureMap("rm", 3))[0, -5:].any()


# Draws


def test_normals_have_the_moments_of_the_normal_distribution():
    """Within five standard errors of mean, variance, and the fourth moment 3."""
    n = 200_000
    z = draws.normals(n, 1, 2)
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs((z**2).mean() - 1) < 5 * np.sqrt(2 / n)
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)
    assert abs((z[0::2] * z[1::2]).mean()) < 5 / np.sqrt(n)


def test_normals_are_keyed():
    keys = np.arange(8, dtype=np.uint64)
    table = draws.normals(11, 1, 2, keys)
    assert table.shape == (8, 11) and len(np.unique(table)) == table.size
    for k in range(8):
        assert np.array_equal(table[k], draws.normals(11, 1, 2, k))
        assert np.array_equal(table[k, :4], draws.normals(4, 1, 2, k))
    assert not np.array_equal(draws.normals(4, 1, 2), draws.normals(4, 2, 1))


# Model files


@pytest.mark.parametrize(
    "wrong",
    [
        *({"kind": k} for k in ("RM", "", None, ["rm"])),
        *({"order": k} for k in (0, 7, 2.0, True, None, 10**30)),
        *({"dim": d} for d in (0, -1, 1.5, 1 << 40)),
        *({"sigma": s} for s in (0.0, -1.0, float("nan"), float("inf"), 1e-300, "1", None, True)),
        *({"seed": s} for s in (-1, 0.5, None)),
        *({"first": f} for f in (0, 3, -1, 1.0, True)),
    ],
    ids=str,
)
def test_impossible_maps_are_refused(wrong):
    FeatureMap().check()
    with pytest.raises(ValueError, match=f"feature map {next(iter(wrong))} is impossible"):
        FeatureMap()._replace(**wrong).check()
