"""Least squares from sums: `ls` and `rls`, and with each class weighted by its share `ter` and `nr-rls`.

The class weights of the total error rate change with every row, and re-weighting old rows would need them again. The
way out is to keep the sums of each class apart, unweighted, and to weight them when solving:

    ls, rls:      A = sum_k G_k + b I            rhs = sum_k t_k s_k
    ter, nr-rls:  A = G_-/n_- + G_+/n_+ + b I    rhs = t_- s_-/n_- + t_+ s_+/n_+

with G_k = sum of p p', s_k = sum of p over the n_k rows of class k, t_- = tau - eta, t_+ = tau + eta. The sums do not
depend on the order of the rows, K units share K matrices, and the sums of two shards add up. Scaling by the statistics
of the whole stream is an affine map of the sums, applied when solving.

Sources: Jang, "Deterministic online classification: non-iteratively reweighted recursive least-squares" (nr-rls, equal
to ter); Toh & Eng, TPAMI 30 (2008) (ter); Plackett 1950 (rls).
"""

from __future__ import annotations

from functools import partial

from bigclf.algorithms import published
from bigclf.algorithms.normal_equations import (
    ETA,
    EVERY,
    RIDGE,
    TAU,
    Sums,
    due,
    pooled_system,
    positive_solve,
    scaling,
    weighted_system,
    zero_if_unseen,
)
from bigclf.core import Array, Block, Learner, Param, Plan, Scores, Shape, Spec


def build(
    weighted: bool,
    b: float = 1e-4,
    tau: float = 0.0,
    eta: float = 1.0,
    solve_every: int = 0,
    form: str = "sums",
    scale: str = "none",
) -> Learner:
    """The least-squares learner; `weighted` gives each class the weight 1/n_k (ter, nr-rls).

    scale: none, minmax, maxabs or std, by the statistics of all rows seen, applied when solving.
    """
    import numpy as np

    from bigclf.block import take
    from bigclf.kernels import gram, linear

    if form in ("algorithm1", "recursive"):
        return (published.algorithm1 if weighted else published.recursive)(b, tau, eta)

    pooled = not weighted
    scratch = gram.Scratch()
    axes = {
        "gram": (1 if pooled else "classes", "cols", "cols"),
        "first": ("classes", "cols"),
        "rows": ("classes",),
        "shown": (1,),
        "lo": ("cols",),
        "hi": ("cols",),
        "code": ("units", "classes"),
        "w": ("units", "cols"),
        "shift": ("units",),
        "solved": (1,),
    }

    def init(shape: Shape) -> Sums:
        units, cols, classes = shape.units, shape.cols, shape.classes
        return Sums(
            np.zeros((1 if pooled else classes, cols, cols)),
            np.zeros((classes, cols)),
            np.zeros(classes),
            np.zeros(1),
            np.full(cols, np.inf),
            np.full(cols, -np.inf),
            np.zeros((units, classes)),
            np.zeros((units, cols)),
            np.full(units, np.nan),
            np.zeros(1),
        )

    def by_row(s: Sums, block: Block, plan: Plan) -> Sums:
        """As `update`, with a solution after every row."""
        for i in range(len(block.y)):
            one = slice(i, i + 1)
            row = Block(block.row[one], take(block.X, i, i + 1), block.y[one])
            own = plan._replace(target=plan.target[:, one], weight=plan.weight[:, one], pre=plan.pre[:, one])
            s = update(s, row, own)
            if s.shown[0] > s.solved[0]:
                s = finish(s)
        return s

    def update(s: Sums, block: Block, plan: Plan) -> Sums:
        plan.pre[...] = decision(s, block.X)
        s.lo[:], s.hi[:] = zero_if_unseen(s.lo, s), zero_if_unseen(s.hi, s)
        y = np.where(plan.target.any(axis=0), block.y, np.int32(-1))
        present = np.bincount(y[y >= 0], minlength=s.rows.size) > 0
        for c in np.flatnonzero(present & (s.rows == 0)):
            s.code[:, c] = plan.target[:, np.argmax(y == c)]
        weight = plan.weight[0] if plan.weight.size else np.empty(0)  # the same for all units, as the sums are
        gram.add(block.X, y, weight, pooled, s.gram, s.first, s.rows, s.lo, s.hi, scratch)
        s.shown[0] += (y >= 0).sum()
        stale = bool(np.isnan(s.shift).any())  # units were born since
        return finish(s) if due(s.shown[0], s.solved[0], s.w.shape[1], solve_every, stale) else s

    def decision(s: Sums, X: object) -> Scores:
        return linear.score(s.w, X) + s.shift[:, None]

    def finish(s: Sums) -> Sums:
        if s.solved[0] == s.shown[0] and not np.isnan(s.shift).any():
            return s
        offset, factor = scaling(scale, s)
        if weighted:
            for u, code in enumerate(s.code):
                A, rhs = weighted_system(s, code, tau, eta, offset, factor)
                s.w[u] = positive_solve(A, rhs, b) * factor
        else:
            A, rhs = pooled_system(s, tau, eta, offset, factor)
            s.w[:] = positive_solve(A, rhs, b).T * factor
        s.shift[:] = -(s.w @ offset)
        seen = np.array([s.rows[code > 0].any() for code in s.code])
        s.shift[~seen & (len(s.code) > 1)] = -np.inf  # a class without rows is never the answer
        s.solved[0] = s.shown[0]
        return s

    def merge(a: Sums, b: Sums) -> Sums:
        return Sums(
            a.gram + b.gram,
            a.first + b.first,
            a.rows + b.rows,
            a.shown + b.shown,
            np.minimum(zero_if_unseen(a.lo, a), zero_if_unseen(b.lo, b)),
            np.maximum(zero_if_unseen(a.hi, a), zero_if_unseen(b.hi, b)),
            np.where(a.code != 0, a.code, b.code),
            np.zeros_like(a.w),
            np.full_like(a.shift, np.nan),
            np.zeros(1),
        )

    def refit(s: Sums, old: Array, new: Array) -> Sums:
        known = old.shape[1]
        fresh = s._replace(code=np.zeros_like(s.code), w=np.zeros_like(s.w), shift=np.full_like(s.shift, np.nan))
        fresh.code[:, :known] = new[:, :known] * (s.rows[:known] > 0)
        return fresh  # the next solution that is due serves the new units

    learn = by_row if form == "per-row" else update
    return Learner(init, learn, decision, axes, grain="tile", finish=finish, merge=merge, refit=refit)


RECURSIVE = Param(
    "form",
    str,
    "sums",
    "sums: by tiles; recursive: a solution after every row, O(columns^2) a row",
    choices=("sums", "recursive"),
)
FORM = Param(
    "form",
    str,
    "sums",
    "sums: by tiles; per-row: the same, solved after every row, O(columns^3) a row; algorithm1: the published "
    "recursion, as dear and less exact",
    choices=("sums", "per-row", "algorithm1"),
)
JANG = "Jang, Deterministic Online Classification: Non-iteratively Reweighted Recursive Least-Squares, Algorithm 1"


def _spec(name: str, line: str, source: str, weighted: bool, *more: Param) -> Spec:
    return Spec(
        name,
        line,
        source,
        partial(build, weighted),
        (RIDGE, TAU, ETA, EVERY, *more),
        cost="O(columns^2) a row by BLAS, O(columns^3) a solution and unit",
        memory="8 bytes x columns^2" + (" x classes" if weighted else ""),
        one_pass=True,
        balances=weighted,
        solve_scaling=lambda params: params.get("form", "sums") in ("sums", "per-row"),
    )


SPECS = (
    _spec("ls", "ridge least squares, from sums", "Hoerl & Kennard 1970; normal equations", False),
    _spec("rls", "recursive least squares: the same solution as ls", "Plackett 1950; Woodbury 1950", False, RECURSIVE),
    _spec(
        "ter", "least total error rate: each class weighs the same", "Toh & Eng, TPAMI 30(4) (2008), eq. 3-4, 7", True
    ),
    _spec("nr-rls", "non-iteratively reweighted recursive least squares: exact in one pass", JANG, True, FORM),
)
