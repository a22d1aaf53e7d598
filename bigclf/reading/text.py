"""Text inputs: opened, decoded, and cut into blocks of whole records; what goes wrong on the way is named."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import cast

from bigclf.errors import BigclfError, DataError, UsageError
from bigclf.reading.lines import ByteBlock, ByteStream, blocks
from bigclf.reading.options import ReadOptions
from bigclf.reading.source import Source, open_bytes


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
) -> Iterator[ByteBlock]:
    """Blocks of one input as UTF-8. `rows` tells how many rows were read, for messages; the rest is as for `blocks`.

    Raises DataError when the input cannot be read, is not in its encoding, or is packed and cut short.
    """
    name = codec(options)
    stream = open_bytes(source)
    try:
        yield from blocks(_decoded(stream, name), options.block_size, quote, stop, grow)
    except UnicodeError as e:
        what = f"bytes after row {rows()} are no text in {options.encoding} ({e}); see --encoding"
        raise DataError(source.path, what) from None
    except (BigclfError, MemoryError):
        raise
    except Exception as e:  # zlib's, lzma's, Arrow's and the system's have no common base
        if not isinstance(e, OSError | EOFError | ValueError) and type(e).__name__ not in ("LZMAError", "error"):
            raise
        what = (getattr(e, "strerror", None) or str(e) or type(e).__name__).splitlines()[0]
        if source.compression is None:
            raise DataError(source.path, f"cannot be read after row {rows()}: {what}") from None
        short = isinstance(e, EOFError) or "runcated" in what or "unexpected end" in what.lower()
        how = "end too early" if short else "are corrupt"
        raise DataError(source.path, f"compressed data {how} after row {rows()} ({what})") from None
    finally:
        if source.path != "-":
            stream.close()


def _decoded(stream: ByteStream, name: str) -> ByteStream:
    if name in ("utf-8", "utf-8-sig"):
        return stream
    import pyarrow as pa

    native = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, mode="r")
    return cast("ByteStream", pa.transcoding_input_stream(native, name, "utf-8"))
