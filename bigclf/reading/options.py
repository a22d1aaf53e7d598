"""How input is read: kept in the model, so that predict and evaluate need none of it again."""

from __future__ import annotations

from dataclasses import dataclass

MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "?")
BLOCK_SIZE = 6 << 20
SHARED = 8 << 20  # of text that several threads read at once, all of them: less shows in time, more in memory
BLOCK_SIZES = {"csv": 1 << 20, "parquet": 8 << 20}  # where larger ones gain nothing and only take memory
CELLS = 1 << 19  # of a dense block to learn from: what Python does between two weighs more than a core's cache
LAST_COLUMN = 2**31 - 2


def text_size(threads: int) -> int:
    """Bytes of text that each of so many threads reads at once.

    >>> [text_size(n) >> 10 for n in (1, 2, 4)]
    [6144, 4096, 2048]
    """
    return min(BLOCK_SIZE, SHARED // threads)


@dataclass(frozen=True)
class ReadOptions:
    """Options that say what the bytes mean; `block_size` and below concern only this run."""

    format: str = "auto"  # auto, libsvm, csv, tsv, parquet
    label: str | None = None  # name, number from 1, "first" or "last"
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    header: bool = True
    delimiter: str | None = None  # None: by format
    decimal: str = "."
    quote: str = '"'
    encoding: str = "utf-8"
    hash_bits: int = 0

    block_size: int = BLOCK_SIZE  # bytes of text (or of decoded Parquet) read at once
    threads: int = 1  # that parse LIBSVM text
    on_error: str = "stop"  # stop, skip
    endless: bool = False  # where faults stop the run, infinite numbers are left to the encoder, which refuses them
    need_label: bool = True  # False: rows without a label are accepted (predict)
    max_column: int = LAST_COLUMN  # larger LIBSVM columns are refused (without hash_bits)
