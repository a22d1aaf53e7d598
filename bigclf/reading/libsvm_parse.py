"""A stretch of LIBSVM text to rows: the compiled kernel does them, this module all that is rare.

Lines and rows are counted from where the stretch begins. So any number of them can be parsed at the same time, each by
a parser of its own, and `bigclf.reading.libsvm` joins them in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.reading import libsvm_kernel as kernel
from bigclf.reading.libsvm_labels import Labels, longer
from bigclf.reading.libsvm_strict import LineFault, TooWide, parse_line
from bigclf.reading.libsvm_tokens import CHUNK
from bigclf.reading.lines import ByteBlock
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Form, Numbers

FOR_EVER = -1  # number of no row


class Fault(NamedTuple):
    """A row that cannot be read."""

    line: int  # lines before it
    row: int
    column: int
    what: str
    memory: bool  # it is for want of memory: no row is to be dropped for that


class Output(NamedTuple):
    """What the kernel writes, in the order of its arguments."""

    line: NDArray[np.int64]
    row: NDArray[np.int64]
    indptr: NDArray[np.int64]
    code: NDArray[np.int32]
    column: NDArray[np.int32]
    value: Numbers

    @classmethod
    def empty(cls, rows: int, entries: int, dtype: str = "float64") -> Output:
        """Room for so many."""
        indptr = np.empty(rows + 1, np.int64)
        indptr[0] = 0
        return cls(
            np.empty(rows, np.int64),
            np.empty(rows, np.int64),
            indptr,
            np.empty(rows, np.int32),
            np.empty(entries, np.int32),
            np.empty(entries, dtype),
        )


class Part(NamedTuple):
    """What a stretch of text holds."""

    rows: Output  # those that can be read
    form: Form | None  # that they are in
    names: list[str]  # of the labels' codes, by the parser; it goes on growing
    known: int  # of them by then
    lines: int
    seen: int  # rows, the others included
    size: int  # bytes that were read
    qids: int
    faults: list[Fault]


class Parser:
    """Parses one stretch after the other. Scratch arrays are used again; those that are given away are not."""

    def __init__(self, options: ReadOptions, stop: bool, form: Callable[[], Form | None] = lambda: None) -> None:
        """stop: a fault ends the stretch. form: what rows are to look like by now."""
        self.options, self.stop, self.form = options, stop, form
        self.labels = Labels()
        self.state = np.zeros(kernel.STATE, np.int64)
        self.state[kernel.LIMIT] = options.max_column - 1
        self.state[kernel.BITS] = options.hash_bits
        self.state[kernel.NEED] = options.need_label
        self.ask = np.empty((kernel.ASKS, 2), np.int64)
        self.answers = np.empty(kernel.ASKS, np.float64)
        self.per_byte = (1 / 64, 1 / 8)  # rows and entries, as of late
        self._scratch(2 * CHUNK)

    def _scratch(self, size: int) -> None:
        self.places = np.empty(size, np.int32)
        self.keys = np.empty(size // 2 + 1, np.uint64)  # each entry has a mark before and behind its colon

    def parse(self, block: ByteBlock, last: int = FOR_EVER) -> Part:
        """The rows of a block, up to the first fault under `stop` and to row number `last`."""
        state, size = self.state, block.end - block.start
        state[kernel.AT], state[kernel.STOP_AT], state[kernel.LAST] = block.start, block.end, last
        for name in (kernel.LINE, kernel.ROW, kernel.ROWS, kernel.ENTRIES, kernel.QIDS, kernel.ANSWERED):
            state[name] = 0
        form = self.form()
        state[kernel.SINGLE], state[kernel.SLOT] = form is not None, form is not None and form.bias
        rows, entries = self.per_byte
        most, spare = size // 2 + 2, CHUNK if state[kernel.SLOT] else CHUNK // 2
        out = Output.empty(
            min(most, int(size * rows) + 64), min(most, int(size * entries) + spare), "float32" if form else "float64"
        )
        faults: list[Fault] = []
        out = self._run(block.buffer, out, faults)
        n, z, done = int(state[kernel.ROWS]), int(state[kernel.ENTRIES]), int(state[kernel.AT]) - block.start
        self.per_byte = (1.02 * n / max(done, 1), 1.02 * z / max(done, 1))
        used = (n, n, n + 1, n, z, z)
        arrays: tuple[NDArray[Any], ...] = out
        out = Output(*(_trimmed(a, u) for a, u in zip(arrays, used, strict=True)))
        lines, seen, qids = (int(state[name]) for name in (kernel.LINE, kernel.ROW, kernel.QIDS))
        return Part(out, form, self.labels.names, len(self.labels.names), lines, seen, done, qids, faults)

    def _run(self, buffer: NDArray[np.uint8], out: Output, faults: list[Fault]) -> Output:
        """Call the kernel until the text, or its part before the last row, is done; the output may have grown."""
        state, labels = self.state, self.labels
        while True:
            given = labels.slots, labels.arena, self.ask, self.answers
            why = kernel.read_rows(buffer, state, self.places, self.keys, *out[:-1], out.value.view(np.uint8), *given)
            if why in (kernel.END, kernel.STOP):
                return out
            if why == kernel.ROOM:
                out = self._grown(out)
            elif why == kernel.PLACES:
                self._scratch(2 * self.places.size)
            elif why == kernel.FLOATS:
                self._answer(buffer)
            elif why == kernel.LABEL:
                start, end = state[kernel.TEXT : kernel.TEXT + 2]
                try:
                    labels.add(buffer[start:end].tobytes(), int(state[kernel.KEY]))
                    continue
                except LineFault:
                    pass
            if why in (kernel.LABEL, kernel.FAULT):
                faults.append(self._fault(buffer))
                if self.stop or faults[-1].memory:
                    return out

    def _grown(self, out: Output) -> Output:
        n, z = int(self.state[kernel.ROWS]), int(self.state[kernel.ENTRIES])
        rows, entries = out.row.size, out.column.size
        if n == rows:
            rows *= 2
        if self.state[kernel.WANTED] > entries:
            entries = max(2 * entries, int(self.state[kernel.WANTED]))
        used = (n, n, n + 1, n, z, z)
        sizes = (rows, rows, rows + 1, rows, entries, entries)
        arrays: tuple[NDArray[Any], ...] = out
        return Output(*(longer(a, u, s) for a, u, s in zip(arrays, used, sizes, strict=True)))

    def _answer(self, buffer: NDArray[np.uint8]) -> None:
        """Numbers of more than 19 digits, so near to a rounding border that the kernel leaves them to Python."""
        asked, done = int(self.state[kernel.ASKED]), int(self.state[kernel.ANSWERED])
        if done + asked > self.answers.size:
            self.answers = longer(self.answers, done, 2 * (done + asked))
        self.answers[done : done + asked] = [float(buffer[a:b].tobytes()) for a, b in self.ask[:asked]]
        self.state[kernel.ANSWERED] = done + asked

    def _fault(self, buffer: NDArray[np.uint8]) -> Fault:
        """What is wrong with the line at hand, which is passed over."""
        state = self.state
        start, end = int(state[kernel.AT]), int(state[kernel.STOP_AT])
        step = 4096
        while (length := buffer[start : min(start + step, end)].tobytes().find(b"\n")) < 0:
            step *= 4
        found = first_fault(buffer[start : start + length].tobytes(), self.options)
        memory = isinstance(found, TooWide)
        fault = Fault(int(state[kernel.LINE]), int(state[kernel.ROW]), found.column, found.what, memory)
        state[kernel.AT] += length + 1
        state[kernel.LINE] += 1
        state[kernel.ROW] += 1
        state[kernel.ANSWERED] = 0
        return fault


def _trimmed(a: NDArray[Any], used: int) -> NDArray[Any]:
    """The used part; a copy where it would keep much unused memory alive."""
    part = a[:used]
    return part if 4 * a.size <= 5 * used else part.copy()


def first_fault(line: bytes, options: ReadOptions) -> LineFault:
    """The first fault of a line that the kernel refused."""
    try:
        parse_line(line, options)
    except LineFault as fault:
        return fault
    raise AssertionError(f"the LIBSVM kernel refused a line that is right: {line[:200]!r}")
