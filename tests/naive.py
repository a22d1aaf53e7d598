"""Every algorithm once more, row by row, straight from its source: no kernels, no tricks.

X is (n, d) with the bias in front where there is one, y is (n,) of -1 and +1; each returns the weights (d,) at the end.
"""

from __future__ import annotations

import numpy as np


def perceptron(X, y):
    """Rosenblatt 1958: w += y x where y w.x <= 0."""
    w = np.zeros(X.shape[1])
    for x, t in zip(X, y):
        if t * (w @ x) <= 0:
            w = w + t * x
    return w


def pa(X, y):
    """Crammer et al. 2006, figure 1: tau = l / |x|^2."""
    w = np.zeros(X.shape[1])
    for x, t in zip(X, y):
        loss = max(0.0, 1 - t * (w @ x))
        if loss > 0 and x @ x > 0:
            w = w + loss / (x @ x) * t * x
    return w


def pa_1(X, y, C=1.0):
    """The same, eq. for PA-I: tau = min(C, l / |x|^2)."""
    w = np.zeros(X.shape[1])
    for x, t in zip(X, y):
        loss = max(0.0, 1 - t * (w @ x))
        if loss > 0 and x @ x > 0:
            w = w + min(C, loss / (x @ x)) * t * x
    return w


def pa_2(X, y, C=1.0):
    """The same, PA-II: tau = l / (|x|^2 + 1 / (2 C))."""
    w = np.zeros(X.shape[1])
    for x, t in zip(X, y):
        loss = max(0.0, 1 - t * (w @ x))
        if loss > 0 and x @ x > 0:
            w = w + loss / (x @ x + 1 / (2 * C)) * t * x
    return w


def arow(X, y, cov="diag", r=1.0, diag="inverse"):
    """Crammer, Kulesza & Dredze 2009, figure 1; diagonal forms as in their section on diagonal matrices."""
    d = X.shape[1]
    w, S = np.zeros(d), np.eye(d)
    for x, t in zip(X, y):
        m, v = t * (w @ x), x @ S @ x
        if m >= 1:
            continue
        beta = 1 / (v + r)
        w = w + (1 - m) * beta * t * (S @ x)
        if cov == "full":
            S = S - beta * np.outer(S @ x, S @ x)
        elif diag == "drop":
            S = np.diag(np.diag(S) - beta * (np.diag(S) * x) ** 2)
        else:
            S = np.diag(1 / (1 / np.diag(S) + x * x / r))
    return w


def ls(X, y, b=1e-4, tau=0.0, eta=1.0):
    """Ridge regression on targets tau +- eta."""
    return np.linalg.solve(X.T @ X + b * np.eye(X.shape[1]), X.T @ (tau + eta * y))


def rls(X, y, b=1e-4, tau=0.0, eta=1.0):
    """Plackett 1950: the inverse by rank-one updates."""
    d = X.shape[1]
    w, R = np.zeros(d), np.eye(d) / b
    for x, t in zip(X, tau + eta * y):
        k = R @ x
        g = k / (1 + x @ k)
        R = R - np.outer(g, k)
        w = w + g * (t - w @ x)
    return w


def ter(X, y, b=1e-4, tau=0.0, eta=1.0):
    """Toh & Eng 2008: each class's squared errors divided by its size."""
    d = X.shape[1]
    A, rhs = b * np.eye(d), np.zeros(d)
    for side, t in ((-1, tau - eta), (1, tau + eta)):
        P = X[y == side]
        if len(P):
            A = A + P.T @ P / len(P)
            rhs = rhs + t * P.sum(axis=0) / len(P)
    return np.linalg.solve(A, rhs)


nr_rls = ter


def minmax(X):
    """Columns brought to [0, 1]; constant ones to 0; the first, the bias, stays."""
    lo, hi = X.min(axis=0), X.max(axis=0)
    out = (X - lo) / np.where(hi > lo, hi - lo, 1.0)
    out[:, 0] = X[:, 0]
    return out
