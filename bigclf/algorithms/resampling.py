"""Rows shown more or less often by how rare their class has been, or with rows made up beside them.

The methods are named by Zhou et al. (arXiv 2508.11353), who give a parameter of each and no definition; the rules are
reconstructed from it. They differ in the rate with which a row of a class is drawn.
"""

from __future__ import annotations

from functools import partial

from bigclf.algorithms.composed import CHANCE, SEED, TWO, Make, Options, Recipe, declare, seed_of
from bigclf.algorithms.cost_sensitive import IR, known
from bigclf.core import Learner, Param

ZHOU = "after Zhou, Yin, Deng, Huang & Ren, arXiv 2508.11353 (2025), table VI; reconstructed"


def _resampled(make: Make, options: Options, share: float | None = None) -> Learner:
    """share: of over-sampling, the rest is under-sampling; by default what the options say."""
    from bigclf.compose.rates import by_size, resampled
    from bigclf.kernels import class_sizes as cs
    from bigclf.kernels.chance import DRAWS

    rates = by_size(cs.HYBRID, options["hybrid_share"] if share is None else share, ir=known(options["ir"]))
    seed = options["seed"]
    return resampled(make(seed_of(seed, 1)), rates, DRAWS[options["draw"]], seed, options["apply"] == "repeat")


def _smote(make: Make, options: Options) -> Learner:
    from bigclf.compose.augment import smote

    seed = options["seed"]
    return smote(make(seed_of(seed, 1)), options["neighbours"], options["buffer"], options["between"] == "half", seed)


SPECS = (
    declare(
        "oor",
        "rows of small classes are drawn more often",
        ZHOU,
        Recipe(partial(_resampled, share=1.0)),
        (IR, *CHANCE),
        (TWO.format("--ir"),),
    ),
    declare(
        "our",
        "rows of large classes are drawn less often",
        ZHOU,
        Recipe(partial(_resampled, share=0.0)),
        (IR, *CHANCE),
        (TWO.format("--ir"),),
    ),
    declare(
        "ohr",
        "rows are drawn more often where classes are small, and less often where they are large",
        ZHOU,
        Recipe(_resampled),
        (
            Param("hybrid-share", float, 0.5, "1 over-samples only, 0 under-samples only", low=0.0, high=1.0),
            IR,
            *CHANCE,
        ),
    ),
    declare(
        "osmote",
        "rows are made up between a row of a small class and its nearest neighbours",
        "Chawla, Bowyer, Hall & Kegelmeyer, JAIR 16 (2002) 321-357, one pass over a buffer; reconstructed",
        Recipe(_smote, on_columns=True),
        (
            Param("neighbours", int, 3, "rows made up beside one, at most", low=1, high=100),
            Param("buffer", int, 200, "rows kept of each class", low=1, high=100_000),
            Param(
                "between", str, "uniform", "where between the two: by chance, or half-way", choices=("uniform", "half")
            ),
            SEED,
        ),
        cure="a smaller --buffer",
    ),
)
