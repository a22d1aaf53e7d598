"""The work of `bigclf doctor`."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import os
import platform
import re
import shlex
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from bigclf import __version__, start
from bigclf.algorithms import registry
from bigclf.cli.report import Report, emit
from bigclf.cpus import usable
from bigclf.errors import BigclfError, Stopped, UsageError
from bigclf.limits import counted, headroom, human

CORE = ("numpy", "numba", "pyarrow", "psutil", "typer", "rich")
LEAST = 256 << 20  # bytes that a run should be able to take


def run(warm: bool, algorithms: Sequence[str], json: bool, quiet: bool) -> None:
    """Warm the kernels where that is wanted; then tell all. typer.Exit(1) where something is wrong."""
    report = Report(quiet)
    if algorithms and not warm:
        raise UsageError("--algo: goes with --warm")
    names = list(algorithms) or [s.name for s in registry.specs().values() if s.settled is None]
    for words in names:
        _known(words)
    if warm:
        _warm(names, report)
    facts = examined()
    if json:
        emit(facts)
    else:
        _tell(facts)
    for problem in facts["problems"]:
        report.fault(problem)
    if facts["problems"]:
        raise typer.Exit(1)


def examined() -> dict[str, Any]:
    """All facts, and under `problems` a line for each thing that is wrong."""
    facts = {
        "bigclf": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in CORE},
        "extras": _extras(),
        "kernels": _kernels(),
        "processors": {"machine": os.cpu_count(), "usable": usable()},
        "memory": _memory(),
    }
    return facts | {"problems": list(_problems(facts))}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    """Of each extra the packages, with the version that is there."""
    found: dict[str, dict[str, str | None]] = {}
    try:
        needs = importlib.metadata.requires("bigclf") or []
    except importlib.metadata.PackageNotFoundError:  # it runs from a folder of sources
        return {}
    for need in needs:
        extra, name = re.search(r"""extra == ["'](\w+)["']""", need), re.match(r"[\w.-]+", need)
        if extra and name:
            found.setdefault(extra[1], {})[name[0]] = _version(name[0])
    return found


def _kernels() -> dict[str, Any]:
    from bigclf.jit import cache_folder

    folder = Path(os.environ["NUMBA_CACHE_DIR"]) if os.environ.get("NUMBA_CACHE_DIR") else cache_folder()
    if folder is None:
        return {"folder": None, "compiled": 0, "bytes": 0}
    files = [p for p in folder.rglob("*.nbc") if p.is_file()]
    return {"folder": str(folder), "compiled": len(files), "bytes": sum(p.stat().st_size for p in files)}


def _memory() -> dict[str, Any]:
    room = headroom()
    return {
        "may_take": room.bytes,
        "bound_by": room.binding.name,
        "resident": room.resident,
        "limits": [x._asdict() for x in room.limits],
    }


def _problems(facts: dict[str, Any]) -> Iterator[str]:
    for name, version in facts["packages"].items():
        if version is None:
            yield f"{name} is not installed; pip install bigclf brings it"
    if facts["kernels"]["folder"] is None:
        yield "compiled kernels cannot be kept, so every run compiles; set XDG_CACHE_HOME to a folder that is yours"
    memory = facts["memory"]
    if memory["may_take"] < LEAST:
        yield f"{human(memory['may_take'])} of memory may be taken, by {memory['bound_by']}; {human(LEAST)} should be"
    have = start.limit()
    for kind in ("libsvm", "csv", "parquet"):
        need = start.floor(kind)
        if have is not None and have < need << 20:
            yield f"ulimit -v is {have >> 20} MiB, and {kind} needs {need} MiB; raise it"


def _tell(facts: dict[str, Any]) -> None:
    packages = ", ".join(f"{name} {version or 'is missing'}" for name, version in facts["packages"].items())
    kernels, processors, memory = facts["kernels"], facts["processors"], facts["memory"]
    kept = f"{counted(kernels['compiled'], 'kernel is', 'kernels are')} compiled ({human(kernels['bytes'])})"
    lines = {
        "bigclf": f"{facts['bigclf']}, Python {facts['python']}, {facts['system']}",
        "packages": packages,
        "kernels": f"{kept} in {kernels['folder']}" if kernels["folder"] else "cannot be kept",
        "processors": f"{processors['usable']} of {processors['machine']}",
        "memory": f"{human(memory['may_take'])} may be taken, bound by {memory['bound_by']}",
    }
    for limit in memory["limits"]:
        lines[f"  {limit['name']}"] = f"{human(limit['total'])}, {human(max(limit['free'], 0))} of it left"
    for extra, needs in facts["extras"].items():
        absent = [name for name, version in needs.items() if version is None]
        lines[f"extra {extra}"] = (
            "is there" if not absent else f"lacks {', '.join(absent)}: pip install 'bigclf[{extra}]'"
        )
    wide = max(map(len, lines))
    for name, text in lines.items():
        print(f"{name:{wide}}  {text}")


def _known(words: str) -> None:
    name = shlex.split(words)[:1]
    if not name or name[0] not in registry.specs():
        raise UsageError(f"--algo: there is no algorithm '{words}'; see `bigclf algos`")


def _warm(names: Sequence[str], report: Report) -> None:
    """Train, predict and evaluate on a few made-up rows in each form: every kernel that is met is kept."""
    with tempfile.TemporaryDirectory() as folder:
        files = _rows(Path(folder))
        for words in names:
            began = time.monotonic()
            for file in files if words == names[0] else files[:2]:
                _one(words, file, Path(folder))
            report.note(f"{words}: {time.monotonic() - began:.1f} s")


def _one(words: str, file: Path, folder: Path) -> None:
    from bigclf.cli.main import main

    model, name = folder / "m.npz", shlex.split(words)
    quiet = ["-q", "--budget", "100%"]
    for argv in (
        ["train", file, "--algo", *name, "-o", model, *quiet],
        ["predict", model, file, "-o", folder / "out", *quiet],
        ["evaluate", model, file, *quiet],
    ):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main([str(word) for word in argv])
        if code > 128:
            raise Stopped(code - 128)
        if code:
            why = said.getvalue().strip().splitlines()[-1].removeprefix("bigclf: ")
            raise (UsageError if code == 2 else BigclfError)(f"--warm: {words}: {why}")


def _rows(folder: Path) -> list[Path]:
    """The same few rows: dense and sparse LIBSVM, CSV and Parquet."""
    rows = [[i % 2, (i * 7) % 11 / 4 + i % 2, (i * 5) % 13 / 8 - i % 2, (i * 3) % 7 / 2] for i in range(80)]
    dense, sparse, csv, parquet = (folder / name for name in ("dense.svm", "sparse.svm", "a.csv", "a.parquet"))
    dense.write_text("".join(f"{y} 1:{a:g} 2:{b:g} 3:{c:g}\n" for y, a, b, c in rows))
    sparse.write_text("".join(f"{y} {1 + i % 40}:{a:g} {50 + i % 30}:{b:g}\n" for i, (y, a, b, c) in enumerate(rows)))
    csv.write_text("label,a,b,c\n" + "".join(f"{y},{a:g},{b:g},{c:g}\n" for y, a, b, c in rows))
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(zip(("label", "a", "b", "c"), zip(*rows, strict=True), strict=True))), parquet)
    return [dense, sparse, csv, parquet]
