"""Raw rows become pieces to learn from: encoded, and cut and joined to whole tiles where a learner wants them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bigclf import block as blk
from bigclf.core import TILE, Block
from bigclf.reading.encode import Encoder
from bigclf.reading.raw import Raw, cut

SECONDS = 0.25  # that a piece shall last: between pieces a signal is answered
FIRST, FASTER = 64, 8  # rows of the first piece; how many times as many the next may have


class Mark(NamedTuple):
    """What the encoder had counted when the last rows were learned."""

    missing: int
    gone: int  # rows dropped by the encoder
    unseen: dict[str, int]


class Piece(NamedTuple):
    """Rows to learn from in one step."""

    block: Block
    classes: tuple[str, ...]  # that are known by then
    cols: int  # of the encoder by then; a feature map makes others of them
    mark: Mark | None  # what was counted up to its last row; None in the middle of encoded rows


class Feed:
    """The pieces of one pass. `tiled`: whole tiles of TILE rows; else as many rows as are soon learned."""

    def __init__(self, encoder: Encoder, tiled: bool, base: int = 0) -> None:
        self.encoder = encoder
        self.base = base  # added to the numbers of the rows
        self.tiler = Tiler() if tiled else None
        self.most = FIRST
        self._classes = tuple(encoder.classes)

    def take(self, raw: Raw) -> Iterator[Piece]:
        """The pieces that these rows, the next of the stream, complete."""
        for piece in self.encoded(raw):
            yield from self.cut(piece)

    def cut(self, piece: Piece) -> Iterator[Piece]:
        """The pieces that these encoded rows, the next of the stream, complete."""
        yield from [piece] if self.tiler is None else self.tiler.take(piece)

    def encoded(self, raw: Raw) -> Iterator[Piece]:
        """The rows, encoded, and as they come."""
        start, n = 0, len(raw.row)
        if self.tiler is not None or n == 0:
            yield from self._taken(raw)
        while self.tiler is None and start < n:
            end, began = min(start + self.most, n), time.monotonic()
            yield from self._taken(raw if end - start == n else cut(raw, start, end))
            times = SECONDS / max(time.monotonic() - began, 1e-9)
            self.most = max(1, int((end - start) * min(times, FASTER))) if times < FASTER or end < n else self.most
            start = end

    def _taken(self, raw: Raw) -> Iterator[Piece]:
        encoder = self.encoder
        for block in encoder.blocks(
            raw._replace(row=raw.row + self.base) if self.base else raw, self.tiler is not None
        ):
            if len(self._classes) != len(encoder.classes):
                self._classes = tuple(encoder.classes)
            mark = Mark(encoder.missing, encoder.dropped.before(int(block.row[-1]) + 1), dict(encoder.unseen))
            yield Piece(block, self._classes, encoder.width, mark)

    def rest(self) -> Iterator[Piece]:
        """What is left at the end of the stream."""
        return iter(()) if self.tiler is None else self.tiler.rest()


class Tiler:
    """Cuts and joins pieces to whole tiles of TILE rows.

    A tile also ends where columns or classes are born: that row depends on the data alone, as tiles must.
    """

    def __init__(self) -> None:
        self._held: list[Block] = []
        self._last: Piece | None = None  # that the held rows come from

    def take(self, piece: Piece) -> Iterator[Piece]:
        """The tiles that this piece completes."""
        block = piece.block
        if self._last and (self._last.cols, self._last.classes) != (piece.cols, piece.classes):
            yield from self.rest()
        start, n = 0, len(block.row)
        while start < n:
            tile = int(block.row[start]) // TILE
            if self._held and int(self._held[0].row[0]) // TILE != tile:
                yield from self.rest()
            end = int(np.searchsorted(block.row, (tile + 1) * TILE))
            self._held.append(Block(block.row[start:end], blk.take(block.X, start, end), block.y[start:end]))
            self._last = piece._replace(mark=piece.mark if end == n else None)
            if end < n or (int(block.row[end - 1]) + 1) % TILE == 0:
                yield from self.rest()
            start = end

    def rest(self) -> Iterator[Piece]:
        """The rows that are held, as the last tile."""
        if self._held and self._last:
            held, self._held = self._held, []
            yield self._last._replace(block=_joined(held))


def _joined(parts: list[Block]) -> Block:
    if len(parts) == 1:
        return parts[0]
    row = np.concatenate([p.row for p in parts])
    return Block(row, blk.join([p.X for p in parts]), np.concatenate([p.y for p in parts]))
