"""Adaptive regularisation of weights: a Gaussian over weight vectors, changed least so that the row is explained.

With v = x'Sx and m = y w.x: where m < 1, beta = 1 / (v + r), w += (1 - m) beta y S x, S -= beta S x x' S.
"""

from __future__ import annotations

from bigclf.algorithms.second_order import COST, COV, MEMORY, gaussian
from bigclf.core import Learner, Param, Spec
from bigclf.errors import UsageError


def build(cov: str = "diag", r: float = 1.0, diag: str = "inverse") -> Learner:
    """AROW with the whole covariance (`full`: columns^2 numbers a unit) or its diagonal."""
    if cov == "full" and diag == "drop":
        raise UsageError("--diag: is of the diagonal form, and does not go with --cov full")
    return gaussian("AROW", r, cov=cov, drop=diag == "drop")


SPECS = (
    Spec(
        "arow",
        "adaptive regularisation: each weight has a variance that shrinks as it is seen",
        "Crammer, Kulesza & Dredze, NIPS 22 (2009), figure 1",
        build,
        (
            COV,
            Param("r", float, 1.0, "noise: larger learns more slowly", low=0.0, open_low=True),
            Param(
                "diag",
                str,
                "inverse",
                "diagonal form: add to the inverse variance, or drop what lies off the diagonal",
                choices=("inverse", "drop"),
            ),
        ),
        cost=COST,
        memory=MEMORY,
        notes=("--scale std is often better: minmax is that of the NR-RLS paper, in whose comparison it stands",),
    ),
)
