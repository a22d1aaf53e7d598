"""The parts of a LIBSVM row, compiled: marks, labels, indices, values, and the order of entries.

`text` and the like are addresses (`bigclf.reading.memory`); at least 64 bytes around the text may be read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.jit import exact_helper
from bigclf.reading.decimals import (
    BAD,
    PLUS,
)
from bigclf.reading.memory import (
    get_byte,
    get_float,
    get_int32,
    get_int64,
    get_single,
    get_word,
    load64,
    marks64,
    ones,
    put_float,
    put_int32,
    put_single,
    put_word,
    trailing_zeros,
)

U = np.uint64
CHUNK = 1 << 14  # bytes whose marks are found at once
SPACE, NEWLINE, HASH, COLON = 32, 10, 35, 58
INDEX, QID = 1, 2  # what stands before a colon, where it is not BAD
_FULL, _TENTH = U(0xFFFFFFFFFFFFFFFF), U(1844674407370955161)
_MIX_1, _MIX_2 = U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)


@exact_helper
def find_marks(text: int, at: int, end: int, places: int, size: int, highest: Any, a: Any, b: Any) -> int:
    """Write the places of marks from `at` on, whole lines of about CHUNK bytes; how many, or 0 if `size` is short.

    A mark is what has to be looked at: all bytes up to `highest`, the newline among them, and the signs a and b.
    """
    n = 0
    while True:
        until = min(at + CHUNK, end)
        if n + until - at + 64 > size:
            return 0
        first = n
        while at < until:
            found = marks64(text, at, highest, a, b)
            if until - at < 64:
                found &= (U(1) << U(until - at)) - U(1)
            behind = n + ones(found)
            while n < behind:
                for i in range(4):  # more may be written than were found: the next ones overwrite them
                    put_int32(places, n + i, at + trailing_zeros(found))
                    found &= found - U(1)
                n += 4
            n = behind
            at += 64
        at = until
        for k in range(n - 1, first - 1, -1):
            if get_byte(text, get_int32(places, k)) == NEWLINE:
                return k + 1
        if at >= end:
            return 0


@exact_helper
def is_blank(c: int) -> bool:
    return c == SPACE or (c >= 9 and c <= 13 and c != NEWLINE)


@exact_helper
def long_index(text: int, start: int, end: int) -> tuple[int, Any]:
    """(BAD, INDEX or QID; value) of any text before a colon."""
    if end - start == 3 and load64(text, start) & U(0xFFFFFF) == U(0x646971):  # "qid"
        return QID, U(0)
    if get_byte(text, start) == PLUS:
        start += 1
    x = U(0)
    kind = INDEX if end > start else BAD
    for i in range(start, end):
        digit = U(get_byte(text, i)) - U(48)
        if digit > U(9) or x > _TENTH or (x == _TENTH and digit > U(5)):
            kind = BAD
            break
        x = x * U(10) + digit
    return kind, x


@exact_helper
def all_digits(text: int, start: int, end: int) -> bool:
    good = end > start
    for i in range(start, end):
        good &= 48 <= get_byte(text, i) <= 57
    return good


@exact_helper
def mix(x: Any) -> Any:
    """One to one on 64-bit words (the finish of splitmix64): any low bits of it are a good hash."""
    x = (x ^ (x >> U(30))) * _MIX_1
    x = (x ^ (x >> U(27))) * _MIX_2
    return x ^ (x >> U(31))


@exact_helper
def find_label(text: int, start: int, end: int, slots: int, mask: int, arena: int) -> tuple[int, Any]:
    """(code or -1, key) of a label; the key of up to 8 bytes is the bytes themselves."""
    size = end - start
    if size <= 8:
        key = load64(text, start) & (_FULL >> U(64 - 8 * size))
    else:
        key = U(size)
        for at in range(start, end - 7, 8):
            key = mix(key ^ load64(text, at))
        key = mix(key ^ load64(text, end - 8))
    slot = np.int64(mix(key)) & mask
    while True:
        code = get_int64(slots, 4 * slot)
        if code < 0:
            return code, key
        if get_word(slots, 4 * slot + 1) == key and get_int64(slots, 4 * slot + 3) == size:
            same = True
            if size > 8:
                for i in range(size):
                    same &= get_byte(arena, get_int64(slots, 4 * slot + 2) + i) == get_byte(text, start + i)
            if same:
                return code, key
        slot = (slot + 1) & mask


@exact_helper
def get_value(value: int, i: int, single: int) -> float:
    """The i-th of the values, which are float32 where they are `single`, else float64."""
    return np.float64(get_single(value, i)) if single else get_float(value, i)


@exact_helper
def put_value(value: int, i: int, x: float, single: int) -> None:
    """Write the i-th of the values."""
    if single:
        put_single(value, i, np.float32(x))
    else:
        put_float(value, i, x)


@exact_helper
def settle(column: int, value: int, single: int, keys: int, first: int, n: int, bits: int) -> int:
    """Bring a row's entries into the order of their columns; how many there are then, or -1 if an index is there twice.

    Under hashing `keys` are the hashes turned so that the bits of the column are the upper ones: entries that share a
    column stand side by side in an order that does not depend on the file's, and are added in it.
    """
    if bits == 0:
        for i in range(n):
            put_word(keys, i, U(get_int32(column, first + i)))
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's method
        for i in range(gap, n):
            key, x = get_word(keys, i), get_value(value, first + i, single)
            k = i
            while k >= gap and get_word(keys, k - gap) > key:
                put_word(keys, k, get_word(keys, k - gap))
                put_value(value, first + k, get_value(value, first + k - gap, single), single)
                k -= gap
            put_word(keys, k, key)
            put_value(value, first + k, x, single)
        gap //= 3
    end = first - 1
    last: Any = -1
    for i in range(n):
        key = get_word(keys, i)
        if i > 0 and key == get_word(keys, i - 1):
            return -1
        place: Any = np.int64(key) if bits == 0 else np.int64(key >> U(64 - bits)) + 1
        x = get_value(value, first + i, single)
        if place == last:
            put_value(value, end, get_value(value, end, single) + x, single)
        else:
            end += 1
            put_int32(column, end, place)
            put_value(value, end, x, single)
            last = place
    return end + 1 - first
