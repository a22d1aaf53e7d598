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
from typing import NamedTuple

from bigclf.core import TILE, Array, Block, Learner, Param, Plan, Scores, Shape, Spec
from bigclf.errors import BigclfError

SPARSE_SOLVES = 32  # at least so many rows a column between two solutions, so that solving stays a small part


class Sums(NamedTuple):
    """Sums over the rows by class, and the solution they gave last."""

    gram: Array  # (classes, cols, cols) sum of p p'; (1, cols, cols) when pooled
    first: Array  # (classes, cols) sum of p
    rows: Array  # (classes,)
    lo: Array  # (cols,) least value of each column
    hi: Array  # (cols,) greatest
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen
    w: Array  # (units, cols) solution, for rows as they come in
    shift: Array  # (units,) what scaling adds to every score; NaN before the first solution
    solved: Array  # (1,) rows in the solution


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

    from bigclf.kernels import gram, linear

    if form == "algorithm1":
        from bigclf.algorithms.published import algorithm1

        return algorithm1(b, tau, eta)

    pooled = not weighted
    scratch = gram.Scratch()
    axes = {
        "gram": (1 if pooled else "classes", "cols", "cols"),
        "first": ("classes", "cols"),
        "rows": ("classes",),
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
            np.full(cols, np.inf),
            np.full(cols, -np.inf),
            np.zeros((units, classes)),
            np.zeros((units, cols)),
            np.full(units, np.nan),
            np.zeros(1),
        )

    def update(s: Sums, block: Block, plan: Plan) -> Sums:
        plan.pre[...] = decision(s, block.X)
        s.lo[:], s.hi[:] = zero_if_unseen(s.lo, s), zero_if_unseen(s.hi, s)
        y = np.where(plan.target.any(axis=0), block.y, np.int32(-1))
        present = np.bincount(y[y >= 0], minlength=s.rows.size) > 0
        for c in np.flatnonzero(present & (s.rows == 0)):
            s.code[:, c] = plan.target[:, np.argmax(y == c)]
        gram.add(block.X, y, pooled, s.gram, s.first, s.rows, s.lo, s.hi, scratch)
        n, last = s.rows.sum(), s.solved[0]
        seldom = max(TILE, SPARSE_SOLVES * s.w.shape[1])
        stale = np.isnan(s.shift).any()  # units were born since
        every = solve_every or (seldom if stale else max(seldom, last))
        return finish(s) if n >= last + every else s

    def decision(s: Sums, X: object) -> Scores:
        return linear.score(s.w, X) + s.shift[:, None]

    def finish(s: Sums) -> Sums:
        if s.solved[0] == s.rows.sum() and not np.isnan(s.shift).any():
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
        s.solved[0] = s.rows.sum()
        return s

    def merge(a: Sums, b: Sums) -> Sums:
        return Sums(
            a.gram + b.gram,
            a.first + b.first,
            a.rows + b.rows,
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

    return Learner(init, update, decision, axes, grain="tile", finish=finish, merge=merge, refit=refit)


def zero_if_unseen(extreme: Array, s: Sums) -> Array:
    """Least or greatest values, where a column born later was zero in all rows before."""
    import numpy as np

    return np.where(np.isinf(extreme), 0.0, extreme) if s.rows.any() else extreme


def scaling(scale: str, s: Sums) -> tuple[Array, Array]:
    """Offset and factor of each column: a value v is solved for as (v - offset) * factor. Constant columns keep 1."""
    import numpy as np

    cols, n = s.lo.size, max(float(s.rows.sum()), 1.0)
    offset, factor = np.zeros(cols), np.ones(cols)
    lo, hi = np.where(np.isfinite(s.lo), s.lo, 0.0), np.where(np.isfinite(s.hi), s.hi, 0.0)
    if scale == "minmax":
        offset, spread = lo, hi - lo
    elif scale == "maxabs":
        spread = np.maximum(np.abs(lo), np.abs(hi))
    elif scale == "std":
        offset = s.first.sum(axis=0) / n
        square = np.einsum("kjj->j", s.gram) / n - offset**2
        spread = np.where(hi > lo, np.sqrt(np.maximum(square, 0.0)), 0.0)
    else:
        return offset, factor
    np.divide(1.0, spread, out=factor, where=spread > 1e-300)
    offset[0], factor[0] = 0.0, 1.0  # the bias
    return offset, factor


def weighted_system(s: Sums, code: Array, tau: float, eta: float, offset: Array, factor: Array) -> tuple[Array, Array]:
    """A (cols, cols) without the ridge and right side (cols,) of one unit, each side weighing the same.

    A side without rows drops out.
    """
    import numpy as np

    A, rhs = np.zeros(s.gram.shape[1:]), np.zeros(offset.size)
    seen = s.rows > 0
    for side, target in ((1, tau + eta), (-1, tau - eta)):
        mine = np.flatnonzero((code == side) & seen)
        n = float(s.rows[mine].sum())
        if not n:
            continue
        first = s.first[mine].sum(axis=0)
        rhs += target / n * factor * (first - n * offset)
        rest = np.flatnonzero((code != side) & seen)
        few = len(mine) <= len(rest)  # the sum over the rest of K classes is the total less the few
        gram = s.gram[mine].sum(axis=0) if few else s.gram.sum(axis=0) - s.gram[rest].sum(axis=0)
        A += centred(gram, first, n, offset, factor) / n
    return A, rhs


def pooled_system(s: Sums, tau: float, eta: float, offset: Array, factor: Array) -> tuple[Array, Array]:
    """A (cols, cols) without the ridge, the same for all units, and right sides (cols, units)."""
    import numpy as np

    A = centred(s.gram[0], s.first.sum(axis=0), float(s.rows.sum()), offset, factor)
    first = factor * (s.first - np.outer(s.rows, offset))
    targets = tau * (s.code != 0) + eta * s.code
    return A, (targets @ first).T


def centred(gram: Array, first: Array, n: float, offset: Array, factor: Array) -> Array:
    """Sum of q q' for q = (p - offset) * factor, from the sums of p p' and of p."""
    import numpy as np

    out: Array = gram.copy()
    if offset.any():
        out -= np.outer(offset, first)
        out -= np.outer(first - n * offset, offset)
    out *= factor
    out *= factor[:, None]
    return out


def positive_solve(A: Array, rhs: Array, b: float) -> Array:
    """x with (A + b I) x = rhs for a positive semidefinite A, which is overwritten.

    Where A + b I is singular to rounding: the shortest such x. Raises BigclfError for what is no finite number.
    """
    import numpy as np

    A.flat[:: len(A) + 1] += b
    if not np.isfinite(A).all():
        raise BigclfError("the sums of squares are beyond the range of numbers; --scale std, or leave columns out")
    try:
        np.linalg.cholesky(A)
        x: Array = np.linalg.solve(A, rhs)
        return x
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(A)
        keep = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
        shortest: Array = (vectors * inverse) @ (vectors.T @ rhs)
        return shortest


RIDGE = Param("b", float, 1e-4, "ridge: added to the diagonal", low=0.0)
TAU = Param("tau", float, 0.0, "middle of the two targets")
ETA = Param("eta", float, 1.0, "half the distance of the two targets", low=0.0, open_low=True)
EVERY = Param(
    "solve-every",
    int,
    0,
    "rows, in tiles of 1024, between solutions for the running measures (0: seldom, ever more seldom)",
    low=0,
)
FORM = Param("form", str, "sums", "sums: exact; algorithm1: the published recursion", choices=("sums", "algorithm1"))
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
        uses_weights=False,
        solve_scaling=lambda params: params.get("form", "sums") == "sums",
    )


SPECS = (
    _spec("ls", "ridge least squares, from sums", "Hoerl & Kennard 1970; normal equations", False),
    _spec("rls", "recursive least squares: the same solution as ls", "Plackett 1950; Woodbury 1950", False),
    _spec(
        "ter", "least total error rate: each class weighs the same", "Toh & Eng, TPAMI 30(4) (2008), eq. 3-4, 7", True
    ),
    _spec("nr-rls", "non-iteratively reweighted recursive least squares: exact in one pass", JANG, True, FORM),
)
