"""Class names and words: one spelling for one thing."""

from __future__ import annotations

import math
import re

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")  # longer ones are no numbers to anyone
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ENDLESS_WORDS = ("inf", "infinity", "+inf", "+infinity", "-inf", "-infinity", "nan", "+nan", "-nan")

BREAKS = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")  # in a name they would break the lines of predict


def canonical(text: str) -> str:
    """The one spelling of a class name: numbers compare as numbers, words are themselves.

    >>> [canonical(t) for t in ("+1", "1.0", "1e0", "-0", "2.50", "007", " yes ", "1e999")]
    ['1', '1', '1', '0', '2.5', '7', 'yes', '1e999']
    """
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return str(int(text))  # integers of any length stay exact
    if len(text) <= 400 and NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return number_name(float(text))
    return text


def number_name(x: float) -> str:
    """
    >>> number_name(3.0), number_name(0.1), number_name(-0.0)
    ('3', '0.1', '0')
    """
    if math.isfinite(x) and x == int(x) and abs(x) < 2**53:
        return str(int(x))
    return repr(x)


def no_class(name: str) -> bool:
    """Whether what stands for a label is a number that is none; such are faults, as among the values.

    >>> no_class("-Infinity"), no_class("info"), no_class("1e400")
    (True, False, False)
    """
    return name.lower() in ENDLESS_WORDS


def sort_key(name: str) -> tuple[int, float, str]:
    """Order of classes: numbers by value, then words. The last of two is the positive one.

    >>> sorted(["b", "10", "9", "-1", "a"], key=sort_key)
    ['-1', '9', '10', 'a', 'b']
    """
    if len(name) <= 400 and NUMBER.fullmatch(name):
        return (0, float(name), name)
    return (1, 0.0, name)
