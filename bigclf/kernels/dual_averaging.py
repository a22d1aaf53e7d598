"""Regularized dual averaging: only the sum of subgradients is kept, and a weight is computed where it is asked for.

Source: Xiao, JMLR 11 (2010) 2543-2596, with the threshold on the sum of the subgradients; Chen, Fang, Sheng, Edwards &
Zhang, CSRDA, ICBK 2021.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import OPTIONS, entries, for_type, row_axpy, row_sq, rows
from bigclf.core import Array, Plan, Scores, Shape
from bigclf.jit import helper, kernel, overload
from bigclf.kernels.gradient import How, account, loses


class Averaged(NamedTuple):
    """Sums of subgradients, and what has moved them."""

    S: Array  # (units, cols) importance x answer wanted x row, of rows with a loss
    pull: Array  # (classes,) as of Gradient
    gii: Array  # (1,)
    t: Array  # (1,) rows seen


class Form(NamedTuple):
    """How weights are made of sums."""

    lam: float  # threshold
    gamma: float  # weights = -soft(S, lam) / (gamma sqrt(t))
    steady: bool  # weights = -eta soft(S, lam)
    mean: bool  # the threshold is on S / t


AXES: dict[str, tuple[str | int, ...]] = {
    "S": ("units", "cols"),
    "pull": ("classes",),
    "gii": (1,),
    "t": (1,),
}


def zeros(shape: Shape) -> Averaged:
    """Nothing seen."""
    return Averaged(np.zeros((shape.units, shape.cols)), np.zeros(shape.classes), np.zeros(1), np.zeros(1))


@helper
def soft(v: float, lam: float) -> float:
    """The number, nearer to zero by lam."""
    return max(v - lam, 0.0) if v > 0.0 else min(v + lam, 0.0)


def soft_dot(X: Any, i: int, S: Array, lam: float) -> float:
    """Inner product of row i with soft(S, lam); S (cols,)."""
    w = np.sign(S) * np.maximum(np.abs(S) - lam, 0.0)
    x = np.zeros(S.size)
    row_axpy(1.0, X, i, x)
    return float(x @ w)


@overload(soft_dot, **OPTIONS)
def _soft_dot(X, i, S, lam):  # type: ignore[no-untyped-def]
    def dense(X, i, S, lam):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(X.shape[1]):
            s += np.float64(X[i, j]) * soft(S[j], lam)
        return s

    def csr(X, i, S, lam):  # type: ignore[no-untyped-def]
        s = 0.0
        for k in entries(X, i):
            s += np.float64(X.data[k]) * soft(S[np.uint64(X.indices[k])], lam)
        return s

    return for_type(X, dense, csr)


@helper
def scale(form: Form, eta: float, t: float) -> float:
    """What soft(S) is multiplied with after t rows."""
    return eta if form.steady else 1.0 / (form.gamma * np.sqrt(max(t, 1.0)))


@helper
def threshold(form: Form, t: float) -> float:
    """What S is cut by after t rows."""
    return form.lam * max(t, 1.0) if form.mean else form.lam


@kernel
def update(s: Averaged, how: How, form: Form, X: Any, y: Array, plan: Plan, f: Array) -> None:
    """Show each row: of one unit by its sign, of more the row's own against the best of the others.

    y (n,): class codes; f (units,): scratch.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    given = plan.margin.shape[1] > 0
    many = f.size > 1
    for i in range(rows(X)):
        own = rival = -1
        for u in range(f.size):
            f[u] = scale(form, how.eta, s.t[0]) * soft_dot(X, i, s.S[u], threshold(form, s.t[0]))
            plan.pre[u, i] = f[u]
            if plan.target[u, i] > 0:
                own = u
        for u in range(f.size):
            if u != own and plan.target[u, i] != 0 and (rival < 0 or f[u] > f[rival]):
                rival = u
        if own < 0 and rival < 0:
            if tell:
                plan.post[:, i] = f
            continue
        m = 0.0
        if own >= 0:
            m += f[own]
        if rival >= 0:
            m -= f[rival]
        s.t[0] += 1.0
        a = plan.weight[max(own, 0), i] if weighted else 1.0
        if repeated:
            a *= plan.repeat[max(own, 0), i]
        margin = plan.margin[0, i] if given else 1.0
        moved = a if loses(how.gate, m, margin) else 0.0
        if moved > 0.0:
            if own >= 0:
                row_axpy(moved, X, i, s.S[own])
            if rival >= 0:
                row_axpy(-moved, X, i, s.S[rival])
        length = how.eta * how.eta * row_sq(X, i) * (2.0 if many else 1.0) if moved > 0.0 else 0.0
        account(s.pull, s.gii, how.plain, y[i], own >= 0, many, length, moved)
        if tell:
            for u in range(f.size):
                plan.post[u, i] = scale(form, how.eta, s.t[0]) * soft_dot(X, i, s.S[u], threshold(form, s.t[0]))


@kernel
def score_into(S: Array, factor: float, lam: float, X: Any, out: Array) -> None:
    """out[u, i] = factor soft(S[u], lam) . row i."""
    for u in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[u, i] = factor * soft_dot(X, i, S[u], lam)


def decision(s: Averaged, how: How, form: Form, X: Any) -> Scores:
    """Decision values (units, n)."""
    out = np.empty((len(s.S), rows(X)))
    t = float(s.t[0])
    score_into(s.S, scale(form, how.eta, t), threshold(form, t), X, out)
    return out
