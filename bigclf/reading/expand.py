"""A table's columns side by side as one float64 array: numbers as they are, words as one column for each category."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bigclf.reading.csr_kernel import merge_columns
from bigclf.reading.raw import FIRST, Numbers, Sparse, Table, Words
from bigclf.reading.schema import Feature

ABSENT, UNSEEN = -1, -2  # in the place of a category's number


def category_codes(words: Words, categories: tuple[str, ...]) -> NDArray[np.int64]:
    """(n,) number of each row's category; ABSENT where the word is missing, UNSEEN where it is none of them."""
    place = {name: k for k, name in enumerate(categories)}
    table = np.array([place.get(name, UNSEEN) for name in words.names] + [ABSENT], np.int64)
    return table[words.code]  # code -1 picks the last


class Expander:
    """Expands tables to rows (n, used); counts what it met."""

    def __init__(self, features: tuple[Feature, ...], used: int, bias: bool) -> None:
        self.features = features
        self.used = used
        self.bias = float(bias)
        self.unseen: Counter[str] = Counter()  # rows with a category that training did not have, by column
        self.absent = 0  # missing categories
        # names where all columns are numbers and stand as they do in a table's matrix
        plain = all(f.kind == "number" and f.column == FIRST + j for j, f in enumerate(features))
        self._plain = [f.name for f in features] if plain else None

    def plain(self, table: Table) -> bool:
        """Whether the columns of a table are numbers that stand where they do in rows, all of them."""
        return self.used == FIRST + len(table) and list(table) == self._plain

    def rows(self, table: Table, start: int, end: int) -> Numbers:
        """Rows start to end: column 0 the bias, NaN where a number is missing, zeros where a category is.

        They are a part of the table's own matrix where it is laid out as needed; then column 0 is not the bias.
        """
        if table.matrix is not None and self.plain(table):
            return table.matrix[start:end]
        F = np.zeros((end - start, self.used))
        F[:, 0] = self.bias
        for f in self.features:
            column = table[f.name]
            if not isinstance(column, Words):
                F[:, f.column] = column[start:end]
                continue
            codes = category_codes(Words(column.code[start:end], column.names), f.categories)
            known = np.flatnonzero(codes >= 0)
            F[known, f.column + codes[known]] = 1.0
            self.absent += int((codes == ABSENT).sum())
            unseen = int((codes == UNSEEN).sum())
            if unseen:
                self.unseen[f.name] += unseen
        return F

    def incomplete(self, table: Table, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Rows with a missing value and the name of the first column that lacks one, in row order."""
        first: dict[int, str] = {}
        for f in self.features:
            column = table[f.name]
            lacking = column.code[start:end] < 0 if isinstance(column, Words) else np.isnan(column[start:end])
            for i in np.flatnonzero(lacking).tolist():
                first.setdefault(i, f.name)
        return iter(sorted((start + i, name) for i, name in first.items()))


def hash_table(features: tuple[Feature, ...], table: Table, bits: int) -> tuple[Sparse, NDArray[np.int64]]:
    """A table as sparse rows of 1 + 2^bits columns: a number at its column's hash, a word at that of `name=word`.

    Missing values weigh nothing; returns their number in each row, (n,), beside the rows.
    """
    n = _length(table)
    column = np.zeros((n, len(features)), np.int32)
    value = np.zeros((n, len(features)))
    missing = np.zeros(n, np.int64)
    for j, f in enumerate(features):
        data = table[f.name]
        if isinstance(data, Words):
            places = np.array([text_hash(f"{f.name}={w}", bits) for w in data.names] + [text_hash(f.name, bits)])
            column[:, j] = 1 + places[data.code]
            value[:, j] = data.code >= 0
            missing += data.code < 0
        else:
            column[:, j] = 1 + text_hash(f.name, bits)
            value[:, j] = np.nan_to_num(data, nan=0.0)
            missing += np.isnan(data)
    order = np.argsort(column, axis=1, kind="stable")
    columns: NDArray[np.int32] = np.take_along_axis(column, order, axis=1).ravel()
    values: NDArray[np.float64] = np.take_along_axis(value, order, axis=1).ravel()
    indptr = np.arange(0, n * len(features) + 1, len(features), dtype=np.int64)
    stay = merge_columns(indptr, columns, values)
    return Sparse(indptr, columns[:stay], values[:stay]), missing


def _length(table: Table) -> int:
    first = next(iter(table.values()))
    return len(first.code) if isinstance(first, Words) else len(first)


def text_hash(text: str, bits: int) -> int:
    """The first `bits` bits of BLAKE2b: the same on every machine and in every version.

    >>> 0 <= text_hash("colour=red", 4) < 16
    True
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") & ((1 << bits) - 1)
