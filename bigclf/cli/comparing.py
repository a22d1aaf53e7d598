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
from bigclf.cli.report import Report, emit, number, pulled, show, table
from bigclf.cli.session import cap_of, idle, kept_reading, no_rows, read_options, scoring_stream
from bigclf.errors import NO_RESULTS, BigclfError, Interrupted, UsageError
from bigclf.files import writable
from bigclf.limits import counted, human
from bigclf.model import save
from bigclf.probability import known
from bigclf.reading.ahead import ahead
from bigclf.reading.encode import Encoder
from bigclf.reading.head import collect
from bigclf.reading.raw import Raw, Skips
from bigclf.reading.source import find
from bigclf.reading.stream import Stream
from bigclf.training.contest import Contest, Entrant, Entry
from bigclf.training.interrupt import Interrupt, Stop
from bigclf.training.judge import Judge
from bigclf.training.metrics import LogLoss, Measures, measures

SHOWN = {
    "error": "error",
    "g_mean": "G-mean",
    "kappa": "kappa",
    "balanced_accuracy": "balanced",
    "log_loss": "log-loss",
}
SMALLER = ("error", "log_loss")  # is better


def begun(
    data: Sequence[str],
    wanted: Sequence[Entrant],
    reading: Given,
    encoding: Given,
    folds: tuple[int, int, int] | None = None,
) -> tuple[Contest, Iterator[Raw]]:
    """A contest of these algorithms over the inputs, and all rows. Raises DataError where there is none."""
    sources = find(data, reading.get("format", "auto"))
    if folds and any(s.size is None for s in sources):
        raise UsageError("cv: reads the data twice, and pipes can be read once only; use a file")
    options = read_options(reading, sources, hash_bits=encoding.get("hash_bits", 0))
    stream = Stream(sources, options, limit=reading.get("limit", 0))
    head, rest = collect(iter(stream))
    if not head:
        raise no_rows(sources, stream.skips)
    return Contest(wanted, stream, head, cap_of(reading), folds), chain(head, rest)


def taught(contest: Contest, rows: Iterator[Raw], report: Report) -> int:
    """Let all learn from all rows; tells how it is getting on. The number of the signal that ended it early, or 0."""
    stopped = 0
    with Progress(report, contest, "auto", None) as progress, Interrupt() as interrupt:
        try:
            for raw in ahead(rows, interrupt.check):
                contest.learn(raw)
                interrupt.busy = True
                progress.tick()
                interrupt.check()
        except Stop as stop:
            stopped = stop.number
            if stop.at_once or not contest.learned:
                raise Interrupted(f"interrupted; {NO_RESULTS}", 128 + stopped) from None
        contest.end()
    if not contest.learned:
        raise no_rows(contest.stream.sources, contest.stream.skips)
    if len(contest.fit.classes) == 1:
        report.note("only one class in the data: there is nothing to tell apart")
    return stopped


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
    own = _own(data, test, output, reading, encoding)
    contest, rows = begun(data, entrants(algos, encoding), own, encoding)
    if by == "log_loss" and not any(known(entry.learner) for entry in contest.entries):
        raise UsageError("--by log_loss: none of these algorithms has probabilities; logistic, for one, does")
    kept = kept_reading(contest.stream)
    held = _held_out(contest, kept, test, reading) if test else None
    stopped = taught(contest, rows, report)
    told = [_facts(entry) for entry in contest.entries]
    if held is not None and not stopped:
        _judge(contest, held, told, report)
    ranked_by = "test" if held is not None and not stopped else "progressive"
    tell_left_out(contest, report)
    order = sorted(range(len(told)), key=lambda k: _rank(told[k][ranked_by][by], by))
    ranked = [told[k] for k in order]
    if json:
        emit({"rows": contest.learned, "skipped": contest.stream.skips.rows, "algorithms": ranked})
    else:
        _table(ranked, by)
    tell_read(report, contest.stream, contest.lanes[0].encoder)
    report.note(report.speed(contest.learned))
    if len({t["progressive"]["rows"] for t in told}) > 1 and ranked_by == "progressive":
        report.note("not all have progressive measures of all rows: --test ranks by the same rows for all")
    if output is not None:
        best = contest.entries[order[0]]
        save(output, best.fits[0].model(kept, best.fits[0].next_row, 1))
        report.note(f"model: {output} ({best.entrant.title})")
    if stopped:
        raise Interrupted(f"interrupted: all this is of the first {counted(contest.learned, 'row')}", 128 + stopped)


def _own(data: Sequence[str], test: Sequence[str], output: Path | None, reading: Given, encoding: Given) -> Given:
    """The reading options that say something of the data. Raises UsageError for one that says nothing of --test either.

    --missing says something of tables that the model may read later.
    """
    form, given = reading.get("format", "auto"), reading | encoding
    mine = idle(given, find(data, form))
    theirs = idle(given, find(test, form)) if mine and test else mine
    for name, why in mine.items():
        if name in theirs and (name != "missing" or output is None):
            raise UsageError(why)
    return {name: value for name, value in reading.items() if name not in mine}


def tell_left_out(contest: Contest, report: Report) -> None:
    """The entrants that could not go on, and why."""
    for entry in contest.entries:
        if entry.fault is not None:
            report.fault(f"{entry.entrant.title}: left out: {entry.fault}")


def _held_out(contest: Contest, kept: Given, test: Sequence[str], reading: Given) -> Stream:
    """The rows of --test; what they lack is told before the work."""
    other = idle(reading, find(test, reading.get("format", "auto")))  # what is meant for the data
    given = {k: v for k, v in reading.items() if k != "limit" and k not in other}

    def opened() -> Stream:
        return scoring_stream(contest.fit.unfinished(kept, 0, 1), test, given, labels=True)

    if "-" not in test:
        look = opened()
        first = next(iter(look), None)
        if first is None:
            raise no_rows(look.sources, look.skips)
        for lane in contest.lanes:
            next(Encoder(lane.encoder.schema, Skips(stop=False), frozen=True).blocks(first), None)
    return opened()


def _judge(contest: Contest, held: Stream, told: list[dict[str, Any]], report: Report) -> None:
    """Add what all answer for the rows of --test."""
    judge = Judge(contest, held.skips)
    rows = judge.rows(ahead(iter(held), start.recheck))
    if not rows:
        raise no_rows(held.sources, held.skips)
    known = len(contest.fit.classes)
    if not any(m[0][:known].any() for m in judge.matrices):
        theirs = ", ".join(judge.encoders[0].classes[known:][:5])
        raise BigclfError(f"--test: holds only the classes {theirs}, which the data has not; is --label right?")
    for facts, matrices, losses in zip(told, judge.matrices, judge.losses, strict=True):
        facts["test"] = measured(measures(matrices[0]), losses[0])
        facts["test_skipped"] = held.skips.rows
    report.note(counted(rows, "test row"))
    tell_read(report, held, judge.encoders[0])
    tell_new_classes(report, judge.encoders[0])


def measured(m: Measures, loss: LogLoss | None) -> dict[str, float | None]:
    """The measures of a leaderboard by name, with the number of rows."""
    found = m._asdict() | {"log_loss": loss and loss.mean()}
    return {name: found[name] for name in ("rows", *SHOWN)}


def _facts(entry: Entry) -> dict[str, Any]:
    fit = entry.fits[0]
    return {
        "algorithm": entry.entrant.spec.name,
        "options": entry.entrant.options,
        "progressive": measured(measures(fit.matrix), fit.loss),
        "gradient": fit.gradient(),
        "microseconds_per_row": round(1e6 * entry.per_row(), 4),
        "state_bytes": fit.held(),
    }


def _rank(value: float | None, by: str) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None else value if by in SMALLER else -value)


def _table(ranked: list[dict[str, Any]], by: str) -> None:
    parts = [p for p in ("progressive", "test") if p in ranked[0]]
    some = [n for n in SHOWN if n != "log_loss" or any(r[p][n] is not None for r in ranked for p in parts)]
    names = [n for n in some if n != "balanced_accuracy" or by == n]
    titles = [SHOWN[n] if part == "progressive" else f"test {SHOWN[n]}" for part in parts for n in names]
    pulls = any(r["gradient"] is not None for r in ranked)
    rows = [
        [
            f"{r['algorithm']} {r['options']}".rstrip(),
            *(number(r[part][n]) for part in parts for n in names),
            f"{r['microseconds_per_row']:.3g}",
            human(r["state_bytes"]),
            *([pulled(r["gradient"])] if pulls else []),
        ]
        for r in ranked
    ]
    show(table(["algorithm", *titles, "us a row", "memory", *(["gradient by class"] if pulls else [])], rows))
