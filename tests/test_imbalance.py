"""The methods for imbalanced streams against their transcription, on every base that has sense."""

from __future__ import annotations

import naive_imbalance as naive
import numpy as np
import pytest
from data import BINARY

from bigclf import state as states
from bigclf.algorithms import registry
from bigclf.algorithms.bagging import seeds
from bigclf.core import Block, Shape
from bigclf.kernels.chance import POISSON, poisson, uniform
from bigclf.units import code_matrix, decode, new_plan

CELLS = [(m, b) for m in naive.METHODS for b in naive.BASES if not naive.refused(m, b)]
RANDOM = [m for m in naive.METHODS if any(p.name == "draw" for p in registry.get(m).params)]
OURS = {
    "K": "neighbours",
    "g": "gamma",
    "lam": "l1",
    "smoothing": "rho_smoothing",
    "R": "ratio",
    "n_plus": "n_positive",
}
OURS |= {"n_minus": "n_negative", "c_plus": "cost_positive", "c_minus": "cost_negative", "mu_plus": "mu_positive"}
OURS |= {"mu_minus": "mu_negative"}


class Drawn:
    """The draws of the compiled loops, for the transcription."""

    def __init__(self, seed):
        self.seed = seed

    def poisson(self, lam, t, m):
        return int(poisson(float(lam), POISSON, self.seed, t, m))

    def uniform(self, t, j):
        return float(uniform(self.seed, t, j))


class DrawnInside(Drawn):
    """The draws of members that draw themselves."""

    def __init__(self, seed, members):
        self.seeds = seeds({"seed": seed, "members": members})

    def poisson(self, lam, t, m):
        return int(poisson(float(lam), POISSON, self.seeds[m], t, 0))


def stream(n, seed, classes=2, d=5):
    """Rows whose classes overlap, the later ones rare."""
    r = np.random.default_rng(seed)
    y = np.minimum(r.geometric(0.7 if classes == 2 else 0.55, n) - 1, classes - 1).astype(np.int32)
    X = r.standard_normal((n, d)) + np.eye(max(classes, d))[y][:, :d]
    return X / np.linalg.norm(X, axis=1)[:, None], y


def built(method, base, **params):
    given = {OURS.get(k, k): v for k, v in params.items()}
    if base == "kernel" or "g" in params:
        given.setdefault("gamma", params.get("g", 1.0))
    if method in naive.BAGS + naive.CHAINS:
        given.setdefault("members", 4)
    return registry.build(method, base=base, **given)


def draws(method, seed=1):
    """Those of a method with this seed."""
    if method not in RANDOM:
        return None
    return DrawnInside(seed, 4) if method == "okb" else Drawn(seed)


def learned(learner, X, y, classes=2):
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    plan = new_plan(code, y)
    s = learner.update(learner.init(Shape(len(code), X.shape[1], classes)), Block(np.arange(len(y)), X, y), plan)
    return s, plan.pre, decode(code, plan.pre)


def agree(learner, X, y, want, classes=2):
    """Scores before each row, answers, and scores of the final model on other rows."""
    s, pre, said = learned(learner, X, y, classes)
    scores = want.scores[None] if classes == 2 else want.scores.T
    ensemble = want.f.shape[1] > 1
    tie = {"rtol": 0, "atol": 2e-6} if ensemble else {"rtol": 1e-9, "atol": 1e-11}
    if ensemble and classes > 2:
        scores = 2 * scores - 1  # a share of the votes, from -1 to 1
    np.testing.assert_allclose(pre, scores, **tie)
    np.testing.assert_array_equal(said, want.labels)
    for path, array in states.flatten(s).items():
        if ensemble and want.W is not None and path.endswith("/w"):
            m = int(path.split("/")[-2]) if path.split("/")[-2].isdigit() else 0
            np.testing.assert_allclose(array, np.atleast_2d(want.W[m]), rtol=1e-9, atol=1e-11)
    Z, _ = stream(20, 99, classes)
    got = learner.decision(s, Z)
    told = [want.score(z) for z in Z]
    final = np.array([t[0] for t in told]).T.reshape(got.shape)
    np.testing.assert_allclose(got, 2 * final - 1 if ensemble and classes > 2 else final, **tie)
    code = BINARY if classes == 2 else code_matrix([str(c) for c in range(classes)])
    np.testing.assert_array_equal(decode(code, got), [t[1] for t in told])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("method", "base"), CELLS)
def test_every_cell_is_its_transcription(method, base, classes):
    X, y = stream(150, 3, classes)
    want = naive.run(method, base, X, y, classes=classes, members=4, draws=draws(method))
    agree(built(method, base), X, y, want, classes)
