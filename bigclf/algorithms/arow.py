"""Adaptive regularisation of weights: a Gaussian over weight vectors, changed least so that the row is explained.

With v = x'Sx and m = y w.x: where m < 1, beta = 1 / (v + r), w += (1 - m) beta y S x, S -= beta S x x' S.
"""

from __future__ import annotations

from bigclf.core import Block, Learner, Param, Plan, Spec, State


def build(cov: str = "diag", r: float = 1.0, diag: str = "inverse") -> Learner:
    """AROW with the whole covariance (`full`: columns^2 numbers a unit) or its diagonal."""
    import numpy as np

    from bigclf.kernels import confidence, linear

    def update_diag(state: State, block: Block, plan: Plan) -> State:
        confidence.arow_diag(state.w, state.sigma, r, diag == "drop", block.X, plan)
        return state

    def update_full(state: State, block: Block, plan: Plan) -> State:
        scratch = np.empty((2, state.w.shape[1]))
        confidence.arow_full(state.w, state.sigma, r, block.X, plan, scratch[0], scratch[1])
        return state

    full = cov == "full"
    return Learner(
        confidence.start_full if full else confidence.start_diag,
        update_full if full else update_diag,
        lambda s, X: linear.score(s.w, X),
        confidence.AXES_FULL if full else confidence.AXES_DIAG,
        signed=("w",),
    )


SPECS = (
    Spec(
        "arow",
        "adaptive regularisation: each weight has a variance that shrinks as it is seen",
        "Crammer, Kulesza & Dredze, NIPS 22 (2009), figure 1",
        build,
        (
            Param("cov", str, "diag", "covariance: its diagonal, or full (columns^2 memory)", choices=("diag", "full")),
            Param("r", float, 1.0, "noise: larger learns more slowly", low=0.0, open_low=True),
            Param(
                "diag",
                str,
                "inverse",
                "diagonal form: add to the inverse variance, or drop what lies off the diagonal",
                choices=("inverse", "drop"),
            ),
        ),
        cost="O(nnz) a row; full: O(columns^2)",
        memory="16 bytes x units x columns; full: 8 x units x columns^2",
    ),
)
