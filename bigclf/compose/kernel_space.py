"""A linear learner on rows of the Gram matrix is a kernel machine; its support points are the rows that moved it.

Rows are taken some at a time: one product of matrices gives their kernel values with the support points and with each
other, and the learner goes through them row by row. However many units and members it has, the values are shared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf import block as blk
from bigclf.compose.parts import cut, over, scored, under
from bigclf.core import Array, Block, Learner, Plan, Scores, Shape, State
from bigclf.errors import UnsupportedError
from bigclf.kernels.prototypes import squares
from bigclf.state import flatten, grow, rebuild, shape_of

CHUNK = 128  # rows at a time


class Supported(NamedTuple):
    """A learner whose columns are support points."""

    base: State  # of a shape with `slots` columns
    points: Array  # (slots, cols)
    norm: Array  # (slots,) squared norms
    filled: Array  # (1,) slots in use


def in_kernel_space(base: Learner, gamma: float, most: int, forget: bool) -> Learner:
    """The kernel machine of k(x, z) = exp(-gamma |x - z|^2) with at most `most` support points.

    forget: when there are more, after some rows, the oldest are removed, as by the Forgetron (Dekel, Shalev-Shwartz &
    Singer, SIAM Journal on Computing 37 (2008) 1342-1372) without its shrinking; else UnsupportedError. To remove those
    of the smallest coefficients is no rule for skewed classes: all rows of the frequent class have small ones.
    """

    def init(shape: Shape) -> Supported:
        return Supported(base.init(shape._replace(cols=1)), np.zeros((1, shape.cols)), np.zeros(1), np.zeros(1))

    def update(s: Supported, block: Block, plan: Plan) -> Supported:
        for start in range(0, block.y.size, CHUNK):
            s = some(s, block, plan, start, min(start + CHUNK, block.y.size))
        return s

    def some(s: Supported, block: Block, plan: Plan, start: int, end: int) -> Supported:
        n, used = end - start, int(s.filled[0])
        rows = blk.densify(blk.take(block.X, start, end))
        norm = (rows * rows).sum(axis=1)
        s = _widened(s, base, used + n, len(plan.target), most + CHUNK)
        s.points[used : used + n] = rows
        s.norm[used : used + n] = norm
        gram = blk.GramRows(kernel(rows, norm, s, used + n), np.arange(used, used + n))
        gram.K[np.arange(n), gram.own] = 1.0
        mine = cut(plan, start, end)
        state = base.update(s.base, Block(block.row[start:end], gram, block.y[start:end]), mine)
        scored(plan, start, mine)
        return _kept(s._replace(base=state), base, used + n, most, forget)

    def kernel(rows: Array, norm: Array, s: Supported, count: int) -> Array:
        d = norm[:, None] + s.norm[None, :count] - 2.0 * (rows @ s.points[:count].T)
        return np.exp(-gamma * np.maximum(d, 0.0))

    def decision(s: Supported, X: Any) -> Scores:
        out, n, used = [], blk.rows(X), int(s.filled[0])
        P = np.ascontiguousarray(s.points[:used].T)
        for start in range(0, n, CHUNK):
            rows = blk.take(X, start, min(start + CHUNK, n))
            K = np.empty((blk.rows(rows), used))
            squares(rows, P, s.norm, used, K)  # not by products of matrices, which depend on how rows were cut
            out.append(base.decision(s.base, blk.GramRows(np.exp(-gamma * K), np.zeros(len(K), np.int64))))
        return np.concatenate(out, axis=1)

    axes = {path: tuple("slots" if a == "cols" else a for a in names) for path, names in base.axes.items()}
    own: dict[str, tuple[str | int, ...]] = {"points": ("slots", "cols"), "norm": ("slots",), "filled": (1,)}
    return over(
        base,
        {},
        init=init,
        update=update,
        decision=decision,
        axes=under("base", axes) | own,
        most=lambda shape: {"slots": most + CHUNK},
        solving=lambda shape: 8 * 3 * CHUNK * (most + CHUNK + shape.cols),
        tiled=True,
    )


def _widened(s: Supported, base: Learner, need: int, units: int, most: int) -> Supported:
    """With room for so many points; a power of two, so that the room does not depend on how it came to be needed."""
    if need <= len(s.points):
        return s
    slots = min(1 << (need - 1).bit_length(), most)
    points, norm = np.zeros((slots, s.points.shape[1])), np.zeros(slots)
    points[: len(s.points)], norm[: len(s.norm)] = s.points, s.norm
    return s._replace(
        base=grow(base, s.base, Shape(units, slots, shape_of(base, s.base).classes)), points=points, norm=norm
    )


def _arrays(state: State, base: Learner) -> list[tuple[Array, tuple[str | int, ...]]]:
    return [(a, base.axes[path]) for path, a in flatten(state).items()]


def _kept(s: Supported, base: Learner, filled: int, most: int, forget: bool) -> Supported:
    """Without the points that move nothing, and without the oldest above `most`."""
    moves = np.zeros(filled, bool)
    for a, names in _arrays(s.base, base):
        if "cols" in names:
            rest = tuple(k for k, name in enumerate(names) if name != "cols")
            moves |= a.take(range(filled), axis=names.index("cols")).any(axis=rest)
    keep = np.flatnonzero(moves)
    if len(keep) > most:
        if not forget:
            raise UnsupportedError(
                f"the kernel machine has more than {most:,} support points; with --kernel-budget N it keeps the last N"
            )
        keep = keep[len(keep) - most :]
    if len(keep) == filled:
        return s._replace(filled=np.array([float(filled)]))
    arrays = {}
    for path, a in flatten(s.base).items():
        names = base.axes[path]
        arrays[path] = _moved(a, keep, names.index("cols")) if "cols" in names else a
    return Supported(
        rebuild(s.base, arrays), _moved(s.points, keep, 0), _moved(s.norm, keep, 0), np.array([float(len(keep))])
    )


def _moved(a: Array, keep: Array, axis: int) -> Array:
    """The array with what is kept at the begin of the axis, and zeros after it."""
    out = np.zeros_like(a)
    out.swapaxes(0, axis)[: len(keep)] = a.swapaxes(0, axis)[keep]
    return out
