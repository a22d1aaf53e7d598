"""Beside river (0.26): bagging of linear models under over- and under-sampling, on the same rows in the same order.

    python scripts/compare_river.py [--peer PYTHON] [--data FOLDER] [--runs N] [--only NAME,...] [--long N]

Each row is predicted, then learned. A line has the means over orders of the rows (and seeds of the draws): G-mean, and
microseconds of processor time a row, of both; start-up and reading are left out on both sides. Of bigclf they are what
`bigclf compare` says, which is without the first call of each learner (in it kernels are loaded or compiled); of river
the time of the loop over rows, which lie ready as dicts. Columns are scaled by either's own means: of the first rows,
and then rows to length one, by bigclf; by a StandardScaler as rows come by river.

Lines without options but --base are defaults; `ob --scale std --apply repeat` is bagging as river does it: rows keep
their length, and a row drawn twice is shown twice. A class size that fades over ten rows, as published (--theta 0.9),
cannot tell a class of one row in forty from one of one in twenty; river goes by all rows so far.

--long N: rows are repeated, in other orders, to at least N; then G-mean is of all of them.
river may be installed elsewhere: --peer names the Python that has it. Without it that side is skipped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SETS = ("mammography", "htru2", "creditcard_sample")
LONGER = "--theta 0.99"  # sizes of classes fade over a hundred rows
PAIRS = tuple(  # ours, theirs, base
    (f"{ours} --base {base} {more}".rstrip(), theirs, base)
    for base, ours, theirs, more in (
        ("perceptron", "ob", "bagging", ""),
        ("perceptron", "ob", "bagging", "--scale std --apply repeat"),
        ("perceptron", "oob", "over", ""),
        ("perceptron", "owob", "over", ""),
        ("perceptron", "ouob", "over", ""),
        ("perceptron", "oub", "under", ""),
        ("perceptron", "owub", "under", ""),
        ("logistic", "ob", "bagging", ""),
        ("logistic", "oob", "over", ""),
        ("logistic", "oob", "over", LONGER),
        ("logistic", "owob", "over", ""),
        ("logistic", "owob", "over", LONGER),
        ("logistic", "ouob", "over", ""),
        ("logistic", "oub", "under", ""),
        ("logistic", "owub", "under", ""),
    )
)


def g_mean(truth: Any, guess: Any) -> float:
    """The root of the product of both classes' recalls."""
    return float(np.sqrt(np.mean(guess[truth == 1] == 1) * np.mean(guess[truth == 0] == 0)))


def peer(sampling: str, base: str, seed: int) -> Any:
    """river's model of ten members."""
    from river import ensemble, imblearn, linear_model, preprocessing

    inner = linear_model.Perceptron() if base == "perceptron" else linear_model.LogisticRegression()
    model = ensemble.BaggingClassifier(inner, n_models=10, seed=seed)
    sampler = {"over": imblearn.RandomOverSampler, "under": imblearn.RandomUnderSampler}.get(sampling)
    if sampler is not None:
        model = sampler(model, desired_dist={0: 0.5, 1: 0.5}, seed=seed)
    return preprocessing.StandardScaler() | model


def play(file: str, sampling: str, base: str, seed: int) -> dict[str, float]:
    """river over the rows of a file; runs in the Python that has it."""
    import time

    with np.load(file) as found:
        X, y = found["X"], found["y"]
    rows = [dict(enumerate(x)) for x in X.tolist()]
    model, guess = peer(sampling, base, seed), np.zeros(len(y), int)
    began = time.process_time()
    for i, (x, c) in enumerate(zip(rows, y.tolist(), strict=True)):
        guess[i] = model.predict_one(x) or 0
        model.learn_one(x, c)
    return {"us": (time.process_time() - began) / len(y) * 1e6, "g": g_mean(y, guess)}


def has_river(python: str) -> bool:
    """Whether this Python can import it."""
    return subprocess.run([python, "-c", "import river"], capture_output=True, check=False).returncode == 0


def theirs(python: str, file: Path, sampling: str, base: str, seed: int) -> dict[str, float]:
    """river's figures."""
    words = [python, __file__, "--play", str(file), sampling, base, str(seed)]
    found: dict[str, float] = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    return found


def ours(file: Path, words: list[str], seed: int) -> list[dict[str, float]]:
    """The figures of bigclf, of each of these algorithms with its options."""
    said = []
    for w in words:  # one at a time: no two compete for the processor's caches
        run = [sys.executable, "-m", "bigclf", "compare", str(file), "--algo", f"{w} --seed {seed}", "--label", "y"]
        done = json.loads(subprocess.run([*run, "--json", "-q"], capture_output=True, check=True, text=True).stdout)
        one = done["algorithms"][0]
        said.append({"us": one["microseconds_per_row"], "g": one["progressive"]["g_mean"]})
    return said


def table(name: str, folder: Path) -> tuple[Any, Any]:
    """Rows of numbers and their classes, 1 the rarer."""
    import pyarrow.parquet as pq

    found = pq.read_table(folder / f"{name}.parquet")
    y = found.column("label").to_numpy(zero_copy_only=False)
    X = np.column_stack([found.column(c).to_numpy() for c in found.column_names if c != "label"]).astype(np.float32)
    values, codes = np.unique(y, return_inverse=True)
    rare = int(np.argmin(np.bincount(codes)))
    assert len(values) == 2
    return X, (codes == rare).astype(np.int64)


def ordered(X: Any, y: Any, seed: int, least: int, folder: Path) -> tuple[Path, Path]:
    """The rows in this order, repeated in others to at least so many, as a file for either side."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    at = np.concatenate([rng.permutation(len(y)) for _ in range(max(1, -(-least // len(y))))])
    names = ["y", *(f"x{j}" for j in range(X.shape[1]))]
    columns = [y[at], *np.ascontiguousarray(X[at].T)]
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), folder / "rows.parquet")
    np.savez(folder / "rows.npz", X=X[at], y=y[at])
    return folder / "rows.parquet", folder / "rows.npz"


def measured(name: str, chosen: argparse.Namespace, river: bool) -> list[str]:
    """The lines of a set."""
    X, y = table(name, chosen.data)
    words = [w for w, _, _ in PAIRS]
    mine: dict[str, list[dict[str, float]]] = {w: [] for w in words}
    other: dict[tuple[str, str], list[dict[str, float]]] = {(s, b): [] for _, s, b in PAIRS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, chosen.runs + 1):
            parquet, npz = ordered(X, y, seed, chosen.long, Path(folder))
            for w, one in zip(words, ours(parquet, words, seed), strict=True):
                mine[w].append(one)
            for (s, b), all_of in other.items():
                if river:
                    all_of.append(theirs(chosen.peer, npz, s, b, seed))
    lines = []
    for w, s, b in PAIRS:
        us, g = (float(np.mean([one[k] for one in mine[w]])) for k in ("us", "g"))
        line = f"{name:18} {w:72} {g:6.3f} {us:8.2f}"
        if river:
            slow, h = (float(np.mean([one[k] for one in other[s, b]])) for k in ("us", "g"))
            line += f"   {s:8} {h:6.3f} {slow:8.1f}   {slow / us:5.0f}"
        lines.append(line)
    return lines


def main(argv: list[str] | None = None) -> int:
    """Print a line for each set and pair."""
    parser = argparse.ArgumentParser(description="Beside river: bagging of linear models under resampling.")
    parser.add_argument("--data", type=Path, default=FOLDER, metavar="FOLDER", help="of the sets")
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="that has river")
    parser.add_argument("--runs", type=int, default=3, help="orders of the rows; default 3")
    parser.add_argument("--only", default=",".join(SETS), metavar="NAME,...", help="these sets")
    parser.add_argument("--long", type=int, default=0, metavar="N", help="repeat rows to at least so many")
    parser.add_argument("--play", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    if chosen.play:
        file, sampling, base, seed = chosen.play
        print(json.dumps(play(file, sampling, base, int(seed))))
        return 0
    river = has_river(chosen.peer)
    if not river:
        print(f"river: skipped, {chosen.peer} does not have it (--peer names a Python that does)", file=sys.stderr)
    more = f"   {'river':8} G-mean   us/row   times" if river else ""
    print(f"{'set':18} {'bigclf':72} G-mean   us/row{more}")
    for name in chosen.only.split(","):
        for line in measured(name, chosen, river):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
