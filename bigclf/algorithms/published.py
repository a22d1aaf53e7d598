"""Least squares row by row: what the forms from sums are tested against, and true scores before a row.

rls has its recursion, O(columns^2) a row. nr-rls has Algorithm 1, which is O(columns^3) a row and loses digits. ir-rls
keeps every row and goes through all of them at each, O(rows columns^2) a row; it is known by what is said of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bigclf.algorithms.normal_equations import ETA, RIDGE, TAU
from bigclf.core import Array, Block, Learner, Param, Plan, Shape, Spec, by_call
from bigclf.errors import BigclfError, BudgetError, UnsupportedError, UsageError

LOST = 1e-3  # of the right side: larger residuals are no rounding


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
    from bigclf.kernels import linear

    _require_ridge(b)

    def init(shape: Shape) -> Recursion:
        u, d = shape.units, shape.cols
        inverse = np.zeros((u, d, d))
        inverse[:, np.arange(d), np.arange(d)] = 1.0 / b
        return Recursion(np.zeros((u, d)), inverse, np.zeros((u, 2, d, d)), np.zeros((u, 2, d)), np.zeros((u, 2)))

    def update(s: Recursion, block: Block, plan: Plan) -> Recursion:
        if plan.weight.size:
            raise UnsupportedError("--form algorithm1 has no place for the weight of a row")
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

    def finish(s: Recursion) -> Recursion:
        """Refuse a solution that does not solve its equations any more."""
        for w, mean, z in zip(s.w, s.mean, s.z, strict=True):
            right = z.sum(axis=0)
            wrong = np.linalg.norm(mean.sum(axis=0) @ w + b * w - right)
            if not wrong <= LOST * np.linalg.norm(right):
                raise BigclfError(
                    "--form algorithm1 has lost its digits: what it has does not solve its equations; --form sums does"
                )
        return s

    def refit(s: Recursion, old: Array, new: Array) -> Recursion:
        raise UnsupportedError("--form algorithm1 cannot take a class born late; name all with --classes")

    return Learner(init, update, linear.decision, AXES, finish=finish, refit=refit)


class Inverse(NamedTuple):
    """State of recursive least squares."""

    w: Array  # (units, cols)
    inverse: Array  # (cols, cols) of b I + sum g p p', g the weight of a row
    first: Array  # (classes, cols) sum of g p


def recursive(b: float, tau: float, eta: float) -> Learner:
    """Recursive least squares (Plackett 1950)."""
    import numpy as np

    from bigclf.kernels import linear
    from bigclf.kernels.recursive import least_squares

    _require_ridge(b)

    def init(shape: Shape) -> Inverse:
        w, first = np.zeros((shape.units, shape.cols)), np.zeros((shape.classes, shape.cols))
        return Inverse(w, np.eye(shape.cols) / b, first)

    def call(s: Inverse, block: Block, plan: Plan) -> tuple[Any, ...]:
        return least_squares, *s, tau, eta, block.X, block.y, plan, *np.empty((2, s.w.shape[1]))

    def refit(s: Inverse, old: Array, new: Array) -> Inverse:
        return s._replace(w=(tau + eta * new) @ s.first @ s.inverse)

    axes = {"w": ("units", "cols"), "inverse": ("cols", "cols"), "first": ("classes", "cols")}
    return Learner(init, by_call(call), linear.decision, axes, refit=refit, call=call)


class Kept(NamedTuple):
    """State of iteratively reweighted least squares: every row."""

    w: Array  # (units, cols)
    kept: Array  # (max_rows, cols)
    y: Array  # (max_rows,) their classes
    side: Array  # (units, max_rows) -1, +1
    n: Array  # (1,) rows kept
    inverse: Array  # (cols, cols) of the last unit


def reweighted(b: float = 1e-4, tau: float = 0.0, eta: float = 1.0, max_rows: int = 5000) -> Learner:
    """Iteratively reweighted recursive least squares: equal to ter after every row."""
    import numpy as np

    from bigclf.block import row_into, take
    from bigclf.kernels import linear
    from bigclf.kernels import recursive as kernels

    _require_ridge(b)

    def init(shape: Shape) -> Kept:
        u, d = shape.units, shape.cols
        return Kept(
            np.zeros((u, d)),
            np.zeros((max_rows, d)),
            np.zeros(max_rows),
            np.zeros((u, max_rows)),
            np.zeros(1),
            np.zeros((d, d)),
        )

    def solve(s: Kept) -> Kept:
        k = np.empty(s.w.shape[1])
        for u, w in enumerate(s.w):
            kernels.reweighted(w, s.kept, s.side[u], int(s.n[0]), b, tau, eta, s.inverse, k)
        return s

    def update(s: Kept, block: Block, plan: Plan) -> Kept:
        shown = np.atleast_1d(plan.target.any(axis=0))
        if s.n[0] + shown.sum() > max_rows:
            raise BudgetError(
                f"ir-rls keeps every row, at most --max-rows {max_rows:,}; nr-rls has the same solution without"
            )
        for i in range(len(block.y)):
            plan.pre[:, i] = linear.score(s.w, take(block.X, i, i + 1))[:, 0]
            if not shown[i]:
                continue
            n = int(s.n[0])
            row_into(block.X, i, s.kept[n])
            s.y[n], s.side[:, n] = block.y[i], plan.target[:, i]
            s.n[0] = n + 1
            solve(s)
        return s

    def refit(s: Kept, old: Array, new: Array) -> Kept:
        n = int(s.n[0])
        s.side[:, :n] = new[:, s.y[:n].astype(int)]
        return solve(s)

    axes: dict[str, tuple[str | int, ...]] = {
        "w": ("units", "cols"),
        "kept": (max_rows, "cols"),
        "y": (max_rows,),
        "side": ("units", max_rows),
        "n": (1,),
        "inverse": ("cols", "cols"),
    }
    return Learner(init, update, linear.decision, axes, refit=refit)


def _require_ridge(b: float) -> None:
    if b <= 0.0:
        raise UsageError("--b: the recursion starts from I/b and needs b > 0")


SPECS = (
    Spec(
        "ir-rls",
        "iteratively reweighted recursive least squares: nr-rls by going through all rows at each; for small data",
        "Jang, Tan, Toh & Teoh, IEEE TSMC: Systems (2017), reconstructed",
        reweighted,
        (
            RIDGE,
            TAU,
            ETA,
            Param("max-rows", int, 5000, "rows that are kept; more are refused", low=1, high=1_000_000),
        ),
        cost="O(rows columns^2) a row and unit",
        memory="8 bytes x max-rows x columns",
        uses_weights=False,
        one_pass=True,
    ),
)
