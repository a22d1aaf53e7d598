"""Entry point: settings that must come before any heavy import, then the command line."""

from __future__ import annotations

import sys

from bigclf import start

start.prepare()


def run() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 fault, 2 usage, 130 interrupted, 141 closed pipe."""
    from bigclf.cli.main import main

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
