"""How a run is getting on: a bar on a terminal, a line now and then elsewhere, JSON lines in a log file."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Protocol

from bigclf.cli.report import Report, brief, clock, number, peak_mib, pulled
from bigclf.errors import BigclfError
from bigclf.limits import counted
from bigclf.training.metrics import measures

if TYPE_CHECKING:
    from bigclf.reading.shuffle import Shuffled
    from bigclf.reading.stream import Stream
    from bigclf.training.fit import Fit

BAR_SECONDS, LINE_SECONDS, LOG_SECONDS = 0.2, 10.0, 5.0  # between two looks
FIRST_LINE = 2.0
SOLVING = "all rows are learned; solving ..."


class Watched(Protocol):
    """What is told of: a run, or a contest by its first learner."""

    @property
    def fit(self) -> Fit: ...
    @property
    def stream(self) -> Stream | Shuffled: ...
    @property
    def learned(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def passes(self) -> int: ...


class Progress:
    """Told after every block; says something only when it is due."""

    def __init__(self, report: Report, run: Watched, mode: str, log: Path | None) -> None:
        self.report = report
        self.run = run
        self.bar: Any = None
        self.log: IO[str] | None = None
        self._log_path = log
        if mode == "auto":
            mode = "bar" if sys.stderr.isatty() else "plain"
        self.mode = "none" if report.quiet else mode
        now = time.monotonic()
        self._began, self._rows_before, self._bytes_before = now, run.learned, run.stream.progress()[0]
        self._due = now + (BAR_SECONDS if self.mode == "bar" else FIRST_LINE)
        self._log_due = now + LOG_SECONDS
        self._solving: float | None = None  # when to tell of it

    def __enter__(self) -> Progress:
        if self._log_path is not None:
            try:
                self.log = open(self._log_path, "a", encoding="utf-8")
            except OSError as e:
                raise BigclfError(f"{self._log_path}: cannot be written: {e.strerror}") from None
            self._write("start", algorithm=self.run.fit.spec.name, inputs=[s.path for s in self.run.stream.sources])
        if self.mode == "bar":
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (
                BarColumn(bar_width=24),
                TextColumn("{task.percentage:>3.0f}%"),
                TextColumn("{task.description}"),
            )
            self.bar = Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
            self._task = self.bar.add_task("", total=None)
            self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()
        if self.log is not None:
            self._write("end" if kind is None else "stopped", **({"error": str(value)} if kind else {}))
        if self.log is not None:
            self.log.close()

    def tick(self) -> None:
        """Show or write what is due."""
        now = time.monotonic()
        if self.log is not None and now >= self._log_due:
            self._log_due = now + LOG_SECONDS
            self._write("progress")
        if self.mode == "none" or now < self._due:
            return
        if self.bar is None:
            self._due = now + LINE_SECONDS
            self.report.note(self._line())
            return
        self._due = now + BAR_SECONDS
        done, total = self.run.stream.progress()
        self.bar.update(self._task, completed=done, total=total, description=self._line())
        self.bar.refresh()

    def solving(self) -> None:
        """Say once that the end takes long."""
        now = time.monotonic()
        if self._solving is None:
            self._solving = now + FIRST_LINE
        if self.mode == "none" or now < self._solving:
            return
        self._solving = math.inf
        if self.bar is None:
            self.report.note(SOLVING)
        else:
            self.bar.update(self._task, description=SOLVING)
            self.bar.refresh()

    def _facts(self) -> dict[str, Any]:
        fit = self.run.fit
        seconds = max(time.monotonic() - self._began, 1e-9)
        done, total = self.run.stream.progress()
        read = max(done - self._bytes_before, 0) if self.run.number == 1 else done
        if total is not None:
            read += (self.run.number - 1) * total - (self._bytes_before if self.run.number > 1 else 0)
        speed = read / seconds
        passes_left = self.run.passes - self.run.number
        left = None if not total or read <= 0 else (max(total - done, 0) + passes_left * total) / speed
        m = measures(fit.matrix)
        return {
            "pass": self.run.number,
            "rows": self.run.learned,
            "rows_per_second": (self.run.learned - self._rows_before) / seconds,
            "bytes": done,
            "total_bytes": total,
            "megabytes_per_second": speed / 1e6,
            "seconds_left": left,
            "peak_memory_mib": peak_mib(),
            "error": m.error,
            "g_mean": m.g_mean,
            "kappa": m.kappa,
            "gradient": fit.gradient(),
        }

    def _line(self) -> str:
        f = self._facts()
        left = f", {clock(f['seconds_left'])} left" if f["seconds_left"] is not None else ""
        which = f"pass {f['pass']}, " if self.run.passes > 1 else ""
        speed = f"{f['rows_per_second']:,.0f} rows/s, {f['megabytes_per_second']:.0f} MB/s{left}"
        m = brief(measures(self.run.fit.matrix))
        gradient = f"; gradient {pulled(f['gradient'])}" if f["gradient"] is not None else ""
        return f"{which}{counted(f['rows'], 'row')}, {speed}, {number(f['peak_memory_mib'], 0)} MiB; {m}{gradient}"

    def _write(self, event: str, **more: Any) -> None:
        if self.log is not None:
            facts = {k: round(v, 6) if isinstance(v, float) else v for k, v in (self._facts() | more).items()}
            log, self.log = self.log, None
            try:
                log.write(json.dumps({"event": event, "time": round(time.time(), 3)} | facts) + "\n")
                log.flush()
                self.log = log
            except OSError as e:
                self.report.fault(f"{self._log_path}: cannot be written: {e.strerror}; the log ends here")
