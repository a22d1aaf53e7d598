"""The work of `bigclf cv`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf import start
from bigclf.cli.comparing import SHOWN, begun, measured, taught, tell_left_out
from bigclf.cli.entrants import entrants
from bigclf.cli.options import Given
from bigclf.cli.predicting import tell_read
from bigclf.cli.report import Report, emit, number, show, table
from bigclf.cli.session import refuse_idle
from bigclf.errors import DataError, Interrupted
from bigclf.limits import counted
from bigclf.reading.ahead import ahead
from bigclf.reading.schema import MAX_CLASSES
from bigclf.reading.source import find
from bigclf.training.judge import Judge
from bigclf.training.metrics import LogLoss, measures


def run(
    data: Sequence[str],
    algos: Sequence[str],
    folds: tuple[int, int, int],
    json: bool,
    quiet: bool,
    reading: Given,
    encoding: Given,
) -> None:
    """Train on all but each fold, test on it, and print the means. folds: runs, folds a run, seed."""
    report = Report(quiet)
    refuse_idle(encoding, find(data, reading.get("format", "auto")))
    contest, stream_rows = begun(data, entrants(algos, encoding), reading, encoding, folds)
    stopped = taught(contest, stream_rows, report)
    if stopped:
        raise Interrupted(
            "interrupted: of folds that were not trained to the end there is nothing to tell", 128 + stopped
        )
    again = contest.stream.again()
    judge = Judge(contest, again.skips)
    rows = judge.rows(ahead(iter(again), start.recheck))
    if rows < folds[1]:
        raise DataError(data[0], f"{counted(rows, 'row is', 'rows are')} too few for {folds[1]} folds")
    tell_left_out(contest, report)
    counts = np.max([np.sum([_truth(m) for m in each], axis=0) for each in judge.matrices], axis=0)  # of all runs
    occurs = np.flatnonzero(counts)
    told: list[dict[str, Any]] = []
    for entry, matrices, losses in zip(contest.entries, judge.matrices, judge.losses, strict=True):
        each = [_of_fold(m, loss, occurs) for m, loss in zip(matrices, losses, strict=True)]
        values = {name: [m[name] for m in each] for name in SHOWN}
        told.append(
            {
                "algorithm": entry.entrant.spec.name,
                "options": entry.entrant.options,
                "measures": {name: _spread(v) for name, v in values.items()},
                "values": values,
                "seconds": round(entry.seconds / len(matrices), 6),
            }
        )
    if json:
        emit(
            {"rows": rows, "skipped": contest.stream.skips.rows}
            | dict(zip(("runs", "folds", "seed"), folds, strict=True))
            | {"algorithms": told}
        )
    else:
        names = [n for n in SHOWN if n != "log_loss" or any(t["measures"][n]["mean"] is not None for t in told)]
        cells = [
            [
                f"{t['algorithm']} {t['options']}".rstrip(),
                *(f"{number(m['mean'])} ± {number(m['std'])}" for m in (t["measures"][n] for n in names)),
                f"{t['seconds']:.3g}",
            ]
            for t in told
        ]
        show(table(["algorithm", *(SHOWN[n] for n in names), "s a fold"], cells))
    tell_read(report, contest.stream, contest.lanes[0].encoder)
    few = [c for c, n in zip(contest.fit.classes, counts // folds[0], strict=False) if 0 < n < folds[1]]
    if few:
        report.note(
            f"fewer rows than folds: {', '.join(few[:10])}; folds without one have neither G-mean nor balanced accuracy"
        )
    report.note(f"{folds[0]} run{'s' * (folds[0] > 1)} of {folds[1]} folds; {report.speed(rows)}")


def _truth(matrix: NDArray[np.int64], size: int = MAX_CLASSES) -> NDArray[np.int64]:
    """(size,) rows of each class."""
    return np.pad(matrix.sum(axis=1), (0, size - len(matrix)))


def _of_fold(matrix: NDArray[np.int64], loss: LogLoss, occurs: NDArray[np.int64]) -> dict[str, float | None]:
    """The measures of a fold; means over the classes are not defined where it lacks one that occurs elsewhere."""
    made = measured(measures(matrix), loss)
    if not _truth(matrix)[occurs].all():
        made |= dict.fromkeys(("g_mean", "balanced_accuracy"))
    return made


def _spread(values: list[float | None]) -> dict[str, Any]:
    """Mean and standard deviation (n - 1) over the folds where the measure is defined."""
    known = [v for v in values if v is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
    }
