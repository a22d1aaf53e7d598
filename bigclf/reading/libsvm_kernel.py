"""LIBSVM text to arrays, compiled.

Two passes over some 16 KiB at a time, which stay in the nearest cache: 64 bytes are compared at once and give the
places of all colons, blanks, newlines and comment signs; then the rows are read from place to place. So the long chain
"read a digit, is it the last?" is broken up, and the processor works on several numbers at a time.

The kernel knows right from wrong, but explains nothing: where something is odd it stops before that line and says
which of the reasons below it had. `bigclf.reading.libsvm` sees to it and calls again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.reading.decimals import (
    ASK,
    BAD,
    digits_before,
    number,
    plain,
)
from bigclf.reading.libsvm_tokens import (
    COLON,
    HASH,
    INDEX,
    NEWLINE,
    SPACE,
    all_digits,
    find_label,
    find_marks,
    is_blank,
    long_index,
    mix,
    put_value,
    settle,
)
from bigclf.reading.memory import (
    address,
    get_byte,
    get_float,
    get_int32,
    put_int32,
    put_int64,
    put_word,
)

U = np.uint64
ASKS = 16  # answers of Python that are asked for at once

# why the kernel came back
END, FAULT, LABEL, FLOATS, ROOM, PLACES, STOP = range(7)
# what `state` holds: the line to go on with, the text's end, numbers of the next line and row, rows and entries
# written, number of the row to stop at, largest index, bits of the hash (0: none), whether each row needs a label,
# whether values are float32, how many entries a row begins with for the bias, qid tokens seen, a label's key (LABEL),
# numbers asked for and answered (FLOATS), entries wanted (ROOM), a label's text
AT, STOP_AT, LINE, ROW, ROWS, ENTRIES, LAST, LIMIT, BITS, NEED = range(10)
SINGLE, SLOT, QIDS, KEY, ASKED, ANSWERED, WANTED, TEXT = range(10, 18)
STATE = 19  # the label's text takes two: start, end


@exact_helper
def read_entries(
    text: int,
    at: int,
    places: int,
    k: int,
    column: int,
    value: int,
    single: int,
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
        p = get_int32(places, k)
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
            p = get_int32(places, k)
            while p == at and is_blank(get_byte(text, p)):
                at = p + 1
                k += 1
                p = get_int32(places, k)
            if kind == INDEX:
                good, x = plain(text, at, p)
                if not good:
                    known, x = number(text, at, p)
                    if known == BAD:
                        return FAULT, k, z, qids
                    if known == ASK:
                        if asked < answered:
                            x = get_float(answers, asked)
                        else:
                            put_int64(ask, 2 * (asked - answered), at)
                            put_int64(ask, 2 * (asked - answered) + 1, p)
                        asked += 1
                        if asked - answered == ASKS:
                            return FLOATS, k, z, asked
                    if not np.isfinite(x):
                        return FAULT, k, z, qids
                put_value(value, z, x, single)
                if bits == 0:
                    if index > U(limit):
                        return FAULT, k, z, qids
                    place: Any = np.int64(index)
                    ascending &= place > previous
                    previous = place
                    put_int32(column, z, place + 1)
                else:
                    h = mix(index)
                    put_word(keys, z - first, h << U(64 - bits) | h >> U(bits))
                z += 1
            else:
                if not all_digits(text, at, p):
                    return FAULT, k, z, qids
                qids += 1
            if get_byte(text, p) == SPACE:
                at = p + 1
                k += 1
            else:
                at = p
        elif p != at:
            return FAULT, k, z, qids
        elif (c == NEWLINE) | (c == HASH):
            break
        elif is_blank(c):
            at = p + 1
            k += 1
        else:
            return FAULT, k, z, qids
    if asked > answered:
        return FLOATS, k, z, asked
    if bits != 0 or not ascending:
        n = settle(column, value, single, keys, first, z - first, bits)
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
    """Rows from state[AT] on, written behind those that are there; returns why it came back.

    values: bytes, of float64 or of float32 (state[SINGLE]).
    """
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
    single, slot = state[SINGLE], state[SLOT]
    why = END
    while at < end and why == END:
        n = find_marks(text, at, end, places, marks.size, np.uint8(SPACE), np.uint8(COLON), np.uint8(HASH))
        if n == 0:
            why = PLACES
            break
        state[WANTED] = z + (n if slot else n // 2) + 1
        if state[WANTED] > columns.size:
            why = ROOM
            break
        k = 0
        while k < n:
            start = at
            p = get_int32(places, k)
            while p == start and is_blank(get_byte(text, p)):
                start = p + 1
                k += 1
                p = get_int32(places, k)
            c = get_byte(text, p)
            if p > start or not (c == NEWLINE) | (c == HASH):
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
                if slot:
                    put_int32(column, z, 0)
                    put_value(value, z, 1.0, single)
                why, k, stop, extra = read_entries(
                    text,
                    start,
                    places,
                    k,
                    column,
                    value,
                    single,
                    keys,
                    z + slot,
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
            at = get_int32(places, k) + 1
            k += 1
            number_of_line += 1
    state[AT], state[ROWS], state[ENTRIES] = at, r, z
    state[LINE], state[ROW], state[ANSWERED] = number_of_line, number_of_row, answered
    return why
