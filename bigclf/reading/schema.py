"""What the head fixes for good: columns, categories, missing values, scaling, classes. Kept in the model."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import UsageError
from bigclf.reading.feature_map import LINEAR, FeatureMap
from bigclf.reading.labels import BREAKS

SCALES = ("none", "minmax", "std", "maxabs", "row-l2")
MAX_CLASSES = 1000
MOST_BITS = 28
MOST = 1e300  # of the numbers in the arrays


class Feature(NamedTuple):
    """A column of a table: a number takes one column of the block, words one for each category."""

    name: str
    kind: str  # number, words
    column: int  # first column of the block
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """Columns of a block are: 0 the bias, index + 1 for a LIBSVM index and for the j-th table column, from 1."""

    kind: str  # sparse: columns are addressed by index; table: by name
    layout: str  # dense, csr
    dtype: str  # float32, float64
    bias: bool
    hash_bits: int
    missing: str  # mean, zero, error, skip
    scale: str  # as asked for: a list of SCALES joined by commas
    solve_scale: str  # the part of it that the learner applies when solving
    features: tuple[Feature, ...]
    label: str | None
    classes: tuple[str, ...]  # in code order
    positive: str | None
    used: int  # columns in use
    zero_based: bool  # LIBSVM: index 0 was met
    reference: NDArray[np.float64]  # (used,) subtracted before rounding to dtype
    offset: NDArray[np.float64]  # (used,) subtracted after it
    factor: NDArray[np.float64]  # (used,) multiplied with
    fill: NDArray[np.float64]  # (used,) value, as read, that stands for a missing one
    map: FeatureMap = LINEAR  # of the encoded columns to those that are learned from

    ARRAYS = ("reference", "offset", "factor", "fill")

    def head(self) -> dict[str, Any]:
        """All but the arrays, for JSON."""
        return {k: v for k, v in asdict(self).items() if k not in self.ARRAYS}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The arrays by name."""
        return {k: getattr(self, k) for k in self.ARRAYS}

    @classmethod
    def load(cls, head: dict[str, Any], arrays: dict[str, NDArray[np.float64]]) -> Schema:
        """The inverse of `head` and `arrays`; KeyError, TypeError or ValueError for what does not fit."""
        values = dict(head) | {name: arrays[name] for name in cls.ARRAYS}
        values["features"] = tuple(Feature(n, k, int(c), tuple(w)) for n, k, c, w in values["features"])
        values["classes"] = tuple(str(c) for c in values["classes"])
        values["map"] = FeatureMap(*values["map"])
        missing = {f.name for f in fields(cls)} ^ set(values)
        if missing:
            raise KeyError(", ".join(sorted(missing)))
        schema = cls(**values)
        if any(a.shape != (schema.used,) for a in schema.arrays().values()):
            raise ValueError("the schema's arrays have the wrong length")
        schema.check()
        return schema

    def check(self) -> None:
        """ValueError for what no training run could have made."""
        meant = {
            "kind": ("sparse", "table"),
            "layout": ("dense", "csr"),
            "dtype": ("float32", "float64"),
            "bias": (True, False),
            "missing": ("mean", "zero", "error", "skip"),
            "solve_scale": ("none", "minmax", "std", "maxabs"),
            "zero_based": (True, False),
        }
        for name, values in meant.items():
            if not any(type(v) is type(getattr(self, name)) and v == getattr(self, name) for v in values):
                raise ValueError(f"schema {name} = {str(getattr(self, name))[:40]!r}")
        split_scale(self.scale)
        self.map.check()
        if type(self.hash_bits) is not int or not 0 <= self.hash_bits <= MOST_BITS or type(self.used) is not int:
            raise ValueError("schema sizes are impossible")
        if self.hash_bits and self.used != 1 + (1 << self.hash_bits):
            raise ValueError("schema hash_bits do not fit its columns")
        if any(not isinstance(x, str | None) for x in (self.label, self.positive)) or not self.classes:
            raise ValueError("schema names are impossible")
        if any(BREAKS.intersection(name) for name in self.classes):
            raise ValueError("schema classes hold line breaks")
        for f in self.features:
            last = f.column + (len(f.categories) or 1)
            if f.kind not in ("number", "words") or not (
                self.hash_bits or (f.column > 0 and last <= max(self.used, 3))
            ):
                raise ValueError(f"schema column {str(f.name)[:40]!r} is impossible")
        if any(not np.isfinite(a).all() or (np.abs(a) > MOST).any() for a in self.arrays().values()):
            raise ValueError("the schema's arrays hold impossible numbers")
        json.dumps(self.head(), ensure_ascii=False).encode()  # no half characters

    def count(self) -> int:
        """How many features there are, the bias apart."""
        return self.used - 1 if self.hash_bits or self.zero_based else max(self.used - 2, 0)

    def columns_named(self) -> list[str]:
        """(used,) names of the block's columns, for people."""
        names = ["(bias)" if self.bias else "(no bias)"] + [str(i) for i in range(self.used - 1)]
        if self.hash_bits:
            return names[:1] + [f"hash {n}" for n in names[1:]]
        for f in self.features:
            for k, category in enumerate(f.categories or ("",)):
                names[f.column + k] = f"{f.name}={category}" if f.kind == "words" else f.name
        return names

    def widened(self, used: int, classes: tuple[str, ...]) -> Schema:
        """The schema after columns and classes were born: new columns are neither shifted nor scaled."""
        more = used - self.used
        grown: dict[str, Any] = {
            name: np.concatenate([a, np.full(more, 1.0 if name == "factor" else 0.0)])
            for name, a in self.arrays().items()
        }
        return replace(self, used=used, classes=classes, **grown)


def split_scale(text: str) -> tuple[str, bool]:
    """The column scaling and whether rows are brought to length one; UsageError for what cannot be meant.

    >>> split_scale("std,row-l2"), split_scale("none")
    (('std', True), ('none', False))
    """
    names = [n.strip() for n in text.split(",")]
    for n in names:
        if n not in SCALES:
            raise UsageError(f"--scale: '{n}' is none of {', '.join(SCALES)}")
    columns = [n for n in names if n not in ("none", "row-l2")]
    rows = "row-l2" in names
    if (
        len(columns) > 1
        or len(set(names)) < len(names)
        or ("none" in names and len(names) > 1)
        or (rows and names[-1] != "row-l2")
    ):
        raise UsageError(f"--scale: '{text}' should be one column scaling, row-l2, or both in this order")
    return (columns[0] if columns else "none"), rows
