"""How many threads are to parse."""

from __future__ import annotations

from bigclf.cpus import usable
from bigclf.limits import Headroom
from bigclf.reading.ahead import IN_FLIGHT
from bigclf.reading.options import text_size
from bigclf.training.budget import DENSE_TEXT, ETA, BlockNeed

MOST = 2  # by default: together they are faster than a disk, and than what learns from the rows
STACK = 8 << 20  # bytes of a thread


def parsers(room: Headroom, form: str, wanted: int | None, block_size: int | None) -> int:
    """Threads that are to parse: at most `wanted`, and so few that a quarter of what is left suffices.

    block_size: bytes that each reads at once, as the user wants it; by default that of `text_size`.
    """
    if form != "libsvm":
        return 1
    for threads in range(wanted or min(MOST, usable()), 1, -1):
        need = BlockNeed(form, DENSE_TEXT[form], flight=IN_FLIGHT, threads=threads)
        if need.bytes(block_size or text_size(threads)) + threads * STACK < ETA * room.bytes:
            return threads
    return 1
