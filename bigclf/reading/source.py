"""Which inputs there are, what they hold, and how their bytes are opened.

Format and compression are recognised by content; the name decides only where the content does not say.
"""

from __future__ import annotations

import glob
import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from bigclf import start
from bigclf.errors import DataError, UsageError
from bigclf.reading.stored import Meter, Stored

SNIFF = 1 << 16
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_NAMES = {
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_FEATURE = re.compile(rb"(?:qid|[+-]?[0-9]+):")


class Source(NamedTuple):
    """One input: a file, or standard input as `-`."""

    path: str
    format: str  # libsvm, csv, tsv, parquet
    compression: str | None  # gzip, bz2, xz, zstd
    size: int | None  # bytes as stored; None for a pipe
    mtime: int | None  # nanoseconds
    meter: Meter  # how far it was read in this pass


def find(paths: Sequence[str], format: str = "auto") -> list[Source]:
    """The inputs that the arguments name, in order; every one is looked at before work starts.

    A pattern that the shell left is expanded, a directory stands for the data files in it, both sorted by name.
    Raises DataError for what is absent or unreadable and UsageError when formats are mixed.
    """
    sources = [_look(path, format) for argument in paths for path in _expand(argument)]
    if sum(s.path == "-" for s in sources) > 1:
        raise UsageError("standard input '-' can be named once only")
    kinds = {"csv" if s.format == "tsv" else s.format for s in sources}
    if len(kinds) > 1:
        first, other = sources[0], next(s for s in sources if s.format != sources[0].format)
        raise DataError(other.path, f"is {other.format} and {first.path} is {first.format}; give files of one format")
    return sources


def open_stored(source: Source) -> Stored:
    """The bytes of an input as they are stored. Close it after use; standard input then stays open."""
    if source.path == "-" or source.path in _PIPES:
        return Stored(pipe(source.path), source.path, source.meter, keep=True)
    return Stored(open_file(source.path), source.path, source.meter)


def changed(path: str, size: int | None, mtime: int | None) -> str | None:
    """How a file differs from what `find` saw of it once: size and mtime_ns; None where it does not, or is no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "is gone"
    except OSError as e:
        return f"cannot be looked at: {e.strerror}"
    if size is not None and status.st_size != size:
        return f"has {status.st_size} bytes, had {size}"
    return "was written to since" if size is not None and status.st_mtime_ns != mtime else None


_PIPES: dict[str, io.BufferedReader] = {}


def pipe(path: str) -> io.BufferedReader:
    """Standard input (`-`) or a named pipe, with room to look ahead.

    Always the same object, so that nothing looked at is lost and the writer is not cut off between two looks.
    """
    if path not in _PIPES:
        if path != "-":
            raw = cast("io.RawIOBase", open_file(path))
        elif sys.stdin is None:
            raise DataError("-", "standard input is closed")
        else:
            buffer: Any = sys.stdin.buffer
            raw = buffer.raw if isinstance(buffer, io.BufferedReader) else buffer
        _PIPES[path] = io.BufferedReader(raw, SNIFF)
    return _PIPES[path]


def _expand(argument: str) -> list[str]:
    if argument == "-" or os.path.isfile(argument):
        return [argument]
    if os.path.isdir(argument):
        inside = sorted(p for p in Path(argument).iterdir() if p.is_file() and name_format(p.name))
        if not inside:
            raise DataError(argument, f"no data files in this folder (endings: {', '.join(_NAMES)}, also packed)")
        return [str(p) for p in inside]
    if glob.has_magic(argument):
        found = sorted(p for p in glob.glob(argument, recursive=True) if os.path.isfile(p))
        if not found:
            raise DataError(argument, "no file matches this pattern")
        return found
    if os.path.exists(argument):
        return [argument]  # a named pipe or a device
    raise DataError(argument or "''", "no such file or directory")


def name_format(name: str) -> str | None:
    """Format by name alone.

    >>> name_format("a/train.CSV.gz"), name_format("notes.txt")
    ('csv', None)
    """
    stem, ending = os.path.splitext(name.lower())
    if ending in _PACKED:
        ending = os.path.splitext(stem)[1]
    return _NAMES.get(ending)


def open_file(path: str) -> BinaryIO:
    """A file, unbuffered. Raises DataError."""
    try:
        return cast("BinaryIO", open(path, "rb", buffering=0))
    except OSError as e:
        raise DataError(path, f"cannot be opened: {e.strerror}") from None


def _look(path: str, format: str) -> Source:
    """Recognise compression and format from the first bytes."""
    size = mtime = None
    raw: BinaryIO
    if path == "-" or not os.path.isfile(path):
        raw = io.BytesIO(pipe(path).peek(SNIFF))
    else:
        raw = open_file(path)
        status = os.fstat(raw.fileno())
        size, mtime = status.st_size, status.st_mtime_ns
    with raw:
        try:
            start = raw.read(6)
            raw.seek(0)
        except OSError as e:
            raise DataError(path, f"cannot be read: {e.strerror}") from None
        compression = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
        if format == "auto":
            format = sniff(_first_bytes(raw, compression, path), path)
    if format == "parquet" and (size is None or compression):
        raise DataError(path, "Parquet needs a plain file, because its index is at the end")
    return Source(path, format, compression, size, mtime, Meter(size))


def _first_bytes(raw: BinaryIO, compression: str | None, path: str) -> bytes:
    try:
        stream = unpack(raw, compression)
        return stream.read(SNIFF)
    except (OSError, EOFError):  # cut short: the reader itself will say so, with the row
        return b""


def unpack(raw: BinaryIO, compression: str | None) -> BinaryIO:
    """The decompressed bytes.

    Plain files are read without pyarrow, which a LIBSVM run then need not import (its price in address space and
    start-up is that of numpy and more); gzip and zstd are pyarrow's, bz2 and xz the standard library's.
    """
    if compression is None:
        return raw
    if compression == "bz2":
        import bz2

        return cast("BinaryIO", bz2.BZ2File(raw))
    if compression == "xz":
        import lzma

        return cast("BinaryIO", lzma.LZMAFile(raw))
    start.require("packed")
    import pyarrow as pa

    return cast("BinaryIO", pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression))


def sniff(start: bytes, path: str) -> str:
    r"""Format of text (or Parquet) that begins like this.

    LIBSVM is text whose first row is a label, alone or followed by `index:value`, with no comma in front.

    >>> sniff(b"# c\n+1 1:0.5 3:1\n", "-"), sniff(b"a,b\n1,2\n", "-"), sniff(b"PAR1", "x"), sniff(b"1:2\n", "-")
    ('libsvm', 'csv', 'parquet', 'libsvm')
    """
    if start.startswith(b"PAR1"):
        return "parquet"
    by_name = name_format(path)
    for line in start.removeprefix(b"\xef\xbb\xbf").splitlines():
        tokens = line.split(b"#")[0].split()
        if not tokens:
            continue
        if any(_FEATURE.match(t) for t in tokens[:2]) and not (by_name in ("csv", "tsv") and b"," in line):
            return "libsvm"
        if by_name:
            return by_name
        return "tsv" if b"\t" in line and b"," not in line else "csv" if b"," in line else "libsvm"
    return by_name or "libsvm"
