"""On-line boosting once more: row by row, member by member, no kernels, no tricks.

    run(method, make_base, X, y, classes=K, ...) -> Result

X is (n, d), with the bias in front for linear bases; y holds codes 0..K-1. `make_base()` gives a fresh base learner
with `train(x, y, w)` and `votes(x)` -> (K,) numbers >= 0; one that also has `soft(x)` is asked that by oabm2.
The tree stands in `naive_hoeffding.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from naive_hoeffding import Vfdt, hoeffding

__all__ = ["METHODS", "Arow", "Gnb", "Pa1", "Perceptron", "Result", "Vfdt", "hoeffding", "norm", "run"]


def norm(votes):
    """Votes that sum to 1; 1/K each where there are none."""
    total = votes.sum()
    return votes / total if total > 0 else np.full(len(votes), 1 / len(votes))


def one_hot(k, K):
    votes = np.zeros(K)
    votes[k] = 1
    return votes


# Base learners


class Gnb:
    """Gaussian naive Bayes by weighted moments. State n (K,), mean (K, d), M2 (K, d)."""

    def __init__(self, classes, d, floor=1e-3):
        self.n, self.mean, self.M2 = np.zeros(classes), np.zeros((classes, d)), np.zeros((classes, d))
        self.floor = floor

    def train(self, x, y, w):
        self.n[y] += w
        old = x - self.mean[y]
        self.mean[y] = self.mean[y] + w / self.n[y] * old
        self.M2[y] = self.M2[y] + w * old * (x - self.mean[y])

    def votes(self, x):
        out, known = np.zeros(len(self.n)), np.flatnonzero(self.n > 0)
        if len(known) == 0:
            return out
        n = self.n[known]
        v = self.M2[known] / n[:, None] + self.floor
        logs = np.log(n / n.sum()) - 0.5 * (np.log(2 * np.pi * v) + (x - self.mean[known]) ** 2 / v).sum(axis=1)
        out[known] = norm(np.exp(logs - logs.max()))
        return out

    def merged(self, other):
        """The learner of both streams."""
        both = Gnb(*self.mean.shape, self.floor)
        for c in range(len(self.n)):
            n1, n2 = self.n[c], other.n[c]
            if n1 + n2 == 0:
                continue
            apart = other.mean[c] - self.mean[c]
            both.n[c] = n1 + n2
            both.mean[c] = self.mean[c] + apart * n2 / (n1 + n2)
            both.M2[c] = self.M2[c] + other.M2[c] + apart**2 * n1 * n2 / (n1 + n2)
        return both


class Linear:
    """One weight vector a class, each against all others; W (K, d)."""

    def __init__(self, classes, d):
        self.W = np.zeros((classes, d))

    def train(self, x, y, w):
        for c in range(len(self.W)):
            self.step(c, x, 1.0 if c == y else -1.0, w)

    def votes(self, x):
        return one_hot(int(np.argmax(self.W @ x)), len(self.W))

    def soft(self, x):
        return norm(np.clip((1 + self.W @ x) / 2, 0, 1))


class Perceptron(Linear):
    """The weight multiplies the step."""

    def step(self, c, x, t, w):
        if t * (self.W[c] @ x) <= 0:
            self.W[c] = self.W[c] + w * t * x


class Pa1(Linear):
    """The weight multiplies the cap."""

    def __init__(self, classes, d, C=1.0):
        super().__init__(classes, d)
        self.C = C

    def step(self, c, x, t, w):
        loss = 1 - t * (self.W[c] @ x)
        if loss > 0 and x @ x > 0:
            self.W[c] = self.W[c] + min(self.C * w, loss / (x @ x)) * t * x


class Arow(Linear):
    """Diagonal covariance, inverse variances add up; the weight divides the noise r."""

    def __init__(self, classes, d, r=1.0):
        super().__init__(classes, d)
        self.S, self.r = np.ones((classes, d)), r

    def step(self, c, x, t, w):
        m, S, r = t * (self.W[c] @ x), self.S[c], self.r / w
        if m < 1:
            self.W[c] = self.W[c] + (1 - m) / (x @ (S * x) + r) * t * S * x
            self.S[c] = 1 / (1 / S + x * x / r)


# Methods


@dataclass
class Result:
    """What a run leaves. T members, K classes."""

    votes: np.ndarray  # (n, K) of the ensemble before each row; all 0 where no member may vote
    labels: np.ndarray  # (n,) said before each row
    xi_c: np.ndarray  # (T,) weight met right, or plausible, at the end
    xi_w: np.ndarray  # (T,) weight met wrong, or implausible
    alpha: np.ndarray  # (T,) vote weights; 0 for a member that may not vote
    lam: np.ndarray  # (n, T) importance of a row as it enters each member, in the order of members; oabm2: summed
    lam_labels: np.ndarray | None  # (n, T, K) the same a wrong label, of oabm2 alone
    bases: list
    say: object  # x -> (votes (K,), label) of the final model
    bound: float  # on the training error, from the theorem of the method


class Ensemble:
    """What the methods share: how a row travels, and how members vote."""

    def __init__(
        self, make_base, K, T, draws, draw=None, test_first=False, on_weak="skip", eps_min=1e-6, eps_smooth=False
    ):
        draw = draw or ("weight" if draws is None else "poisson")
        assert draw == "weight" or draws is not None
        assert on_weak in ("skip", "reset", "break")
        self.make_base, self.K, self.T, self.draws = make_base, K, T, draws if draw == "poisson" else None
        self.test_first, self.on_weak, self.eps_min, self.eps_smooth = test_first, on_weak, eps_min, eps_smooth
        self.bases = [make_base() for _ in range(T)]
        self.xi_c, self.xi_w, self.stream, self.t = np.zeros(T), np.zeros(T), np.zeros(K), 0
        self.shift = 0.0

    # training

    def train(self, x, y, s, known):
        """Learn the row; (T,) the importances that entered, and what the method keeps of them a label."""
        self.stream[y] += s
        self.known = known
        entered, labels = np.zeros(self.T), np.zeros((self.T, self.K))
        lam, queue, ok = self.start(y, s), self.queue(), False
        for _ in range(self.T):
            m = self.next(queue, ok)
            entered[m], labels[m] = self.total(lam, s), lam
            if self.test_first:
                answer = self.test(m, x, y)
                self.teach(m, x, y, entered[m])
            else:
                self.teach(m, x, y, entered[m])
                answer = self.test(m, x, y)
            if np.any(lam > 0):
                lam, ok = self.book(m, lam, answer)
            if self.on_weak == "reset" and self.weak(m):
                self.forget(m)
        self.t += 1
        return entered, labels

    def teach(self, m, x, y, lam):
        w = lam if self.draws is None else self.draws.poisson(lam, self.t, m)
        if w > 0:
            self.bases[m].train(x, y, w)

    def forget(self, m):
        self.bases[m], self.xi_c[m], self.xi_w[m] = self.make_base(), 0.0, 0.0

    def start(self, y, s):
        return s

    def total(self, lam, s):
        return lam

    def queue(self):
        return list(range(self.T))

    def next(self, queue, ok):
        return queue.pop(0)

    def test(self, m, x, y):
        return np.argmax(self.bases[m].votes(x)) == y

    # voting

    def weak(self, m):
        """eps > 1/2, without a division."""
        return self.xi_w[m] > self.xi_c[m]

    def seen(self, m):
        return self.xi_c[m] + self.xi_w[m]

    def clip(self, eps):
        return min(max(eps, self.eps_min), 1 - self.eps_min)

    def log_odds(self, m):
        if self.seen(m) == 0:
            return 0.0
        eps = self.xi_w[m] / self.seen(m)
        if self.eps_smooth:
            eps = (self.xi_w[m] + 0.5) / (self.seen(m) + 1)
        e = self.clip(eps)
        return max(0.0, math.log((1 - e) / e))

    def admits(self, m):
        return self.seen(m) > 0

    def ends(self, m):
        """This member and all later ones are not asked."""
        return self.on_weak == "break" and self.weak(m)

    def alpha(self):
        out = np.zeros(self.T)
        for m in range(self.T):
            if self.ends(m):
                break
            if self.admits(m):
                out[m] = self.log_odds(m) + self.shift
        return out

    def vote_of(self, m, x):
        return norm(self.bases[m].votes(x))

    def say(self, x):
        alpha = self.alpha()
        votes = sum((a * self.vote_of(m, x) for m, a in enumerate(alpha) if a > 0), np.zeros(self.K))
        return votes, int(np.argmax(votes)) if votes.any() else self.without_vote(x)

    def without_vote(self, x):
        """Most members, and where none knows anything most rows."""
        said = np.zeros(self.K)
        for h in self.bases:
            votes = h.votes(x)
            if votes.any():
                said[np.argmax(votes)] += 1
        return int(np.argmax(said if said.any() else self.stream))

    def bound(self):
        eps = [self.xi_w[m] / self.seen(m) if self.seen(m) else 0.5 for m in range(self.T)]
        return math.prod(2 * math.sqrt(e * (1 - e)) for e in eps)


class Oabm1(Ensemble):
    """AdaBoost.M1: after each member half of its weight lies on rows it has right."""

    def book(self, m, lam, ok):
        (self.xi_c if ok else self.xi_w)[m] += lam
        return lam * self.seen(m) / (2 * (self.xi_c if ok else self.xi_w)[m]), ok

    def vote_of(self, m, x):
        return one_hot(int(np.argmax(self.bases[m].votes(x))), self.K)


class Oabm2(Ensemble):
    """AdaBoost.M2: a weight for each wrong label, and members judged by how plausible they find each."""

    def __init__(self, *args, z="chord", per_label=False, weight_shift=0.0, error_bound=0.5, **options):
        super().__init__(*args, **options)
        assert z in ("chord", "running")
        self.z, self.per_label, self.shift, self.error_bound = z, per_label, weight_shift, error_bound
        self.sig = np.zeros(self.T)

    def start(self, y, s):
        lam = np.zeros(self.K)
        if self.known > 1:
            lam[[j for j in range(self.known) if j != y]] = s / (self.known - 1)
        return lam

    def total(self, lam, s):
        return lam.sum() if self.known > 1 else s

    def plausible(self, m, x, known):
        """(K,) of a member over the labels known so far."""
        h = self.bases[m]
        votes = getattr(h, "soft", h.votes)(x)
        return np.append(norm(votes[:known]), np.zeros(self.K - known))

    def test(self, m, x, y):
        p = self.plausible(m, x, self.known)
        return (1 + p[y] - p) / 2  # the entry of y itself has no weight

    def book(self, m, lam, right):
        after = np.zeros(self.K)
        wrong_labels = list(np.flatnonzero(lam > 0))
        for part in [[j] for j in wrong_labels] if self.per_label else [wrong_labels]:
            after[part] = self.book_labels(m, lam[part], right[part])
        return after, False

    def book_labels(self, m, lam, right):
        self.xi_c[m] += lam @ right
        self.xi_w[m] += lam @ (1 - right)
        eps = self.clip(self.xi_w[m] / self.seen(m))
        shrunk = lam * (eps / (1 - eps)) ** right
        self.sig[m] += shrunk.sum()
        return shrunk / (2 * eps if self.z == "chord" else self.sig[m] / self.seen(m))

    def forget(self, m):
        super().forget(m)
        self.sig[m] = 0.0

    def admits(self, m):
        return self.seen(m) > 0 and self.xi_w[m] / self.seen(m) <= self.error_bound

    def vote_of(self, m, x):
        return self.plausible(m, x, self.K)

    def bound(self):
        return (self.K - 1) * super().bound()


class OzaBoost(Ensemble):
    """Oza & Russell 2001: as Oabm1, with the weight of all rows for what a member has seen."""

    def __init__(self, *args, moa_compat=False, **options):
        super().__init__(*args, **options)
        self.moa_compat = moa_compat

    def book(self, m, lam, ok):
        side = self.xi_c if ok else self.xi_w
        side[m] += lam
        return lam * self.stream.sum() / (2 * side[m]), ok

    def ends(self, m):
        return (self.moa_compat and (self.xi_w[m] == 0 or self.weak(m))) or super().ends(m)


class Adob(OzaBoost):
    """Santos et al. 2014: the worst member first; after a success the best of the rest, after a failure the worst."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.ord = list(range(self.T))

    def queue(self):
        accuracy = [self.xi_c[m] / self.seen(m) if self.seen(m) else 0.0 for m in range(self.T)]
        self.ord.sort(key=lambda m: -accuracy[m])  # stable, on the order of the row before
        return list(self.ord)

    def next(self, queue, ok):
        return queue.pop(0 if ok else -1)


class Bole(Adob):
    """Barros et al. 2016: the training of adob, and members that vote if they have been right and wrong."""

    def __init__(self, *args, break_votes=False, error_bound=0.5, shift=0.0, **options):
        super().__init__(*args, **options)
        self.break_votes, self.error_bound, self.shift = break_votes, error_bound, shift

    def admits(self, m):
        return min(self.xi_c[m], self.xi_w[m]) > 0 and self.xi_w[m] / self.seen(m) <= self.error_bound

    def ends(self, m):  # moa_compat changes nothing: the published vote is the rule here
        return (self.break_votes and not self.admits(m)) or Ensemble.ends(self, m)


METHODS = {"oabm1": Oabm1, "oabm2": Oabm2, "oza-boost": OzaBoost, "adob": Adob, "bole": Bole}


def run(method, make_base, X, y, *, classes, members=10, draws=None, weights=None, known=None, **options) -> Result:
    """Ask for each row, then learn it. An option the method does not know is an error.

    draws: .poisson(lam, t, m) -> int, row t and member m from 0; None for weights.
    weights (n,): of the rows, 1 each if not given. known (n,): classes in force at each row, all if not given.
    """
    X = np.asarray(X, dtype=float)
    e = METHODS[method](make_base, classes, members, draws, **options)
    votes, labels, lam, lam_labels = [], [], [], []
    for t, (x, c) in enumerate(zip(X, y)):
        vote, label = e.say(x)
        votes.append(vote)
        labels.append(label)
        entered, by_label = e.train(
            x, int(c), 1.0 if weights is None else float(weights[t]), classes if known is None else int(known[t])
        )
        lam.append(entered)
        lam_labels.append(by_label)
    return Result(
        votes=np.array(votes),
        labels=np.array(labels),
        xi_c=e.xi_c,
        xi_w=e.xi_w,
        alpha=e.alpha(),
        lam=np.array(lam),
        lam_labels=np.array(lam_labels) if method == "oabm2" else None,
        bases=e.bases,
        say=lambda x: e.say(np.asarray(x, dtype=float)),
        bound=e.bound(),
    )
