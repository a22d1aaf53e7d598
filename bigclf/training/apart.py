"""Long work in a thread of its own, so that signals are heard and progress is told while it lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from bigclf.reading.ahead import PATIENCE

STACK = 16 << 20  # bytes: kernels may be compiled there
Made = TypeVar("Made")


def apart(work: Callable[[], Made], waiting: Callable[[], None]) -> Made:
    """What the work returns or raises; `waiting` is called now and then until it is there.

    What `waiting` raises ends the wait at once. The thread then goes on with what cannot be broken off and is lost with
    the process, so the work must change nothing that the caller still needs.
    """
    made: list[Made] = []
    faults: list[BaseException] = []

    def go() -> None:
        try:
            made.append(work())
        except BaseException as e:
            faults.append(e)

    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=go, name="solver", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    while thread.is_alive():
        thread.join(timeout=PATIENCE)
        waiting()
    if faults:
        raise faults[0]
    return made[0]
