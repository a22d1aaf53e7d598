"""The work of `bigclf predict`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf import probability, start
from bigclf.cli.lines import Line, label_lines, value_lines
from bigclf.cli.options import Given
from bigclf.cli.report import Report
from bigclf.cli.session import no_rows, refuse_settled, scoring_stream
from bigclf.core import Scores
from bigclf.errors import BigclfError, UnsupportedError, UsageError
from bigclf.files import whole_file, writable
from bigclf.limits import counted
from bigclf.model import Model, load
from bigclf.reading.encode import Encoder
from bigclf.reading.stream import Stream
from bigclf.training.score import score
from bigclf.units import decode

Write = Callable[[Any], object]
Answers = Callable[[Scores], Scores]


def run(
    path: Path, data: Sequence[str], output: Path | None, scores: bool, proba: bool, quiet: bool, reading: Given
) -> None:
    """Write one line for every row of the data."""
    report = Report(quiet)
    if scores and proba:
        raise UsageError("--proba: the columns of --scores and --proba would be taken for each other; choose one")
    model = load(path)
    refuse_settled(model, reading)
    if proba and not probability.known(model.learner()):
        raise UnsupportedError(
            f"--proba: the scores of {model.algorithm} say which class, not how probable; --scores gives them"
        )
    if output is not None and str(output) != "-":
        writable(output, [path, *data])
    stream = scoring_stream(model, data, reading, labels=False, arrow=scores or proba)
    encoder = Encoder(model.schema, stream.skips, frozen=True, capacity=model.cols)
    with _sink(output) as write:
        rows = _lines(model, encoder, stream, _answers(model, scores, proba), write)
    if not rows:
        raise no_rows(stream.sources, stream.skips)
    tell_read(report, stream, encoder)
    report.note(f"{counted(rows, 'row')}, {report.speed(rows)}")


def tell_read(report: Report, stream: Stream, encoder: Encoder) -> None:
    """What was noticed and skipped, what the data held that the model does not know, and what was missing."""
    report.notices(stream.notices)
    report.skipped(stream.skips)
    if encoder.left_out:
        values = counted(encoder.left_out, "value was", "values were")
        report.note(f"{values} in columns that the model has not seen; they weigh nothing")
    for name, n in encoder.unseen.items():
        report.note(
            f"column '{name}': {counted(n, 'row has', 'rows have')} a category that the model has not seen; "
            "it weighs nothing"
        )
    if encoder.missing:
        report.note(f"{encoder.missing:,} missing values (--missing {encoder.schema.missing})")


def _answers(model: Model, scores: bool, proba: bool) -> Answers | None:
    """What is written beside the label: of one unit the positive class's, of more each class's in class order."""
    if not scores and not proba:
        return None
    code, classes, learner = model.code(), model.schema.classes, model.learner()
    order = [0]
    if len(code) > 1:
        from bigclf.reading.labels import sort_key

        order = sorted(range(len(classes)), key=lambda k: sort_key(classes[k]))
    if scores:
        return lambda found: found[order]
    wanted = order if len(code) > 1 else [int(code[0].argmax())]
    return lambda found: np.exp(probability.logs(learner, code, found))[wanted]


def _lines(model: Model, encoder: Encoder, stream: Stream, answers: Answers | None, write: Write) -> int:
    code, names = model.code(), [c.encode() for c in model.schema.classes]
    due = done = 0  # the row that the next line is for; rows written
    for part in score(model, stream, encoder, labels=False):
        row = part.block.row
        line = None if row[0] == due and row[-1] - due == len(row) - 1 else _places(row - due)
        guess = decode(code, part.scores)
        write(value_lines(names, guess, answers(part.scores), line) if answers else label_lines(names, guess, line))
        due = int(row[-1]) + 1
        done += len(row)
    total = done + stream.skips.rows
    write(b"\n" * (total - due))  # rows skipped at the end
    return total


def _places(row: NDArray[np.int64]) -> Line:
    """For each line up to that of the last of these rows its position among them; -1 for rows that were skipped."""
    line = np.full(int(row[-1]) + 1, -1, np.int32)
    line[row] = np.arange(len(row))
    return line


@contextmanager
def _sink(output: Path | None) -> Iterator[Write]:
    """Standard output, or a file that appears once it is whole."""
    if output is None or str(output) == "-":
        if sys.stdout is None:
            raise BigclfError("standard output is closed; name a file with -o")
        out = sys.stdout.buffer
        start.stands("not all lines were written")
        yield out.write
        out.flush()
        start.stands("all lines were written")
        return
    with whole_file(output) as f:
        yield f.write
    start.stands(f"all lines are in {output}")
