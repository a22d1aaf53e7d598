"""The Hoeffding tree (VFDT): a leaf is split once enough rows have shown that the best split is the best.

Sources: Domingos & Hulten, Mining high-speed data streams, KDD 2000; adaptive naive Bayes leaves: Holmes, Kirkby &
Pfahringer, Stress-testing Hoeffding trees, PKDD 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bigclf.algorithms.by_class import recoded
from bigclf.core import Array, Axes, Block, Learner, Param, Plan, Scores, Shape, Spec

if TYPE_CHECKING:
    from bigclf.kernels.tree_split import Tree

NODES = 4096
AXES: Axes = {
    "node": ("nodes", 6),
    "dist": ("nodes", "classes"),
    "slot": ("leaves", 3),
    "held": ("leaves", "classes", 3),
    "gauss": ("leaves", "classes", 4, "cols"),
    "tally": (4,),
    "code": ("units", "classes"),
}


def build(
    grace_period: float = 200.0,
    split_confidence: float = 1e-7,
    tie_threshold: float = 0.05,
    leaf: str = "nba",
    candidates: int = 10,
    min_branch: float = 0.01,
    pre_prune: bool = True,
    max_nodes: int = NODES,
    max_leaves: int | str = "auto",
    moa_compat: bool = False,
) -> Learner:
    """The learner. Scores are 2 p - 1 of the shares p of the classes, and of two classes the difference of their p.

    State: at most `max_nodes` nodes, of whose leaves at most `max_leaves` keep what they need to be split; one whose
    most frequent class is seldom wrong gives it up first.
    """
    import numpy as np

    from bigclf.block import rows
    from bigclf.kernels import tree, tree_split

    slots = leaves(max_nodes) if isinstance(max_leaves, str) else min(max_leaves, leaves(max_nodes))
    kind = {"mc": tree.MC, "nb": tree.NB, "nba": tree.NBA}[leaf]
    how = tree_split.How(
        kind,
        float(grace_period),
        split_confidence,
        tie_threshold,
        candidates,
        min_branch,
        pre_prune,
        max_nodes,
        slots,
        moa_compat,
    )

    def init(shape: Shape) -> Tree:
        sizes = {"nodes": 1, "leaves": 1} | shape._asdict()
        arrays = {name: np.zeros([a if isinstance(a, int) else sizes[a] for a in axes]) for name, axes in AXES.items()}
        t = tree_split.Tree(**arrays)
        t.node[0, tree_split.SLOT], t.slot[0, tree_split.OWNER], t.tally[:2] = 1.0, 1.0, 1.0
        return t

    def update(t: Tree, block: Block, plan: Plan) -> Tree:
        row = 0
        while (row := tree.grow_with(t, how, block.X, block.y, plan, row, tree.scratch(t))) < block.y.size:
            t = roomier(t)
        return t

    def call(t: Tree, block: Block, plan: Plan) -> tuple[Any, ...]:
        return tree.grow_with, t, how, block.X, block.y, plan, 0, tree.scratch(t)

    def roomier(t: Tree) -> Tree:
        """With room for two nodes and one slot more; by doubling, so that it does not depend on how rows were cut."""
        nodes, spare = len(t.node), len(t.slot)
        if t.tally[tree_split.NODES] + 2 > nodes:
            nodes = min(2 * nodes, max_nodes)
        if t.tally[tree_split.SLOTS] + 1 > spare:
            spare = min(2 * spare, slots)

        def longer(name: str, a: Array) -> Array:
            size = {"nodes": nodes, "leaves": spare}.get(str(AXES[name][0]), len(a))
            if size == len(a):
                return a
            out = np.zeros((size, *a.shape[1:]))
            out[: len(a)] = a
            return out

        return tree_split.Tree(**{name: longer(name, a) for name, a in t._asdict().items()})

    def decision(t: Tree, X: Any) -> Scores:
        out = np.empty((len(t.code), rows(X)))
        tree.score(t, kind, moa_compat, X, tree.scratch(t), out)
        return out

    def refit(t: Tree, old: Array, new: Array) -> Tree:
        return t._replace(code=recoded(t.code, old, new, t.dist.sum(axis=0)))

    def told(t: Tree) -> dict[str, int]:
        count, used, evicted, settled = (int(n) for n in t.tally)
        depth = np.zeros(count, int)
        for k in np.flatnonzero(t.node[:count, tree_split.LEFT]):  # a child comes after its parent
            depth[t.node[k, tree_split.LEFT : tree_split.SLOT].astype(int)] = depth[k] + 1
        return {
            "nodes": count,
            "leaves": (count + 1) // 2,
            "depth": int(depth.max()),
            "active leaves": used,
            "leaves at rest for want of room": evicted,
            "leaves given up": settled,
        }

    def fault(t: Tree) -> str | None:
        """What is no place in the tree: loops would read and write wherever it says."""
        ts, nodes, spare, cols = tree_split, len(t.node), len(t.slot), t.gauss.shape[3]
        count = float(t.tally[ts.NODES])
        if not (1 <= count <= nodes and count == int(count)):
            return f"its tree has {count:g} nodes, and room for {nodes}"
        node, k = t.node[: int(count)], np.arange(int(count))
        inner = node[:, ts.LEFT] != 0
        left, right, feature = (node[inner, at] for at in (ts.LEFT, ts.RIGHT, ts.FEATURE))
        if not ((left > k[inner]) & (left < count) & (right == left + 1) & (right < count) & (left == left // 1)).all():
            return "a node of its tree has a child that is none"
        if not ((feature >= 0) & (feature < cols) & (feature == feature // 1)).all():
            return "a node of its tree splits by a column that is none"
        slot, owner = node[:, ts.SLOT], t.slot[:, ts.OWNER]
        held = np.flatnonzero(slot)
        if not ((slot >= 0) & (slot <= spare) & (slot == slot // 1)).all() or inner[held].any():
            return "a leaf of its tree has a place that is none"
        if (owner[slot[held].astype(int) - 1] != held + 1).any() or np.count_nonzero(owner) != len(held):
            return "two leaves of its tree have one place"
        return None if t.tally[ts.SLOTS] == len(held) else "its tree counts its leaves wrongly"

    def most(shape: Shape) -> dict[str, int]:
        return {"nodes": max_nodes, "leaves": slots}

    def copies(shape: Shape) -> int:
        """Bytes of the arrays that longer ones take the place of."""
        half = 1 << ((slots - 1).bit_length() - 1) if slots > 1 else 0
        return 8 * 4 * half * shape.classes * shape.cols

    return Learner(
        init,
        update,
        decision,
        AXES,
        most=most,
        solving=copies,
        refit=refit,
        told=told,
        probable=True,
        fault=fault,
        call=call,
        roomier=roomier,
    )


def leaves(nodes: int) -> int:
    """Leaves of a tree of so many nodes."""
    return (nodes + 1) // 2


def settle(params: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """With `auto` leaves: as many as the nodes allow, or by tenths fewer until they fit."""
    if params.get("max-leaves", "auto") != "auto":
        return params
    n = leaves(params.get("max-nodes", NODES))
    while n > 1 and not fits(params | {"max-leaves": n}):
        n = n * 9 // 10
    return params | {"max-leaves": n}


SPECS = (
    Spec(
        "vfdt",
        "Hoeffding tree: a leaf is split once the rows have shown where",
        "Domingos & Hulten, KDD 2000; leaves: Holmes, Kirkby & Pfahringer, PKDD 2005",
        build,
        (
            Param("grace-period", float, 200.0, "weight of the rows between attempts to split a leaf", low=1.0),
            Param(
                "split-confidence",
                float,
                1e-7,
                "chance that a split is not the best",
                low=0.0,
                high=1.0,
                open_low=True,
            ),
            Param("tie-threshold", float, 0.05, "splits nearer to each other than this are taken as equal", low=0.0),
            Param(
                "leaf",
                str,
                "nba",
                "leaves answer by mc: their most frequent class; nb: naive Bayes; nba: what was right more often",
                choices=("nba", "nb", "mc"),
            ),
            Param("candidates", int, 10, "thresholds tried of each column", low=1, high=1000),
            Param("min-branch", float, 0.01, "share of the weight that each side has more of", low=0.0, high=0.5),
            Param(
                "pre-prune",
                bool,
                True,
                "give up a leaf that no split improves; or else split it in the end, however little that brings",
            ),
            Param("max-nodes", int, NODES, "nodes, at most", low=1, high=1_000_000),
            Param(
                "max-leaves",
                int,
                "auto",
                "leaves that can still be split, at most; auto: so many as fit the memory",
                low=1,
                high=500_000,
                words=("auto",),
            ),
            Param(
                "moa-compat",
                bool,
                False,
                "as in MOA: densities are multiplied as they are, and where all vanish a leaf has no answer",
            ),
        ),
        scale="none",
        cost="O(depth + classes x columns) a row",
        memory="32 bytes x leaves x classes x columns",
        settle=settle,
        cure="fewer --max-leaves, or auto",
    ),
)
