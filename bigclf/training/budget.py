"""What would not fit is refused before it is allocated, and blocks are made as small as they must be.

The size of blocks follows the rule of the fast support vector classifier (FSVC): start large, compute what a block
needs, and shrink by a tenth until that is below a quarter of what there is. Sizes are bytes.

Source: Hammouri, Large-scale classification based on support vector machine, thesis, Santiago de Compostela 2022,
Algorithm 5, equation 2.30.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from bigclf.core import TILE, Learner, Shape
from bigclf.errors import BudgetError
from bigclf.limits import BUDGET, RESERVE, Headroom, counted, headroom, human
from bigclf.reading.options import BLOCK_SIZE
from bigclf.reading.pool import window
from bigclf.state import nbytes

__all__ = ["BlockNeed", "Texture", "before_rows", "block_bytes", "check_state", "human", "max_column", "shrink"]

ETA = 0.25  # share of the free memory that a block may need
LEAST = 1 << 16  # bytes of text: below this the cost of a call outweighs the work
COLUMN_BYTES = 160  # of the schema, its working copies and one weight: the least that a column costs
SOLVE = 7  # matrices (cols, cols) at once while solving: 5.0 measured, 7.1 where the sums are singular
WORDS = {"slots": "prototypes", "aside": "rows kept aside", "supports": "support points"}  # axes, for messages
SLACK = 1.25  # gaps of the allocator, copies of a moment: measured peaks stay below

# MiB that a process has taken once it is at work, code and a first chunk of encoded rows included: resident, and of
# addresses. Measured with blocks of 64 KiB; the addresses by bisecting ulimit -v.
_AT_WORK = {"libsvm": (172, 352), "packed": (190, 447), "csv": (152, 345), "parquet": (188, 448)}
_CURVE = 40  # MiB, of `evaluate`, for the areas under the curve; train takes as many addresses for BLAS


def shrink(need: Callable[[float], float], have: float, start: float, least: float, eta: float = ETA) -> float | None:
    """The largest of start, 0.9 start, 0.81 start, ... whose need is below eta * have.

    At `least` the whole of `have` may be used; None where not even that suffices.
    """
    size = start
    while size > least:
        if need(size) < eta * have:
            return size
        size *= 0.9
    return least if need(least) <= have else None


class Fsvc(NamedTuple):
    """A block of the FSVC rule."""

    V: float  # numbers in a block
    train: int  # BN, rows of a block
    test: int  # BT
    bytes: int


def fsvc_block(
    memory: float,
    N: int,
    T: int,
    inputs: int,
    Q: int,
    L: int = 100,
    V: float = 1e6,
    eta: float = ETA,
) -> Fsvc:
    """The rule as published. N, T: rows to train and test; Q: classes; L: prototypes a class.

    The set of 42 classes and 14 million rows within 2,097,152 KB, as in table 2.13 (there: V = 2.3e6, 509 MB):

    >>> fsvc_block(2097152 * 1024, 10467418, 3489139, 36, 42, V=1e7)
    Fsvc(V=2287679.2454961007, train=61829, test=61829, bytes=506233208)

    Raises BudgetError where a block of one row does not fit.
    """

    def rows(v: float) -> int:
        return max(1, int(v // (inputs + 1)))

    def need(v: float) -> int:
        train, test = min(N, rows(v)), min(T, rows(v))
        numbers = (
            (inputs + 1) * train + Q * L * (inputs + 1) + 12 * L * L + (Q * Q + 3 * Q + 2 * (inputs + 1)) * test // 2
        )
        return 8 * numbers

    while rows(V) > 1 and need(V) >= eta * memory:
        V *= 0.9
    if rows(V) == 1 and need(V) > memory:
        raise BudgetError(f"a block of one row needs {human(need(V))}, {human(memory)} are free")
    return Fsvc(V, min(N, rows(V)), min(T, rows(V)), need(V))


class Texture(NamedTuple):
    """What a byte of input holds, on average."""

    rows: float
    entries: float  # pairs of LIBSVM, cells of a table


# Before the head was read: denser than common files, so that what is learned later seldom asks for less.
DENSE_TEXT = {
    "libsvm": Texture(1 / 32, 1 / 6),
    "csv": Texture(1 / 64, 1 / 4),
    "parquet": Texture(1 / 64, 1 / 8),  # its bytes are those of decoded values, 8 each
}


class BlockNeed(NamedTuple):
    """All that decides what a block takes, but its size.

    flight: blocks alive at once, the one that is read included; with several threads more of them are, and their texts
    too. Encoded rows do not depend on the size: `before_rows` has set a chunk of them aside.
    """

    form: str  # libsvm, csv, parquet
    texture: Texture
    flight: int = 2
    threads: int = 1  # that parse

    def bytes(self, size: float) -> float:
        """Bytes that blocks of `size` bytes of input take: text, raw arrays in flight, conversion."""
        rows, entries = self.texture.rows * size, self.texture.entries * size
        if self.form == "libsvm":  # an entry as the head and dense rows have it: sparse rows of float32 take 8 bytes
            text, raw, convert = size, 28 * rows + 12 * entries, 0.0
        elif self.form == "csv":  # a piece of text stays with its rows; pyarrow parses, then converts
            text, raw, convert = 2 * size, size + 8 * entries + 12 * rows, size + 12 * entries
        else:
            text, raw, convert = 0.0, 16 * entries + 12 * rows, 16 * entries
        more = window(self.threads)
        return SLACK * (more * text + (self.flight + more - 1) * raw + convert)


def block_bytes(room: Headroom, need: BlockNeed, most: int = BLOCK_SIZE) -> int:
    """Bytes of input to read at once: at most `most`, and so few that a quarter of what is left suffices.

    Raises BudgetError with the terms.
    """
    least = min(LEAST, most)
    size = shrink(need.bytes, room.bytes, most, least)
    if size is not None:
        return int(size)
    binding = room.binding
    short = need.bytes(least) - (binding.free - RESERVE)
    enough = math.ceil((binding.total + short) / 2**20)
    raise BudgetError(
        f"{binding.name} is {human(binding.total)}, at least {enough} MiB is needed "
        f"({human(room.resident)} for the program itself, {human(RESERVE)} in reserve, "
        f"{human(need.bytes(least))} for blocks of {human(least)}); {_raise(room)}"
    )


def before_rows(room: Headroom, form: str, curve: bool = False) -> Headroom:
    """What will be left once the program is at work: by the first rows it has loaded code.

    form: libsvm, packed (LIBSVM that pyarrow unpacks or recodes), csv, parquet; curve: the areas of `evaluate`.
    """
    resident, addresses = _AT_WORK[form]
    return room.once(resident + (_CURVE if curve else 0) << 20, addresses << 20)


def max_column(room: Headroom | None = None) -> int:
    """The largest column that a sparse row may have."""
    return min(2**31 - 2, (room or headroom()).bytes // COLUMN_BYTES)


def check_map(cap: int | None, need: int) -> None:
    """Refuse to grow the tables of a feature map, with `need` bytes under --budget `cap`, where they do not fit."""
    room = headroom(cap)
    if need > room.bytes:
        raise BudgetError(f"the feature map needs {human(need)} for the columns so far; {room}; try a lower --rff-dim")


def scratch(learner: Learner, shape: Shape) -> int:
    """Bytes to solve in; for learners of whole tiles that hold columns^2 numbers with those of a tile."""
    return learner.solving(shape) + (tile_bytes(shape.cols) if learner.grain == "tile" and _wide(learner) else 0)


def tile_bytes(cols: int) -> int:
    """A tile as encoded and as float64, and the matrices of a solution."""
    return TILE * cols * (8 + 8) + SOLVE * 8 * cols * cols


def check_state(
    learner: Learner,
    shape: Shape,
    name: str,
    room: Headroom | None = None,
    held: bool = False,
    beside: int = 0,
    cure: str = "",
    solving: int = 0,
) -> None:
    """Refuse a state that does not fit, with the terms, before it is allocated. Raises BudgetError.

    held: the state is there already, as from a model file. beside: bytes promised to others. cure: what would help,
    where that is not fewer columns. solving: bytes that another takes to solve in, before or after this one.
    """
    room = room or headroom()
    state, solving = nbytes(learner, shape), max(solving, scratch(learner, shape))
    short = (0 if held else state) + solving + beside - room.bytes
    if short <= 0:
        return
    alike = Counter(
        " x ".join(WORDS.get(a, a) for axis in axes for a in [str(axis).rsplit(" ", 1)[-1]])
        for axes in learner.axes.values()
        if "cols" in axes
    )
    terms = " + ".join(term if n == 1 else f"{n} x {term}" for term, n in alike.items())
    more = f" and {human(solving)} to solve in" if solving else ""
    more += f", beside {human(beside)} for feature maps and other learners," if beside else ""
    raise BudgetError(
        f"{name} needs {human(state)}{more} for {counted(shape.cols, 'column')}, "
        f"{counted(shape.classes, 'class', 'classes')} and {counted(shape.units, 'unit')} "
        f"(8 bytes x ({terms})); {room}; {_cure(learner, shape, room, cure)}{_enough(room, short)}"
    )


def _enough(room: Headroom, short: int) -> str:
    """What the limit would have to be, where the user has set it."""
    binding = room.binding
    if binding.name != BUDGET:
        return ""
    return f"; {BUDGET} {math.ceil((binding.total + short + max(0, RESERVE - binding.free)) / 2**20)}MiB is enough"


def _wide(learner: Learner) -> bool:
    return any(list(axes).count("cols") > 1 for axes in learner.axes.values())


def _cure(learner: Learner, shape: Shape, room: Headroom, cure: str) -> str:
    """What would help: a learner with less memory a column, fewer columns, fewer classes."""
    cures = [cure] if cure else []
    if _wide(learner):
        cures.append("a learner without columns^2 memory (pa-1, arow --cov diag)")
    for bits in range(22, 5, -1) if not cure else ():
        small = shape._replace(cols=1 + (1 << bits))
        if small.cols < shape.cols and nbytes(learner, small) + scratch(learner, small) <= room.bytes:
            cures.append(f"--hash-bits {bits}")
            break
    if shape.classes > 10:
        cures.append("fewer classes")
    return f"try {', or '.join(cures)}" if cures else _raise(room)


def _raise(room: Headroom) -> str:
    return f"raise {room.binding.name}" if room.binding.name.startswith(("--", "ulimit")) else "give it more memory"
