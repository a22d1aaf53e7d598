"""The work of `bigclf cv`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import chain
from typing import Any

from bigclf import start
from bigclf.cli.comparing import SHOWN, measured, opened, taught
from bigclf.cli.entrants import entrants
from bigclf.cli.options import Given
from bigclf.cli.report import Report, emit, number, show, table
from bigclf.cli.session import cap_of, no_rows
from bigclf.errors import DataError, UsageError
from bigclf.reading.ahead import ahead
from bigclf.training.contest import Contest
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
    wanted = entrants(algos, encoding)
    stream, head, rest = opened(data, reading, encoding)
    if any(s.size is None for s in stream.sources):
        raise UsageError("cv: reads the data twice, and pipes can be read once only; use a file")
    contest = Contest(wanted, stream, head, cap_of(reading), folds)
    taught(contest, chain(head, rest), report)
    again = stream.again()
    judge = Judge(contest, again.skips)
    rows = judge.rows(ahead(iter(again), start.recheck))
    if rows < folds[1]:
        raise no_rows(stream.sources, stream.skips) if not rows else DataError(data[0], f"{rows} rows are too few")
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
                "seconds": round(entry.seconds(rows * (1 - 1 / folds[1])), 6),
            }
        )
    if json:
        emit(
            {"rows": rows, "skipped": stream.skips.rows}
            | dict(zip(("runs", "folds", "seed"), folds, strict=True))
            | {"algorithms": told}
        )
    else:
        cells = [
            [
                " ".join(filter(None, (t["algorithm"], t["options"]))),
                *(f"{number(m['mean'])} ± {number(m['std'])}" for m in t["measures"].values()),
                f"{t['seconds']:.3g}",
            ]
            for t in told
        ]
        show(table(["algorithm", *SHOWN.values(), "s a fold"], cells))
    report.notices(stream.notices)
    report.skipped(stream.skips)
    report.note(f"{folds[0]} runs of {folds[1]} folds; {report.speed(rows)}")


def _spread(values: list[float | None]) -> dict[str, Any]:
    """Mean and standard deviation (n - 1) over the folds where the measure is defined."""
    known = [v for v in values if v is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
    }
