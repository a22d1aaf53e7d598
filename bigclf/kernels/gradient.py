"""Gradient steps on the loss of a margin: perceptron, hinge; for two classes one unit, for more the unit and its rival.

A step is w += eta a y x where the signed score is below the gate; a is the importance of the row, times a gain that
may depend on the learner's own history.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigclf.block import row_axpy, row_dot, row_sq, rows
from bigclf.core import Array, Plan, Shape
from bigclf.jit import helper, kernel
from bigclf.kernels.chance import poisson
from bigclf.kernels.class_sizes import closed, harmonic, kappa, kappa_of_two, noted, observe, opened, record

PERCEPTRON, HINGE = range(2)
NONE, HARMONIC, KAPPA = range(3)


class How(NamedTuple):
    """The kind of step. Numbers, so that one kernel serves all."""

    gate: int
    gain: int
    eta: float
    decreasing: bool  # eta / sqrt(t) in step t
    plain: bool  # a gradient counts by its norm, not by the norm's square
    memory: float  # of the class sizes that the harmonic gain goes by; 0: plain counts
    warm: bool  # begin as plain counts
    draw: int  # of the kappa gain: see bigclf.kernels.chance
    seed: int


class Gradient(NamedTuple):
    """Weights, and what has moved them."""

    w: Array  # (units, cols)
    pull: Array  # (classes,) importance x squared length of the steps, by the class of the row
    gii: Array  # (1,) sum of (GI - 1)^2
    t: Array  # (1,) rows seen
    size: Array  # (classes,) of the harmonic gain: rows, or their share, by class
    rest: Array  # (1,) the share that is left of the even start
    right: Array  # (classes,) of the kappa gain: rows that were answered rightly
    truth: Array  # (classes,) and all rows
    guess: Array  # (classes,) and answers


AXES: dict[str, tuple[str | int, ...]] = {
    "w": ("units", "cols"),
    "pull": ("classes",),
    "gii": (1,),
    "t": (1,),
    "size": ("classes",),
    "rest": (1,),
    "right": ("classes",),
    "truth": ("classes",),
    "guess": ("classes",),
}


def zeros(shape: Shape) -> Gradient:
    """Nothing seen."""
    classes = (np.zeros(shape.classes) for _ in range(5))
    pull, size, right, truth, guess = classes
    return Gradient(
        np.zeros((shape.units, shape.cols)), pull, np.zeros(1), np.zeros(1), size, np.ones(1), right, truth, guess
    )


@helper
def loses(gate: int, m: float, margin: float) -> bool:
    """Whether a row of signed score m has a loss."""
    return m <= 0.0 if gate == PERCEPTRON else m < margin


@helper
def times(gate: int, margin: float, m: float, move: float, k: int) -> int:
    """How many of k equal steps are taken, each moving the score m towards the gate by `move`.

    The gate is looked at before each; the answer needs no loop.
    """
    if not loses(gate, m, margin):
        return 0
    if gate == PERCEPTRON:
        return k if k < 2 or move <= 0.0 else int(min(float(k), np.floor(-m / move) + 1.0))
    return k if k < 2 or move <= 0.0 else int(min(float(k), np.ceil((margin - m) / move)))


@helper
def account(pull: Array, gii: Array, plain: bool, c: int, positive: bool, many: bool, length: float, a: float) -> None:
    """Note how far a row of class c has moved the weights: a times a gradient of this squared length, or not (a 0)."""
    if a > 0.0:
        pull[c] += a * (np.sqrt(length) if plain else length)
    if not many and pull.size == 2:
        up, down = (pull[c], pull[1 - c]) if positive else (pull[1 - c], pull[c])
        if up > 0.0 and down > 0.0:
            over = down / up - 1.0
            gii[0] += over * over


@kernel
def update_two(s: Gradient, how: How, X: Any, y: Array, row: Array, plan: Plan) -> None:
    """Show each row to the one unit; y (n,): class codes."""
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    given = plan.margin.shape[1] > 0
    w = s.w[0]
    r0, r1, n0, n1, g0, g1 = opened(s.right, s.truth, s.guess)
    for i in range(rows(X)):
        t = plan.target[0, i]
        f = row_dot(X, i, w)
        plan.pre[0, i] = f
        if t != 0:
            c = y[i]
            s.t[0] += 1.0
            eta = how.eta / np.sqrt(s.t[0]) if how.decreasing else how.eta
            other = 1 - c if s.pull.size > 1 else c
            guess = c if (f >= 0.0) == (t > 0) else other
            a = plan.weight[0, i] if weighted else 1.0
            margin = plan.margin[0, i] if given else 1.0
            moved = 0.0
            sq = 0.0
            if how.gain == KAPPA:
                r0, r1, n0, n1, g0, g1 = noted(r0, r1, n0, n1, g0, g1, np.float64(c), np.float64(guess))
            if loses(how.gate, t * f, margin) and a > 0.0:
                if how.gain == HARMONIC:
                    a *= harmonic(s.pull, s.size, s.rest[0], how.memory, c, t > 0, False)
                elif how.gain == KAPPA:
                    lam = 1.0 if guess != c else max(kappa_of_two(r0 + r1, n0, n1, g0, g1), 0.0)
                    a *= poisson(lam, how.draw, how.seed, row[i], 0)
                sq = row_sq(X, i)
                if repeated:
                    a *= times(how.gate, margin, t * f, eta * a * sq, plan.repeat[0, i])
                moved = a
                if a > 0.0:
                    row_axpy(t * eta * a, X, i, w)
                    f += t * eta * a * sq
            if how.gain == HARMONIC:
                observe(s.size, s.rest, how.memory, how.warm, s.t[0], c)
            account(s.pull, s.gii, how.plain, c, t > 0, False, eta * eta * sq, moved)
        if tell:
            plan.post[0, i] = f
    closed(s.right, s.truth, s.guess, r0, r1, n0, n1, g0, g1)


@helper
def best_but(f: Array, own: int) -> int:
    """The first of the best of f, `own` left out."""
    best = 1 if own == 0 else 0
    for u in range(best + 1, f.size):
        if u != own and f[u] > f[best]:
            best = u
    return best


@kernel
def update_many(s: Gradient, how: How, X: Any, y: Array, row: Array, plan: Plan, f: Array) -> None:
    """Show each row to all units: the row's own against the best of the others. f (units,): scratch.

    y (n,): class codes.
    """
    weighted = plan.weight.shape[1] > 0
    repeated = plan.repeat.shape[1] > 0
    tell = plan.post.shape[1] > 0
    given = plan.margin.shape[1] > 0
    for i in range(rows(X)):
        own = -1
        best = 0
        for u in range(f.size):
            f[u] = row_dot(X, i, s.w[u])
            plan.pre[u, i] = f[u]
            if f[u] > f[best]:
                best = u
            if plan.target[u, i] > 0:
                own = u
        if own >= 0:
            rival = best_but(f, own)
            c = y[i]
            s.t[0] += 1.0
            eta = how.eta / np.sqrt(s.t[0]) if how.decreasing else how.eta
            a = plan.weight[own, i] if weighted else 1.0
            margin = plan.margin[0, i] if given else 1.0
            m = f[own] - f[rival]
            if how.gain == KAPPA:
                record(s.right, s.truth, s.guess, c, best)
            if loses(how.gate, m, margin) and a > 0.0:
                if how.gain == HARMONIC:
                    a *= harmonic(s.pull, s.size, s.rest[0], how.memory, c, True, True)
                elif how.gain == KAPPA:
                    lam = 1.0 if best != c else max(kappa(s.right, s.truth, s.guess), 0.0)
                    a *= poisson(lam, how.draw, how.seed, row[i], 0)
                sq = row_sq(X, i)
                for _ in range(plan.repeat[own, i] if repeated else 1):
                    if not loses(how.gate, f[own] - f[rival], margin):
                        break
                    row_axpy(eta * a, X, i, s.w[own])
                    row_axpy(-eta * a, X, i, s.w[rival])
                    f[own] += eta * a * sq
                    f[rival] -= eta * a * sq
                    account(s.pull, s.gii, how.plain, c, True, True, 2.0 * eta * eta * sq, a)
                    rival = best_but(f, own)
            if how.gain == HARMONIC:
                observe(s.size, s.rest, how.memory, how.warm, s.t[0], c)
        if tell:
            for u in range(f.size):
                plan.post[u, i] = f[u]
