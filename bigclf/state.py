"""What can be done with any state because the axes of its arrays are named: flatten, fill, grow, change units, size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bigclf.core import Array, Learner, Shape, State
from bigclf.errors import BigclfError


def flatten(state: State, prefix: str = "") -> dict[str, Array]:
    """Arrays of a (nested) state by path, as `w` or `members/0/w`; views, not copies."""
    if isinstance(state, np.ndarray):
        return {prefix: state}
    names = state._fields if hasattr(state, "_fields") else [str(i) for i in range(len(state))]
    flat: dict[str, Array] = {}
    for name, part in zip(names, state, strict=True):
        flat |= flatten(part, f"{prefix}/{name}" if prefix else name)
    return flat


def rebuild(like: State, arrays: dict[str, Array], prefix: str = "") -> State:
    """A state of the form of `like` that holds the given arrays."""
    if isinstance(like, np.ndarray):
        return arrays[prefix]
    fields = hasattr(like, "_fields")
    names = like._fields if fields else [str(i) for i in range(len(like))]
    parts = [rebuild(p, arrays, f"{prefix}/{n}" if prefix else n) for n, p in zip(names, like, strict=True)]
    return type(like)(*parts) if fields else tuple(parts)


def extent(axis: str | int, shape: Shape, growing: Mapping[str, int]) -> int:
    """Size of a named axis; `growing` has those of the axes that grow with the rows. AssertionError for another name.

    "sides" are a unit's negative and positive one, which change places with its sign.
    """
    if isinstance(axis, int):
        return axis
    sizes = {"sides": 2, **shape._asdict(), **growing}
    if axis not in sizes:
        raise AssertionError(f"axis '{axis}' is none of {', '.join(sizes)}")
    return int(sizes[axis])


def extents(learner: Learner, path: str, shape: Shape, array: Array) -> tuple[int, ...]:
    """Sizes of all axes of an array, at this shape; those that grow with the rows are as they are in it."""
    axes, most = learner.axes[path], learner.most(shape)
    growing = {str(axis): size for axis, size in zip(axes, array.shape, strict=True) if axis in most}
    return tuple(extent(axis, shape, growing) for axis in axes)


def shape_of(learner: Learner, state: State) -> Shape:
    """The shape of a state; of an axis that no array has, the least there is."""
    found = {"units": 1, "cols": 1, "classes": 2}
    for path, array in flatten(state).items():
        found |= {str(axis): n for axis, n in zip(learner.axes[path], array.shape, strict=True) if axis in found}
    return Shape(**found)


def nbytes(learner: Learner, shape: Shape) -> int:
    """Bytes of a state of this shape, without allocating it; of what grows with the rows, the most it may take."""
    most, total = learner.most(shape), 0
    for names in learner.axes.values():
        size = 8
        for axis in names:
            size *= extent(axis, shape, most)
        total += size
    return total


def grow(learner: Learner, state: State, new: Shape) -> State:
    """The state at a larger shape: what was there is kept, the rest is as `init` makes it."""
    return _placed(learner, flatten(state), learner.init(new), new)


def trim(learner: Learner, state: State, used: Shape) -> dict[str, Array]:
    """Arrays of a state cut to the columns in use, for the model file; views, not copies."""
    out = {}
    for path, array in flatten(state).items():
        sizes = extents(learner, path, used, array)
        out[path] = array[tuple(slice(0, n) for n in sizes)]
    return out


def fill(learner: Learner, arrays: dict[str, Array], capacity: Shape) -> State:
    """The inverse of `trim`: a state of the full capacity that holds the given arrays."""
    return _placed(learner, arrays, learner.init(capacity), capacity)


def _placed(learner: Learner, arrays: dict[str, Array], fresh: State, shape: Shape) -> State:
    """The fresh state with the arrays at the begin of its own; what rows have made longer begins as zeros."""
    made, most = {}, learner.most(shape)
    for path, begun in flatten(fresh).items():
        old = arrays[path]
        names = learner.axes[path]
        old = old[tuple(slice(0, most.get(str(axis))) for axis in names)]  # more columns may allow fewer rows
        sizes = extents(learner, path, shape, old)
        whole = begun
        if sizes != begun.shape:
            whole = np.zeros(sizes)
            part = tuple(slice(0, min(n, m)) for n, m in zip(sizes, begun.shape, strict=True))
            whole[part] = begun[part]
        whole[tuple(slice(0, n) for n in old.shape)] = old
        made[path] = whole
    return rebuild(fresh, made)


def unit_sources(old_code: Array, new_code: Array) -> list[tuple[int, int]]:
    """For each new unit the old unit that tells the same classes apart and its sign; (-1, 0) where there is none.

    A third class turns one unit into three: the negative class's unit starts as the old one with its sign changed.

    >>> unit_sources(np.array([[-1, 1]]), np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]))
    [(0, -1), (0, 1), (-1, 0)]
    """
    known, units = old_code.shape[1], old_code.shape[0]
    if units > 1 and np.array_equal(new_code[:units, :known], old_code):
        return [(u, 1) if u < units else (-1, 0) for u in range(len(new_code))]
    out = []
    for row in new_code[:, :known]:
        same = [(u, s) for u, old in enumerate(old_code) for s in (1, -1) if np.array_equal(row, s * old)]
        out.append(same[0] if same else (-1, 0))
    return out


def change_units(learner: Learner, state: State, old_code: Array, new_code: Array, new: Shape) -> State:
    """The state after classes were added: exact where the learner can refit, else each unit starts from its like."""
    if learner.refit is not None:
        return learner.refit(grow(learner, state, new), old_code, new_code)
    fresh = learner.init(new)
    arrays = flatten(fresh)
    sources = unit_sources(old_code, new_code)
    most = learner.most(new)
    for path, old in flatten(state).items():
        axes = learner.axes[path]
        if any(axis in most for axis in axes):  # what rows have made longer
            arrays[path] = np.zeros(extents(learner, path, new, old))
        if "units" not in axes:
            arrays[path][tuple(slice(0, n) for n in old.shape)] = old
            continue
        if axes[0] != "units":
            raise BigclfError(f"state field {path}: units must be its first axis")
        signed = path.rsplit("/", 1)[-1] in learner.signed
        share = 0.5 if learner.rival and len(old) == 1 < new.units else 1.0
        for u, (source, sign) in enumerate(sources):
            if source >= 0:
                was = old[source] * (sign * share if signed else 1)
                if sign < 0 and "sides" in axes:
                    was = np.flip(was, axes.index("sides") - 1)
                part: tuple[Any, ...] = (u, *(slice(0, n) for n in old.shape[1:]))
                arrays[path][part] = was
    return rebuild(fresh, arrays)


def misfit(learner: Learner, arrays: dict[str, Array], shape: Shape) -> str | None:
    """Name and fault of the first array that does not fit the shape; None when all do."""
    most = learner.most(shape)
    sizes: dict[str, int] = {}  # of the axes that grow with the rows: the same wherever they are
    for path, names in learner.axes.items():
        if path not in arrays:
            return f"array state/{path} is missing"
        array = arrays[path]
        if array.ndim == len(names):
            for axis, size in zip(names, array.shape, strict=True):
                if axis in most and size <= most[str(axis)]:
                    sizes.setdefault(str(axis), size)
        want = tuple(extent(a, shape, dict.fromkeys(most, 0) | sizes) for a in names)
        if array.shape != want:
            return f"array state/{path} has shape {array.shape}, {want} is expected"
        if array.dtype != np.float64:
            return f"array state/{path} is {array.dtype}, float64 is expected"
    return None
