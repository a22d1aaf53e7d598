"""Online AdaBoost for many classes: a member's errors decide how much a row, or each wrong label of it, counts on.

Members are taken one after the other over the same rows, as in `kernels.chain`. Sources: Carvalho Santos & Barros,
Online AdaBoost-based methods for multiclass problems, Artificial Intelligence Review 53 (2020) 1293-1322, equations 10
to 46 (the algorithms themselves are reconstructed from them); Oza & Russell, AISTATS 2001.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.kernels.votes import answer, cast

M1, OZA, M2 = range(3)  # what a row's weight goes by: weight this member saw, rows seen, the plausibility of labels


class Rule(NamedTuple):
    """How members are judged. Numbers, so that one kernel serves all."""

    kind: int
    running: bool  # M2: the normalizer is a running sum; else its chord, 2 eps
    soft: bool  # a vote is the member's probabilities; else its answer
    floor: float  # of errors, and of one minus them
    smooth: bool  # the error of a vote's weight is (wrong + 1/2) / (all + 1)
    compat: bool  # as in MOA: a member without errors, or wrong more than right, ends the vote
    both: bool  # a member votes once it was both right and wrong
    weak_ends: bool  # a member that is wrong more than right ends the vote
    silent_ends: bool  # a member that does not vote ends it
    bound: float  # largest error of a member that votes
    shift: float  # added to the weight of a vote


@exact_helper
def error(rule: Rule, right: float, wrong: float) -> float:
    """Error of a member by the weights it was right and wrong with; 1/2 where it has seen nothing."""
    total = right + wrong
    if total <= 0.0:
        return 0.5
    return min(max(wrong / total, rule.floor), 1.0 - rule.floor)


@exact_helper
def trust(rule: Rule, sums: Array) -> float:
    """Weight of a member's vote, at least 0."""
    right, wrong = sums[0], sums[1]
    total = right + wrong
    if total <= 0.0 or wrong / total > rule.bound:
        return 0.0
    if rule.both and (right == 0.0 or wrong == 0.0):
        return 0.0
    e = (wrong + 0.5) / (total + 1.0) if rule.smooth else error(rule, right, wrong)
    return max(0.0, math.log((1.0 - e) / e)) + rule.shift


@exact_helper
def ends(rule: Rule, sums: Array) -> bool:
    """Whether the vote ends before this member."""
    right, wrong = sums[0], sums[1]
    if wrong > right and (rule.weak_ends or rule.compat):
        return True
    return (rule.compat and wrong == 0.0) or (rule.silent_ends and trust(rule, sums) == 0.0)


@exact_helper
def believed(scores: Array, i: int, p: Array) -> None:
    """p (classes,): probabilities from scores (units, n) of row i: each (1 + score) / 2 within 0 and 1, normalized."""
    if len(scores) == 1:
        p[1] = min(max(0.5 * (1.0 + scores[0, i]), 0.0), 1.0)
        p[0] = 1.0 - p[1]
        return
    total = 0.0
    for c in range(p.size):
        p[c] = min(max(0.5 * (1.0 + scores[c, i]), 0.0), 1.0)
        total += p[c]
    for c in range(p.size):
        p[c] = p[c] / total if total > 0.0 else 1.0 / p.size


@exact_helper
def vote(rule: Rule, tally: Array, ended: Array, scores: Array, i: int, sums: Array, p: Array) -> None:
    """Add the vote on row i of a member with these sums (3,), unless it has ended there. p (classes,): scratch."""
    units = len(scores)
    ended[i] = ended[i] or ends(rule, sums)
    v = 0.0 if ended[i] else trust(rule, sums)
    if not rule.compat:  # there a row without any vote has no answer
        cast(tally, scores, i, 0.0 if rule.soft else v)
    elif not rule.soft:
        a = answer(scores, i)
        for u in range(units):
            tally[u, i] += v * (1.0 if a == (1 if units == 1 else u) else -1.0)
        tally[3 * units, i] += v
    if rule.compat and units == 1:
        tally[2, i] = -1.0  # there equal votes, and none, are an answer: the first class
    if rule.soft:
        believed(scores, i, p)
        for u in range(units):
            tally[u, i] += v * (2.0 * p[1 if units == 1 else u] - 1.0)
        tally[3 * units, i] += v


@exact_kernel
def poll(rule: Rule, tally: Array, ended: Array, scores: Array, sums: Array, p: Array) -> None:
    """A member votes on all rows with the weight that its sums (3,) give it."""
    for i in range(scores.shape[1]):
        vote(rule, tally, ended, scores, i, sums, p)


@exact_helper
def passed(rule: Rule, lam: Array, i: int, own: int, p: Array, seen: float, sums: Array) -> None:
    """Row i of class `own` was answered with p: the sums of the member take it in, lam[:, i] becomes what is passed on.

    lam (1, n), of M2 (classes, n): weight of each wrong label; seen: weight of all rows so far.
    """
    if rule.kind != M2:
        best = 0
        for c in range(1, p.size):
            if p[c] > p[best]:
                best = c
        k = 0 if best == own else 1
        sums[k] += lam[0, i]
        whole = seen if rule.kind == OZA else sums[0] + sums[1]
        lam[0, i] *= whole / (2.0 * sums[k])
        return
    total = 0.0
    for c in range(p.size):
        if c != own:
            m = 0.5 * (1.0 + p[own] - p[c])
            sums[0] += lam[c, i] * m
            sums[1] += lam[c, i] * (1.0 - m)
    e = error(rule, sums[0], sums[1])
    beta = e / (1.0 - e)
    for c in range(p.size):
        if c != own:
            lam[c, i] *= beta ** (0.5 * (1.0 + p[own] - p[c]))
            total += lam[c, i]
    sums[2] += total
    z = sums[2] / (sums[0] + sums[1]) if rule.running else 2.0 * e
    for c in range(p.size):
        if c != own:
            lam[c, i] /= z


@exact_helper
def class_of(target: Array, i: int) -> int:
    """The class that row i is of by what the units are to say of it; -1 where they are not to learn it."""
    units = target.shape[0]
    own = -1
    for u in range(units):
        if target[u, i] > 0:
            own = 1 if units == 1 else u
    if units == 1 and target[0, i] < 0:
        own = 0
    return own


@exact_kernel
def judge(
    rule: Rule,
    tally: Array,
    ended: Array,
    later: Array,
    over: Array,
    pre: Array,
    post: Array,
    judged: Array,
    target: Array,
    lam: Array,
    seen: Array,
    sums: Array,
    p: Array,
    alone: bool,
) -> None:
    """A member votes on each row as it was before; then it is judged on it, and lam[:, i] becomes what the next sees.

    ended (n,): where the vote is over; later, over: the same of votes after the rows, where over is not empty; pre,
    post, judged (units, n): scores before and after the rows, and those it is judged by; seen (n,): weight of all rows;
    sums (3,): weights while right, while wrong, and of M2 the running sum; p (classes,): scratch.
    alone: there is one class only, so no label is wrong, and M2 has nothing to judge by.
    """
    for i in range(seen.size):
        vote(rule, tally, ended, pre, i, sums, p)
        own = class_of(target, i)
        weight = 0.0
        for c in range(len(lam)):
            weight += lam[c, i]
        if own >= 0 and weight > 0.0 and not (alone and rule.kind == M2):
            if rule.kind == M2:
                believed(judged, i, p)
            else:
                a = answer(judged, i)
                for c in range(p.size):
                    p[c] = 1.0 if c == a else 0.0
            passed(rule, lam, i, own, p, seen[i], sums)
        if over.size > 0:
            vote(rule, later, over, post, i, sums, p)


@exact_kernel
def errors(rule: Rule, sums: Array, out: Array) -> None:
    """out[m]: the error of each member; sums (members, 3)."""
    for m in range(out.size):
        out[m] = error(rule, sums[m, 0], sums[m, 1])


@exact_kernel
def begin(many: bool, weight: Array, y: Array, target: Array, lam: Array) -> None:
    """lam[:, i]: what row i, which counts weight[i], counts for the first member: of M2 each wrong label its share."""
    for i in range(y.size):
        own = class_of(target, i)
        for c in range(len(lam)):
            lam[c, i] = 0.0
            if own >= 0 and y[i] >= 0 and (not many or c != own):
                lam[c, i] = weight[i] / (len(lam) - 1.0) if many else weight[i]
