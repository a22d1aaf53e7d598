"""Work that is never lost: checkpoints now and then, and one where a signal or the memory's limit ends a run."""

from __future__ import annotations

import shlex
import signal
import time
from pathlib import Path
from typing import Any

from bigclf.cli.groups import every
from bigclf.cli.progress import Progress
from bigclf.errors import BigclfError, BudgetError, DataError, Interrupted, WriteError
from bigclf.limits import counted
from bigclf.model import Model, save
from bigclf.reading.span import SHARE_ROWS
from bigclf.training.apart import apart
from bigclf.training.interrupt import Interrupt, Stop
from bigclf.training.run import Run


class Keeper:
    """Saves checkpoints of a run; `after` and `waiting` are what the run calls."""

    def __init__(
        self, run: Run, progress: Progress, interrupt: Interrupt, path: Path | None, cadence: str, facts: dict[str, Any]
    ) -> None:
        self.run = run
        self.progress = progress
        self.interrupt = interrupt
        self.path = path
        self.facts = facts  # of the run, for the checkpoint
        self.reading: dict[str, Any] = {}
        self.again: list[str] = []  # options of this run that the next one should have too
        self._seconds, self._rows = every(cadence)
        self._tried_at, self._tried_rows = time.monotonic(), run.fit.rows
        self._failing = False  # the last checkpoint now and then could not be written

    def after(self) -> None:
        """Between two blocks."""
        self.interrupt.busy = True
        self.progress.tick()
        if self.path is not None and self._due():
            self._save_or_warn(self.path)
        self.interrupt.check()

    def waiting(self) -> None:
        """While no block is there."""
        self.interrupt.check()

    def model(self) -> Model:
        """The finished model. Where all is solved at the end that may last, and a signal ends it as it ends a pass."""
        run = self.run
        if run.fit.learner.grain != "end":
            return run.model(self.reading)

        def waiting() -> None:
            self.interrupt.check()
            self.progress.solving()

        return apart(lambda: run.model(self.reading), waiting)

    def _due(self) -> bool:
        if self._seconds is not None:
            return time.monotonic() - self._tried_at >= self._seconds
        return self.run.fit.rows - self._tried_rows >= (self._rows or 0)

    def _save(self, path: Path) -> None:
        save(path, self.run.checkpoint(self.reading, self.facts))

    def _save_or_warn(self, path: Path) -> None:
        """Save, if it can be: work of hours should not end because a disk is full just now."""
        report = self.progress.report
        try:
            self._save(path)
        except WriteError as e:
            if not self._failing:
                report.fault(f"{e}; the run goes on without this checkpoint and tries again when the next one is due")
            self._failing = True
        else:
            if self._failing:
                report.fault(f"{path}: checkpoints can be written again")
            self._failing = False
        self._tried_at, self._tried_rows = time.monotonic(), self.run.fit.rows

    def stopped(self, stop: Stop, output: Path) -> Interrupted:
        """Save for a signal; the error that ends the run."""
        name = signal.Signals(stop.number).name
        code = 128 + stop.number
        path = self.path or output.with_name(output.name.removesuffix(".npz") + ".ck.npz")
        if stop.at_once:
            kept = f"{path} holds the last checkpoint" if path.exists() else "there is no checkpoint"
            return Interrupted(f"{name} again: stopped at once; {kept}", code)
        run = self.run
        row = max(run.fit.next_row - run.base, 0) % SHARE_ROWS  # a model that goes on has its rows before the base
        where = f"interrupted at row {row} of pass {run.number}"
        if not run.fit.rows:
            return Interrupted(f"{where}; nothing was learned yet, nothing is saved", code)
        try:
            self._save(path)
        except WriteError as e:
            return Interrupted(f"{where}; {e}", e.exit_code)
        sources = run.stream.sources
        if any(s.size is None for s in sources):
            how = "a pipe cannot be read again; go on with the rows that follow: bigclf train ... --continue"
            return Interrupted(f"{where}; saved {path}; {how} {shlex.quote(str(path))}", code)
        options = ["--resume", str(path), "-o", str(output), *self.again]
        command = shlex.join(["bigclf", "train", *options, "--", *(s.path for s in sources)])
        return Interrupted(f"{where}; saved {path}; go on with: {command}", code)

    def failed(self, e: DataError) -> BigclfError:
        """Save for a fault of the data, when the user asked for checkpoints; the error that ends the run."""
        if self.path is None or not self.run.fit.rows:
            return e
        try:
            self._save(self.path)
        except WriteError as full:
            return BigclfError(f"{e}; {full}")
        kept = counted(self.run.fit.rows, "row before it is", "rows before it are")
        how = f"the {kept} in {self.path}, --resume with --on-error skip goes on"
        return BigclfError(f"{e}; {how}")

    def out_of_memory(self, e: BudgetError, output: Path) -> BigclfError:
        """Save what was learned before the memory's limit; the error that ends the run."""
        rows = self.run.fit.rows
        if not rows:
            return e
        save(output, self.model())
        return BigclfError(f"{e}; the model of the {counted(rows, 'row')} before that was saved as {output}")
