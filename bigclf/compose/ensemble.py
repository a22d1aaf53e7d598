"""Ensembles: members that see each row as often as chance says, and vote; in a bag side by side, or in a chain.

Sources: Oza & Russell, Online bagging and boosting, AISTATS 2001; Wang & Pineau, Online bagging and boosting for
imbalanced data streams, TKDE 28 (2016) 3353-3366.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bigclf.compose.parts import apart, by_member, counted, counts, of_base, over, private, row_keys, together, under
from bigclf.compose.rates import Rates
from bigclf.core import Array, Axes, Block, Learner, Plan, Scores, Shape, State
from bigclf.kernels import chain as links
from bigclf.kernels import votes
from bigclf.kernels.chance import shown


class Members(NamedTuple):
    """States of the members, how well each has answered, and what the ensemble as a whole keeps."""

    base: tuple[State, ...]
    record: Any  # a NamedTuple of arrays
    own: Any  # a NamedTuple of arrays


class Record(NamedTuple):
    """Answers of the members to rows they had not learned yet."""

    right: Array  # (members, classes) by class
    guess: Array  # (members, classes) by answer
    truth: Array  # (members, classes) rows of each class


class Nothing(NamedTuple):
    """No state."""


class Weights(NamedTuple):
    """What rows counted for each member of a chain."""

    sums: Array  # (members, 3) while right, while wrong, and of the rule
    mass: Array  # (members, classes)


class Seen(NamedTuple):
    """Rows of each class."""

    rows: Array  # (classes,)


def bagged(
    bases: Sequence[Learner],
    rates: Rates | None,
    shares: Sequence[float],
    trust: int,
    draw: int,
    seed: int,
    repeat: bool,
) -> Learner:
    """Members side by side: m is shown a row as often as a draw with rate shares[m] x rate says.

    rates None: every row once, without a draw (the bases draw themselves). trust: as in `kernels.votes`.
    """
    many = len(bases)

    def init(shape: Shape) -> Members:
        record = Record(*(np.zeros((many, shape.classes)) for _ in range(3)))
        return Members(tuple(b.init(shape) for b in bases), record, rates.init(shape) if rates else Nothing())

    def update(s: Members, block: Block, plan: Plan) -> Members:
        n = block.y.size
        rate = rates.rows(s.own, block.y, plan.target) if rates else None
        tally, later = tallies(plan)
        key, times, new = row_keys(seed, block.row), np.empty(n), []
        mine = own = private(plan)
        for m, base in enumerate(bases):
            if rate is not None:
                shown(rate, shares[m], draw, key, m, times)
                mine = counted(own, times, repeat)
            new.append(base.update(s.base[m], block, mine))
            votes.vote(
                trust,
                tally,
                later,
                mine.pre,
                mine.post,
                s.record.right[m],
                s.record.guess[m],
                s.record.truth[m],
                block.y,
                plan.target,
            )
        outcomes(tally, later, many, plan)
        return s._replace(base=tuple(new))

    def poll(s: Members, tally: Array, each: Sequence[Scores]) -> None:
        weight = np.empty(many)
        votes.trusts(trust, s.record.right, s.record.guess, s.record.truth, weight)
        for scores, v in zip(each, weight, strict=True):
            votes.poll(tally, scores, float(v))

    record = dict.fromkeys(Record._fields, (many, "classes"))
    return ensemble(bases, init, update, poll, record, rates.axes if rates else {})


def boosted(bases: Sequence[Learner], chain: links.Chain, draw: int, seed: int, repeat: bool) -> Learner:
    """Members in a chain: what the one before made of a row decides how often the next is shown it."""
    many = len(bases)

    def init(shape: Shape) -> Members:
        record = Weights(np.zeros((many, 3)), np.zeros((many, shape.classes)))
        return Members(tuple(b.init(shape) for b in bases), record, Seen(np.zeros(shape.classes)))

    def update(s: Members, block: Block, plan: Plan) -> Members:
        n = block.y.size
        tally, later = tallies(plan)
        key, lam, rate, times, new = row_keys(seed, block.row), counts(plan), np.empty(n), np.empty(n), []
        plain = plan._replace(weight=plan.weight[:0, :0], repeat=plan.repeat[:0, :0])  # it is in lam
        count, own = s.own.rows, private(plain, post=True)
        for m, base in enumerate(bases):
            count = s.own.rows.copy()
            links.before(chain, lam, block.y, plan.target, count, s.record.mass[m], rate)
            shown(rate, 1.0, draw, key, m, times)
            mine = counted(own, times, repeat)
            new.append(base.update(s.base[m], block, mine))
            links.after(chain, tally, later, mine.pre, mine.post, plan.target, lam, s.record.sums[m])
        outcomes(tally, later, many, plan)
        return Members(tuple(new), s.record, Seen(count))

    def poll(s: Members, tally: Array, each: Sequence[Scores]) -> None:
        weight = np.empty(many)
        links.trusts(chain.after, s.record.sums, len(each[0]), weight)
        for scores, v in zip(each, weight, strict=True):
            votes.poll(tally, scores, float(v))

    record: Axes = {"sums": (many, 3), "mass": (many, "classes")}
    return ensemble(bases, init, update, poll, record, {"rows": ("classes",)})


def tallies(plan: Plan) -> tuple[Array, Array]:
    """Of the votes before the rows, and after them where that is wanted."""
    units, n = plan.target.shape
    return votes.empty(units, n), votes.empty(units, n if plan.post.shape[1] else 0)


def outcomes(tally: Array, later: Array, members: int, plan: Plan) -> None:
    """Write what the members answer into the plan."""
    votes.outcome(tally, members, plan.pre)
    if plan.post.shape[1]:
        votes.outcome(later, members, plan.post)


def ensemble(
    bases: Sequence[Learner],
    init: Callable[[Shape], Members],
    update: Callable[[Members, Block, Plan], Members],
    poll: Callable[[Members, Array, Sequence[Scores]], None],
    record: Axes,
    own: Axes,
    more: Callable[[Members], dict[str, Any]] | None = None,
) -> Learner:
    """The learner of all members; poll(state, tally, scores of each): all vote on rows that are not learned.

    more: facts that the ensemble tells beside those of its members.
    """
    first = bases[0]
    pull, finish, refit, told, fault = first.pull, first.finish, first.refit, first.told, first.fault

    def facts(s: Members) -> dict[str, Any]:
        own = more(s) if more else {}
        return own | (of_base(by_member([told(t) for t in s.base]), own) if told else {})

    def decision(s: Members, X: Any) -> Scores:
        each = [b.decision(t, X) for b, t in zip(bases, s.base, strict=True)]
        tally = votes.empty(*each[0].shape)
        poll(s, tally, each)
        out = np.empty(each[0].shape)
        votes.outcome(tally, len(bases), out)
        return out

    axes = under("record", record) | under("own", own)
    for m, base in enumerate(bases):
        axes |= under(f"base/{m}", apart(base, str(m)))

    def most(shape: Shape) -> dict[str, int]:
        return {f"{m} {axis}": n for m, base in enumerate(bases) for axis, n in base.most(shape).items()}

    return over(
        first,
        {},
        axes=axes,
        most=most,
        probable=False,
        logit=False,
        weights=None,
        init=init,
        update=update,
        decision=decision,
        finish=finish and (lambda s: s._replace(base=tuple(finish(t) for t in s.base))),
        refit=refit and (lambda s, old, new: s._replace(base=tuple(refit(t, old, new) for t in s.base))),
        pull=pull and (lambda s: together([pull(t) for t in s.base])),
        told=facts if more or told else None,
        doubts=None,
        fault=fault and (lambda s: next((f for f in map(fault, s.base) if f), None)),
    )
