"""What is said to people: notes on standard error, results on standard output."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING, Any

from bigclf import start
from bigclf.limits import counted

if TYPE_CHECKING:
    from bigclf.reading.raw import Skips
    from bigclf.training.metrics import Measures

WIDE = 250  # columns of a table that goes to a file or a pipe


class Report:
    """Notes of one command; silent when quiet."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.began = time.monotonic()
        start.on_compiling(lambda: self.note("compiling, once for each version: it takes some seconds"))

    def note(self, text: str) -> None:
        """One line on standard error."""
        if not self.quiet:
            self.fault(text)

    def fault(self, text: str) -> None:
        """As `note`, and also when quiet."""
        if sys.stderr is None:  # print would take standard output instead
            return
        try:
            print(f"bigclf: {text}", file=sys.stderr)
        except OSError:  # nobody can be told; the work goes on
            self.quiet = True

    def notices(self, notices: Counter[str]) -> None:
        """What the readers noticed, with how often."""
        for text, n in notices.items():
            self.note(text if n <= 1 else f"{text} ({n} times)")

    def skipped(self, skips: Skips) -> None:
        """Rows dropped under --on-error skip, and the first of their faults."""
        if skips.rows:
            self.note(f"{counted(skips.rows, 'bad row was', 'bad rows were')} skipped; the first:")
            for fault in skips.faults:
                self.note(f"  {fault}")

    def speed(self, rows: int) -> str:
        """Time taken, rows a second and the largest resident size so far."""
        seconds = time.monotonic() - self.began
        return f"{seconds:.2f} s, {rows / max(seconds, 1e-9):,.0f} rows/s, peak memory {peak_mib():.0f} MiB"


def peak_mib() -> float:
    """Largest resident size of this process in MiB."""
    import resource

    try:
        with open("/proc/self/status") as f:  # getrusage also counts what the parent had before it started us
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kib / (1 << 20 if sys.platform == "darwin" else 1024)


def number(x: float | None, digits: int = 4) -> str:
    """
    >>> number(0.5), number(None)
    ('0.5000', 'n/a')
    """
    return "n/a" if x is None else f"{x:.{digits}f}"


def clock(seconds: float) -> str:
    """
    >>> clock(42.4), clock(3725)
    ('42 s', '1:02:05')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def brief(m: Measures) -> str:
    """The three measures that train tells as it goes."""
    return f"error {number(m.error)}, G-mean {number(m.g_mean)}, kappa {number(m.kappa)}"


def pulled(gradient: dict[str, Any] | None, most: int = 5) -> str:
    """Shares of the gradient by class, and GII.

    >>> pulled({"share": {"no": 0.75, "yes": 0.25}, "gii": 123.4567})
    'no 75 %, yes 25 %, GII 123'
    >>> pulled(None)
    'n/a'
    """
    if gradient is None:
        return "n/a"
    shares = [f"{name} {100 * share:.0f} %" for name, share in gradient["share"].items()]
    gii = "" if gradient["gii"] is None else f", GII {gradient['gii']:.3g}"
    return ", ".join(shares[:most]) + (", ..." if len(shares) > most else "") + gii


def facts(told: dict[str, Any] | None, most: int = 5) -> str:
    """What a learner tells of itself. A list has one value for each member: `most`, and the range, if any is not 0.

    Of members that have members the range is told.

    >>> facts({"warnings": 3, "last_drift": None}), facts({"drifts": [1, 2]}), facts(None)
    ('warnings 3, last drift none', 'drifts 1/2', '')
    >>> facts({"nodes": [9, 7, 5, 3, 1, 11, 1000]})
    'nodes 9/7/5/3/1/... (1 to 1,000)'
    >>> facts({"depth": [[0, 3, 1], [2, None, 0]], "drifts": [[0, 0, 0], [0, 0, 0]]})
    'depth 0 to 3 (2 x 3 members)'
    """

    def said(value: Any) -> str:
        if isinstance(value, list):
            numbers = [v for v in _flat(value) if v is not None]
            low, high = (said(min(numbers)), said(max(numbers))) if numbers else ("none", "none")
            if isinstance(value[0], list):
                return f"{low if low == high else f'{low} to {high}'} ({_size(value)} members)"
            spread = f"/... ({low} to {high})" if numbers else "/..."
            return "/".join(map(said, value[:most])) + (spread if len(value) > most else "")
        return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    shown = {name: v for name, v in (told or {}).items() if not isinstance(v, list) or any(_flat(v))}
    return ", ".join(f"{name.replace('_', ' ')} {said(value)}" for name, value in shown.items())


def _flat(value: Any) -> Iterator[Any]:
    """The values of a list of lists of lists, or the one value."""
    if not isinstance(value, list):
        yield value
        return
    for each in value:
        yield from _flat(each)


def _size(value: Any) -> str:
    """How many members, and members of each."""
    return f"{len(value)}" + (f" x {_size(value[0])}" if isinstance(value[0], list) else "")


def emit(document: dict[str, Any]) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def show(*parts: Any) -> None:
    """Tables on standard output: as wide as the terminal, or as they need to be when it is none."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(*parts, sep="\n")
        return
    text = StringIO()
    Console(highlight=False, width=WIDE, file=text).print(*parts, sep="\n")
    print("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


def table(columns: list[str], rows: list[list[str]], left: int = 1) -> Any:
    """A plain table; the first `left` columns are words."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(columns):
        made.add_column(Text(name), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made
