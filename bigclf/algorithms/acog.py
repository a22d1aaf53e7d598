"""Adaptive cost-sensitive online gradient: AROW's covariance with a loss in which the positive class counts rho.

acog-1: loss max(0, k - m); acog-2: loss k max(0, 1 - m); k = rho for the positive class, else 1. The step uses the
covariance after the row. rho = (T_n + 1) / (T_p + 1) from the counts before the row (metric sum), or c_p / c_n (metric
cost).
"""

from __future__ import annotations

from functools import partial

from bigclf.algorithms.second_order import COST, COV, MEMORY, gaussian
from bigclf.core import Array, Learner, Param, Plan, Spec, State
from bigclf.errors import UsageError

COST_OF_POSITIVE = 0.9


def build(
    rule: str,
    cov: str = "diag",
    metric: str = "sum",
    cost: float = COST_OF_POSITIVE,
    gamma: float = 1.0,
    eta: float = 1.0,
    mean_cov: str = "new",
) -> Learner:
    """The learner; `cost` is c_p of the cost metric, and c_n = 1 - c_p."""
    import numpy as np

    if metric != "cost" and cost != COST_OF_POSITIVE:
        raise UsageError("--cost: goes with --metric cost")

    def costs(state: State, plan: Plan) -> Array:
        positive = np.cumsum(plan.target > 0, axis=1)
        negative = np.cumsum(plan.target < 0, axis=1)
        before_p = state.seen[:, 1:] + positive - (plan.target > 0)
        before_n = state.seen[:, :1] + negative - (plan.target < 0)
        state.seen[:, 1] += positive[:, -1]
        state.seen[:, 0] += negative[:, -1]
        if metric == "cost":
            return np.full(plan.target.shape, cost / (1.0 - cost))
        return np.ascontiguousarray((before_n + 1.0) / (before_p + 1.0))

    return gaussian(rule, gamma, eta, cov, new=mean_cov == "new", costs=costs)


PARAMS = (
    COV,
    Param("metric", str, "sum", "sum: classes weigh the same; cost: by --cost", choices=("sum", "cost")),
    Param(
        "cost", float, COST_OF_POSITIVE, "of the positive class under --metric cost", low=0.0, high=0.999, open_low=True
    ),
    Param("gamma", float, 1.0, "noise: larger learns more slowly", low=0.0, open_low=True),
    Param("eta", float, 1.0, "step length", low=0.0, open_low=True),
    Param("mean-cov", str, "new", "covariance of the step: after or before the row", choices=("new", "old")),
)
ZHAO = "Zhao et al., IEEE TKDE 31(2) (2018), adaptive cost-sensitive online classification"
SPECS = tuple(
    Spec(name, line, ZHAO, partial(build, rule), PARAMS, cost=COST, memory=MEMORY, uses_weights=False)
    for name, line, rule in (
        ("acog-1", "cost-sensitive adaptive gradient: the positive class has a wider margin", "ACOG_1"),
        ("acog-2", "cost-sensitive adaptive gradient: the positive class has larger steps", "ACOG_2"),
    )
)
