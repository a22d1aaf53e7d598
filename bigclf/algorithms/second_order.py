"""How a learner over a Gaussian of weights is built; its families declare themselves in files of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bigclf.core import Array, Block, Learner, Param, Plan, Shape, State, by_call

COV = Param("cov", str, "diag", "covariance: its diagonal, or full (columns^2 memory)", choices=("diag", "full"))
COST = "O(nnz) a row; full: O(columns^2)"
MEMORY = "16 bytes x units x columns; full: 8 x units x columns^2"


def gaussian(
    rule: str,
    a: float,
    b: float = 1.0,
    cov: str = "diag",
    drop: bool = False,
    new: bool = False,
    costs: Callable[[State, Plan], Array] | None = None,
) -> Learner:
    """A learner with this rule of `bigclf.kernels.confidence` and its constants a and b.

    costs: gives what the positive class counts for each unit and row, from the counts kept in the state.
    """
    import numpy as np

    from bigclf.kernels import confidence, linear
    from bigclf.kernels.cells import room, whole

    kind = getattr(confidence, rule)
    none = np.empty((0, 0))
    full = cov == "full"

    def call(state: State, block: Block, plan: Plan) -> tuple[Any, ...]:
        rho = none if costs is None else costs(state, plan)
        if full:
            rows = block.X, plan, *np.empty((2, state.w.shape[1]))
            return confidence.update_full, state.w, state.sigma, kind, a, b, new, rho, *rows
        cells = whole(state.w, state.sigma)
        rows = block.X, plan, room(block.X, 2)
        return confidence.update_diag, cells, kind, a, b, drop, new, rho, *rows

    axes: dict[str, tuple[str | int, ...]] = dict(confidence.AXES_FULL if full else confidence.AXES_DIAG)
    start = confidence.start_full if full else confidence.start_diag

    def init(shape: Shape) -> State:
        begun = start(shape)
        return begun if costs is None else confidence.Costly(*begun, np.zeros((shape.units, 2)))

    if costs is not None:
        axes["seen"] = ("units", "sides")
    decision = linear.decision if full else confidence.decision_diag
    again = call if costs is None else None  # costs are those of the rows
    return Learner(init, by_call(call), decision, axes, signed=("w",), call=again)
