"""Online bagging: members that see each row k times, k from a Poisson distribution whose rate may follow the classes.

Sources: Oza & Russell, AISTATS 2001; Wang, Minku & Yao, CIEL 2013, and TKDE 27 (2015) 1356-1368; Wang & Pineau, TKDE
28 (2016) 3353-3366; Cano & Krawczyk, Machine Learning 109 (2020) 175-218; Du, Zhang, Gang, Zhang & Chen, Applied Soft
Computing 107 (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bigclf.algorithms.composed import APPLY, CHANCE, MEMBERS, Make, Options, Recipe, declare, plain, seed_of
from bigclf.core import Learner, Param, Spec

CIEL = "Wang, Minku & Yao, CIEL 2013"
TKDE = "Wang, Minku & Yao, TKDE 27 (2015) 1356-1368"
THETA = Param(
    "theta", float, 0.9, "how slowly class sizes fade: over 1 / (1 - theta) rows", low=0.0, high=0.999999, open_low=True
)


def seeds(options: Options) -> list[int]:
    """Of the draws inside each member."""
    return [seed_of(options["seed"], 1, m) for m in range(options["members"])]


def _bagged(
    make: Make, options: Options, rule: str, memory: str = "", rising: bool = False, trust: str = "alike"
) -> Learner:
    """rule, trust: names of `kernels.class_sizes`, `kernels.votes`; rising: member m of M has m / M of the rate."""
    from bigclf.compose.ensemble import bagged
    from bigclf.compose.rates import by_size
    from bigclf.kernels import class_sizes, votes
    from bigclf.kernels.chance import DRAWS

    many = options["members"]
    kind = getattr(class_sizes, rule.upper()) if rule else None
    rates = None if kind is None else by_size(kind, memory=options[memory] if memory else 0.0)
    shares = [(m + 1) / many if rising else 1.0 for m in range(many)]
    bases = [make(seed) for seed in seeds(options)]
    how = DRAWS[options["draw"]], options["seed"], options.get("apply") == "repeat"
    return bagged(bases, rates, shares, getattr(votes, trust.upper()), *how)


def _kappa(gate: int, options: Options) -> Learner:
    return plain(gate, options, gain="kappa", draw=options["draw"], seed=options["seed"])


def _bag(name: str, line: str, source: str, recipe: Callable[..., Learner], *params: Param, **more: Any) -> Spec:
    chance = tuple(p for p in CHANCE if not more or p != APPLY)  # members that draw themselves weigh their rows
    return declare(name, line, source, Recipe(recipe, **more), (MEMBERS, *params, *chance))


SPECS = (
    _bag("ob", "online bagging", "Oza & Russell, AISTATS 2001", partial(_bagged, rule="even")),
    _bag(
        "oob",
        "bagging, rows of the smaller class more often: by the inverse of its share",
        CIEL,
        partial(_bagged, rule="fade_over", memory="theta"),
        THETA,
    ),
    _bag(
        "oub",
        "bagging, rows of the larger class less often: by the share of the others",
        CIEL,
        partial(_bagged, rule="fade_under", memory="theta"),
        THETA,
    ),
    _bag(
        "owob",
        "bagging, rows as often as the largest class is larger than theirs",
        TKDE,
        partial(_bagged, rule="fade_largest", memory="theta"),
        THETA,
    ),
    _bag(
        "owub",
        "bagging, rows as seldom as the smallest class is smaller than theirs",
        TKDE,
        partial(_bagged, rule="fade_smallest", memory="theta"),
        THETA,
    ),
    _bag(
        "ouob",
        "bagging from under- to over-sampling, member by member",
        "Wang & Pineau, TKDE 28 (2016) 3353-3366",
        partial(_bagged, rule="largest", rising=True),
    ),
    _bag(
        "oeb",
        "bagging with under-sampling, votes weighted by the root of the product of recalls",
        "after Du et al., Applied Soft Computing 107 (2021); reconstructed",
        partial(_bagged, rule="smallest", trust="recall"),
    ),
    _bag(
        "okb",
        "bagging that learns less from rows it has right, votes weighted by kappa",
        "after Cano & Krawczyk, Machine Learning 109 (2020) 175-218; reconstructed",
        partial(_bagged, rule="", trust="kappa"),
        grad=_kappa,
        inside=True,
    ),
)
