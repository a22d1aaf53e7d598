"""How many processors this process may use: by its affinity, and by the quota of its groups.

Plain Python. Sources: sched_getaffinity(2); cgroup v2, Documentation/admin-guide/cgroup-v2.rst (cpu.max); v1,
scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bigclf.limits import REAL, Roots, groups


def usable(roots: Roots = REAL, affinity: int | None = None) -> int:
    """Processors, at least 1; half a processor of a quota counts as none. affinity: else asked of the system."""
    if affinity is None:
        affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min([float(affinity), *_quotas(roots)])))


def _quotas(roots: Roots) -> Iterator[float]:
    """Processors that the groups of this process, and every group above, are granted."""
    for version, group in groups(roots, "cpu"):
        if version == 2:
            words = _words(group / "cpu.max")
        else:
            words = _words(group / "cpu.cfs_quota_us") + _words(group / "cpu.cfs_period_us")
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
            yield int(words[0]) / int(words[1])


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []
