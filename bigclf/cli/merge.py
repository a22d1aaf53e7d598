"""bigclf merge: models of parts become the model of the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bigclf import start
from bigclf.cli.options import Quiet, Verbose

EXAMPLE = "Example: bigclf merge part1.npz part2.npz part3.npz -o whole.npz"


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL", help="in the order of the data", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="the model of all")],
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Merge models that were trained on parts of the data, as with `train --shard I/N`.

    The result is the model of one run over all parts. What cannot be merged exactly is refused.
    """
    from bigclf.cli.report import Report
    from bigclf.files import writable
    from bigclf.limits import counted
    from bigclf.model import load, save
    from bigclf.training.merge import merge as merged

    writable(output, models)
    parts = [(str(path), load(path)) for path in models]
    shards, others = ([path for path, m in parts if bool(m.share) == held] for held in (True, False))
    model = merged(parts)
    save(output, model)
    start.stands(f"the model is saved as {output}")
    report = Report(quiet)
    for path, earlier in _again(models):
        what = "is named twice" if path == earlier else f"holds the same as {earlier}"
        report.note(f"{path}: {what}; its rows count twice")
    if shards and others:  # no model knows what its rows were read from
        report.note(f"{others[0]}: is no shard; if it is of the whole input, rows of {shards[0]} count twice")
    if model.share:
        of, *held = model.share
        absent = [str(i) for i in range(1, of + 1) if i not in held]
        among = "the others" if others else "these"
        report.note(f"of {of} shards {', '.join(absent[:10])}{', ...' * (len(absent) > 10)} are not among {among}")
    report.note(f"{counted(model.rows, 'row')} of {counted(len(models), 'model')}; model: {output}")


def _again(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """The files whose bytes are those of an earlier one, which is given with each."""
    found: dict[bytes, Path] = {}
    for path in paths:
        with path.open("rb") as f:
            digest = hashlib.file_digest(f, "sha256").digest()
        earlier = found.setdefault(digest, path)
        if earlier is not path:
            yield path, earlier
