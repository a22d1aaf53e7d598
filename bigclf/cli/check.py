"""bigclf check: read everything, learn nothing, tell what is there and every fault."""

from __future__ import annotations

from typing import Annotated

import typer

from bigclf.cli.groups import ENCODING, READING
from bigclf.cli.options import Data, Given, Json, Quiet, Verbose, takes

EXAMPLE = "Example: bigclf check data/*.csv --label y"


@takes(reading={k: v for k, v in READING.items() if k != "on_error"}, encoding={"hash_bits": ENCODING["hash_bits"]})
def check(
    data: Data,
    no_label: Annotated[bool, typer.Option("--no-label", help="rows need no label")] = False,
    max_errors: Annotated[int, typer.Option("--max-errors", min=1, help="faults shown")] = 20,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    *,
    reading: Given,
    encoding: Given,
) -> None:
    """Check data: every fault with its place, rows by class, columns, density, missing values, memory needed.

    Exit code 1 when there are faults.
    """
    from bigclf.cli.ready import ready

    ready(data, reading)
    from bigclf.cli.checking import run

    raise typer.Exit(run(data, no_label, max_errors, json, quiet, reading, encoding))
