"""The head: the first rows of the stream. It fixes the schema, and is then learned from like any other rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import BigclfError, DataError, UsageError
from bigclf.reading.feature_map import LINEAR, SIGMAS, FeatureMap
from bigclf.reading.labels import BREAKS, no_class, sort_key
from bigclf.reading.moments import Moments
from bigclf.reading.raw import FIRST, Raw, Sparse, Words
from bigclf.reading.schema import MAX_CLASSES, Feature, Schema, split_scale

DENSE_COLUMNS = 4096  # LIBSVM rows are laid out densely up to here, when the head fills half their cells
MAX_CATEGORIES = 1000  # distinct words of one column
TINY = 1e-300  # narrower columns count as constant: the inverse would be no number
ILL = 1000.0  # |mean| over spread above which float32 would lose the spread
CHUNK = 1024
SIGMA_RULE = 1.5  # spread of the rows over sigma: near the least distance to the ideal kernel on standardised columns


@dataclass(frozen=True)
class Wishes:
    """What the user or the algorithm asks of the schema."""

    scale: str = "none"
    solve_scaling: bool = False  # the learner scales when solving, so columns need only be centred
    missing: str | None = None  # None: mean, or zero where columns are hashed
    dtype: str = "float32"
    bias: bool = True
    hash_bits: int = 0
    classes: tuple[str, ...] = ()
    positive: str | None = None
    map: FeatureMap = LINEAR
    sigma: float | None = None  # of rff; None: by the first rows


def collect(rows: Iterator[Raw]) -> tuple[list[Raw], Iterator[Raw]]:
    """The head's rows, and the rest of the stream."""
    head: list[Raw] = []
    for raw in rows:
        if not raw.head:
            return head, chain([raw], rows)
        head.append(raw)
    return head, iter(())


def make_schema(head: list[Raw], label: str | None, wishes: Wishes, notices: Counter[str]) -> Schema:
    """The schema of a stream that begins with these rows. Raises DataError for what cannot be learned from."""
    split_scale(wishes.scale)
    classes = _classes(head, wishes)
    if wishes.positive is not None and wishes.positive not in classes:
        names = ", ".join(classes[:10])
        raise BigclfError(f"--positive: class '{wishes.positive}' is not among {names}; declare it with --classes")
    if wishes.positive is not None and len(classes) > 2:
        names = ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")
        raise BigclfError(f"--positive: says which of two classes, and there are {len(classes)}: {names}; leave it out")
    sparse = isinstance(head[0].data, Sparse)
    features: tuple[Feature, ...] = ()
    if not sparse:
        features, used = _features(head, wishes.hash_bits)
    elif wishes.hash_bits:
        used = 1 + (1 << wishes.hash_bits)
    else:
        used = 1 + max((int(r.data.column.max(initial=0)) for r in head if isinstance(r.data, Sparse)), default=0)
    stats = Moments(used)
    with np.errstate(over="ignore", invalid="ignore"):  # values too large are refused, with their place, as rows
        return _schema(head, label, wishes, notices, stats, features, classes)


def _schema(
    head: list[Raw],
    label: str | None,
    wishes: Wishes,
    notices: Counter[str],
    stats: Moments,
    features: tuple[Feature, ...],
    classes: tuple[str, ...],
) -> Schema:
    columns, by_row = split_scale(wishes.scale)
    sparse, used = isinstance(head[0].data, Sparse), len(stats.seen)
    dense = _measure(head, features, stats, wishes)
    if not dense and columns in ("minmax", "std"):
        notices[f"sparse rows: --scale {columns} acts as maxabs, which leaves zeros alone"] += 1
        columns = "maxabs"
    missing = wishes.missing or ("zero" if wishes.hash_bits else "mean")
    if wishes.hash_bits and missing == "mean":
        raise UsageError("--missing mean: hashed columns have no mean; --missing zero, error or skip")
    solve = wishes.solve_scaling and not by_row
    spread, mean = stats.spread(), stats.mean
    ill = np.abs(mean) > ILL * np.where(spread > 0.0, spread, 1.0)  # what is constant now may move by one later
    ill[0] = False
    reference = np.zeros(used)
    dtype = wishes.dtype
    if dense:
        centre = np.ones(used, bool) if solve and columns in ("minmax", "std") else ill
        centre[0] = False
        reference[centre] = _grid(mean, spread)[centre]
    elif ill.any() and dtype == "float32":
        notices["sparse columns far from zero for their spread: rows are kept in float64"] += 1
        dtype = "float64"
    offset, factor = (np.zeros(used), np.ones(used)) if solve else _scaling(columns, stats, reference)
    zero_based = sparse and used > 1 and bool(stats.occurs[1])
    return Schema(
        "sparse" if sparse else "table",
        "dense" if dense else "csr",
        dtype,
        wishes.bias,
        wishes.hash_bits,
        missing,
        wishes.scale,
        columns if solve else "none",
        features,
        label,
        classes,
        wishes.positive,
        used,
        zero_based,
        reference,
        offset,
        factor,
        _fill(stats) if missing == "mean" else np.zeros(used),
        _feature_map(wishes, zero_based, used, spread * factor),
    )


def _feature_map(wishes: Wishes, zero_based: bool, used: int, spread: NDArray[np.float64]) -> FeatureMap:
    """The map for these columns. spread (used,): their standard deviations, scaled.

    Raises BigclfError for more features than are allowed.
    """
    made = wishes.map._replace(first=1 if zero_based or wishes.hash_bits else 2)
    if made.kind == "rff":
        total = float(np.sqrt(np.sum(spread[made.first :] ** 2)))  # sqrt(columns), where each has a spread of one
        by_head = min(max(total / SIGMA_RULE, SIGMAS[0]), SIGMAS[1]) if total else 1.0
        made = made._replace(sigma=float(wishes.sigma or by_head))
    made.check_size(used)
    return made


def _fill(stats: Moments) -> NDArray[np.float64]:
    """What stands for a missing value: the mean of the column."""
    fill = np.where(stats.seen > 0, stats.mean, 0.0)
    fill[0] = 0.0  # the bias
    return fill


def _grid(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means rounded to a power of two near the spread: close enough to centre, and whole numbers stay exact."""
    step = np.exp2(np.ceil(np.log2(np.where(spread > 0.0, spread, 1.0))))
    return np.round(mean / step) * step


def _scaling(
    columns: str, stats: Moments, reference: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Offset and factor by column. Columns constant in the head keep factor 1."""
    offset, factor = np.zeros(len(reference)), np.ones(len(reference))
    if columns == "minmax":
        offset, width = stats.lo - reference, stats.hi - stats.lo
    elif columns == "std":
        offset, width = stats.mean - reference, stats.spread()
    elif columns == "maxabs":
        width = np.maximum(np.abs(stats.lo - reference), np.abs(stats.hi - reference))
    else:
        return offset, factor
    np.divide(1.0, width, out=factor, where=width > TINY)
    offset[0], factor[0] = 0.0, 1.0
    return offset, factor


def _classes(head: list[Raw], wishes: Wishes) -> tuple[str, ...]:
    """Class names of the head in order, declared ones included."""
    names: set[str] = set(wishes.classes)
    for raw in head:
        if raw.label is not None:
            here = {raw.label.names[k] for k in np.unique(raw.label.code) if k >= 0}
            check_name(raw, here)
            names |= here
    if len(names) > MAX_CLASSES:
        raise DataError(
            head[0].where(0).rsplit(":", 1)[0],
            f"more than {MAX_CLASSES} classes in the first rows: this looks like regression; choose another --label",
        )
    return tuple(sorted(names, key=sort_key))


def check_name(raw: Raw, names: Iterable[str]) -> None:
    """Refuse names of classes of these rows that are numbers and none, or would break the lines of predict."""
    found: list[tuple[int, str]] = []
    for name in names:
        what = f"label {name!r} is not a class" if no_class(name) else ""
        if BREAKS.intersection(name):
            what = f"class {name!r} holds a tab or a line break, which predict could not write"
        if what:
            assert raw.label is not None
            found.append((int(np.flatnonzero(raw.label.code == raw.label.names.index(name))[0]), what))
    if found:
        at, what = min(found)
        raise DataError(raw.where(at), what)


def _features(head: list[Raw], hash_bits: int) -> tuple[tuple[Feature, ...], int]:
    """Columns of a table in their order, and how many columns the block has."""
    assert isinstance(head[0].data, dict)
    if not head[0].data:
        raise DataError(head[0].where(0).rsplit(":", 1)[0], "has no column beside the label to learn from")
    features, column = [], FIRST
    for name, first in head[0].data.items():
        if not isinstance(first, Words):
            features.append(Feature(name, "number", column))
            column += 1
            continue
        words: set[str] = set()
        for raw in head:
            part = raw.data[name] if isinstance(raw.data, dict) else first
            assert isinstance(part, Words)
            words.update(part.names[k] for k in np.unique(part.code) if k >= 0)
        if hash_bits:
            features.append(Feature(name, "words", column))
            continue
        if len(words) > MAX_CATEGORIES:
            raise DataError(
                head[0].where(0).rsplit(":", 1)[0],
                f"column '{name}' has {len(words)} words in the first rows; --ignore it or try --hash-bits 18",
            )
        features.append(Feature(name, "words", column, tuple(sorted(words, key=sort_key))))
        column += len(words)
    return tuple(features), (1 + (1 << hash_bits)) if hash_bits else column


def _measure(head: list[Raw], features: tuple[Feature, ...], stats: Moments, wishes: Wishes) -> bool:
    """Fill the statistics; says whether blocks shall be dense."""
    rows = sum(len(r.row) for r in head)
    if isinstance(head[0].data, dict) and not wishes.hash_bits:
        from bigclf.reading.expand import Expander

        expander = Expander(features, len(stats.seen), wishes.bias)
        for raw in head:
            for a in range(0, len(raw.row), CHUNK):
                numbers = expander.rows(raw.data, a, min(a + CHUNK, len(raw.row)))  # type: ignore[arg-type]
                stats.dense(numbers.astype(np.float64, copy=False))
        stats.tidy()
        return True
    parts = list(_sparse(head, features, wishes.hash_bits))
    for part in parts:
        stats.occurs[part.column] = True
    columns = len(stats.seen) - 2 + int(stats.occurs[1:2].sum())  # index 0 counts when it occurs
    entries = sum(len(p.column) for p in parts)
    if not wishes.hash_bits and 2 * entries >= rows * columns and len(stats.seen) <= DENSE_COLUMNS:
        from bigclf.reading.encode_kernel import scatter

        for part in parts:
            n = len(part.indptr) - 1
            for a in range(0, n, CHUNK):
                F = np.zeros((min(CHUNK, n - a), len(stats.seen)))
                scatter(part.indptr[a:], part.column, part.value, F)
                stats.dense(F)
        stats.tidy()
        return True
    for part in parts:
        stats.sparse(part)
    stats.zeros(rows)
    stats.tidy()
    return False


def _sparse(head: Iterable[Raw], features: tuple[Feature, ...], bits: int) -> Iterator[Sparse]:
    for raw in head:
        if isinstance(raw.data, Sparse):
            yield raw.data
        else:
            from bigclf.reading.expand import hash_table

            assert isinstance(raw.data, dict)
            yield hash_table(features, raw.data, bits)[0]
