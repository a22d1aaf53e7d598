"""The driver: every block is scored, learned from and measured, tile by tile where the learner wants whole tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf import block as blk
from bigclf import state as st
from bigclf.core import TILE, Array, Block, Shape, Spec, State
from bigclf.limits import headroom
from bigclf.model import Model, make_learner
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Raw
from bigclf.training.budget import check_state
from bigclf.training.metrics import add_pairs
from bigclf.units import code_matrix, decode, new_plan


class Mark(NamedTuple):
    """What the encoder had counted when the last rows were learned."""

    missing: int
    gone: int  # rows dropped because of missing values
    unseen: dict[str, int]


class Piece(NamedTuple):
    """Rows to learn from in one step."""

    block: Block
    classes: tuple[str, ...]  # that are known by then
    mark: Mark | None  # what was counted up to its last row; None in the middle of encoded rows


class Fit:
    """A learner in training. `matrix` counts (truth, guess) of every row that was scored before it was learned."""

    def __init__(
        self, spec: Spec, params: dict[str, Any], encoder: Encoder, state: State = None, cap: int | None = None
    ) -> None:
        self.spec = spec
        self.params = params
        self.encoder = encoder
        self.learner = make_learner(spec, params, encoder.schema)
        self.positive = encoder.schema.positive
        self.classes: list[str] = list(encoder.classes)
        self.code: Array = code_matrix(self.classes, self.positive)
        self.shape = Shape(len(self.code), encoder.cols, len(self.classes))
        self.cap = cap  # of --budget
        check_state(self.learner, self.shape, spec.name, headroom(cap), held=state is not None)
        self.state = self.learner.init(self.shape) if state is None else state
        self.rows = 0
        self.counts = np.zeros(len(self.classes), np.int64)
        self.matrix: NDArray[np.int64] = np.zeros((len(self.classes),) * 2, np.int64)
        self.promoted = False  # units were made from others, where that is not exact
        self.next_row = 0  # all rows before this one were learned from
        self.mark = Mark(0, 0, {})

    def run(self, stream: Iterable[Raw], after: Callable[[], None], base: int = 0) -> None:
        """One pass; `base` is added to the numbers of the rows.

        `after` is called where all rows that were encoded have been learned from: what was counted then fits the state.
        """
        for block, classes, mark in tiles(self._encoded(stream, base), self.learner.grain):
            if len(classes) != len(self.classes) or blk.cols(block.X) != self.shape.cols:
                self._grow(list(classes), blk.cols(block.X))
            self._learn(block)
            self.next_row = int(block.row[-1]) + 1
            if mark is not None:
                self.mark = mark
                after()

    def _encoded(self, stream: Iterable[Raw], base: int) -> Iterator[Encoded]:
        encoder = self.encoder
        classes = tuple(encoder.classes)
        for raw in stream:
            for part in encoder.blocks(raw._replace(row=raw.row + base) if base else raw):
                if len(classes) != len(self.encoder.classes):
                    classes = tuple(self.encoder.classes)
                seen = encoder.gone(int(part.row[-1]) + 1)
                yield part, classes, Mark(encoder.missing, seen, dict(encoder.unseen))

    def _grow(self, classes: list[str], cols: int) -> None:
        code = code_matrix(classes, self.positive)
        shape = Shape(len(code), cols, len(classes))
        check_state(self.learner, shape, self.spec.name, headroom(self.cap))
        if len(classes) != len(self.classes):
            self.state = st.change_units(self.learner, self.state, self.code, code, shape)
            self.promoted |= self.learner.refit is None and len(code) > 1
            more = len(classes) - len(self.classes)
            self.counts = np.concatenate([self.counts, np.zeros(more, np.int64)])
        else:
            self.state = st.grow(self.learner, self.state, shape)
        self.classes, self.code, self.shape = classes, code, shape

    def _learn(self, piece: Block) -> None:
        plan = new_plan(self.code, piece.y)
        self.state = self.learner.update(self.state, piece, plan)
        self.rows += len(piece.y)
        self.counts += np.bincount(piece.y, minlength=len(self.counts))
        scored = ~np.isnan(plan.pre[0])
        guess = decode(self.code, plan.pre)
        if not scored.all():
            piece, guess = piece._replace(y=piece.y[scored]), guess[scored]
        self.matrix = add_pairs(self.matrix, piece.y, guess)

    def model(self, reading: dict[str, Any], next_row: int, passes: int) -> Model:
        """What was learned, as a model that predicts and can go on. Finishes the state."""
        if self.learner.finish is not None:
            self.state = self.learner.finish(self.state)
        return self.unfinished(reading, next_row, passes)

    def unfinished(self, reading: dict[str, Any], next_row: int, passes: int) -> Model:
        """The model as the state is, with the columns and classes of the rows that were learned from."""
        counts = {name: int(n) for name, n in zip(self.classes, self.counts, strict=True)}
        used = min(self.encoder.used, self.shape.cols)  # rows that were encoded and not yet learned may have more
        schema = self.encoder.schema.widened(used, tuple(self.classes))
        model = Model(self.spec.name, self.params, schema, self.state, self.shape.cols, reading)
        return replace(model, passes=passes, next_row=next_row, counts=counts)


Encoded = tuple[Block, tuple[str, ...], Mark]


def tiles(blocks: Iterable[Encoded], grain: str) -> Iterator[Piece]:
    """The blocks as they come, or for a learner of grain "tile" cut and joined to whole tiles of TILE rows.

    A tile also ends where columns or classes are born: that row depends on the data alone, as tiles must.
    """
    if grain == "row":
        for block, classes, mark in blocks:
            yield Piece(block, classes, mark)
        return
    held: list[Block] = []
    last: Encoded | None = None  # that the held rows come from
    for block, classes, mark in blocks:
        if held and last and (blk.cols(last[0].X), last[1]) != (blk.cols(block.X), classes):
            yield Piece(_joined(held), last[1], last[2])
            held = []
        start, n = 0, len(block.row)
        while start < n:
            tile = int(block.row[start]) // TILE
            if held and last and int(held[0].row[0]) // TILE != tile:
                yield Piece(_joined(held), last[1], last[2])
                held = []
            end = int(np.searchsorted(block.row, (tile + 1) * TILE))
            held.append(Block(block.row[start:end], blk.take(block.X, start, end), block.y[start:end]))
            if end < n or (int(block.row[end - 1]) + 1) % TILE == 0:
                yield Piece(_joined(held), classes, mark if end == n else None)
                held = []
            start = end
        last = (block, classes, mark)
    if held and last:
        yield Piece(_joined(held), last[1], last[2])


def _joined(parts: list[Block]) -> Block:
    if len(parts) == 1:
        return parts[0]
    row = np.concatenate([p.row for p in parts])
    return Block(row, blk.join([p.X for p in parts]), np.concatenate([p.y for p in parts]))
