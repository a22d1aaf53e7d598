"""Plain CSV to rows, compiled: fields that are numbers or missing, and a label.

As for LIBSVM (`libsvm_kernel`), two passes over some 16 KiB at a time: 64 bytes are compared at once and give the
places of delimiters, newlines and all signs that are not plain; then fields are read from place to place.

The kernel stops before the first row that it does not take: one with another number of fields, with a quote or a word,
with a number that is infinite or that only Python can round. Such a row may be right or wrong: others see to that.
"""

from __future__ import annotations

import numpy as np

from bigclf.core import Array
from bigclf.jit import exact_helper, exact_kernel
from bigclf.reading.decimals import (
    DONE,
    number,
    plain,
)
from bigclf.reading.libsvm_tokens import find_label, find_marks
from bigclf.reading.memory import (
    address,
    get_byte,
    get_int32,
    load64,
    put_float,
)
from bigclf.reading.options import MISSING_TOKENS

U = np.uint64
NEWLINE, RETURN, SPACE, TAB = 10, 13, 32, 9
LABEL, PASSED = -1, -2  # what a field is that is no number
GONE = np.array([int.from_bytes(token.encode(), "little") for token in MISSING_TOKENS], np.uint64)

# why the kernel came back
END, ODD, NEW, ROOM, PLACES = range(5)
# what `state` holds: the row to go on with, the text's end, number of the next line, rows written, how many there may
# be, the delimiter, the quote (or the delimiter again), whether each row needs a label, a label's key (NEW) and text
AT, STOP_AT, LINE, ROWS, MOST, DELIMITER, QUOTE, NEED, KEY, TEXT = range(10)
STATE = 11  # the label's text takes two: start, end


@exact_helper
def blank(c: int) -> bool:
    return (c == SPACE) | (c == TAB)


@exact_helper
def trimmed(text: int, start: int, end: int) -> tuple[int, int]:
    """A field without the blanks at its ends."""
    while start < end and blank(get_byte(text, start)):
        start += 1
    while end > start and blank(get_byte(text, end - 1)):
        end -= 1
    return start, end


@exact_helper
def any_field(text: int, start: int, end: int) -> tuple[bool, float]:
    """(whether it is a number or missing, its value or NaN) of a field in any form."""
    start, end = trimmed(text, start, end)
    if end > start:
        kind, x = number(text, start, end)
        if kind == DONE:
            return bool(np.isfinite(x)), x
    size = end - start
    if size < 8:
        key = load64(text, start) & ((U(1) << U(8 * size)) - U(1))
        for i in range(GONE.size):
            if key == GONE[i]:
                return True, np.nan
    return False, 0.0


@exact_kernel
def read_table(
    buffer: Array,
    state: Array,
    marks: Array,
    roles: Array,
    line: Array,
    code: Array,
    matrix: Array,
    slots: Array,
    arena: Array,
) -> int:
    """Rows from state[AT] on, written behind those that are there; returns why it came back.

    roles: (fields of a row,) int32: the column of the matrix, or LABEL or PASSED.
    """
    text, places, role_of = address(buffer), address(marks), address(roles)
    at, end, r, number_of_line = state[AT], state[STOP_AT], state[ROWS], state[LINE]
    delimiter, quote = np.uint8(state[DELIMITER]), np.uint8(state[QUOTE])
    width = roles.size
    stride = 8 * matrix.shape[1]
    out = address(matrix) + r * stride
    why = END
    while at < end and why == END:
        n = find_marks(text, at, end, places, marks.size, np.uint8(RETURN), delimiter, quote)
        if n == 0:
            why = PLACES
            break
        k = 0
        while k < n:
            p = get_int32(places, k)
            if p == at and ((get_byte(text, p) == NEWLINE) | (get_byte(text, p) == RETURN)):  # a blank line
                if get_byte(text, p) == RETURN:
                    if get_byte(text, p + 1) != NEWLINE:
                        why = ODD
                        break
                    k += 1
                at = get_int32(places, k) + 1
                k += 1
                number_of_line += 1
                continue
            if r == state[MOST]:
                end = at
                break
            if r == code.size:
                why = ROOM
                break
            if k + width > n:
                why = ODD
                break
            start = at
            label = -1
            put_float(out, 0, 0.0)
            put_float(out, 1, 0.0)
            for c in range(width):
                p = get_int32(places, k + c)
                sign = get_byte(text, p)
                if sign != delimiter:
                    if c < width - 1 or (sign != NEWLINE and not (sign == RETURN and get_byte(text, p + 1) == NEWLINE)):
                        why = ODD
                        break
                elif c == width - 1:
                    why = ODD
                    break
                role = get_int32(role_of, c)
                if role >= 0:
                    good, x = plain(text, start, p)
                    if not good:
                        good, x = any_field(text, start, p)
                        if not good:
                            why = ODD
                            break
                    put_float(out, role, x)
                elif role == LABEL:
                    a, b = trimmed(text, start, p)
                    if a < b:
                        label, key = find_label(text, a, b, address(slots), slots.shape[0] - 1, address(arena))
                        if label < 0:
                            state[TEXT], state[TEXT + 1], state[KEY] = a, b, np.int64(key)
                            why = NEW
                            break
                    elif state[NEED] != 0:
                        why = ODD
                        break
                start = p + 1
            if why != END:
                break
            line[r], code[r] = number_of_line, label
            k += width
            if get_byte(text, start - 1) == RETURN:
                k += 1
                start += 1
            at = start
            r += 1
            out += stride
            number_of_line += 1
    state[AT], state[ROWS], state[LINE] = at, r, number_of_line
    return why
