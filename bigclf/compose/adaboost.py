"""Online AdaBoost: members in a fixed order, or in an order that each row finds anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bigclf.block import take
from bigclf.compose.ensemble import Members, ensemble, outcomes, tallies
from bigclf.compose.parts import counted, counts, private, row_keys
from bigclf.compose.turns import one_by_one
from bigclf.core import Array, Block, Learner, Plan, Scores, Shape, State
from bigclf.kernels import adaboost as ab
from bigclf.kernels import chance
from bigclf.kernels.turns import Rows
from bigclf.state import shape_of


class Judged(NamedTuple):
    """What rows counted for each member."""

    sums: Array  # (members, 3) while right, while wrong, and of the rule


class Sight(NamedTuple):
    """What the ensemble has seen."""

    weight: Array  # (classes,) of rows
    fresh: Array  # (1,) how often a member began anew
    order: Array  # (members,) of the last row, where they are ranked


class How(NamedTuple):
    """How members are trained."""

    rule: ab.Rule
    draw: int  # as in kernels.chance
    seed: int
    repeat: bool
    first: bool  # a member is judged by its scores before the row
    reset: bool  # a member that is wrong more than right begins anew
    ranked: bool  # best and worst members take turns by how a row goes


class Turn(NamedTuple):
    """Rows on their way through the members."""

    block: Block
    key: Array  # (n,) of draws
    plan: Plan  # without importances, which are in lam; the scores after the rows are wanted
    lam: Array  # (1, n), or of each wrong label (classes, n)
    seen: Array  # (n,) weight of all rows up to each
    tally: Array
    later: Array
    ended: Array  # (n,) bool
    over: Array  # (n,) bool, or empty
    p: Array  # (classes,)
    alone: bool  # there is one class only


def adaboost(bases: Sequence[Learner], how: How) -> Learner:
    """The ensemble. Members that are ranked, or may begin anew, go row by row.

    That is slow where a base is no single call, and with the losses of M2.
    """
    many, rule = len(bases), how.rule

    def init(shape: Shape) -> Members:
        sight = Sight(np.zeros(shape.classes), np.zeros(1), np.arange(float(many)))
        return Members(tuple(b.init(shape) for b in bases), Judged(np.zeros((many, 3))), sight)

    def update(s: Members, block: Block, plan: Plan) -> Members:
        if not (how.reset or how.ranked):
            return whole(s, block, plan)
        if bases[0].call is not None and rule.kind != ab.M2 and block.y.size > 1:  # for one row, more than it saves
            return compiled(s, block, plan)
        for i in range(block.y.size):
            one = Block(block.row[i : i + 1], take(block.X, i, i + 1), block.y[i : i + 1])
            s = by_row(s, one, Plan(*(a[:, i : i + 1] if a.shape[1] else a for a in plan)))
        return s

    def begun(s: Members, block: Block, plan: Plan) -> Turn:
        """The rows before the first member."""
        n, classes = block.y.size, len(s.own.weight)
        K = max(classes, 2)
        tally, later = tallies(plan)
        weight = counts(plan) * plan.target.any(axis=0)
        lam = np.empty((K if rule.kind == ab.M2 else 1, n))
        ab.begin(rule.kind == ab.M2, weight, block.y, plan.target, lam)
        # weights of the classes before each row, added in order however rows are cut
        sizes = np.zeros((classes, n + 1))
        sizes[:, 0] = s.own.weight
        (shown,) = np.nonzero(weight)
        sizes[block.y[shown], shown + 1] = weight[shown]
        sizes = sizes.cumsum(axis=1)
        s.own.weight[:] = sizes[:, n]
        seen = reduce(np.add, sizes[:, :n]) + weight
        plain = plan._replace(weight=plan.weight[:0, :0], repeat=plan.repeat[:0, :0], post=lam[:1])
        ended = np.zeros(n, bool)
        over = ended[: later.shape[1]].copy()
        return Turn(
            block, row_keys(how.seed, block.row), plain, lam, seen, tally, later, ended, over, np.empty(K), classes < 2
        )

    def member(s: Members, m: int, turn: Turn, tally: Array, later: Array) -> tuple[Any, Plan]:
        """Member m learns the rows and is judged; its state, and its scores."""
        times = np.empty(turn.block.y.size)
        chance.shown(reduce(np.add, turn.lam), 1.0, how.draw, turn.key, m, times)  # in order, be it one row or many
        mine = counted(private(turn.plan), times, how.repeat)
        state = bases[m].update(s.base[m], turn.block, mine)
        judged = mine.pre if how.first else mine.post
        over = turn.over if later is turn.later else turn.over[:0]
        ab.judge(
            rule,
            tally,
            turn.ended,
            later,
            over,
            mine.pre,
            mine.post,
            judged,
            turn.plan.target,
            turn.lam,
            turn.seen,
            s.record.sums[m],
            turn.p,
            turn.alone,
        )
        return state, mine

    def whole(s: Members, block: Block, plan: Plan) -> Members:
        """All members in their order, each over all rows."""
        turn = begun(s, block, plan)
        new = [member(s, m, turn, turn.tally, turn.later)[0] for m in range(many)]
        outcomes(turn.tally, turn.later, many, plan)
        return s._replace(base=tuple(new))

    def by_row(s: Members, block: Block, plan: Plan) -> Members:
        """One row: each member in its turn; they vote in their fixed order with the weights before the row."""
        turn = begun(s, block, plan)
        before, told, new = s.record.sums.copy(), {}, list(s.base)
        if how.ranked and turn.lam.any():
            s.own.order[:] = _ranked(s.own.order, s.record.sums)
        order = [int(m) for m in s.own.order]
        right = False
        nobody, _ = tallies(plan._replace(post=plan.post[:0, :0]))
        while order:
            m = order.pop(0 if right or not how.ranked else -1)
            errors = s.record.sums[m, 1]
            new[m], told[m] = member(s, m, turn, nobody, nobody)
            turn.ended[:] = False
            right = s.record.sums[m, 1] == errors
            if how.reset and s.record.sums[m, 1] > s.record.sums[m, 0]:
                new[m] = anew(m, s.base[m])
                s.record.sums[m] = 0.0
                s.own.fresh[0] += 1.0
        for m in range(many):
            ab.poll(rule, turn.tally, turn.ended, told[m].pre, before[m], turn.p)
            if turn.over.size:
                ab.poll(rule, turn.later, turn.over, told[m].post, s.record.sums[m], turn.p)
        outcomes(turn.tally, turn.later, many, plan)
        return s._replace(base=tuple(new))

    def anew(m: int, state: State) -> State:
        """Member m as it was before any row."""
        return bases[m].init(shape_of(bases[m], state))

    def compiled(s: Members, block: Block, plan: Plan) -> Members:
        """As `by_row` for each row, in a compiled loop that calls the kernel of the base."""
        weight, lam = counts(plan) * plan.target.any(axis=0), np.empty((1, block.y.size))
        ab.begin(False, weight, block.y, plan.target, lam)
        rows = Rows(
            rule,
            how.draw,
            how.first,
            how.reset,
            how.ranked,
            row_keys(how.seed, block.row),
            block.row,
            block.y,
            plan.target,
            plan.margin,
            lam,
            weight,
            plan.pre,
            plan.post,
            s.record.sums,
            s.own.order,
            s.own.weight,
            s.own.fresh,
        )
        return s._replace(base=one_by_one(bases, s.base, anew, rows, block.X, how.repeat))

    def poll(s: Members, tally: Array, each: Sequence[Scores]) -> None:
        ended, p = np.zeros(tally.shape[1], bool), np.empty(max(2, len(s.own.weight)))
        for scores, sums in zip(each, s.record.sums, strict=True):
            ab.poll(rule, tally, ended, scores, sums, p)

    def told(s: Members) -> dict[str, Any]:
        """Error of each member, and the bound of the theorems on the training error."""
        errors = np.empty(many)
        ab.errors(rule, s.record.sums, errors)
        labels = max(len(s.own.weight), 2) - 1 if rule.kind == ab.M2 else 1
        bound = labels * float(np.prod(2.0 * np.sqrt(errors * (1.0 - errors))))
        fresh = {"members begun anew": int(s.own.fresh[0])} if how.reset else {}
        return {
            "errors of members" if how.first else "errors of members after learning each row": [
                round(float(e), 4) for e in errors
            ],
            "error bound": round(bound, 6) if bound < 1.0 else None,
        } | fresh

    return ensemble(
        bases,
        init,
        update,
        poll,
        {"sums": (many, 3)},
        {"weight": ("classes",), "fresh": (1,), "order": (many,)},
        told,
    )


def _ranked(order: Array, sums: Array) -> Array:
    """The members by how much of what they saw they had right, the best first; of equals the one that was before."""
    total = sums[:, 0] + sums[:, 1]
    accuracy = np.divide(sums[:, 0], total, out=np.zeros(len(sums)), where=total > 0.0)
    return order[np.argsort(-accuracy[order.astype(int)], kind="stable")]
