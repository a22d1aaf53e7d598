"""bigclf doctor: what this machine grants, and whether all is well."""

from __future__ import annotations

from typing import Annotated

import typer

from bigclf import start
from bigclf.cli.options import Json, Quiet, Verbose, algorithm_names

EXAMPLE = "Example: bigclf doctor --warm --algo nr-rls --algo 'oob --base kernel'"


def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="compile now what runs would else compile when they begin")
    ] = False,
    algo: Annotated[
        list[str] | None,
        typer.Option(
            "--algo",
            metavar="NAME",
            help="with --warm: these alone, each with its options; else all that stand alone",
            autocompletion=algorithm_names,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Show versions, limits, processors and compiled kernels, and what is wrong with them (then exit 1)."""
    start.require("model")
    from bigclf.cli.doctoring import run

    run(warm, algo or [], json, quiet)
