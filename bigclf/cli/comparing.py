"""The work of `bigclf compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from bigclf import start
from bigclf.cli.entrants import entrants
from bigclf.cli.evaluating import tell_new_classes
from bigclf.cli.options import Given
from bigclf.cli.predicting import tell_read
from bigclf.cli.progress import Progress
from bigclf.cli.report import Report, emit, number, show, table
from bigclf.cli.session import cap_of, kept_reading, no_rows, read_options, scoring_stream
from bigclf.errors import UsageError
from bigclf.files import writable
from bigclf.limits import human
from bigclf.model import save
from bigclf.reading.ahead import ahead
from bigclf.reading.head import collect
from bigclf.reading.raw import Raw
from bigclf.reading.source import find
from bigclf.reading.stream import Stream
from bigclf.training.contest import Contest, Entry
from bigclf.training.judge import Judge
from bigclf.training.metrics import Measures, measures

SHOWN = {"error": "error", "g_mean": "G-mean", "kappa": "kappa", "balanced_accuracy": "balanced"}
SMALLER = ("error",)  # is better


def begun(
    data: Sequence[str],
    algos: Sequence[str],
    reading: Given,
    encoding: Given,
    folds: tuple[int, int, int] | None = None,
) -> tuple[Contest, Iterator[Raw]]:
    """A contest of these algorithms over the inputs, and all rows. Raises DataError where there is none."""
    wanted = entrants(algos, encoding)
    sources = find(data, reading.get("format", "auto"))
    if folds and any(s.size is None for s in sources):
        raise UsageError("cv: reads the data twice, and pipes can be read once only; use a file")
    options = read_options(reading, sources, hash_bits=encoding.get("hash_bits", 0))
    stream = Stream(sources, options, limit=reading.get("limit", 0))
    head, rest = collect(iter(stream))
    if not head:
        raise no_rows(sources, stream.skips)
    return Contest(wanted, stream, head, cap_of(reading), folds), chain(head, rest)


def taught(contest: Contest, rows: Iterator[Raw], report: Report) -> None:
    """Let all learn from all rows; tells how it is getting on."""
    with Progress(report, contest, "auto", None) as progress:
        for raw in ahead(rows, start.recheck):
            contest.learn(raw)
            progress.tick()
        contest.end()
    if not contest.learned:
        raise no_rows(contest.stream.sources, contest.stream.skips)


def run(
    data: Sequence[str],
    algos: Sequence[str],
    test: Sequence[str],
    by: str,
    output: Path | None,
    json: bool,
    quiet: bool,
    reading: Given,
    encoding: Given,
) -> None:
    """Train all, judge all, and print the table, best first."""
    report = Report(quiet)
    if output is not None:
        writable(output, [*data, *test])
    if test:
        find(test, reading.get("format", "auto"))  # a name that is wrong is told before the work
    contest, rows = begun(data, algos, reading, encoding)
    taught(contest, rows, report)
    kept = kept_reading(contest.stream)
    told = [_facts(entry) for entry in contest.entries]
    if test:
        held = scoring_stream(contest.fit.model(kept, contest.fit.next_row, 1), test, reading, labels=True)
        judge = Judge(contest, held.skips)
        if not judge.rows(ahead(iter(held), start.recheck)):
            raise no_rows(held.sources, held.skips)
        for facts, matrices in zip(told, judge.matrices, strict=True):
            facts["test"] = measured(measures(matrices[0]))
        tell_read(report, held, judge.encoders[0])
        tell_new_classes(report, judge.encoders[0])
    order = sorted(range(len(told)), key=lambda k: _rank(told[k]["test" if test else "progressive"][by], by))
    ranked = [told[k] for k in order]
    if json:
        emit({"rows": contest.learned, "skipped": contest.stream.skips.rows, "algorithms": ranked})
    else:
        _table(ranked, by)
    tell_read(report, contest.stream, contest.lanes[0].encoder)
    report.note(report.speed(contest.learned))
    if output is not None:
        best = contest.entries[order[0]]
        save(output, best.fits[0].model(kept, best.fits[0].next_row, 1))
        report.note(f"model: {output} ({best.entrant.title})")


def measured(m: Measures) -> dict[str, float | None]:
    """The measures of a leaderboard by name, with the number of rows."""
    return {"rows": m.rows} | {name: getattr(m, name) for name in SHOWN}


def _facts(entry: Entry) -> dict[str, Any]:
    fit = entry.fits[0]
    return {
        "algorithm": entry.entrant.spec.name,
        "options": entry.entrant.options,
        "progressive": measured(measures(fit.matrix)),
        "microseconds_per_row": round(1e6 * entry.per_row(), 4),
        "state_bytes": fit.nbytes(),
    }


def _rank(value: float | None, by: str) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None else value if by in SMALLER else -value)


def _table(ranked: list[dict[str, Any]], by: str) -> None:
    names = [n for n in SHOWN if n != "balanced_accuracy" or by == n]
    parts = [p for p in ("progressive", "test") if p in ranked[0]]
    titles = [SHOWN[n] if part == "progressive" else f"test {SHOWN[n]}" for part in parts for n in names]
    rows = [
        [
            f"{r['algorithm']} {r['options']}".rstrip(),
            *(number(r[part][n]) for part in parts for n in names),
            f"{r['microseconds_per_row']:.3g}",
            human(r["state_bytes"]),
        ]
        for r in ranked
    ]
    show(table(["algorithm", *titles, "us a row", "memory"], rows))
