"""A stream of bytes becomes blocks of whole records.

A record ends at a newline outside quotes. Blocks are cut behind the last such newline that was read, so a record is
never split, and a record longer than the block makes the block grow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import BigclfError

PAD = 64  # readable bytes before and after the records, for kernels that load whole words
_BOM = b"\xef\xbb\xbf"
_STEP = 1 << 16


class ByteStream(Protocol):
    """What the readers ask of an opened input."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...
    def close(self) -> None: ...


class ByteBlock(NamedTuple):
    """`buffer[start:end]` holds whole records, the last byte a newline. The buffer is used again for a later block."""

    buffer: NDArray[np.uint8]
    start: int
    end: int
    offset: int  # of buffer[start] in the (decompressed) stream


def last_newline(buffer: NDArray[np.uint8], start: int, end: int) -> int:
    """Position behind the last newline of buffer[start:end]; start when there is none."""
    view = buffer.data
    while end > start:
        low = max(start, end - _STEP)
        found = bytes(view[low:end]).rfind(b"\n")
        if found >= 0:
            return low + found + 1
        end = low
    return start


def holds(buffer: NDArray[np.uint8], start: int, end: int, byte: int) -> bool:
    """Whether buffer[start:end] holds a byte; a little at a time, so that no copy of it all is made."""
    view = buffer.data
    return any(bytes(view[at : min(at + _STEP, end)]).find(byte) >= 0 for at in range(start, end, _STEP))


def last_record_end(buffer: NDArray[np.uint8], start: int, end: int, quote: int) -> int:
    r"""Position behind the last newline of buffer[start:end] outside quotes; `start` must begin a record.

    A doubled quote inside quotes changes the parity twice, hence not at all.

    >>> last_record_end(np.frombuffer(b'a,"x\ny"\nb,"', np.uint8), 0, 11, 34)
    8
    """
    if not holds(buffer, start, end, quote):
        return last_newline(buffer, start, end)
    part = buffer[start:end]
    quotes = np.flatnonzero(part == quote)
    newlines = np.flatnonzero(part == 10)
    outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    return start + int(outside[-1]) + 1 if outside.size else start


def blocks(
    stream: ByteStream,
    size: int,
    quote: int | None = None,
    stop: int = 0,
    grow: Callable[[int], None] | None = None,
    offset: int = 0,
    ring: int = 1,
) -> Iterator[ByteBlock]:
    """Blocks of about `size` bytes of whole records.

    quote: byte that quotes fields, so that newlines inside do not count.
    stop: a block border is put behind the last record that ends within the first `stop` bytes.
    grow: called with the size wanted before the buffer grows for a long record; may raise.
    offset: of the stream's first byte in the text; a byte order mark is passed over only where that begins.
    ring: a block stays as it is until so many more were asked for.
    """
    buffer = np.empty(size + 2 * PAD, np.uint8)
    buffer[:PAD] = 10
    others: deque[NDArray[np.uint8]] = deque()
    start = end = PAD  # bytes read and not yet given out
    start_of_text, open_ended, broken = offset == 0, True, None
    while open_ended or end > start:
        while open_ended and end < len(buffer) - PAD:
            try:
                n = stream.readinto(buffer.data[end : len(buffer) - PAD])
            except (BigclfError, MemoryError):
                raise
            except Exception as e:  # of whatever unpacks: the whole records before it come first
                n, broken = 0, e
            if not n:
                open_ended = False
                break
            if start_of_text and n < 3:  # a pipe may give a byte order mark in pieces
                while n < 3 and (more := stream.readinto(buffer.data[end + n : len(buffer) - PAD])):
                    n += more
            if start_of_text and bytes(buffer[end : end + min(n, 3)]) == _BOM:
                start += 3
                offset += 3
            start_of_text = False
            end += n
        if end == start:
            break
        limit = min(end, start + stop - offset) if offset < stop else end
        cut = _cut(buffer, start, limit, quote)
        if cut == start and limit < end:
            cut = _first_end(buffer, start, end, quote)
        if cut == start and broken is not None:
            break
        if cut == start and not open_ended:  # the last line lacks its newline
            buffer[end] = 10
            end += 1
            cut = end
        if cut == start:
            wanted = 2 * (len(buffer) - 2 * PAD)
            if grow is not None:
                grow(wanted)
            larger = np.empty(wanted + 2 * PAD, np.uint8)
            larger[: end - start + PAD] = buffer[start - PAD : end]
            buffer, start, end = larger, PAD, end - start + PAD
            continue
        yield ByteBlock(buffer, start, cut, offset)
        offset += cut - start
        rest = end - cut
        following = buffer
        if ring > 1:
            others.append(buffer)
            following = others.popleft() if len(others) == ring else np.empty(0, np.uint8)
            if len(following) < len(buffer):
                following = np.empty(len(buffer), np.uint8)
                following[:PAD] = 10
        following[PAD : PAD + rest] = buffer[cut:end].copy() if following is buffer else buffer[cut:end]
        buffer, start, end = following, PAD, PAD + rest
    if broken is not None:
        raise broken


def _cut(buffer: NDArray[np.uint8], start: int, end: int, quote: int | None) -> int:
    if quote is None:
        return last_newline(buffer, start, end)
    return last_record_end(buffer, start, end, quote)


def _first_end(buffer: NDArray[np.uint8], start: int, end: int, quote: int | None) -> int:
    """Position behind the first record of buffer[start:end]; start when it does not end there."""
    part = buffer[start:end]
    newlines = np.flatnonzero(part == 10)
    if quote is not None:
        newlines = newlines[np.searchsorted(np.flatnonzero(part == quote), newlines) % 2 == 0]
    return start + int(newlines[0]) + 1 if newlines.size else start
