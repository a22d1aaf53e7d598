"""What learners over prototypes keep, how a row passes into it, and how scores by class become those of units.

Each class keeps at most L prototypes: its first rows, and each later one is averaged into the nearest, which so stays
the mean of its rows. The result depends on the order of the rows within a class. What is made of the prototypes is an
`Answer`, made at the end.

Source: Hammouri, Large-scale classification based on support vector machine, thesis, Santiago de Compostela 2022,
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bigclf.algorithms.by_class import note_classes, recoded, unit_scores
from bigclf.core import Array, Axes, Block, Learner, Param, Plan, Scores, Shape, no_room
from bigclf.errors import UsageError

if TYPE_CHECKING:
    from bigclf.kernels.prototypes import Prototypes

EIGHTH = 8  # of so many rows of a class one is kept aside
MOST_ASIDE = 2000  # rows kept aside
ASIDE_CELLS = 4_000_000  # with many columns fewer: their values together
LEAST_ASIDE = 50


AXES: dict[str, tuple[str | int, ...]] = {
    "P": ("classes", "cols", "slots"),
    "held": ("classes", "slots"),
    "norm": ("classes", "slots"),
    "filled": ("classes",),
    "aside": ("aside", "cols"),
    "kind": ("aside",),
    "code": ("units", "classes"),
    "seen": (1,),
    "solved": (1,),
}


Doubts = Callable[["Prototypes", Any, Sequence[str]], list[str]]


def no_doubts(base: Prototypes, answer: Any, classes: Sequence[str]) -> list[str]:
    """Nothing is to be said."""
    return []


class State(NamedTuple):
    """All that such a learner keeps."""

    base: Prototypes
    answer: Any  # a NamedTuple of the Answer


@dataclass(frozen=True)
class Answer:
    """What is made of the prototypes at the end, and how it scores."""

    init: Callable[[Shape], Any]  # shape -> NamedTuple of arrays
    axes: Axes
    solve: Callable[[Prototypes], Any]  # the answer for these prototypes
    scores: Callable[[Prototypes, Any, Any], Array]  # prototypes, answer, X -> (classes, n)
    solving: Callable[[Shape], int] = no_room  # bytes that `solve` takes beside
    doubts: Doubts = no_doubts  # prototypes, answer, names of the classes -> what is to be said of the answer


def over_prototypes(answer: Answer, most: int, aside: bool, every: int = EIGHTH, kept: int = MOST_ASIDE) -> Learner:
    """The learner of an answer over at most `most` prototypes a class.

    aside: of every `every` rows of a class one is kept aside, at most `kept` in all.
    """
    import numpy as np

    from bigclf.block import densify, pick, rows
    from bigclf.kernels import prototypes as kernels

    def init(shape: Shape) -> State:
        base = kernels.Prototypes(
            np.zeros((shape.classes, shape.cols, 1)),
            np.zeros((shape.classes, 1)),
            np.zeros((shape.classes, 1)),
            np.zeros(shape.classes),
            np.zeros((0, shape.cols)),
            np.zeros(0),
            np.zeros((shape.units, shape.classes)),
            np.zeros(1),
            np.zeros(1),
        )
        return State(base, answer.init(shape))

    def update(s: State, block: Block, plan: Plan) -> State:
        plan.pre[...] = np.nan  # there is no answer before the end
        base = s.base
        y = note_classes(base.code, plan, block.y)
        base.seen[0] += (y >= 0).sum()
        if aside:
            base = keep(base, block, y)
        d, near = kernels.scratch(block.X, base.P.shape[1], most)
        full = int((base.filled + np.bincount(y[y >= 0], minlength=len(base.filled))).max())
        if base.P.shape[2] < min(most, full):  # once: what is replaced stays with the caller
            base = widened(base, min(most, _power(full)))
        kernels.absorb(base.P, base.held, base.filled, base.norm, most, block.X, y, d, near)
        return State(base, s.answer)

    def keep(base: Prototypes, block: Block, y: Array) -> Prototypes:
        """Keep rows aside, whose y becomes -1."""
        cols, have = base.aside.shape[1], int(np.count_nonzero(base.kind))
        room = most_aside(cols, kept) - have
        if room < 0:  # columns were born, and so many rows of them are too many
            have += room
            size = _power(have)
            base = base._replace(aside=base.aside[:size].copy(), kind=base.kind[:size].copy())
            base.aside[have:], base.kind[have:] = 0.0, 0.0
        if room <= 0:
            return base
        held = np.bincount(base.kind.astype(int), minlength=len(base.filled) + 1)[1:]
        seen = base.held.sum(axis=1).astype(int) + held
        mine = kernels.to_keep(y, seen, held, every, most_aside(cols, kept))
        if not mine.size:
            return base
        need = have + mine.size
        if need > len(base.kind):  # a power of two: the size does not depend on how the rows were cut
            more = _power(need) - len(base.kind)
            wider = np.zeros((_power(need), cols))
            wider[: len(base.aside)] = base.aside
            base = base._replace(aside=wider, kind=np.append(base.kind, np.zeros(more)))
        step = max(1, kernels.PART // cols)
        for a in range(0, mine.size, step):
            base.aside[have + a : have + a + step][: mine.size - a] = densify(pick(block.X, mine[a : a + step]))
        base.kind[have:need] = y[mine] + 1
        y[mine] = -1
        return base

    def widened(base: Prototypes, slots: int) -> Prototypes:
        def wide(a: Array) -> Array:
            out = np.zeros((*a.shape[:-1], slots))
            out[..., : a.shape[-1]] = a
            return out

        return base._replace(P=wide(base.P), held=wide(base.held), norm=wide(base.norm))

    def finish(s: State) -> State:
        base = s.base
        if base.solved[0] == base.seen[0]:
            return s
        return State(base._replace(solved=base.seen.copy()), answer.solve(base))

    def doubts(s: State, classes: Sequence[str]) -> list[str]:
        return answer.doubts(s.base, s.answer, classes)

    def decision(s: State, X: object) -> Scores:
        base = s.base
        if not base.solved[0]:
            return np.full((len(base.code), rows(X)), np.nan)
        by_class = answer.scores(base, s.answer, X)
        return unit_scores(by_class, base.code, base.filled)

    def refit(s: State, old: Array, new: Array) -> State:
        code = recoded(s.base.code, old, new, s.base.filled)
        return State(s.base._replace(code=code, solved=np.zeros(1)), s.answer)

    axes = {f"base/{k}": a for k, a in AXES.items()} | {f"answer/{k}": a for k, a in answer.axes.items()}

    def limits(shape: Shape) -> dict[str, int]:
        rows = _power(most_aside(shape.cols, kept)) if aside else 0
        return {"slots": most, "points": most, "aside": rows, "extra": rows}

    def solving(shape: Shape) -> int:
        """The answer's; or while there are more slots or rows aside, the array that was there before."""
        sizes = limits(shape)
        old = _power(sizes["slots"]) // 2 * shape.classes + sizes["aside"] // 2
        return max(answer.solving(shape), 8 * (shape.cols * old + min(kernels.PART, shape.cols * sizes["aside"])))

    return Learner(
        init,
        update,
        decision,
        axes,
        most=limits,
        solving=solving,
        grain="end",
        finish=finish,
        refit=refit,
        doubts=doubts,
    )


def _power(n: int) -> int:
    """The least power of two that is no less."""
    return 1 << (n - 1).bit_length()


def most_aside(cols: int, kept: int = MOST_ASIDE) -> int:
    """How many rows of so many columns are kept aside at most."""
    return min(kept, max(ASIDE_CELLS // cols, LEAST_ASIDE))


def length(default: int) -> Param:
    """The option for how many prototypes there are."""
    text = "prototypes of each class, at most, dense in the columns; auto: so many of these as fit the memory"
    return Param("prototypes", int, default, text, low=1, high=100_000, words=("auto",))


def settle(default: int, params: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """With `auto` prototypes: as many as `default`, or by tenths fewer until they fit."""
    if params.get("prototypes") != "auto":
        return params
    n = default
    while n > 1 and not fits(params | {"prototypes": n}):
        n = n * 9 // 10
    return params | {"prototypes": n}


def chooses(tuning: str, sigma: float) -> bool:
    """Whether the spread is chosen on rows kept aside. UsageError for `fixed` without a spread, or one too small."""
    if 0.0 < sigma < 1e-30:
        raise UsageError(f"--sigma: {sigma:g} has no square; give at least 1e-30, or 0 to choose by --tuning")
    if tuning == "fixed" and not sigma:
        raise UsageError("--tuning fixed: give the spread with --sigma")
    if sigma and tuning not in ("auto", "fixed"):
        raise UsageError(f"--tuning {tuning} chooses the spread and --sigma gives it: leave one of them out")
    return tuning == "auto" and not sigma


FEWER = "fewer --prototypes, or auto"


COST = "O(prototypes x columns) a row"
MEMORY = "8 bytes x classes x prototypes x columns"
DENSE = "prototypes are dense in the columns, however sparse the rows: wide sparse files are slow, and take this memory"
HAMMOURI = "Hammouri, Large-scale classification based on support vector machine, thesis, Santiago de Compostela 2022"
