"""The parts of the imbalance methods, as the published updates say them: statistics, weights, rates, chains, votes.

A class code y is 0..C-1; with C = 2, code 1 is the positive class. Everything is read row by row and member by member,
without kernels or tricks. `naive_imbalance.py` puts the parts together.
"""

from __future__ import annotations

import math

import numpy as np

CAP = 1e4  # largest Poisson rate


class Stats:
    """B. Numbers about labels: add-one counts N, true counts n, decayed sizes w, a window of labels, shares p."""

    def __init__(self, classes, theta=0.9, window=100, smoothing=None, warmup=True):
        self.N = np.ones(classes)  # read before the label is added
        self.n = np.zeros(classes)  # read after the label is added
        self.w = np.full(classes, 1 / classes)  # read after the label is added
        self.p = np.full(classes, 1 / classes)  # read before the label is added
        self.labels = []  # the last `window` ones, the current one among them
        self.theta, self.window, self.smoothing, self.warmup = theta, window, smoothing, warmup
        self.rows = 0

    def before(self, y):
        """What is updated with the label first and then read."""
        hit = np.arange(len(self.N)) == y
        self.w = self.theta * self.w + (1 - self.theta) * hit
        self.n = self.n + hit
        self.labels = [*self.labels, y][-self.window :]

    def after(self, y):
        """What is read first and then updated with the label."""
        hit = np.arange(len(self.N)) == y
        self.N = self.N + hit
        self.rows += 1
        if self.smoothing is not None:
            L = self.smoothing
            if self.warmup:
                L = min(L, 1 - 1 / (self.rows + len(self.N)))
            self.p = L * self.p + (1 - L) * hit

    def sizes(self):
        """Class sizes from which HGD takes its ratios: add-one counts, or smoothed shares above a floor."""
        return self.N if self.smoothing is None else np.maximum(self.p, 1 - self.smoothing)

    def in_window(self):
        return np.array([self.labels.count(c) + 1 for c in range(len(self.N))], dtype=float)

    def minority(self):
        """Class with the smaller N. With two classes a tie goes to the positive one, with more to the lowest code."""
        if len(self.N) == 2:
            return 1 if self.N[1] <= self.N[0] else 0
        return int(np.argmin(self.N))


def odds(N):
    """rho = N_- / N_+."""
    return N[0] / N[1]


def imbalance(N):
    return max(N) / min(N)


# C. Weight policies: (a, margin asked for) of a sample of class y


class One:
    def __call__(self, y, stats):
        return 1.0, 1.0

    def moved(self, y, gain):
        """The member moved by a step of norm `gain`, alpha left out."""


class CostRatio:
    """rho of csogd-cost: c+ / c- for the positive class; more classes: a cost vector divided by its minimum."""

    def __init__(self, c_plus=0.95, c_minus=0.05, costs=None):
        self.c_plus, self.c_minus, self.costs = c_plus, c_minus, costs

    def __call__(self, y, stats):
        if len(stats.N) == 2:
            return self.c_plus / self.c_minus if y == 1 else 1.0
        costs = np.ones(len(stats.N)) if self.costs is None else np.asarray(self.costs, dtype=float)
        return costs[y] / costs.min()


class SumRatio:
    """rho of csogd-sum: (n+ / n-) (N- / N+) for the positive class; else (n_y / n_j) N_j / N_y, j the largest."""

    def __init__(self, n_plus=0.5, n_minus=0.5, shares=None, ir=None):
        self.n_plus, self.n_minus, self.shares, self.ir = n_plus, n_minus, shares, ir

    def __call__(self, y, stats):
        N = stats.N
        if len(N) == 2:
            known = odds(N) if self.ir is None else self.ir
            return (self.n_plus / self.n_minus) * known if y == 1 else 1.0
        n = np.ones(len(N)) if self.shares is None else np.asarray(self.shares, dtype=float)
        j = int(np.argmax(N))
        return (n[y] / n[j]) * (N[j] / N[y])


class WindowRatio:
    """kap of csrda: (mu+ / mu-) (neg + 1) / (pos + 1) for the positive class; more classes: N_max / N_y in the window.

    down: the other way of writing it, 1 for the rare class and less than 1 for the common ones (csrda4).
    """

    def __init__(self, mu_plus=0.5, mu_minus=0.5, down=False):
        self.mu_plus, self.mu_minus, self.down = mu_plus, mu_minus, down

    def __call__(self, y, stats):
        N = stats.in_window()
        if len(N) == 2:
            kap = (self.mu_plus / self.mu_minus) * odds(N)
            if self.down:
                return 1.0 if y == 1 else 1 / kap
            return kap if y == 1 else 1.0
        return min(N) / N[y] if self.down else max(N) / N[y]


class Margin(One):
    """Type I: max(0, m_y - y f)."""

    def __init__(self, ratio):
        self.ratio = ratio

    def __call__(self, y, stats):
        return 1.0, self.ratio(y, stats)


class Slope(One):
    """Type II: s_y max(0, 1 - y f)."""

    def __init__(self, ratio):
        self.ratio = ratio

    def __call__(self, y, stats):
        return self.ratio(y, stats), 1.0


def alpha_binary(y, A, sizes):
    """Eq. 4 with the bounds of Assumption 4."""
    rho, S = odds(sizes), A.sum()
    if S == 0:
        alpha = 1.0
    elif y == 1:
        alpha = 2 * rho * A[0] / S
    else:
        alpha = 2 * A[1] / S
    R = max(rho, 1 / rho)
    return min(max(alpha, 1 / R), 2 * R)


def alpha_multiclass(y, A, sizes):
    """Eq. 6, the sum of the other classes in the numerator."""
    C, S = len(A), A.sum()
    alpha = 1.0 if S == 0 else (max(sizes) / sizes[y]) * C / (C - 1) * (S - A[y]) / S
    R = imbalance(sizes)
    return min(max(alpha, 1 / R), 2 * R)


class Harmonic(One):
    """alpha of HGD; A_c sums alpha G over the samples of class c that moved the model."""

    def __init__(self, classes):
        self.A = np.zeros(classes)

    def __call__(self, y, stats):
        rule = alpha_binary if len(self.A) == 2 else alpha_multiclass
        self.alpha = rule(y, self.A, stats.sizes())
        return self.alpha, 1.0

    def moved(self, y, gain):
        self.A[y] += self.alpha * gain


# D. Rates that know labels only: (lambda, exactly once) for a sample of class y at member m of M


def plain(y, m, M, stats):
    return 1.0, False


def exactly_once(y, m, M, stats):
    return 1.0, True


class Resample:
    """oor, our, ohr: N_max / N_y, N_min / N_y, and between them; a rate of 1 is no draw.

    share: 1 is oor, 0 is our, ohr stands between. ir: known imbalance ratio, two classes only.
    """

    def __init__(self, share, ir=None):
        self.share, self.ir = share, ir

    def __call__(self, y, m, M, stats):
        N = stats.N
        if self.ir is not None:
            up, down = (self.ir, 1.0) if y == stats.minority() else (1.0, 1 / self.ir)
        else:
            up, down = max(N) / N[y], min(N) / N[y]
        rate = up**self.share * down ** (1 - self.share)
        return rate, rate == 1


def oob(y, m, M, stats):
    small = stats.w[y] <= 1 / len(stats.w)  # of two classes: no larger than the other
    return (1 / stats.w[y] if small else 1.0), False


def oub(y, m, M, stats):
    large = stats.w[y] > 1 / len(stats.w)
    return (1 - stats.w[y] if large else 1.0), False


def owob(y, m, M, stats):
    return max(stats.w) / stats.w[y], False


def owub(y, m, M, stats):
    return min(stats.w) / stats.w[y], False


def ouob(y, m, M, stats):
    return (m + 1) / M * (max(stats.N) / stats.N[y]), False


def oeb(y, m, M, stats):
    return min(stats.N) / stats.N[y], False


# D. Rates that know what the members said


class Confusion:
    """Prequential confusion counts per member: [m, true, said]."""

    def __init__(self, M, classes):
        self.counts = np.zeros((M, classes, classes))

    def add(self, y, said):
        for m, c in enumerate(said):
            self.counts[m, y, c] += 1

    def kappa(self, m):
        table = self.counts[m]
        total = table.sum()
        if total == 0:
            return 0.0
        p_o = np.trace(table) / total
        p_e = (table.sum(0) * table.sum(1)).sum() / total**2
        return 0.0 if 1 - p_e < 1e-12 else (p_o - p_e) / (1 - p_e)

    def recalls(self, m):
        table = self.counts[m]
        return (np.diag(table) + 1) / (table.sum(1) + 2)


def okb_rate(kappa, errs):
    """1 where the member errs, else its kappa after this row, not below 0."""
    return 1.0 if errs else max(kappa, 0.0)


# D. Chains: importance lam handed from member to member


class Chain:
    """oadab. Each member adds lam to its right or wrong mass after training; what it got wrong weighs more next."""

    def __init__(self, M, classes):
        self.classes = classes
        self.sc, self.sw = np.zeros(M), np.zeros(M)

    def rate(self, y, m, lam, stats):
        return lam

    def after(self, y, right, m, lam):
        if right:
            self.sc[m] += lam
            return lam * (self.sc[m] + self.sw[m]) / (2 * self.sc[m])
        self.sw[m] += lam
        return lam * (self.sc[m] + self.sw[m]) / (2 * self.sw[m])

    def samme(self):
        return math.log(self.classes - 1) if self.classes > 2 else 0.0

    def vote(self, m):
        total = self.sc[m] + self.sw[m]
        if total == 0:
            return 0.0
        e = min(max(self.sw[m] / total, 1e-6), 1 - 1e-6)
        return max(math.log((1 - e) / e) + self.samme(), 0.0)


class CostChain(Chain):
    """What oadac2 and ocsb2 share: a cost per class. c+, c- for two classes, `costs` for more."""

    def __init__(self, M, classes, c_plus=1.0, c_minus=0.8, costs=None):
        super().__init__(M, classes)
        self.cost = [c_minus, c_plus] if classes == 2 else [1.0] * classes if costs is None else list(costs)


class AdaC2(CostChain):
    def __init__(self, M, classes, **costs):
        super().__init__(M, classes, **costs)
        self.good, self.bad, self.Lam = np.zeros(M), np.zeros(M), np.zeros(M)

    def after(self, y, right, m, lam):
        c = self.cost[y]
        self.Lam[m] += lam
        if right:
            self.good[m] += c * lam
            return c * lam / (2 * self.good[m] / self.Lam[m])
        self.bad[m] += c * lam
        return c * lam / (2 * self.bad[m] / self.Lam[m])

    def vote(self, m):
        if self.Lam[m] == 0:
            return 0.0
        return max(math.log(max(self.good[m], 1e-6) / max(self.bad[m], 1e-6)) + self.samme(), 0.0)


class CSB2(CostChain):
    def __init__(self, M, classes, **costs):
        super().__init__(M, classes, **costs)
        self.charged = np.zeros(M)  # wrong mass, weighted by cost

    def after(self, y, right, m, lam):
        c = self.cost[y]
        if right:
            self.sc[m] += lam
        else:
            self.sw[m] += lam
            self.charged[m] += c * lam
        total = self.sc[m] + self.sw[m]
        e, E = self.sw[m] / total, self.charged[m] / total
        if e + E == 0:
            return lam / 2
        return lam * e / ((1 - e) * (e + E)) if right else c * lam / (e + E)


def rusb_share(y, minority, n, R):
    """q: 1 for the rare class, min(1, R n_min / n_y) for the others."""
    return 1.0 if y == minority else min(1.0, R * n[minority] / n[y])


def rusb1_rate(lam, y, minority, n, mass, R):
    """Fixed class ratio. n: true counts, mass: lam received per class, both with the current sample."""
    if min(n) == 0 or min(mass) == 0:
        return lam
    q = np.array([rusb_share(c, minority, n, R) for c in range(len(n))])
    return q[y] * lam * sum(mass) / sum(q * mass) * sum(q * n) / sum(n)


def rusb2_rate(lam, y, minority, n, mass, R):
    """Fixed mass."""
    if min(n) == 0 or min(mass) == 0:
        return lam
    kept = n[y] if y == minority else min(R * n[minority], n[y])
    return lam * (kept / sum(n)) / (mass[y] / sum(mass))


def rusb3_rate(lam, y, minority, N, ir=None):
    """Fixed rate: lam for the rare class, lam / IR for the other. N: add-one counts before the sample."""
    if ir is not None:
        return lam if y == minority else lam / ir
    return lam / (N[y] / min(N))


class RUSB(Chain):
    """The chain of oadab with a class factor on the rate."""

    def __init__(self, M, classes, kind, R=0.7, ir=None):
        super().__init__(M, classes)
        self.kind, self.R, self.ir = kind, R, ir
        self.mass = np.zeros((M, classes))

    def rate(self, y, m, lam, stats):
        self.mass[m, y] += lam
        if self.kind == 3:
            return rusb3_rate(lam, y, stats.minority(), stats.N, self.ir)
        rule = rusb1_rate if self.kind == 1 else rusb2_rate
        return rule(lam, y, stats.minority(), stats.n, self.mass[m], self.R)


# E. Augment


class Smote:
    """osmote: up to K points between a sample and its nearest buffered ones of the same class."""

    def __init__(self, classes, K=3, buffer=200):
        self.K, self.size = K, buffer
        self.buffers = [[] for _ in range(classes)]

    def points(self, x, y, N, uniform):
        """N: add-one counts before the sample; uniform(j): the draw of neighbour j."""
        near = sorted(self.buffers[y], key=lambda z: np.linalg.norm(z - x))  # stable: the older one first
        number = min(self.K, math.floor(max(N) / N[y]) - 1)
        return [x + uniform(j) * (z - x) for j, z in enumerate(near[: max(number, 0)])]

    def push(self, x, y):
        self.buffers[y] = [*self.buffers[y], x][-self.size :]


# F. Votes


def signed_vote(f, v):
    """s in [-1, 1] of member margins f (M,); f = 0 says +1; all v = 0 counts as equal votes. Label code 0 or 1."""
    v = np.ones(len(v)) if np.all(v == 0) else v
    s = sum(v * np.where(f >= 0, 1.0, -1.0)) / sum(v)
    return s, int(s > 0 or (s == 0 and sum(f) >= 0))


def class_vote(f, v):
    """Share of the votes per class of member scores f (M, C); equal shares: larger summed score, then lowest code."""
    v = np.ones(len(v)) if np.all(v == 0) else v
    s = np.zeros(f.shape[1])
    for m in range(len(f)):
        s[np.argmax(f[m])] += v[m]
    best = np.flatnonzero(s == max(s))
    return s / sum(v), int(best[np.argmax(f.sum(0)[best])])


def mean_score(f, v):
    """--combine mean: the scores of the members (M, ...), weighted by their votes (M,)."""
    v = np.ones(len(v)) if np.all(v == 0) else v
    return np.tensordot(v, f, 1) / sum(v)


def ordered(s, f):
    """The vote with equal levels ordered by the margins of the members (M,), for areas under the curve."""
    return s + 1e-3 / len(f) * np.mean(f / (1 + np.abs(f)))
