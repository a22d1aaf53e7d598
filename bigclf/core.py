"""Every name that crosses a module border. Neither numpy nor numba is imported here: declarations stay cheap.

A learner is a value: functions over a state, and a state is a NamedTuple of arrays. What is not in the arrays is not
remembered. `axes` names the axes of each array, so that growing, saving and sizing a state are each written once
(`bigclf.state`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Scores: TypeAlias = NDArray[np.float64]
else:
    Array = Scores = Any

TILE = 1024  # rows of the stream that are learned as one: results depend on this, never on how the file was cut

State: TypeAlias = Any  # a NamedTuple of arrays
Axes: TypeAlias = Mapping[str, tuple[str | int, ...]]


class Shape(NamedTuple):
    """Sizes of the named axes of a state."""

    units: int  # binary problems trained side by side
    cols: int  # columns, the bias (column 0) included
    classes: int


class Block(NamedTuple):
    """Encoded rows; the number of columns and of classes is the same for all of them."""

    row: Array  # (n,) int64, numbers of the rows in the stream: random draws are keyed by them
    X: Any  # (n, cols) float32 or float64 in C order, or block.Csr
    y: Array  # (n,) int32 class code; -1 where the row has no label


class Plan(NamedTuple):
    """What each unit shall do with each row, and what it answers. All arrays are (units, n), `margin` (1, n).

    `weight`, `repeat`, `post` and `margin` may be empty (0, 0): then every weight is one, every row is shown once, the
    score after the row is not wanted, and every row is to keep a margin of one.
    """

    target: Array  # int8: -1, +1, or 0 where this unit skips the row
    weight: Array  # float64: importance of the row
    repeat: Array  # int32: how many times the row is shown
    pre: Array  # float64, written by update: score before the row (NaN where the learner has none)
    post: Array  # float64, written by update: score after the row
    margin: Array  # (1, n) float64: below this signed score there is a loss; for learners that have `margins`


class Pull(NamedTuple):
    """How much each class has moved a learner."""

    by_class: Array  # (classes,) sums of weight times squared length of the step along the gradient
    gii: float  # sum over the rows, from where both are above 0, of (negative / positive - 1)^2


def no_growth(shape: Shape) -> Mapping[str, int]:
    """No axis grows with the rows."""
    return {}


def no_room(shape: Shape) -> int:
    """Nothing that counts."""
    return 0


@dataclass(frozen=True)
class Learner:
    """A learner as a value. `update` may write into the arrays it is given; it returns the state to use next.

    Promises, each tested over all learners: the state depends on the order of the rows and not on how they are cut
    into blocks; dense and CSR rows give the same scores; a row whose target is 0 leaves the unit as it was;
    `pre` is what `decision` gave just before the row (at "tile" grain: just before the tile; at "end" grain: NaN).
    """

    init: Callable[[Shape], State]
    update: Callable[[State, Block, Plan], State]
    decision: Callable[[State, Any], Scores]  # state, X -> (units, n)
    axes: Axes
    most: Callable[[Shape], Mapping[str, int]] = no_growth  # largest sizes of axes that grow with the rows, by name
    solving: Callable[[Shape], int] = no_room  # bytes that `finish` takes beside the state
    signed: tuple[str, ...] = ()  # fields that change sign when a unit's positive and negative class change places
    rival: bool = False  # units compete for a row: what was one unit's becomes two halves
    margins: bool = False  # heeds Plan.margin
    probable: bool = False  # scores are 2 p - 1, of two classes p+ - p-, with probabilities p
    logit: bool = False  # scores are log-odds of each unit's positive class
    grain: str = "row"  # "tile": update wants whole tiles of TILE rows, and solves between them; "end": only at the end
    tiled: bool = False  # goes row by row, and wants whole tiles all the same: rounding depends on how rows are cut
    finish: Callable[[State], State] | None = None  # before predicting or saving: whatever was put off
    merge: Callable[[State, State], State] | None = None  # exactly: trained on a, then b
    refit: Callable[[State, Array, Array], State] | None = None  # exact change of units: state, old code, new code
    doubts: Callable[[State, Sequence[str]], list[str]] | None = None  # finished, classes -> why not to trust it
    weights: Callable[[State], Array] | None = None  # (units, cols) that scores go by, where that is not `w`
    pull: Callable[[State], Pull] | None = None  # of learners that go by gradients
    told: Callable[[State], dict[str, Any]] | None = None  # facts about the run that are in the state, by name
    fault: Callable[[State], str | None] | None = None  # of what a model file held: places that are none, and the like
    call: Callable[[State, Block, Plan], tuple[Any, ...]] | None = None  # `update` as one call: a kernel and its
    # arguments, the arrays themselves, so that it can be called again with other rows in the same ones
    roomier: Callable[[State], State] | None = None  # where the kernel stops at a row for want of room: one with more

    @property
    def tiles(self) -> bool:
        """Whether `update` wants whole tiles."""
        return self.tiled or self.grain == "tile"


def by_call(call: Callable[[State, Block, Plan], tuple[Any, ...]]) -> Callable[[State, Block, Plan], State]:
    """The `update` of a learner that has this `call`."""

    def update(state: State, block: Block, plan: Plan) -> State:
        kernel, *arguments = call(state, block, plan)
        kernel(*arguments)
        return state

    return update


@dataclass(frozen=True)
class Param:
    """One option of an algorithm, as the command line shows it. Bounds are inclusive unless `open_low`.

    A bool is an option and its opposite with `no-` in front.
    """

    name: str
    type: type
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # that may stand for a number

    def accepts(self, value: Any) -> bool:
        """Whether a value is of the right type and within the bounds.

        >>> cap = Param("C", float, 1.0, "", low=0.0, open_low=True)
        >>> cap.accepts(0.5), cap.accepts(0.0), cap.accepts(float("nan")), cap.accepts("1")
        (True, False, False, False)
        """
        if isinstance(value, str) and value in self.words:
            return True
        if self.type is bool:
            return isinstance(value, bool)
        if self.type is str:
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if isinstance(value, bool) or not isinstance(value, int if self.type is int else (int, float)):
            return False
        if value != value or value in (float("inf"), float("-inf")):
            return False
        if self.low is not None and (value <= self.low if self.open_low else value < self.low):
            return False
        return self.high is None or value <= self.high


@dataclass(frozen=True)
class Spec:
    """The declaration of an algorithm: all that help texts, checks and the model file need, without its kernels."""

    name: str
    line: str  # what it does, in one line
    source: str  # paper, year, equation or figure
    build: Callable[..., Learner]
    params: tuple[Param, ...] = ()
    scale: str = "minmax"  # default of --scale
    cost: str = "O(nnz) a row"
    memory: str = "8 bytes x units x columns"
    one_pass: bool = False  # exact after one pass: further passes are ignored
    solve_scaling: Callable[[dict[str, Any]], bool] | None = None  # with these parameters, scales when solving
    uses_weights: bool = True
    settle: Callable[[dict[str, Any], Callable[[dict[str, Any]], bool]], dict[str, Any]] | None = None  # till they fit
    cure: str = ""  # what would help where it does not fit
    settled: Callable[[Spec, Mapping[str, Any]], Spec] | None = None  # as options, by name, change it: those of a base
    balances: bool = False  # weighs the classes by itself: constant weights of two classes cancel out
    notes: tuple[str, ...] = field(default=())
