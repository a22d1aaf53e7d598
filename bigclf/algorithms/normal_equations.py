"""Normal equations of least squares from sums over the rows by class, scaled by what the sums say of the columns."""

from __future__ import annotations

from typing import NamedTuple

from bigclf.core import TILE, Array, Param
from bigclf.errors import BigclfError

SPARSE_SOLVES = 32  # at least so many rows a column between two solutions, so that solving stays a small part

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


class Sums(NamedTuple):
    """Sums over the rows by class, each row times its weight g, and the solution they gave last."""

    gram: Array  # (classes, cols, cols) sum of g p p'; (1, cols, cols) when pooled
    first: Array  # (classes, cols) sum of g p
    rows: Array  # (classes,) sum of the weights of the rows
    shown: Array  # (1,) rows
    lo: Array  # (cols,) least value of each column
    hi: Array  # (cols,) greatest
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen
    w: Array  # (units, cols) solution, for rows as they come in
    shift: Array  # (units,) what scaling adds to every score; NaN before the first solution
    solved: Array  # (1,) rows in the solution


def due(shown: float, solved: float, cols: int, every: int, stale: bool = False) -> bool:
    """Whether a solution is due after `shown` rows, the last one after `solved`; `stale`: it was for other units.

    Every `every` rows, or for 0 after 1,024, 2,048, 4,096, ... and not before 32 rows a column.
    """
    seldom = max(TILE, SPARSE_SOLVES * cols)
    return shown >= solved + (every or (seldom if stale else max(seldom, solved)))


def zero_if_unseen(extreme: Array, s: Sums) -> Array:
    """Least or greatest values, where a column born later was zero in all rows before."""
    import numpy as np

    return np.where(np.isinf(extreme), 0.0, extreme) if s.rows.any() else extreme


def scaling(scale: str, s: Sums) -> tuple[Array, Array]:
    """Offset and factor of each column: a value v is solved for as (v - offset) * factor. Constant columns keep 1."""
    import numpy as np

    cols, n = s.lo.size, float(s.rows.sum()) or 1.0
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
