"""bigclf compare: many algorithms in one reading of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bigclf.cli.groups import ENCODING, READING
from bigclf.cli.options import Data, Given, Json, Quiet, Verbose, choice, takes
from bigclf.errors import UsageError

EXAMPLE = 'Example: bigclf compare data.svm --algo nr-rls --algo "pa-1 --C 0.1" --test test.svm'
Algos = Annotated[
    list[str],
    typer.Option(
        "--algo",
        metavar='"NAME ..."',
        help='an algorithm with its options and --scale, as "pa-1 --C 0.1"; may be repeated',
        show_default=False,
    ),
]
By = choice("By", "g_mean", "error", "balanced_accuracy", "kappa", "log_loss")


@takes(reading=READING, encoding=ENCODING)
def compare(
    data: Data,
    algo: Algos,
    test: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="FILE", help="labelled rows held out, to rank by; may be repeated"),
    ] = None,
    by: Annotated[By, typer.Option("--by", help="the measure to rank by")] = By.g_mean,  # type: ignore[valid-type, attr-defined]
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="MODEL", help="save the model of the best")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    *,
    reading: Given,
    encoding: Given,
) -> None:
    """Compare algorithms in one reading of the data: the file is parsed once, and every learner sees every row.

    The table has the measures of each, of rows before they are learned and of those of --test, its processor time for
    a row, and the memory of its state.
    """
    if "-" in data and "-" in (test or []):
        raise UsageError("compare: standard input can be read once only; use a file for --test")
    from bigclf.cli.ready import ready

    ready([*data, *(test or [])], reading)
    from bigclf.cli.comparing import run

    run(data, algo, test or [], str(by.value), output, json, quiet, reading, encoding)  # type: ignore[attr-defined]
