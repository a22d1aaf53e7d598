"""Digits of a text become float64, exact to the last bit.

Eight digits are taken at once from one 64-bit word. Up to 2^53 and 10^22 one division is exact (Clinger 1990, "How to
read floating point numbers accurately"); up to 19 digits the product with a 128-bit power of five decides (Lemire 2021,
"Number parsing at a gigabyte per second", algorithm 2, in the form without fallback of Mushtak and Lemire 2022). Of
longer numbers the first 19 digits decide unless a rounding border lies just there; only then Python is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigclf.jit import exact_helper
from bigclf.reading.memory import as_float, get_byte, high_product, leading_zeros, load64, trailing_zeros

U = np.uint64
BAD, DONE, ASK = 0, 1, 2  # not a number; its value; only Python can tell
PLUS, MINUS, POINT = 43, 45, 46
SMALLEST, LARGEST = -342, 308  # powers of ten beyond which every 64-bit integer is 0 or infinite


def powers_of_five() -> NDArray[np.uint64]:
    """5^q for q = SMALLEST .. LARGEST, each as the two words (upper, lower) of 128 leading bits.

    Positive powers are cut off and negative ones rounded up, as the proof of the algorithm has it.
    """
    words = []
    for q in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(q)
        if q < 0:
            power = (1 << (power.bit_length() + (127 if q >= -27 else 128 + power.bit_length()))) // power + 1
        shift = power.bit_length() - 128
        power = power >> shift if shift > 0 else power << -shift
        words += [power >> 64, power & (1 << 64) - 1]
    return np.array(words, np.uint64)


FIVES = powers_of_five()
TENS = 10.0 ** np.arange(23)
INTEGER_TENS = 10 ** np.arange(20, dtype=np.uint64)

ZEROS = U(0x3030303030303030)
_CARRY = U(0x7676767676767676)
_TOPS = U(0x8080808080808080)
_PAIR, _PAIRS = U(10 << 8 | 1), U(0x00FF00FF00FF00FF)
_FOUR, _FOURS = U(100 << 16 | 1), U(0x0000FFFF0000FFFF)
_EIGHT = U(10000 << 32 | 1)
_8, _16, _32 = U(8), U(16), U(32)


@exact_helper
def not_digits(t: Any) -> Any:
    """Of eight bytes less '0' (by exclusive or): a word that is 0 where all are digits.

    Else its lowest one is the top bit of the first byte that is no digit.
    """
    return ((t + _CARRY) | t) & _TOPS


@exact_helper
def eight_digits(t: Any) -> Any:
    """Value of eight digits, first digit lowest, each less '0'."""
    t = ((t * _PAIR) >> _8) & _PAIRS
    t = ((t * _FOUR) >> _16) & _FOURS
    return (t * _EIGHT) >> _32


@exact_helper
def digits_before(text: int, start: int, end: int) -> tuple[Any, Any]:
    """(value, 0 where all are digits) of text[start:end], 1 to 8 bytes long."""
    shift = U(64 - 8 * (end - start))
    t = ((load64(text, end - 8) ^ ZEROS) >> shift) << shift
    return eight_digits(t), not_digits(t)


@exact_helper
def leading_digits(text: int, at: int) -> tuple[int, Any]:
    """(how many of the eight bytes from `at` are digits before the first other one, their value)."""
    t = load64(text, at) ^ ZEROS
    n = trailing_zeros(not_digits(t)) >> 3
    if n == 0:
        return 0, U(0)
    return n, eight_digits(t << U(64 - 8 * n))


@exact_helper
def scaled(m: Any, q: int) -> Any:
    """The product m * 10^q rounded to the nearest float64, to even where two are as near; m is any uint64 but 0."""
    if q < SMALLEST:
        return 0.0
    if q > LARGEST:
        return np.inf
    zeros = leading_zeros(m)
    m = m << U(zeros)
    at = U(2 * (q - SMALLEST))
    upper = high_product(m, FIVES[at])
    lower = m * FIVES[at]
    if upper & U(0x1FF) == U(0x1FF):  # the bits cut off from the power may matter
        more = high_product(m, FIVES[at + U(1)])
        lower += more
        if more > lower:
            upper += U(1)
    top = upper >> U(63)
    digits = upper >> (top + U(9))
    power = ((217706 * q) >> 16) + 1086 + np.int64(top) - zeros  # of two, as stored
    if power <= 0:  # denormal
        if power < -62:
            return 0.0
        digits = digits >> U(1 - power)
        digits = (digits + (digits & U(1))) >> U(1)
        return as_float(digits)  # what reaches 2^52 is the smallest normal number, bits and all
    if lower <= U(1) and -4 <= q <= 23 and digits & U(3) == U(1) and digits << (top + U(9)) == upper:
        digits &= ~U(1)  # halfway: to even
    digits = (digits + (digits & U(1))) >> U(1)
    if digits >= U(1 << 53):
        digits = U(1 << 52)
        power += 1
    if power >= 2047:
        return np.inf
    return as_float((digits & U((1 << 52) - 1)) | U(power) << U(52))


@exact_helper
def digit_run(text: int, at: int, m: Any) -> tuple[int, Any, int, bool]:
    """Append the digits from `at` on to m while 19 have room.

    Returns the place behind the last digit, m, how many digits were left out, and whether one of them is not 0.
    """
    while True:
        n, t = leading_digits(text, at)
        if n == 0 or m >= INTEGER_TENS[U(19 - n)]:
            break
        m = m * INTEGER_TENS[U(n)] + t
        at += n
    left, rest = 0, False
    while 48 <= get_byte(text, at) <= 57:
        if left == 0 and m < INTEGER_TENS[18]:
            m = m * U(10) + U(get_byte(text, at) - 48)
        else:
            left += 1
            rest |= get_byte(text, at) != 48
        at += 1
    return at, m, left, rest


@exact_helper
def number(text: int, start: int, end: int) -> tuple[int, float]:
    """(BAD, DONE or ASK; value) of the decimal number text[start:end], behind which stands neither digit nor letter.

    `[+-] digits [. digits] [e [+-] digits]` with a digit before or behind the point.
    """
    at = start
    minus = get_byte(text, at) == MINUS
    if minus or get_byte(text, at) == PLUS:
        at += 1
    first = at
    at, m, q, rest = digit_run(text, at, U(0))
    digits = at - first
    if get_byte(text, at) == POINT:
        first = at + 1
        at, m, left, more = digit_run(text, first, m)  # takes none where 19 stand before the point
        rest |= more
        q -= at - first - left
        digits += at - first
    if digits == 0:
        return BAD, 0.0
    if get_byte(text, at) | 32 == 101:
        at += 1
        down = get_byte(text, at) == MINUS
        if down or get_byte(text, at) == PLUS:
            at += 1
        first = at
        power = 0
        while 48 <= get_byte(text, at) <= 57:
            if power < 1 << 40:
                power = power * 10 + get_byte(text, at) - 48
            at += 1
        if at == first:
            return BAD, 0.0
        q += -power if down else power
    if at != end:
        return BAD, 0.0
    if m == U(0):
        x = 0.0
    elif not rest and m <= U(1 << 53) and -22 <= q <= 22:
        x = np.float64(np.int64(m))
        x = x / TENS[U(-q)] if q < 0 else x * TENS[U(q)]
    else:
        x = scaled(m, q)
        if rest and x != scaled(m + U(1), q):
            return ASK, 0.0
    return DONE, -x if minus else x


@exact_helper
def plain(text: int, start: int, end: int) -> tuple[bool, float]:
    """Whether the text is 1 to 7 digits, or these, a point and up to 8 more, with a minus or without; and its value.

    All that most files hold, and so worth a way of its own, without a branch for each digit.
    """
    minus = get_byte(text, start) == MINUS
    first = start + np.int64(minus)
    t = load64(text, first) ^ ZEROS
    size = trailing_zeros(not_digits(t)) >> 3
    behind = end - first - size - 1
    bad, x = U((size == 0) | (size == 8) | (behind == 0) | (behind > 8)), 0.0
    if bad == U(0):
        m = t & U(255)
        if size > 1:
            m = eight_digits(t << U(64 - 8 * size))
        x = np.float64(np.int64(m))
        if behind > 0:
            f, bad = digits_before(text, end - behind, end)
            bad |= U(get_byte(text, first + size) != POINT)
            m = m * INTEGER_TENS[U(behind)] + f  # 15 digits: both it and the power of ten are exact
            x = np.float64(np.int64(m)) / TENS[U(behind)]
        if minus:
            x = -x
    return bad == U(0), x
