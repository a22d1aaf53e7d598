"""DDM and ADWIN written out for one row after the other, from the papers and with MOA's bound."""

from __future__ import annotations

from math import inf, log, sqrt


class DDM:
    """Gama et al., SBIA 2004, section 3; `tell` gives warning, drift, calm, or None where nothing changes."""

    def __init__(self, least=30, warning=2.0, level=3.0):
        self.least, self.warning, self.level = least, warning, level
        self.reset()

    def reset(self):
        self.errors, self.best, self.was = [], (inf, 0.0), None

    def tell(self, wrong):
        self.errors.append(wrong)
        n = len(self.errors)
        if n < self.least:
            return None
        p = sum(self.errors) / n
        s = sqrt(p * (1 - p) / n)
        self.best = min(self.best, (p, s), key=lambda pair: pair[0] + pair[1])
        p_min, s_min = self.best
        now = None
        if p + s > p_min + self.warning * s_min:
            now = "warning"
        if p + s > p_min + self.level * s_min:
            now = "drift"
        was, self.was = self.was, now
        return None if now == was else now or "calm"


class Window:
    """Bifet & Gavalda, SDM 2007: ADWIN2's buckets hold the rows themselves. Tells whether the mean rose by a cut."""

    def __init__(self, delta):
        self.delta, self.time, self.sizes = delta, 0, {}  # size: buckets, oldest first

    def rows(self):
        return [x for size in sorted(self.sizes, reverse=True) for bucket in self.sizes[size] for x in bucket]

    def add(self, bucket):
        row = self.sizes.setdefault(len(bucket), [])
        row.append(bucket)
        if len(row) == 6:
            a, b = row.pop(0), row.pop(0)
            self.add(a + b)

    def borders(self):
        at = 0
        for size in sorted(self.sizes, reverse=True):
            for _ in self.sizes[size]:
                at += size
                yield at

    def cut(self):
        x = self.rows()
        n = len(x)
        mean = sum(x) / n
        variance = sum((v - mean) ** 2 for v in x) / n
        dd = log(2 * log(n) / self.delta)
        for n0 in self.borders():
            n1 = n - n0
            if n0 > 6 and n1 > 6:
                m = 1 / (n0 - 4) + 1 / (n1 - 4)
                epsilon = sqrt(2 * m * variance * dd) + 2 / 3 * m * dd
                if abs(sum(x[:n0]) / n0 - sum(x[n0:]) / n1) > epsilon:
                    return True
        return False

    def tell(self, wrong):
        before = self.rows()
        self.add([wrong])
        self.time += 1
        if self.time % 32 or len(before) < 10:
            return False
        shrunk = False
        while self.cut():
            largest = max(self.sizes)
            self.sizes[largest].pop(0)
            if not self.sizes[largest]:
                del self.sizes[largest]
            shrunk = True
        after = self.rows()
        return shrunk and sum(after) / len(after) > sum(before) / len(before)


class ADWIN:
    """One window for drifts, and one for warnings that begins anew with each."""

    def __init__(self, delta=0.002, warning=None):
        self.delta, self.warning = delta, warning
        self.reset()

    def reset(self):
        self.one = Window(self.delta)
        self.two = None if self.warning is None else Window(self.warning)

    def tell(self, wrong):
        warned = self.two is not None and self.two.tell(wrong)
        if warned:
            self.two = Window(self.warning)
        if self.one.tell(wrong):
            return "drift"
        return "warning" if warned else None


def watch(fresh, right, rows, detector, replace):
    """(scores, warnings, drifts, last) of a learner that is watched, one row after the other.

    fresh(): a learner, a function of a row's number that scores the row and then learns it. right(score, i): whether
    the score answers row i rightly, or None.
    """
    learner, behind, scores, warnings, drifts, last = fresh(), None, [], 0, 0, None
    for i in range(rows):
        scores.append(learner(i))
        if behind is not None:
            behind(i)
        answer = right(scores[-1], i)
        found = None if answer is None else detector.tell(int(not answer))
        if found == "warning":
            warnings += 1
            behind = fresh() if replace else None
        elif found == "calm":
            behind = None
        elif found == "drift":
            drifts, last = drifts + 1, i + 1
            learner, behind = behind or fresh(), None
            detector.reset()
    return scores, warnings, drifts, last
