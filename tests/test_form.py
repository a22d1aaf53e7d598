"""Sparse rows that the reader hands on as blocks have them give the same blocks as rows that the encoder copies."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bigclf.block import Csr
from bigclf.errors import DataError
from bigclf.reading.encode import Encoder
from bigclf.reading.head import Wishes, collect, make_schema
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Skips
from bigclf.reading.shuffle import Shuffled
from bigclf.reading.source import find
from bigclf.reading.stream import Stream

VALUES = ("1", "0", "-0.5", "3.25e-3", "1e-50", "123456.789", "3.4028235e38", "7e30")
ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.dictionaries(st.integers(0, 60), st.sampled_from(VALUES))))


def written(path, rows):
    """The rows as text; every third is not in order."""
    lines = []
    for n, (label, row) in enumerate(rows):
        entries = sorted(row.items(), reverse=n % 3 == 2)
        lines.append(" ".join([label, *(f"{i}:{v}" for i, v in entries)]) + "\n")
    path.write_text("".join(lines))
    return find([str(path)])


def schema_of(tmp_path, **wishes):
    """Of a head of 40 columns, most of which no row has."""
    head = [("a", {i: f"{i + 1}.5"}) for i in range(0, 40, 3)] + [("b", {1: "0.25"})] * 20
    stream = Stream(written(tmp_path / "head.svm", head), ReadOptions())
    raws, _ = collect(iter(stream))
    return make_schema(raws, None, Wishes(**wishes), Counter())


def blocks(stream, schema, ready, frozen=False):
    """What the encoder makes of a stream; whether index 0 was met; entries left out, or the fault."""
    encoder, found, fault = Encoder(schema, Skips(True), frozen=frozen), [], None
    assert encoder.form is not None
    stream.form = encoder.form if ready else None
    try:
        for raw in stream:
            assert isinstance(raw.data, Csr) == ready
            for block in encoder.blocks(raw):
                X = block.X
                arrays = [a.tobytes() for a in (block.row, block.y, X.data, X.indices, X.indptr)]
                found.append((arrays, X.data.dtype, X.cols, encoder.used, len(encoder.classes)))
    except DataError as e:
        fault = str(e)
    return found, encoder.schema.zero_based, fault or encoder.left_out


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("wishes", [{}, {"bias": False}, {"scale": "maxabs"}, {"scale": "std,row-l2", "bias": False}])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@example(rows=[("a", {}), ("a", {1: "3.4028235e38", 40: "1"})], size=24)  # too large, and a column is born
@example(rows=[("a", {}), ("a", {1: "1", 40: "1e39"})], size=24)
@given(rows=ROWS.filter(len), size=st.integers(20, 400))
def test_the_same_blocks(tmp_path, wishes, frozen, rows, size):
    """Also where columns and classes are born, and where values are too large once they are scaled."""
    schema, sources = schema_of(tmp_path, **wishes), written(tmp_path / "a.svm", rows)
    plain, ready = (
        blocks(Stream(sources, ReadOptions(block_size=size)), schema, form, frozen) for form in (False, True)
    )
    assert plain == ready


@pytest.mark.parametrize("threads", [1, 2])
def test_columns_that_a_model_lacks_are_left_out_wherever_they_are(tmp_path, threads):
    rows = [("a", dict.fromkeys(range(n % 7, 60, 5), "2")) for n in range(500)]
    sources, schema = written(tmp_path / "a.svm", rows), schema_of(tmp_path)
    plain, ready = (
        blocks(Stream(sources, ReadOptions(block_size=900, threads=threads)), schema, form, True)
        for form in (False, True)
    )
    assert plain == ready and ready[2] == sum(i >= 40 for _, row in rows for i in row)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 37])
@pytest.mark.parametrize(("scale", "large"), [("none", "3.5e38"), ("none", "1e60"), ("maxabs", "2e38")])
def test_a_value_beyond_the_type_is_refused_with_its_place_and_column(tmp_path, n, scale, large):
    """As it is, or once it is scaled: columns of the head have 0.5 at most."""
    head = written(tmp_path / "head.svm", [("a", dict.fromkeys(range(1, 40), "0.5")), ("b", {50: "0.5"})] * 9)
    schema = make_schema(collect(iter(Stream(head, ReadOptions())))[0], None, Wishes(scale=scale), Counter())
    rows = [("a", {i: large if i == n else "1" for i in range(1, n + 3)})]
    stream = Stream(written(tmp_path / "a.svm", [("b", {})] * 3 + rows), ReadOptions())
    *_, fault = blocks(stream, schema, True)
    how = "" if scale == "none" else ", as it is or scaled,"
    assert f"a.svm:4: column '{n}': the value{how} is beyond 3.4e+38; train with" in fault
    assert blocks(stream, schema, False)[-1] == fault


def test_mixed_rows_too(tmp_path):
    rng = np.random.default_rng(5)
    rows = [("ab"[n % 2], {int(i): "1.5" for i in rng.integers(0, 39, 5)}) for n in range(3000)]
    sources, schema = written(tmp_path / "a.svm", rows), schema_of(tmp_path)
    plain, ready = (blocks(Shuffled(sources, ReadOptions(), None, 3), schema, form) for form in (False, True))
    assert plain == ready and len(ready[0]) > 0


@pytest.mark.parametrize(("wishes", "ready"), [({"dtype": "float64"}, 0), ({"hash_bits": 8}, 0), ({"bias": False}, 1)])
def test_rows_of_float32_alone(tmp_path, wishes, ready):
    """Others would need sums of float64, or limits, that rows of float32 have lost."""
    assert (Encoder(schema_of(tmp_path, **wishes), Skips(True)).form is not None) == ready
