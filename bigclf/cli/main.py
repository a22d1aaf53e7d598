"""The application: its commands, and how every way of ending becomes one line and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from bigclf import __version__, start
from bigclf.algorithms.watching import brought
from bigclf.errors import NO_RESULTS, BigclfError, Stopped, UsageError

COMMANDS = {
    "train": "Train a classifier.",
    "predict": "Predict: one label a line on standard output.",
    "evaluate": "Evaluate a model on labelled data.",
    "compare": "Compare algorithms in one reading of the data.",
    "cv": "Cross-validate algorithms.",
    "ikt": "Find the spread of a Gaussian kernel.",
    "check": "Check data: every fault with its place.",
    "merge": "Merge models of parts of the data.",
    "info": "Show what is in a model.",
    "algos": "List the algorithms, or show one.",
    "doctor": "Show limits, versions and compiled kernels; --warm compiles.",
}

# what is said of a command that a signal ends, until it knows better
STANDS = {
    "train": "nothing was learned yet, nothing is saved",
    "predict": "nothing was written",
    "evaluate": NO_RESULTS,
    "compare": NO_RESULTS,
    "cv": NO_RESULTS,
    "ikt": NO_RESULTS,
    "check": "not all rows were checked",
    "merge": "nothing was written",
}


def build(argv: Sequence[str]) -> typer.Typer:
    """The application for these arguments.

    Of the commands only the one that is named is imported (its many options cost time to build); the others are there
    by name. `train` has the options of the algorithm that the arguments name.
    """
    app = typer.Typer(
        name="bigclf",
        help="Train classifiers on files far larger than memory.",
        epilog="Example: bigclf train data.svm --algo nr-rls -o model.npz && bigclf evaluate model.npz test.svm",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if set(argv[:1]) & COMMANDS.keys() else None,  # the short list needs no panels
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def bare(
        ctx: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="print the version and leave")] = False,
    ) -> None:
        if version:
            print(f"bigclf {__version__}")
            raise typer.Exit
        if ctx.invoked_subcommand is None:
            print(ctx.get_help(), file=sys.stderr)
            raise typer.Exit(2)

    for name, line in COMMANDS.items():
        if name not in argv[:1]:
            app.command(name, help=line)(lambda: None)
            continue
        module = import_module(f"bigclf.cli.{name}")
        command: Callable[..., Any] = module.command(argv) if hasattr(module, "command") else getattr(module, name)
        app.command(name, epilog=module.EXAMPLE, short_help=line)(command)
    return app


def main(argv: list[str]) -> int:
    """Run the command line; returns the exit code. Errors are one line on standard error."""
    if threading.current_thread() is not threading.main_thread():
        return _run(argv)
    sys.unraisablehook = start.lost
    old = {number: signal.signal(number, start.on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return _run(argv)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _run(argv: list[str]) -> int:
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # numbers that overflow are told by checks of ours
    outer = start.stands(STANDS.get(argv[0], "") if argv else "")  # doctor calls other commands
    try:
        code = build(_words() or argv)(argv, prog_name="bigclf", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Exit as e:
        return e.exit_code
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit as e:  # typer's own answer to a closed pipe, which would look like a fault
        if isinstance(e.__context__, BrokenPipeError):
            return _closed_pipe()
        raise
    except Stopped as e:
        start.arrived()  # it was not lost
        how = "interrupted" if e.number == signal.SIGINT else "terminated"
        return _fail("; ".join(filter(None, (how, start.stands("")))), 128 + e.number, argv)
    except BigclfError as e:
        hint = _help_hint(argv) if isinstance(e, UsageError) else ""
        return _fail(f"{e}{hint}", e.exit_code, argv)
    except MemoryError as e:
        return _fail(f"out of memory{f' ({e})' if str(e) else ''}; try a smaller --block-size or --hash-bits", 1, argv)
    except OSError as e:
        return _fail(f"{e.filename or 'standard output'}: {e.strerror or e}", 1, argv)
    except Exception as e:
        if not hasattr(e, "format_message"):  # typer's usage errors have it; anything else is a mistake of ours
            raise
        said = " ".join(e.format_message().split()).rstrip(".").replace("Value error, ", "")
        stray = re.match(r"No such option:? '?(--[\w-]+)", said)
        why = brought(stray[1]) if stray else ""
        return _fail(f"{f'{stray[1]}: {why}' if stray and why else said}{_help_hint(argv)}", 2, argv)
    finally:
        start.stands(outer)


def _closed_pipe() -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is to be flushed into the pipe
    return 128 + signal.SIGPIPE


def _fail(text: str, code: int, argv: Sequence[str]) -> int:
    if os.environ.get("BIGCLF_DEBUG") == "1" or any(re.fullmatch("-vv+", a) for a in argv):
        traceback.print_exc()
    if sys.stderr is not None:  # print would take standard output instead
        print(f"bigclf: {text}", file=sys.stderr)
    return code


def _help_hint(argv: Sequence[str]) -> str:
    command = argv[0] if argv and argv[0] in COMMANDS else ""
    named = re.search(r"--algo[= ](\S+)", " ".join(argv)) if command == "train" else None
    if named and named[1] not in import_module("bigclf.algorithms.registry").specs():
        named = None
    return f"; see `bigclf {command + ' ' if command else ''}{named[0] + ' ' if named else ''}--help`"


def _words() -> list[str]:
    """The words being completed, when a shell asks for completion."""
    return os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]
