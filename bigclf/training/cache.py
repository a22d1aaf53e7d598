"""The encoded rows of a pass in a file: later passes, and later runs over the same data, neither read nor encode again.

A file is named by the digest of its key: all that its rows depend on. It holds a line that says what it is, the key,
the records, a line of JSON with what is known at the end only, and where that line begins.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from bigclf import __version__
from bigclf.block import Csr
from bigclf.errors import DataError, WriteError
from bigclf.files import whole_file
from bigclf.limits import human
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Skips
from bigclf.reading.stream import Stream
from bigclf.training.feed import Mark
from bigclf.training.records import LINE, Record, read, write

MAGIC = b"bigclf cache 1\n"
SUFFIX = ".bigclf-cache"
FOOT = 16  # bytes, decimal digits: where the last line begins


class Damaged(Exception):
    """A record cannot be read; the file is deleted."""


class _Full(Exception):
    """The file is not to be written any further; says why."""


class Cache:
    """A file of records, in a folder whose files take `most` bytes at most. `note` is told what users should know."""

    def __init__(self, folder: Path, most: int, key: dict[str, Any], note: Callable[[str], None]) -> None:
        self.made_of = key
        self.key = json.dumps(key | {"bigclf": __version__}, sort_keys=True).encode() + b"\n"
        self.folder, self.most, self.note = folder, most, note
        self.path = folder / (hashlib.sha256(self.key).hexdigest()[:32] + SUFFIX)

    def open(self) -> Kept | None:
        """The rows, where they were kept whole."""
        try:
            if self.path.stat().st_size > self.most:
                return None
            kept = Kept(self.path, self.key)
        except (OSError, ValueError, KeyError):
            return None
        with suppress(OSError):
            os.utime(self.path)  # was used last, goes last
        return kept

    def keep(self, records: Iterator[Record], encoder: Encoder, stream: Stream, base: int) -> Iterator[Record]:
        """The records of a whole pass as they come, which are kept on the way. The file appears when all were taken."""
        with ExitStack() as stack:
            f: IO[bytes] | None = None
            try:
                f = stack.enter_context(whole_file(self.path))
                f.write(MAGIC + self.key)
                size, width = f.tell(), encoder.width
            except (OSError, WriteError) as e:
                f = None
                self._give_up(stack, e)
            for record in records:
                if f is not None:
                    try:
                        size += write(f, record, base)
                        self._check(size, record, encoder, width)
                    except (OSError, _Full) as e:
                        f = None
                        self._give_up(stack, e)
                yield record
            if f is None:
                return
            try:
                skips, line = stream.skips, f.tell()
                end = {
                    "classes": list(encoder.classes),
                    "skips": [skips.rows, skips.read, [[x.place, x.what] for x in skips.faults]],
                    "notices": stream.notices,
                }
                f.write(json.dumps(end).encode() + b"\n" + f"{line:0{FOOT}d}".encode())
                self._make_room(f.tell())
                stack.close()
            except (OSError, WriteError) as e:
                self._give_up(stack, e)

    def _check(self, size: int, record: Record, encoder: Encoder, width: int) -> None:
        if size > self.most:
            raise _Full(f"the rows take more than --cache-size {human(self.most)}")
        piece = record.piece
        if piece is not None and piece.cols != width and not isinstance(piece.block.X, Csr):
            raise _Full("columns were met that the first rows did not have")

    def _give_up(self, stack: ExitStack, why: Exception) -> None:
        """Go on without; nothing of the file stays."""
        with suppress(OSError, WriteError, _Full):
            stack.__exit__(type(why), why, None)
        what = why.strerror if isinstance(why, OSError) and why.strerror else why
        self.note(f"--cache: {self.folder}: {what}; nothing is kept, and later passes read the data again")

    def _make_room(self, size: int) -> None:
        """Delete the files that were used least of late until this one fits."""
        others = []
        for path in self.folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                with open(path, "rb") as f:
                    if f.read(len(MAGIC)) != MAGIC:
                        continue  # somebody else's
                status = path.stat()
                others.append((status.st_mtime_ns, status.st_size, path))
        total = size + sum(n for _, n, path in others if path != self.path)
        for _, n, path in sorted(others):
            if total > self.most and path != self.path:
                path.unlink(missing_ok=True)
                total -= n


class Kept:
    """A file of records, open to be read. OSError, ValueError or KeyError where it is not whole, or of another key."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self.file = open(path, "rb")  # noqa: SIM115  # closed by `records`
        try:
            if self.file.read(len(MAGIC) + len(key)) != MAGIC + key:
                raise ValueError("of another key")
            self.start = self.file.tell()
            self.end = int(self.file.seek(-FOOT, os.SEEK_END) and self.file.read(FOOT))
            self.file.seek(self.end)
            line = self.file.readline(LINE)
            if self.file.tell() + FOOT != os.fstat(self.file.fileno()).st_size:
                raise ValueError("not whole")
            self.last: dict[str, Any] = json.loads(line)
            self.classes = tuple(self.last["classes"])
        except BaseException:
            self.file.close()
            raise

    def records(self, stream: Stream, base: int) -> Iterator[Record]:
        """All records, in order. Raises Damaged."""
        meters = [source.meter for source in stream.sources]
        for meter in meters:
            meter.begin(0)
        meters[0].begin(self.end - self.start)
        with self.file as f:
            f.seek(self.start)
            while f.tell() < self.end:
                try:
                    record = read(f, self.classes, base)
                except (OSError, ValueError, KeyError, TypeError, MemoryError) as e:
                    self.path.unlink(missing_ok=True)
                    raise Damaged(f"{self.path} is damaged and was deleted") from e
                meters[0].reach(f.tell() - self.start)
                yield record

    def followed(self, records: Iterator[Record], encoder: Encoder, stream: Stream, first: bool) -> Iterator[Record]:
        """The records, while the encoder and the stream are brought to where reading would have brought them.

        first: no pass was before; else all columns and classes are known from the begin.
        """
        missing, unseen = encoder.missing, dict(encoder.unseen)
        for record in records:
            if record.piece is None:
                yield record
                continue
            piece, mark = record.piece, record.piece.mark
            if first:
                encoder.follow(record.used, piece.cols, piece.classes, record.zero_based)
            else:
                X = piece.block.X
                block = piece.block._replace(X=X._replace(cols=encoder.cols)) if isinstance(X, Csr) else piece.block
                piece = piece._replace(block=block, classes=tuple(encoder.classes), cols=encoder.width)
            if mark is not None:
                met = {k: unseen.get(k, 0) + mark.unseen.get(k, 0) for k in {**unseen, **mark.unseen}}
                mark = Mark(missing + mark.missing, mark.gone, met)
                encoder.missing = mark.missing
                encoder.unseen.update({k: n - encoder.unseen[k] for k, n in met.items()})
            yield record._replace(piece=piece._replace(mark=mark))
        _restore(stream.skips, self.last["skips"])
        stream.notices |= Counter(self.last["notices"])


def _restore(skips: Skips, kept: list[Any]) -> None:
    skips.rows, skips.read = kept[0], kept[1]
    skips.faults = [DataError(place, what) for place, what in kept[2]]


def key_of(stream: Stream, encoder: Encoder, reading: dict[str, Any]) -> dict[str, Any]:
    """All that the rows of a pass depend on: the files, how they are read, how rows are encoded."""
    digest = hashlib.sha256(json.dumps(encoder.schema.head(), sort_keys=True).encode())
    for name, a in encoder.schema.arrays().items():
        digest.update(name.encode() + a.tobytes())
    return {
        "inputs": [[os.path.realpath(s.path), s.size, s.mtime, s.format] for s in stream.sources],
        "reading": reading | {"on_error": stream.options.on_error},
        "limit": stream.limit,
        "share": stream.share,
        "schema": digest.hexdigest(),
        "cols": encoder.cols,
    }
