"""bigclf info: what is in a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bigclf import start
from bigclf.cli.options import Json, ModelFile, Verbose
from bigclf.errors import UsageError

if TYPE_CHECKING:
    from bigclf.reading.feature_map import FeatureMap
    from bigclf.weighting import ClassWeight

EXAMPLE = "Example: bigclf info model.npz --weights --top 20"
TOP = 10


def info(
    model: ModelFile,
    weights: Annotated[bool, typer.Option("--weights", help="the largest weights of each unit, by column")] = False,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help=f"weights shown for each unit (default {TOP})")
    ] = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show a model: algorithm, options, classes, columns, scaling, size; with --weights what it goes by."""
    if top is not None and not weights:
        raise UsageError("--top: goes with --weights")
    start.require("model")
    from bigclf.cli.report import emit, show, table
    from bigclf.cli.report import facts as told
    from bigclf.model import load
    from bigclf.reading.labels import sort_key
    from bigclf.state import trim
    from bigclf.training.budget import human

    m = load(model)
    schema = m.schema
    learner = m.learner()
    facts: dict[str, Any] = {
        "algorithm": m.algorithm,
        "params": {p.name: m.params.get(p.name, p.default) for p in m.spec.params},
        "source": m.spec.source,
        "rows": m.rows,
        "passes": m.passes,
        "classes": sorted(schema.classes, key=sort_key),
        "counts": m.counts,
        "class_weight": m.class_weight,
        "chosen": _chosen(m.state),
        "told": m.told(),
        "positive": None if len(schema.classes) != 2 else _positive(m.code(), schema.classes),
        "input": schema.kind,
        "features": schema.count(),
        "feature_map": _map(schema.map),
        "layout": schema.layout,
        "dtype": schema.dtype,
        "scale": schema.scale,
        "missing": schema.missing,
        "label": schema.label,
        "hash_bits": schema.hash_bits,
        "state_bytes": sum(a.nbytes for a in trim(learner, m.state, m.shape(used=True)).values()),
    }
    listed = _weights(m, top or TOP) if weights else {}
    if json:
        emit(facts | ({"weights": listed} if weights else {}))
        return
    shown = facts | {
        "params": ", ".join(f"{k} {v}" for k, v in facts["params"].items()) or "none",
        "classes": ", ".join(facts["classes"][:20]) + (", ..." if len(facts["classes"]) > 20 else ""),
        "counts": ", ".join(f"{k}: {v:,}" for k, v in list(m.counts.items())[:20]),
        "state_bytes": human(facts["state_bytes"]),
        "class_weight": _class_weight(m.class_weight),
        "told": told(facts["told"]),
        "chosen": ", ".join(f"{k} {v:.6g}" for k, v in (facts["chosen"] or {}).items()),
    }
    rows = [[k.replace("_", " "), str(v)] for k, v in shown.items() if v not in (None, 0, "")]
    parts: list[Any] = [table(["", os.fsencode(model).decode(errors="replace")], rows, left=2)]
    for unit, pairs in listed.items():
        parts += ["", f"Weights towards {unit}", table(["column", "weight"], [[n, f"{w:.6g}"] for n, w in pairs])]
    show(*parts)


def _chosen(state: Any) -> dict[str, float] | None:
    """What a learner chose at its end, by name."""
    answer = getattr(state, "answer", None)
    names = [n for n in ("sigma", "C", "weighted") if hasattr(answer, n)]
    return {n: float(getattr(answer, n)[0]) for n in names} or None


def _map(made: FeatureMap) -> str | None:
    if made.kind == "linear":
        return None
    return f"rff, dim {made.dim}, sigma {made.sigma:g}" if made.kind == "rff" else f"{made.kind}, order {made.order}"


def _class_weight(weight: ClassWeight) -> str | None:
    return ", ".join(f"{k}: {w:g}" for k, w in weight.items()) if isinstance(weight, dict) else weight


def _positive(code: Any, classes: tuple[str, ...]) -> str:
    return classes[int(code[0].argmax())]


def _weights(m: Any, top: int) -> dict[str, list[tuple[str, float]]]:
    """Columns that can move each unit's score most, with their weights on values as the encoder makes them."""
    import numpy as np

    from bigclf.errors import UnsupportedError

    learner = m.learner()
    state = learner.finish(m.state) if learner.finish is not None else m.state
    if learner.weights is None and not hasattr(state, "w"):
        raise UnsupportedError(f"--weights: {m.algorithm} has no weight for each column")
    weights = state.w if learner.weights is None else learner.weights(state)
    names = m.schema.map.names(m.schema.columns_named())
    count = len(names)
    spread = np.ones(count)
    shift = np.zeros(len(weights))
    if hasattr(state, "lo"):  # weights of rows as they come in: what a column can do is its weight times its range
        lo, hi = state.lo[:count], state.hi[:count]
        spread = np.where(np.isfinite(lo) & np.isfinite(hi), hi - lo, 0.0)
        spread[0] = 1.0
        shift = np.where(np.isfinite(state.shift), state.shift, 0.0)
    out = {}
    for code, w, more in zip(m.code(), weights, shift, strict=True):
        used = w[:count].copy()
        used[0] += more
        order = np.argsort(-np.abs(used) * spread, kind="stable")[:top]
        out[m.schema.classes[int(code.argmax())]] = [(names[j], float(used[j])) for j in order if used[j] != 0.0]
    return out
