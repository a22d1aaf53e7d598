"""Online logistic regression: scores are log-odds.

Normalized adaptive gradients, of which the common factor sqrt(t / N) counts in t entries that are not zero instead of
rows. So it makes steps longer where most values lie far below the largest of their column, as published, but not
shorter the more columns a row has: the importance-aware step sees to that row by row, and sparse rows lose by it.

A row is judged by the score that it was given, before its own values change the units of columns. Steps do not depend
on the unit of a column, but on where its zero is: --scale is `std`, which on sparse rows is as good as none.
"""

from __future__ import annotations

from typing import Any

from bigclf.core import Array, Block, Learner, Param, Plan, Scores, Shape, Spec, State, by_call
from bigclf.errors import UsageError

POWER = 3  # of the average: the last half of the rows has 15/16 of the weight


def build(eta: float = 0.3, average: bool = True, average_power: int = POWER) -> Learner:
    """The learner; with `average` it answers by the averaged weights."""
    import numpy as np

    from bigclf.kernels import linear, own_steps
    from bigclf.kernels import logistic as k
    from bigclf.kernels.cells import room

    if not average and average_power != POWER:
        raise UsageError("--average-power: goes with --average")

    def init(shape: Shape) -> State:
        return k.averaged_zeros(shape) if average else k.zeros(shape)

    def call(s: State, block: Block, plan: Plan) -> tuple[Any, ...]:
        cells, shown = k.cells_of(s), s.shown if average else linear.NOBODY
        rows = block.X, plan, room(block.X, own_steps.NUMBERS), np.empty(4)
        return k.update, cells, s.length, s.entries, shown, eta, average_power, *rows

    def decision(s: State, X: Any) -> Scores:
        return k.decision(s, average_power, X)

    def weights(s: State) -> Array:
        return linear.averaged_weights(s, average_power)

    axes = k.AVERAGED if average else k.AXES
    return Learner(
        init,
        by_call(call),
        decision,
        axes,
        signed=("w", "late"),
        logit=True,
        weights=weights if average else None,
        call=call,
    )


SPECS = (
    Spec(
        "logistic",
        "logistic regression: steps that fit each column's scale and past; scores are log-odds",
        "Ross, Mineiro & Langford, UAI 2013, algorithm 3; Karampatziakis & Langford, UAI 2011, table 1",
        build,
        (
            Param("eta", float, 0.3, "step length, in units of each column", low=0.0, high=1e6, open_low=True),
            Param("average", bool, True, "answer by the average of the weights after each row"),
            Param(
                "average-power",
                int,
                POWER,
                "in the average the weights after row t count t^N: 0 all alike, more the last ones",
                low=0,
                high=20,
            ),
        ),
        scale="std",
        memory="32 bytes x units x columns; 24 with --no-average",
    ),
)
