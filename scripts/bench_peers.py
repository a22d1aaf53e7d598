"""What a user of Python would run instead, one action a process, for `bench.py`.

`read WHAT FILE`, `train WHAT FILE MODEL`, `predict MODEL FILE SCORES` (one a line), `river FILE ROWS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHUNK = 16 << 20  # bytes of LIBSVM text
DENSE, SPARSE = 28, 47_236


def width(path: str) -> int:
    """Columns of a file of `bench_data.py`."""
    return DENSE if Path(path).name.startswith("dense") else SPARSE


def chunks(path: str) -> Iterator[tuple[Any, Any]]:
    """LIBSVM text as scikit-learn streams it: ranges of bytes."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    with open(path, "rb") as f:
        for offset in range(0, os.path.getsize(path), CHUNK):
            X, y = load_svmlight_file(
                f, n_features=width(path), dtype=np.float32, offset=offset, length=CHUNK, zero_based=False
            )
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # partial_fit takes no others
            yield X, y


def read(what: str, path: str) -> int:
    """Walk a file; how many rows it has."""
    if what == "bigclf":  # rows as they come from the reader, before any learner
        from bigclf.reading.options import BLOCK_SIZE, BLOCK_SIZES, ReadOptions
        from bigclf.reading.source import find
        from bigclf.reading.stream import Stream

        size = BLOCK_SIZES.get(Path(path).suffix[1:], BLOCK_SIZE)
        return sum(len(raw.row) for raw in Stream(find([path]), ReadOptions(label="label", block_size=size)))
    if what == "scikit-learn":
        return sum(len(y) for _, y in chunks(path))
    if what == "svmloader":
        import svmloader

        return int(svmloader.load_svmfile(path)[0].shape[0])
    if what == "pyarrow" and path.endswith(".csv"):
        import numpy as np
        import pyarrow as pa
        import pyarrow.csv as pc

        with open(path) as f:
            types = {name: pa.float32() for name in f.readline().strip().split(",")}
        n = 0
        options = pc.ReadOptions(use_threads=False, block_size=4 << 20)
        for batch in pc.open_csv(path, options, convert_options=pc.ConvertOptions(column_types=types)):
            block = np.empty((batch.num_rows, batch.num_columns), np.float32)
            for j in range(batch.num_columns):
                block[:, j] = batch.column(j).to_numpy()
            n += len(block)
        return n
    if what == "pyarrow":
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path, pre_buffer=False)
        return sum(batch.num_rows for batch in file.iter_batches(1 << 16, use_threads=False))
    if what == "polars":
        os.environ["POLARS_MAX_THREADS"] = "1"
        import polars

        return int((polars.read_csv if path.endswith(".csv") else polars.read_parquet)(path).height)
    import duckdb

    table = f"read_csv('{path}')" if path.endswith(".csv") else f"'{path}'"
    reader = duckdb.connect(config={"threads": 1}).execute(f"select * from {table}").to_arrow_reader(1 << 16)
    return sum(batch.num_rows for batch in reader)


def sklearn_model(what: str) -> Any:
    """An unfitted model that has partial_fit."""
    from sklearn.linear_model import Perceptron, SGDClassifier

    return Perceptron() if what == "perceptron" else SGDClassifier(loss="log_loss", alpha=1e-6)


def train(what: str, path: str, model: str) -> None:
    """One pass."""
    import numpy as np

    made = sklearn_model(what)
    for X, y in chunks(path):
        made.partial_fit(X, y, classes=[-1.0, 1.0])
    np.savez(model, coef=made.coef_[0], intercept=made.intercept_)


def predict(model: str, path: str, scores: str) -> None:
    """Scores of all rows."""
    import numpy as np

    with np.load(model) as made, open(scores, "w") as out:
        coef, intercept = made["coef"], made["intercept"]
        for X, _ in chunks(path):
            np.savetxt(out, X @ coef + intercept, fmt="%.6g")


def river(path: str, rows: int) -> None:
    """Logistic regression of river, one row at a time, of the first rows of LIBSVM text."""
    from river import linear_model

    made = linear_model.LogisticRegression()
    with open(path) as f:
        for line, _ in zip(f, range(rows), strict=False):
            label, *pairs = line.split()
            x = {int(j): float(v) for j, v in (pair.split(":") for pair in pairs)}
            made.learn_one(x, label == "1")


if __name__ == "__main__":
    action, *words = sys.argv[1:]
    if action == "read":
        print(read(*words))
    elif action == "train":
        train(*words)
    elif action == "river":
        river(words[0], int(words[1]))
    else:
        predict(*words)
