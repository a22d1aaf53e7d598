"""What the encoder does to the values of each column, as arrays for its loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.core import Array
from bigclf.reading.encode_kernel import as_own
from bigclf.reading.schema import Schema

LIMITS = {"float32": float(np.finfo(np.float32).max), "float64": 1e150}  # the square of a value must be a number too


class Scaling(NamedTuple):
    """Value x of column j becomes (x - reference_j - offset_j) * factor_j. All arrays are (cols,) float64."""

    fill: Array  # for a missing value
    reference: Array
    offset: Array
    factor: Array
    limit: float  # of a value, as it is and scaled

    @classmethod
    def of(cls, schema: Schema, cols: int) -> Scaling:
        """Of a schema, for so many columns: those that it does not have stay as they are."""
        wide = schema.widened(cols, schema.classes)
        reference, offset, factor = as_own(wide.reference), as_own(wide.offset), as_own(wide.factor)
        return cls(as_own(wide.fill), reference, offset, factor, LIMITS[schema.dtype])

    @property
    def factors(self) -> Array:
        """The factors, for sparse rows; none where all are one."""
        return self.factor if (self.factor != 1.0).any() else self.factor[:0]

    def zeros(self, bias: bool, dtype: str) -> NDArray[Any]:
        """What zeros become, rounded as values are (cols,)."""
        shifted = (0.0 - self.reference).astype(dtype).astype(float)
        base: NDArray[Any] = as_own(((shifted - self.offset) * self.factor).astype(dtype))
        base[0] = float(bias)
        return base
