"""A model of LIBSVM rows reads a table, and the other way round, where columns can be told by their numbers."""

from __future__ import annotations

from bigclf.errors import DataError
from bigclf.reading.head import DENSE_COLUMNS
from bigclf.reading.raw import Raw, Words
from bigclf.reading.schema import Feature, Schema


def other_kind(schema: Schema, raw: Raw) -> tuple[Feature, ...] | None:
    """The features of a table for a model of LIBSVM rows: the j-th column is index j, or that of a number as its name.

    None where nothing need be done. Raises DataError where columns cannot be told by their numbers.
    """
    place = raw.where(0).rsplit(":", 1)[0]
    table = isinstance(raw.data, dict)
    if table == (schema.kind == "table"):
        return None
    if schema.hash_bits:
        raise DataError(place, f"the model hashed the columns of {schema.kind} data (--hash-bits); give it such data")
    worded = [f.name for f in schema.features if f.kind == "words"]
    if worded:
        raise DataError(place, f"the model goes by words in column '{worded[0]}'; give it a table")
    if not isinstance(raw.data, dict):
        return None  # the j-th column of a table is index j
    words = [name for name, column in raw.data.items() if isinstance(column, Words)]
    if words:
        raise DataError(place, f"column '{words[0]}' holds words, and the model was trained on LIBSVM rows")
    if schema.used > DENSE_COLUMNS:
        raise DataError(place, f"the model has {schema.used - 1} sparse columns; give it LIBSVM rows")
    by_name = all(name.isascii() and name.isdigit() for name in raw.data)
    places = [(name, int(name) if by_name else j) for j, name in enumerate(raw.data, 1)]
    return tuple(Feature(name, "number", i + 1) for name, i in places if i + 1 < schema.used)
