"""The Hoeffding tree once more, node by node: Domingos & Hulten, KDD 2000, with a Gaussian a class at the leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Attempt(NamedTuple):
    """What a leaf found when it asked whether to split; feature -1 is not to split."""

    W: float
    hb: float
    best: float
    feature: int
    threshold: float
    second: float
    split: bool


def hoeffding(classes, W, delta=1e-7):
    """How far a mean over W rows may lie from the truth but for a chance of delta: sqrt(R^2 ln(1/delta) / (2 W))."""
    return math.log2(max(2, classes)) * math.sqrt(math.log(1 / delta) / (2 * W))


def entropy(weights):
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def below(z):
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


class Observer:
    """One class of one feature: a weighted mean and spread, and the ends."""

    def __init__(self):
        self.cnt, self.mean, self.M2, self.min, self.max = 0.0, 0.0, 0.0, math.inf, -math.inf

    def add(self, value, w):
        self.cnt += w
        difference = value - self.mean
        self.mean += w / self.cnt * difference
        self.M2 += w * difference * (value - self.mean)
        self.min, self.max = min(self.min, value), max(self.max, value)

    def sd(self):
        return math.sqrt(self.M2 / (self.cnt - 1)) if self.cnt > 1 and self.M2 > 0 else 0.0

    def log_density(self, value, unseen):
        if self.cnt == 0:
            return unseen
        sd = self.sd()
        if sd == 0:
            return 0.0 if value == self.mean else -math.inf
        return -0.5 * ((value - self.mean) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)

    def left(self, thr):
        """The weight thought to lie at or below `thr`."""
        if thr >= self.max:
            return self.cnt
        if thr < self.min:
            return 0.0
        sd = self.sd()
        if sd == 0:  # weights that sum to 1 or less have no spread, whatever their ends
            return self.cnt if thr >= self.mean else 0.0
        return self.cnt * below((thr - self.mean) / sd)


@dataclass
class Leaf:
    dist: np.ndarray  # (K,)
    seen: list | None  # d rows of K observers; None once the leaf is given up
    since: float = 0.0  # weight since the last attempt; W - last would hang on the last bit of W
    mc: float = 0.0
    nb: float = 0.0


@dataclass
class Branch:
    feature: int
    threshold: float
    left: Leaf | Branch
    right: Leaf | Branch


@dataclass
class Vfdt:
    """train(x (d,), y, w), votes(x) -> (K,); x may hold NaN.

    A class without observations of a feature counts 0 for it, and votes that are all 0 give way to dist. Two readings:
    printed: 0 is a logarithm, and nb is judged by the bare votes (gives the printed hits of the 2,000 rows, 1,850)
    text: 0 is a density, and nb is judged by the votes with dist in their place (1,853 hits)
    The splits are the same. moa: as the MOA program has it: densities are multiplied without logarithms, a leaf whose
    votes are all 0 has no answer, so that the first class stands, and an empty leaf has no most frequent class.
    """

    classes: int
    d: int
    grace: float = 200
    delta: float = 1e-7
    tau: float = 0.05
    candidates: int = 10
    leaf: str = "nba"
    max_nodes: int = 4096
    branch_fraction: float = 0.01
    reading: str = "printed"
    nodes: int = 1
    trace: list = field(default_factory=list)

    def __post_init__(self):
        self.root = self.fresh(np.zeros(self.classes))

    def fresh(self, dist):
        return Leaf(dist, [[Observer() for _ in range(self.classes)] for _ in range(self.d)])

    def find(self, x):
        """(leaf, its parent or None, whether it is the left one)."""
        node, parent, side = self.root, None, False
        while isinstance(node, Branch):
            parent, side = node, bool(x[node.feature] <= node.threshold)  # NaN goes right
            node = parent.left if side else parent.right
        return node, parent, side

    def leaves(self, node=None):
        """From the left."""
        node = node or self.root
        return [node] if isinstance(node, Leaf) else self.leaves(node.left) + self.leaves(node.right)

    def bayes(self, leaf, x):
        """dist_c / W times the densities, up to a factor; all 0 where no class has any."""
        if self.reading == "moa":
            return self.products(leaf, x)
        W, unseen = leaf.dist.sum(), 0.0 if self.reading == "printed" else -math.inf
        logs = [
            math.log(leaf.dist[c] / W)
            + sum(leaf.seen[j][c].log_density(x[j], unseen) for j in range(self.d) if x[j] == x[j])
            if leaf.dist[c] > 0
            else -math.inf
            for c in range(self.classes)
        ]
        top = max(logs)
        return np.zeros(self.classes) if top == -math.inf else np.array([math.exp(v - top) for v in logs])

    def products(self, leaf, x):
        votes = leaf.dist / leaf.dist.sum() if leaf.dist.any() else np.zeros(self.classes)
        for of_j, value in zip(leaf.seen, x):
            if any(o.cnt for o in of_j):
                votes = votes * [math.exp(o.log_density(value, -math.inf)) for o in of_j]
        return votes

    def bayes_or_dist(self, leaf, x):
        votes = np.zeros(self.classes) if leaf.seen is None else self.bayes(leaf, x)
        return votes if votes.any() or (self.reading == "moa" and leaf.seen) else leaf.dist.copy()

    def votes(self, x):
        leaf = self.find(x)[0]
        if self.leaf == "mc" or (self.leaf == "nba" and leaf.mc > leaf.nb):
            return leaf.dist.copy()
        return self.bayes_or_dist(leaf, x)

    def train(self, x, y, w):
        leaf, parent, side = self.find(x)
        if leaf.seen is not None:
            named = self.reading != "moa" or leaf.dist.any()
            leaf.mc += w * (named and np.argmax(leaf.dist) == y)
            if self.leaf == "nba":
                judged = self.bayes if self.reading != "text" else self.bayes_or_dist
                leaf.nb += w * (np.argmax(judged(leaf, x)) == y)
        leaf.dist[y] += w
        if leaf.seen is None:
            return
        for j in range(self.d):
            if x[j] == x[j]:
                leaf.seen[j][y].add(float(x[j]), w)
        leaf.since += w
        if leaf.since >= self.grace:
            leaf.since = 0.0
            if (leaf.dist > 0).sum() > 1:
                self.try_split(leaf, float(leaf.dist.sum()), parent, side)

    def sides(self, leaf, j, thr):
        left = np.array([o.left(thr) for o in leaf.seen[j]])
        return left, np.array([o.cnt for o in leaf.seen[j]]) - left

    def merit(self, leaf, j, thr):
        left, right = self.sides(leaf, j, thr)
        total = left.sum() + right.sum()
        if min(left.sum(), right.sum()) <= self.branch_fraction * total:
            return -math.inf
        return entropy(leaf.dist) - sum(s.sum() / total * entropy(s) for s in (left, right))

    def thresholds(self, leaf, j):
        lo, hi = min(o.min for o in leaf.seen[j]), max(o.max for o in leaf.seen[j])
        if lo >= hi:
            return []
        steps = [lo + (hi - lo) * i / (self.candidates + 1) for i in range(1, self.candidates + 1)]
        return [thr for thr in steps if lo < thr < hi]

    def try_split(self, leaf, W, parent, side):
        found = [(0.0, -1, math.nan)]  # not to split; of equals it comes first, then the lowest feature and threshold
        for j in range(self.d):
            of_j = [(self.merit(leaf, j, thr), j, thr) for thr in self.thresholds(leaf, j)]
            found += [max(of_j, key=lambda c: c[0])] if of_j else []
        found.sort(key=lambda c: -c[0])
        (best, j, thr), second = found[0], found[1][0] if len(found) > 1 else -math.inf
        hb = hoeffding(self.classes, W, self.delta)
        split = best - second > hb or hb < self.tau
        full = j >= 0 and self.nodes + 2 > self.max_nodes
        self.trace.append(Attempt(W, hb, best, j, thr, second, split and j >= 0 and not full))
        if not split or full:
            return
        if j < 0:
            leaf.seen = None
            return
        left, right = self.sides(leaf, j, thr)
        branch = Branch(j, thr, self.fresh(left), self.fresh(right))
        self.nodes += 2
        if parent is None:
            self.root = branch
        elif side:
            parent.left = branch
        else:
            parent.right = branch
