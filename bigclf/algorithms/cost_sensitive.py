"""Gradient steps with costs: of the margin to keep (type 1), or of the step (type 2); and their dual averaging.

Sources: Wang, Zhao & Hoi, Cost-sensitive online classification, ICDM 2012 and TKDE 26 (2014) 2425-2438; Chen, Fang,
Sheng, Edwards & Zhang, CSRDA, ICBK 2021; Chen, Sheng, Edwards & Zhang, Knowledge and Information Systems 65 (2023).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bigclf.algorithms.composed import ETA, TWO, Make, Options, Recipe, declare
from bigclf.core import Block, Learner, Param, Plan, Pull, Scores, Spec, State

WANG = "Wang, Zhao & Hoi, TKDE 26 (2014) 2425-2438"
CHEN = "Chen, Fang, Sheng, Edwards & Zhang, ICBK 2021"
NO_MARGIN = {"perceptron": "its loss has no margin that a cost could scale"}
NO_COLUMNS = {"kernel": "it keeps sums for each column"}
COSTS = (
    Param("cost-positive", float, 0.95, "of an error on a positive row, of two classes", low=1e-6, high=1e6),
    Param("cost-negative", float, 0.05, "of an error on a negative row", low=1e-6, high=1e6),
)
IR = Param(
    "ir",
    float,
    "running",
    "ratio of the larger to the smaller of two classes where it is known; running: that of the rows so far",
    low=1.0,
    words=("running",),
)
SUMS = (
    Param("n-positive", float, 0.5, "weight of the positive class's error in the sum", low=1e-6, high=1e6),
    Param("n-negative", float, 0.5, "weight of the negative class's", low=1e-6, high=1e6),
    IR,
)
MULTI = "of more than two classes costs are alike (--class-weight gives each its own)"


def known(ratio: float | str) -> float:
    """The ratio of the classes, 0 where it is that of the rows so far."""
    return 0.0 if isinstance(ratio, str) else float(ratio)


def _weighted(make: Make, options: Options, kind: str, margin: bool) -> Learner:
    from bigclf.compose.rates import by_size, weighted
    from bigclf.kernels import class_sizes as cs

    base = make(options.get("seed", 1))
    if kind == "cost":
        return weighted(base, by_size(cs.COST, options["cost_positive"] / options["cost_negative"]), margin)
    x = options["n_positive"] / options["n_negative"]
    return weighted(base, by_size(cs.SUM, x, ir=known(options["ir"])), margin)


def _averaged(gate: int, options: Options, steady: bool) -> Learner:
    """Dual averaging with this gate; steady: weights are eta times the sums, else the sums by gamma sqrt(t)."""
    import numpy as np

    from bigclf.kernels import dual_averaging as da
    from bigclf.kernels.chance import POISSON
    from bigclf.kernels.gradient import NONE, How

    how = How(gate, NONE, float(options.get("eta", 1.0)), False, False, 0.0, False, POISSON, 1)
    form = da.Form(options["l1"], options.get("rate", 1.0), steady, options["l1_on"] == "mean")

    def update(s: State, block: Block, plan: Plan) -> State:
        da.update(s, how, form, block.X, block.y, plan, np.empty(len(plan.target)))
        return s

    def decision(s: State, X: Any) -> Scores:
        return da.decision(s, how, form, X)

    return Learner(
        da.zeros,
        update,
        decision,
        da.AXES,
        signed=("S",),
        margins=True,
        pull=lambda s: Pull(s.pull, float(s.gii[0])),
    )


def _by_window(make: Make, options: Options, down: bool, margin: bool) -> Learner:
    from bigclf.compose.rates import by_window, weighted

    ratio = options["mu_positive"] / options["mu_negative"]
    return weighted(make(options.get("seed", 1)), by_window(options["window"], ratio, down), margin)


def _csogd(number: str, kind: str, margin: bool) -> Spec:
    what = "the margin that a positive row is to keep is" if margin else "a positive row counts"
    how = "more by a constant" if kind == "cost" else "more by the ratio of the classes"
    return declare(
        f"csogd-{kind}{number}",
        f"gradient descent in which {what} {how}",
        WANG,
        Recipe(partial(_weighted, kind=kind, margin=margin), refused=NO_MARGIN if margin else None, margins=margin),
        COSTS if kind == "cost" else SUMS,
        notes=(MULTI,) if kind == "cost" else (TWO.format("--ir, --n-positive and --n-negative"),),
    )


def _csrda(number: int, margin: bool, down: bool, steady: bool) -> Spec:
    what = "the margin" if margin else "the step"
    rare = "that of frequent classes is smaller" if down else "that of rare classes is larger"
    rule = "constant steps" if steady else "steps by sqrt(t)"
    return declare(
        f"csrda{number}",
        f"sparse dual averaging, {rule}, {what} by the classes of the last rows: {rare}",
        CHEN if number < 3 else f"after {CHEN}, and Knowledge and Information Systems 65 (2023); reconstructed",
        Recipe(
            partial(_by_window, down=down, margin=margin),
            partial(_averaged, steady=steady),
            refused=NO_COLUMNS | (NO_MARGIN if margin else {}),
            inside=True,
            steps=(ETA,) if steady else (),
        ),
        (
            Param("l1", float, 0.1, "threshold under which a sum gives no weight", low=0.0),
            Param(
                "l1-on",
                str,
                "sum",
                "what the threshold is on: the sum of subgradients, or their mean",
                choices=("sum", "mean"),
            ),
            *(() if steady else (Param("rate", float, 1e-3, "weights are sums over this and sqrt(t)", low=1e-30),)),
            Param("window", int, 100, "last rows whose classes count", low=1, high=1_000_000),
            Param("mu-positive", float, 0.5, "importance of the positive of two classes", low=1e-6, high=1e6),
            Param("mu-negative", float, 0.5, "importance of the negative one", low=1e-6, high=1e6),
        ),
    )


SPECS = (
    _csogd("1", "cost", True),
    _csogd("2", "cost", False),
    _csogd("1", "sum", True),
    _csogd("2", "sum", False),
    _csrda(1, True, False, False),
    _csrda(2, False, False, False),
    _csrda(3, False, False, True),
    _csrda(4, False, True, False),
)
