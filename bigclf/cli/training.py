"""The work of `bigclf train`: options and head to schema, rows to model, and what is said on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from bigclf.algorithms import registry
from bigclf.cli.options import Given
from bigclf.cli.report import Report, brief, emit, peak_mib
from bigclf.cli.session import kept, kinds_of, no_rows, read_options
from bigclf.core import Spec
from bigclf.errors import BigclfError, UsageError
from bigclf.model import Model, load, save, writable
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, collect, make_schema
from bigclf.reading.labels import canonical, sort_key
from bigclf.reading.raw import Raw
from bigclf.reading.source import Source, find
from bigclf.reading.stream import Stream
from bigclf.training.budget import max_column
from bigclf.training.fit import Fit
from bigclf.training.metrics import Measures, measures

TELL_ROWS, TELL_SECONDS = 10_000, 2.0  # running measures: when the rows have doubled, but not more often than this
SORTED_ROWS = 100


def run(
    data: Sequence[str],
    algo: str | None,
    output: Path,
    passes: int,
    go_on: Path | None,
    json: bool,
    quiet: bool,
    reading: Given,
    encoding: Given,
    params: Given,
) -> None:
    """Train and save; `algo` is None when the model to go on from decides."""
    report = Report(quiet)
    if algo is not None:
        registry.get(algo)
    sources = find(data, reading.get("format", "auto"))
    if passes > 1 and any(s.path == "-" for s in sources):
        raise UsageError("--passes: standard input can be read once only; write it to a file first")
    writable(output)
    old = _earlier(go_on, algo, encoding, params) if go_on is not None else None
    spec = old.spec if old else registry.get(algo or "")
    params = old.params if old else {k.replace("_", "-"): v for k, v in params.items()}
    if passes > 1 and spec.one_pass:
        report.note(f"{spec.name} is exact after one pass; the other {passes - 1} are left out")
        passes = 1
    hash_bits = encoding.get("hash_bits", 0)
    options = read_options({**reading, "hash_bits": hash_bits}, old.reading if old else None, max_column=max_column())

    stream = Stream(sources, options, kinds_of(old.schema) if old else None, reading.get("limit", 0))
    rows: Iterator[Raw] = iter(stream)
    if old:
        encoder, fit = _resumed(old, spec, stream)
    else:
        head, rest = collect(rows)
        if not head:
            raise no_rows(sources)
        encoder = _encoder(head, stream, spec, params, encoding, report)
        fit = Fit(spec, params, encoder)
        _warn_sorted(head, fit, report)
        rows = chain(head, rest)
        del head
    tell = _teller(fit, report)
    base = old.rows if old else 0
    first: Measures | None = None
    seen = _last(rows)
    fit.run(seen, tell, base)
    if not seen.rows:
        raise no_rows(sources)
    one_pass, counts = fit.rows, fit.counts.copy()
    if not one_pass:
        raise BigclfError(f"{sources[0].path}: every row was skipped; no model was written")
    first = measures(fit.matrix)
    skips, notices = stream.skips, stream.notices
    for k in range(1, passes):
        base += seen.rows
        fit.matrix[:] = 0
        again = Stream(sources, options, stream.kinds, reading.get("limit", 0))
        again.skips.stop = stream.skips.stop
        seen = _last(iter(again))
        fit.run(seen, tell, base)
        report.note(f"pass {k + 1}: {brief(measures(fit.matrix))}")
    fit.counts = counts
    model = fit.model(kept(options), base + seen.rows, passes)
    save(output, model)
    report.notices(notices)
    report.skipped(skips)
    _summary(report, fit, first, one_pass, model, output, sources)
    if json:
        emit(_document(report, fit, first, one_pass, model, output, skips.rows))


class _last:
    """Counts the rows of a stream, skipped ones included."""

    def __init__(self, rows: Iterator[Raw]) -> None:
        self._rows = rows
        self.rows = 0

    def __iter__(self) -> Iterator[Raw]:
        for raw in self._rows:
            self.rows = int(raw.row[-1]) + 1
            yield raw


def _earlier(path: Path, algo: str | None, encoding: Given, params: Given) -> Model:
    """The model to go on from; refuses options that would contradict it."""
    old = load(path)
    if algo is not None and algo != old.algorithm:
        raise BigclfError(f"{path}: holds {old.algorithm}, which {algo} cannot go on from; name --algo {old.algorithm}")
    for name, value in params.items():
        key = name.replace("_", "-")
        default = next(p.default for p in old.spec.params if p.name == key)
        if old.params.get(key, default) != value:
            raise BigclfError(f"{path}: was trained with --{key} {old.params.get(key, default)}, not {value}")
    have = {k: getattr(old.schema, k) for k in encoding if k != "classes"}
    for name, value in have.items():
        if encoding[name] != value:
            raise BigclfError(f"{path}: was trained with --{name.replace('_', '-')} {value}, not {encoding[name]}")
    return old


def _resumed(old: Model, spec: Spec, stream: Stream) -> tuple[Encoder, Fit]:
    encoder = Encoder(old.schema, stream.skips, capacity=old.cols)
    fit = Fit(spec, old.params, encoder, old.state)
    return encoder, fit


def _encoder(head: list[Raw], stream: Stream, spec: Spec, params: Given, encoding: Given, report: Report) -> Encoder:
    classes = tuple(canonical(c) for c in encoding.get("classes", "").split(",") if c.strip())
    positive = canonical(encoding["positive"]) if "positive" in encoding else None
    wishes = Wishes(
        scale=encoding.get("scale", spec.scale),
        solve_scaling=spec.solve_scaling is not None and spec.solve_scaling(params),
        missing=encoding.get("missing", "mean"),
        dtype=encoding.get("dtype", "float32"),
        bias=encoding.get("bias", True),
        hash_bits=encoding.get("hash_bits", 0),
        classes=classes,
        positive=positive,
    )
    kinds = stream.kinds
    schema = make_schema(head, kinds.label if kinds is not None else None, wishes, stream.notices)
    if positive is not None and positive not in schema.classes:
        names = ", ".join(schema.classes[:10])
        raise BigclfError(f"--positive: class '{positive}' is not among {names}; declare it with --classes")
    return Encoder(schema, stream.skips)


def _warn_sorted(head: list[Raw], fit: Fit, report: Report) -> None:
    """Rows sorted by class ruin a learner that goes row by row."""
    import numpy as np

    labels = np.concatenate([r.label.code for r in head if r.label is not None])
    changes = int((np.diff(labels) != 0).sum())
    kinds = len(np.unique(labels))
    if fit.learner.grain == "row" and len(labels) >= SORTED_ROWS and kinds > 1 and changes == kinds - 1:
        report.note("the first rows are sorted by class, which ruins learning row by row; shuffle the file first")


def _teller(fit: Fit, report: Report) -> Any:
    """Tells the running measures now and then."""
    due = [TELL_ROWS, time.monotonic() + TELL_SECONDS]

    def tell() -> None:
        if fit.rows >= due[0] and time.monotonic() >= due[1]:
            report.note(f"{fit.rows:>12,} rows: {brief(measures(fit.matrix))}")
            due[:] = [2 * fit.rows, time.monotonic() + TELL_SECONDS]

    return tell


def _summary(
    report: Report, fit: Fit, first: Measures, rows: int, model: Model, output: Path, sources: list[Source]
) -> None:
    if report.quiet:
        return
    encoder = fit.encoder
    counts = sorted(model.counts.items(), key=lambda c: sort_key(c[0]))
    shown = ", ".join(f"{name}: {n:,}" for name, n in counts[:10]) + (", ..." if len(counts) > 10 else "")
    features = f"{model.schema.count():,} features ({model.schema.layout} rows)"
    report.note(f"{rows:,} rows, {features}, {len(counts)} classes ({shown})")
    if sum(n > 0 for _, n in counts) == 1:
        report.note("only one class in the data: the model can predict nothing else until --continue shows it more")
    if encoder.missing:
        report.note(f"{encoder.missing:,} missing values (--missing {model.schema.missing})")
    for name, n in encoder.unseen.items():
        report.note(f"column '{name}': {n:,} rows have a category that the first rows did not; it weighs nothing")
    if fit.promoted:
        report.note("a class came late: the units of one against all started from the model of two classes")
    if first.rows:
        note = "" if first.rows == rows else f" (of the {first.rows:,} rows that came after the first solution)"
        report.note(f"progressive: {brief(first)}{note}")
    else:
        report.note("progressive: n/a (the first solution comes at row 1,024)")
    report.note(report.speed(rows))
    report.note(f"model: {output}")


def _document(
    report: Report, fit: Fit, first: Measures, rows: int, model: Model, output: Path, skipped: int
) -> dict[str, Any]:
    seconds = time.monotonic() - report.began
    return {
        "model": str(output),
        "algorithm": model.algorithm,
        "params": model.params,
        "rows": rows,
        "skipped": skipped,
        "missing": fit.encoder.missing,
        "features": model.schema.count(),
        "classes": sorted(model.schema.classes, key=sort_key),
        "counts": model.counts,
        "progressive": {
            "rows": first.rows,
            "error": first.error,
            "g_mean": first.g_mean,
            "kappa": first.kappa,
            "balanced_accuracy": first.balanced_accuracy,
        },
        "seconds": round(seconds, 3),
        "rows_per_second": round(rows / max(seconds, 1e-9), 1),
        "peak_memory_mib": round(peak_mib(), 1),
    }
