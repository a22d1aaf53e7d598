"""bigclf train: one pass (or more) over the data, and a model file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bigclf.algorithms import registry
from bigclf.cli.options import (
    ENCODING,
    READING,
    Data,
    Given,
    Json,
    Quiet,
    Verbose,
    algorithm,
    algorithm_names,
    choice,
    takes,
)
from bigclf.errors import UsageError

DEFAULT = "nr-rls"
EXAMPLE = "Example: bigclf train data.csv.gz --label y --algo nr-rls -o model.npz"


SHUFFLE = choice("Shuffle", "none", "block")
PROGRESS = choice("Progress", "auto", "bar", "plain", "none")


def part(text: str | None) -> tuple[int, int] | None:
    """The shard that `I/N` names; UsageError for what names none.

    >>> part("2/3"), part(None)
    ((2, 3), None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard: '{text}' should be I/N, as 2/3, with I from 1 to N")
    return int(found[1]), int(found[2])


def command(argv: Sequence[str]) -> Callable[..., Any]:
    """The command for these arguments: with the options of the algorithm that they name."""
    name = _value(argv, "--algo")
    earlier = _value(argv, "--continue") or _value(argv, "--resume")
    if name is None and earlier is not None:
        from bigclf.cli.peek import algorithm_of

        name = algorithm_of(earlier)
    name = name or DEFAULT
    spec = registry.specs().get(name, registry.get(DEFAULT))

    @takes(reading=READING, encoding=ENCODING, params=algorithm(spec.params, spec.name))
    def train(
        data: Data,
        algo: Annotated[
            str, typer.Option("--algo", metavar="NAME", help="see `bigclf algos`", autocompletion=algorithm_names)
        ] = DEFAULT,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", metavar="MODEL", help="model file; default model.npz")
        ] = None,
        passes: Annotated[int | None, typer.Option("--passes", min=1, help="over the data; default 1")] = None,
        go_on: Annotated[
            Path | None,
            typer.Option("--continue", metavar="MODEL", help="go on from this model with rows that are new to it"),
        ] = None,
        checkpoint: Annotated[
            Path | None,
            typer.Option("--checkpoint", metavar="FILE", help="save the run now and then; predict takes it too"),
        ] = None,
        checkpoint_every: Annotated[
            str, typer.Option("--checkpoint-every", metavar="TIME", help="as 90s or 5min, or a number of rows")
        ] = "5min",
        resume: Annotated[
            Path | None,
            typer.Option("--resume", metavar="FILE", help="end the run of this checkpoint, as if never interrupted"),
        ] = None,
        shard: Annotated[
            str | None,
            typer.Option("--shard", metavar="I/N", help="learn from the I-th of N parts of the input; see merge"),
        ] = None,
        shuffle: Annotated[
            SHUFFLE,  # type: ignore[valid-type]
            typer.Option("--shuffle", help="block: rows in random order, out of memory too; plain files only"),
        ] = SHUFFLE.none,  # type: ignore[attr-defined]
        seed: Annotated[int, typer.Option("--seed", min=0, help="of random draws")] = 1,
        json: Json = False,
        progress: Annotated[PROGRESS, typer.Option("--progress", help="on standard error")] = PROGRESS.auto,  # type: ignore[valid-type, attr-defined]
        log_file: Annotated[
            Path | None, typer.Option("--log-file", metavar="FILE", help="progress as JSON lines, appended")
        ] = None,
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
        from bigclf.cli.keeper import every
        from bigclf.cli.report import Report
        from bigclf.cli.training import Job, execute
        from bigclf.reading.source import find

        every(checkpoint_every)
        share = part(shard)
        job = Job(
            find(data, reading.get("format", "auto")),
            algo if _value(argv, "--algo") or not earlier else None,
            output or (None if resume else Path("model.npz")),
            passes,
            go_on,
            resume,
            checkpoint,
            json,
            share,
            shuffle.value == "block",
            seed,
            checkpoint_every,
            progress.value,
            log_file,
            reading,
            encoding,
            params,
        )
        execute(job, Report(quiet))

    return train


def _value(argv: Sequence[str], option: str) -> str | None:
    """What the arguments give an option, before they are parsed."""
    given = None
    for i, word in enumerate(argv):
        if word.startswith(f"{option}="):
            given = word.removeprefix(f"{option}=")
        elif word == option and i + 1 < len(argv):
            given = argv[i + 1]
    return given
