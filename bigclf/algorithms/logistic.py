"""Online logistic regression: scores are log-odds."""

from __future__ import annotations

from typing import Any

from bigclf.core import Block, Learner, Param, Plan, Scores, Shape, Spec, State


def build(eta: float = 0.3, average: bool = True, average_power: int = 7) -> Learner:
    """The learner; with `average` it answers by the averaged weights."""
    import numpy as np

    from bigclf.kernels import averaging, linear
    from bigclf.kernels import logistic as k

    def init(shape: Shape) -> State:
        return k.averaged_zeros(shape) if average else k.zeros(shape)

    def update(s: State, block: Block, plan: Plan) -> State:
        late, shown = (s.late, s.shown) if average else k.NOTHING
        k.update(s.w, s.square, s.scale, late, shown, eta, average_power, block.X, plan, np.empty(s.w.shape[1]))
        return s

    def decision(s: State, X: Any) -> Scores:
        if not average:
            return linear.score(s.w, X)
        return averaging.score(s.w, s.late, s.shown, average_power, X)

    return Learner(init, update, decision, k.AVERAGED if average else k.AXES, signed=("w", "late"))


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
                7,
                "in the average the weights after row t count t^N: 0 all alike, more the last ones",
                low=0,
                high=20,
            ),
        ),
        scale="none",
        memory="32 bytes x units x columns; 24 with --no-average",
    ),
)
