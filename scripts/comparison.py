"""What the scripts that repeat published comparisons share: options, ranks, Markdown tables, and how results go out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    from scipy import stats
except ImportError:
    sys.exit("scikit-learn is not installed: pip install '.[test]'")

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def common_options(description: str, runs: int, what: str) -> argparse.ArgumentParser:
    """The options that all have. runs: the default, of `what`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=FOLDER, metavar="FOLDER", help="of the sets")
    parser.add_argument("--runs", type=int, default=runs, help=f"of {what}; default {runs}")
    parser.add_argument("--only", metavar="NAME,...", help="these sets alone")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed here too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    return parser


def parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None, names: Iterable[str]) -> argparse.Namespace:
    """The command line, `only` as a set of names."""
    chosen = parser.parse_args(argv)
    if chosen.runs < 1:
        parser.error("--runs: at least 1")
    known = {name.lower(): name for name in names}
    wanted = [name.strip() for name in chosen.only.split(",")] if chosen.only else list(known)
    if unknown := [name for name in wanted if name.lower() not in known]:
        parser.error(f"--only: no set {', '.join(unknown)}; there are {', '.join(known.values())}")
    chosen.only = {known[name.lower()] for name in wanted}
    return chosen


def present(chosen: argparse.Namespace, name: str, files: Iterable[str]) -> bool:
    """Whether a set is wanted and its files are there; tells where they are not."""
    absent = [f for f in files if not (chosen.data / f).exists()]
    if name in chosen.only and absent:
        print(f"{name}: no file {', '.join(absent)}, left out", file=sys.stderr)
    return name in chosen.only and not absent


def compare(
    chosen: argparse.Namespace,
    measured: Iterable[dict[str, Any]],
    report: Callable[[list[dict[str, Any]]], str],
    **more: Any,
) -> int:
    """Print, and write where wanted, the report on all sets. Returns the exit code: 1 where there are none."""
    if not chosen.data.is_dir():
        print(f"no folder {chosen.data}: give the folder of the sets with --data FOLDER", file=sys.stderr)
        return 1
    done = list(measured)
    if not done:
        print(f"no set in {chosen.data}: give the folder of the sets with --data FOLDER", file=sys.stderr)
        return 1
    text = report(done)
    print(text, end="")
    if chosen.markdown:
        chosen.markdown.write_text(text, encoding="utf-8")
    if chosen.json:
        found = {"runs": chosen.runs, **more, "sets": done}
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def ranks(values: np.ndarray) -> np.ndarray:
    """By row, 1 for the largest; ties share the mean of their ranks."""
    return stats.rankdata(-values, axis=1)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *rows])
