"""The work of `bigclf evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf import probability
from bigclf.cli.options import Given
from bigclf.cli.predicting import tell_read
from bigclf.cli.report import Report, emit, number, show, table
from bigclf.cli.session import no_rows, refuse_settled, scoring_stream
from bigclf.errors import BigclfError
from bigclf.limits import counted
from bigclf.model import load
from bigclf.reading.encode import Encoder
from bigclf.reading.labels import sort_key
from bigclf.training.metrics import Curve, LogLoss, Measures, add_pairs, measures
from bigclf.training.score import score
from bigclf.units import decode

SHOWN_CLASSES = 20  # in the confusion matrix as text; --json has all


def run(path: Path, data: Sequence[str], json: bool, quiet: bool, reading: Given) -> None:
    """Score all rows and print the measures."""
    report = Report(quiet)
    model = load(path)
    refuse_settled(model, reading)
    stream = scoring_stream(model, data, reading, labels=True, curve=True)
    encoder = Encoder(model.schema, stream.skips, frozen=True, capacity=model.cols)
    code = model.code()
    known = len(model.schema.classes)
    matrix: NDArray[np.int64] = np.zeros((known, known), np.int64)
    curve, loss, learner = Curve(len(code)), LogLoss(), model.learner()
    rows = 0
    for part in score(model, stream, encoder):
        y = part.block.y
        matrix = add_pairs(matrix, y, decode(code, part.scores))
        old = y < known  # a class that the model has not seen is no unit's positive class
        curve.add(part.scores[:, old], code[:, y[old]] > 0)
        if probability.known(learner):
            loss.add(probability.losses(learner, code, part.scores, y))
        rows += len(y)
    if not rows:
        raise no_rows(stream.sources, stream.skips)
    if not matrix[:known].any():
        mine, theirs = (
            ", ".join(sorted(encoder.classes[:known], key=sort_key)[:5]),
            ", ".join(encoder.classes[known:][:5]),
        )
        raise BigclfError(f"{path}: knows the classes {mine}, and the data has only {theirs}; is --label right?")
    order = sorted(range(len(matrix)), key=lambda k: sort_key(encoder.classes[k]))
    names = [encoder.classes[k] for k in order]
    m = measures(matrix[np.ix_(order, order)])
    area, bound = curve.area()
    new = list(encoder.classes[known:])
    if json:
        emit(_document(m, area, bound, loss.mean(), names, matrix[np.ix_(order, order)], stream.skips.rows, new))
    else:
        _tables(m, area, bound, loss.mean(), names, matrix[np.ix_(order, order)])
    tell_read(report, stream, encoder)
    tell_new_classes(report, encoder)
    report.note(f"{counted(rows, 'row')}, {report.speed(rows)}")


def tell_new_classes(report: Report, encoder: Encoder) -> None:
    """Classes of the data that the model has not seen."""
    new = encoder.classes[len(encoder.schema.classes) :]
    if new:
        report.note(f"classes that the model has not seen, always wrong: {', '.join(new[:10])}")


def _document(
    m: Measures,
    area: float | None,
    bound: float | None,
    loss: float | None,
    names: list[str],
    matrix: NDArray[np.int64],
    skipped: int,
    new: list[str],
) -> dict[str, Any]:
    document = {k: v for k, v in m._asdict().items() if k != "classes"}
    each = {name: c._asdict() for name, c in zip(names, m.classes, strict=True)}
    return document | {
        "auc": area,
        "auc_error_bound": bound,
        "log_loss": loss,
        "skipped": skipped,
        "unseen_classes": new,
        "classes": names,
        "per_class": each,
        "confusion": matrix.tolist(),
    }


def _tables(
    m: Measures,
    area: float | None,
    bound: float | None,
    loss: float | None,
    names: list[str],
    matrix: NDArray[np.int64],
) -> None:
    auc = number(area) if bound is None else f"{number(area)} ± {bound:.1g}"
    top = [
        ("rows", f"{m.rows:,}"),
        ("accuracy", number(m.accuracy)),
        ("balanced accuracy", number(m.balanced_accuracy)),
        ("G-mean", number(m.g_mean)),
        ("kappa", number(m.kappa)),
        ("MCC", number(m.mcc)),
        ("AUC" if len(names) <= 2 else "AUC, mean over classes", auc),
        *([("log-loss", number(loss))] if loss is not None else []),
        ("macro precision", number(m.macro_precision)),
        ("macro recall", number(m.macro_recall)),
        ("macro F1", number(m.macro_f1)),
    ]
    each = [
        [name, f"{c.support:,}", number(c.precision), number(c.recall), number(c.f1)]
        for name, c in zip(names, m.classes, strict=True)
    ]
    parts: list[Any] = [
        table(["measure", "value"], [list(r) for r in top]),
        "",
        "By class",
        table(["class", "rows", "precision", "recall", "F1"], each),
        "",
    ]
    if len(names) <= SHOWN_CLASSES:
        cells = [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix.tolist(), strict=True)]
        parts += ["Confusion matrix (rows: truth, columns: prediction)", table(["", *names], cells)]
    else:
        parts.append(f"Confusion matrix: {len(names)} classes; --json has it")
    show(*parts)
