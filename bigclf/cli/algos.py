"""bigclf algos: the algorithms there are, or all about one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bigclf.algorithms import registry
from bigclf.cli.options import Json, Verbose, algorithm_names
from bigclf.core import Param, Spec

EXAMPLE = "Example: bigclf algos nr-rls"


def algos(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="one algorithm", show_default=False, autocompletion=algorithm_names),
    ] = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """List the algorithms, or show one: its options, cost, memory and source."""
    from bigclf.cli.report import emit, show, table

    if name is not None:
        registry.get(name, "NAME")
    chosen = registry.specs() if name is None else {name: registry.meant(name, {})}
    if json:
        emit({n: _facts(s) for n, s in chosen.items()})
    elif name is None:
        show(table(["algorithm", "what it does", "source"], [[n, s.line, s.source] for n, s in chosen.items()], 3))
    else:
        spec = chosen[name]
        facts = [
            ["", spec.line],
            ["source", spec.source],
            ["cost", spec.cost],
            ["memory", spec.memory],
            ["scale", spec.scale],
            ["passes", "one is exact" if spec.one_pass else "more may help"],
            *(["", n] for n in spec.notes),
        ]
        params = [[f"--{p.name}", str(p.default), value_range(p), p.help] for p in spec.params]
        show(table([name, ""], facts, left=2))
        if params:
            show("", "Options", table(["option", "default", "values", "meaning"], params, left=4))


def value_range(p: Param) -> str:
    """The values that an option of an algorithm takes."""
    if p.choices:
        return ", ".join(p.choices)
    if p.type is bool:
        return f"--{p.name}, --no-{p.name}"
    low = "" if p.low is None else f" {'>' if p.open_low else '>='} {p.low:g}"
    high = "" if p.high is None else f" <= {p.high:g}"
    return ", ".join([f"{p.type.__name__}{low}{high}", *p.words])


def _facts(s: Spec) -> dict[str, Any]:
    params = [{"name": p.name, "default": p.default, "values": value_range(p), "help": p.help} for p in s.params]
    return {
        "line": s.line,
        "source": s.source,
        "cost": s.cost,
        "memory": s.memory,
        "scale": s.scale,
        "one_pass": s.one_pass,
        "notes": list(s.notes),
        "params": params,
    }
