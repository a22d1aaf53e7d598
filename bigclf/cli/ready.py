"""Before anything heavy is imported: whether there is room for what the inputs need."""

from __future__ import annotations

from collections.abc import Sequence

from bigclf import start
from bigclf.cli.options import Given


def ready(data: Sequence[str], reading: Given, arrow: bool = False) -> None:
    """Refuse a limit on the address space under which these inputs cannot be read; notes their kinds under a budget.

    arrow: it is needed for more than some kinds of input.
    """
    if start.limit() is None and "budget" not in reading:
        return
    from bigclf.reading.source import find

    for source in find(data, reading.get("format", "auto")):
        packed = source.format == "libsvm" and (arrow or source.compression in ("gzip", "zstd"))
        start.require("packed" if packed else source.format)
