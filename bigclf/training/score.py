"""A model over a stream: the decision values of every row, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bigclf import start
from bigclf.core import Block, Scores
from bigclf.model import Model
from bigclf.reading.ahead import ahead
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Raw
from bigclf.reading.stream import Stream


class Scored(NamedTuple):
    """Rows with their decision values."""

    raw: Raw
    block: Block
    scores: Scores  # (units, n)


def score(model: Model, stream: Stream, encoder: Encoder, labels: bool = True) -> Iterator[Scored]:
    """Scores of every row of the stream. `labels` False reads rows as if they had none."""
    learner = model.learner()
    state = learner.finish(model.state) if learner.finish is not None else model.state
    stream.form = encoder.form
    for raw in ahead(iter(stream), start.recheck):
        for block in encoder.blocks(raw if labels else raw._replace(label=None)):
            yield Scored(raw, block, learner.decision(state, block.X))
