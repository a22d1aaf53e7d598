"""Text inputs: opened, decoded, and cut into blocks of whole records; what goes wrong on the way is named."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from bigclf import start
from bigclf.errors import BigclfError, DataError, UsageError
from bigclf.reading.lines import ByteBlock, ByteStream, blocks
from bigclf.reading.options import ReadOptions
from bigclf.reading.source import Source, open_stored, unpack
from bigclf.reading.span import UTF8, WHOLE, Span
from bigclf.reading.stored import Steady, Stored

UTF16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
_PASSED = 1 << 18  # bytes passed over at once


def codec(options: ReadOptions) -> str:
    """The encoding's own name; UsageError when there is none."""
    try:
        return codecs.lookup(options.encoding).name
    except LookupError:
        raise UsageError(f"--encoding: {options.encoding!r} is not known; for example utf-8 or latin1") from None


def text_blocks(
    source: Source,
    options: ReadOptions,
    rows: Callable[[], int],
    stop: int = 0,
    quote: int | None = None,
    grow: Callable[[int], None] | None = None,
    span: Span = WHOLE,
    ring: int = 1,
) -> Iterator[ByteBlock]:
    """Blocks of one input, or of a part of it, as UTF-8.

    rows: tells how many rows were read, for messages. The rest is as for `blocks`.

    Raises DataError when the input cannot be read, is not in its encoding, is packed and cut short, or turns out to
    have changed when all was read.
    """
    name = codec(options)
    stored = open_stored(source)
    stream = None
    try:
        start, end = span.settled(source.path)
        if end is None or start < end:
            stream = cast("ByteStream", unpack(cast("BinaryIO", stored), source.compression))
            text = _decoded(stream, name)
            if source.compression is not None and name in UTF8:
                text = Steady(cast("BinaryIO", text))
            if start > 0 or end is not None:
                _go(text, stored, source, span, start, end)
            for block in blocks(text, options.block_size, quote, stop, grow, start, ring):
                if name in UTF8 and not block.offset and bytes(block.buffer[block.start :][:2]) in UTF16:
                    raise DataError(source.path, "begins as UTF-16 text does; give --encoding utf-16")
                yield block
        stored.finish(source.size, source.mtime)
    except UnicodeError as e:
        what = f"bytes after row {rows()} are no text in {options.encoding} ({e}); see --encoding"
        raise DataError(source.path, what) from None
    except (BigclfError, MemoryError):
        raise
    except Exception as e:  # zlib's, lzma's, Arrow's and the system's have no common base
        if not isinstance(e, OSError | EOFError | ValueError) and type(e).__name__ not in ("LZMAError", "error"):
            raise
        what = (getattr(e, "strerror", None) or str(e) or type(e).__name__).splitlines()[0]
        if source.compression is None or getattr(e, "errno", None) is not None:
            raise DataError(source.path, f"cannot be read after row {rows()}: {what}") from None
        short = isinstance(e, EOFError) or "runcated" in what or "unexpected end" in what.lower()
        how = "end too early" if short else "are corrupt"
        raise DataError(source.path, f"compressed data {how} after row {rows()} ({what})") from None
    finally:
        if source.path != "-":
            if stream is not None:
                stream.close()
            stored.close()


def _go(text: object, stored: Stored, source: Source, span: Span, start: int, end: int | None) -> None:
    """Go on from byte `start` of the text; where that is no place in the file, all before it is read."""
    if text is stored and source.size is not None:
        stored.narrow(start, end)
        source.meter.count(start - span.low)
        return
    passed = memoryview(bytearray(min(start, _PASSED)))
    while start > 0 and (n := cast("ByteStream", text).readinto(passed[:start])):
        start -= n


def _decoded(stream: ByteStream, name: str) -> ByteStream:
    if name in UTF8:
        return stream
    start.require("packed")
    import pyarrow as pa

    native = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, mode="r")
    return cast("ByteStream", pa.transcoding_input_stream(native, name, "utf-8"))
