"""Confidence-weighted learning: the smallest change of the Gaussian that puts the row on its side with probability eta.

With phi the eta-quantile of the normal distribution: y w.x >= phi v (cw-var) or phi sqrt(v) (cw-stdev), v = x'Sx.
"""

from __future__ import annotations

from functools import partial
from statistics import NormalDist

from bigclf.algorithms.second_order import COST, COV, MEMORY, gaussian
from bigclf.core import Learner, Param, Spec


def build(rule: str, cov: str = "diag", eta: float = 0.7) -> Learner:
    """The learner whose rows are right with probability eta afterwards."""
    return gaussian(rule, NormalDist().inv_cdf(eta), cov=cov)


ETA = Param("eta", float, 0.7, "probability with which a row shall be right", low=0.5, high=0.999, open_low=True)
SPECS = tuple(
    Spec(name, line, source, partial(build, rule), (COV, ETA), cost=COST, memory=MEMORY, uses_weights=False)
    for name, line, source, rule in (
        (
            "cw-var",
            "confidence-weighted: the margin in units of its variance",
            "Dredze, Crammer & Pereira, ICML 2008, eq. 13-15",
            "CW_VAR",
        ),
        (
            "cw-stdev",
            "confidence-weighted: the margin in units of its standard deviation",
            "Crammer, Dredze & Pereira, NIPS 21 (2008), figure 1",
            "CW_STDEV",
        ),
    )
)
