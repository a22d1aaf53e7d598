"""What the scripts that predict each row and then learn it share: sets encoded once, in blocks, and a run over them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf import block as blk
from bigclf.core import TILE, Array, Block, Learner, Shape
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, make_schema
from bigclf.reading.options import ReadOptions
from bigclf.reading.source import find
from bigclf.reading.stream import Stream
from bigclf.units import decode, new_plan

ENDS = (".parquet", ".svm", ".svm.gz", ".svm.bz2", ".svm.zst", ".csv")


class Encoded(NamedTuple):
    """All rows of a set."""

    X: Any
    y: NDArray[np.int32]  # (n,) class codes
    classes: list[str]


class Run(NamedTuple):
    """Of a learner over rows."""

    state: Any
    guess: NDArray[np.int32]  # (n,) class codes, before each row was learned
    seconds: float  # of processor time, to score and learn


def files(name: str, folder: Path) -> list[str]:
    """The files of a set; + joins their names."""
    return [next((s + e for e in ENDS if (folder / (s + e)).exists()), s + ENDS[0]) for s in name.split("+")]


def encoded(name: str, folder: Path, scale: str) -> Encoded:
    """A set; columns are scaled by all its rows, the label of CSV is its last column."""
    paths = [str(folder / f) for f in files(name, folder)]
    stream = Stream(find(paths), ReadOptions(label="last" if paths[0].endswith(".csv") else "label"))
    raws = list(stream)
    kinds = stream.kinds
    schema = make_schema(raws, kinds and kinds.label, Wishes(scale=scale), Counter())
    encoder = Encoder(schema, stream.skips, capacity=schema.used)
    blocks = [b for raw in raws for b in encoder.blocks(raw)]
    return Encoded(blk.join([b.X for b in blocks]), np.concatenate([b.y for b in blocks]), list(schema.classes))


def tiles(X: Any, y: NDArray[np.int32], at: Array) -> list[Block]:
    """The rows at these places as one stream, in blocks of whole tiles."""
    X, y, n = blk.pick(X, at), np.ascontiguousarray(y[at]), len(at)
    cuts = [(a, min(a + TILE, n)) for a in range(0, n, TILE)]
    return [Block(np.arange(a, b), blk.take(X, a, b), y[a:b]) for a, b in cuts]


def run(learner: Learner, blocks: Sequence[Block], code: NDArray[np.int8]) -> Run:
    """Predict, then learn, each row. code: as in `bigclf.units.code_matrix`."""
    state, guess, seconds = learner.init(Shape(len(code), blk.cols(blocks[0].X), code.shape[1])), [], 0.0
    for block in blocks:
        plan = new_plan(code, block.y)
        began = time.thread_time()
        state = learner.update(state, block, plan)
        seconds += time.thread_time() - began
        guess.append(decode(code, plan.pre))
    return Run(state, np.concatenate(guess), seconds)
