"""What the user asked of `bigclf train`, where it may write, and what a checkpoint must know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigclf.cli.options import Given
from bigclf.errors import BigclfError
from bigclf.files import writable
from bigclf.reading.source import Source

if TYPE_CHECKING:
    from bigclf.training.cache import Cache

EVERY = "5min"  # how often a checkpoint is saved


@dataclass(frozen=True)
class Job:
    """What the user asked for."""

    sources: Sequence[Source]
    algo: str | None  # None: the model to go on from decides
    output: Path | None
    json: bool
    passes: int | None = None
    go_on: Path | None = None
    resume: Path | None = None
    checkpoint: Path | None = None
    checkpoint_every: str | None = None
    share: tuple[int, int] | None = None
    shuffle: str = "none"
    cache: Path | None = None
    cache_size: int | None = None
    seed: int | None = None
    class_weight: Sequence[str] = ()
    progress: str = "auto"
    log_file: Path | None = None
    reading: Given = field(default_factory=dict)
    encoding: Given = field(default_factory=dict)
    params: Given = field(default_factory=dict)

    @property
    def mixed(self) -> bool:
        """Whether rows are read in random order."""
        return self.shuffle == "block"


def places(job: Job, output: Path | None) -> None:
    """Refuse to write where something is read from, or two things to one place."""
    inputs: list[str | Path] = [s.path for s in job.sources]
    for path in (output, job.checkpoint):
        if path is not None:
            writable(path, inputs)
    if job.log_file is not None:
        models = [p for p in (output, job.checkpoint, job.go_on, job.resume) if p is not None]
        writable(job.log_file, [*inputs, *models])
        if job.log_file in models:
            raise BigclfError(f"{job.log_file}: is to hold a model too; name another file with --log-file")
        if job.log_file.is_file() and job.log_file.open("rb").read(2) == b"PK":
            raise BigclfError(
                f"{job.log_file}: is a model or an archive, and no log; name another file with --log-file"
            )


def kept_options(job: Job) -> list[str]:
    """Options that a run which goes on should have too, as the user gave them."""
    given = {
        "--format": job.reading.get("format"),
        "--budget": job.reading.get("budget"),
        "--threads": job.reading.get("threads"),
        "--checkpoint": job.checkpoint,
        "--checkpoint-every": (job.checkpoint_every or EVERY) if job.checkpoint else None,
        "--log-file": job.log_file,
        "--cache": job.cache,
        "--cache-size": job.cache_size,
    }
    return [word for name, value in given.items() if value is not None for word in (name, str(value))]


def facts_of(job: Job, passes: int, cache: Cache | None = None) -> dict[str, Any]:
    """What a checkpoint must know of the run beside where it stands."""
    return {
        "inputs": [[s.path, s.size, s.mtime] for s in job.sources],
        "limit": job.reading.get("limit", 0),
        "on_error": job.reading.get("on_error", "stop"),
        "share": list(job.share) if job.share else None,
        "shuffle": job.mixed,
        "seed": job.seed or 1,
        "output": str(job.output or "model.npz"),
        "passes": passes,
        "cache": cache and cache.made_of,
    }


def spelled(name: str, value: Any) -> str:
    """An option as on the command line.

    >>> spelled("bias", False), spelled("solve_every", 0), spelled("ignore", [])
    ('with --no-bias', 'with --solve-every 0', 'without --ignore')
    >>> spelled("class_weight", {"a": 2.0, "b": 0.5})
    'with --class-weight a=2 --class-weight b=0.5'
    """
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return f"with --{option}" if value else f"with --no-{option}"
    if value is None or value == []:
        return f"without --{option}"
    if isinstance(value, dict):
        value = [f"{k}={v:.15g}" for k, v in value.items()]
    return "with " + " ".join(f"--{option} {v}" for v in (value if isinstance(value, list) else [value]))
