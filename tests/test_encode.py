"""From raw rows to blocks: scaling, missing values, centring, and what is born late."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bigclf.block import Csr, cols, densify
from bigclf.errors import DataError, UsageError
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, make_schema
from bigclf.reading.raw import FIRST, Raw, Skips, Sparse, Table, Words, cut, take
from bigclf.reading.schema import Schema, split_scale


def table(label, **columns):
    n = len(label)
    names = sorted(set(label))
    data = Table()
    for name, values in columns.items():
        if isinstance(values[0], str) or values[0] is None:
            words = sorted({v for v in values if v is not None})
            data[name] = Words(np.array([-1 if v is None else words.index(v) for v in values], np.int32), words)
        else:
            data[name] = np.array(values, float)
    y = Words(np.array([names.index(v) for v in label], np.int32), names)
    return Raw(np.arange(n), data, y, lambda i: f"t.csv:{i + 2}", True)


def sparse(rows, label, start=0):
    """Rows as dictionaries of index and value."""
    ptr = np.cumsum([0] + [len(r) for r in rows]).astype(np.int64)
    column = np.array([i + 1 for r in rows for i in r], np.int32)
    value = np.array([v for r in rows for v in r.values()], float)
    names = sorted(set(label))
    y = Words(np.array([names.index(v) for v in label], np.int32), names)
    return Raw(np.arange(start, start + len(rows)), Sparse(ptr, column, value), y, lambda i: f"s.svm:{i + 1}", True)


def encode(raw, encoder=None, **wishes):
    if encoder is None:
        schema = make_schema([raw], None, Wishes(**wishes), Counter())
        encoder = Encoder(schema, Skips(True))
    return list(encoder.blocks(raw)), encoder


def test_columns_are_the_bias_an_unused_one_and_the_features():
    (block,), encoder = encode(table("ab", x=[1.0, 3.0], y=[5.0, 7.0]))
    np.testing.assert_array_equal(block.X, [[1, 0, 1, 5], [1, 0, 3, 7]])
    assert block.X.dtype == np.float32
    assert encoder.schema.columns_named() == ["(bias)", "0", "x", "y"]
    (block,), _ = encode(sparse([{1: 1.0, 2: 5.0}, {1: 3.0, 2: 7.0}], "ab"))
    np.testing.assert_array_equal(block.X, [[1, 0, 1, 5], [1, 0, 3, 7]])


@pytest.mark.parametrize("stored", [np.float32, np.float64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "wishes", [{}, {"bias": False}, {"scale": "std,row-l2"}, {"scale": "minmax", "missing": "zero"}]
)
def test_a_table_of_numbers_gives_the_same_block_however_it_lies(wishes, dtype, stored):
    """Also where a column is shifted before it is rounded, and where values are missing."""
    rng = np.random.default_rng(3)
    matrix = np.zeros((300, FIRST + 3), stored)
    matrix[:, FIRST:] = rng.normal(size=(300, 3)) + [0, 1e6, -5]
    matrix[::7, FIRST], matrix[1::7, FIRST] = np.nan, -0.0
    columns = {name: matrix[:, FIRST + j].copy() for j, name in enumerate("xyz")}
    label = ["a", "b"] * 150
    (want,), plain = encode(table(label, **columns), dtype=dtype, **wishes)
    assert want.X.dtype == dtype and plain.missing == 43 and plain.schema.reference[FIRST + 1] != 0
    mixed = columns | {"x": columns["x"].astype(float)}
    for data in (Table.laid_out("xyz", matrix), Table.of_numbers(columns), Table.of_numbers(mixed)):
        whole = table(label)._replace(data=data)
        (got,), encoder = encode(whole, dtype=dtype, **wishes)
        assert got.X.tobytes() == want.X.tobytes() and encoder.missing == 43
        (rest,) = encoder.blocks(cut(whole, 131, 290))
        (few,) = encoder.blocks(take(whole, np.array([5, 290])))
        assert rest.X.tobytes() == want.X[131:290].tobytes() and few.X.tobytes() == want.X[[5, 290]].tobytes()


@pytest.mark.parametrize("of", [Table, Table.of_numbers])
def test_a_value_beyond_the_type_is_refused_with_its_place(of):
    values = np.arange(300.0)
    raw = table("ab" * 150)
    _, encoder = encode(raw._replace(data=of({"x": values, "z": values})))
    for value, what in ((1e39, r"the value is beyond 3.4e\+38; train with"), (-np.inf, "value -inf is not finite$")):
        beyond = np.where(values == 200, value, values)
        with pytest.raises(DataError, match=f"^t.csv:202: column 'z': {what}"):
            list(encoder.blocks(raw._replace(data=of({"x": values, "z": beyond}))))
    narrow = values.astype(np.float32)
    with pytest.raises(DataError, match="^t.csv:202: column 'z': value -inf is not finite$"):
        list(encoder.blocks(raw._replace(data=of({"x": narrow, "z": beyond.astype(np.float32)}))))


def test_labels_are_coded_by_their_names_however_rows_number_them():
    raw = table("abbab", x=[1.0] * 5)
    (block,), encoder = encode(raw)
    for names, code in (["a", "b"], [0, 1, -1, 0, 1]), (["b", "a"], [1, 0, -1, 1, 0]), (["b"], [-1, 0, -1, -1, 0]):
        (got,) = encoder.blocks(raw._replace(label=Words(np.array(code, np.int32), names)))
        assert got.y.tolist() == [block.y[i] if code[i] >= 0 else -1 for i in range(5)]


@pytest.mark.parametrize(
    ("scale", "want"),
    [
        ("none", [1, 2, 5]),
        ("minmax", [0, 0.25, 1]),
        ("maxabs", [0.2, 0.4, 1]),
        ("std", [-0.98058, -0.39223, 1.37281]),
    ],
)
def test_column_scalings(scale, want):
    (block,), _ = encode(table("aab", x=[1.0, 2.0, 5.0], c=[4.0, 4.0, 4.0]), scale=scale)
    np.testing.assert_allclose(block.X[:, 2], want, atol=1e-5)
    constant = {"none": 4, "minmax": 0, "maxabs": 1, "std": 0}[scale]
    np.testing.assert_array_equal(block.X[:, 3], [constant] * 3)
    np.testing.assert_array_equal(block.X[:, 0], [1, 1, 1])


def test_rows_of_length_one_count_the_bias():
    (block,), _ = encode(table("ab", x=[2.0, 0.0]), scale="row-l2")
    np.testing.assert_allclose(block.X[:, 0], [1 / np.sqrt(5), 1], rtol=1e-6)
    np.testing.assert_allclose((block.X.astype(float) ** 2).sum(axis=1), 1, rtol=1e-6)


def test_sparse_rows_are_never_shifted():
    rows = [{1: 4.0}, {}, {900: -2.0}, {}, {}]
    for scale in ("minmax", "std", "maxabs"):
        (block,), encoder = encode(sparse(rows, "ababa"), scale=scale)
        assert isinstance(block.X, Csr)
        assert encoder.schema.layout == "csr"
        dense = densify(block.X)
        assert dense[0, 2] == 1
        assert dense[2, 901] == -1
        assert (dense[1] == [1] + [0] * 901).all()


@pytest.mark.parametrize("text", ["minmax,std", "row-l2,std", "abs", "none,none", ""])
def test_scalings_that_cannot_be_meant(text):
    with pytest.raises(UsageError, match="--scale"):
        split_scale(text)


def test_words_become_one_column_each_and_a_missing_one_is_zeros():
    (block,), encoder = encode(table("abab", w=["red", None, "blue", "red"]))
    assert encoder.schema.columns_named()[2:] == ["w=blue", "w=red"]
    np.testing.assert_array_equal(block.X[:, 2:], [[0, 1], [0, 0], [1, 0], [0, 1]])
    assert encoder.missing == 1


def test_an_unseen_word_weighs_nothing_and_is_counted():
    _, encoder = encode(table("ab", w=["red", "blue"]))
    (block,), _ = encode(table("ab", w=["green", "red"]), encoder)
    np.testing.assert_array_equal(block.X[:, 2:], [[0, 0], [0, 1]])
    assert encoder.unseen == {"w": 1}


def test_missing_numbers_take_the_mean_or_zero_or_are_faults():
    gap = table("aab", x=[1.0, np.nan, 5.0])
    (block,), encoder = encode(gap)
    assert (block.X[1, 2], encoder.missing) == (3.0, 1)
    (block,), _ = encode(gap, missing="zero")
    assert block.X[1, 2] == 0.0
    with pytest.raises(DataError, match=r"t.csv:3: column 'x': value is missing"):
        encode(gap, missing="error")
    schema = make_schema([gap], None, Wishes(missing="skip"), Counter())
    encoder = Encoder(schema, Skips(False))
    (block,), _ = encode(gap, encoder)
    assert block.row.tolist() == [0, 2]
    assert encoder.dropped.skips.rows == 1


@pytest.mark.parametrize("missing", ["skip", "error"])
def test_a_row_that_is_left_out_is_looked_at_for_infinite_values_first(missing):
    """A reader may leave them to the encoder."""
    schema = make_schema([table("ab", x=[1.0, 2.0], z=[1.0, 2.0])], None, Wishes(missing=missing), Counter())
    bad = table("aab", x=[1.0, np.nan, 2.0], z=[1.0, -np.inf, 2.0])
    with pytest.raises(DataError, match=r"t.csv:3: column 'z': value -inf is not finite"):
        encode(bad, Encoder(schema, Skips(True)))


def test_a_column_far_from_zero_keeps_its_spread_in_float32():
    x = 1e9 + np.arange(100.0)
    (block,), encoder = encode(table("ab" * 50, x=list(x)))
    assert len(np.unique(block.X[:, 2])) == 100
    assert encoder.schema.reference[2] != 0
    (block,), encoder = encode(sparse([{1: v} for v in x], "ab" * 50))
    assert len(np.unique(block.X[:, 2])) == 100


def test_sparse_rows_with_such_a_column_are_kept_in_float64():
    rows = [{1: 1e9 + i, 1000 + i: 1.0, 5000 + i: 1.0} for i in range(100)]
    (block,), encoder = encode(sparse(rows, "ab" * 50))
    assert isinstance(block.X, Csr)
    assert encoder.schema.dtype == "float64"
    assert len(np.unique(densify(block.X)[:, 2])) == 100


def test_a_block_ends_where_a_column_or_a_class_is_born():
    _, encoder = encode(sparse([{1: 1.0, 2: 2.0}] * 4, "abab"))
    late = sparse([{1: 1.0}, {1: 1.0, 9: 3.0}, {2: 1.0}, {2: 1.0}], "abca", start=4)
    blocks, _ = encode(late, encoder)
    assert [(b.row.tolist(), cols(b.X)) for b in blocks] == [([4], 4), ([5], 11), ([6, 7], 11)]
    assert encoder.classes == ["a", "b", "c"]
    assert encoder.grown().used == 11
    assert encoder.grown().factor[10] == 1.0


def test_columns_grow_by_an_eighth_and_only_what_was_met_is_kept():
    _, encoder = encode(sparse([dict.fromkeys(range(100), 1.0)] * 2, "ab"))
    blocks, _ = encode(sparse([{101: 1.0}, {105: 1.0}], "ab", start=2), encoder)
    assert [cols(b.X) for b in blocks] == [113]
    assert encoder.grown().used == 107


@pytest.mark.parametrize(
    "rows", [[{1: 1.0, 2: 3.0}] * 2, [dict.fromkeys(range(1, 5001), 1.0)] * 2], ids=["dense", "csr"]
)
def test_index_0_counts_as_a_feature_once_a_row_has_it(rows):
    _, encoder = encode(sparse(rows, "ab"))
    n = len(rows[0])
    assert encoder.grown().count() == n
    encode(sparse([{1: 1.0}, {0: 7.0}], "ab", start=2), encoder)
    assert encoder.grown().count() == n + 1
    encode(sparse([{n + 1: 1.0}], "a", start=4), encoder)
    assert encoder.grown().count() == n + 2


def test_index_0_counts_as_no_feature_where_the_model_has_not_met_it():
    _, encoder = encode(sparse([{1: 1.0, 2: 3.0}] * 2, "ab"))
    frozen = Encoder(encoder.grown(), Skips(True), frozen=True)
    encode(sparse([{0: 1.0}], "a", start=2), frozen)
    assert frozen.grown().count() == 2


def test_a_frozen_encoder_leaves_out_what_the_model_has_not():
    _, encoder = encode(sparse([{1: 1.0, 2: 2.0}] * 4, "abab"))
    frozen = Encoder(encoder.schema, Skips(True), frozen=True)
    (block,), _ = encode(sparse([{1: 7.0, 9: 3.0}], "a"), frozen)
    np.testing.assert_array_equal(block.X, [[1, 0, 7, 0]])
    assert frozen.left_out == 1


def test_a_value_beyond_float32_is_a_fault_with_its_place():
    for raw in (table("ab", x=[1.0, 1e39]), sparse([{1: 1.0}, {1: 1e39}], "ab")):
        with pytest.raises(DataError, match=r":[23]: column '(x|1)': the value is beyond 3.4e.38; train with --dtype"):
            encode(raw)
        (block,), _ = encode(raw, dtype="float64")
        assert block.X[1, 2] == 1e39


def test_the_schema_comes_back_from_json():
    _, encoder = encode(table("ab", w=["red", "blue"], x=[1.0, 2.0]), scale="minmax,row-l2")
    back = Schema.load(encoder.schema.head(), encoder.schema.arrays())
    assert back.head() == encoder.schema.head()
    assert back.features == encoder.schema.features


def test_more_than_a_thousand_classes_look_like_regression():
    with pytest.raises(DataError, match="regression"):
        encode(table([str(i) for i in range(1001)], x=[1.0] * 1001))
