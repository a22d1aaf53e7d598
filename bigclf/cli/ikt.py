"""bigclf ikt: the spread of a Gaussian kernel, for any support vector machine."""

from __future__ import annotations

from typing import Annotated

import typer

from bigclf.algorithms.fsvc import PROTOTYPES
from bigclf.algorithms.prototypes import length
from bigclf.cli.groups import ENCODING, READING
from bigclf.cli.options import Data, Given, Json, Quiet, Verbose, algorithm, choice, takes

EXAMPLE = "Example: bigclf ikt data.csv --label y --json"
Method = choice("Method", "ikt", "min", "left-corner", "grid")
Classes = choice("Classes", "first", "populous")
Prototypes = algorithm((length(PROTOTYPES),), "fsvc")["prototypes"]


@takes(reading=READING, encoding={k: ENCODING[k] for k in ("scale", "missing", "hash_bits", "dtype")})
def ikt(
    data: Data,
    method: Annotated[
        Method,  # type: ignore[valid-type]
        typer.Option(
            "--method",
            help="ikt, min, left-corner: rules of the thesis over the curve; grid: kappa of fsvc on rows kept aside",
        ),
    ] = Method.ikt,  # type: ignore[attr-defined]
    prototypes: Prototypes = None,  # type: ignore[valid-type]
    tuning_classes: Annotated[
        Classes,  # type: ignore[valid-type]
        typer.Option("--tuning-classes", help="the two classes that the curve is of"),
    ] = Classes.populous,  # type: ignore[attr-defined]
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    *,
    reading: Given,
    encoding: Given,
) -> None:
    """Find the spread of a Gaussian kernel in one pass, for any support vector machine: ideal kernel tuning.

    Prints sigma, and gamma = 1 / (2 sigma^2) as LIBSVM has it, for columns scaled as here (--scale std by default).
    On a terminal a plot shows the distance to the ideal kernel, which is 1 for rows of one class and else 0.
    """
    from bigclf.cli.ready import ready

    ready(data, reading)
    from bigclf.cli.tuning import run

    of, rule = str(tuning_classes.value), str(method.value)  # type: ignore[attr-defined]
    run(data, rule, prototypes or PROTOTYPES, of, json, quiet, reading, encoding)
