"""Writes the parts of README.md that come from the program: the tables of algorithms and of options.

    python scripts/readme.py [--check] [README]

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; the parts are `algorithms` and `options`. With
--check nothing is written, and the exit code is 1 when the README differs from what would be.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import get_args

from bigclf.algorithms import registry
from bigclf.algorithms.watching import BRINGS, DRIFT
from bigclf.cli.algos import value_range
from bigclf.cli.groups import ENCODING, READING, RUNNING
from bigclf.cli.main import COMMANDS


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def algorithms() -> str:
    """All algorithms."""
    rows = [[f"`{name}`", spec.line, spec.source] for name, spec in registry.specs().items()]
    return table(["algorithm", "what it does", "source"], rows)


def algorithm_options() -> str:
    """The options of all algorithms; one that several have in common stands there once."""
    found: dict[tuple[str, ...], list[str]] = {}
    watched = {"all that go row by row": (DRIFT,)} | {f"with `--drift {d}`": own for d, own in BRINGS.items()}
    named = {f"`{name}`": spec.params for name, spec in registry.specs().items()}
    for who, params in (watched | named).items():
        for p in params:
            row = (f"`--{p.name}`", str(p.default), value_range(p), p.help)
            found.setdefault(row, []).append(who)
    rows = [[", ".join(names), *row] for row, names in found.items()]
    return table(["algorithms", "option", "default", "values", "meaning"], rows)


def command_options() -> str:
    """The options of every command, from their declarations; those that commands share stand in tables of their own."""
    parts = []
    for name in COMMANDS:
        module = import_module(f"bigclf.cli.{name}")
        command = module.command([]) if hasattr(module, "command") else getattr(module, name)
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if "__" not in p.name]
        text = " ".join((command.__doc__ or "").split())
        example = module.EXAMPLE.removeprefix("Example: ")
        parts.append(f"### bigclf {name}\n\n{text}\n\n```sh\n{example}\n```\n\n{described(own)}")
    for title, group in (
        ("The run (train)", RUNNING),
        ("Reading options (train, predict, evaluate, compare, cv, ikt; check, but for --on-error)", READING),
        ("Encoding (train, compare, cv)", ENCODING),
    ):
        shared = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, annotation=a) for n, a in group.items()]
        parts.append(f"### {title}\n\n{described(shared)}")
    parts.append(f"### Options of the algorithms\n\n{algorithm_options()}")
    return "\n\n".join(parts)


def described(parameters: list[inspect.Parameter]) -> str:
    """A table of options and arguments, from typer's annotations."""
    rows = []
    for p in parameters:
        info = p.annotation.__metadata__[0]
        first = info.default if isinstance(info.default, str) else ""  # where typer keeps an option's first name
        names = [first, *(info.param_decls or ())]
        words = " ".join([", ".join(n for n in names if n), info.metavar or ""]).strip()
        kinds = [k for k in (get_args(p.annotation.__origin__) or ()) if isinstance(k, type) and issubclass(k, Enum)]
        values = f" ({', '.join(kinds[0].__members__)})" if kinds else ""
        rows.append([f"`{words}`", f"{info.help}{values}"])
    return table(["", "meaning"], rows)


PARTS = {"algorithms": algorithms, "options": command_options}


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
