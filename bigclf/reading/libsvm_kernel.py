"""LIBSVM text to arrays, compiled.

Two passes over some 16 KiB at a time, which stay in the nearest cache: 64 bytes are compared at once and give the places
of all colons, blanks, newlines and comment signs; then the rows are read from place to place. So the long chain "read a
digit, is it the last?" is broken up, and the processor works on several numbers at a time.

The kernel knows right from wrong, but explains nothing: where something is odd it stops before that line and says
which of the reasons below it had. `bigclf.reading.libsvm` sees to it and calls again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.reading.decimals import (
    BAD,
    DONE,
    INTEGER_TENS,
    TENS,
    ZEROS,
    digits_before,
    eight_digits,
    not_digits,
    number,
)
from bigclf.reading.memory import (
    address,
    get_byte,
    get_float,
    get_int32,
    get_int64,
    get_word,
    load64,
    marks64,
    ones,
    put_float,
    put_int32,
    put_int64,
    put_word,
    trailing_zeros,
)

U = np.uint64
CHUNK = 1 << 14
MISS = 16  # answers of Python that are asked for at once

# why the kernel came back
END, FAULT, LABEL, FLOATS, ROOM, PLACES, STOP = range(7)
# what `state` holds: the line to go on with, the text's end, numbers of the next line and row, rows and entries written,
# number of the row to stop at, largest index, bits of the hash (0: none), whether each row needs a label, qid tokens
# seen, the label's text and key (LABEL), numbers asked for and answered (FLOATS), entries wanted (ROOM)
AT, STOP_AT, LINE, ROW, ROWS, ENTRIES, LAST, LIMIT, BITS, NEED, QIDS, KEY, ASKED, ANSWERED, WANTED, TEXT = range(16)
STATE = 17  # the label's text takes two: start, end

SPACE, NEWLINE, HASH, COLON, PLUS, MINUS, POINT = 32, 10, 35, 58, 43, 45, 46
_FULL, _TENTH = U(0xFFFFFFFFFFFFFFFF), U(1844674407370955161)
_MIX_1, _MIX_2 = U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
INDEX, QID = 1, 2


@exact_helper
def mix(x: Any) -> Any:
    """One to one on 64-bit words (the finish of splitmix64): any low bits of it are a good hash."""
    x = (x ^ (x >> U(30))) * _MIX_1
    x = (x ^ (x >> U(27))) * _MIX_2
    return x ^ (x >> U(31))


@exact_helper
def find_marks(text: int, at: int, end: int, places: int, size: int) -> int:
    """Write the places of marks from `at` on, whole lines of about CHUNK bytes; how many, or 0 where `size` is short."""
    n = 0
    while True:
        until = min(at + CHUNK, end)
        if n + until - at + 64 > size:
            return 0
        first = n
        while at < until:
            found = marks64(text, at, SPACE, COLON, HASH)
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
def value_of(text: int, start: int, end: int) -> tuple[int, float]:
    """As `decimals.number`; quick for up to 7 digits before the point and 8 behind it."""
    minus = get_byte(text, start) == MINUS
    at = start + np.int64(minus)
    t = load64(text, at) ^ ZEROS
    n = trailing_zeros(not_digits(t)) >> 3
    point = at + n
    places = end - point - 1
    if n == 0:
        return number(text, start, end)
    if n == 1:
        m = t & U(255)
    else:
        m = eight_digits(t << U(64 - 8 * n))
    if places == -1:
        x = np.float64(np.int64(m))
        return DONE, -x if minus else x
    if n == 8 or get_byte(text, point) != POINT or places < 1 or places > 8:
        return number(text, start, end)
    f, bad = digits_before(text, point + 1, end)
    if bad != U(0):
        return number(text, start, end)
    m = m * INTEGER_TENS[U(places)] + f  # 15 digits, so both it and the power of ten are exact
    x = np.float64(np.int64(m)) / TENS[U(places)]
    return DONE, -x if minus else x


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
def settle(column: int, value: int, keys: int, first: int, n: int, bits: int) -> int:
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
            key, x = get_word(keys, i), get_float(value, first + i)
            k = i
            while k >= gap and get_word(keys, k - gap) > key:
                put_word(keys, k, get_word(keys, k - gap))
                put_float(value, first + k, get_float(value, first + k - gap))
                k -= gap
            put_word(keys, k, key)
            put_float(value, first + k, x)
        gap //= 3
    end = first - 1
    last = -1
    for i in range(n):
        key = get_word(keys, i)
        if i > 0 and key == get_word(keys, i - 1):
            return -1
        place = np.int64(key) if bits == 0 else np.int64(key >> U(64 - bits)) + 1
        x = get_float(value, first + i)
        if place == last:
            put_float(value, end, get_float(value, end) + x)
        else:
            end += 1
            put_int32(column, end, place)
            put_float(value, end, x)
            last = place
    return end + 1 - first


@exact_helper
def read_entries(
    text: int,
    at: int,
    places: int,
    k: int,
    column: int,
    value: int,
    keys: int,
    first: int,
    limit: int,
    bits: int,
    ask: int,
    answers: int,
    answered: int,
) -> tuple[int, int, int, int]:
    """The entries of one row from `at` on, where places[k] is the next mark.

    Returns (END or FAULT; k of the newline or comment sign; end of the entries; qid tokens), or FLOATS and, last, how
    many numbers of the row were or are asked for.
    """
    z = first
    asked = qids = 0
    previous = -1
    ascending = True
    while True:
        p = np.int64(get_int32(places, k))
        c = get_byte(text, p)
        if c == COLON:
            kind, index, bad = INDEX, U(0), U(1)
            if p - at >= 1 and p - at <= 8:
                index, bad = digits_before(text, at, p)
            if bad != U(0):
                kind, index = long_index(text, at, p)
                if kind == BAD:
                    return FAULT, k, z, qids
            at = p + 1
            k += 1
            p = np.int64(get_int32(places, k))
            while p == at and is_blank(get_byte(text, p)):
                at = p + 1
                k += 1
                p = np.int64(get_int32(places, k))
            if kind == INDEX:
                known, x = value_of(text, at, p)
                if known != DONE:
                    if known == BAD:
                        return FAULT, k, z, qids
                    if asked < answered:
                        x = get_float(answers, asked)
                    else:
                        put_int64(ask, 2 * (asked - answered), at)
                        put_int64(ask, 2 * (asked - answered) + 1, p)
                    asked += 1
                    if asked - answered == MISS:
                        return FLOATS, k, z, asked
                if not np.isfinite(x):
                    return FAULT, k, z, qids
                put_float(value, z, x)
                if bits == 0:
                    if index > U(limit):
                        return FAULT, k, z, qids
                    place = np.int64(index)
                    ascending &= place > previous
                    previous = place
                    put_int32(column, z, place + 1)
                else:
                    h = mix(index)
                    put_word(keys, z - first, h << U(64 - bits) | h >> U(bits))
                z += 1
            else:
                if p == at:
                    return FAULT, k, z, qids
                for i in range(at, p):
                    if get_byte(text, i) < 48 or get_byte(text, i) > 57:
                        return FAULT, k, z, qids
                qids += 1
            if get_byte(text, p) == SPACE:
                at = p + 1
                k += 1
            else:
                at = p
        elif p != at:
            return FAULT, k, z, qids
        elif c in (NEWLINE, HASH):
            break
        elif is_blank(c):
            at = p + 1
            k += 1
        else:
            return FAULT, k, z, qids
    if asked > answered:
        return FLOATS, k, z, asked
    if bits != 0 or not ascending:
        n = settle(column, value, keys, first, z - first, bits)
        if n < 0:
            return FAULT, k, z, qids
        z = first + n
    return END, k, z, qids


@exact_kernel
def read_rows(
    buffer: Array,
    state: Array,
    marks: Array,
    hashes: Array,
    line: Array,
    row: Array,
    indptr: Array,
    code: Array,
    columns: Array,
    values: Array,
    slots: Array,
    arena: Array,
    ask: Array,
    answers: Array,
) -> int:
    """Rows from state[AT] on, written behind those that are there; returns why it came back."""
    text, places, keys, column, value = (
        address(buffer),
        address(marks),
        address(hashes),
        address(columns),
        address(values),
    )
    at, end = state[AT], state[STOP_AT]
    r, z = state[ROWS], state[ENTRIES]
    number_of_line, number_of_row, answered = state[LINE], state[ROW], state[ANSWERED]
    why = END
    while at < end and why == END:
        n = find_marks(text, at, end, places, marks.size)
        if n == 0:
            why = PLACES
            break
        state[WANTED] = z + n // 2 + 1
        if state[WANTED] > columns.size:
            why = ROOM
            break
        k = 0
        while k < n:
            start = at
            p = np.int64(get_int32(places, k))
            while p == start and is_blank(get_byte(text, p)):
                start = p + 1
                k += 1
                p = np.int64(get_int32(places, k))
            c = get_byte(text, p)
            if p > start or c not in (NEWLINE, HASH):
                if number_of_row == state[LAST]:
                    why = STOP
                    break
                if r == row.size:
                    why = ROOM
                    break
                label = -1
                if p == start or c == COLON:
                    if state[NEED] != 0:
                        why = FAULT
                        break
                else:
                    label, key = find_label(text, start, p, address(slots), slots.shape[0] - 1, address(arena))
                    if label < 0:
                        state[TEXT], state[TEXT + 1], state[KEY] = start, p, np.int64(key)
                        why = LABEL
                        break
                    start = p
                    if c == SPACE:
                        start += 1
                        k += 1
                why, k, stop, extra = read_entries(
                    text,
                    start,
                    places,
                    k,
                    column,
                    value,
                    keys,
                    z,
                    state[LIMIT],
                    state[BITS],
                    address(ask),
                    address(answers),
                    answered,
                )
                if why != END:
                    state[ASKED] = extra - answered
                    break
                state[QIDS] += extra
                answered = 0
                line[r], row[r], code[r] = number_of_line, number_of_row, label
                r += 1
                z = stop
                indptr[r] = z
                number_of_row += 1
            while get_byte(text, get_int32(places, k)) != NEWLINE:
                k += 1
            at = np.int64(get_int32(places, k)) + 1
            k += 1
            number_of_line += 1
    state[AT], state[ROWS], state[ENTRIES] = at, r, z
    state[LINE], state[ROW], state[ANSWERED] = number_of_line, number_of_row, answered
    return why
