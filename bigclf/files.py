"""Files that are written whole or not at all, and places that may be written to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bigclf.errors import BigclfError, WriteError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only once it is complete and on disk.

    A link is followed. A pipe or a device, which cannot be renamed over, is written to as it is. Raises WriteError.
    """
    name: Path | None = None
    real = Path(os.path.realpath(path))
    try:
        if real.exists() and not real.is_file():
            with open(real, "wb") as f:
                yield f
            return
        short = os.fsdecode(os.fsencode(real.name)[:100])  # a name may be as long as the system allows
        name = real.parent / f".{short}.{os.urandom(4).hex()}.tmp"  # known before it is made: no signal can lose it
        unnamed = _unnamed(real.parent)
        with unnamed or open(name, "xb") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
            if unnamed is not None:
                _give_name(f, name)
        os.replace(name, real)
        name = None
        folder = os.open(real.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as e:
        raise WriteError(f"{path}: cannot be written: {e.strerror or e}") from None
    finally:
        if name is not None:
            name.unlink(missing_ok=True)


def _unnamed(folder: Path) -> IO[bytes] | None:
    """A new file without a name: a killed process leaves nothing of it behind. None where there is no such thing.

    Nothing that is found in a folder has to be cleared away then, which other runs or hosts may be writing.
    """
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except OSError:  # network file systems have none; whatever else is wrong shows when a named one is made
        return None


def _give_name(f: IO[bytes], name: Path) -> None:
    here = f"/proc/self/fd/{f.fileno()}"
    try:
        os.link(here, name, src_dir_fd=f.fileno(), follow_symlinks=True)  # followed only where a folder is given too
    except OSError:  # links may be forbidden, and what was learned must not be lost by that
        with open(here, "rb") as whole, open(name, "xb") as copy:
            shutil.copyfileobj(whole, copy)
            copy.flush()
            os.fsync(copy.fileno())


def writable(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a place that could not or should not be written to, before any work is done."""
    if str(path) == "-":
        raise BigclfError("-: standard output cannot hold it; name a file")
    if path.is_dir():
        raise BigclfError(f"{path}: is a folder; name a file with -o")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise BigclfError(f"{path}: there is no folder '{path.parent}'")
    if not os.access(folder, os.W_OK) and not (path.exists() and not path.is_file()):
        raise BigclfError(f"{path}: the folder cannot be written to")
    for other in inputs:
        if path.exists() and os.path.exists(other) and os.path.samefile(path, other):
            raise BigclfError(f"{path}: is read from, and would be overwritten; name another file with -o")
