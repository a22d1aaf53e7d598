"""Measures --drift on made-up streams whose classes change places: how late, how often for nothing, at what cost.

    python scripts/measure_drift.py [--seeds N] [--rows N] [--cost]

Halfway through the stream the concept changes at once (sudden), or over a tenth of the rows, each row drawn from the
new one with rising probability (gradual). A line is a learner with a detector: false alarms a stream before the
change, the share of streams where the change was found, the median of the rows to that, drifts a stream behind the
first found one, and the mean share of wrong answers. With --cost: processor time a row beside the bare learner's.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.algorithms import registry
from bigclf.cli.options import bases
from bigclf.core import Block, Learner, Shape
from bigclf.units import code_matrix, new_plan

LEARNERS = ("arow", "pa-1 --C 0.01", "perceptron")
WATCHED = (
    "",
    "--drift ddm",
    "--drift ddm --on-drift replace",
    "--drift ddm --drift-rows 7 --drift-warning 1.2 --drift-level 1.95",
    "--drift adwin",
    "--drift adwin --on-drift replace",
)
CODE = code_matrix(["0", "1"])
STEP = 5  # rows at a time: fewer than there are between two drifts
NOISE = 0.1  # share of rows with the other label


def built(words: str) -> Learner:
    """The learner of "NAME --option value ..."."""
    name, *rest = words.split()
    given = {k.removeprefix("--"): v for k, v in zip(rest[::2], rest[1::2], strict=True)}
    kinds = {p.name: p.type for p in registry.meant(name, bases(rest)).params}
    return registry.build(name, **{k.replace("-", "_"): kinds[k](v) for k, v in given.items()})


def stream(rows: int, seed: int, gradual: bool, cols: int = 10) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Rows with a bias, and labels of the one concept, then of the opposite one."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((rows, cols)).astype(np.float32)
    X[:, 0] = 1.0
    y = X[:, 1:] @ r.standard_normal(cols - 1) > 0.0
    half, width = rows // 2, rows // 10 if gradual else 0
    late = np.clip((np.arange(rows) - half + 1) / max(width, 1), 0.0, 1.0)
    flipped = (r.random(rows) < late) ^ (r.random(rows) < NOISE)
    return X, (y ^ flipped).astype(np.int32)


def learned(learner: Learner, X: NDArray[Any], y: NDArray[np.int32]) -> tuple[list[int], float]:
    """Rows of the drifts, and the share of wrong answers."""
    state, last, wrong = learner.init(Shape(1, X.shape[1], 2)), [0], 0
    for a in range(0, len(y), STEP):
        some = slice(a, a + STEP)
        plan = new_plan(CODE, y[some])
        state = learner.update(state, Block(np.arange(a, a + plan.target.shape[1]), X[some], y[some]), plan)
        wrong += int(((plan.pre[0] >= 0.0) != (y[some] == 1)).sum())
        told = learner.told(state) if learner.told is not None else {}
        if (told.get("last_drift") or 0) != last[-1]:
            last.append(told["last_drift"])
    return [n - 1 for n in last[1:]], wrong / len(y)


def measured(words: str, rows: int, seeds: int, gradual: bool) -> str:
    """One line of the table."""
    learner = built(words)
    found = [learned(learner, *stream(rows, seed, gradual)) for seed in range(seeds)]
    early = [sum(i < rows // 2 for i in at) for at, _ in found]
    late = [[i - rows // 2 for i in at if i >= rows // 2] for at, _ in found]
    delays = [each[0] for each in late if each]
    cells = [
        "gradual" if gradual else "sudden",
        f"{np.mean(early):.2f}",
        f"{len(delays) / seeds:.2f}",
        f"{np.median(delays):.0f}" if delays else "-",
        f"{np.mean([len(each) - 1 for each in late if each]):.2f}" if delays else "-",
        f"{np.mean([error for _, error in found]):.4f}",
    ]
    return f"| {words} | {' | '.join(cells)} |"


def cost(rows: int, times: int = 15) -> list[str]:
    """Processor time a row of 28 dense columns, in blocks of 8,192 rows: the least of some interleaved runs."""
    X, y = stream(rows, 1, False, cols=29)
    y = (X[:, 1] > 0).astype(np.int32)  # no drift: what watching costs
    texts = [f"perceptron {more}".strip() for more in WATCHED]
    learners = {words: built(words) for words in texts}
    best = dict.fromkeys(texts, np.inf)
    for _ in range(times):
        for words, learner in learners.items():
            state = learner.init(Shape(1, X.shape[1], 2))
            plans = [new_plan(CODE, y[a : a + 8192]) for a in range(0, rows, 8192)]
            begun = time.process_time()
            for k, plan in enumerate(plans):
                a = k * 8192
                state = learner.update(
                    state, Block(np.arange(a, min(a + 8192, rows)), X[a : a + 8192], y[a : a + 8192]), plan
                )
            best[words] = min(best[words], (time.process_time() - begun) / rows * 1e9)
    bare = best["perceptron"]
    return [f"| {words} | {ns:.1f} | {ns - bare:+.1f} |" for words, ns in best.items()]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--cost", action="store_true")
    args = parser.parse_args()
    if args.cost:
        print("| learner | ns a row | more |\n| --- | --- | --- |")
        print("\n".join(cost(args.rows)))
        return
    print("| learner | change | false alarms | found | rows till then | drifts after | error |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for words in LEARNERS:
        for more in WATCHED:
            for gradual in (False, True):
                print(measured(f"{words} {more}".strip(), args.rows, args.seeds, gradual), flush=True)


if __name__ == "__main__":
    main()
