"""Reading ahead keeps the order, hands on errors in their place, and leaves no thread behind."""

from __future__ import annotations

import threading
import time

import pytest

from bigclf.reading.ahead import ahead


def numbers(n, fail=None, slow=0.0):
    for i in range(n):
        if i == fail:
            raise ValueError(f"at {i}")
        time.sleep(slow)
        yield i


def nothing():
    pass


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_order(n):
    assert list(ahead(numbers(n), nothing)) == list(range(n))


@pytest.mark.parametrize("fail", [0, 1, 7])
def test_an_error_comes_after_the_blocks_before_it(fail):
    got = []
    with pytest.raises(ValueError, match=f"at {fail}"):
        got.extend(ahead(numbers(10, fail), nothing))
    assert got == list(range(fail))


def test_a_consumer_that_leaves_ends_the_thread():
    before = threading.active_count()
    for i in ahead(numbers(1000), nothing):
        if i == 5:
            break
    time.sleep(0.5)
    assert threading.active_count() == before


def test_waiting_is_called_and_may_end_the_run():
    class Enough(Exception):
        pass

    def waiting():
        raise Enough

    got = []
    with pytest.raises(Enough):
        got.extend(ahead(numbers(3, slow=0.4), waiting))
    assert got == [0]


def test_few_blocks_are_read_ahead():
    read = []

    def source():
        for i in range(20):
            read.append(i)
            yield i

    stream = ahead(source(), nothing)
    next(stream), next(stream)
    time.sleep(0.3)
    assert len(read) <= 4
    stream.close()
