"""Second-order learners: a Gaussian over weight vectors, its covariance full or diagonal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import OPTIONS, row_axpy, row_dot, rows
from bigclf.core import Array, Plan, Shape
from bigclf.jit import kernel, overload, types


class Gaussian(NamedTuple):
    """Mean and covariance of each unit's weights."""

    w: Array  # (units, cols) float64
    sigma: Array  # (units, cols) variances, or (units, cols, cols)


AXES_DIAG = {"w": ("units", "cols"), "sigma": ("units", "cols")}
AXES_FULL = {"w": ("units", "cols"), "sigma": ("units", "cols", "cols")}


def start_diag(shape: Shape) -> Gaussian:
    """Mean zero, every variance one."""
    return Gaussian(np.zeros((shape.units, shape.cols)), np.ones((shape.units, shape.cols)))


def start_full(shape: Shape) -> Gaussian:
    """Mean zero, the identity as covariance."""
    sigma = np.zeros((shape.units, shape.cols, shape.cols))
    sigma[:, np.arange(shape.cols), np.arange(shape.cols)] = 1.0
    return Gaussian(np.zeros((shape.units, shape.cols)), sigma)


def diag_step(w: Array, sigma: Array, tl: float, r: float, drop: bool, X: Any, i: int) -> None:
    """One AROW step on row i: `tl` is the signed loss y (1 - y w.x)."""
    x = np.zeros(w.size)
    row_axpy(1.0, X, i, x)
    v = float(np.sum(sigma * x * x))
    beta = 1.0 / (v + r)
    w += tl * beta * sigma * x
    sigma[:] = sigma - beta * (sigma * x) ** 2 if drop else 1.0 / (1.0 / sigma + x * x / r)


@overload(diag_step, **OPTIONS)
def _diag_step(w, sigma, tl, r, drop, X, i):  # type: ignore[no-untyped-def]
    def dense(w, sigma, tl, r, drop, X, i):  # type: ignore[no-untyped-def]
        v = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            v += sigma[j] * x * x
        beta = 1.0 / (v + r)
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            s = sigma[j]
            w[j] += tl * beta * s * x
            sigma[j] = s - beta * (s * x) ** 2 if drop else s / (1.0 + s * x * x / r)

    def csr(w, sigma, tl, r, drop, X, i):  # type: ignore[no-untyped-def]
        v = 0.0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x = np.float64(X.data[k])
            v += sigma[X.indices[k]] * x * x
        beta = 1.0 / (v + r)
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x = np.float64(X.data[k])
            j = X.indices[k]
            s = sigma[j]
            w[j] += tl * beta * s * x
            sigma[j] = s - beta * (s * x) ** 2 if drop else s / (1.0 + s * x * x / r)

    return dense if isinstance(X, types.Array) else csr


@kernel
def arow_diag(w: Array, sigma: Array, r: float, drop: bool, X: Any, plan: Plan) -> None:
    """AROW with variances only: w with the old variances, then 1/s += x^2 / r (or s -= beta (s x)^2 under `drop`)."""
    weighted = plan.weight.shape[1] > 0
    for u in range(plan.target.shape[0]):
        for i in range(rows(X)):
            t = plan.target[u, i]
            m = row_dot(X, i, w[u])
            plan.pre[u, i] = m
            loss = 1.0 - t * m
            if t != 0 and loss > 0.0:
                g = 1.0
                if weighted:
                    g = plan.weight[u, i]
                if g > 0.0:
                    diag_step(w[u], sigma[u], t * loss, r / g, drop, X, i)


@kernel
def arow_full(w: Array, sigma: Array, r: float, X: Any, plan: Plan, p: Array, sx: Array) -> None:
    """AROW with the whole covariance: beta = 1 / (v + r), w += loss beta y S x, S -= beta S x (S x)'.

    `p` and `sx` are scratch (cols,). A row weighs by its importance as if the row were shown with noise r / weight.
    """
    weighted = plan.weight.shape[1] > 0
    for u in range(plan.target.shape[0]):
        wu = w[u]
        su = sigma[u]
        for i in range(rows(X)):
            t = plan.target[u, i]
            m = row_dot(X, i, wu)
            plan.pre[u, i] = m
            loss = 1.0 - t * m
            if t == 0 or loss <= 0.0:
                continue
            g = 1.0
            if weighted:
                g = plan.weight[u, i]
            if g <= 0.0:
                continue
            p[:] = 0.0
            row_axpy(1.0, X, i, p)
            v = 0.0
            for a in range(p.size):
                s = 0.0
                for b in range(p.size):
                    s += su[a, b] * p[b]
                sx[a] = s
                v += s * p[a]
            beta = 1.0 / (v + r / g)
            for a in range(p.size):
                wu[a] += t * loss * beta * sx[a]
                for b in range(p.size):
                    su[a, b] -= beta * sx[a] * sx[b]
