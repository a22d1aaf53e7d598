"""Stored bytes of an input: counted as they are read, and watched for changes."""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO

from bigclf.errors import DataError


class Meter:
    """How far an input was read: stored bytes, those that were passed over included."""

    def __init__(self, total: int | None) -> None:
        self.done = 0
        self.total = total  # that this pass reads; None where nobody knows

    def begin(self, total: int | None) -> None:
        """A pass begins that reads so many bytes."""
        self.done, self.total = 0, total

    def count(self, n: int) -> None:
        """So many bytes more were read."""
        self.reach(self.done + n)

    def reach(self, n: int) -> None:
        """So many bytes were read."""
        self.done = n if self.total is None else min(n, self.total)

    def finish(self) -> None:
        """The input was read as far as it is to be read."""
        if self.total is not None:
            self.done = self.total


class Stored(io.RawIOBase):
    """An opened input. `keep`: closing it leaves the inner file open."""

    def __init__(self, file: BinaryIO, path: str, meter: Meter, keep: bool = False) -> None:
        self._file, self._path, self._meter, self._keep = file, path, meter, keep
        self._left: int | None = None

    def narrow(self, start: int, end: int | None) -> None:
        """Read bytes start to end only."""
        self._file.seek(start)
        self._left = None if end is None else end - start

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes; 0 at the end."""
        if self._left is not None:
            buffer = memoryview(buffer)[: self._left]
        n: int = self._file.readinto(buffer) or 0  # type: ignore[attr-defined]
        if self._left is not None:
            self._left -= n
        self._meter.count(n)
        return n

    def close(self) -> None:
        """Close the file, too, unless it is to be kept."""
        if not self._keep:
            self._file.close()
        super().close()

    def finish(self, size: int | None, mtime: int | None) -> None:
        """Say that it was read to its end; `size` and `mtime` are what it had before. Raises DataError, see `check`."""
        if size is not None:
            check(self._path, os.fstat(self._file.fileno()), size, mtime)
        self._meter.finish()


def check(path: str, status: os.stat_result, size: int, mtime: int | None) -> None:
    """Raise DataError when an opened file is not what it was before it was read."""
    if status.st_size != size:
        raise DataError(path, f"changed while it was read (it had {size} bytes, now {status.st_size})")
    if status.st_mtime_ns != mtime:
        raise DataError(path, "was written to while it was read")


class Steady:
    """Unpacked bytes, asked for in steps of one size: where they end too early, the same ones come before."""

    STEP = 1 << 16

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._step = stream, memoryview(bytearray(self.STEP))
        self._at = self._end = 0

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, or a part of it; 0 at the end."""
        if self._at == self._end:
            self._at, self._end = 0, self._stream.readinto(self._step) or 0  # type: ignore[attr-defined]
        n = min(len(buffer), self._end - self._at)
        buffer[:n] = self._step[self._at : self._at + n]
        self._at += n
        return n

    def close(self) -> None:
        """Close what was unpacked."""
        self._stream.close()
