"""Rows that contradict each other: the variances leave the range of numbers, the weights must not."""

from __future__ import annotations

from decimal import Decimal, localcontext
from statistics import NormalDist

import numpy as np
import pytest
from data import csr, made, train

from bigclf.algorithms import registry
from bigclf.kernels.confidence import LEAST_VARIANCE


def cw_stdev(X, y):
    """Crammer, Dredze & Pereira 2008, diagonal form, in as many digits and exponents as it takes: w, S as decimals."""
    with localcontext() as c:
        c.prec, c.Emin, c.Emax = 60, -(10**15), 10**15
        phi = Decimal(NormalDist().inv_cdf(0.7))
        psi, xi = 1 + phi**2 / 2, 1 + phi**2
        w, s = [Decimal(0)] * X.shape[1], [Decimal(1)] * X.shape[1]
        for row, t in zip(X.tolist(), y.tolist()):
            x = [Decimal(v) for v in row]
            m, v = t * sum(map(Decimal.__mul__, w, x)), sum(a * b * b for a, b in zip(s, x))
            alpha = max(Decimal(0), (-m * psi + (m**2 * phi**4 / 4 + v * phi**2 * xi).sqrt()) / (v * xi))
            if alpha:
                root = (-alpha * v * phi + (alpha**2 * v**2 * phi**2 + 4 * v).sqrt()) / 2
                w = [a + alpha * t * b * c for a, b, c in zip(w, s, x)]
                s = [1 / (1 / b + alpha * phi / root * c * c) for b, c in zip(s, x)]
        return w, s


@pytest.mark.parametrize("rows", [10, 100, 1500])
def test_weights_and_variances_that_shrink_without_end_are_those_of_exact_arithmetic(rows):
    r = np.random.default_rng(2)
    X, y = r.standard_normal((1500, 3))[:rows], r.choice([-1, 1], 1500)[:rows]
    w, s = cw_stdev(X, y)
    state = train(registry.build("cw-stdev"), X, (y > 0).astype(np.int32))
    assert rows < 1500 or max(s) < 1e-67
    np.testing.assert_allclose(state.w[0] / np.array(w, float), 1, rtol=1e-9)
    np.testing.assert_allclose(state.sigma[0] / np.array(s, float), 1, rtol=1e-9)


def test_below_the_range_of_numbers_a_variance_stops_and_learning_goes_on():
    r = np.random.default_rng(3)
    X, y = r.standard_normal((20_000, 3)), r.integers(0, 2, 20_000).astype(np.int32)
    state = train(registry.build("cw-stdev"), X, y)
    assert (state.sigma == LEAST_VARIANCE).all()
    y = (X[:, 0] > 0).astype(np.int32)  # from now on the labels have a rule
    state = train(registry.build("cw-stdev"), X, y, state=state)
    right = (X @ state.w[0] > 0) == (y > 0)
    assert right.mean() > 0.95


@pytest.mark.parametrize("cov", ["diag", "full"])
@pytest.mark.parametrize("name", ["cw-stdev", "cw-var", "acog-1", "acog-2", "arow"])
def test_random_labels_leave_all_numbers_finite(name, cov):
    X, _ = made(3000, 5)
    y = np.random.default_rng(1).integers(0, 2, len(X)).astype(np.int32)
    for rows in (X, csr(X)):
        state = train(registry.build(name, cov=cov), rows, y)
        assert all(np.isfinite(a).all() for a in state)
