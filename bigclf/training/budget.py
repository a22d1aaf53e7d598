"""How much memory there is, and what would not fit in it."""

from __future__ import annotations

from bigclf.core import Learner, Shape
from bigclf.errors import BudgetError
from bigclf.state import nbytes

COLUMN_BYTES = 160  # of the schema, its working copies and one weight: the least that a column costs
SHARE = 0.8  # of what is free


def available() -> int:
    """Bytes that this process may still take: free memory, cut to the limit of the address space."""
    import resource

    import psutil

    free = int(psutil.virtual_memory().available * SHARE)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft != resource.RLIM_INFINITY:
        free = min(free, max(0, soft - psutil.Process().memory_info().vms))
    return free


def max_column() -> int:
    """The largest column that a sparse row may have."""
    return min(2**31 - 2, available() // COLUMN_BYTES)


def check_state(learner: Learner, shape: Shape, name: str) -> None:
    """Refuse a state that does not fit, with the terms; BudgetError."""
    need, limit = nbytes(learner.axes, shape), available()
    if need <= limit:
        return
    wide = any(list(axes).count("cols") > 1 for axes in learner.axes.values())
    cure = "a learner without columns^2 memory (pa-1, arow --cov diag), or --hash-bits 10" if wide else "--hash-bits 22"
    terms = " + ".join(" x ".join(str(a) for a in axes) for axes in learner.axes.values() if "cols" in axes)
    raise BudgetError(
        f"{name} needs {human(need)} for {shape.cols} columns, {shape.classes} classes and {shape.units} units "
        f"(8 bytes x ({terms})), {human(limit)} are free; try {cure}"
    )


def human(size: float) -> str:
    """
    >>> human(1536), human(37 * 2**30)
    ('1.5 KiB', '37 GiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"
