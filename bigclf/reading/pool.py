"""Work done by several threads, its results in the order in which it was given.

The thread that wants the results is one of them: rather than wait it does what no other has begun.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from bigclf import start

T = TypeVar("T")
R = TypeVar("R")
_OVER = 0.2  # seconds to wait for a thread that is to end


def window(threads: int) -> int:
    """Pieces that are worked on, or wait for it, at once: one more than there are threads, so that none is idle."""
    return threads + 1 if threads > 1 else 1


class Job(Generic[T, R]):
    """One piece of work. Whoever takes it first does it."""

    def __init__(self, item: T) -> None:
        self._item: T | None = item
        self._taken, self._done = threading.Lock(), threading.Event()
        self._result: R | None = None
        self._fault: BaseException | None = None

    def run(self, work: Callable[[T], R]) -> None:
        """Do it, unless another has begun."""
        if not self._taken.acquire(blocking=False):
            return
        try:
            self._result = work(cast("T", self._item))
        except BaseException as e:
            self._fault = e
            if not isinstance(e, Exception):  # a signal's: it is for the thread that it came to
                raise
        finally:
            self._item = None
            self._done.set()

    def drop(self) -> None:
        """Nobody need do it any more."""
        self._taken.acquire(blocking=False)

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self._done.is_set()

    def result(self) -> R:
        """Wait for the result; raises what the work raised."""
        self._done.wait()
        if self._fault is not None:
            raise self._fault
        return cast("R", self._result)


class Pool(Generic[T, R]):
    """Threads that work beside the caller's. `make` gives each a function of its own, and the caller's too."""

    def __init__(self, own: Callable[[T], R], make: Callable[[], Callable[[T], R]], helpers: int) -> None:
        self._own, self._make, self._helpers = own, make, helpers
        self._jobs: deque[Job[T, R]] = deque()
        self._queue: queue.SimpleQueue[Job[T, R] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __len__(self) -> int:
        """Number of results that were not taken yet."""
        return len(self._jobs)

    def give(self, item: T) -> None:
        """Have this done too."""
        if len(self._threads) < self._helpers:
            self._start()
        job = Job[T, R](item)
        self._jobs.append(job)
        self._queue.put(job)

    def take(self) -> R:
        """The next result."""
        result = self._wait(self._jobs[0])
        self._jobs.popleft()
        return result

    def wait(self) -> list[R]:
        """All results that were not taken yet; they stay."""
        return [self._wait(job) for job in list(self._jobs)]

    def close(self) -> None:
        """End the threads."""
        for job in self._jobs:
            job.drop()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(_OVER)

    def _wait(self, job: Job[T, R]) -> R:
        for other in (job, *self._jobs):
            if job.done:
                break
            other.run(self._own)
        return job.result()

    def _start(self) -> None:
        start.one_arena()
        thread = threading.Thread(target=self._serve, args=(self._make(),), name="parser", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there is no room for it: the caller does the work
            self._helpers = 0
        else:
            self._threads.append(thread)

    def _serve(self, work: Callable[[T], R]) -> None:
        while (job := self._queue.get()) is not None:
            job.run(work)
