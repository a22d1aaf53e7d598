"""The work of `bigclf cv`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from bigclf import start
from bigclf.cli.comparing import SHOWN, begun, measured, taught
from bigclf.cli.options import Given
from bigclf.cli.predicting import tell_read
from bigclf.cli.report import Report, emit, number, show, table
from bigclf.errors import DataError
from bigclf.reading.ahead import ahead
from bigclf.training.judge import Judge
from bigclf.training.metrics import measures


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
    contest, stream_rows = begun(data, algos, reading, encoding, folds)
    taught(contest, stream_rows, report)
    again = contest.stream.again()
    judge = Judge(contest, again.skips)
    rows = judge.rows(ahead(iter(again), start.recheck))
    if rows < folds[1]:
        raise DataError(data[0], f"{rows} rows are too few for {folds[1]} folds")
    told: list[dict[str, Any]] = []
    for entry, matrices in zip(contest.entries, judge.matrices, strict=True):
        each = [measured(measures(m)) for m in matrices]
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
        cells = [
            [
                f"{t['algorithm']} {t['options']}".rstrip(),
                *(f"{number(m['mean'])} ± {number(m['std'])}" for m in t["measures"].values()),
                f"{t['seconds']:.3g}",
            ]
            for t in told
        ]
        show(table(["algorithm", *SHOWN.values(), "s a fold"], cells))
    tell_read(report, contest.stream, contest.lanes[0].encoder)
    counts = sum(m.sum(axis=1) for m in judge.matrices[0][: folds[1]])
    few = [c for c, n in zip(contest.fit.classes, counts, strict=False) if n < folds[1]]
    if few:
        report.note(f"fewer rows than folds, so not in every fold: {', '.join(few[:10])}")
    report.note(f"{folds[0]} runs of {folds[1]} folds; {report.speed(rows)}")


def _spread(values: list[float | None]) -> dict[str, Any]:
    """Mean and standard deviation (n - 1) over the folds where the measure is defined."""
    known = [v for v in values if v is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
    }
