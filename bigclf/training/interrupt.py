"""Signals: the first asks a run to stop where it can go on from, the second stops it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from bigclf import start

ASKED = (signal.SIGINT, signal.SIGTERM)


class Stop(BaseException):
    """The run is to end because of a signal. Not an Exception: nothing may catch it by the way."""

    def __init__(self, number: int, at_once: bool) -> None:
        super().__init__(number)
        self.number = number
        self.at_once = at_once  # the user would not wait for a checkpoint


class Interrupt:
    """While entered, SIGINT and SIGTERM are noted, and `check` raises Stop.

    A second one raises Stop by itself, and so does the first until the run is busy: it may wait for an idle pipe.
    """

    def __init__(self) -> None:
        self.number = 0
        self.again = False
        self.busy = False  # rows are being learned from: what was learned is to be kept
        self._old: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        self.number = start.arrived()
        if threading.current_thread() is threading.main_thread():
            self._old = {number: signal.signal(number, self._note) for number in ASKED}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, signal.SIG_IGN if self.number else handler)  # the end is not to be disturbed

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if start.waits(number):
            return
        if self.again:
            return  # what is half-written is being cleared away
        if self.number:
            self.again = True
            raise Stop(number, at_once=True)
        self.number = number
        if not self.busy:
            raise Stop(number, at_once=False)

    def check(self) -> None:
        """Raise Stop when a signal came."""
        if self.number:
            raise Stop(self.number, at_once=False)
