"""Prototypes of each class: the first rows, then each row averaged into the nearest; and products of rows with them.

P is (classes, cols, slots): the slots of one column lie side by side, so that a row meets all prototypes of its class
in loops over neighbours. Sums are in the order of the columns, for dense and for sparse rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import OPTIONS, entries, row_axpy, row_into, rows
from bigclf.core import Array
from bigclf.jit import exact_helper, helper, kernel, overload, types

ROUNDING = 1e-12  # of squared norms, in the distances of sparse rows
LINE = 8  # values of a cache line
PART = 1 << 20  # values of prototypes or rows aside that are laid out as rows at a time
NEAR_CELLS = 1 << 17  # of the copy of a class's prototypes: 1 MiB


class Prototypes(NamedTuple):
    """The prototypes of each class, and rows that were kept aside to choose by."""

    P: Array  # (classes, cols, slots)
    held: Array  # (classes, slots) rows in each
    norm: Array  # (classes, slots) squared norms
    filled: Array  # (classes,) prototypes
    aside: Array  # (aside, cols)
    kind: Array  # (aside,) class + 1; 0 where there is no row
    code: Array  # (units, classes) -1, +1; 0 where the class was not seen
    seen: Array  # (1,) rows
    solved: Array  # (1,) rows when the answer was made


def distances(X: Any, i: int, P: Array, norm: Array, n: int, out: Array) -> None:
    """out[k] = |x - p_k|^2 for row i and the first n prototypes of P (cols, slots).

    norm (slots,): squared norms of the prototypes, which dense rows do not need.
    """
    x = np.zeros(len(P))
    row_into(X, i, x)
    out[:n] = ((x[:, None] - P[:, :n]) ** 2).sum(axis=0)


@overload(distances, **OPTIONS)
def _distances(X, i, P, norm, n, out):  # type: ignore[no-untyped-def]
    def dense(X, i, P, norm, n, out):  # type: ignore[no-untyped-def]
        out[:n] = 0.0
        last = X.shape[1] - X.shape[1] % 4
        for j in range(0, last, 4):  # four at a time: fetching and storing the sums costs more than adding to them
            x0, x1, x2, x3 = X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3]
            p0, p1, p2, p3 = P[j], P[j + 1], P[j + 2], P[j + 3]
            for k in range(n):
                d0, d1, d2, d3 = x0 - p0[k], x1 - p1[k], x2 - p2[k], x3 - p3[k]
                out[k] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        for j in range(last, X.shape[1]):
            p = P[j]
            for k in range(n):
                d = X[i, j] - p[k]
                out[k] += d * d

    def csr(X, i, P, norm, n, out):  # type: ignore[no-untyped-def]
        for k in range(n):
            out[k] = norm[k]
        for e in entries(X, i):
            x = np.float64(X.data[e])
            p = P[np.uint64(X.indices[e])]
            for k in range(n):
                out[k] += x * (x - 2.0 * p[k])

    return dense if isinstance(X, types.Array) else csr


@exact_helper
def square(P: Array, k: int) -> float:
    """Squared norm of prototype k of P (cols, slots), added up in one order, however many slots there are."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= P.shape[0]:
        a += P[j, k] * P[j, k]
        b += P[j + 1, k] * P[j + 1, k]
        c += P[j + 2, k] * P[j + 2, k]
        d += P[j + 3, k] * P[j + 3, k]
        j += 4
    while j < P.shape[0]:
        a += P[j, k] * P[j, k]
        j += 1
    return (a + b) + (c + d)


def rounding(X: Any, squares: float) -> float:
    """By how much a distance may be wrong of a row and a prototype whose squared norms add up to this."""
    return 0.0 if isinstance(X, np.ndarray) else ROUNDING * squares


@overload(rounding, **OPTIONS)
def _rounding(X, squares):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X, squares: 0.0
    return lambda X, squares: ROUNDING * squares


@helper
def first_least(d: Array, n: int) -> int:
    """Where the first n values are least, the first of equals."""
    a = b = c = e = d[0]
    for m in range(0, n - n % 4, 4):  # four chains: each comparison waits for the one before
        a, b, c, e = min(a, d[m]), min(b, d[m + 1]), min(c, d[m + 2]), min(e, d[m + 3])
    for m in range(n - n % 4, n):
        a = min(a, d[m])
    least = min(a, b, c, e)
    k = 0
    while k < n - 1 and d[k] != least:
        k += 1
    return k


@helper
def nearest(X: Any, x: Array, P: Array, norm: Array, n: int, d: Array) -> int:
    """The least of d (n,), the first of equals; of sparse rows those near it are compared as dense rows would be.

    x (cols,): the row.
    """
    k = first_least(d, n)
    if rounding(X, 1.0) == 0.0:
        return k
    own = 0.0
    for j in range(x.size):
        own += x[j] * x[j]
    best = -1
    least = 0.0
    for m in range(n):
        if d[m] <= d[k] + rounding(X, own + norm[m]):
            s = 0.0
            for j in range(x.size):
                s += (x[j] - P[j, m]) ** 2
            if best < 0 or s < least:
                best = m
                least = s
    return best


@helper
def by_class(y: Array, classes: int) -> Array:
    """Positions of the rows class by class, those of a class in their order; rows of y -1 are left out."""
    at = np.zeros(classes + 1, np.int64)
    for c in y:
        if c >= 0:
            at[c + 1] += 1
    at = np.cumsum(at)
    out = np.empty(at[classes], np.int64)
    for i, c in enumerate(y):
        if c >= 0:
            out[at[c]] = i
            at[c] += 1
    return out


@kernel
def to_keep(y: Array, seen: Array, held: Array, every: int, cap: int) -> Array:
    """Positions of the rows to keep aside, at most `cap` with those that are: of every `every` of a class y the last.

    They are counted by class: data may have a period. And a class gets its share, or half of what the others leave, so
    that in a sorted file the first does not take all. seen (classes,): earlier rows; held (classes,): those aside. Both
    are counted on.
    """
    out = np.empty(cap, np.int64)
    n, total, share = 0, held.sum(), cap // max(len(held), 2)
    for i, c in enumerate(y):
        if total >= cap:
            break
        if c >= 0:
            seen[c] += 1
            left = cap - total + held[c]
            if seen[c] % every == 0 and held[c] < max(left // 2, min(share, left)):
                out[n] = i
                held[c] += 1
                total += 1
                n += 1
    return out[:n]


def scratch(X: Any, cols: int, slots: int) -> tuple[Array, Array]:
    """For `absorb`: distances (slots,), and for dense rows the prototypes of a class (cols, slots or more).

    Both start at a cache line, and each row of the second does: reading across lines takes twice as long.
    """
    wide = -(-slots // LINE) * LINE
    inside = cols if isinstance(X, np.ndarray) and cols * wide <= NEAR_CELLS else 0
    cells = np.empty((inside + 2) * wide)
    first = -(cells.ctypes.data // 8) % LINE
    lines = cells[first : first + (inside + 1) * wide].reshape(inside + 1, wide)
    return lines[inside], lines[:inside]


@kernel
def absorb(
    P: Array, held: Array, filled: Array, norm: Array, most: int, X: Any, y: Array, d: Array, near: Array
) -> None:
    """Put rows into the prototypes of their classes y (-1: none), class by class; there must be slots for them.

    held (classes, slots): rows in each prototype; filled (classes,): prototypes; norm (classes, slots): squared norms;
    d, near: `scratch`.
    """
    order = by_class(y, len(P))
    x = np.empty(P.shape[1])
    dense = rounding(X, 1.0) == 0.0
    at = 0
    while at < len(order):
        c = y[order[at]]
        end = at
        while end < len(order) and y[order[end]] == c:
            end += 1
        while at < end and filled[c] < most:
            k = int(filled[c])
            row_into(X, order[at], x)
            P[c, :, k] = x
            held[c, k] = 1.0
            norm[c, k] = square(P[c], k)
            filled[c] += 1.0
            at += 1
        if at == end:
            continue
        own = P[c]
        if near.size:
            near[:, :most] = own
            own = near
        for i in order[at:end]:
            row_into(X, i, x)
            distances(X, i, own, norm[c], most, d)
            k = nearest(X, x, own, norm[c], most, d)
            h = held[c, k]
            for j in range(x.size):
                own[j, k] = (h * own[j, k] + x[j]) / (h + 1.0)
            held[c, k] += 1.0
            if not dense:  # whose distances need no norms
                norm[c, k] = square(own, k)
        at = end
        if near.size:
            P[c] = near[:, :most]
        if dense:
            norm[c] = 0.0
            for j in range(x.size):
                for k in range(most):
                    norm[c, k] += own[j, k] * own[j, k]


@kernel
def squares(X: Any, P: Array, norm: Array, n: int, out: Array) -> None:
    """out[i, k] = |x_i - p_k|^2 for all rows and the first n of P (cols, slots); norm (slots,): their squared norms.

    Row by row, so that a score does not depend on how the rows were cut.
    """
    for i in range(rows(X)):
        distances(X, i, P, norm, n, out[i])
        for k in range(n):
            out[i, k] = max(out[i, k], 0.0)  # rounding of sparse rows


@kernel
def averages(K: Array, at: Array, slot: Array, weight: Array, out: Array) -> None:
    """out[i] += sum over m of weight[m] K[at[m], i, slot[m]]; K (classes, n, slots). Row by row, as `squares`."""
    for i in range(out.size):
        s = 0.0
        for m in range(at.size):
            s += weight[m] * K[at[m], i, slot[m]]
        out[i] += s


@kernel
def add_rows(first: Array, count: Array, X: Any, y: Array) -> None:
    """first[y] += row, count[y] += 1; rows of y -1 are left out."""
    for i in range(rows(X)):
        if y[i] >= 0:
            row_axpy(1.0, X, i, first[y[i]])
            count[y[i]] += 1.0
