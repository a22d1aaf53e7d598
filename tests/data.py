"""Small made-up rows and the shortest way to train on them."""

from __future__ import annotations

import os

import numpy as np

from bigclf.algorithms import registry
from bigclf.block import Csr
from bigclf.core import TILE, Block, Shape
from bigclf.units import new_plan

BINARY = np.array([[-1, 1]], np.int8)

# The eight rows of the least-squares companion: bias, x1, x2; two classes, and three.
EIGHT = np.array(
    [
        [1, 0.1, 0.9],
        [1, 0.4, 0.7],
        [1, 0.2, 0.6],
        [1, 0.8, 0.3],
        [1, 0.9, 0.1],
        [1, 0.5, 0.4],
        [1, 0.7, 0.8],
        [1, 0.3, 0.2],
    ]
)
TWO = np.array([0, 0, 0, 1, 1, 0, 1, 0], np.int32)
THREE = np.array([0, 0, 1, 2, 2, 1, 2, 0], np.int32)

# The ten rows of the imbalance companion, without a bias; 1 is the positive class.
TEN = np.array(
    [
        [-0.5, 1.0],
        [-1.0, -0.5],
        [1.0, 0.5],
        [0.5, -1.0],
        [-0.8, 0.2],
        [0.9, -0.1],
        [-0.3, -0.7],
        [0.2, 0.4],
        [0.8, 0.9],
        [-0.2, 0.6],
    ]
)
SIGNS = np.array([0, 0, 1, 0, 0, 1, 0, 0, 1, 1], np.int32)


def csr(X):
    """The rows as CSR, zeros left out."""
    m = X != 0
    ptr = np.concatenate([[0], m.sum(axis=1).cumsum()]).astype(np.int64)
    return Csr(X[m], np.nonzero(m)[1].astype(np.int32), ptr, X.shape[1])


def made(n, seed, d=7, dtype=np.float32):
    """Rows with the bias in front, a third of them zero, and labels that mostly follow a column."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, d)).astype(dtype)
    X[r.random((n, d)) < 0.3] = 0
    X[:, 0] = 1
    return X, (X[:, 1] + 0.3 * r.standard_normal(n) > 0.5).astype(np.int32)


def train(learner, X, y, cuts=(), code=BINARY, state=None, start=0, finish=True):
    """The learner's state after these rows, cut where told; a learner of tiles gets whole tiles."""
    sparse = isinstance(X, Csr)
    n, cols = len(y), X.cols if sparse else X.shape[1]
    s = learner.init(Shape(len(code), cols, code.shape[1])) if state is None else state
    marks = range(TILE, n, TILE) if learner.tiles else cuts
    ends = sorted({0, n, *marks})
    from bigclf.block import take

    for a, b in zip(ends, ends[1:]):
        block = Block(np.arange(start + a, start + b), take(X, a, b), y[a:b])
        s = learner.update(s, block, new_plan(code, y[a:b]))
    return learner.finish(s) if finish and learner.finish is not None else s


# Every algorithm that stands alone, and of those over a base one of each kind: what they share is code, and the
# contract tests go over more.
EACH_KIND = sorted(
    [name for name, spec in registry.specs().items() if spec.settled is None] + ["hgd", "osmote", "oob", "oabm2"]
)

# One learner of each kind of base, and some that are nested.
COMPOSED = (
    "hgd --base perceptron",
    "hgd --base kernel",
    "oob --base kernel",
    "oadab --base perceptron",
    "osmote --base kernel",
    "csogd-sum1 --base kernel",
    "okb --base perceptron",
    "oob --base hgd",
    "oadab --base oob",
    "osmote --base orusb1",
    "csogd-sum2 --base ouob --base-base kernel",
    "osmote --base oob --base-base kernel",
    "ob --base arow",
    "oadac2 --base pa-1",
    "oob --base logistic",
    "oabm1 --base gnb",
    "oza-boost --base pa-2",
    "oabm2 --base pa-1",
    "bole --base gnb --members 3",
)
# Watched ones; where nothing drifts, they must be nervous to have something to say.
WATCHED = (
    "perceptron --drift ddm --drift-rows 9 --drift-warning 1.0 --drift-level 2.0",
    "ogd --base kernel --drift ddm --on-drift replace --drift-rows 9 --drift-warning 1.0 --drift-level 2.0",
    "arow --drift adwin --on-drift replace --drift-delta 0.9 --drift-warning-delta 1.0",
    "logistic --drift ddm --drift-rows 9 --drift-warning 1.0 --drift-level 2.0",
    "oob --base pa-1 --base-drift ddm --base-on-drift replace --base-drift-rows 5 --base-drift-level 2.5",
    "oob --base ogd --base-base kernel --base-drift ddm --base-drift-rows 9 --base-drift-level 2.0 --members 3",
    "oob --drift adwin",
)


def params_of(words):
    """The options of an algorithm, given as on the command line, as the registry takes them."""
    name, *rest = words.split()
    given = {k.removeprefix("--"): v for k, v in zip(rest[::2], rest[1::2])}
    kinds = {p.name: p.type for p in registry.meant(name, given).params}
    return name, {k.replace("-", "_"): kinds[k](v) for k, v in given.items()}


def learners():
    """Every algorithm by name, and the forms of those that have some."""
    few = {name: {"members": 3} for name in ("oabm1", "oabm2", "oza-boost", "adob", "bole")}  # of trees: seconds
    alike = (
        "our",
        "ohr",
        "csrda3",
        "csrda4",
        "csogd-cost1",
        "csogd-cost2",
        "ob",
        "oub",
        "owub",
        "owob",
        "oadac2",
        "orusb2",
    )
    found = {name: registry.build(name, **few.get(name, {})) for name in registry.specs() if name not in alike}
    for name in ("arow", "cw-var", "cw-stdev", "acog-1", "acog-2"):
        found[f"{name} --cov full"] = registry.build(name, cov="full")
    for words, params in (
        ("fsvc --tuning fixed", {"tuning": "fixed", "sigma": 1.0}),
        ("fsvc --weight-prototypes", {"weight_prototypes": True}),
        ("fsvc-linear --weight-prototypes", {"weight_prototypes": True}),
    ):
        found[words] = registry.build(words.split()[0], **params)
    for name in ("perceptron", "pa", "pa-1", "pa-2"):
        found[f"{name} --average"] = registry.build(name, average=True)
    found["logistic --no-average"] = registry.build("logistic", average=False)
    found["arow --diag drop"] = registry.build("arow", diag="drop")
    for words in COMPOSED + WATCHED:
        name, params = params_of(words)
        found[words] = registry.build(name, **params)
    for scale in ("minmax", "maxabs", "std"):
        spec = registry.get("nr-rls")
        found[f"nr-rls --scale {scale}"] = spec.build(**registry.arguments(spec, {}), scale=scale)
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        # loops over all pairs of rows or of points take hours when interpreted; compositions are one loop ten times
        slow = ("ir-rls", "fsvc-svc", "dkp", "okb", "ocsb2", "oabm2")
        found = {k: v for k, v in found.items() if k in EACH_KIND or "--base" not in k and k.split()[0] in EACH_KIND}
        found = {k: v for k, v in found.items() if k.split()[0] not in slow}
    return found
