"""A model over a stream: the decision values of every row, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bigclf.core import Block, Scores
from bigclf.errors import DataError
from bigclf.model import Model
from bigclf.reading.encode import Encoder
from bigclf.reading.expand import Expander
from bigclf.reading.head import DENSE_COLUMNS
from bigclf.reading.raw import Raw, Words
from bigclf.reading.schema import Feature
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
    first = True
    for raw in stream:
        if first:
            _match(model, encoder, raw, stream.sources[0].path)
            first = False
        for block in encoder.blocks(raw if labels else raw._replace(label=None)):
            yield Scored(raw, block, learner.decision(state, block.X))


def _match(model: Model, encoder: Encoder, raw: Raw, path: str) -> None:
    """Let a model of one kind of input read the other, where columns can be told by their numbers."""
    schema = model.schema
    if isinstance(raw.data, dict) == (schema.kind == "table"):
        return
    if schema.hash_bits:
        raise DataError(path, f"the model hashed {schema.kind} columns (--hash-bits); give data of that kind")
    if not isinstance(raw.data, dict):
        return  # the j-th column of a table is index j
    if schema.used > DENSE_COLUMNS:
        raise DataError(path, f"the model has {schema.used - 1} sparse columns; give LIBSVM data")
    words = [name for name, column in raw.data.items() if isinstance(column, Words)]
    if words:
        raise DataError(path, f"column '{words[0]}' holds words, and the model was trained on LIBSVM data")
    numbers = list(raw.data)
    by_name = all(n.isdigit() for n in numbers)
    places: list[tuple[str, Any]] = [(n, int(n) if by_name else j) for j, n in enumerate(numbers, 1)]
    features = tuple(Feature(n, "number", i + 1) for n, i in places if i + 1 < schema.used)
    encoder.expander = Expander(features, schema.used, schema.bias)
