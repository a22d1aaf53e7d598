"""The perceptron: a step of one row wherever the row is on the wrong side."""

from __future__ import annotations

from functools import partial
from typing import Any

from bigclf.core import Array, Block, Learner, Param, Plan, Scores, Spec, State, by_call

AVERAGE = Param("average", bool, False, "answer by the average of the weights after each row")


def first_order(rule: str, C: float = 1.0, average: bool = False) -> Learner:
    """A learner of one weight vector a unit, with the step rule of this name (`bigclf.kernels.linear.RULES`).

    average: it answers by the average of its weights after each row (Freund & Schapire, Machine Learning 37 (1999)).

    >>> import numpy as np
    >>> from bigclf.units import new_plan
    >>> from bigclf.core import Shape
    >>> X, y = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0], np.int32)
    >>> learner = first_order("perceptron")
    >>> plan = new_plan(np.array([[-1, 1]], np.int8), y)
    >>> learner.update(learner.init(Shape(1, 2, 2)), Block(np.arange(2), X, y), plan).w
    array([[1., 2.]])
    """
    from bigclf.kernels import linear

    number = linear.RULES[rule]

    def call(state: State, block: Block, plan: Plan) -> tuple[Any, ...]:
        late, shown = (state.late, state.shown) if average else (state.w, linear.NOBODY)
        return linear.update, state.w, late, shown, number, C, block.X, plan

    update = by_call(call)
    if not average:
        return Learner(linear.zeros, update, linear.decision, linear.AXES, signed=("w",), call=call)

    def decision(state: State, X: Any) -> Scores:
        return linear.averaged_decision(state, X)

    def weights(state: State) -> Array:
        return linear.averaged_weights(state, 0)

    axes = linear.AVERAGED
    return Learner(linear.averaged_zeros, update, decision, axes, signed=("w", "late"), weights=weights, call=call)


SPECS = (
    Spec(
        "perceptron",
        "a step of one row wherever the row is on the wrong side",
        "Rosenblatt, Psychological Review 65 (1958) 386-408",
        partial(first_order, "perceptron"),
        (AVERAGE,),
    ),
)
