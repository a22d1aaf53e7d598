"""The 28 methods for imbalanced streams once more: row by row, member by member, no kernels, no tricks.

    run(method, base, X, y, ...) -> Result

X is (n, d), y holds class codes 0..C-1; with C = 2 code 1 is the positive class (+1) and code 0 is -1.
Bases: perceptron, svm (hinge), kernel (Gaussian of width g, unit steps on the rows that moved a member).
The parts stand in `naive_imbalance_parts.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import naive_imbalance_parts as parts
import numpy as np

BASES = ("perceptron", "svm", "kernel")
SINGLE = ["ogd", "osmote", "oor", "our", "ohr", "csrda1", "csrda2", "csrda3", "csrda4"]
SINGLE += ["csogd-cost1", "csogd-cost2", "csogd-sum1", "csogd-sum2", "hgd"]
BAGS = ["ob", "okb", "oub", "owub", "oob", "owob", "ouob", "oeb"]
CHAINS = ["oadab", "oadac2", "ocsb2", "orusb1", "orusb2", "orusb3"]
METHODS = (*SINGLE, *BAGS, *CHAINS)


def refused(method, base):
    """Cells without meaning: margins of a loss that has none, dual averaging of a kernel model."""
    if base == "perceptron":
        return method in ("csrda1", "csogd-cost1", "csogd-sum1")
    return base == "kernel" and method.startswith("csrda")


class Deterministic:
    """The sampler of the worked numbers. t: row, m: member, j: neighbour, all from 0."""

    def poisson(self, lam, t, m):
        return math.floor(lam + 0.5)

    def uniform(self, t, j):
        return 0.5


@dataclass
class Result:
    """What a run leaves. R = 1 row of weights for two classes, C for more; the axis is dropped when R = 1."""

    scores: np.ndarray  # (n,) or (n, C) before each row: raw for one learner, the vote for an ensemble
    labels: np.ndarray  # (n,) codes said before each row
    f: np.ndarray  # (n, M) or (n, M, C): raw scores of the members before each row
    W: np.ndarray | None  # (M, d) or (M, C, d); None for a kernel
    coefficients: np.ndarray | None  # (M, S) or (M, C, S)
    points: np.ndarray | None  # (S, d)
    votes: np.ndarray  # (M,) at the end
    trace: dict = field(default_factory=dict)  # lists with one entry per row
    say: object = None  # x -> (score, label) of the final model

    def score(self, x):
        return self.say(np.asarray(x, dtype=float))


# What a label asks of the scores of one member


class Binary:
    """One row of weights; margin y f, and the step goes towards y."""

    rows, moving = 1, 1

    def margin(self, f, y):
        return f[0] if y == 1 else -f[0]

    def direction(self, f, y):
        return np.array([1.0 if y == 1 else -1.0])

    def label(self, f):
        return int(f[0] >= 0)

    def vote(self, f, v):
        return parts.signed_vote(f[:, 0], v)

    def mean(self, f, v):
        s = parts.mean_score(f[:, 0], v)
        return s, int(s >= 0)


class Multiclass:
    """One row per class; margin f_y - f_r against the best other class r; the step moves y up and r down."""

    moving = 2

    def __init__(self, classes):
        self.rows = classes

    def rival(self, f, y):
        others = [c for c in range(self.rows) if c != y]
        return max(others, key=lambda c: f[c])  # the lowest code of equals

    def margin(self, f, y):
        return f[y] - f[self.rival(f, y)]

    def direction(self, f, y):
        step = np.zeros(self.rows)
        step[y], step[self.rival(f, y)] = 1.0, -1.0
        return step

    def label(self, f):
        return int(np.argmax(f))

    def vote(self, f, v):
        return parts.class_vote(f, v)

    def mean(self, f, v):
        s = parts.mean_score(f, v)
        return s, int(np.argmax(s))


# A. Learners: scores (M, R) of a row, and a step with coefficients (M, R)


class Linear:
    def __init__(self, members, rows, d):
        self.W = np.zeros((members, rows, d))

    def scores(self, x):
        return self.W @ x

    def square(self, x):
        return x @ x

    def add(self, x, c):
        self.W = self.W + c[:, :, None] * x

    def end_of_row(self):
        """Only dual averaging counts rows."""


class Kernel(Linear):
    """sum_i c_i exp(-g |x_i - x|^2) over the rows that moved some member."""

    def __init__(self, members, rows, d, g=1.0):
        self.points, self.steps = np.zeros((0, d)), np.zeros((members, rows, 0))
        self.g = g

    def scores(self, x):
        values = np.array([math.exp(-self.g * ((p - x) @ (p - x))) for p in self.points])
        return self.steps @ values

    def square(self, x):
        return 1.0

    def add(self, x, c):
        if np.any(c != 0):
            self.points = np.vstack([self.points, x])
            self.steps = np.concatenate([self.steps, c[:, :, None]], axis=2)


class DualAveraging(Linear):
    """Xiao 2010: the weights are a function of the sum S of subgradients and of the number of rows."""

    def __init__(self, members, rows, d, lam=0.1, gamma=1e-3, l1_on="sum", constant=None):
        super().__init__(members, rows, d)
        self.S, self.t = np.zeros_like(self.W), 0
        self.lam, self.gamma, self.l1_on, self.constant = lam, gamma, l1_on, constant

    def add(self, x, c):
        self.S = self.S - c[:, :, None] * x

    def end_of_row(self):
        self.t += 1
        threshold = self.lam if self.l1_on == "sum" else self.lam * self.t
        soft = np.sign(self.S) * np.maximum(np.abs(self.S) - threshold, 0)
        self.W = -self.constant * soft if self.constant is not None else -soft / (self.gamma * math.sqrt(self.t))


def passes(gate, margin, asked):
    return margin <= 0 if gate == "perceptron" else margin < asked


def shown(problem, gate, f, y, step, k, asked, q, apply):
    """Coefficients (R,) and scores (R,) after a sample is shown k times: one step of size k, or k steps one by one."""
    c = np.zeros(len(f))
    times, size = (1, step * k) if apply == "weight" else (k, step)
    for _ in range(times):
        if passes(gate, problem.margin(f, y), asked):
            move = size * problem.direction(f, y)
            c, f = c + move, f + move * q
    return c, f


def effective(gate, margin, step, k, asked, q):
    """How many of k repeats move a two-class member, in closed form; step = eta a."""
    if k == 0 or not passes(gate, margin, asked):
        return 0
    if q == 0:
        return k
    if gate == "perceptron":
        return min(k, math.floor(-margin / (step * q)) + 1)
    return min(k, math.ceil((asked - margin) / (step * q)))


def recipe(method, classes, members, params):
    """(weight, rate, chain, augment) of a method; `params` loses what it used."""

    def take(*names):
        return {name: params.pop(name) for name in names if name in params}

    weight, rate, chain, augment = parts.One(), parts.exactly_once, None, None
    if method == "hgd":
        weight = parts.Harmonic(classes)
    elif method.startswith("csogd"):
        ratio = (
            parts.CostRatio(**take("c_plus", "c_minus", "costs"))
            if "cost" in method
            else parts.SumRatio(**take("n_plus", "n_minus", "shares", "ir"))
        )
        weight = parts.Margin(ratio) if method.endswith("1") else parts.Slope(ratio)
    elif method.startswith("csrda"):
        ratio = parts.WindowRatio(**take("mu_plus", "mu_minus"), down=method == "csrda4")
        weight = parts.Margin(ratio) if method == "csrda1" else parts.Slope(ratio)
    elif method == "osmote":
        augment = parts.Smote(classes, **take("K", "buffer"))
    elif method in ("oor", "our", "ohr"):
        share = {"oor": 1.0, "our": 0.0, "ohr": params.pop("hybrid_share", 0.5)}[method]
        rate = parts.Resample(share, **take("ir"))
    elif method in ("ob", "okb"):
        rate = parts.plain
    elif method in BAGS:
        rate = getattr(parts, method)
    elif method == "oadab":
        chain = parts.Chain(members, classes)
    elif method in ("oadac2", "ocsb2"):
        kind = parts.AdaC2 if method == "oadac2" else parts.CSB2
        chain = kind(members, classes, **take("c_plus", "c_minus", "costs"))
    elif method.startswith("orusb"):
        chain = parts.RUSB(members, classes, kind=int(method[-1]), **take("R", "ir"))
    return weight, rate, chain, augment


def build_learner(method, base, members, rows, d, eta, params):
    """(learner, size of its step). Dual averaging sums plain subgradients, so its step is 1."""
    if base == "kernel":
        return Kernel(members, rows, d, params.pop("g", 1.0)), eta
    if method.startswith("csrda"):
        chosen = {name: params.pop(name) for name in ("lam", "gamma", "l1_on") if name in params}
        return DualAveraging(members, rows, d, **chosen, constant=eta if method == "csrda3" else None), 1.0
    return Linear(members, rows, d), eta


def run(method, base, X, y, *, eta=0.3, members=None, classes=2, draws=None, apply="weight", **params) -> Result:
    """Score each row, then learn it. `params` are those of the method; a name it does not know is an error."""
    if method not in METHODS or base not in BASES or refused(method, base):
        raise ValueError(f"no {method} on {base}")
    if classes > 2 and "ir" in params:
        raise ValueError("a known ratio is one of two classes")
    X, draws = np.asarray(X, dtype=float), draws or Deterministic()
    M = 1 if method in SINGLE else members or 10
    problem = Binary() if classes == 2 else Multiclass(classes)
    gate = "perceptron" if base == "perceptron" else "hinge"
    learner, step = build_learner(method, base, M, problem.rows, X.shape[1], eta, params)
    weight, rate, chain, augment = recipe(method, classes, M, params)
    grad_norm, combine = params.pop("grad_norm", "squared"), params.pop("combine", "vote")
    schedule = "constant" if method.startswith("csrda") else params.pop("eta_schedule", "constant")
    stats = parts.Stats(
        classes, **{n: params.pop(n) for n in ("theta", "window", "smoothing", "warmup") if n in params}
    )
    if params:
        raise TypeError(f"{method} has no {sorted(params)}")
    confusion = parts.Confusion(M, classes)

    def votes():
        if chain is not None:
            return np.array([chain.vote(m) for m in range(M)])
        if method == "okb":
            return np.array([max(confusion.kappa(m), 0.0) for m in range(M)])
        if method == "oeb":
            return np.array([np.prod(confusion.recalls(m)) ** (1 / classes) for m in range(M)])
        return np.ones(M)

    def say(x):
        f = learner.scores(x)
        if M == 1 and method in SINGLE:
            return (f[0, 0] if classes == 2 else f[0]), problem.label(f[0])
        return problem.vote(f, votes()) if combine == "vote" else problem.mean(f, votes())

    names = ["alpha", "asked", "moved", "rate", "k", "lam", "N", "n", "w", "odds", "A", "support", "synthetic"]
    trace = {name: [] for name in names}
    all_f, scores, labels = [], [], []

    for t, (x, c) in enumerate(zip(X, y)):
        f = learner.scores(x)
        q = learner.square(x)
        slower = 1 / math.sqrt(t + 1) if schedule == "sqrt" else 1.0
        score, label = say(x)
        all_f.append(f)
        scores.append(score)
        labels.append(label)

        stats.before(c)
        said = [problem.label(f[m]) for m in range(M)]
        confusion.add(c, said)
        coefficients = np.zeros((M, problem.rows))
        row = {name: [] for name in ("alpha", "asked", "moved", "rate", "k", "lam")}
        lam = 1.0
        for m in range(M):
            a, asked = weight(c, stats)
            if chain is not None:
                lam_m, once = chain.rate(c, m, lam, stats), False
            elif method == "okb":
                lam_m, once = parts.okb_rate(confusion.kappa(m), said[m] != c), False
            else:
                lam_m, once = rate(c, m, M, stats)
            lam_m = min(lam_m, parts.CAP)
            k = 1 if once else draws.poisson(lam_m, t, m)
            coefficients[m], after = shown(problem, gate, f[m], c, step * slower * a, k, asked, q, apply)
            moved = k > 0 and passes(gate, problem.margin(f[m], c), asked)
            for name, value in zip(row, (a, asked, moved, lam_m, k, lam)):
                row[name].append(value)
            if moved:
                norm = problem.moving * (eta * slower) ** 2 * q
                weight.moved(c, norm if grad_norm == "squared" else math.sqrt(norm))
            if chain is not None:
                lam = chain.after(c, problem.label(after) == c, m, lam)
        if np.any(coefficients != 0):
            trace["support"].append(t)
        learner.add(x, coefficients)

        synthetic = [] if augment is None else augment.points(x, c, stats.N, lambda j, t=t: draws.uniform(t, j))
        for z in synthetic:
            f_z = learner.scores(z)
            c_z, _ = shown(problem, gate, f_z[0], c, step * slower, 1, 1.0, learner.square(z), apply)
            trace["synthetic"].append((t, z, f_z[0]))
            learner.add(z, c_z[None])
        if augment is not None:
            augment.push(x, c)

        for name, value in row.items():
            trace[name].append(value)
        trace["N"].append(stats.N)
        trace["n"].append(stats.n)
        trace["w"].append(stats.w)
        trace["odds"].append(parts.odds(stats.sizes()))
        trace["A"].append(getattr(weight, "A", np.zeros(classes)).copy())
        learner.end_of_row()
        stats.after(c)

    def drop(array):
        """(., R, .) without R when there is one row of weights."""
        return None if array is None else array[:, 0] if classes == 2 else array

    f = np.array(all_f)
    return Result(
        scores=np.array(scores),
        labels=np.array(labels),
        f=f[:, :, 0] if classes == 2 else f,
        W=drop(getattr(learner, "W", None)),
        coefficients=drop(getattr(learner, "steps", None)),
        points=getattr(learner, "points", None),
        votes=votes(),
        trace=trace,
        say=say,
    )
