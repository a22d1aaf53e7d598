"""Rows made up beside those of small classes: they are learned right after the row that they stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf import block as blk
from bigclf.compose.parts import Over, over
from bigclf.core import Array, Block, Learner, Plan, Shape
from bigclf.draws import mix
from bigclf.kernels import neighbours

ROOM = 1 << 20  # values of made-up rows at a time


def smote(base: Learner, most: int, length: int, half: bool, seed: int) -> Learner:
    """The base with up to `most` rows made up beside one; `length`: rows kept of each class to make them from.

    half: rows lie half-way between, else where chance says.
    """

    def init(shape: Shape) -> Over:
        zeros = (np.zeros((shape.classes, length, shape.cols)), np.zeros(shape.classes), np.zeros(shape.classes))
        return Over(base.init(shape), neighbours.Buffer(*zeros))

    def update(s: Over, block: Block, plan: Plan) -> Over:
        n, cols = block.y.size, s.own.kept.shape[2]
        made = np.empty((max(most, min(most * n, ROOM // cols)), cols))
        at, state, start = np.zeros(2 + len(made), np.int64), s.base, 0
        while start < n:
            at[1] = start
            some = neighbours.make(s.own, most, half, seed, block.X, block.y, block.row, plan.target, made, at)
            end = int(at[0])
            whole, every = _with(block, plan, start, end, made[:some], at[2 : 2 + some] - start)
            mine = every._replace(pre=np.empty(every.target.shape))
            state = base.update(state, whole, mine)
            real = np.arange(end - start) + np.searchsorted(at[2 : 2 + some] - start, np.arange(end - start))
            plan.pre[:, start:end] = mine.pre[:, real]
            if plan.post.shape[1]:
                plan.post[:, start:end] = mine.post[:, real]
            start = end
        return s._replace(base=state)

    own: dict[str, tuple[str | int, ...]] = {
        "kept": ("classes", length, "cols"),
        "held": ("classes",),
        "seen": ("classes",),
    }

    def solving(shape: Shape) -> int:
        """Rows made up, the same joined to a block, and both in order."""
        return base.solving(shape) + 3 * 8 * max(ROOM, most * shape.cols)

    return over(base, own, init=init, update=update, solving=solving)


def _with(block: Block, plan: Plan, start: int, end: int, made: Array, beside: Array) -> tuple[Block, Plan]:
    """Rows start to end with made-up ones, each after the row (counted from start) that it stands beside."""
    n = end - start
    X = blk.take(block.X, start, end)
    order = np.argsort(np.concatenate([np.arange(n), beside]), kind="stable")
    which = np.concatenate([np.zeros(n, np.int64), _places(beside) + 1])
    source = np.concatenate([np.arange(n), beside])[order]
    row = np.where(which[order] > 0, _numbers(block.row[start:end][source], which[order]), block.row[start:end][source])
    if len(made):
        X = blk.pick(blk.join([X, _like(X, made)]), order)

    def taken(a: Array) -> Array:
        return np.ascontiguousarray(a[:, start:end][:, source]) if a.shape[1] else a

    parts: dict[str, Any] = {name: taken(getattr(plan, name)) for name in Plan._fields}
    return Block(row, X, block.y[start:end][source]), Plan(**parts)


def _places(beside: Array) -> Array:
    """Of rows made up beside the same row, in their order, the number of each."""
    return np.arange(len(beside)) - np.searchsorted(beside, beside)


def _numbers(row: Array, which: Array) -> Array:
    """Numbers for rows made up beside these, which key draws: as good as never one that another row has."""
    key = mix(row.astype(np.uint64) ^ mix(which.astype(np.uint64)))
    return (key >> np.uint64(2)).astype(np.int64)


def _like(X: Any, rows: Array) -> Any:
    """Dense rows in the form of X."""
    if isinstance(X, np.ndarray):
        return rows.astype(X.dtype)
    at, col = np.nonzero(rows)
    borders = np.searchsorted(at, np.arange(len(rows) + 1)).astype(np.int64)
    return blk.Csr(rows[at, col].astype(X.data.dtype), col.astype(np.int32), borders, X.cols)
