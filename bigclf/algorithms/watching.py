"""--drift: what every algorithm that goes row by row can be given, without its file knowing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bigclf.core import Learner, Param, Spec
from bigclf.errors import UsageError

DDM = "Gama, Medas, Castillo & Rodrigues, Learning with drift detection, SBIA 2004"
ADWIN = "Bifet & Gavalda, Learning from time-changing data with adaptive windowing, SDM 2007"
WARNING_DELTA = 0.01
DRIFT = Param(
    "drift",
    str,
    "none",
    "around a learner that goes row by row: begin anew where its errors become more, by DDM or ADWIN; each brings "
    "options, which --help shows beside it",
    choices=("none", "ddm", "adwin"),
)
ON_DRIFT = Param(
    "on-drift",
    str,
    "reset",
    "a fresh learner, or one in its place that was trained in the background since the warning",
    choices=("reset", "replace"),
)
BRINGS: Mapping[str, tuple[Param, ...]] = {
    "none": (),
    "ddm": (
        ON_DRIFT,
        Param("drift-rows", int, 30, "before DDM says anything", low=1),
        Param("drift-warning", float, 2.0, "of DDM: deviations above its smallest error", low=1.0),
        Param("drift-level", float, 3.0, "of DDM: the same for a drift", low=1.0),
    ),
    "adwin": (
        ON_DRIFT,
        Param("drift-delta", float, 0.002, "of ADWIN: confidence", low=0.0, high=1.0, open_low=True),
        Param(
            "drift-warning-delta",
            float,
            WARNING_DELTA,
            "of a second ADWIN, whose drifts are the warnings of --on-drift replace",
            low=0.0,
            high=1.0,
            open_low=True,
        ),
    ),
}


def brought(option: str) -> str:
    """What an option goes with, where a detector brings it, or the base of a method has it; '' for any other.

    >>> brought("--drift-rows"), brought("--base-on-drift"), brought("--eta")
    ('goes with --drift ddm', 'goes with --base-drift ddm or adwin', '')
    """
    name = option.removeprefix("--")
    base = "base-" * name.count("base-")
    name = name.removeprefix(base)
    found = [kind for kind, params in BRINGS.items() if any(p.name == name for p in params)]
    if found:
        return f"goes with --{base}drift {' or '.join(found)}"
    return "goes with a --base that is an algorithm, not a gate" if base and name == DRIFT.name else ""


def watchable(spec: Spec, given: Mapping[str, Any]) -> Spec:
    """The declaration with --drift, and with the options that the detector among those given brings along."""
    more = (DRIFT, *BRINGS.get(given.get("drift", "none"), ()))
    return replace(spec, params=spec.params + more, build=partial(_build, spec))


def _build(spec: Spec, drift: str, **options: Any) -> Learner:
    """The learner of these arguments. UsageError where it does not go row by row."""
    own = {p.name.replace("-", "_"): options.pop(p.name.replace("-", "_")) for p in BRINGS[drift]}
    learner = spec.build(**options)
    if drift == "none":
        return learner
    if learner.grain != "row":
        raise UsageError(f"--drift {drift}: {spec.name} does not go row by row; arow and perceptron, for two, do")
    from bigclf.compose import drift as d

    anew = own["on_drift"] == "replace"
    if drift == "ddm":
        if own["drift_warning"] > own["drift_level"]:
            raise UsageError("--drift-warning: is above --drift-level, and would never be told before a drift")
        detector = d.ddm(own["drift_rows"], own["drift_warning"], own["drift_level"])
    else:
        if not anew and own["drift_warning_delta"] != WARNING_DELTA:
            raise UsageError("--drift-warning-delta: goes with --on-drift replace; there are no warnings without it")
        if anew and own["drift_warning_delta"] < own["drift_delta"]:
            raise UsageError("--drift-warning-delta: is below --drift-delta, and would be told after a drift")
        detector = d.adwin(own["drift_delta"], own["drift_warning_delta"] if anew else None)
    return d.watched(learner, detector, anew)
