"""What a leaf of a Hoeffding tree makes of a row: naive Bayes over its Gaussians, what they learn, and who was right.

Sums are in the order written. Sources as in `tree`.
"""

from __future__ import annotations

from math import exp, log, pi, sqrt

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper
from bigclf.kernels.bayes import LEAST, MOST, distance
from bigclf.kernels.tree_split import BY_BAYES, BY_CLASS, HIGH, LOGS, LOW, M2, MEAN, SPREAD, WEIGHT, total

EDGE = 1e-12  # by which the first of two classes is ahead in MOA's votes where they are equal


@exact_helper
def weigh(dist: Array, held: Array, leaf: int, slot: int, c: int, terms: Array) -> None:
    """Logarithms that do not depend on the row: of the weight of class c, and of what its variances are parts of."""
    n = held[slot, c, WEIGHT]
    if n > 0.0 and dist[leaf, c] > 0.0:
        terms[slot, c, 0] = log(dist[leaf, c])
        terms[slot, c, 1] = held[slot, c, SPREAD] * log(2.0 * pi / (n - 1.0)) if n > 1.0 else 0.0


@exact_helper
def bayes(
    dist: Array, held: Array, g: Array, leaf: int, slot: int, x: Array, ready: Array, terms: Array, logs: Array
) -> None:
    """Logarithms of dist_c prod_j density(x_j), without the factor that all classes have in common.

    A density of no spread is 1 at the mean and 0 elsewhere; a class that the leaf has not met has none.
    ready (slots,): whether terms (slots, classes, 2), what `weigh` says of each class, are those of the slot's leaf.
    """
    if ready[slot] == 0.0:
        for c in range(logs.shape[1]):
            weigh(dist, held, leaf, slot, c, terms)
        ready[slot] = 1.0
    for c in range(logs.shape[1]):
        n = held[slot, c, WEIGHT]
        logs[0, c] = -np.inf
        if n <= 0.0 or dist[leaf, c] <= 0.0:
            continue
        q = 0.0
        if n > 1.0:
            q = (
                (n - 1.0) * distance(x, g[slot, c, MEAN], g[slot, c, M2], False)
                + held[slot, c, LOGS]
                + terms[slot, c, 1]
            )
        else:
            for j in range(x.size):
                if x[j] != g[slot, c, MEAN, j]:
                    q = np.inf
        logs[0, c] = terms[slot, c, 0] - 0.5 * q


@exact_helper
def products(dist: Array, held: Array, g: Array, leaf: int, slot: int, x: Array, out: Array) -> None:
    """As MOA has it: shares of dist times densities, in out (1, classes); no logarithms, so all may be 0, or beyond.

    A leaf that has met no row answers by dist.
    """
    whole = total(dist, leaf)
    met = 0.0
    for c in range(out.shape[1]):
        met += held[slot, c, WEIGHT]
    for c in range(out.shape[1]):
        n = held[slot, c, WEIGHT]
        p = dist[leaf, c] / whole if whole > 0.0 else 0.0
        if met > 0.0 and n <= 0.0:
            p = 0.0
        for j in range(x.size if n > 0.0 else 0):
            sd = sqrt(g[slot, c, M2, j] / (n - 1.0)) if n > 1.0 else 0.0
            d = x[j] - g[slot, c, MEAN, j]
            if sd > 0.0:
                p *= 1.0 / (sqrt(2.0 * pi) * sd) * exp(-(d * d / (2.0 * sd * sd)))
            elif d != 0.0:
                p *= 0.0
        out[0, c] = p


@exact_helper
def first_best(a: Array, k: int) -> int:
    """The first of the largest of row k."""
    best = 0
    for c in range(1, a.shape[1]):
        if a[k, c] > a[k, best]:
            best = c
    return best


@exact_helper
def parts(weights: Array, k: int, p: Array) -> None:
    """Row k of the weights as shares p, as MOA's votes count: without any, all alike, and equals go to the first."""
    whole = total(weights, k)
    best = first_best(weights, k)
    for c in range(p.size):
        if 0.0 < whole < np.inf:
            p[c] = weights[k, c] / whole
        elif whole != 0.0:  # no number, or infinity
            p[c] = 1.0 if c == best else 0.0
        else:
            p[c] = 1.0 / p.size
    if p.size == 2 and p[0] == p[1]:
        p[0] += EDGE


@exact_helper
def observe(held: Array, g: Array, slot: int, c: int, x: Array, w: float) -> None:
    """Take row x of class c and weight w into the Gaussians of a slot."""
    if held[slot, c, WEIGHT] == 0.0:
        for j in range(x.size):
            g[slot, c, LOW, j] = x[j]
            g[slot, c, HIGH, j] = x[j]
    held[slot, c, WEIGHT] += w
    r = w / held[slot, c, WEIGHT]
    for j in range(x.size):
        d = x[j] - g[slot, c, MEAN, j]
        g[slot, c, MEAN, j] += r * d
        g[slot, c, M2, j] += w * d * (x[j] - g[slot, c, MEAN, j])
        g[slot, c, LOW, j] = x[j] if x[j] < g[slot, c, LOW, j] else g[slot, c, LOW, j]
        g[slot, c, HIGH, j] = x[j] if x[j] > g[slot, c, HIGH, j] else g[slot, c, HIGH, j]


@exact_helper
def measure(held: Array, g: Array, slot: int, c: int) -> None:
    """Sum of the logarithms of M2 where it is not 0, and where it is not."""
    logs = 0.0
    product = 1.0
    spread = 0.0
    for j in range(g.shape[3]):
        v = g[slot, c, M2, j]
        if v > 0.0:
            spread += 1.0
            if LEAST < v < MOST:
                product *= v
            else:
                logs += log(v)
            if not LEAST < product < MOST:
                logs += log(product)
                product = 1.0
    held[slot, c, LOGS] = logs + log(product)
    held[slot, c, SPREAD] = spread


@exact_helper
def compare(dist: Array, slots: Array, leaf: int, slot: int, logs: Array, c: int, w: float, moa: bool) -> None:
    """Count who is right about a row of class c: the leaf's most frequent class, naive Bayes.

    moa: an empty leaf has no most frequent class, and naive Bayes names the first where all is 0.
    """
    usual = first_best(dist, leaf)
    likely = first_best(logs, 0)
    if moa:
        usual = usual if dist[leaf, usual] > 0.0 else -1
    elif logs[0, likely] == -np.inf:
        likely = usual
    if usual == c:
        slots[slot, BY_CLASS] += w
    if likely == c:
        slots[slot, BY_BAYES] += w
