"""The published recursion of nr-rls, row by row: O(columns^3) a row, and it loses digits. Kept to test against."""

from __future__ import annotations

from typing import NamedTuple

from bigclf.core import Array, Block, Learner, Plan, Scores, Shape


class Recursion(NamedTuple):
    """State of Algorithm 1, one for each unit; of the pairs, [0] is the negative side."""

    w: Array  # (units, cols)
    inverse: Array  # (units, cols, cols) inverse of S- + S+ + b I
    mean: Array  # (units, 2, cols, cols) S
    z: Array  # (units, 2, cols)
    n: Array  # (units, 2)


AXES = {
    "w": ("units", "cols"),
    "inverse": ("units", "cols", "cols"),
    "mean": ("units", 2, "cols", "cols"),
    "z": ("units", 2, "cols"),
    "n": ("units", 2),
}


def algorithm1(b: float, tau: float, eta: float) -> Learner:
    """Jang's Algorithm 1; its last line is written as the rank-one update of the same value."""
    import numpy as np

    from bigclf.block import densify
    from bigclf.errors import UnsupportedError, UsageError
    from bigclf.kernels import linear

    if b <= 0.0:
        raise UsageError("--b: the recursion starts from I/b and needs b > 0")

    def init(shape: Shape) -> Recursion:
        u, d = shape.units, shape.cols
        inverse = np.zeros((u, d, d))
        inverse[:, np.arange(d), np.arange(d)] = 1.0 / b
        return Recursion(np.zeros((u, d)), inverse, np.zeros((u, 2, d, d)), np.zeros((u, 2, d)), np.zeros((u, 2)))

    def update(s: Recursion, block: Block, plan: Plan) -> Recursion:
        for i, p in enumerate(densify(block.X)):
            for u in range(len(s.w)):
                plan.pre[u, i] = s.w[u] @ p
                t = int(plan.target[u, i])
                if t:
                    row(s, u, 0 if t < 0 else 1, p, tau + t * eta)
        return s

    def row(s: Recursion, u: int, side: int, p: Array, target: float) -> None:
        s.n[u, side] += 1.0
        beta = 1.0 / s.n[u, side]
        old, R = s.mean[u, side].copy(), s.inverse[u]
        G = R + R @ np.linalg.inv(np.eye(len(p)) - beta * old @ R) @ (beta * old @ R)
        Gp = G @ p
        s.inverse[u] = G - beta * np.outer(Gp, Gp) / (1.0 + beta * (p @ Gp))
        s.mean[u, side] += beta * (np.outer(p, p) - old)
        s.z[u, side] += beta * (target * p - s.z[u, side])
        s.w[u] = s.inverse[u] @ s.z[u].sum(axis=0)

    def decision(s: Recursion, X: object) -> Scores:
        return linear.score(s.w, X)

    def refit(s: Recursion, old: Array, new: Array) -> Recursion:
        raise UnsupportedError("--form algorithm1 cannot take a class born late; name all with --classes")

    return Learner(init, update, decision, AXES, refit=refit)
