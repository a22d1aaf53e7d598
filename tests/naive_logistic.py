"""Online logistic regression written out: a history of all weights, and the flow followed by bisection."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-10  # of G


def sigmoid(m):
    return 1 / (1 + np.exp(-m))


def flow(m, k, eta):
    """How far the margin m comes: dm/dh = k / (1 + e^m) over h from 0 to eta, so that m + e^m has grown by k eta."""
    low, high = 0.0, k * eta
    for _ in range(200):
        z = (low + high) / 2
        if z + np.exp(m) * np.expm1(z) < k * eta:
            low = z
        else:
            high = z
    return (low + high) / 2


class Logistic:
    """One unit over d columns. `after` holds the weights after each row, in today's units of each column."""

    def __init__(self, d, eta=0.3):
        self.eta, self.w, self.G, self.s = eta, np.zeros(d), np.full(d, FLOOR), np.zeros(d)
        self.after, self.counts = [], []
        self.length = self.entries = 0.0

    def row(self, x, t, weight=1.0):
        m = t * (self.w @ x)  # as it was answered: before a larger value changes the units
        larger = np.abs(x) > self.s
        known = larger & (self.s > 0)
        shrink = np.ones(len(x))
        shrink[known] = self.s[known] / np.abs(x[known])
        self.w = self.w * shrink
        if known.any():
            self.after = [w * shrink for w in self.after]
        self.G = np.where(known, np.maximum(self.G * shrink**2, FLOOR), self.G)
        self.s = np.where(larger, np.abs(x), self.s)
        seen = self.s > 0
        g = sigmoid(-m)
        d = np.zeros(len(x))
        self.G[seen] += weight * g**2 * (x[seen] / self.s[seen]) ** 2
        d[seen] = x[seen] / (self.s[seen] ** 2 * np.sqrt(self.G[seen]))
        k = d @ x
        self.length += weight * np.sum((x[seen] / self.s[seen]) ** 2)
        self.entries += weight * np.count_nonzero(x)
        if k > 0:
            eta = self.eta * np.sqrt(self.entries / self.length)
            self.w = self.w + t * flow(m, k, eta * weight) / k * d
        self.after.append(self.w)
        self.counts.append(weight)

    def average(self, power):
        """Weights after a row count n^(power + 1) less what that was before it, n the importance of the rows so far."""
        mass = np.concatenate([[0], np.cumsum(self.counts)]) ** (power + 1.0)
        return np.diff(mass) @ np.array(self.after) / mass[-1]
