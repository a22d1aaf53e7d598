"""bigclf train: one pass (or more) over the data, and a model file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bigclf.algorithms import registry
from bigclf.cli.groups import ENCODING, READING, RUNNING
from bigclf.cli.options import (
    DEFAULT,
    Data,
    Given,
    Json,
    Quiet,
    Verbose,
    algorithm,
    algorithm_names,
    bases,
    beside,
    takes,
)
from bigclf.errors import UsageError

MOST_SHARDS = 100_000
EXAMPLE = "Example: bigclf train data.csv.gz --label y --algo nr-rls -o model.npz"


def part(text: str | None) -> tuple[int, int] | None:
    """The shard that `I/N` names; UsageError for what names none.

    >>> part("2/3"), part(None)
    ((2, 3), None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]) <= MOST_SHARDS:
        raise UsageError(f"--shard: '{text}' should be I/N, as 2/3, with I from 1 to N and N at most {MOST_SHARDS}")
    return int(found[1]), int(found[2])


def command(argv: Sequence[str]) -> Callable[..., Any]:
    """The command for these arguments: with the options of the algorithm that they name."""
    name = _value(argv, "--algo")
    earlier = _value(argv, "--continue") or _value(argv, "--resume")
    given: Given = bases(argv)
    if name is None and earlier is not None:
        from bigclf.cli.peek import algorithm_of

        name, params = algorithm_of(earlier)
        given = params | given
    if name is not None and name == _value(argv, "--algo") and {"-h", "--help"} & set(argv):
        registry.get(name)  # else the help of another would be shown
    spec = registry.meant(name if name in registry.specs() else DEFAULT, given)
    own = tuple(p for p in spec.params if p.name != "seed")  # it is that of the run

    @takes(running=RUNNING, reading=READING, encoding=beside(ENCODING, spec), params=algorithm(own, spec.name))
    def train(
        data: Data,
        algo: Annotated[
            str, typer.Option("--algo", metavar="NAME", help="see `bigclf algos`", autocompletion=algorithm_names)
        ] = DEFAULT,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", metavar="MODEL", help="model file; default model.npz")
        ] = None,
        json: Json = False,
        quiet: Quiet = False,
        verbose: Verbose = 0,
        *,
        running: Given,
        reading: Given,
        encoding: Given,
        params: Given,
    ) -> None:
        """Train a classifier. Prints progress on standard error; the model goes to -o.

        The options of an algorithm are shown by `bigclf train --algo NAME --help`.
        """
        from bigclf.cli.ready import ready

        ready(data, reading)
        from bigclf.cli.job import Job
        from bigclf.cli.report import Report
        from bigclf.cli.training import execute
        from bigclf.reading.source import find

        if _value(argv, "--cache") == "":
            raise UsageError("--cache: names no folder")
        once_only("-" in data, running)
        sources = find(data, reading.get("format", "auto"))
        once_only(any(s.size is None for s in sources), running)
        running["share"] = part(running.pop("shard", None))
        job = Job(
            sources,
            algo if _value(argv, "--algo") or not earlier else None,
            output or (None if "resume" in running else Path("model.npz")),
            json,
            reading=reading,
            encoding=encoding,
            params=params,
            **running,
        )
        execute(job, Report(quiet))

    return train


def once_only(piped: bool, running: Given) -> None:
    """Refuse what would read a pipe more than once, or in another order; UsageError."""
    again: list[str] = [name for name in ("resume", "shard") if name in running]
    again += ["passes"] if running.get("passes", 1) > 1 else []
    again += ["cache"] if "cache" in running else []
    again += ["shuffle"] if running.get("shuffle") == "block" else []
    if again and piped:
        raise UsageError(f"--{again[0]}: standard input and pipes can be read once only; use a file")


def _value(argv: Sequence[str], option: str) -> str | None:
    """What the arguments give an option, before they are parsed."""
    given = None
    for i, word in enumerate(argv):
        if word.startswith(f"{option}="):
            given = word.removeprefix(f"{option}=")
        elif word == option and i + 1 < len(argv):
            given = argv[i + 1]
    return given
