"""Pegasos: stochastic subgradient steps of length 1 / (lambda t) on a linear support vector machine's objective."""

from __future__ import annotations

from typing import Any

from bigclf.core import Block, Learner, Param, Plan, Spec, State, by_call


def build(lam: float = 1e-4, project: bool = False) -> Learner:
    """The learner; lam is the lambda of the source, a word that Python keeps for itself.

    >>> import numpy as np
    >>> from bigclf.units import new_plan
    >>> from bigclf.core import Shape
    >>> X, y = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0], np.int32)
    >>> learner = build(lam=0.5)
    >>> plan = new_plan(np.array([[-1, 1]], np.int8), y)
    >>> learner.finish(learner.update(learner.init(Shape(1, 2, 2)), Block(np.arange(2), X, y), plan)).w
    array([[1., 2.]])
    """
    from bigclf.kernels import subgradient

    def call(s: State, block: Block, plan: Plan) -> tuple[Any, ...]:
        return subgradient.update, s.w, s.scale, s.t, s.norm, lam, project, block.X, plan

    return Learner(
        subgradient.zeros,
        by_call(call),
        subgradient.decision,
        subgradient.AXES,
        signed=("w",),
        finish=subgradient.finish,
        call=call,
    )


SPECS = (
    Spec(
        "pegasos",
        "subgradient steps on a linear support vector machine, ever shorter",
        "Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming 127 (2011) 3-30, figure 1",
        build,
        (
            Param("lam", float, 1e-4, "lambda: how much small weights count against the loss", low=1e-30),
            Param("project", bool, False, "keep the weights in the ball of radius 1 / sqrt(lambda)"),
        ),
    ),
)
