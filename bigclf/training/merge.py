"""Models of parts of the data become the model of all of it, where that is exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bigclf import state as st
from bigclf.algorithms import registry
from bigclf.core import Array, Learner, Shape, State
from bigclf.errors import BigclfError, UnsupportedError
from bigclf.model import Model
from bigclf.reading.schema import Schema
from bigclf.reading.span import SHARE_ROWS
from bigclf.units import code_matrix
from bigclf.weighting import ONLINE

ALIKE = (
    "kind",
    "layout",
    "dtype",
    "bias",
    "hash_bits",
    "missing",
    "scale",
    "solve_scale",
    "features",
    "positive",
    "map",
)


def merge(models: Sequence[tuple[str, Model]]) -> Model:
    """The model that one run over all parts, in this order, would have given. Classes and columns are matched by name.

    Raises UnsupportedError for an algorithm without an exact merge, BigclfError for models that do not belong together.
    """
    (name, first), *others = models
    learner = first.learner()
    if learner.merge is None:
        if first.params.get("form", "sums") != "sums":
            raise UnsupportedError(f"{name}: --form {first.params['form']} cannot be merged exactly; --form sums can")
        exact = [
            " --".join([s.name, *given])
            for s in registry.specs().values()
            for given in ([], *([p.name] for p in s.params if p.type is bool))
            if s.build(**registry.arguments(s, dict.fromkeys(given, True))).merge is not None
        ]
        raise UnsupportedError(f"{name}: {first.algorithm} cannot be merged exactly; these can: {', '.join(exact)}")
    for path, model in models:
        if model.run:
            raise BigclfError(f"{path}: holds a run that is not over; end it with --resume first")
    if first.class_weight == ONLINE:
        raise UnsupportedError(f"{name}: --class-weight online goes by all rows so far, which a part does not know")
    for path, model in others:
        _belong(name, first, path, model)
    share = _shards(models)
    classes = list(dict.fromkeys(c for _, m in models for c in m.schema.classes))
    widest = max((m for _, m in models), key=lambda m: m.schema.used).schema
    cols = max(m.cols for _, m in models)
    code = code_matrix(classes, first.schema.positive)
    shape = Shape(len(code), widest.map.size(cols), len(classes))
    parts = [_spread(m.learner(), m.state, m.schema, classes, shape) for _, m in models]
    merged = parts[0]
    for part in parts[1:]:
        merged = learner.merge(merged, part)
    if learner.refit is not None:
        merged = learner.refit(merged, code, code)
    if learner.finish is not None:
        merged = learner.finish(merged)
    counts: Counter[str] = Counter()
    for _, m in models:
        counts.update(m.counts)
    schema = widest.widened(widest.used, tuple(classes))
    return replace(
        first,
        schema=replace(schema, zero_based=any(m.schema.zero_based for _, m in models)),
        state=merged,
        cols=cols,
        rows=sum(m.rows for _, m in models),
        next_row=sum(m.next_row % SHARE_ROWS for _, m in models),
        share=share,
        counts={c: counts[c] for c in classes},
    )


def _shards(models: Sequence[tuple[str, Model]]) -> list[int] | None:
    """The shards that the models hold together, as [N, I, ...]; None where that is all of them, or none was a shard."""
    held: dict[int, str] = {}
    known = [(path, m.share) for path, m in models if m.share]
    for path, (of, *shards) in known:
        first, (total, *_) = known[0]
        if of != total:
            raise BigclfError(f"{path}: is one of {of} shards, {first} one of {total}")
        for i in shards:
            if i in held:
                raise BigclfError(f"{path}: holds shard {i}/{of}, as {held[i]} does: its rows would count twice")
            held[i] = path
    return [known[0][1][0], *sorted(held)] if known and len(held) < known[0][1][0] else None


def _belong(name: str, first: Model, path: str, model: Model) -> None:
    """Refuse a model of another algorithm or of rows that were encoded otherwise."""
    if (model.algorithm, model.params) != (first.algorithm, first.params):
        raise BigclfError(
            f"{path}: holds {model.algorithm} {model.params or ''} and {name} {first.algorithm} {first.params or ''}; "
            "merge models of one algorithm with the same options"
        )
    if model.class_weight != first.class_weight:
        raise BigclfError(f"{path}: its --class-weight differs from that of {name}")
    for field in ALIKE:
        mine, theirs = getattr(first.schema, field), getattr(model.schema, field)
        if mine != theirs:
            raise BigclfError(f"{path}: its {field.replace('_', ' ')} differs from that of {name}; see train --shard")
    used = min(first.schema.used, model.schema.used)
    for field, array in first.schema.arrays().items():
        if not np.array_equal(array[:used], model.schema.arrays()[field][:used]):
            raise BigclfError(f"{path}: its {field} of the columns differs from that of {name}; see train --shard")


def _spread(learner: Learner, state: State, schema: Schema, classes: list[str], shape: Shape) -> State:
    """A state laid out for all classes and columns. Fields by unit are left as they begin: the merge renews them."""
    fresh = learner.init(shape)
    arrays = st.flatten(fresh)
    place = np.array([classes.index(c) for c in schema.classes])
    for path, old in st.flatten(state).items():
        axes = learner.axes[path]
        if "units" in axes:
            continue
        at: list[Array] = [
            place if axis == "classes" else np.arange(n) for axis, n in zip(axes, old.shape, strict=True)
        ]
        arrays[path][np.ix_(*at)] = old
    return fresh
