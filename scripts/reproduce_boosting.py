"""Online boosting of many classes over the sets at hand, each method beside its base alone, and beside MOA.

    python scripts/reproduce_boosting.py [--data FOLDER] [--runs 1] [--bases vfdt,gnb,arow] [--members 10]
                                         [--rows 5000] [--moa-jar FILE] [--moa-seconds 2]
                                         [--only NAME,...] [--markdown FILE] [--json FILE]

The methods are those of Carvalho Santos & Barros (Artificial Intelligence Review 53, 2020), oabm1 and oabm2, and
earlier ones. No figure of that article is at hand, so none stands here. Each row is predicted, then learned. All get
the same rows: the first --rows of a random order, one order a run; columns have mean 0 and standard deviation 1 over
the whole set, words are columns of 0 and 1 before that, and gaps are the mean.

With the jar of MOA (it is in the Python package capymoa) and Java, its HoeffdingTree and its OzaBoost, by weights, get
the same numbers, and stand beside vfdt and oza-boost --moa-compat. MOA splits a leaf in the end even where no split
improves it, and so does --no-pre-prune, with which both are given too. Times are processor time to score and learn,
compiling apart; MOA's is the fastest of as many rounds as --moa-seconds hold. The exit code is 1 where the
folder is not there.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from comparison import common_options, compare, parsed, present, ranks, table
from numpy.typing import NDArray
from prequential import Encoded, encoded, files, run, tiles

from bigclf import block as blk
from bigclf import draws
from bigclf.algorithms import registry
from bigclf.core import Learner
from bigclf.state import flatten
from bigclf.training.metrics import add_pairs, measures
from bigclf.units import code_matrix

ALONE = "alone"
METHODS = (ALONE, "oabm1", "oabm2", "oza-boost", "adob", "bole")
BASES = ("vfdt", "gnb", "arow", "pa-1")
MEASURES = ("accuracy", "kappa", "bytes", "us")
MOA = Path(__file__).with_name("MoaPrequential.java")
# What stands beside a learner of MOA's: ours, method and more options.
LIKE = {
    "HoeffdingTree": [("vfdt", ALONE, {}), ("vfdt --no-pre-prune", ALONE, {"pre_prune": False})],
    "OzaBoost": [
        ("oza-boost --moa-compat", "oza-boost", {"moa_compat": True}),
        ("the same --base-no-pre-prune", "oza-boost", {"moa_compat": True, "base_pre_prune": False}),
    ],
}

# First those of more than two classes, then some of two with more than 10,000 rows.
SETS = """
wine glass seeds ecoli synthetic_control vowel cmc yeast isolet5 car digits segment dna_full splice
abalone_sex abalone_rings waveform5000 optdigits satellite mnist_t10k nursery poker_train kddcup99_10pct
electricity weather_noaa magic covtype_3v4 adult
"""


def learner(method: str, base: str, members: int, **more: Any) -> Learner:
    """A method over a base, or the base."""
    return (
        registry.build(base, **more) if method == ALONE else registry.build(method, base=base, members=members, **more)
    )


def play(method: Learner, rows: Encoded, at: NDArray[np.int64]) -> list[float]:
    """MEASURES over the rows at these places."""
    found = run(method, tiles(rows.X, rows.y, at), code_matrix(rows.classes))
    took = found.seconds * 1e6 / len(at)
    held = sum(a.nbytes for a in flatten(found.state).values())
    accuracy, kappa = judged(rows, at, found.guess)
    return [accuracy, kappa, held, took]


def judged(rows: Encoded, at: NDArray[np.int64], guess: NDArray[Any]) -> tuple[float, float]:
    """Accuracy and kappa."""
    k = len(rows.classes)
    found = measures(add_pairs(np.zeros((k, k), np.int64), rows.y[at], guess))
    return found.accuracy or 0.0, found.kappa or 0.0


@cache
def compiled(method: str, base: str, members: int, dtype: str, many: bool) -> None:
    """Compile what rows of this kind need, so that no time holds it."""
    names = ["0", "1", "2"][: 2 + many]
    rows = Encoded(np.array([[1.0, 0.5], [0.5, 1.0], [1.0, 1.0]], dtype), np.array([0, 1, 2 * many], np.int32), names)
    play(learner(method, base, members), rows, np.arange(3))


def measure(rows: Encoded, at: NDArray[np.int64], chosen: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """MEASURES by base and method."""
    found: dict[str, dict[str, list[float]]] = {}
    for base in chosen.bases:
        found[base] = {}
        for method in METHODS:
            compiled(method, base, chosen.members, str(rows.X.dtype), len(rows.classes) > 2)
            found[base][method] = play(learner(method, base, chosen.members), rows, at)
    return found


def beside_moa(rows: Encoded, at: NDArray[np.int64], chosen: argparse.Namespace) -> dict[str, list[float]]:
    """Accuracy, kappa, and time of MOA's learners and of ours like them."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        with path.open("wb") as f:
            X = rows.X[at, 2:]  # without the bias, and the index 0 that only sparse rows have
            np.array([len(at), X.shape[1], len(rows.classes)], ">i4").tofile(f)
            np.column_stack([X, rows.y[at]]).astype(">f8").tofile(f)
        words = ["java", "-Xmx2g", "-cp", str(chosen.moa_jar), str(MOA), str(path), str(chosen.members)]
        words.append(str(chosen.moa_seconds))
        said = subprocess.run(words, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"MOA failed:\n{said.stderr[-2000:]}")
    for line in said.stdout.splitlines():
        name, took, *guess = line.split()
        if name in LIKE:
            found[name] = [*judged(rows, at, np.array(guess, int)), float(took)]
            for title, method, more in LIKE[name]:
                accuracy, kappa, _, took_we = play(learner(method, "vfdt", chosen.members, **more), rows, at)
                found[title] = [accuracy, kappa, took_we]
    return found


def measured(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All figures of each set, means over the runs."""
    for name in SETS.split():
        if not present(chosen, name, files(name, chosen.data)):
            continue
        rows = encoded(name, chosen.data, "std")
        if not isinstance(rows.X, np.ndarray):
            rows = rows._replace(X=blk.densify(rows.X))
        n, each, moa = len(rows.y), [], []
        for order in range(chosen.runs):
            at = draws.order(n, order)[: chosen.rows]
            each.append(measure(rows, at, chosen))
            if chosen.moa_jar:
                moa.append(beside_moa(rows, at, chosen))
        bases = {b: {m: _mean([e[b][m] for e in each]) for m in each[0][b]} for b in chosen.bases}
        told = ", ".join(f"{b} {v[ALONE][0]:.3f}, oabm2 {v['oabm2'][0]:.3f}" for b, v in bases.items())
        print(f"{name}: {told}", file=sys.stderr)
        yield {
            "set": name,
            "rows": n,
            "columns": rows.X.shape[1] - 2,
            "classes": len(rows.classes),
            "bases": bases,
            "moa": {m: _mean([e[m] for e in moa]) for m in moa[0]} if moa else {},
        }


def _mean(values: list[list[float]]) -> list[float]:
    """Over runs."""
    return np.mean(values, axis=0).tolist()  # type: ignore[no-any-return]


def human(size: float) -> str:
    """Bytes for the reader.

    >>> human(900.0), human(15_000.0), human(2_340_000.0)
    ('0.9 kB', '15.0 kB', '2.3 MB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def means(done: list[dict[str, Any]], base: str, methods: Sequence[str]) -> str:
    """Over the sets, of these methods; beside the base alone, sets won and lost of accuracies that differ by 0.0005."""
    values = np.array([[s["bases"][base][m] for m in methods] for s in done])  # (sets, methods, measures)
    judge = values[:, :, 0]
    rank, rows = ranks(judge.round(6)).mean(axis=0), []
    for m, method in enumerate(methods):
        gain = judge[:, m] - judge[:, 0]
        accuracy, kappa, held, took = values[:, m].mean(axis=0)
        won = "-" if m == 0 else f"{int((gain > 0.0005).sum())} / {int((gain < -0.0005).sum())}"
        rows.append([method, f"{accuracy:.4f}", f"{kappa:.4f}", f"{rank[m]:.2f}", won, human(held), f"{took:.1f}"])
    return table([base, "accuracy", "kappa", "mean rank", "won / lost", "state", "us a row"], rows)


def by_moa(done: list[dict[str, Any]]) -> list[str]:
    """Beside MOA: means, largest differences of accuracy, and by set."""
    lines: list[str] = []
    for theirs, ours in LIKE.items():
        rows = []
        moa = np.array([s["moa"][theirs] for s in done])
        rows.append(
            [f"MOA {theirs}", *(f"{v:.4f}" for v in moa.mean(axis=0)[:2]), "", "", "", f"{moa[:, 2].mean():.1f}", ""]
        )
        for title, *_ in ours:
            we = np.array([s["moa"][title] for s in done])
            gap = we[:, 0] - moa[:, 0]
            far = int(np.abs(gap).argmax())
            cells = [f"{np.abs(gap).mean():.4f}", f"{gap[far]:+.4f} ({done[far]['set']})"]
            cells.append(f"{int((np.abs(gap) <= (0.01 if theirs == 'HoeffdingTree' else 0.02)).sum())} of {len(done)}")
            ratio = float(np.exp(np.log(moa[:, 2] / we[:, 2]).mean()))
            rows.append(
                [title, *(f"{v:.4f}" for v in we.mean(axis=0)[:2]), *cells, f"{we[:, 2].mean():.1f}", f"{ratio:.1f}"]
            )
        near = "within 0.01" if theirs == "HoeffdingTree" else "within 0.02"
        head = ["", "accuracy", "kappa", "mean difference", "largest", near, "us a row", "times as fast"]
        lines += ["", table(head, rows)]
    names = [n for theirs, ours in LIKE.items() for n in (theirs, *(o[0] for o in ours))]
    rows = [[s["set"], *(f"{s['moa'][n][0]:.3f}" for n in names)] for s in done]
    return [*lines, "", table(["accuracy", *names], rows)]


def report(done: list[dict[str, Any]], chosen: argparse.Namespace) -> str:
    """All results as Markdown."""
    orders = "one order" if chosen.runs == 1 else f"{chosen.runs} orders"
    lines = [
        f"# Online boosting: {len(done)} sets, at most {chosen.rows} rows each in {orders}, {chosen.members} members",
        "",
        "Each row is predicted, then learned. Won / lost: sets where a method is more or less accurate than its base.",
    ]
    for base in chosen.bases:
        lines += ["", f"## {base}", "", means(done, base, METHODS)]
    lines += ["", "## MOA"]
    lines += by_moa(done) if chosen.moa_jar else ["", f"Left out: {chosen.no_moa}."]
    rows = [
        [s["set"], str(s["rows"]), str(s["columns"]), str(s["classes"])]
        + [f"{v[m][0]:.3f}" for v in s["bases"].values() for m in METHODS]
        for s in done
    ]
    head = [
        "set",
        "rows",
        "columns",
        "classes",
        *(b if m == ALONE else f"{m} {b}" for b in chosen.bases for m in METHODS),
    ]
    return "\n".join([*lines, "", "## Accuracy by set", "", table(head, rows)]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the sets and report."""
    parser = common_options("Online boosting beside its bases, and beside MOA.", 1, "one order of the rows each")
    parser.add_argument("--bases", default="vfdt,gnb,arow", help=f"of {', '.join(BASES)}; default the first three")
    parser.add_argument("--members", type=int, default=10, help="of each ensemble; default 10")
    parser.add_argument("--rows", type=int, default=5000, help="of a set at most; default 5000")
    parser.add_argument("--moa-jar", type=Path, metavar="FILE", help="moa.jar, which is in the package capymoa")
    parser.add_argument("--moa-seconds", type=float, default=2.0, help="that each of its learners runs; default 2")
    chosen = parsed(parser, argv, SETS.split())
    chosen.bases = chosen.bases.split(",")
    if unknown := [b for b in chosen.bases if b not in BASES]:
        parser.error(f"--bases: no base {', '.join(unknown)}; there are {', '.join(BASES)}")
    if min(chosen.members, chosen.rows) < 1:
        parser.error("--members, --rows: at least 1")
    chosen.no_moa = "no --moa-jar FILE"
    if chosen.moa_jar and not chosen.moa_jar.is_file():
        chosen.no_moa = f"there is no file {chosen.moa_jar}"
    elif chosen.moa_jar and not shutil.which("java"):
        chosen.no_moa = "Java is not installed"
    if chosen.no_moa != "no --moa-jar FILE":
        chosen.moa_jar = None
    if not chosen.moa_jar:
        print(f"MOA is left out: {chosen.no_moa}", file=sys.stderr)
    more = {"rows": chosen.rows, "members": chosen.members, "measures": MEASURES}
    return compare(chosen, measured(chosen), lambda done: report(done, chosen), **more)


if __name__ == "__main__":
    sys.exit(main())
