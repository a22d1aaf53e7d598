"""The work of `bigclf train`: from options and the head to a run, from the run to a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bigclf import start, weighting
from bigclf.algorithms import registry
from bigclf.cli.job import EVERY, Job, facts_of, kept_options, places, spelled
from bigclf.cli.keeper import Keeper
from bigclf.cli.options import Given
from bigclf.cli.progress import Progress
from bigclf.cli.report import Report, emit
from bigclf.cli.session import (
    MAP_OPTIONS,
    cap_of,
    declared,
    kept_reading,
    kinds_of,
    no_rows,
    read_options,
    refuse_idle,
    wishes_of,
)
from bigclf.cli.summary import document, tell
from bigclf.core import Spec
from bigclf.errors import BigclfError, BudgetError, DataError, UsageError
from bigclf.limits import headroom, human
from bigclf.model import Model, load, save
from bigclf.reading.dropped import without_extremes
from bigclf.reading.encode import Encoder
from bigclf.reading.head import collect, make_schema
from bigclf.reading.labels import canonical, sort_key
from bigclf.reading.raw import Cursor, Raw
from bigclf.reading.shuffle import Shuffled, group_bytes, require_plain
from bigclf.reading.source import changed
from bigclf.reading.span import SHARE_ROWS
from bigclf.reading.stream import Stream
from bigclf.training.cache import Cache, key_of
from bigclf.training.fit import Fit
from bigclf.training.interrupt import Interrupt, Stop
from bigclf.training.run import Run
from bigclf.weighting import ONLINE

if TYPE_CHECKING:
    from bigclf.reading.options import ReadOptions
    from bigclf.reading.table import Kinds

CACHE = 10 << 30  # bytes of --cache-size
SORTED_ROWS = 100  # so many rows in order of their classes are no accident


def execute(job: Job, report: Report) -> None:
    """Train, save, and tell."""
    if job.resume is not None and job.go_on is not None:
        raise UsageError("--resume ends an interrupted run, --continue begins a new one: give one of them")
    if job.algo is not None:
        registry.meant(job.algo, _dashed(job.params))
    if job.mixed and (job.share or job.reading.get("limit")):
        raise UsageError("--shuffle: reads all of the input, and goes with neither --shard nor --limit")
    if job.checkpoint is None and job.checkpoint_every is not None:
        raise UsageError("--checkpoint-every: goes with --checkpoint FILE")
    if job.cache is None and job.cache_size is not None:
        raise UsageError("--cache-size: goes with --cache DIR")
    if job.cache is not None and job.mixed:
        raise UsageError("--cache: keeps rows in their order, and does not go with --shuffle")
    refuse_idle(job.reading, job.sources)  # wrong usage is told before faults of the model and the data
    if job.mixed:
        require_plain(job.sources)
    places(job, job.output)
    begin = _resumed if job.resume else _continued if job.go_on else _fresh
    run, rows, facts = begin(job, report)
    output = Path(facts["output"])
    places(job, output)  # that of a checkpoint was not known before
    with Progress(report, run, job.progress, job.log_file) as progress, Interrupt() as interrupt:
        keeper = Keeper(run, progress, interrupt, job.checkpoint, job.checkpoint_every or EVERY, facts)
        keeper.reading = kept_reading(run.stream)
        keeper.again = kept_options(job)
        try:
            _go(run, rows, keeper, output)
            if not run.fit.rows and job.share and not run.stream.skips.rows:
                report.note(f"shard {job.share[0]}/{job.share[1]} has no rows; its model adds nothing to a merge")
            elif not run.fit.rows:
                raise no_rows(job.sources, run.stream.skips)
            model = replace(keeper.model(), share=facts["share"] and facts["share"][::-1])
            save(output, model)
            start.stands(f"the model is saved as {output}")
        except Stop as stop:  # while something was saved
            raise keeper.stopped(stop, output) from None
    report.notices(run.notices)
    report.skipped(run.stream.skips)
    tell(report, run, model, output)
    if job.json:
        emit(document(report, run, model, output))


def _go(run: Run, rows: Iterator[Raw], keeper: Keeper, output: Path) -> None:
    """All passes; where they end early what was learned is kept, and the error says how to go on."""
    try:
        run.go(rows, keeper.after, keeper.waiting)
    except Stop as stop:
        raise keeper.stopped(stop, output) from None
    except BudgetError as e:
        raise keeper.out_of_memory(e, output) from None
    except DataError as e:
        raise keeper.failed(e) from None


def _passes(job: Job, spec: Spec, report: Report) -> int:
    passes = job.passes or 1
    if passes > 1 and spec.one_pass:
        report.note(f"{spec.name} is exact after one pass; the other {passes - 1} are left out")
        return 1
    return passes


def _fresh(job: Job, report: Report) -> tuple[Run, Iterator[Raw], dict[str, Any]]:
    """A new learner for a stream, by what its head shows. A shard's head is that of the whole input."""
    params = _dashed(job.params)
    spec = registry.meant(job.algo or "", params)
    if job.seed is not None and any(p.name == "seed" for p in spec.params):
        params["seed"] = job.seed
    encoding = job.encoding
    bits = encoding.get("hash_bits", 0)
    wishes = wishes_of(encoding | {"seed": job.seed or 1}, spec, params)
    options = read_options(job.reading, job.sources, hash_bits=bits)
    limit = job.reading.get("limit", 0)
    stream: Stream | Shuffled = Stream(job.sources, options, limit=limit)
    head, rest = collect(iter(stream))
    if not head:
        raise no_rows(job.sources, stream.skips)
    kinds = stream.kinds
    told = [without_extremes(raw, wishes.dtype) for raw in head] if options.on_error == "skip" else head
    told = [raw for raw in told if len(raw.row)] or head
    schema = make_schema(told, kinds.label if kinds is not None else None, wishes, stream.notices)
    rows: Iterator[Raw] = chain(head, rest)
    if job.share or job.mixed:
        noticed = stream.notices
        stream = _reader(job, options, kinds, limit)
        stream.notices.update(noticed)
        rows = iter(stream)
    weight = weighting.parse(job.class_weight, schema.classes)
    encoder = Encoder(schema, stream.skips)
    fit = Fit(spec, params, encoder, None, cap_of(job.reading), encoder.map_bytes(), weight)
    _warn_sorted(head, fit, report)
    if job.share and (fit.learner.merge is None or fit.class_weight == ONLINE):
        report.note(
            f"{spec.name}{' --class-weight online' if fit.learner.merge else ''} cannot be merged with other shards"
        )
    passes = _passes(job, spec, report)
    run = Run(fit, stream, passes, cache=_cache(job, stream, encoder, report))
    return run, rows, facts_of(job, passes, run.cache)


def _cache(
    job: Job, stream: Stream | Shuffled, encoder: Encoder, report: Report, key: dict[str, Any] | None = None
) -> Cache | None:
    """Where the rows of this run are kept; key: of rows that were kept before."""
    if job.cache is None or not isinstance(stream, Stream):
        return None
    try:
        job.cache.mkdir(exist_ok=True)
    except OSError as e:
        raise BigclfError(f"{job.cache}: {e.strerror or e}; --cache names a folder that can be written to") from None
    key = key or key_of(stream, encoder, kept_reading(stream))
    return Cache(job.cache, job.cache_size or CACHE, key, report.note)


def _dashed(params: Given) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in params.items()}


def _reader(job: Job, options: ReadOptions, kinds: Kinds | None, limit: int) -> Stream | Shuffled:
    """The stream of the rows to learn from, when columns and classes are known."""
    if not job.mixed:
        return Stream(job.sources, options, kinds, limit, share=job.share)
    room, need = headroom(cap_of(job.reading)), group_bytes(job.sources)
    if need > room.bytes:
        what = f"--shuffle mixes up to {human(need)} of rows at a time"
        raise BudgetError(f"{what}, and {human(room.bytes)} are left of {room.binding.name}; shuffle the file instead")
    return Shuffled(job.sources, options, kinds, job.seed or 1)


def _continued(job: Job, report: Report) -> tuple[Run, Iterator[Raw], dict[str, Any]]:
    """The learner of a model, for rows that are new to it; they are read as its own were."""
    assert job.go_on is not None
    old = _earlier(job, job.go_on)
    options = read_options(job.reading, job.sources, old.reading)
    kinds = kinds_of(old, "label" in job.reading) if job.sources[0].format != "libsvm" else None
    stream = _reader(job, options, kinds, job.reading.get("limit", 0))
    encoder = Encoder(old.schema, stream.skips, capacity=old.cols)
    fit = Fit(old.spec, old.params, encoder, old.state, cap_of(job.reading), encoder.map_bytes(), old.class_weight)
    fit.earlier = old.counts
    passes = _passes(job, old.spec, report)
    run = Run(fit, stream, passes, old.next_row, _cache(job, stream, encoder, report))
    return run, iter(stream), facts_of(job, passes, run.cache)


def _resumed(job: Job, report: Report) -> tuple[Run, Iterator[Raw], dict[str, Any]]:
    """The run that a checkpoint holds, where it stood; its inputs must be what they were."""
    assert job.resume is not None
    old = _earlier(job, job.resume)
    found = old.run
    if not found:
        raise BigclfError(f"{job.resume}: is a model and no checkpoint; --continue goes on from it with new rows")
    if len(found["inputs"]) != len(job.sources):
        raise BigclfError(f"{job.resume}: the run had {len(found['inputs'])} inputs, {len(job.sources)} are named")
    for source, (path, size, mtime) in zip(job.sources, found["inputs"], strict=True):
        what = changed(source.path, size, mtime)
        if what:
            raise BigclfError(f"{source.path}: {what} (the checkpoint's input {path}); start anew")
    share = tuple(found["share"]) if found["share"] else None
    asked_for: list[tuple[str, Any, Any]] = [
        ("--passes", job.passes and _passes(job, old.spec, report), found["passes"]),
        ("--limit", job.reading.get("limit"), found["limit"]),
        ("--shard", job.share, share),
        ("--shuffle", job.mixed or None, found["shuffle"]),
        ("--seed", job.seed, found["seed"]),
    ]
    for name, asked, was in asked_for:
        if asked is not None and asked != was:
            had = "/".join(map(str, was)) if isinstance(was, tuple) else was
            went = f"with {name} {had}" if was else f"without {name}"
            raise BigclfError(f"{job.resume}: the run went {went}; leave {name} out, or start anew without --resume")
    options = read_options({"on_error": found["on_error"]} | job.reading, job.sources, old.reading)
    table = job.sources[0].format != "libsvm"
    cursor, kinds = Cursor(*found["cursor"]), kinds_of(old, "label" in job.reading) if table else None
    place: dict[str, Any] = {"begin": cursor, "from_row": found["row"]}
    stream: Stream | Shuffled
    if found["shuffle"]:
        stream = Shuffled(job.sources, options, kinds, found["seed"], found["pass"], **place)
    else:
        stream = Stream(job.sources, options, kinds, found["limit"], share=share, **place)
    encoder = Encoder(old.schema, stream.skips, capacity=old.cols, gone=found["gone"])
    fit = Fit(old.spec, old.params, encoder, old.state, cap_of(job.reading), encoder.map_bytes(), old.class_weight)
    key = found.get("cache")
    if job.cache is not None and (not key or found["pass"] == 1):
        report.note("--cache: rows of a pass that was broken off are not kept; later passes read the data again")
    run = Run(fit, stream, found["passes"], cache=_cache(job, stream, encoder, report, key) if key else None)
    run.restore(found)
    report.note(f"going on at row {found['row'] % SHARE_ROWS} of pass {found['pass']}")
    facts: dict[str, Any] = {k: found.get(k) for k in facts_of(job, 1)}
    return run, iter(stream), facts | ({"output": str(job.output)} if job.output else {})


def _earlier(job: Job, path: Path) -> Model:
    """The model to go on from; refuses options that would contradict it."""
    old = load(path)
    if job.algo is not None and job.algo != old.algorithm:
        raise BigclfError(f"{path}: holds {old.algorithm}, which {job.algo} cannot go on from; --algo {old.algorithm}")
    have: dict[str, Any] = {k: getattr(old.schema, k) for k in ("scale", "missing", "dtype", "bias")}
    made = old.schema.map
    have |= {"hash_bits": old.schema.hash_bits or None, "features": made.kind}
    mapped = {"order": made.order, "rff_dim": made.dim, "sigma": made.sigma, "max_features": made.most}
    have |= {name: value if made.kind in MAP_OPTIONS[name] else None for name, value in mapped.items()}
    have |= {p.name.replace("-", "_"): old.params.get(p.name, p.default) for p in old.spec.params}
    settled = {p.name.replace("-", "_"): p.words for p in old.spec.params}  # what was made of a word is in the model
    have |= {k: list(old.reading.get(k, ())) for k in ("ignore", "categorical")}
    asked: Given = job.params | job.encoding
    asked |= {k: job.reading[k] for k in ("ignore", "categorical") if k in job.reading}
    if job.class_weight:
        asked["class_weight"] = weighting.parse(job.class_weight, old.schema.classes)
    have["class_weight"] = old.class_weight
    if job.seed is not None and any(p.name == "seed" for p in old.spec.params):
        asked["seed"] = job.seed
    if "positive" in asked:
        asked["positive"] = canonical(asked["positive"])
        classes = sorted(old.schema.classes, key=sort_key)
        have["positive"] = old.schema.positive or (classes[-1] if len(classes) == 2 else None)
    for name, value in asked.items():
        if name == "classes":
            new = [c for c in declared(value) if c not in old.schema.classes]
            if new:
                raise BigclfError(
                    f"{path}: has no class '{new[0]}'; leave --classes out, a class is taken in as it comes"
                )
        elif name not in have:
            raise BigclfError(f"{path}: {old.algorithm} has no option --{name.replace('_', '-')}")
        elif have[name] != value and value not in settled.get(name, ()):
            raise BigclfError(f"{path}: was trained {spelled(name, have[name])}, not {spelled(name, value)}")
    return old


def _warn_sorted(head: list[Raw], fit: Fit, report: Report) -> None:
    """Rows sorted by class ruin a learner that goes row by row."""
    named = [np.array(r.label.names, object)[r.label.code] for r in head if r.label is not None]
    labels = np.concatenate(named)
    changes = int((labels[1:] != labels[:-1]).sum())
    kinds = len(set(labels.tolist()))
    if fit.learner.grain == "row" and len(labels) >= SORTED_ROWS and kinds > 1 and changes == kinds - 1:
        report.note("the first rows are sorted by class, which ruins learning row by row; shuffle the file first")
