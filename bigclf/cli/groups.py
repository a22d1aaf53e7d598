"""The options that several commands share, in groups for `bigclf.cli.options.takes`; and how their texts are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bigclf.cli.options import choice
from bigclf.limits import parse_budget


def size(text: str) -> int:
    """Bytes from text: 4096, 64k, 4MiB, 1.5GB. K, M and G are powers of 1,024.

    >>> size("4096"), size("64k"), size("4MiB")
    (4096, 65536, 4194304)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([kmg]?)i?b?", text.strip().lower())
    if not found:
        raise typer.BadParameter(f"'{text}' is no size; give bytes, or a number with K, M or G")
    value = int(float(found[1]) * 1024 ** " kmg".index(found[2] or " "))
    if value < 1:
        raise typer.BadParameter(f"'{text}' is less than a byte")
    return value


_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def every(text: str) -> tuple[float | None, int | None]:
    """Seconds or rows between two checkpoints; typer.BadParameter for what is neither.

    >>> every("90s"), every("5min"), every("1000000")
    ((90.0, None), (300.0, None), (None, 1000000))
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(s|min|h)?", text.strip())
    if not found or not float(found[1]) or (not found[2] and "." in found[1]):
        raise typer.BadParameter(f"'{text}' is no time and no number of rows; give for example 90s, 5min or 1000000")
    return (float(found[1]) * _UNITS[found[2]], None) if found[2] else (None, int(found[1]))


def _every(text: str | None) -> str | None:
    if text is not None:
        every(text)
    return text


def _block_size(text: str | None) -> str | None:
    if text is not None and not 64 <= size(text) <= 1 << 30:
        raise typer.BadParameter(f"'{text}' is not between 64 bytes and 1 GiB")
    return text


CLASS_WEIGHT = Annotated[
    list[str] | None,
    typer.Option(
        "--class-weight",
        metavar="LABEL=W",
        help="what a row of a class counts, may be repeated; or online: as the class is rare so far",
    ),
]
_RUN: dict[str, Any] = {"rich_help_panel": "The run"}


def _size(text: str | None) -> int | None:
    return None if text is None else size(text)


RUNNING: dict[str, Any] = {
    "passes": Annotated[int | None, typer.Option("--passes", min=1, help="over the data; default 1", **_RUN)],
    "go_on": Annotated[
        Path | None,
        typer.Option("--continue", metavar="MODEL", help="go on from this model with rows that are new to it", **_RUN),
    ],
    "checkpoint": Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="save the run now and then; predict takes it too", **_RUN),
    ],
    "checkpoint_every": Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="TIME",
            help="as 90s or 5min, or a number of rows; default 5min",
            callback=_every,
            **_RUN,
        ),
    ],
    "resume": Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="end the run of this checkpoint as if unbroken", **_RUN),
    ],
    "shard": Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="learn from the I-th of N parts of the input; see merge", **_RUN),
    ],
    "shuffle": Annotated[
        choice("Shuffle", "none", "block") | None,  # type: ignore[operator]
        typer.Option("--shuffle", help="block: rows in random order, out of memory too; plain files only", **_RUN),
    ],
    "cache": Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            file_okay=False,
            help="keep the encoded rows there: further passes and runs over the same data read them instead",
            **_RUN,
        ),
    ],
    "cache_size": Annotated[
        str | None,
        typer.Option(
            "--cache-size", metavar="SIZE", help="of all that is kept in DIR; default 10GiB", callback=_size, **_RUN
        ),
    ],
    "seed": Annotated[int | None, typer.Option("--seed", min=0, help="of random draws; default 1", **_RUN)],
    "class_weight": CLASS_WEIGHT,
    "progress": Annotated[
        choice("Progress", "auto", "bar", "plain", "none") | None,  # type: ignore[operator]
        typer.Option("--progress", help="on standard error; default auto", **_RUN),
    ],
    "log_file": Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="progress as JSON lines, appended", **_RUN)
    ],
}


def _budget(text: str | None) -> str | None:
    if text is not None:
        parse_budget(text)
    return text


_IN: dict[str, Any] = {"rich_help_panel": "Reading"}
READING: dict[str, Any] = {
    "format": Annotated[
        choice("Format", "auto", "libsvm", "csv", "tsv", "parquet") | None,  # type: ignore[operator]
        typer.Option("--format", help="of the input; by default by content, then by name", **_IN),
    ],
    "label": Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="label of a table: a column's name, its number from 1, first, last",
            **_IN,
        ),
    ],
    "ignore": Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="COLUMN", help="leave a column of a table out; may be repeated", **_IN),
    ],
    "categorical": Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            metavar="COLUMN",
            help="take a column's numbers as words; may be repeated",
            **_IN,
        ),
    ],
    "header": Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="CSV: the first line names the columns", **_IN),
    ],
    "delimiter": Annotated[str | None, typer.Option("--delimiter", metavar="CHAR", help="CSV: between fields", **_IN)],
    "decimal": Annotated[str | None, typer.Option("--decimal", metavar="CHAR", help="CSV: the decimal point", **_IN)],
    "quote": Annotated[
        str | None, typer.Option("--quote", metavar="CHAR", help="CSV: around fields; '' for none", **_IN)
    ],
    "encoding": Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="of text, as utf-8 or latin1", **_IN)
    ],
    "on_error": Annotated[
        choice("OnError", "stop", "skip") | None,  # type: ignore[operator]
        typer.Option("--on-error", help="at a bad row: stop, or skip and count it", **_IN),
    ],
    "limit": Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="ROWS", help="read the first rows only", **_IN),
    ],
    "budget": Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="BYTES",
            help="memory of the whole process, as 512MiB, or a share as 50%; default what is free",
            **_IN,
            callback=_budget,
        ),
    ],
    "threads": Annotated[
        int | None,
        typer.Option(
            "--threads",
            metavar="N",
            min=1,
            max=64,
            help="that parse LIBSVM; default 2 where there are as many processors; no result depends on it",
            **_IN,
        ),
    ],
    "block_size": Annotated[
        str | None,
        typer.Option(
            "--block-size",
            metavar="BYTES",
            help="input read at once, as 4MiB; no result depends on it",
            **_IN,
            callback=_block_size,
        ),
    ],
}

_HOW: dict[str, Any] = {"rich_help_panel": "Encoding"}
ENCODING: dict[str, Any] = {
    "scale": Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="NAME,...",
            help="none, minmax, std, maxabs, row-l2, or a column scaling and row-l2; default by algorithm",
            **_HOW,
        ),
    ],
    "missing": Annotated[
        choice("Missing", "mean", "zero", "error", "skip") | None,  # type: ignore[operator]
        typer.Option("--missing", help="missing values of CSV and Parquet; default mean", **_HOW),
    ],
    "hash_bits": Annotated[
        int | None,
        typer.Option("--hash-bits", min=1, max=28, help="hash all columns into 2^BITS", **_HOW),
    ],
    "dtype": Annotated[
        choice("Dtype", "float32", "float64") | None,  # type: ignore[operator]
        typer.Option("--dtype", help="of the rows learned from; default float32", **_HOW),
    ],
    "bias": Annotated[
        bool | None,
        typer.Option("--bias/--no-bias", help="a constant column in front; default on", **_HOW),
    ],
    "features": Annotated[
        choice("Features", "linear", "rm", "poly", "rff") | None,  # type: ignore[operator]
        typer.Option(
            "--features",
            help="map of the columns: rm, a reduced polynomial; poly, all monomials; rff, random Fourier features; "
            "default linear",
            **_HOW,
        ),
    ],
    "order": Annotated[
        int | None, typer.Option("--order", min=1, max=6, help="highest degree of rm and poly; default 2", **_HOW)
    ],
    "rff_dim": Annotated[
        int | None,
        typer.Option("--rff-dim", min=1, max=1 << 31, help="number of random Fourier features; default 500", **_HOW),
    ],
    "sigma": Annotated[
        float | None,
        typer.Option(
            "--sigma", min=1e-30, max=1e30, help="spread of rff, on scaled columns; default by the first rows", **_HOW
        ),
    ],
    "max_features": Annotated[
        int | None,
        typer.Option("--max-features", min=1, max=1 << 31, help="that a map may make; default 20,000", **_HOW),
    ],
    "classes": Annotated[
        str | None,
        typer.Option("--classes", metavar="A,B,...", help="classes that may come later", **_HOW),
    ],
    "positive": Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="LABEL",
            help="the positive class of two; default the larger number, else the later word",
            **_HOW,
        ),
    ],
}
