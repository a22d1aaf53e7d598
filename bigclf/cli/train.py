"""bigclf train: one pass (or more) over the data, and a model file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bigclf.algorithms import registry
from bigclf.cli.options import ENCODING, READING, Data, Given, Json, Quiet, Verbose, algorithm, takes

DEFAULT = "nr-rls"
EXAMPLE = "Example: bigclf train data.csv.gz --label y --algo nr-rls -o model.npz"


def _names(incomplete: str) -> list[str]:
    return [n for n in registry.specs() if n.startswith(incomplete)]


def command(argv: Sequence[str]) -> Callable[..., Any]:
    """The command for these arguments: with the options of the algorithm that they name."""
    name = DEFAULT
    for i, word in enumerate(argv):
        if found := re.fullmatch(r"--algo=(.*)", word):
            name = found[1]
        elif word == "--algo" and i + 1 < len(argv):
            name = argv[i + 1]
    spec = registry.specs().get(name, registry.get(DEFAULT))

    @takes(reading=READING, encoding=ENCODING, params=algorithm(spec.params, spec.name))
    def train(
        data: Data,
        algo: Annotated[
            str, typer.Option("--algo", metavar="NAME", help="see `bigclf algos`", autocompletion=_names)
        ] = DEFAULT,
        output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="model file")] = Path("model.npz"),
        passes: Annotated[int, typer.Option("--passes", min=1, help="over the data")] = 1,
        go_on: Annotated[
            Path | None,
            typer.Option("--continue", metavar="MODEL", help="go on from this model with rows that are new to it"),
        ] = None,
        json: Json = False,
        quiet: Quiet = False,
        verbose: Verbose = 0,
        *,
        reading: Given,
        encoding: Given,
        params: Given,
    ) -> None:
        """Train a classifier. Prints progress on standard error; the model goes to -o.

        The options of an algorithm are shown by `bigclf train --algo NAME --help`.
        """
        from bigclf.cli.report import Report
        from bigclf.cli.training import Job, run

        named = algo if algo_given(argv) or go_on is None else None
        run(Job(data, named, output, passes, go_on, json, reading, encoding, params), Report(quiet))

    return train


def algo_given(argv: Sequence[str]) -> bool:
    """Whether the user named an algorithm, or left the default."""
    return any(a == "--algo" or a.startswith("--algo=") for a in argv)
