"""Algorithms with their options, as `compare` and `cv` take them: --algo "pa-1 --C 0.1"."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import typer

from bigclf.algorithms import registry
from bigclf.cli.groups import CLASS_WEIGHT, ENCODING
from bigclf.cli.options import Given, algorithm, bases, beside, takes
from bigclf.cli.session import MAP_OPTIONS, wishes_of
from bigclf.core import Spec
from bigclf.errors import BigclfError, UsageError
from bigclf.training.contest import Entrant

OWN = ("scale", "features", "order", "rff_dim", "sigma", "max_features")  # of the encoding: each may have its own


def entrants(texts: Sequence[str], encoding: Given) -> list[Entrant]:
    """The entrants that these texts name; what they leave open is as `encoding` has it. Raises UsageError."""
    found = [_entrant(text, encoding) for text in texts]
    meant = [(e.spec.name, registry.arguments(e.spec, e.params), e.wishes, e.weights) for e in found]
    for k, entrant in enumerate(meant):
        if entrant in meant[:k]:
            raise UsageError(f"--algo '{texts[k]}': is named twice")
    return found


def _entrant(text: str, encoding: Given) -> Entrant:
    try:
        words = shlex.split(text)
    except ValueError as e:
        raise UsageError(f"--algo '{text}': {str(e).lower()}") from None
    if not words:
        raise UsageError("--algo: names no algorithm")
    spec = registry.meant(words[0], bases(words))
    own, weights, params = _parsed(text, words[1:], spec)
    if "features" in own:  # options outside may be of another map
        encoding = {k: v for k, v in encoding.items() if own["features"] in MAP_OPTIONS.get(k, (own["features"],))}
    return Entrant(shlex.join(words[1:]), spec, params, wishes_of({**encoding, **own}, spec, params), weights)


def _parsed(text: str, words: list[str], spec: Spec) -> tuple[Given, tuple[str, ...], dict[str, Any]]:
    if "--help" in words:
        raise UsageError(f"--algo '{text}': `bigclf train --algo {spec.name} --help` shows its options")
    app = typer.Typer(add_completion=False)

    @app.command(add_help_option=False)
    @takes(
        encoding=beside({k: ENCODING[k] for k in OWN}, spec),
        running={"class_weight": CLASS_WEIGHT},
        params=algorithm(spec.params, spec.name),
    )
    def options(*, encoding: Given, running: Given, params: Given) -> tuple[Given, Given, Given]:
        return encoding, running, params

    try:
        own, running, params = app(words, prog_name=spec.name, standalone_mode=False)
    except Exception as e:
        if isinstance(e, BigclfError) or not hasattr(e, "format_message"):
            raise
        raise UsageError(f"--algo '{text}': {' '.join(e.format_message().split()).rstrip('.')}") from None
    return own, tuple(running.get("class_weight", ())), {k.replace("_", "-"): v for k, v in params.items()}
