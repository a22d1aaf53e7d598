"""bigclf predict: one line for every row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bigclf.cli.groups import READING
from bigclf.cli.options import Data, Given, ModelFile, Quiet, Verbose, takes

EXAMPLE = "Example: zcat new.svm.gz | bigclf predict model.npz - > labels.txt"


@takes(reading=READING)
def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="instead of standard output")
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="add tab-separated decision values: the positive class's, or one a class in class order"
        ),
    ] = False,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="add tab-separated probabilities, for learners that have them, in the same order"),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    *,
    reading: Given,
) -> None:
    """Predict: one label a line on standard output, in the order of the rows.

    A row skipped under --on-error skip gives an empty line, so that lines stay aligned with rows.
    """
    from bigclf.cli.ready import ready

    ready(data, reading)
    from bigclf.cli.predicting import run

    run(model, data, output, scores, proba, quiet, reading)
