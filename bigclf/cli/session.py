"""From options to inputs: what commands that read data do alike before the first row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from bigclf import start
from bigclf.cli.groups import size
from bigclf.cli.options import Given
from bigclf.core import Spec
from bigclf.errors import DataError, UsageError
from bigclf.limits import headroom, parse_budget
from bigclf.reading.ahead import IN_FLIGHT
from bigclf.reading.feature_map import KINDS, LINEAR, FeatureMap
from bigclf.reading.head import Wishes
from bigclf.reading.labels import canonical, no_class
from bigclf.reading.options import BLOCK_SIZES, LAST_COLUMN, ReadOptions, text_size
from bigclf.reading.source import Source, find
from bigclf.reading.stream import Stream
from bigclf.training.budget import DENSE_TEXT, BlockNeed, before_rows, block_bytes, max_column
from bigclf.training.threads import parsers

if TYPE_CHECKING:
    from bigclf.model import Model
    from bigclf.reading.raw import Skips
    from bigclf.reading.shuffle import Shuffled
    from bigclf.reading.table import Kinds

KEPT = ("label", "ignore", "categorical", "header", "delimiter", "decimal", "quote", "encoding", "hash_bits")

# inputs of which an option says something
CSV, TEXT, TABLES = ("csv", "tsv"), ("csv", "tsv", "libsvm"), ("csv", "tsv", "parquet")
SAYS = {
    **dict.fromkeys(("header", "delimiter", "decimal", "quote"), ("CSV and TSV", CSV)),
    **dict.fromkeys(("label", "ignore", "categorical"), ("columns of tables", TABLES)),
    "missing": ("gaps in tables", TABLES),
    "encoding": ("text", TEXT),
}
FORMATS = {"libsvm": "LIBSVM text", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}

MAP_OPTIONS = {"order": ("rm", "poly"), "rff_dim": ("rff",), "sigma": ("rff",), "max_features": KINDS[1:]}


def cap_of(given: Given) -> int | None:
    """Bytes that --budget grants to the whole process; None without it."""
    if "budget" not in given:
        return None
    size = parse_budget(given["budget"])(headroom())
    start.cap(size)
    return size


def idle(given: Given, sources: Sequence[Source]) -> dict[str, str]:
    """The options given that say nothing of any of these inputs, each with why."""
    formats = {s.format for s in sources}
    found = {}
    for name, (what, of) in SAYS.items():
        if name in given and not formats.intersection(of):
            option = "no-header" if name == "header" and not given[name] else name
            found[name] = f"--{option}: is for {what}; {sources[0].path} is {FORMATS[sources[0].format]}"
    return found


def refuse_idle(given: Given, sources: Sequence[Source]) -> None:
    """Refuse an option that would have no effect on these inputs. Raises UsageError."""
    for why in idle(given, sources).values():
        raise UsageError(why)


def read_options(
    given: Given,
    sources: Sequence[Source],
    kept: dict[str, Any] | None = None,
    curve: bool = False,
    arrow: bool = False,
    **more: Any,
) -> ReadOptions:
    """Reading options: those given, else those kept in the model, else the defaults; blocks and columns that fit.

    Raises UsageError for one given that says nothing of such inputs; one kept in the model may.

    curve: room is left for the areas under the curve. arrow: and for Arrow, which writes.
    """
    refuse_idle(given, sources)
    names = {f.name for f in fields(ReadOptions)}
    values = {k: v for k, v in {**(kept or {}), **given}.items() if k in names}
    for name in ("ignore", "categorical"):
        if name in values:
            values[name] = tuple(values[name])
    if "block_size" in values:
        values["block_size"] = size(values["block_size"])
    form = {"tsv": "csv"}.get(sources[0].format, sources[0].format)
    packed = form == "libsvm" and (arrow or any(s.compression for s in sources))
    room = before_rows(headroom(cap_of(given)), "packed" if packed else form, curve)
    most = values.get("block_size")
    threads = values["threads"] = parsers(room, form, values.get("threads"), most)
    need = BlockNeed(form, DENSE_TEXT[form], flight=IN_FLIGHT, threads=threads)
    values.setdefault("block_size", block_bytes(room, need, most=most or BLOCK_SIZES.get(form, text_size(threads))))
    return replace(ReadOptions(**values), **({"max_column": max_column(room), "endless": True} | more))


def kept_reading(stream: Stream | Shuffled) -> dict[str, Any]:
    """The options that say what the bytes mean, for the model; columns by name: a number may mean another elsewhere."""
    options = stream.options if stream.kinds is None else stream.kinds.named(stream.options)
    return {name: getattr(options, name) for name in KEPT}


def kinds_of(model: Model, given_label: bool = False) -> Kinds | None:
    """Kinds of a table's columns as the model has them; None for a model of LIBSVM input.

    given_label: the user named a label column, which is looked up in the file.
    """
    schema, kept = model.schema, model.reading
    if schema.kind != "table":
        return None
    from bigclf.reading.table import Kinds

    columns = tuple((f.name, f.kind) for f in schema.features)
    forced, ignored = (tuple(kept.get(name, ())) for name in ("categorical", "ignore"))
    return Kinds(columns, None if given_label else schema.label, forced, ignored)


def refuse_settled(model: Model, given: Given) -> None:
    """Refuse to read columns otherwise than the model was trained on them. Raises UsageError."""
    if model.schema.kind != "table":
        return
    kinds = {f.name: f.kind for f in model.schema.features}
    for name in given.get("ignore", ()):
        if name in kinds:
            raise UsageError(f"--ignore: the model goes by column {name!r}; train can leave it out")
    for name in given.get("categorical", ()):
        if kinds.get(name) != "words":  # numbers in a column of words are words that the model has not seen
            raise UsageError(f"--categorical: the model has no column of words {name!r}; train can make it one")


def scoring_stream(model: Model, data: Sequence[str], given: Given, labels: bool, **beside: bool) -> Stream:
    """Inputs read as the model was trained. `labels`: every row must have one. `beside`: what else takes memory."""
    sources = find(data, given.get("format", "auto"))
    options = read_options(given, sources, model.reading, need_label=labels, max_column=LAST_COLUMN, **beside)
    kinds = kinds_of(model, "label" in given) if sources[0].format != "libsvm" else None
    return Stream(sources, options, kinds, given.get("limit", 0))


def no_rows(sources: Sequence[Source], skips: Skips) -> DataError:
    """The fault of inputs that hold no row at all, or only such as were skipped."""
    names = ", ".join(s.path for s in sources[:3]) + (", ..." if len(sources) > 3 else "")
    if skips.rows:
        return DataError(
            names,
            f"every row was skipped, {skips.rows} in all; the first fault is {skips.faults[0]}"
            if skips.faults
            else "every row was skipped",
        )
    return DataError(names, "no rows")


def wishes_of(encoding: Given, spec: Spec, params: dict[str, Any]) -> Wishes:
    """How an algorithm with these parameters is to have its rows, by the options of the encoding."""
    kind = encoding.get("features", LINEAR.kind)
    for option, kinds in MAP_OPTIONS.items():
        name = option.replace("_", "-")
        if option in encoding and kind not in kinds:
            raise UsageError(f"--{name}: goes with --features {' or '.join(kinds)}")
        if name in params and kind in kinds:
            raise UsageError(f"--{name}: {spec.name} and --features {kind} both have it; leave it out, or --features")
    made = FeatureMap(
        kind,
        order=encoding.get("order", LINEAR.order),
        dim=encoding.get("rff_dim", LINEAR.dim),
        seed=encoding.get("seed", LINEAR.seed),
        most=encoding.get("max_features", LINEAR.most),
    )
    return Wishes(
        scale=encoding.get("scale", "std" if kind == "rff" else spec.scale),
        solve_scaling=kind == "linear" and spec.solve_scaling is not None and spec.solve_scaling(params),
        map=made if kind != "linear" else LINEAR,
        sigma=encoding.get("sigma"),
        missing=encoding.get("missing"),
        dtype=encoding.get("dtype", "float32"),
        bias=encoding.get("bias", True),
        hash_bits=encoding.get("hash_bits", 0),
        classes=declared(encoding.get("classes")),
        positive=canonical(encoding["positive"]) if "positive" in encoding else None,
    )


def declared(text: str | None) -> tuple[str, ...]:
    """Classes that the user declares. Raises UsageError."""
    if text is None:
        return ()
    names = tuple(canonical(c) for c in text.split(",") if c.strip())
    if not names or not text.isprintable() or any(map(no_class, names)):
        raise UsageError("--classes: names no class, or one that cannot be; give them as a,b,c")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"--classes: names class '{twice[0]}' twice")
    return names
