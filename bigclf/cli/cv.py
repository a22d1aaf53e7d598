"""bigclf cv: cross-validation, all folds in one reading to train and one to test."""

from __future__ import annotations

from typing import Annotated

import typer

from bigclf.cli.compare import Algos
from bigclf.cli.groups import ENCODING, READING
from bigclf.cli.options import Data, Given, Json, Quiet, Verbose, takes
from bigclf.errors import UsageError

EXAMPLE = 'Example: bigclf cv data.csv --label y --algo nr-rls --algo "rls --b 1e-2" --folds 10'


@takes(reading=READING, encoding=ENCODING)
def cv(
    data: Data,
    algo: Algos,
    folds: Annotated[int, typer.Option("--folds", min=2, max=1000, help="parts, each tested once a run")] = 10,
    runs: Annotated[int, typer.Option("--runs", min=1, max=1000, help="anew with other folds")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="of the folds")] = 1,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    *,
    reading: Given,
    encoding: Given,
) -> None:
    """Cross-validate algorithms: mean and standard deviation of each measure over all folds of all runs.

    Folds are stratified and depend on the seed alone. The data is read twice, however many folds, runs and algorithms:
    once to train, once to test. What the first rows fix, as the scaling of most algorithms, is the same for all folds.
    """
    if "-" in data:
        raise UsageError("cv: reads the data twice, and standard input can be read once only; use a file")
    from bigclf.cli.ready import ready

    ready(data, reading)
    from bigclf.cli.validating import run

    run(data, algo, (runs, folds, seed), json, quiet, reading, encoding)
