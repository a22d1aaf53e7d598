"""Decimal numbers in text become the float64 that Python's float() gives, to the last bit."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from bigclf.jit import exact_kernel
from bigclf.reading import decimals
from bigclf.reading.memory import address

PAD = 64


@exact_kernel
def read_all(buffer, ends, kind, out):
    text = address(buffer)
    start = PAD
    for i in range(ends.size):
        kind[i], out[i] = decimals.number(text, start, ends[i])
        start = ends[i] + 1


def read(tokens):
    buffer = np.frombuffer(b"\n" * PAD + " ".join(tokens).encode() + b"\n" * PAD, np.uint8).copy()
    ends = PAD - 1 + np.cumsum([len(t) + 1 for t in tokens])
    kind, out = np.zeros(len(tokens), np.int64), np.zeros(len(tokens))
    read_all(buffer, ends, kind, out)
    return kind, out


def check(tokens):
    kind, out = read(tokens)
    want = np.array([float(t) for t in tokens])
    done = kind == decimals.DONE
    wrong = np.flatnonzero(done & (out.view(np.int64) != want.view(np.int64)))
    assert not wrong.size, [(tokens[i], out[i], want[i]) for i in wrong[:5]]
    assert not (kind == decimals.BAD).any(), [tokens[i] for i in np.flatnonzero(kind == decimals.BAD)[:5]]
    return float((~done).mean())


def digits(rng, n):
    return str(rng.randrange(10**n)).rjust(n, "0")


def integers(rng):
    return str(rng.randrange(10 ** rng.randrange(1, 26)))


def shortest(rng):
    """What repr gives of any bits."""
    x = np.uint64(rng.getrandbits(63)).view(np.float64)
    return repr(float(x)) if np.isfinite(x) else "0"


def scientific(rng):
    mark = rng.choice(("e", "E", "e+", "e-", "E-00"))
    return f"{digits(rng, rng.randrange(1, 10))}.{digits(rng, rng.randrange(1, 20))}{mark}{rng.randrange(345)}"


def fractions(rng):
    return "0" * rng.randrange(12) + "." + "0" * rng.randrange(12) + digits(rng, rng.randrange(1, 22))


def printed(rng):
    return f"{rng.random() * 10 ** rng.randrange(-12, 12):.{rng.randrange(1, 20)}g}"


def fixed(rng):
    return f"{rng.random() * 1000:.{rng.randrange(25)}f}"


def denormal(rng):
    return f"{rng.random():.{rng.randrange(1, 20)}f}e-{rng.randrange(300, 330)}"


def near_half(rng):
    """Integers in the middle of two float64, and the next ones."""
    return str(((rng.randrange(1 << 53, 1 << 54) | 1) << rng.randrange(12)) + rng.choice((-1, 0, 0, 1)))


def decimal_of(x, places):
    """First `places` digits of a positive fraction, and their exponent."""
    e = len(str(x.numerator)) - len(str(x.denominator)) - places
    m = int(x * Fraction(10) ** -e)
    return f"{m}e{e}"


def near_middle(rng):
    """17 to 20 digits next to the middle of two float64 of any size."""
    bits = rng.getrandbits(62) % (2046 << 52) + (1 << 52)
    low, high = np.array([bits, bits + 1], np.uint64).view(np.float64)
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    m, e = decimal_of(middle, rng.randrange(17, 20)).split("e")
    return f"{int(m) + rng.randrange(-1, 2)}e{e}"


FORMS = [integers, shortest, scientific, fractions, printed, fixed, denormal, near_half]


def test_a_million_numbers_of_every_form():
    rng = random.Random(1)
    tokens = [rng.choice(("", "", "-", "+")) + form(rng) for form in FORMS for _ in range(125_000)]
    assert check(tokens) < 0.03  # Python is asked for hardly more than the integers that are halfway


def test_next_to_rounding_borders():
    rng = random.Random(2)
    check([near_middle(rng) for _ in range(20_000)])


def test_notable_numbers():
    tokens = [
        "0",
        "-0",
        "0.0",
        ".0",
        "0.",
        "00",
        "0e5",
        "0e-400",
        "0e400",
        "5e-324",
        "4.9e-324",
        "2.5e-324",
        "2.4e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678e5",
        "9999999999999999999",
        "10000000000000000000",
        "18446744073709551615",
        "18446744073709551616",
        "1.00000000000000000000000",
        "100000000000000000000000000000",
        "0.000000000000000000000000000001",
        "6929495644600919.5",
        "3.2378839133029012895883524125015321748630376694231080599012970495523019706706765657868357e-309",
    ]
    check(tokens)
    check(["0." + "0" * 300 + "1", "1" + "0" * 300, "1" * 300, "0" * 300 + "1." + "0" * 300, "0." + "3" * 700])


def test_what_is_no_number():
    tokens = [
        ".",
        "+",
        "-",
        "+.",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e-",
        "1.2.3",
        "1..2",
        "--1",
        "+-1",
        "1e5.0",
        "1e5e5",
        "0x10",
        "1_000",
        "1,5",
        "nan",
        "inf",
        "12a",
        "1e5x",
        "1234567890a",
    ]
    kind, _ = read(tokens)
    assert (kind == decimals.BAD).all(), [t for t, k in zip(tokens, kind, strict=True) if k != decimals.BAD]


def test_longer_numbers_are_decided_or_left_to_python():
    half = Fraction(9007199254740993)  # between two float64: the last digit of many decides
    tokens = [f"{half}.{'0' * 30}{d}" for d in (0, 1)] + [f"{int(half) - 1}.{'9' * 30}"]
    kind, out = read(tokens)
    want = [float(t) for t in tokens]
    for k, x, y in zip(kind, out, want, strict=True):
        assert k == decimals.ASK or x == y
