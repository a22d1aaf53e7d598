"""Repeats a published experiment: Wisconsin breast cancer (Wdbc), ten runs of stratified two-fold cross-validation.

    python scripts/wdbc.py

Each fold is written as CSV, its training rows in random order, and goes through the commands: `bigclf train` with ridge
1e-4 and columns scaled to [0, 1], then `bigclf evaluate`. The positive class are the 357 benign rows.

One thing differs from the paper: there, columns are scaled by the range of all rows, those for testing included; here,
by the range of the training rows alone, as a stream allows.

Prints the mean and the standard deviation of the G-mean over the 20 folds. The exit code is 1 where nr-rls is outside
0.950 to 0.960, or less than 0.010 above rls. The paper has 0.956 for nr-rls and ter, 0.938 for rls and ls.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

from bigclf.cli.main import main as bigclf

ALGORITHMS = ("nr-rls", "ter", "rls", "ls")
RUNS = 10
LOW, HIGH, GAP = 0.950, 0.960, 0.010
NAMES = ("malignant", "benign")


def write(path: Path, X: np.ndarray, y: np.ndarray, rows: Sequence[int] | np.ndarray) -> None:
    """Rows as CSV, every number in full."""
    with path.open("w", newline="") as f:
        out = csv.writer(f)
        out.writerow([*(f"x{j}" for j in range(X.shape[1])), "class"])
        out.writerows([*X[i].tolist(), NAMES[y[i]]] for i in rows)


def run(*words: str) -> str:
    """What a command prints on standard output."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = bigclf(list(words))
    if code:
        sys.exit(f"bigclf {' '.join(words)}: exit code {code}")
    return printed.getvalue()


def g_means(train: Path, test: Path, model: Path) -> list[float]:
    """G-mean on the test rows by algorithm."""
    found = []
    for name in ALGORITHMS:
        learn = ("--algo", name, "--b", "1e-4", "--scale", "minmax", "--positive", "benign", "--label", "class")
        run("train", str(train), *learn, "-o", str(model), "-q")
        found.append(float(json.loads(run("evaluate", str(model), str(test), "--json", "-q"))["g_mean"]))
    return found


def main() -> int:
    """Run all folds and judge."""
    X, y = load_breast_cancer(return_X_y=True)
    values = []
    with TemporaryDirectory() as folder:
        train, test, model = (Path(folder) / name for name in ("train.csv", "test.csv", "model.npz"))
        for k in range(RUNS):
            rng = np.random.default_rng(k)
            for learned, judged in StratifiedKFold(2, shuffle=True, random_state=k).split(X, y):
                write(train, X, y, rng.permutation(learned))
                write(test, X, y, judged)
                values.append(g_means(train, test, model))
    G = np.array(values)
    print(f"Wdbc, {len(G)} folds, columns scaled by the training rows: G-mean")
    for name, mean, std in zip(ALGORITHMS, G.mean(axis=0), G.std(axis=0), strict=True):
        print(f"  {name:8}{mean:.4f} ± {std:.4f}")
    best = G[:, ALGORITHMS.index("nr-rls")].mean()
    gap = best - G[:, ALGORITHMS.index("rls")].mean()
    print(f"  nr-rls minus rls: {gap:.4f}")
    if LOW <= best <= HIGH and gap >= GAP:
        return 0
    print(f"expected nr-rls within {LOW:.3f} to {HIGH:.3f} and at least {GAP:.3f} above rls")
    return 1


if __name__ == "__main__":
    sys.exit(main())
