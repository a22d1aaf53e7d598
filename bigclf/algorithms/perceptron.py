"""The perceptron: a step of one row wherever the row is on the wrong side."""

from __future__ import annotations

from bigclf.core import Block, Learner, Plan, Spec, State


def first_order(rule: str, C: float = 1.0) -> Learner:
    """A learner of one weight vector a unit, with the step rule of this name (`bigclf.kernels.linear.RULES`).

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

    def update(state: State, block: Block, plan: Plan) -> State:
        linear.update(state.w, number, C, block.X, plan)
        return state

    return Learner(linear.zeros, update, linear.decision, linear.AXES, signed=("w",))


SPECS = (
    Spec(
        "perceptron",
        "a step of one row wherever the row is on the wrong side",
        "Rosenblatt, Psychological Review 65 (1958) 386-408",
        lambda: first_order("perceptron"),
    ),
)
