"""Collects the SPECS of the files beside it: a new algorithm is a new file, and no list is edited."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import bigclf.algorithms as here
from bigclf.algorithms.watching import watchable
from bigclf.core import Learner, Spec
from bigclf.errors import UsageError


@cache
def specs() -> dict[str, Spec]:
    """All algorithms by name, in order of their names."""
    found: dict[str, Spec] = {}
    for module in iter_modules(here.__path__):
        for spec in getattr(import_module(f"{here.__name__}.{module.name}"), "SPECS", ()):
            if spec.name in found:
                raise AssertionError(f"algorithm {spec.name} is declared twice")
            found[spec.name] = spec
    return dict(sorted(found.items()))


def get(name: str, option: str = "--algo", also: str = "") -> Spec:
    """The algorithm of this name; UsageError with the nearest names when there is none, and `also`."""
    if name in specs():
        return specs()[name]
    near = difflib.get_close_matches(name, specs(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "`bigclf algos` lists them"
    hint += f" There are also {also}" if also else ""
    raise UsageError(f"{option}: there is no algorithm '{name}'; {hint}")


def meant(name: str, given: Mapping[str, Any]) -> Spec:
    """The algorithm of this name as the options given settle it: a base, and --drift, bring options of their own."""
    spec = get(name)
    return watchable(spec if spec.settled is None else spec.settled(spec, given), given)


def arguments(spec: Spec, params: dict[str, object]) -> dict[str, object]:
    """Arguments of `spec.build` for these parameters, defaults filled in."""
    return {p.name.replace("-", "_"): params.get(p.name, p.default) for p in spec.params}


def build(name: str, **params: object) -> Learner:
    """The learner of this name; parameters as on the command line, with underscores.

    >>> build("pa-1", C=0.5).signed
    ('w',)
    """
    given = {k.replace("_", "-"): v for k, v in params.items()}
    spec = meant(name, given)
    return spec.build(**arguments(spec, given))
