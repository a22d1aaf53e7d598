"""Before anything heavy is imported: whether there is room for what the inputs need."""

from __future__ import annotations

from collections.abc import Sequence

from bigclf import start
from bigclf.cli.options import Given


def ready(data: Sequence[str], reading: Given) -> None:
    """Refuse a limit on the address space under which these inputs cannot be read; notes their kinds under a budget."""
    if start.limit() is None and "budget" not in reading:
        return
    from bigclf.reading.source import find

    for source in find(data, reading.get("format", "auto")):
        start.require(
            "packed" if source.format == "libsvm" and source.compression in ("gzip", "zstd") else source.format
        )
