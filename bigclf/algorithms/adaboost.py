"""Online AdaBoost for many classes, and its relatives: a member's errors decide how much a row counts for the next one.

Sources: Carvalho Santos & Barros, Artificial Intelligence Review 53 (2020) 1293-1322 (its algorithms are reconstructed
from the proofs); Oza & Russell, AISTATS 2001; Santos, Goncalves, Silva & Barros, ECML PKDD 2014; Barros, Santos &
Goncalves, IJCNN 2016.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bigclf.algorithms.bagging import seeds
from bigclf.algorithms.composed import APPLY, DRAW, MEMBERS, SEED, Make, Options, Recipe, declare
from bigclf.core import Learner, Param, Spec

SANTOS = "Carvalho Santos & Barros, Artificial Intelligence Review 53 (2020) 1293-1322, equations"
PARAMS = (
    MEMBERS,
    Param("draw", str, "weight", DRAW.help, choices=DRAW.choices),
    Param("test-first", bool, False, "a member is judged on a row before it learns it"),
    Param(
        "on-weak",
        str,
        "skip",
        "a member wrong more often than right does not vote; reset: and begins anew; break: nor do those after it",
        choices=("skip", "reset", "break"),
    ),
    Param("eps-min", float, 1e-6, "errors stay this far from 0 and 1", low=1e-12, high=0.1),
    Param("eps-smooth", bool, False, "votes weigh by the error (wrong + 1/2) / (all + 1)"),
    APPLY,
    SEED,
)
COMPAT = Param(
    "moa-compat", bool, False, "as in MOA: a member without errors ends the vote, as does one worse than chance"
)
BOLE = (
    Param("break-votes", bool, False, "a member that does not vote ends the vote"),
    Param("error-bound", float, 0.5, "largest error of a member that votes", low=0.0, high=1.0),
    Param("weight-shift", float, 0.0, "added to the weight of each vote", low=0.0),
)


def _adaboost(make: Make, options: Options, kind: str, ranked: bool = False, both: bool = False) -> Learner:
    """kind: of `kernels.adaboost`, by name; both: as in its Rule; ranked: as in `compose.adaboost.How`."""
    from bigclf.compose.adaboost import How, adaboost
    from bigclf.kernels import adaboost as ab
    from bigclf.kernels.chance import DRAWS

    compat = options.get("moa_compat", False)
    bases = [make(seed) for seed in seeds(options)]
    rule = ab.Rule(
        getattr(ab, kind.upper()),
        options.get("z") == "running",
        kind == "m2" or (kind == "oza" and bases[0].probable),
        float(options["eps_min"]),
        options["eps_smooth"],
        compat,
        both,
        options["on_weak"] == "break",
        options.get("break_votes", False),
        float(options.get("error_bound", 0.5)),
        float(options.get("weight_shift", 0.0)),
    )
    how = How(
        rule,
        DRAWS[options["draw"]],
        options["seed"],
        options["apply"] == "repeat",
        options["test_first"],
        options["on_weak"] == "reset",
        ranked,
    )
    return adaboost(bases, how)


def _spec(name: str, line: str, source: str, *params: Param, **rules: Any) -> Spec:
    return declare(name, line, source, Recipe(partial(_adaboost, **rules)), (*params, *PARAMS), base="vfdt")


SPECS = (
    _spec(
        "oabm1",
        "online AdaBoost.M1: half of what a member sees it had wrong",
        f"{SANTOS} 10 to 25; reconstructed",
        kind="m1",
    ),
    _spec(
        "oabm2",
        "online AdaBoost.M2: each wrong label of a row counts by how plausible the members find it",
        f"{SANTOS} 26 to 46; reconstructed",
        Param("z", str, "chord", "normalizer: its chord 2 eps, or a running sum", choices=("chord", "running")),
        kind="m2",
    ),
    _spec("oza-boost", "online AdaBoost by rows seen", "Oza & Russell, AISTATS 2001", COMPAT, kind="oza"),
    _spec(
        "adob",
        "the same, the worst member first, then best and worst as the row goes right or wrong",
        "Santos, Goncalves, Silva & Barros, ECML PKDD 2014",
        COMPAT,
        kind="oza",
        ranked=True,
    ),
    _spec(
        "bole",
        "adob in which all members vote that were right and wrong, and seldom enough wrong",
        "Barros, Santos & Goncalves, IJCNN 2016",
        *BOLE,
        kind="oza",
        ranked=True,
        both=True,
    ),
)
