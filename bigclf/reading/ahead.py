"""Reading ahead: a thread reads the next blocks while the present one is learned from."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from bigclf import start

T = TypeVar("T")
DEPTH = 1  # blocks that wait; with one being read and one being learned from, three are in flight
IN_FLIGHT = DEPTH + 2
PATIENCE = 0.1  # seconds between two looks at whether the run was told to stop


def ahead(rows: Iterator[T], waiting: Callable[[], None]) -> Iterator[T]:
    """The blocks in their order; an error comes when all blocks before it were given out.

    `waiting` is called now and then while no block is there (a pipe may be idle), and may raise. The first block is
    read by the caller's own thread, so that compiling, which needs a large stack, never happens on the other.
    """
    first = next(rows, None)
    if first is None:
        return
    yield first
    del first
    ready: queue.Queue[T | BaseException | None] = queue.Queue(DEPTH)
    over = threading.Event()

    def read() -> None:
        end: BaseException | None = None
        try:
            for raw in rows:
                if not _put(ready, raw, over):
                    return
                del raw  # it may go before the next one is there
        except BaseException as e:
            end = e
        _put(ready, end, over)

    start.shed()  # the kernels that the first block needs are loaded
    start.one_arena()  # what one thread frees the other takes again: memory stays flat
    start.keep_pages()
    thread = threading.Thread(target=read, name="reader", daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = ready.get(timeout=PATIENCE)
            except queue.Empty:
                waiting()
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
            del item
    finally:
        over.set()
        thread.join(timeout=2 * PATIENCE)  # where it waits for an idle pipe, it goes with the process


def _put(ready: queue.Queue[T | BaseException | None], item: T | BaseException | None, over: threading.Event) -> bool:
    while not over.is_set():
        try:
            ready.put(item, timeout=PATIENCE)
        except queue.Full:
            continue
        return True
    return False
