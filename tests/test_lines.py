"""Lines of answers: equal to what plain Python writes, for any names, values and gaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bigclf.cli.lines import label_lines, value_lines

NAMES = st.lists(st.text(min_size=1, max_size=9).map(str.encode), min_size=1, max_size=5, unique=True)
VALUE = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 1e16, 1e22, 1e-5, 5e-324, 0.1])


@st.composite
def rows(draw):
    """Names, the number of each row's, values of each row, and the line of each; some rows are skipped."""
    names = draw(NAMES)
    n = draw(st.integers(1, 12))
    guess = np.array(draw(st.lists(st.integers(0, len(names) - 1), min_size=n, max_size=n)), np.int32)
    columns = draw(st.integers(1, 3))
    values = np.array(draw(st.lists(VALUE, min_size=n * columns, max_size=n * columns))).reshape(columns, n)
    place = np.cumsum(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))) - 1
    line = np.full(place[-1] + 1, -1, np.int32)
    line[place] = np.arange(n)
    return names, guess, values, line


@given(rows())
def test_labels(case):
    names, guess, _, line = case
    assert label_lines(names, guess) == b"".join(names[k] + b"\n" for k in guess)
    assert label_lines(names, guess, line) == b"".join((names[guess[i]] if i >= 0 else b"") + b"\n" for i in line)


@given(rows())
def test_values_read_back_as_the_same_numbers_and_are_as_short_as_can_be(case):
    names, guess, values, _ = case
    rest = value_lines(names, guess, values).to_pybytes()
    for k, row in zip(guess, values.T):
        assert rest.startswith(names[k] + b"\t")
        text, _, rest = rest[len(names[k]) + 1 :].partition(b"\n")
        cells = text.split(b"\t")
        assert np.array_equal([float(cell) for cell in cells], row, equal_nan=True)
        assert [np.signbit(float(cell)) for cell in cells] == np.signbit(row).tolist() or np.isnan(row).any()
        for cell, v in zip(cells, row):
            assert len(digits(cell.decode())) == len(digits(repr(float(v))))
    assert rest == b""


def digits(text):
    """The digits that count."""
    return text.lower().split("e")[0].replace(".", "").replace("-", "").strip("0")


@given(rows())
def test_rows_that_were_skipped_leave_empty_lines(case):
    names, guess, values, line = case
    each = [value_lines(names, guess[i : i + 1], values[:, i : i + 1]).to_pybytes() for i in range(len(guess))]
    assert value_lines(names, guess, values).to_pybytes() == b"".join(each)
    assert value_lines(names, guess, values, line).to_pybytes() == b"".join(each[i] if i >= 0 else b"\n" for i in line)
