"""The start of the process: what must be set before any heavy import, and what is undone once the work has begun."""

from __future__ import annotations

import gc
import os

# One BLAS thread: more gain nothing on tiles and spin on busy machines. A user's own setting is respected.
_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def prepare() -> None:
    """Settings for libraries that read them when imported; and no search for rubbish while there is none.

    Importing makes some hundred thousand objects that stay: looking through them again and again costs a tenth of the
    start.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    gc.disable()


def over() -> None:
    """The first rows were read: what was imported is set aside, and rubbish is collected again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
