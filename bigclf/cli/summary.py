"""What `bigclf train` tells at its end, to people and to programs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from bigclf.algorithms.normal_equations import SPARSE_SOLVES
from bigclf.cli.report import Report, brief, facts, peak_mib, pulled
from bigclf.core import TILE
from bigclf.limits import counted
from bigclf.model import Model
from bigclf.reading.labels import sort_key
from bigclf.training.metrics import Measures, measures
from bigclf.training.run import Run

SHOWN = 10  # classes


def tell(report: Report, run: Run, model: Model, output: Path) -> None:
    """The summary on standard error; measures and counts are of the first pass."""
    if report.quiet:
        return
    found, schema = run.measured(), model.schema
    first, rows = _measures(found), int(found["rows"])
    counts = sorted(found["counts"].items(), key=lambda c: sort_key(c[0]))
    shown = ", ".join(f"{name}: {n:,}" for name, n in counts[:SHOWN]) + (", ..." if len(counts) > SHOWN else "")
    features = f"{counted(schema.count(), 'feature')} ({schema.layout} rows)"
    report.note(f"{counted(rows, 'row')}, {features}, {counted(len(counts), 'class', 'classes')} ({shown})")
    if sum(n > 0 for n in model.counts.values()) == 1:
        report.note("only one class in the data: the model can predict nothing else until --continue shows it more")
    if found["missing"]:
        report.note(f"{counted(found['missing'], 'missing value')} (--missing {schema.missing})")
    for name, n in found["unseen"].items():
        report.note(
            f"column '{name}': {counted(n, 'row has', 'rows have')} a category that the first rows did not; "
            "it weighs nothing"
        )
    if run.fit.spec.balances and isinstance(model.class_weight, dict) and len(model.schema.classes) < 3:
        report.note(f"{model.algorithm} weighs two classes alike whatever --class-weight LABEL=W says")
    for option, (word, number) in run.fit.settled.items():
        report.note(f"--{option} {word}: {number:,}")
    if run.fit.promoted:
        report.note("a class came late: the units of one against all started from the model of two classes")
    if schema.positive is not None and len(schema.classes) > 2:
        report.note("--positive says nothing any more: a third class came")
    if first.rows:
        late = (
            "" if first.rows == rows else f" (of the {counted(first.rows, 'row')} that came after the first solution)"
        )
        report.note(f"progressive: {brief(first)}{late}")
    elif run.fit.learner.grain == "end":
        report.note(f"progressive: n/a ({model.algorithm} has no answer before the end)")
    else:
        due = max(TILE, SPARSE_SOLVES * run.fit.shape.cols)
        report.note(f"progressive: n/a (the first solution comes after {due:,} rows)")
    gradient = run.fit.gradient()
    if gradient is not None:
        report.note(f"gradient by class: {pulled(gradient, SHOWN)}")
    told = model.told()
    if told is not None:
        report.note(facts(told))
    for doubt in run.fit.learner.doubts(model.state, model.schema.classes) if run.fit.learner.doubts else ():
        report.note(doubt)
    if run.passes > 1:
        last = measures(run.fit.matrix)
        report.note(f"pass {run.passes}: {brief(last)}")
    report.note(report.speed(run.fit.rows))
    report.note(f"model: {output}")


def _measures(found: dict[str, Any]) -> Measures:
    return measures(np.array(found["matrix"], np.int64))


def document(report: Report, run: Run, model: Model, output: Path) -> dict[str, Any]:
    """The same for --json."""
    found = run.measured()
    first, rows = _measures(found), int(found["rows"])
    seconds = time.monotonic() - report.began
    progressive = ("rows", "error", "g_mean", "kappa", "balanced_accuracy")
    return {
        "model": str(output),
        "algorithm": model.algorithm,
        "params": model.params,  # numbers, where a word was given
        "rows": rows,
        "skipped": found["skipped"],
        "missing": found["missing"],
        "features": model.schema.count(),
        "classes": sorted(model.schema.classes, key=sort_key),
        "counts": found["counts"],
        "progressive": {name: getattr(first, name) for name in progressive},
        "gradient": run.fit.gradient(),
        "told": model.told(),
        "seconds": round(seconds, 3),
        "rows_per_second": round(run.fit.rows / max(seconds, 1e-9), 1),
        "peak_memory_mib": round(peak_mib(), 1),
    }
