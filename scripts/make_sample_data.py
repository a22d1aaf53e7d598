"""Makes the data files of sample_data/ (all but malformed.svm) from a folder with the sets they come from.

    python scripts/make_sample_data.py SOURCE_FOLDER [TARGET_FOLDER]

Four files are taken over byte by byte. DNA is rewritten: class ei, ie, n as 1, 2, 3, indices from 1, zeros left out;
the first 2,000 rows are for training and the other 1,186 for testing, as in StatLog. The result is always the same.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sys
from pathlib import Path

import numpy as np
from pyarrow import parquet

COPIED = {
    "heart_scale.svm": "heart_scale.svm",
    "votes_words.csv": "votes_words.csv",
    "segment.parquet": "segment.parquet",
    "keel_yeast5.parquet": "yeast5.parquet",
}
TRAIN_ROWS = 2000
CLASSES = {"ei": 1, "ie": 2, "n": 3}


def dna_lines(path: Path) -> list[str]:
    """The rows of the DNA set as LIBSVM text."""
    table = parquet.read_table(path)
    labels = table["label"].to_pylist()
    X = np.column_stack([table[name].to_numpy() for name in table.column_names if name != "label"])
    return [
        " ".join([str(CLASSES[label]), *(f"{j + 1}:{x[j]:g}" for j in np.flatnonzero(x))]) + "\n"
        for label, x in zip(labels, X, strict=True)
    ]


def write_gzip(path: Path, lines: list[str]) -> None:
    """Compress without name and time, so that the bytes depend on the lines alone."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as f:
        f.write("".join(lines).encode())
    path.write_bytes(packed.getvalue())


def main(source: Path, target: Path) -> None:
    """Write all files."""
    for old, new in COPIED.items():
        shutil.copyfile(source / old, target / new)
    lines = dna_lines(source / "dna_full.parquet")
    write_gzip(target / "dna_train.svm.gz", lines[:TRAIN_ROWS])
    write_gzip(target / "dna_test.svm.gz", lines[TRAIN_ROWS:])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else Path(__file__).parent.parent / "sample_data"))
