"""How a method is put together over the base that --base names, and what its declaration looks like.

A base is a gate of gradient steps (perceptron, svm), the same in the space of a Gaussian kernel (kernel), or another
algorithm that goes row by row and heeds the weights of rows; the options of that one begin with `base-`. So a method
stands on a chain of algorithms that ends at a gate, or at an algorithm that has no base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from bigclf.core import Learner, Param, Spec
from bigclf.errors import UsageError

Options: TypeAlias = dict[str, Any]
Make: TypeAlias = Callable[[int], Learner]  # a base whose draws are of this seed

GATES = {"perceptron": 0, "svm": 1, "kernel": 1}  # as in bigclf.kernels.gradient
FULL = 20_000  # support points, where --kernel-budget does not say

BASE = Param(
    "base",
    str,
    "svm",
    "what learns: perceptron, svm, kernel (an svm in a Gaussian kernel's space), or an algorithm, whose options then "
    "begin with base-",
)
ETA = Param("eta", float, 0.3, "step length of perceptron, svm, kernel", low=0.0, high=1e6, open_low=True)
SCHEDULE = Param("eta-schedule", str, "constant", "sqrt: eta / sqrt(t) in step t", choices=("constant", "sqrt"))
SPACE = (
    Param("gamma", float, 1.0, "of --base kernel: exp(-gamma |x - z|^2)", low=0.0, open_low=True),
    Param(
        "kernel-budget",
        int,
        0,
        f"support points of --base kernel, the oldest are removed; 0: all, {FULL:,} at most",
        low=0,
        high=1_000_000,
    ),
)
STEPS = (ETA, SCHEDULE, *SPACE)
SEED = Param("seed", int, 1, "of random draws", low=0)
DRAW = Param(
    "draw",
    str,
    "poisson",
    "how a rate becomes a number of times: drawn, rounded, or as a weight without chance",
    choices=("poisson", "round", "weight"),
)
APPLY = Param(
    "apply", str, "weight", "a row shown k times: one step of weight k, or k steps", choices=("weight", "repeat")
)
MEMBERS = Param("members", int, 10, "of the ensemble", low=1, high=1000)
PASSED = ("moa_compat",)  # a method that has this option hands it on to a base that has it too
CHANCE = (DRAW, APPLY, SEED)
TWO = "{} matter with two classes only"


def seed_of(*path: int) -> int:
    """The seed of what stands at this place of a composition: of a seed, and of the number of a part within it."""
    from bigclf.draws import bits

    return int(bits(1, *path)[0]) >> 1


def plain(gate: int, options: Options, **more: Any) -> Learner:
    """Gradient steps with this gate, and with a gain where `more` names one."""
    from bigclf.algorithms.gradient_descent import descent

    return descent(gate, options["eta"], options["eta_schedule"] == "sqrt", **more)


def alone(make: Make, options: Options) -> Learner:
    """The base itself."""
    return make(options.get("seed", 1))


@dataclass(frozen=True)
class Recipe:
    """What makes a method of a base."""

    wrap: Callable[[Make, Options], Learner] = alone
    grad: Callable[[int, Options], Learner] = plain  # the base, where it is one of gradient steps
    refused: Mapping[str, str] | None = None  # gates without sense, here or further down, and why
    inside: bool = False  # it is a part of the gradient steps: no other algorithm can be its base
    margins: bool = False  # bases must heed margins
    on_columns: bool = False  # it looks at rows themselves, not at their kernel values
    steps: tuple[Param, ...] = STEPS  # those of its own options that are the gate's


def declare(
    name: str,
    line: str,
    source: str,
    recipe: Recipe,
    params: tuple[Param, ...] = (),
    notes: tuple[str, ...] = (),
    base: str = "svm",
    cure: str = "",
) -> Spec:
    """The declaration of a method; base: the one that it has by default; cure: what helps where it does not fit."""
    many = "members x " if MEMBERS in params else ""
    return Spec(
        name,
        line,
        source,
        partial(assemble, name, recipe),
        (*params, replace(BASE, default=base), *recipe.steps),
        scale="std,row-l2",
        cost=f"O({many}nnz) a row; with --base kernel O(support points x columns)",
        memory=f"8 bytes x {many}units x columns; with --base kernel support points x columns",
        cure=cure,
        settled=settled,
        notes=notes,
    )


def settled(spec: Spec, given: Mapping[str, Any]) -> Spec:
    """The declaration with what a base brings along: options, what helps; UsageError where there is no such base."""
    from bigclf.algorithms import registry

    base = base_of(spec, given)
    if base in GATES:
        return replace(spec, cure="--kernel-budget with a lower number") if base == "kernel" else spec
    registry.get(base, "--base", also=", ".join(GATES))
    below = registry.meant(base, {k.removeprefix("base-"): v for k, v in given.items() if k.startswith("base-")})
    theirs = tuple(replace(p, name=f"base-{p.name}") for p in below.params if p != SEED)
    if SEED in below.params and SEED not in spec.params:
        theirs += (SEED,)
    return replace(
        spec,
        params=spec.params + theirs,
        scale="none" if below.scale == "none" else spec.scale,  # trees and densities are the same in any unit
        cure=spec.cure or below.cure,
        settle=partial(_settle, below.settle) if below.settle is not None else None,
    )


def _settle(below: Callable[..., Options], params: Options, fits: Callable[[Options], bool]) -> Options:
    """What the base makes of its parameters so that the whole fits."""
    theirs = {k.removeprefix("base-"): v for k, v in params.items() if k.startswith("base-")}

    def whole(options: Options) -> Options:
        return params | {f"base-{k}": v for k, v in options.items()}

    return whole(below(theirs, lambda options: fits(whole(options))))


def base_of(spec: Spec, given: Mapping[str, Any]) -> str:
    """The base that a method has with these options."""
    return str(given.get("base", next(p.default for p in spec.params if p.name == "base")))


def assemble(name: str, recipe: Recipe, base: str, **options: Any) -> Learner:
    """The learner of a method. Raises UsageError for a base that makes no sense."""
    if options.get("draw") == "weight" and options.get("apply") == "repeat":
        raise UsageError("--draw weight: rows have weights, and cannot be repeated: --apply weight")
    for p in STEPS if base not in GATES else SPACE if base != "kernel" else ():
        if options.get(p.name.replace("-", "_"), p.default) != p.default:
            fit = ("kernel",) if p in SPACE else tuple(GATES)
            raise UsageError(f"--{p.name}: goes with --base {', '.join(fit)}, not with {base}")
    theirs = {k.removeprefix("base_"): v for k, v in options.items() if k.startswith("base_")}
    theirs |= {k: True for k in PASSED if k in theirs and options.get(k)}
    gate, below, space = _chain(base, theirs)
    for part in (recipe, *below):
        why = (part.refused or {}).get(gate)
        if why:
            raise UsageError(f"--base {gate}: {name} makes no sense with it: {why}")
    if base in GATES:
        space = options
        return _in_space(
            recipe, gate == "kernel", lambda s: recipe.grad(GATES[gate], options | {"seed": s}), options, space
        )
    lifted = gate == "kernel" and not any(part.on_columns for part in below)
    if lifted:  # all members share kernel values: the space lies around the whole
        theirs |= {"base_" * (len(below) - 1) + "base": "svm"} | _spaceless(len(below) - 1)
    make = _algorithm(name, recipe, base, theirs)
    return _in_space(recipe, lifted, make, options, space)


def _chain(base: str, options: Options) -> tuple[str, list[Recipe], Options]:
    """Below a method: the gate at the end ('' where there is none), the recipes before it, and the gate's options."""
    from bigclf.algorithms import registry

    if base in GATES:
        return base, [], options
    spec = registry.get(base, "--base")
    if spec.settled is None:
        return "", [], {}
    theirs = {k.removeprefix("base_"): v for k, v in options.items() if k.startswith("base_")}
    inner = base_of(spec, options)
    gate, below, space = _chain(inner, theirs)
    return gate, [spec.build.args[1], *below], options if inner in GATES else space  # type: ignore[attr-defined]


def _spaceless(depth: int) -> Options:
    """The options of the space at the end of a chain, as they are by default."""
    return {"base_" * depth + p.name.replace("-", "_"): p.default for p in SPACE}


def _in_space(recipe: Recipe, kernel: bool, make: Make, options: Options, space: Options) -> Learner:
    if not kernel:
        return recipe.wrap(make, options)
    from bigclf.compose.kernel_space import in_kernel_space

    gamma, most = (space.get(p.name.replace("-", "_"), p.default) for p in SPACE)

    def around(learner: Learner) -> Learner:
        return in_kernel_space(learner, gamma, most or FULL, most > 0)

    if recipe.on_columns:
        return recipe.wrap(lambda seed: around(make(seed)), options)
    return around(recipe.wrap(make, options))


def _algorithm(name: str, recipe: Recipe, base: str, theirs: Options) -> Make:
    """Another algorithm as the base."""
    from bigclf.algorithms import registry

    if recipe.inside:
        raise UsageError(f"--base {base}: {name} is a part of the steps of {', '.join(GATES)}: take one of them")
    spec = registry.get(base, "--base")
    seeded = SEED in registry.meant(base, {k.replace("_", "-"): v for k, v in theirs.items()}).params

    def make(seed: int) -> Learner:
        return registry.build(base, **(theirs | ({"seed": seed} if seeded else {})))

    learner = make(1)
    if not spec.uses_weights or learner.grain != "row" or learner.tiled:
        raise UsageError(f"--base {base}: {name} needs a base that goes row by row and heeds the weights of rows")
    if recipe.margins and not learner.margins:
        raise UsageError(f"--base {base}: {name} needs a base that is told what margin to keep")
    return make
