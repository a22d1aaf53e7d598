"""Options that several commands share, and options that an algorithm declares.

A group of options is a set of parameters that `takes` adds to a command's signature and hands to it as one dictionary,
without those that were not given: so that a value can come from the command line, else from the model, else be the
default.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from bigclf.algorithms import registry
from bigclf.core import Param, Spec

DEFAULT = "nr-rls"
Given = dict[str, Any]

Data = Annotated[
    list[str],
    typer.Argument(metavar="DATA", help="files, patterns, folders, or - for standard input", show_default=False),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="a model file", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="say nothing on standard error but errors")]
Verbose = Annotated[int, typer.Option("--verbose", "-v", count=True, help="-vv: a trace with an error")]


def algorithm_names(incomplete: str) -> list[str]:
    """Names of algorithms, for the shell's completion."""
    return [n for n in registry.specs() if n.startswith(incomplete)]


def choice(name: str, *values: str) -> type[Enum]:
    """A closed set of words, as typer takes it."""
    made: Any = Enum(name, {v: v for v in values}, type=str)  # type: ignore[misc]
    kind: type[Enum] = made
    return kind


def algorithm(params: tuple[Param, ...], name: str) -> dict[str, Any]:
    """Options of an algorithm, from what it declares."""
    panel = f"Options of {name}"
    return {p.name.replace("-", "_"): _option(p, panel) for p in params}


def bases(words: Sequence[str]) -> Given:
    """The options among these words that bring others along: --base, --drift, --base-base, --base-drift, ..."""
    found: Given = {}
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if re.fullmatch(r"--(base-)*(base|drift)", name) and (equals or i + 1 < len(words)):
            found[name.removeprefix("--")] = value if equals else words[i + 1]
    return found


def beside(options: dict[str, Any], spec: Spec) -> dict[str, Any]:
    """The options of a group that stand beside those of an algorithm: where both have one, it is the algorithm's."""
    own = {p.name.replace("-", "_") for p in spec.params}
    return {name: option for name, option in options.items() if name not in own}


def _option(p: Param, panel: str) -> Any:
    low = "" if p.low is None else f"{'more than' if p.open_low else 'at least'} {p.low:g}; "
    shown = f"{p.help} ({low}default {p.default})"  # not in square brackets, which rich takes for markup
    if p.choices:
        kind: Any = choice(p.name, *p.choices)
        return Annotated[kind | None, typer.Option(f"--{p.name}", help=shown, rich_help_panel=panel)]

    if p.type is bool:
        flag = typer.Option(f"--{p.name}/--no-{p.name}", help=p.help, rich_help_panel=panel)
        return Annotated[bool | None, flag]

    if p.words:
        numbered = typer.Option(f"--{p.name}", metavar="N|" + "|".join(p.words), help=shown, rich_help_panel=panel)
        numbered.callback = lambda text: _number_or_word(p, text)
        return Annotated[str | None, numbered]

    def within(value: Any) -> Any:
        if value is not None and not p.accepts(value):
            bounds = [f"{'more than' if p.open_low else 'at least'} {p.low:g}"] if p.low is not None else []
            bounds += [f"at most {p.high:g}"] if p.high is not None else []
            kind = "whole" if p.type is int else "finite"
            raise typer.BadParameter(f"{value:g} should be a {kind} number {' and '.join(bounds)}".rstrip())
        return value

    return Annotated[p.type | None, typer.Option(f"--{p.name}", help=shown, rich_help_panel=panel, callback=within)]


def _number_or_word(p: Param, text: str | None) -> Any:
    if text is None or text in p.words:
        return text
    try:
        value = p.type(text)
    except ValueError:
        value = None
    if not p.accepts(value):
        high = "" if p.high is None else f" and at most {p.high:g}"
        raise typer.BadParameter(f"'{text}' should be {' or '.join(p.words)}, or a number of at least {p.low:g}{high}")
    return value


def takes(**groups: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add groups of options to a command: its parameter of a group's name gets what the user gave of them."""

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name not in groups]
        more = [
            inspect.Parameter(f"{group}__{name}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for group, options in groups.items()
            for name, kind in options.items()
        ]

        @wraps(command)
        def called(**values: Any) -> Any:
            given: dict[str, Given] = {group: {} for group in groups}
            for key in list(values):
                group, _, name = key.partition("__")
                if name and group in groups:
                    value = values.pop(key)
                    if value not in (None, []):
                        given[group][name] = value.value if isinstance(value, Enum) else value
            return command(**values, **given)

        called.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in (*own, *more)}
        del called.__wrapped__  # type: ignore[attr-defined]
        return called

    return wrap
