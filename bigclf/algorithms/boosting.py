"""Online boosting with costs and with classes sampled: what a member has wrong counts more for the next one.

Sources: Oza & Russell, AISTATS 2001; Wang & Pineau, Online bagging and boosting for imbalanced data streams, TKDE 28
(2016) 3353-3366. Where their published programs depart from the batch algorithms, the batch algorithms are followed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bigclf.algorithms.bagging import seeds
from bigclf.algorithms.composed import CHANCE, MEMBERS, TWO, Make, Options, Recipe, declare
from bigclf.algorithms.cost_sensitive import IR, MULTI, known
from bigclf.core import Learner, Param, Spec

PINEAU = "Wang & Pineau, TKDE 28 (2016) 3353-3366"
COSTS = (
    Param("cost-positive", float, 1.0, "of a row of the positive class, of two", low=1e-6, high=1e6),
    Param("cost-negative", float, 0.8, "of a row of the negative class", low=1e-6, high=1e6),
)
RATIO = Param(
    "ratio",
    float,
    0.7,
    "of the rows of the larger class to those of the smaller, after sampling",
    low=0.0,
    open_low=True,
)


def _boosted(make: Make, options: Options, after: str = "adaboost", sampling: str = "all") -> Learner:
    """after, sampling: of `kernels.chain`, by name."""
    from bigclf.compose.ensemble import boosted
    from bigclf.kernels import chain
    from bigclf.kernels.chance import DRAWS

    rule = chain.Chain(
        getattr(chain, after.upper()),
        getattr(chain, sampling.upper()),
        float(options.get("cost_negative", 1.0)),
        float(options.get("cost_positive", 1.0)),
        float(options.get("ratio", 1.0)),
        known(options.get("ir", 0.0)),
    )
    bases = [make(seed) for seed in seeds(options)]
    return boosted(bases, rule, DRAWS[options["draw"]], options["seed"], options["apply"] == "repeat")


def _boost(name: str, line: str, source: str, *params: Param, notes: tuple[str, ...] = (), **rules: Any) -> Spec:
    return declare(name, line, source, Recipe(partial(_boosted, **rules)), (MEMBERS, *params, *CHANCE), notes)


SPECS = (
    _boost(
        "oadab",
        "online AdaBoost: a row that a member has wrong counts more for the next",
        "Oza & Russell, AISTATS 2001",
    ),
    _boost("oadac2", "online AdaBoost with costs by class (AdaC2)", PINEAU, *COSTS, after="adac2", notes=(MULTI,)),
    _boost(
        "ocsb2",
        "online AdaBoost with costs of errors (CSB2)",
        f"{PINEAU}; corrected",
        *COSTS,
        after="csb2",
        notes=(MULTI,),
    ),
    _boost("orusb1", "online AdaBoost, classes sampled to a ratio", f"{PINEAU}; corrected", RATIO, sampling="ratio"),
    _boost("orusb2", "online AdaBoost, classes sampled to a ratio of what rows count", PINEAU, RATIO, sampling="mass"),
    _boost(
        "orusb3",
        "online AdaBoost, the larger class sampled by the ratio of the classes",
        PINEAU,
        IR,
        sampling="rate",
        notes=(TWO.format("--ir"),),
    ),
)
