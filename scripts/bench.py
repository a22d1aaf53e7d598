"""Speed and memory of whole processes, alone or beside other programs on the same rows.

Every command is run in turn with the others of its table, several rounds; medians are printed, and ratios round by
round, since a machine's speed drifts. CPU is user and system time of the process and its children. Kernels are compiled
before. Packages of other programs come with `pip install '.[bench]'`; one that is not there is left out, and named.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
BIGCLF = [sys.executable, "-m", "bigclf"]
PEERS = [sys.executable, "-W", "ignore", str(HERE / "bench_peers.py")]
VW = [sys.executable, "-m", "vowpalwabbit"]
FORMATS = ("svm", "csv", "parquet")
ALGORITHMS = ("logistic", "pa-1", "arow", "nr-rls", "fsvc", "hgd", "oob", "vfdt")
RIVER_ROWS = 20_000


class Took(NamedTuple):
    """One run: seconds, seconds of CPU, MiB resident at most."""

    wall: float
    cpu: float
    peak: float


def run(words: Sequence[str]) -> Took:
    """Run a command to its end. RuntimeError where it fails."""
    began = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)}: exit {process.returncode}: {said.decode(errors='replace')[-300:]}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Took(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


Table = dict[str, list[Took]]


def measured(commands: dict[str, Sequence[str]], rounds: int) -> Table:
    """All commands in turn. The first round is not counted: it compiles, and brings files into memory."""
    for words in commands.values():
        run(words)
    return {
        name: list(runs)
        for name, runs in zip(
            commands,
            zip(*([run(words) for words in commands.values()] for _ in range(rounds)), strict=True),
            strict=True,
        )
    }


def median(table: Table, name: str, figure: str) -> float:
    """Of one figure of one command."""
    return statistics.median(getattr(took, figure) for took in table[name])


def ratio(table: Table, name: str, other: str, figure: str = "cpu", less: float = 0.0) -> float:
    """Median of the ratios of the rounds; `less`: taken off both, as the start of a process."""
    pairs = zip(table[name], table[other], strict=True)
    return statistics.median((getattr(a, figure) - less) / (getattr(b, figure) - less) for a, b in pairs)


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        cells = (f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rows_of(path: Path) -> int:
    """Lines of LIBSVM text."""
    with open(path, "rb") as f:
        return sum(part.count(b"\n") for part in iter(lambda: f.read(1 << 20), b""))


def train(path: Path, algo: str, model: Path, *more: str) -> list[str]:
    """A command that trains."""
    return [*BIGCLF, "train", str(path), "--algo", algo, "-q", "-o", str(model), *more]


def whole_passes(folder: Path, algorithms: Sequence[str], rounds: int) -> str:
    """Every format and algorithm: what a pass takes, and how that stands to reading alone."""
    lines = []
    tiny = folder / "tiny.svm"
    tiny.write_text("1 1:1\n-1 2:1\n" * 50)
    starts = measured(
        {"train": train(tiny, "pa-1", folder / "m.npz"), "read": [*PEERS, "read", "bigclf", str(tiny)]}, rounds
    )
    start, bare = median(starts, "train", "cpu"), median(starts, "read", "cpu")
    for stem, formats in (("dense", FORMATS), ("sparse", ("svm",))):
        rows = rows_of(folder / f"{stem}.svm")
        for form in formats:
            path = folder / f"{stem}.{form}"
            commands: dict[str, Sequence[str]] = {"reading alone": [*PEERS, "read", "bigclf", str(path)]}
            wide = ("nr-rls", "fsvc", "vfdt") if stem == "sparse" else ()  # a matrix or a tree of 47,236 columns
            commands |= {a: train(path, a, folder / "m.npz") for a in algorithms if a not in wide}
            table = measured(commands, rounds)
            for name in commands:
                cpu, wall, peak = (median(table, name, figure) for figure in ("cpu", "wall", "peak"))
                over = (cpu - start) / max(median(table, "reading alone", "cpu") - bare, 1e-9)
                part = "" if name == "reading alone" else f"{over:.2f}"
                speed = path.stat().st_size / 1e6 / cpu
                lines.append(
                    (path.name, name, cpu, wall, f"{speed:.0f}", f"{rows / cpu / 1e3:.0f}", part, f"{peak:.0f}")
                )
    head = ["file", "algorithm", "CPU s", "wall s", "MB / CPU s", "1,000 rows / CPU s", "CPU over reading", "peak MiB"]
    return f"A start takes {start:.2f} CPU s; `CPU over reading` is without.\n\n{markdown(head, lines)}"


def there(*packages: str) -> bool:
    """Whether all are installed."""
    return all(importlib.util.find_spec(package) for package in packages)


def against_learners(folder: Path, rounds: int) -> str:
    """File to model, model to predictions, further passes; accuracy on rows held out."""
    lines = []
    for stem in ("dense", "sparse"):
        svm, vw, test = folder / f"{stem}.svm", folder / f"{stem}.vw", folder / f"{stem}_test"
        mine, theirs, sk, cache = (str(folder / name) for name in ("m.npz", "vw.model", "sk.npz", "vw.cache"))
        logistic = [*VW, "-d", str(vw), "--loss_function", "logistic", "--quiet", "-f"]
        rows = Path(folder / "rows")
        shutil.rmtree(rows, ignore_errors=True)
        Path(cache).unlink(missing_ok=True)
        commands: dict[str, Sequence[str]] = {
            "bigclf": train(svm, "logistic", Path(mine)),
            "bigclf, arow": train(svm, "arow", folder / "a.npz"),
            "bigclf, 3 passes, cache": train(svm, "logistic", folder / "c.npz", "--passes", "3", "--cache", str(rows)),
            "bigclf, predict": [*BIGCLF, "predict", mine, str(svm), "--scores", "-q", "-o", str(folder / "p")],
        }
        if there("vowpalwabbit"):
            commands |= {
                "VW": [*logistic, theirs],
                "VW, 3 passes, cache": [
                    *(*logistic, f"{theirs}.3", "--passes", "3", "--holdout_off", "--cache_file", cache)
                ],
                "VW, predict": [*VW, "-t", "-i", theirs, "-d", str(vw), "-p", str(folder / "v"), "--quiet"],
            }
        if there("sklearn"):
            for what in ("sgd", "perceptron"):
                commands[f"scikit-learn {what}"] = [*PEERS, "train", what, str(svm), sk]
        if shutil.which("liblinear-train"):
            commands["LIBLINEAR -s 2, all in memory"] = [
                "liblinear-train",
                "-q",
                "-s",
                "2",
                str(svm),
                str(folder / "ll"),
            ]
        if there("river"):
            commands[f"river, {RIVER_ROWS:,} rows"] = [*PEERS, "river", str(svm), str(RIVER_ROWS)]
        table = measured(commands, rounds)
        held_out = accuracies(folder, test, commands)
        for name in commands:
            base = "bigclf" + name[name.index(",") :] if name.startswith("VW,") else "bigclf"
            cpu, wall, peak = (median(table, name, figure) for figure in ("cpu", "wall", "peak"))
            by = ("", "") if name.startswith("bigclf") else tuple(ratio(table, base, name, f) for f in ("cpu", "wall"))
            lines.append((stem, name, cpu, wall, *by, f"{peak:.0f}", held_out.get(name, "")))
    head = ["rows", "program", "CPU s", "wall s", "bigclf's CPU / its", "wall / its", "peak MiB", "accuracy, held out"]
    return markdown(head, lines)


def accuracies(folder: Path, test: Path, commands: dict[str, Sequence[str]]) -> dict[str, str]:
    """Of the models that the commands left, on held-out rows."""
    with open(f"{test}.svm") as f:
        truth = np.array([line.startswith("1") for line in f])
    out, found = str(folder / "held"), {}

    def judge(name: str, words: Sequence[str], column: int = 0, border: float = 0.0) -> None:
        run(words)
        scores = np.loadtxt(out, usecols=column, ndmin=1)
        found[name] = f"{np.mean((scores > border) == truth):.4f}"

    judge("bigclf", [*BIGCLF, "predict", str(folder / "m.npz"), f"{test}.svm", "--scores", "-q", "-o", out], 1)
    if "VW" in commands:
        judge("VW", [*VW, "-t", "-i", str(folder / "vw.model"), "-d", f"{test}.vw", "-p", out, "--quiet"])
    if "scikit-learn perceptron" in commands:  # the last that wrote the file
        judge("scikit-learn perceptron", [*PEERS, "predict", str(folder / "sk.npz"), f"{test}.svm", out])
    if "LIBLINEAR -s 2, all in memory" in commands:
        words = ["liblinear-predict", "-q", f"{test}.svm", str(folder / "ll"), out]
        judge("LIBLINEAR -s 2, all in memory", words)
    return found


def against_readers(folder: Path, rounds: int) -> str:
    """Reading alone, the import of each package taken off."""
    lines = []
    readers = {
        "dense.svm": ("svmloader", "scikit-learn"),
        "sparse.svm": ("svmloader", "scikit-learn"),
        "dense.csv": ("pyarrow", "polars", "duckdb"),
        "dense.parquet": ("pyarrow", "polars", "duckdb"),
    }
    modules = {"scikit-learn": ["sklearn.datasets"], "pyarrow": ["pyarrow.csv, pyarrow.parquet"]}
    for file, others in readers.items():
        tiny = folder / f"tiny{Path(file).suffix}"
        _tiny(folder, tiny)
        commands: dict[str, Sequence[str]] = {"bigclf": [*PEERS, "read", "bigclf", str(folder / file)]}
        commands["bigclf, start"] = [*PEERS, "read", "bigclf", str(tiny)]
        for name in others:
            module = modules.get(name, [name])[0]
            if there(module.split(",")[0].split(".")[0]):
                commands[name] = [*PEERS, "read", name, str(folder / file)]
                commands[f"{name}, start"] = [sys.executable, "-W", "ignore", "-c", f"import {module}"]
        table = measured(commands, rounds)
        mine = median(table, "bigclf", "cpu") - median(table, "bigclf, start", "cpu")
        for name in (n for n in commands if not n.endswith("start")):
            cpu = median(table, name, "cpu") - median(table, f"{name}, start", "cpu")
            by = "" if name == "bigclf" else mine / cpu
            lines.append((file, name, cpu, by, f"{median(table, name, 'peak'):.0f}"))
    return markdown(["file", "reader", "CPU s, start taken off", "bigclf's / its", "peak MiB"], lines)


def _tiny(folder: Path, path: Path) -> None:
    """A file of the format that holds a hundred rows."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        batch = next(pq.ParquetFile(folder / "dense.parquet").iter_batches(100))
        import pyarrow as pa

        pq.write_table(pa.Table.from_batches([batch]), path)
        return
    with open(folder / f"dense{path.suffix}") as whole:
        path.write_text("".join(line for line, _ in zip(whole, range(100), strict=False)))


def machine() -> str:
    """Where and with what."""
    packages = ("numpy", "numba", "pyarrow", "vowpalwabbit", "scikit-learn", "river", "polars", "duckdb")
    from bigclf import __version__

    have = [f"bigclf {__version__}"]
    for package in packages:
        try:
            have.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            have.append(f"{package} not installed")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{time.strftime('%Y-%m-%d')}, {cores} cores, {platform.machine()}, Python {platform.python_version()}; " + (
        ", ".join(have)
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the data are made, once (2 GB at full size)")
    parser.add_argument("--share", type=float, default=1.0, help="of a million dense and 400,000 sparse rows")
    parser.add_argument("--rounds", type=int, default=3, help="that count; default 3")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), metavar="NAME,...")
    parser.add_argument("--peers", action="store_true", help="beside other programs")
    chosen = parser.parse_args(argv)
    if chosen.rounds < 1 or not 0 < chosen.share <= 100:
        parser.error("--rounds: at least 1; --share: more than 0")
    making = [sys.executable, str(HERE / "bench_data.py"), str(chosen.folder), str(chosen.share)]
    subprocess.run(making, check=True)  # apart: what this process holds would count as the peak of those it starts
    print(machine(), "\n")
    try:
        if chosen.peers:
            print(against_learners(chosen.folder, chosen.rounds), "\n")
            print(against_readers(chosen.folder, chosen.rounds))
        else:
            print(whole_passes(chosen.folder, chosen.algorithms.split(","), chosen.rounds))
    except RuntimeError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
