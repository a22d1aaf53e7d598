"""Every algorithm once more, row by row, straight from its source: no kernels, no tricks.

X is (n, d) with the bias in front where there is one, y is (n,) of -1 and +1; each returns the weights (d,) at the end.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from naive_logistic import Logistic


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


def logistic(X, y, **params):
    """Its twin has a file of its own."""
    unit = Logistic(X.shape[1], **params)
    for x, t in zip(X, y):
        unit.row(x, t)
    return unit.w


def pegasos(X, y, lam=1e-4, project=False):
    """Shalev-Shwartz et al. 2011, figure 1: w = (1 - 1/t) w + [y w.x < 1] y x / (lambda t), then the projection."""
    w = np.zeros(X.shape[1])
    for t, (x, s) in enumerate(zip(X, y), 1):
        wrong = s * (w @ x) < 1
        w = (1 - 1 / t) * w + wrong * s * x / (lam * t)
        if project:
            w = w * min(1.0, 1 / (lam**0.5 * max(np.linalg.norm(w), 1e-300)))
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


def ir_rls(X, y, b=1e-4, tau=0.0, eta=1.0):
    """Jang et al. 2017 as the later paper tells it: at the last row, one weighted rank-one update for each row."""
    d = X.shape[1]
    R, z = np.eye(d) / b, np.zeros(d)
    for x, t in zip(X, y):
        g = 1 / np.sum(y == t)
        k = R @ x
        R = R - g * np.outer(k, k) / (1 + g * (x @ k))
        z = z + g * (tau + eta * t) * x
    return R @ z


def ar_rls(X, y, b=1e-4, tau=0.0, eta=1.0, weights="prior"):
    """Rows keep the weight of their arrival (prior), or fade (decay); R and z row by row."""
    d = X.shape[1]
    R, z = b * np.eye(d), np.zeros(d)
    seen = {-1: 0, 1: 0}
    for x, t in zip(X, y):
        seen[int(t)] += 1
        n = seen[int(t)]
        g, f = (sum(seen.values()) / (2 * n), 1.0) if weights == "prior" else (1 / n, 1 - 1 / n if n > 1 else 1.0)
        R = f * R + g * np.outer(x, x)
        z = f * z + g * (tau + eta * t) * x
    return np.linalg.solve(R, z)


def minmax(X):
    """Columns brought to [0, 1]; constant ones to 0; the first, the bias, stays."""
    lo, hi = X.min(axis=0), X.max(axis=0)
    out = (X - lo) / np.where(hi > lo, hi - lo, 1.0)
    out[:, 0] = X[:, 0]
    return out


def cw(X, y, rule, cov="diag", eta=0.7):
    """Dredze et al. 2008 (rule "var") and Crammer et al. 2008 (rule "stdev")."""
    phi = NormalDist().inv_cdf(eta)
    d = X.shape[1]
    w, S = np.zeros(d), np.eye(d)
    for x, t in zip(X, y):
        m, v = t * (w @ x), x @ S @ x
        if v <= 0 or m >= phi * (v if rule == "var" else v**0.5):
            continue
        if rule == "var":
            h = 1 + 2 * phi * m
            alpha = max(0.0, (-h + (h**2 - 8 * phi * (m - phi * v)) ** 0.5) / (4 * phi * v))
            beta, gain = 2 * alpha * phi / (1 + 2 * alpha * phi * v), 2 * alpha * phi
        else:
            psi, xi = 1 + phi**2 / 2, 1 + phi**2
            alpha = max(0.0, (-m * psi + (m**2 * phi**4 / 4 + v * phi**2 * xi) ** 0.5) / (v * xi))
            h = alpha * v * phi
            root = 2 * v / (h + (h**2 + 4 * v) ** 0.5)  # sqrt(u); as published it loses all digits where v is small
            beta, gain = alpha * phi / (root + alpha * phi * v), alpha * phi / root
        w = w + alpha * t * (S @ x)
        S = S - beta * np.outer(S @ x, S @ x) if cov == "full" else np.diag(1 / (1 / np.diag(S) + gain * x * x))
    return w


def cw_var(X, y, **params):
    """The margin in units of its variance."""
    return cw(X, y, "var", **params)


def cw_stdev(X, y, **params):
    """The margin in units of its standard deviation."""
    return cw(X, y, "stdev", **params)


def acog(X, y, kind, cov="diag", metric="sum", cost=0.9, gamma=1.0, eta=1.0, mean_cov="new", totals=None):
    """Zhao et al. 2018: type I moves the hinge by rho, type II scales the loss; counts before the row, plus one."""
    d = X.shape[1]
    w, S = np.zeros(d), np.eye(d)
    seen = {-1: 0, 1: 0}
    for x, t in zip(X, y):
        rho = cost / (1 - cost) if metric == "cost" else (seen[-1] + 1) / (seen[1] + 1)
        if totals is not None:
            rho = totals
        seen[int(t)] += 1
        k = rho if t > 0 else 1.0
        m, v = t * (w @ x), x @ S @ x
        if v <= 0 or (k - m if kind == 1 else 1 - m) <= 0:
            continue
        new = (
            S - np.outer(S @ x, S @ x) / (gamma + v) if cov == "full" else np.diag(1 / (1 / np.diag(S) + x * x / gamma))
        )
        w = w + eta * (1.0 if kind == 1 else k) * t * ((new if mean_cov == "new" else S) @ x)
        S = new
    return w


def acog_1(X, y, **params):
    """Type I."""
    return acog(X, y, 1, **params)


def acog_2(X, y, **params):
    """Type II."""
    return acog(X, y, 2, **params)


# Prototypes and what is made of them (Hammouri, thesis 2022). X (n, d), y (n,) class codes, Z (m, d) rows to score.


def prototypes(X, y, most):
    """Algorithm 1: by class the prototypes (L, d) and how many rows each holds."""
    found = {int(q): ([], []) for q in np.unique(y)}
    for x, q in zip(X, y):
        P, held = found[int(q)]
        if len(P) < most:
            P.append(x)
            held.append(1)
            continue
        nearest = int(np.argmin([np.sum((x - p) ** 2) for p in P]))
        P[nearest] = (held[nearest] * P[nearest] + x) / (held[nearest] + 1)
        held[nearest] += 1
    return {q: (np.array(P), np.array(held)) for q, (P, held) in found.items()}


def gaussian(sigma):
    """K(x, y) = exp(-|x - y|^2 / (2 sigma^2)) for all pairs of rows."""
    return lambda A, B: np.array([[np.exp(-np.sum((a - b) ** 2) / (2 * sigma**2)) for b in B] for a in A])


def inner(A, B):
    """The linear kernel."""
    return A @ B.T


def machine(K, negative, positive, Z):
    """Equations 2.5 to 2.13: outputs of a binary machine; either side is prototypes and their weights, of sum 1."""
    (N, v), (P, w) = negative, positive
    b = (v @ K(N, N) @ v - w @ K(P, P) @ w) / 2
    return w @ K(P, Z) - v @ K(N, Z) + b


def shares(held, weighted):
    """Of prototypes: equal, or by the rows that they hold."""
    return held / held.sum() if weighted else np.full(len(held), 1 / len(held))


def votes(K, found, Z, weighted=False):
    """One against one, equations 2.26 to 2.29 with the signs of 2.28 right: (classes, m)."""
    sides = [(P, shares(held, weighted)) for P, held in found.values()]
    v = np.zeros((len(sides), len(Z)))
    for r in range(len(sides)):
        for q in range(r + 1, len(sides)):
            z = machine(K, sides[r], sides[q], Z)
            v[q] += z
            v[r] -= z
    return v


def against_all(K, found, Z, most, weighted=False):
    """One against all, Algorithm 2: W of the fullest prototypes of each other class, Z of the last: (classes, m)."""
    classes = list(found)
    few = max(1, most // (len(classes) - 1))
    last = max(1, most - (len(classes) - 2) * few)
    out = []
    for q in classes:
        others = [c for c in classes if c != q]
        chosen = []
        for c in others:
            P, held = found[c]
            order = sorted(range(len(P)), key=lambda k: -held[k])
            chosen += [P[k] for k in order[: last if c == others[-1] else few]]
        chosen = np.array(chosen[:most])
        P, held = found[q]
        out.append(machine(K, (chosen, np.full(len(chosen), 1 / len(chosen))), (P, shares(held, weighted)), Z))
    return np.array(out)


def curve(found, pair, sigmas):
    """A(sigma) over the prototypes of two classes."""
    points = np.concatenate([found[q][0] for q in pair])
    kind = np.repeat(pair, [len(found[q][0]) for q in pair])
    return np.array([np.abs(gaussian(s)(points, points) - (kind[:, None] == kind)).mean() for s in sigmas])
