"""A learner in training: every piece is scored, learned from and measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf import probability
from bigclf import state as st
from bigclf.algorithms import registry
from bigclf.core import Array, Block, Shape, Spec, State
from bigclf.errors import UsageError
from bigclf.limits import headroom
from bigclf.model import Model, make_learner
from bigclf.reading.encode import Encoder
from bigclf.training.budget import check_map, check_state, scratch
from bigclf.training.feed import Mark, Piece
from bigclf.training.metrics import LogLoss, add_pairs, by_class
from bigclf.units import code_matrix, decode, new_plan
from bigclf.weighting import ClassWeight, row_weights

CURES = {"rff": "a lower --rff-dim", "rm": "a lower --order", "poly": "a lower --order"}  # of the maps' sizes


class Fit:
    """A learner in training. `matrix` counts (truth, guess) of every row that was scored before it was learned."""

    def __init__(
        self,
        spec: Spec,
        params: dict[str, Any],
        encoder: Encoder,
        state: State = None,
        cap: int | None = None,
        beside: int = 0,
        class_weight: ClassWeight = None,
        cure: str = "",
        seats: int = 1,
        solving: int = 0,
    ) -> None:
        """A learner that has seen nothing, or is in the state of a model. Raises BudgetError for what does not fit.

        cap: of --budget, in bytes. beside: bytes promised to others, as feature maps. cure: what would help then.
        seats: learners of this kind that are to fit together, where parameters are made for the memory.
        solving: the most that one of the others takes to solve in, which they do one after another.
        """
        if class_weight is not None and not spec.uses_weights:
            able = ", ".join(s.name for s in registry.specs().values() if s.uses_weights)
            raise UsageError(f"--class-weight: {spec.name} has no place for the weight of a row; these have: {able}")
        self.spec = spec
        self.encoder = encoder
        self.positive = encoder.schema.positive
        self.classes: list[str] = list(encoder.classes)
        self.code: Array = code_matrix(self.classes, self.positive)
        self.map = encoder.schema.map
        self.cols = encoder.cols  # of the encoder; the learner sees as many as the feature map makes of them
        self.shape = Shape(len(self.code), self.map.size(self.cols), len(self.classes))
        self.cap = cap
        self.params = (
            params if spec.settle is None else spec.settle(params, partial(self._fits, beside, seats, solving))
        )
        # an option whose word was made a number: the word, the number
        self.settled = {k: (params[k], v) for k, v in self.params.items() if params.get(k, v) != v}
        self.learner = make_learner(spec, self.params, encoder.schema)
        encoder.admit = partial(check_map, cap)
        check_state(
            self.learner,
            self.shape,
            spec.name,
            headroom(cap),
            held=state is not None,
            beside=beside,
            cure=cure or CURES.get(self.map.kind, "") or self._cure(beside, solving),
            solving=solving,
        )
        self.state = self.learner.init(self.shape) if state is None else state
        self.rows = 0
        self.counts = np.zeros(len(self.classes), np.int64)
        self.matrix: NDArray[np.int64] = np.zeros((len(self.classes),) * 2, np.int64)
        self.loss: LogLoss | None = None  # of the same rows, where it is wanted and the learner has probabilities
        self.promoted = False  # units were made from others, where that is not exact
        self.class_weight = class_weight
        self.earlier: Mapping[str, int] = {}  # rows by class of the model that was gone on from
        self.next_row = 0  # all rows before this one were learned from
        self.mark = Mark(0, 0, {})

    def _fits(self, beside: int, seats: int, solving: int, params: dict[str, Any]) -> bool:
        """Whether learners of these parameters take at most half of the memory."""
        return self._takes(seats, solving, params) <= (headroom(self.cap).bytes - beside) // 2

    def _cure(self, beside: int, solving: int) -> str:
        """What the algorithm says would help, where it would."""
        spec, words = self.spec, {p.name: p.words[0] for p in self.spec.params if p.words}
        if spec.settle is None or not spec.cure:
            return spec.cure
        least = spec.settle(self.params | words, lambda _: False)
        return spec.cure if self._takes(1, solving, least) + beside <= headroom(self.cap).bytes else ""

    def _takes(self, seats: int, solving: int, params: dict[str, Any]) -> int:
        """Bytes of learners of these parameters, as `check_state` reckons."""
        learner = make_learner(self.spec, params, self.encoder.schema)
        return seats * st.nbytes(learner, self.shape) + max(solving, scratch(learner, self.shape))

    def held(self) -> int:
        """Bytes of the state as it is."""
        return sum(a.nbytes for a in st.flatten(self.state).values())

    def gradient(self) -> dict[str, Any] | None:
        """Share of each class in what has moved the weights, and GII (Zhou et al. 2025, equation 17) of two classes.

        None for learners that do not go by gradients, and before the first step.
        """
        if self.learner.pull is None:
            return None
        pull = self.learner.pull(self.state)
        total = pull.by_class.sum()
        if not 0.0 < total < math.inf:
            return None
        share = {name: float(p / total) for name, p in zip(self.classes, pull.by_class, strict=True)}
        return {"share": share, "gii": pull.gii if len(share) == 2 and math.isfinite(pull.gii) else None}

    def nbytes(self) -> int:
        """Bytes of the state, grown as large as it may."""
        return st.nbytes(self.learner, self.shape)

    def solving(self) -> int:
        """Bytes that it takes to solve in, beside the state."""
        return scratch(self.learner, self.shape)

    def learn(self, piece: Piece, keep: NDArray[np.bool_] | None = None) -> None:
        """Score the rows, learn from them, and count what the scores were worth. `keep` (n,): those rows alone."""
        block = piece.block if keep is None else piece.block._replace(y=np.where(keep, piece.block.y, np.int32(-1)))
        if len(piece.classes) != len(self.classes) or piece.cols != self.cols:
            self._grow(list(piece.classes), piece.cols)
        self._learn(block)
        self.next_row = int(block.row[-1]) + 1
        if piece.mark is not None:
            self.mark = piece.mark

    def _grow(self, classes: list[str], cols: int) -> None:
        code = code_matrix(classes, self.positive)
        shape = Shape(len(code), self.map.size(cols), len(classes))
        check_state(self.learner, shape, self.spec.name, headroom(self.cap))
        if len(classes) != len(self.classes):
            self.state = st.change_units(self.learner, self.state, self.code, code, shape)
            self.promoted |= self.learner.refit is None and len(code) > 1
            more = len(classes) - len(self.classes)
            self.counts = np.concatenate([self.counts, np.zeros(more, np.int64)])
        else:
            self.state = st.grow(self.learner, self.state, shape)
        self.classes, self.code, self.cols, self.shape = classes, code, cols, shape

    def _learn(self, piece: Block) -> None:
        plan = new_plan(self.code, piece.y, self._weights(piece.y))
        self.state = self.learner.update(self.state, piece, plan)
        y, pre = piece.y, plan.pre
        if y.min(initial=0) < 0:
            shown = y >= 0
            y, pre = y[shown], pre[:, shown]
        self.rows += len(y)
        self.counts += by_class(y, len(self.counts))
        if np.isnan(pre.sum()):  # not all were scored, or scores are beyond all numbers
            scored = ~np.isnan(pre).any(axis=0)
            y, pre = y[scored], pre[:, scored]
        if self.loss is not None:
            self.loss.add(probability.losses(self.learner, self.code, pre, y))
        self.matrix = add_pairs(self.matrix, y, decode(self.code, pre))

    def _weights(self, y: NDArray[np.int32]) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return None
        earlier = np.array([self.earlier.get(name, 0) for name in self.classes], np.int64)
        return row_weights(self.class_weight, self.classes, earlier + self.counts, y)

    def model(self, reading: dict[str, Any], next_row: int, passes: int) -> Model:
        """What was learned, as a model that predicts and can go on. Finishes the state."""
        if self.learner.finish is not None:
            self.state = self.learner.finish(self.state)
        return self.unfinished(reading, next_row, passes)

    def unfinished(self, reading: dict[str, Any], next_row: int, passes: int) -> Model:
        """The model as the state is, with the columns and classes of the rows that were learned from."""
        counts = {name: int(n) for name, n in zip(self.classes, self.counts, strict=True)}
        used = min(self.encoder.used, self.cols)  # rows that were encoded and not yet learned may have more
        schema = self.encoder.schema.widened(used, tuple(self.classes))
        return Model(
            self.spec.name,
            self.params,
            schema,
            self.state,
            self.cols,
            reading,
            rows=self.rows,
            passes=passes,
            next_row=next_row,
            counts=counts,
            class_weight=self.class_weight,
        )
