"""How a method is put together over the base that --base names, and what its declaration looks like.

A base is a gate of gradient steps (perceptron, svm), the same in the space of a Gaussian kernel (kernel), or another
algorithm that goes row by row and heeds the weights of rows; the options of that one begin with `base-`.
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
STEPS = (
    Param("eta", float, 0.3, "step length of perceptron, svm, kernel", low=0.0, open_low=True),
    Param("eta-schedule", str, "constant", "sqrt: eta / sqrt(t) in step t", choices=("constant", "sqrt")),
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
CHANCE = (DRAW, APPLY, SEED)


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
    refused: Mapping[str, str] | None = None  # bases without sense, and why
    inside: bool = False  # it is a part of the gradient steps: no other algorithm can be its base
    margins: bool = False  # bases must heed margins
    on_columns: bool = False  # it looks at rows themselves, not at their kernel values


def declare(
    name: str,
    line: str,
    source: str,
    recipe: Recipe,
    params: tuple[Param, ...] = (),
    notes: tuple[str, ...] = (),
    base: str = "svm",
) -> Spec:
    """The declaration of a method; base: the one that it has by default."""
    many = any(p.name == "members" for p in params)
    return Spec(
        name,
        line,
        source,
        partial(assemble, name, recipe),
        (*params, replace(BASE, default=base), *STEPS),
        scale="std,row-l2",
        cost=f"O({'members x ' if many else ''}nnz) a row; with --base kernel O(support points x columns)",
        memory=f"8 bytes x {'members x ' if many else ''}units x columns; with --base kernel support points x columns",
        cure="--kernel-budget with a lower number",
        settled=settled,
        notes=notes,
    )


def assemble(name: str, recipe: Recipe, base: str, **options: Any) -> Learner:
    """The learner of a method. Raises UsageError for a base that makes no sense."""
    if options.get("draw") == "weight" and options.get("apply") == "repeat":
        raise UsageError("--draw weight: rows have weights, and cannot be repeated: --apply weight")
    why = (recipe.refused or {}).get(base)
    if why:
        raise UsageError(f"--base {base}: {name} makes no sense with it: {why}")
    if base in GATES:
        return _in_space(
            recipe, base == "kernel", lambda seed: recipe.grad(GATES[base], options | {"seed": seed}), options
        )
    return _over_algorithm(name, recipe, base, options)


def _in_space(recipe: Recipe, kernel: bool, make: Make, options: Options) -> Learner:
    if not kernel:
        return recipe.wrap(make, options)
    from bigclf.compose.kernel_space import in_kernel_space

    most = options["kernel_budget"]

    def space(learner: Learner) -> Learner:
        return in_kernel_space(learner, options["gamma"], most or FULL, most > 0)

    if recipe.on_columns:
        return recipe.wrap(lambda seed: space(make(seed)), options)
    return space(recipe.wrap(make, options))  # all members share kernel values


def _over_algorithm(name: str, recipe: Recipe, base: str, options: Options) -> Learner:
    """With another algorithm as the base."""
    from bigclf.algorithms import registry

    spec = registry.get(base, "--base")
    for p in STEPS:
        if options[p.name.replace("-", "_")] != p.default:
            raise UsageError(f"--{p.name}: goes with --base {', '.join(GATES)}, not with {base}")
    if recipe.inside:
        raise UsageError(f"--base {base}: {name} is a part of the steps of {', '.join(GATES)}: take one of them")
    theirs = {k.removeprefix("base_"): v for k, v in options.items() if k.startswith("base_")}
    kernel = _kernel_below(spec, theirs)

    def make(seed: int) -> Learner:
        seeded = {"seed": seed} if any(p.name == "seed" for p in spec.params) else {}
        return registry.build(base, **(theirs | seeded))

    learner = make(1)
    if not spec.uses_weights or learner.grain != "row" or learner.tiled:
        raise UsageError(f"--base {base}: {name} needs a base that goes row by row and heeds the weights of rows")
    if recipe.margins and not learner.margins:
        raise UsageError(f"--base {base}: {name} needs a base that is told what margin to keep")
    return _in_space(recipe, kernel is not None, make, options | (kernel or {}))


def _kernel_below(spec: Spec, options: Options) -> Options | None:
    """Where the innermost base is the kernel: its options, and an svm instead, so that all share the kernel values."""
    if spec.settled is None:
        return None
    base = _base(spec, options)
    if base == "kernel":
        found = {k: options.pop(k, p.default) for p in STEPS[2:] for k in [p.name.replace("-", "_")]}
        options["base"] = "svm"
        return found
    if base in GATES:
        return None
    from bigclf.algorithms import registry

    inner = {k.removeprefix("base_"): v for k, v in options.items() if k.startswith("base_")}
    found_below = _kernel_below(registry.get(base, "--base"), inner)
    for k in [k for k in options if k.startswith("base_")]:
        del options[k]
    options.update({f"base_{k}": v for k, v in inner.items()})
    return found_below


def settled(spec: Spec, given: Mapping[str, Any]) -> Spec:
    """The declaration with options and scaling of a base that is an algorithm; UsageError where there is none."""
    from bigclf.algorithms import registry

    base = _base(spec, given)
    if base in GATES:
        return spec
    registry.get(base, "--base")
    below = registry.meant(base, {k.removeprefix("base-"): v for k, v in given.items() if k.startswith("base-")})
    theirs = tuple(replace(p, name=f"base-{p.name}") for p in below.params if p.name != "seed")
    return replace(spec, params=spec.params + theirs, scale=below.scale)


def _base(spec: Spec, given: Mapping[str, Any]) -> str:
    return str(given.get("base", next(p.default for p in spec.params if p.name == "base")))
