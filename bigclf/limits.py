"""What this process may still take: the least of all limits that bind it, each with a name that can be told.

Plain Python: it can be asked before anything heavy is imported. Sizes are bytes.

Sources: cgroup v2, Documentation/admin-guide/cgroup-v2.rst; v1, cgroup-v1/memory.rst; proc_pid_status(5), getrlimit(2).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bigclf.errors import UsageError

RESERVE = 16 << 20  # for what no formula counts: objects of the interpreter, gaps of the allocator, the model file
SHARE = 0.8  # of free memory: the rest is for others, and for the file cache that feeds the reader
BUDGET, CONTAINER, ADDRESSES, DATA, FREE = "--budget", "the container's limit", "ulimit -v", "ulimit -d", "free memory"
_NONE = 1 << 60  # cgroup v1 writes "no limit" as a number near 2^63


class Limit(NamedTuple):
    """One limit. `total` is what it grants, `free` what it still leaves to this process."""

    name: str
    total: int
    free: int


class Roots(NamedTuple):
    """Where the kernel shows itself; tests put trees of their own here."""

    proc: Path = Path("/proc")
    cgroup: Path = Path("/sys/fs/cgroup")


REAL = Roots()


@dataclass(frozen=True)
class Headroom:
    """All limits at one moment, and what the process holds."""

    limits: tuple[Limit, ...]
    resident: int

    @property
    def binding(self) -> Limit:
        """The limit that leaves least."""
        return min(self.limits, key=lambda limit: limit.free)

    @property
    def bytes(self) -> int:
        """What may still be taken, a reserve set aside."""
        return max(0, self.binding.free - RESERVE)

    def once(self, resident: int, addresses: int) -> Headroom:
        """What will be left once the process has grown to these sizes: in memory, and in its address space."""
        more = max(0, resident - self.resident)
        return Headroom(
            tuple(
                x._replace(free=x.free - (max(0, addresses - (x.total - x.free)) if x.name == ADDRESSES else more))
                for x in self.limits
            ),
            max(self.resident, resident),
        )

    def __str__(self) -> str:
        """The terms, for messages.

        >>> print(Headroom((Limit("--budget", 512 << 20, 340 << 20),), 172 << 20))
        324 MiB are left of --budget 512 MiB
        """
        return f"{human(self.bytes)} are left of {self.binding.name} {human(self.binding.total)}"


def headroom(budget: int | None = None, roots: Roots = REAL, available: int | None = None) -> Headroom:
    """What may still be taken, by every limit there is.

    budget: cap on the resident size of the whole process. available: free memory of the machine, else it is asked for.
    """
    status = _status(roots.proc)
    resident = status.get("VmRSS", 0) if status else _resident()
    limits = [*_machine(available, roots.proc), *_containers(roots), *_ulimits(status)]
    if budget is not None:
        limits.append(Limit(BUDGET, budget, budget - resident))
    return Headroom(tuple(limits), resident)


def parse_budget(text: str) -> Callable[[Headroom], int]:
    """Bytes from `512MiB`, `2GB` or `50%`: a share is one of what the process could reach under the other limits.

    >>> parse_budget("2GB")(Headroom((), 0)) == 2 << 30
    True
    >>> parse_budget("50%")(Headroom((Limit("free memory", 800, 600),), 200))
    400
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(?:([kmgt]?)i?b?|(%))", text.strip().lower())
    if not found:
        raise UsageError(f"--budget: '{text}' is no size; give bytes, a number with K, M or G, or a share as 50%")
    number = float(found[1])
    if found[3]:
        if not 0 < number <= 100:
            raise UsageError(f"--budget: '{text}' is not between 0% and 100%")
        return lambda others: int(number / 100 * (others.resident + max(0, others.binding.free)))
    size = int(number * 1024 ** " kmgt".index(found[2] or " "))
    if size < 1:
        raise UsageError(f"--budget: '{text}' is less than a byte")
    return lambda others: size


def human(size: float) -> str:
    """
    >>> human(1536), human(37 * 2**30), human(1023.9 * 2**20)
    ('1.5 KiB', '37 GiB', '1 GiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1023.5:
            return f"{size:.4g} {unit}" if size >= 999.5 else f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _machine(available: int | None, proc: Path) -> Iterator[Limit]:
    if available is None:
        available = _sizes(proc / "meminfo").get("MemAvailable")
    if available is None:  # another system
        import psutil

        available = int(psutil.virtual_memory().available)
    share = int(available * SHARE)
    yield Limit(FREE, share, share)


def _status(proc: Path) -> dict[str, int]:
    """Sizes of this process, by the names of /proc/self/status; empty where there is no such file."""
    return {name: size for name, size in _sizes(proc / "self" / "status").items() if name.startswith("Vm")}


def _sizes(file: Path) -> dict[str, int]:
    """Bytes by name, of lines as `VmRSS: 102400 kB`."""
    found = re.findall(r"^(\w+):\s*([0-9]+) kB$", _text(file), re.MULTILINE)
    return {name: int(size) << 10 for name, size in found}


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


def _ulimits(status: dict[str, int]) -> Iterator[Limit]:
    import resource

    for name, kind, used in ((ADDRESSES, resource.RLIMIT_AS, "VmSize"), (DATA, resource.RLIMIT_DATA, "VmData")):
        soft = resource.getrlimit(kind)[0]
        if soft != resource.RLIM_INFINITY and used in status:
            yield Limit(name, soft, soft - status[used])


def _containers(roots: Roots) -> Iterator[Limit]:
    """Limits of this process's groups and of every group above."""
    for version, group in groups(roots, "memory"):
        yield from _version2(group) if version == 2 else _version1(group)


def groups(roots: Roots, controller: str) -> Iterator[tuple[int, Path]]:
    """(version of cgroups, folder) of this process's groups and of every group above, as far as they are shown here.

    A group that is not binds nobody we see. In a container the path may be that of the host, while the root of the
    mount is the container's own group: walking up to the root finds it in either case.
    """
    for line in _text(roots.proc / "self" / "cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            mounts, version = (roots.cgroup, roots.cgroup / "unified"), 2
        elif controller in controllers.split(","):
            mounts, version = (roots.cgroup / controller, roots.cgroup / controllers), 1
        else:
            continue
        for mount in dict.fromkeys(mounts):
            inside = os.path.normpath("/" + path).strip("/")
            while True:
                yield version, mount / inside
                if not inside:
                    break
                inside = inside.rpartition("/")[0]


def _version2(group: Path) -> Iterator[Limit]:
    bounds = [n for n in (_number(group / "memory.max"), _number(group / "memory.high")) if n is not None]
    used = _number(group / "memory.current")
    if bounds and used is not None:
        yield _container(min(bounds), used, group, ("inactive_file",))


def _version1(group: Path) -> Iterator[Limit]:
    bound, used = _number(group / "memory.limit_in_bytes"), _number(group / "memory.usage_in_bytes")
    if bound is not None and used is not None and bound < _NONE:
        yield _container(bound, used, group, ("total_inactive_file", "inactive_file"))


def _container(bound: int, used: int, group: Path, cache: tuple[str, ...]) -> Limit:
    """The page cache of files read once is counted as used, and given back when memory is wanted."""
    facts = dict(line.split()[:2] for line in _text(group / "memory.stat").splitlines() if len(line.split()) > 1)
    reclaimable = next((int(facts[name]) for name in cache if name in facts), 0)
    return Limit(CONTAINER, bound, bound - max(0, used - reclaimable))


def _number(file: Path) -> int | None:
    """The number in a file; None for `max`, for no file, and for what is no number."""
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
