"""Online gradient descent, and harmonized gradient descent: each class is to move the weights as much as any other.

A step is w += eta alpha y x where the row has a loss. With A_c the sum of alpha G over the rows of class c so far, G
the squared length of the gradient step, and rho the ratio of negative to positive rows, alpha is
2 rho A_- / (A_- + A_+) for a positive row and 2 A_+ / (A_- + A_+) for a negative one.
"""

from __future__ import annotations

from typing import Any

from bigclf.algorithms.composed import Options, Recipe, declare, plain
from bigclf.core import Block, Learner, Param, Plan, Pull, Scores, State, by_call


def descent(
    gate: int,
    eta: float,
    decreasing: bool,
    gain: str = "none",
    memory: float = 0.0,
    warm: bool = True,
    norm: str = "squared",
    draw: str = "poisson",
    seed: int = 1,
) -> Learner:
    """Gradient steps; gain: none, harmonic, kappa. Arguments as in `kernels.gradient.How`."""
    import numpy as np

    from bigclf.kernels import gradient as g
    from bigclf.kernels import linear
    from bigclf.kernels.chance import DRAWS

    kind = {"none": g.NONE, "harmonic": g.HARMONIC, "kappa": g.KAPPA}[gain]
    how = g.How(gate, kind, float(eta), decreasing, norm == "l2", float(memory), warm, DRAWS[draw], seed)

    def call(s: State, block: Block, plan: Plan) -> tuple[Any, ...]:
        rows = s, how, block.X, block.y, block.row, plan
        return (g.update_two, *rows) if len(plan.target) == 1 else (g.update_many, *rows, np.empty(len(plan.target)))

    def decision(s: State, X: Any) -> Scores:
        return linear.score(s.w, X)

    return Learner(
        g.zeros,
        by_call(call),
        decision,
        g.AXES,
        signed=("w",),
        rival=True,
        margins=True,
        pull=lambda s: Pull(s.pull, float(s.gii[0])),
        call=call,
    )


def _harmonized(gate: int, options: Options) -> Learner:
    memory, warm, norm = options["rho_smoothing"], options["warmup"], options["grad_norm"]
    return plain(gate, options, gain="harmonic", memory=memory, warm=warm, norm=norm)


SPECS = (
    declare(
        "ogd", "online gradient descent: a step wherever a row has a loss", "Zinkevich, ICML 2003", Recipe(inside=True)
    ),
    declare(
        "hgd",
        "gradient descent with steps weighted so that all classes pull alike; nothing to tune",
        "Zhou, Yin, Deng, Huang & Ren, Harmonized gradient descent, arXiv 2508.11353 (2025), equations 4 to 6",
        Recipe(grad=_harmonized, inside=True),
        (
            Param(
                "rho-smoothing",
                float,
                0.0,
                "class ratio over about 1 / (1 - L) rows, as 0.999; 0: all rows",
                low=0.0,
                high=0.999999,
            ),
            Param("warmup", bool, True, "the smoothed ratio begins as that of all rows"),
            Param(
                "grad-norm",
                str,
                "squared",
                "what is summed of gradients: the squared norm, or the norm",
                choices=("squared", "l2"),
            ),
        ),
    ),
)
