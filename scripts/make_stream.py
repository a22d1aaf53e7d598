"""Makes a stream whose class ratio changes from a data file, as in the experiments on dynamic imbalance of HGD.

    python scripts/make_stream.py DATA --kind increase|decrease|gradual|flip -o OUT [--ratios 1,4,20] [--rows N |
        --ends 4000,6500,8600] [--minority LABEL] [--seed 0] [--replace] [--label COLUMN] [--no-header] [--delimiter C]

Source: Zhou, Yin, Deng, Huang, Ren, HGD, section V-C and Table XI, whose ratios for MagicTelescope are the default. A
ratio is rows of the rest over rows of one class, the rarest or that of --minority. With `increase`, `decrease` and
`flip` each ratio has a stage of its own, with its exact share of the class at random places. With `gradual` a stage
leads from one ratio to the next, linearly by rows (the paper does not say how), with the exact share in each twentieth.
Stages are equally long, or end behind the rows of --ends, as in Table XI.

Rows are the file's own, byte by byte, behind the header of CSV; Parquet keeps columns and types. Each comes once at
most, in a stream as long as the ratios allow; with --replace it may come again, in one as long as the file. The seed
decides all. The first pass reads labels, the second fetches row by row: that takes 60 bytes of memory for a row of the
file, with --replace 80, however long it is. Packed text and Parquet are unpacked into the temporary folder. The exit
code is 1 for data that cannot be used and 2 for options.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bigclf import draws
from bigclf.errors import BigclfError, DataError, UsageError
from bigclf.files import whole_file, writable
from bigclf.reading.labels import canonical, sort_key
from bigclf.reading.options import ReadOptions
from bigclf.reading.parquet_groups import readable
from bigclf.reading.source import Source, changed, find, unpack
from bigclf.reading.stream import Stream
from bigclf.reading.table import Kinds

RATIOS = {"increase": "1,4,20", "decrease": "20,4,1", "gradual": "2,20,2", "flip": "9,1/9"}
STEPS = 20  # parts of a gradual stage that have their exact share of the class
PLACES, CLASS = range(2)  # what is drawn


class Plan:
    """Which ratio rules where. A stage has one step, or STEPS; ends: of the stages, in rows."""

    def __init__(self, kind: str, ratios: Sequence[float], ends: Sequence[int] | None) -> None:
        self.stages = list(pairwise(ratios) if kind == "gradual" else zip(ratios, ratios, strict=True))
        self.steps = STEPS if kind == "gradual" else 1
        at = np.array([1 / (1 + np.linspace(a, b, 2 * self.steps + 1)) for a, b in self.stages])
        self.share = ((at[:, :-1:2] + 4 * at[:, 1::2] + at[:, 2::2]) / 6).ravel()  # of the class, by Simpson's rule
        parts = np.diff(ends or range(1, len(self.stages) + 1), prepend=0)
        self.part = np.repeat(parts / parts.sum() / self.steps, self.steps)  # of all rows

    def counts(self, n: int) -> np.ndarray:
        """(2, steps): of n rows those of the class and those of the rest."""
        rows = np.diff(np.floor(n * np.cumsum(self.part) + 0.5).astype(np.int64), prepend=0)
        some = np.diff(np.floor(np.cumsum(rows * self.share) + 0.5).astype(np.int64), prepend=0)
        return np.array([some, rows - some])

    def longest(self, have: np.ndarray) -> int:
        """Rows of the longest stream for which so many rows of the class and of the rest, (2,), suffice."""
        share = float(self.part @ self.share)
        n = int(((have + len(self.stages) + 1) / [share, 1 - share]).min())  # rounding may allow some more
        while (self.counts(n).sum(axis=1) > have).any():
            n -= 1
        return n


def read_labels(source: Source, options: ReadOptions) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The first pass: names of classes; class and, of text, line of each row, (n,) each. Raises DataError."""
    ids: dict[str, int] = {}
    code, line = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for raw in Stream([source], options, None if source.format == "libsvm" else Kinds((), None)):
        index = np.array([ids.setdefault(name, len(ids)) for name in raw.label.names], np.int32)
        code.append(index[raw.label.code])
        if source.format != "parquet":  # places are path:LINE
            line.append(np.array([int(raw.where(i).rpartition(":")[2]) for i in range(len(raw.row))]))
    return list(ids), np.concatenate(code), np.concatenate(line)


def choose(names: list[str], code: np.ndarray, args: argparse.Namespace) -> tuple[np.ndarray, list[str]]:
    """Rows of the file in the order of the stream, and what is to be told of it. Raises BigclfError."""
    if len(names) < 2:
        raise DataError(args.data, f"all rows are of class '{names[0]}'" if names else "holds no rows")
    size = dict(zip(names, np.bincount(code, minlength=len(names)).tolist(), strict=True))
    by_name = sorted(names, key=sort_key)
    name = canonical(args.minority or min(reversed(by_name), key=size.__getitem__))
    if name not in names:
        raise BigclfError(f"--minority: class '{name}' is not among {', '.join(by_name[:10])}")
    of_class = code == names.index(name)
    who, have = (f"class '{name}'", "the rest"), np.array([of_class.sum(), (~of_class).sum()])
    plan = Plan(args.kind, args.ratios, args.ends)
    most = plan.longest(have)
    n = args.rows or (len(code) if args.replace else most)
    counts = plan.counts(n)
    need, more = counts.sum(axis=1), plan.counts(n + 1).sum(axis=1)
    told = [f"{n} rows, {who[0]} against the rest"]
    for k in range(2):
        if need[k] > have[k] and not args.replace:
            what = f"{who[k]} runs dry: {n} rows at these ratios take {need[k]} of its {have[k]} rows"
            raise DataError(args.data, f"{what}; at most {most} rows are possible, or give --replace")
        dry = ", then it runs dry" if more[k] > have[k] and not args.replace else ""
        told.append(f"{who[k]}: {need[k]} of {have[k]} rows{dry}")
    for (a, b), both in zip(plan.stages, counts.reshape(2, -1, plan.steps).sum(axis=2).T, strict=True):
        if not both.all():
            raise DataError(args.data, f"{n} rows are too few: none of {who[int(both.argmin())]} at ratio {b:g}")
        ratio = f"{a:g}" + f" to {b:g}" * (a != b)
        told.append(f"{both.sum()} rows at ratio {ratio}: {both[1]} to {both[0]}, which is {both[1] / both[0]:.4g}")
    step = np.repeat(np.arange(counts.shape[1]), counts.sum(axis=0))
    place, picks = np.empty(n, bool), np.empty(n, np.int64)  # place: of the class
    place[np.lexsort((draws.bits(n, args.seed, PLACES), step))] = np.repeat(
        [True, False] * counts.shape[1], counts.T.flat
    )
    for k, here in enumerate((True, False)):
        rows = np.flatnonzero(of_class == here)
        if args.replace:
            drawn = (draws.uniforms(int(need[k]), args.seed, CLASS, k) * len(rows)).astype(np.int64)
        else:
            drawn = draws.order(len(rows), args.seed, CLASS, k)[: need[k]]
        picks[place == here] = rows[drawn]
    return picks, told


def text_rows(source: Source, folder: str, header: bool, line: np.ndarray, picks: np.ndarray) -> Iterator[bytes]:
    """The header where there is one, then the rows of these numbers, each with its newline."""
    path, table = source.path, source.format != "libsvm"
    if source.compression is not None:
        path = f"{folder}/rows"
        with open(source.path, "rb") as stored, open(path, "wb") as unpacked:
            shutil.copyfileobj(unpack(stored, source.compression), unpacked)
    with open(path, "rb") as f:
        starts = array("q", [0])
        for text in f:
            starts.append(starts[-1] + len(text))
        begin = np.append(np.frombuffer(starts, np.int64)[line - 1], starts[-1])
        if table and header:
            yield os.pread(f.fileno(), int(begin[0]), 0)
        elif os.pread(f.fileno(), 3, 0) == b"\xef\xbb\xbf":
            begin[0] = max(begin[0], 3)
        for row in picks.tolist():
            text = os.pread(f.fileno(), int(begin[row + 1] - begin[row]), int(begin[row]))
            # Up to the next row there may be blank lines, in LIBSVM comments; newlines within fields are of the row.
            end = text.find(b"\n", len(text.rstrip(b"\r\n")) if table else 0) + 1
            yield text[:end] if end else text + b"\n"


def parquet_rows(path: str, folder: str, picks: np.ndarray) -> Iterator[pa.Table]:
    """Tables of the rows of these numbers, from a mapped copy: Parquet itself is not read row by row."""
    name = f"{folder}/rows"
    with readable(path, int), pq.ParquetFile(path, pre_buffer=False) as file:
        step = min(1 << 16, 1 + (8 << 20) // len(file.schema_arrow.names))
        with pa.ipc.new_stream(name, file.schema_arrow) as unpacked:
            for batch in file.iter_batches(step, use_threads=False):
                unpacked.write_batch(batch)
    batches = list(pa.ipc.open_stream(pa.memory_map(name)))
    first = np.cumsum([0, *(batch.num_rows for batch in batches)])
    for at in range(0, len(picks), step):
        order = np.argsort(picks[at : at + step], kind="stable")
        rows = picks[at : at + step][order]
        cuts = enumerate(pairwise(np.searchsorted(rows, first).tolist()))
        found = [batches[k].take(pa.array(rows[a:b] - first[k])) for k, (a, b) in cuts if a < b]
        yield pa.Table.from_batches(found).take(pa.array(np.argsort(order)))


def make(args: argparse.Namespace) -> None:
    """Read, choose, write and tell. Raises BigclfError."""
    source, *others = find([args.data])
    if others or source.size is None:
        raise UsageError(f"{args.data}: name one regular file, for it is read twice")
    if args.output != "-":
        writable(Path(args.output), [source.path])
    options = ReadOptions(label=args.label, header=args.header, delimiter=args.delimiter, quote=args.quote)
    names, code, line = read_labels(source, options)
    picks, told = choose(names, code, args)
    if how := changed(source.path, source.size, source.mtime):
        raise DataError(source.path, how)
    out = nullcontext(sys.stdout.buffer) if args.output == "-" else whole_file(Path(args.output))
    with tempfile.TemporaryDirectory() as folder, out as f:
        if source.format == "parquet":
            with pq.ParquetWriter(f, pq.read_schema(source.path)) as writer:
                for table in parquet_rows(source.path, folder, picks):
                    writer.write_table(table)
        else:
            f.writelines(text_rows(source, folder, args.header, line, picks))
    sys.stdout.flush()
    print("\n".join(told), file=sys.stderr)


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("data", metavar="DATA", help="LIBSVM, CSV or TSV, packed or not, or Parquet")
    add("--kind", required=True, choices=RATIOS, help="how the ratio changes")
    add("-o", "--output", required=True, metavar="FILE", help="- for standard output")
    add("--ratios", metavar="R,...", help=f"default {'; '.join(f'{k} {r}' for k, r in RATIOS.items())}")
    add("--rows", type=int, help="of the stream")
    add("--ends", metavar="N,...", help="rows behind which the stages end, in place of --rows")
    add("--minority", metavar="LABEL", help="the class against the rest; default the rarest")
    add("--seed", type=int, default=0)
    add("--replace", action="store_true", help="a row may come again")
    add("--label", default="label", metavar="COLUMN", help="name, number, first or last; default label")
    add("--no-header", dest="header", action="store_false", help="CSV has none")
    add("--delimiter", help="of CSV")
    add("--quote", default='"', help="of CSV")
    args = parser.parse_args(argv)
    try:
        args.ratios = r = [float(Fraction(part)) for part in (args.ratios or RATIOS[args.kind]).split(",")]
        args.ends = [int(part) for part in args.ends.split(",")] if args.ends else None
    except (ValueError, ArithmeticError):
        parser.error("--ratios takes numbers or fractions, such as 9,1/9; --ends numbers of rows")
    up, across = np.diff(r), (np.array(r[1:]) - 1) * (np.array(r[:-1]) - 1)
    fits = {"increase": up > 0, "decrease": up < 0, "flip": across < 0, "gradual": up == up}[args.kind]
    if len(r) < 2 or min(r) <= 0 or not fits.all():
        parser.error(f"--ratios: {args.kind} takes two or more above zero, such as {RATIOS[args.kind]}")
    stages = len(r) - (args.kind == "gradual")
    if args.ends and (len(args.ends) != stages or min(np.diff(args.ends, prepend=0)) <= 0 or args.rows):
        parser.error(f"--ends: {stages} ascending numbers of rows are due, one for each stage, and no --rows")
    args.rows = args.ends[-1] if args.ends else args.rows
    if args.rows is not None and args.rows < 1:
        parser.error("--rows: at least 1")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Make the stream."""
    args = arguments(argv)
    try:
        make(args)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is to be flushed into the pipe
        return 141
    except (BigclfError, OSError, MemoryError) as e:
        print(f"make_stream: {e}", file=sys.stderr)
        return getattr(e, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
