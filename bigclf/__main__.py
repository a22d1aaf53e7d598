"""Entry point: settings that must come before any heavy import, then the command line."""

from __future__ import annotations

import gc
import os
import sys

# One BLAS thread: more gain nothing on tiles and spin on busy machines; a user's own setting is respected.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# Importing makes some hundred thousand objects and no rubbish: looking for it all the time costs a tenth of the start.
gc.set_threshold(100_000, 20, 100)


def run() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 fault, 2 usage, 130 interrupted, 141 closed pipe."""
    from bigclf.cli.main import main

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
