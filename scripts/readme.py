"""Writes the parts of README.md that come from the program: the table of algorithms, and the help of every command.

    python scripts/readme.py [--check] [README]

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; the parts are `algorithms` and `help`. With --check
nothing is written, and the exit code is 1 when the README differs from what would be.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from bigclf.algorithms import registry
from bigclf.cli.main import COMMANDS

PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
NOT_PLAIN = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "LINES", "_TYPER_FORCE_DISABLE_TERMINAL")


def bigclf(*words: str) -> str:
    """Standard output of a command, in a process of its own, without colour and 100 columns wide."""
    env = {k: v for k, v in os.environ.items() if k not in NOT_PLAIN} | PLAIN | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-m", "bigclf", *words], env=env, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"bigclf {' '.join(words)}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def algorithms() -> str:
    """All algorithms."""
    rows = [[f"`{name}`", spec.line, spec.source] for name, spec in registry.specs().items()]
    return table(["algorithm", "what it does", "source"], rows)


def options() -> str:
    """The options of all algorithms; one that several have in common stands there once."""
    found: dict[tuple[str, ...], list[str]] = {}
    facts: dict[str, Any] = json.loads(bigclf("algos", "--json"))
    for name, spec in facts.items():
        for p in spec["params"]:
            row = (f"`--{p['name']}`", str(p["default"]), p["values"], p["help"])
            found.setdefault(row, []).append(f"`{name}`")
    rows = [[", ".join(names), *row] for row, names in found.items()]
    return table(["algorithms", "option", "default", "values", "meaning"], rows)


def help_texts() -> str:
    """The help of each command, and the options of the algorithms."""
    parts = []
    for name in COMMANDS:
        lines = [line.rstrip() for line in bigclf(name, "--help").strip("\n").splitlines()]
        text = re.sub(r"\n{2,}", "\n\n", "\n".join(lines)).strip("\n")
        parts.append(f"### bigclf {name}\n\n```text\n{text}\n```")
    parts.append(f"### Options of the algorithms\n\n{options()}")
    return "\n\n".join(parts)


PARTS = {"algorithms": algorithms, "help": help_texts}


def renewed(text: str) -> str:
    """The README's text with all parts as they should be."""
    for name, make in PARTS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            sys.exit(f"the README should have {begin} and {end} behind it, once each")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{make()}\n\n{end}{rest.split(end)[1]}"
    return text


def main() -> int:
    """Check or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the README differs")
    parser.add_argument("readme", nargs="?", type=Path, default=Path(__file__).parent.parent / "README.md")
    args = parser.parse_args()
    old = args.readme.read_text(encoding="utf-8")
    new = renewed(old)
    if new == old:
        return 0
    if args.check:
        print(f"{args.readme}: differs from what the program says; run `python scripts/readme.py`", file=sys.stderr)
        return 1
    args.readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
