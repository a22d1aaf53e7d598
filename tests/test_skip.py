"""--on-error skip, of rows that can be read and not be learned from: as if they were not there, and counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bigclf import model as mf

N, BAD = 12_000, (5, 6, 3000, 9_999, 10_000, 10_400, 11_998, 11_999)  # the head has 10,000 rows


def values(wide):
    """Rows of few values among many columns, or of all among four; those that are BAD hold one beyond float32."""
    rng = np.random.default_rng(3)
    columns = rng.integers(1, 41, (N, 3)) if wide else np.tile(np.arange(1, 5), (N, 1))
    rows = [{int(j): round(float(x), 2) for j, x in zip(row, rng.standard_normal(len(row)))} for row in columns]
    for k, i in enumerate(BAD):
        rows[i][max(rows[i])] = (1e39, -1e200)[k % 2]
    return rows


def put(folder, name, form, rows):
    """The rows as a file; the label is whether the first value is positive."""
    path = folder / f"{name}.{form}"
    label = [int(next(iter(row.values())) > 0) for row in rows]
    if form == "svm":
        lines = (f"{y} " + " ".join(f"{j}:{x!r}" for j, x in sorted(r.items())) for y, r in zip(label, rows))
        path.write_text("\n".join(lines) + "\n")
    else:
        columns = {f"x{j}": [row[j] for row in rows] for j in range(1, 5)}
        if form == "parquet":
            pq.write_table(pa.table({"y": label} | columns), path, row_group_size=5000)
        else:
            lines = (",".join(map(repr, row)) for row in zip(label, *columns.values()))
            path.write_text("\n".join([",".join(["y", *columns]), *lines]) + "\n")
    return path.name


def state(path):
    model = mf.load(Path(path))
    return [a.tobytes() for a in model.state], dict(model.counts), model.schema.used


def same_without_them(good, form, *how):
    """The models of a and of rest, which lacks the bad rows, are the same."""
    label = ["--label", "y"] if form != "svm" else []
    for name in ("a", "rest"):
        words = ["--algo", "pa-1", *label, *how, "--on-error", "skip", "-q", "-o", f"{name}.npz"]
        good("train", f"{name}.{form}", *words)
    assert state("a.npz") == state("rest.npz")


FORMS = [("svm", True), ("svm", False), ("csv", False), ("parquet", False)]


@pytest.mark.parametrize("size", ["4k", "1M"])
@pytest.mark.parametrize(("form", "wide"), FORMS)
def test_values_beyond_the_type(folder, good, fault, form, wide, size):
    rows = values(wide)
    data = put(folder, "a", form, rows)
    rest = put(folder, "rest", form, [row for i, row in enumerate(rows) if i not in BAD])
    how = ["--algo", "pa-1", "--scale", "none", "--block-size", size, *(["--label", "y"] if form != "svm" else [])]
    place = {"svm": "a.svm:6", "csv": "a.csv:7", "parquet": "a.parquet: row group 1, row 6"}[form]
    assert fault(1, "train", data, *how).startswith(f"bigclf: {place}: column ")
    said = good("train", data, *how, "--on-error", "skip", "--json", "-o", "a.npz")
    assert (said.json["rows"], said.json["skipped"]) == (N - len(BAD), len(BAD))
    assert f"{len(BAD)} bad rows were skipped" in said.err and "beyond 3.4e+38" in said.err
    good("train", rest, *how, "-q", "-o", "rest.npz")
    assert state("a.npz") == state("rest.npz")

    lines = good("predict", "a.npz", data, "--on-error", "skip", "-q").out.split("\n")[:-1]
    assert [i for i, line in enumerate(lines) if not line] == list(BAD) and len(lines) == N
    assert [line for line in lines if line] == good("predict", "a.npz", rest, "-q").out.split()
    assert good("evaluate", "a.npz", data, "--on-error", "skip", "--json").json["rows"] == N - len(BAD)


@pytest.mark.parametrize("scale", ["std", "maxabs", "minmax,row-l2"])
@pytest.mark.parametrize(("form", "wide"), FORMS)
def test_they_spoil_no_scale(folder, good, form, wide, scale):
    """All rows belong to the head here."""
    rows, bad = values(wide)[:5000], [i for i in BAD if i < 5000]
    put(folder, "a", form, rows)
    put(folder, "rest", form, [row for i, row in enumerate(rows) if i not in bad])
    same_without_them(good, form, "--scale", scale)


@pytest.mark.parametrize("size", ["4k", "64k", "1M"])
@pytest.mark.parametrize("last", ["7 3:1e39", "0 3:1e39 9000:1", "0 3:1 9000:1e39", "7 9000:-1e200"])
@pytest.mark.parametrize("wide", [True, False])
def test_they_bring_no_class_and_no_column(folder, good, write, wide, last, size):
    rows = [row for i, row in enumerate(values(wide)) if i not in BAD]
    text = (folder / put(folder, "rest", "svm", rows)).read_text()
    write("a.svm", text + last + "\n" + text.split("\n", 1)[0] + "\n")
    write("rest.svm", text + text.split("\n", 1)[0] + "\n")
    same_without_them(good, "svm", "--block-size", size)


@pytest.mark.parametrize("wide", [True, False])
def test_values_in_columns_that_the_model_has_not_cost_no_row(folder, good, write, wide):
    rows = [row for i, row in enumerate(values(wide)) if i not in BAD]
    good("train", put(folder, "a", "svm", rows), "--algo", "pa-1", "-q", "-o", "a.npz")
    text = (folder / "a.svm").read_text().split("\n")[:9]
    plain = good("predict", "a.npz", write("b.svm", "\n".join(text) + "\n"), "--scores", "-q").out
    write("c.svm", "".join(f"{line} 9000:1e39\n" for line in text))
    for words in ([], ["--on-error", "skip"]):
        assert good("predict", "a.npz", "c.svm", "--scores", "-q", *words).out == plain


def test_algorithms_are_compared_on_the_same_rows(folder, fault):
    """What cannot be encoded depends on how rows are encoded, which differs among them: nobody leaves a row out."""
    data = put(folder, "a", "csv", values(False))
    for command in ("compare", "cv"):
        words = [command, data, "--algo", "pa-1", "--algo", "arow", "--label", "y", "--on-error", "skip"]
        assert "a.csv:7: column 'x4': the value, as it is or scaled, is beyond 3.4e+38" in fault(1, *words)


@pytest.mark.parametrize(("form", "wide"), FORMS)
def test_over_several_passes_and_a_cache(folder, good, form, wide):
    data = put(folder, "a", form, values(wide))
    how = ["--algo", "pa-1", "--on-error", "skip", "--passes", "3", *(["--label", "y"] if form != "svm" else [])]
    said = good("train", data, *how, "--json", "-o", "a.npz")
    assert (said.json["rows"], said.json["skipped"]) == (N - len(BAD), len(BAD))
    for _ in range(2):
        again = good("train", data, *how, "--cache", "kept", "--json", "-o", "b.npz")
        assert again.json["skipped"] == len(BAD) and state("b.npz") == state("a.npz")


@pytest.mark.parametrize(("form", "wide"), FORMS)
def test_rows_that_a_feature_map_brings_beyond_the_type(folder, good, form, wide):
    """A square of 1e20 is no float32."""
    rows = [{j: 1e20 if abs(x) > 1e30 else x for j, x in row.items()} for row in values(wide)]
    data = put(folder, "a", form, rows)
    rest = put(folder, "rest", form, [row for i, row in enumerate(rows) if i not in BAD])
    how = ["--algo", "pa-1", "--scale", "none", "--features", "poly", "--order", "2"]
    how += ["--label", "y"] if form != "svm" else []
    said = good("train", data, *how, "--on-error", "skip", "--json", "-o", "a.npz")
    assert (said.json["rows"], said.json["skipped"]) == (N - len(BAD), len(BAD))
    good("train", rest, *how, "-q", "-o", "rest.npz")
    assert state("a.npz") == state("rest.npz")
