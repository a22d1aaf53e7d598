"""Entry point: settings that must come before any heavy import, then the command line."""

from __future__ import annotations

import contextlib
import os
import sys

from bigclf import start

start.prepare()
start.interruptible()


def run() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 fault, 2 usage, 130 interrupted, 141 closed pipe."""
    from bigclf.cli.main import main

    code = main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):  # main has told it
                stream.flush()
    os._exit(code)  # without tearing down: a thread that waits for an idle pipe would hang it


if __name__ == "__main__":
    run()
