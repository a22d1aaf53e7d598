"""The work of `bigclf ikt`: an fsvc learner is trained, and its prototypes are asked for the spread.

Source: Hammouri, thesis, Santiago de Compostela 2022, chapter 3.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.algorithms import registry
from bigclf.cli.comparing import begun, taught
from bigclf.cli.options import Given
from bigclf.cli.report import Report, emit
from bigclf.cli.session import refuse_idle, wishes_of
from bigclf.errors import NO_RESULTS, DataError, Interrupted
from bigclf.kernels import kernel_means as km
from bigclf.kernels import spread, tuning
from bigclf.kernels.prototypes import Prototypes
from bigclf.limits import counted
from bigclf.reading.source import find
from bigclf.training.contest import Entrant

HEIGHT = 11  # lines of the plot


def run(
    data: Sequence[str],
    method: str,
    prototypes: int | str,
    tuning_classes: str,
    json: bool,
    quiet: bool,
    reading: Given,
    encoding: Given,
) -> None:
    """Print the spread by this method."""
    report = Report(quiet)
    refuse_idle(encoding, find(data, reading.get("format", "auto")))
    spec = registry.get("fsvc")
    # under `auto` rows are kept aside
    rule = "auto" if method == "grid" else method
    params = {"prototypes": prototypes, "tuning": rule, "tuning-classes": tuning_classes}
    wishes = wishes_of(encoding, spec, params)
    contest, rows = begun(data, [Entrant("", spec, params, wishes)], reading, encoding)
    stopped = taught(contest, rows, report)
    if stopped:
        raise Interrupted(f"interrupted; {NO_RESULTS}", 128 + stopped)
    fit, stream = contest.fit, contest.stream
    base: Prototypes = fit.state.base
    if (base.filled > 0).sum() < 2:
        raise DataError(data[0], f"all rows are of class '{fit.classes[0]}'; a spread needs two classes")
    found = tuning.curve(base, tuning_classes)
    kappas: NDArray[np.float64] | None = None
    if method == "grid":
        if not base.kind.any():
            raise DataError(
                data[0],
                f"{counted(fit.rows, 'row is', 'rows are')} too few for --method grid, which keeps every eighth aside",
            )
        kappas = np.array([tuning.kappa(m) for m in tuning.answers_aside(base, km.own(base, False), None)])
    at = int(np.argmax(kappas)) if kappas is not None else spread.RULES[method](found)
    if tuning.flat(found):
        raise DataError(", ".join(data), tuning.no_choice(float(spread.SIGMAS[at])))
    pair = tuning.pair_of(base, tuning_classes)
    if json:
        emit(
            {
                "rows": fit.rows,
                "skipped": stream.skips.rows,
                "method": method,
                "scale": wishes.scale,
                "sigma": float(spread.SIGMAS[at]),
                "gamma": float(spread.GAMMAS[at]),
                "classes": [fit.classes[c] for c in pair],
                "prototypes": [int(base.filled[c]) for c in pair],
                "curve": points(found, kappas),
            }
        )
    else:
        print(f"sigma {spread.SIGMAS[at]:.10g}\ngamma {spread.GAMMAS[at]:.10g}")
        if sys.stdout.isatty():
            print("\n".join(["", *plot(found if kappas is None else kappas, at)]))
            print("distance to the ideal kernel" if kappas is None else "kappa on the rows kept aside")
    report.notices(stream.notices)
    report.skipped(stream.skips)
    doubt = doubtful(found if kappas is None else kappas, at)
    if doubt:
        report.note(f"{', '.join(data)}: {doubt}")
    report.note(f"for rows encoded with --scale {wishes.scale}; {report.speed(fit.rows)}")


def doubtful(values: NDArray[np.float64], at: int) -> str | None:
    """What is to be said of a spread `at` which these values (27,) do not bear out; None where they do."""
    sigma = f"sigma {spread.SIGMAS[at]:.10g}"
    if tuning.flat(values):
        return tuning.no_choice(float(spread.SIGMAS[at]))
    if at in (0, len(values) - 1):
        end = "smallest" if at == 0 else "largest"
        return f"{sigma} is the {end} of those tried, a better one may lie beyond; try another --method or --scale"
    return None


def points(found: NDArray[np.float64], kappas: NDArray[np.float64] | None) -> list[dict[str, Any]]:
    """Each spread with its distance to the ideal kernel, and kappa where it was measured; (27,) arrays."""
    out: list[dict[str, Any]] = [
        {"sigma": float(s), "gamma": float(g), "distance": float(d)}
        for s, g, d in zip(spread.SIGMAS, spread.GAMMAS, found, strict=True)
    ]
    for point, value in zip(out, [] if kappas is None else kappas.tolist(), strict=False):
        point["kappa"] = value
    return out


def plot(values: NDArray[np.float64], at: int) -> list[str]:
    """The lines of a plot of values (27,) over the spreads, in plain characters; the one at `at` is marked."""
    low, high = float(values.min()), float(values.max())
    place = np.round((high - values) / max(high - low, 1e-12) * (HEIGHT - 1)).astype(int)
    lines = []
    for row in range(HEIGHT):
        edge = {0: f"{high:.4f}", HEIGHT - 1: f"{low:.4f}"}.get(row, "")
        marks = (" " if p != row else "O" if k == at else "*" for k, p in enumerate(place.tolist()))
        lines.append(f"{edge:>8} |{''.join(f' {m}' for m in marks)}".rstrip())
    lines.append(f"{'':8} +{'-' * 2 * len(values)}")
    scale = "".join(f"{f'2^{power}':<8}" for power in range(-7, 7, 2))
    lines.append(f"{'':11}{scale.rstrip()}  sigma")
    return lines
