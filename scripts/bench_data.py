"""The files that `bench.py` measures on: dense rows in all formats, sparse ones as text, others held out.

Labels are 1 and -1. The same seed and sizes give the same bytes. Files of another program's own text (`.vw`) hold the
same rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DENSE, SPARSE = 28, 47_236  # columns
CHUNK = 1 << 14

Rows = tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]]  # indptr, column, value, label


def dense_rows(n: int, seed: int) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int8]]]:
    """Columns of several kinds; the border is a plane and a dozen products of two columns. 27 % are positive."""
    law = np.random.default_rng(11)
    w, pairs, v = law.normal(0, 0.45, DENSE), law.integers(0, DENSE, (12, 2)), law.normal(0, 0.35, 12)
    random = np.random.default_rng(seed)
    for start in range(0, n, CHUNK):
        X = random.normal(0, 1, (min(CHUNK, n - start), DENSE)).astype(np.float32)
        X[:, 5::7] = np.exp(0.5 * X[:, 5::7])
        X[:, 3::9] = np.round(np.abs(X[:, 3::9]) * 2)
        z = X @ w + (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) @ v - 1.1
        yield X, np.where(random.random(len(X)) < 1 / (1 + np.exp(-z)), 1, -1).astype(np.int8)


def sparse_rows(n: int, seed: int) -> Iterator[Rows]:
    """Rows as of documents: some 75 words of a heavy-tailed law, weighted by rarity, of length one; half positive."""
    law = np.random.default_rng(12)
    share = 1 / (np.arange(SPARSE) + 21.0) ** 1.05
    share /= share.sum()
    order, weight = law.permutation(SPARSE), law.standard_t(3, SPARSE) * (law.random(SPARSE) < 0.3)
    rare, up_to = np.log1p(1 / (75 * share)), np.cumsum(share)
    random = np.random.default_rng(seed)
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        words = np.clip(random.lognormal(4.3, 0.55, m), 4, 600).astype(np.int64)
        rank = np.minimum(np.searchsorted(up_to, random.random(words.sum())), SPARSE - 1)
        key, count = np.unique(np.repeat(np.arange(m), words) * SPARSE + order[rank], return_counts=True)
        row, column = key // SPARSE, key % SPARSE
        value = (1 + np.log(count)) * rare[np.argsort(order)[column]]
        value /= np.sqrt(np.bincount(row, value**2, m))[row]
        z = 6 * np.bincount(row, value * weight[column], m) + random.logistic(0, 0.35, m)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
        yield indptr, column + 1, value.astype(np.float32), np.where(z > 0, 1, -1).astype(np.int8)


def write_dense(stem: Path, n: int, seed: int) -> None:
    """stem.svm, .vw, .csv and .parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"f{j}" for j in range(1, DENSE + 1)]
    schema = pa.schema([("label", pa.int8()), *((name, pa.float32()) for name in names)])
    pairs, cells = " ".join(f"{j}:%.6g" for j in range(1, DENSE + 1)), ",".join(["%.6g"] * DENSE)
    with (
        open(f"{stem}.svm", "w") as svm,
        open(f"{stem}.vw", "w") as vw,
        open(f"{stem}.csv", "w") as csv,
        pq.ParquetWriter(f"{stem}.parquet", schema) as parquet,
    ):
        csv.write(",".join(["label", *names]) + "\n")
        for X, y in dense_rows(n, seed):
            labels, rows = y.tolist(), [tuple(row) for row in X.tolist()]
            text = [pairs % row for row in rows]
            svm.write("".join(f"{k} {t}\n" for k, t in zip(labels, text, strict=True)))
            vw.write("".join(f"{k} | {t}\n" for k, t in zip(labels, text, strict=True)))
            csv.write("".join(f"{k},{cells % row}\n" for k, row in zip(labels, rows, strict=True)))
            parquet.write_table(pa.table([y, *X.T.copy()], schema=schema))


def write_sparse(stem: Path, n: int, seed: int) -> None:
    """stem.svm and .vw."""
    with open(f"{stem}.svm", "w") as svm, open(f"{stem}.vw", "w") as vw:
        for indptr, column, value, y in sparse_rows(n, seed):
            entry = [f"{j}:{v:.5g}" for j, v in zip(column.tolist(), value.tolist(), strict=True)]
            ends = indptr.tolist()
            text = [" ".join(entry[a:b]) for a, b in pairwise(ends)]
            svm.write("".join(f"{k} {t}\n" for k, t in zip(y.tolist(), text, strict=True)))
            vw.write("".join(f"{k} | {t}\n" for k, t in zip(y.tolist(), text, strict=True)))


def make(folder: Path, share: float) -> None:
    """All files, `share` of a million dense and of 400,000 sparse rows, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / f"made-{share:g}"
    if done.exists():
        return
    for old in folder.glob("made-*"):
        old.unlink()
    for kind, write, rows in (("dense", write_dense, 1_000_000), ("sparse", write_sparse, 400_000)):
        write(folder / kind, max(int(share * rows), 100), 1)
        write(folder / f"{kind}_test", max(int(share * rows) // 10, 100), 2)
    done.touch()


if __name__ == "__main__":
    make(Path(sys.argv[1]), float(sys.argv[2]))
