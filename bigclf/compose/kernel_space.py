"""A linear learner on rows of the Gram matrix is a kernel machine; its support points are the rows that moved it.

Rows are taken some at a time: their kernel values with the support points and with each other are computed, and the
learner goes through them row by row. However many units and members it has, the values are shared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf import block as blk
from bigclf.compose.parts import cut, over, scored, under
from bigclf.core import Array, Block, Learner, Plan, Scores, Shape, State
from bigclf.errors import BudgetError
from bigclf.kernels.prototypes import squares
from bigclf.state import flatten, grow, shape_of

CHUNK = 128  # rows at a time


class Supported(NamedTuple):
    """A learner whose columns are support points."""

    base: State  # of a shape with `slots` columns
    points: Array  # (cols, slots)
    norm: Array  # (slots,) squared norms
    filled: Array  # (1,) slots in use


def in_kernel_space(base: Learner, gamma: float, most: int, forget: bool) -> Learner:
    """The kernel machine of k(x, z) = exp(-gamma |x - z|^2) with at most `most` support points.

    forget: when there are more, after some rows, the oldest are removed, as by the Forgetron (Dekel, Shalev-Shwartz &
    Singer, SIAM Journal on Computing 37 (2008) 1342-1372) without its shrinking; else BudgetError. To remove those of
    the smallest coefficients is no rule for skewed classes: all rows of the frequent class have small ones.
    """

    def init(shape: Shape) -> Supported:
        return Supported(base.init(shape._replace(cols=1)), np.zeros((shape.cols, 1)), np.zeros(1), np.zeros(1))

    def update(s: Supported, block: Block, plan: Plan) -> Supported:
        for start in range(0, block.y.size, CHUNK):
            s = some(s, block, plan, start, min(start + CHUNK, block.y.size))
        return s

    def some(s: Supported, block: Block, plan: Plan, start: int, end: int) -> Supported:
        n, used = end - start, int(s.filled[0])
        X = blk.take(block.X, start, end)
        s = _widened(s, base, used + n, len(plan.target), most + CHUNK)
        rows = blk.densify(X)
        s.points[:, used : used + n] = rows.T
        s.norm[used : used + n] = (rows * rows).sum(axis=1)
        gram = blk.GramRows(kernel(X, s, used + n), np.arange(used, used + n))
        mine = cut(plan, start, end)
        state = base.update(s.base, Block(block.row[start:end], gram, block.y[start:end]), mine)
        scored(plan, start, mine)
        s = s._replace(base=state)
        _forget(s, base, used, used + n, most, forget)
        return s

    def kernel(X: Any, s: Supported, count: int) -> Array:
        """(n, count) kernel values, each pair by itself: they do not depend on how rows were cut."""
        K = np.empty((blk.rows(X), count))
        squares(X, s.points, s.norm, count, K)
        K *= -gamma
        return np.exp(K, out=K)

    def decision(s: Supported, X: Any) -> Scores:
        out, n = [np.zeros((0, 0))], blk.rows(X)
        for start in range(0, n, CHUNK):
            K = kernel(blk.take(X, start, min(start + CHUNK, n)), s, int(s.filled[0]))
            out.append(base.decision(s.base, blk.GramRows(K, np.zeros(len(K), np.int64))))
        return np.concatenate(out[1:] or [base.decision(s.base, X)], axis=1)

    def solving(shape: Shape) -> int:
        """Half of the points beside all of them as they grow, and the kernel values of some rows."""
        slots = most + CHUNK
        return 8 * (slots * shape.cols // 2 + 2 * CHUNK * (slots + shape.cols))

    axes = {path: tuple("supports" if a == "cols" else a for a in names) for path, names in base.axes.items()}
    own: dict[str, tuple[str | int, ...]] = {"points": ("cols", "supports"), "norm": ("supports",), "filled": (1,)}
    return over(
        base,
        {},
        init=init,
        update=update,
        decision=decision,
        axes=under("base", axes) | own,
        most=lambda shape: {"supports": most + CHUNK},
        solving=solving,
        tiled=True,
    )


def _widened(s: Supported, base: Learner, need: int, units: int, most: int) -> Supported:
    """With room for so many points; a power of two, so that the room does not depend on how it came to be needed."""
    if need <= len(s.norm):
        return s
    slots = min(1 << (need - 1).bit_length(), most)
    points, norm = np.zeros((len(s.points), slots)), np.zeros(slots)
    points[:, : len(s.norm)], norm[: len(s.norm)] = s.points, s.norm
    shape = shape_of(base, s.base)._replace(cols=slots)
    return s._replace(base=grow(base, s.base, shape), points=points, norm=norm)


def _arrays(state: State, base: Learner) -> list[tuple[Array, tuple[str | int, ...]]]:
    return [(a, base.axes[path]) for path, a in flatten(state).items()]


def _forget(s: Supported, base: Learner, old: int, filled: int, most: int, forget: bool) -> None:
    """Remove, of the points from `old` on, those that move nothing, and of all the oldest above `most`."""
    arrays = [(a, names.index("cols")) for a, names in _arrays(s.base, base) if "cols" in names]
    moves = np.zeros(filled - old, bool)
    for a, axis in arrays:
        moves |= a.swapaxes(0, axis)[old:filled].reshape(filled - old, -1).any(axis=1)
    keep = np.concatenate([np.arange(old), old + np.flatnonzero(moves)])
    if len(keep) > most:
        if not forget:
            raise BudgetError(
                f"the kernel machine has more than {most:,} support points; with --kernel-budget N it keeps the last N"
            )
        keep = keep[len(keep) - most :]
    for a, axis in [*arrays, (s.points, 1), (s.norm, 0)]:
        _compact(a.swapaxes(0, axis), keep, filled)
    s.filled[0] = len(keep)


def _compact(a: Array, keep: Array, filled: int) -> None:
    """Move what is kept of the first `filled` to the begin, in place, and zero the rest of them."""
    same = int(np.searchsorted(keep - np.arange(len(keep)), 1))  # of these none moves
    for k in range(same, len(keep), CHUNK):  # from places that are not written yet
        a[k : min(k + CHUNK, len(keep))] = a[keep[k : k + CHUNK]]
    a[len(keep) : filled] = 0.0
