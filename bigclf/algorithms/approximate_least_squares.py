"""ar-rls: least squares whose class weights are those of the moment at which a row arrived.

The exact weights 1/n_k change with every row; here a row keeps the weight that it had when it came (prior), or older
rows fade (decay), so that one matrix of products serves. With t rows so far, n_c of them of the row's class:

    prior   g = t / (2 n_c);   R += g p p',   z += g t_c p
    decay   g = 1 / n_c, f = 1 - g (1 for the first of its class);   R = f R + g p p',   z = f z + g t_c p

and w = R^-1 z, R starting from b I. Both are readings of an article that is known by its results alone: Kim, Toh,
Teoh, Eng & Yau, Neurocomputing 102 (2013) 65-77. The result depends on the order of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

from bigclf.algorithms.normal_equations import ETA, EVERY, RIDGE, TAU, due, positive_solve
from bigclf.core import Array, Block, Learner, Param, Plan, Scores, Shape, Spec


class Fading(NamedTuple):
    """Weighted sums of each unit, and the solution they gave last."""

    gram: Array  # (units, cols, cols)
    z: Array  # (units, cols)
    ridge: Array  # (units,) what is left of b
    seen: Array  # (units, 2) rows of the negative and the positive side
    w: Array  # (units, cols)
    solved: Array  # (units, 2) rows in the solution; whether there is one


AXES: dict[str, tuple[str | int, ...]] = {
    "gram": ("units", "cols", "cols"),
    "z": ("units", "cols"),
    "ridge": ("units",),
    "seen": ("units", "sides"),
    "w": ("units", "cols"),
    "solved": ("units", 2),
}


def build(b: float = 1e-4, tau: float = 0.0, eta: float = 1.0, solve_every: int = 0, weights: str = "prior") -> Learner:
    """The learner; `weights` is prior or decay."""
    import numpy as np

    from bigclf.block import densify
    from bigclf.kernels import linear

    def init(shape: Shape) -> Fading:
        u, d = shape.units, shape.cols
        return Fading(
            np.zeros((u, d, d)), np.zeros((u, d)), np.full(u, b), np.zeros((u, 2)), np.zeros((u, d)), np.zeros((u, 2))
        )

    def update(s: Fading, block: Block, plan: Plan) -> Fading:
        plan.pre[...] = decision(s, block.X)
        P = densify(block.X)
        for u, target in enumerate(plan.target):
            mine = target != 0
            if mine.any():
                add(s, u, P[mine], (target[mine] > 0).astype(int))
        shown, cols = s.seen.sum(axis=1), s.w.shape[1]
        late = [due(n, last, cols, solve_every) for n, last in zip(shown, s.solved[:, 0], strict=True)]
        return finish(s) if any(late) else s

    def add(s: Fading, u: int, P: Array, side: Array) -> None:
        """Rows P (n, cols) of a side, 0 or 1, to unit u."""
        counts = s.seen[u] + np.cumsum(np.eye(2)[side], axis=0)
        own = counts[np.arange(len(side)), side]
        if weights == "prior":
            g, kept = counts.sum(axis=1) / (2.0 * own), 1.0
        else:
            fade = np.where(own > 1, 1.0 - 1.0 / own, 1.0)
            after = np.cumprod(np.append(fade[1:], 1.0)[::-1])[::-1]  # how much of row i is left at the tile's end
            g, kept = after / own, float(fade[0] * after[0])
        scaled = P * np.sqrt(g)[:, None]
        s.gram[u] = kept * s.gram[u] + scaled.T @ scaled
        s.z[u] = kept * s.z[u] + (g * (tau + eta * (2.0 * side - 1.0))) @ P
        s.ridge[u] *= kept
        s.seen[u] = counts[-1]

    def decision(s: Fading, X: object) -> Scores:
        scores = linear.score(s.w, X)
        scores[s.solved[:, 1] == 0.0] = np.nan
        return scores

    def finish(s: Fading) -> Fading:
        for u, n in enumerate(s.seen.sum(axis=1)):
            if s.solved[u, 0] != n or not s.solved[u, 1]:
                s.w[u] = positive_solve(s.gram[u].copy(), s.z[u], float(s.ridge[u]))
                s.solved[u] = n, 1.0
        return s

    return Learner(init, update, decision, AXES, signed=("w", "z"), grain="tile", finish=finish)


SPECS = (
    Spec(
        "ar-rls",
        "approximately reweighted recursive least squares: rows keep the class weight of their arrival",
        "Kim, Toh, Teoh, Eng & Yau, Neurocomputing 102 (2013) 65-77, reconstructed",
        build,
        (
            RIDGE,
            TAU,
            ETA,
            EVERY,
            Param(
                "weights",
                str,
                "prior",
                "prior: rows keep their first weight; decay: older rows fade",
                choices=("prior", "decay"),
            ),
        ),
        cost="O(columns^2) a row and unit by BLAS, O(columns^3) a solution",
        memory="8 bytes x units x columns^2",
        one_pass=True,
        uses_weights=False,
    ),
)
