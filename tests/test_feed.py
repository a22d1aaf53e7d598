"""Rows are handed on in pieces that last a quarter of a second: between them a signal is answered."""

from __future__ import annotations

import signal
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from bigclf.core import TILE, Block
from bigclf.model import load
from bigclf.reading.raw import Raw, Sparse
from bigclf.training import feed
from bigclf.training.interrupt import Interrupt, Stop


class Encoder:
    """One that has nothing to do."""

    classes, missing, width, unseen = ["a", "b"], 0, 2, {}
    dropped = SimpleNamespace(before=lambda row: 0)

    def blocks(self, raw, whole):
        n = len(raw.row)
        yield Block(raw.row, np.ones((n, 2)), np.zeros(n, np.int32))


def raw(n, start=0):
    """Rows with nothing in them."""
    nothing = Sparse(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    return Raw(np.arange(start, start + n), nothing, None, str, False, None)


@pytest.fixture
def pieces(monkeypatch):
    """Sizes of the pieces of rows that are handed over at once, where a row takes so many seconds to learn."""
    now = [0.0]
    monkeypatch.setattr(feed, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def sizes(parts, seconds, tiled=False):
        found, one = [], feed.Feed(Encoder(), tiled)
        starts = np.cumsum([0, *parts])
        for n, start in zip(parts, starts):
            for piece in one.take(raw(n, int(start))):
                found.append(len(piece.block.row))
                now[0] += found[-1] * seconds
        return found

    return sizes


def test_pieces_grow_eightfold_while_rows_are_quick(pieces):
    assert pieces([5000], 0.0) == [64, 512, 4096, 328]


def test_a_piece_lasts_a_quarter_of_a_second(pieces):
    assert pieces([1000], 1 / 1024) == [64, 256, 256, 256, 168]
    assert pieces([100_000], 1 / 65536)[:4] == [64, 512, 4096, 16384]


def test_a_row_that_takes_longer_stands_alone(pieces):
    assert pieces([68], 1.0) == [64, 1, 1, 1, 1]


def test_the_pace_is_kept_from_one_block_to_the_next(pieces):
    """And a short rest of a block, which is over soon, says nothing of it."""
    assert pieces([64 + 512 + 3, 5000], 0.0) == [64, 512, 3, 4096, 904]
    assert pieces([100, 300], 1 / 256) == [64, 36, 64, 64, 64, 64, 44]


def test_whole_tiles_are_not_cut_however_long_they_take(pieces):
    assert pieces([1500, 2000], 1.0, tiled=True) == [TILE, TILE, TILE]


def test_a_signal_is_answered_in_the_middle_of_a_block(cli, good, write, folder, monkeypatch):
    """Rows that seem to take a second each: they are learned one by one, and no row of the block is waited for."""
    write("a.svm", "".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(600)))
    good("train", "a.svm", "--algo", "pa-1", "-o", "whole.npz")
    clock, looks = count(0.0, 64.0), count(1)

    def check(self):
        if next(looks) == 20:
            raise Stop(signal.SIGINT, at_once=False)

    with monkeypatch.context() as m:
        m.setattr(feed, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        m.setattr(Interrupt, "check", check)
        assert cli("train", "a.svm", "--algo", "pa-1", "-o", "m.npz").code == 130
    assert 64 < load(folder / "m.ck.npz").rows < 100
    good("train", "a.svm", "--resume", "m.ck.npz", "-o", "m.npz")
    assert load(folder / "m.npz").state.w.tobytes() == load(folder / "whole.npz").state.w.tobytes()
