"""The work of `bigclf train`: from options and the head to a fit, from the rows to a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bigclf.algorithms import registry
from bigclf.cli.options import Given
from bigclf.cli.report import Report, brief, emit
from bigclf.cli.session import kept, kinds_of, no_rows, read_options
from bigclf.cli.summary import document, tell
from bigclf.core import Spec
from bigclf.errors import BigclfError, UsageError
from bigclf.model import Model, load, save, writable
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, collect, make_schema
from bigclf.reading.labels import canonical
from bigclf.reading.raw import Raw
from bigclf.reading.source import Source, find
from bigclf.reading.stream import Stream
from bigclf.training.budget import max_column
from bigclf.training.fit import Fit
from bigclf.training.metrics import measures

TELL_ROWS, TELL_SECONDS = 10_000, 2.0  # running measures: when the rows have doubled, but not more often than this
SORTED_ROWS = 100  # so many rows in order of their classes are no accident


@dataclass(frozen=True)
class Job:
    """What the user asked for."""

    data: Sequence[str]
    algo: str | None  # None: the model to go on from decides
    output: Path
    passes: int
    go_on: Path | None
    json: bool
    reading: Given
    encoding: Given
    params: Given


class Numbered:
    """A stream whose rows are counted, skipped ones included."""

    def __init__(self, rows: Iterator[Raw]) -> None:
        self._rows = rows
        self.rows = 0

    def __iter__(self) -> Iterator[Raw]:
        for raw in self._rows:
            self.rows = int(raw.row[-1]) + 1
            yield raw


def run(job: Job, report: Report) -> None:
    """Train, save, and tell."""
    if job.algo is not None:
        registry.get(job.algo)
    sources = find(job.data, job.reading.get("format", "auto"))
    if job.passes > 1 and any(s.path == "-" for s in sources):
        raise UsageError("--passes: standard input can be read once only; write it to a file first")
    writable(job.output)
    old = _earlier(job) if job.go_on is not None else None
    spec = old.spec if old else registry.get(job.algo or "")
    passes = job.passes
    if passes > 1 and spec.one_pass:
        report.note(f"{spec.name} is exact after one pass; the other {passes - 1} are left out")
        passes = 1
    stream, rows, fit = _continued(job, sources, old) if old else _fresh(job, sources, spec, report)

    base = old.rows if old else 0
    seen = Numbered(rows)
    show = _teller(fit, report)
    fit.run(seen, show, base)
    if not fit.rows:
        raise no_rows(sources) if not stream.skips.rows else BigclfError(f"{sources[0].path}: every row was skipped")
    first, learned = measures(fit.matrix), fit.rows
    counts = fit.counts.copy()
    for k in range(1, passes):
        base += seen.rows
        fit.matrix[:] = 0
        seen = Numbered(iter(stream.again()))
        fit.run(seen, show, base)
        report.note(f"pass {k + 1}: {brief(measures(fit.matrix))}")
    fit.counts = counts

    kinds = stream.kinds
    options = kinds.named(stream.options) if kinds is not None else stream.options
    model = fit.model(kept(options), base + seen.rows, passes)
    save(job.output, model)
    report.notices(stream.notices)
    report.skipped(stream.skips)
    tell(report, fit, first, learned, model, job.output)
    if job.json:
        emit(document(report, fit, first, learned, model, job.output, stream.skips.rows))


def _fresh(job: Job, sources: list[Source], spec: Spec, report: Report) -> tuple[Stream, Iterator[Raw], Fit]:
    """A new learner for a stream, by what its head shows."""
    encoding = job.encoding
    bits = encoding.get("hash_bits", 0)
    options = read_options(job.reading, hash_bits=bits, max_column=max_column())
    stream = Stream(sources, options, limit=job.reading.get("limit", 0))
    head, rest = collect(iter(stream))
    if not head:
        raise no_rows(sources)
    params = {name.replace("_", "-"): value for name, value in job.params.items()}
    positive = canonical(encoding["positive"]) if "positive" in encoding else None
    wishes = Wishes(
        scale=encoding.get("scale", spec.scale),
        solve_scaling=spec.solve_scaling is not None and spec.solve_scaling(params),
        missing=encoding.get("missing", "mean"),
        dtype=encoding.get("dtype", "float32"),
        bias=encoding.get("bias", True),
        hash_bits=bits,
        classes=tuple(canonical(c) for c in encoding.get("classes", "").split(",") if c.strip()),
        positive=positive,
    )
    kinds = stream.kinds
    schema = make_schema(head, kinds.label if kinds is not None else None, wishes, stream.notices)
    if positive is not None and positive not in schema.classes:
        names = ", ".join(schema.classes[:10])
        raise BigclfError(f"--positive: class '{positive}' is not among {names}; declare it with --classes")
    fit = Fit(spec, params, Encoder(schema, stream.skips))
    _warn_sorted(head, fit, report)
    return stream, chain(head, rest), fit


def _continued(job: Job, sources: list[Source], old: Model) -> tuple[Stream, Iterator[Raw], Fit]:
    """The learner of a model, for rows that are new to it; they are read as its own were."""
    options = read_options(job.reading, old.reading, max_column=max_column())
    kinds = kinds_of(old.schema, options)
    if kinds is not None and "label" in job.reading:
        kinds = replace(kinds, label=job.reading["label"])
    stream = Stream(sources, options, kinds, job.reading.get("limit", 0))
    fit = Fit(old.spec, old.params, Encoder(old.schema, stream.skips, capacity=old.cols), old.state)
    return stream, iter(stream), fit


def _earlier(job: Job) -> Model:
    """The model to go on from; refuses options that would contradict it."""
    assert job.go_on is not None
    old = load(job.go_on)
    if job.algo is not None and job.algo != old.algorithm:
        raise BigclfError(
            f"{job.go_on}: holds {old.algorithm}, which {job.algo} cannot go on from; name --algo {old.algorithm}"
        )
    defaults = {p.name: p.default for p in old.spec.params}
    have: dict[str, Any] = {name: old.params.get(name, default) for name, default in defaults.items()}
    have |= {k: getattr(old.schema, k) for k in ("scale", "missing", "hash_bits", "dtype", "bias", "positive")}
    for name, value in {**job.params, **job.encoding}.items():
        key = name if name in have else name.replace("_", "-")
        if key in have and have[key] != value:
            raise BigclfError(f"{job.go_on}: was trained with --{name.replace('_', '-')} {have[key]}, not {value}")
    return old


def _warn_sorted(head: list[Raw], fit: Fit, report: Report) -> None:
    """Rows sorted by class ruin a learner that goes row by row."""
    labels = np.concatenate([r.label.code for r in head if r.label is not None])
    changes = int((np.diff(labels) != 0).sum())
    kinds = len(np.unique(labels))
    if fit.learner.grain == "row" and len(labels) >= SORTED_ROWS and kinds > 1 and changes == kinds - 1:
        report.note("the first rows are sorted by class, which ruins learning row by row; shuffle the file first")


def _teller(fit: Fit, report: Report) -> Callable[[], None]:
    """Tells the running measures now and then."""
    due = [TELL_ROWS, time.monotonic() + TELL_SECONDS]

    def tell_now() -> None:
        if fit.rows >= due[0] and time.monotonic() >= due[1]:
            report.note(f"{fit.rows:>12,} rows: {brief(measures(fit.matrix))}")
            due[:] = [2 * fit.rows, time.monotonic() + TELL_SECONDS]

    return tell_now
