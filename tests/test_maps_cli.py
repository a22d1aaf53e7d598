"""`--features` through the command line: the same model however it is made, and faults; sums by pairs of entries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from test_cli import MORE, svm
from test_resume import cut_after

from bigclf.cli.main import main
from bigclf.model import load

MAPS = ["rm", "rm --order 3", "poly", "poly --order 3", "rff --rff-dim 25", "rff --rff-dim 8 --sigma 0.7"]
maps = pytest.mark.parametrize("features", MAPS)
algos = pytest.mark.parametrize("algo", ["pa-1", "nr-rls"])
SUMS = ("gram", "first", "rows", "lo", "hi")


def rows(n=1500, filled=0.8, seed=0):
    """What no straight line parts: four columns, and the class goes by a product."""
    r = np.random.default_rng(seed)
    X = np.round(r.standard_normal((n, 4)), 3)
    X[r.random((n, 4)) > filled] = 0
    X[0] = [0.5, 0.25, -1, 2]  # every column is there from the start
    return X, (X[:, 0] * X[:, 1] + 0.2 * X[:, 2] + 0.1 * r.standard_normal(n) > 0.1).astype(int)


def libsvm(X, y):
    return "".join(f"{t} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x, 1) if v) + "\n" for x, t in zip(X, y))


def given(features, *words):
    return ["--features", *features.split(), *words]


@pytest.fixture
def tables(folder, write):
    """The same rows in every form; thin.* have a fifth of their cells, so that LIBSVM rows stay sparse."""
    for name, filled in (("a", 0.8), ("thin", 0.2)):
        X, y = rows(filled=filled)
        write(f"{name}.svm", libsvm(X, y))
        table = pa.table({f"c{j}": X[:, j] for j in range(4)} | {"label": y})
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=400)
    return folder


# --- the same model


@maps
@algos
def test_same_bytes_for_any_blocks_and_after_interrupts(folder, write, monkeypatch, features, algo):
    """With classes and columns that are born after the head."""
    write("a.svm", svm(MORE + 200, 3, late=True))
    words = ["train", "a.svm", "--algo", algo, *given(features), "-q", "-o"]
    assert main([*words, "whole.npz"]) == 0
    whole = (folder / "whole.npz").read_bytes()
    for size in ("3000", "64KiB"):
        assert main([*words, "m.npz", "--block-size", size]) == 0
        assert (folder / "m.npz").read_bytes() == whole, size
    for looks in (2, 5):
        (folder / "m.npz").unlink()
        with monkeypatch.context() as m:
            cut_after(m, looks)
            assert main([*words, "m.npz", "--block-size", "9000"]) == 130
        assert main(["predict", "m.ck.npz", "a.svm", "-q", "-o", "labels"]) == 0, "a checkpoint is a model"
        assert main(["train", "a.svm", "--resume", "m.ck.npz", "-q"]) == 0
        assert (folder / "m.npz").read_bytes() == whole, looks


@maps
@algos
@pytest.mark.parametrize("name", ["a", "thin"])
def test_every_form_of_file_gives_the_same_scores(good, tables, features, algo, name):
    scale = ["--scale", "none"] if name == "thin" else []  # sparse rows are not shifted
    said = {}
    for form in ("svm", "csv", "parquet"):
        good("train", f"{name}.{form}", "--algo", algo, *given(features), *scale, "-q", "-o", f"{form}.npz")
        for other in ("svm", "csv", "parquet"):  # a model of one form reads the others
            said[form, other] = good("predict", f"{form}.npz", f"{name}.{other}", "--scores", "-q").out
    assert len(set(said.values())) == 1
    layouts = [load(Path(f"{form}.npz")).schema.layout for form in ("svm", "csv", "parquet")]
    assert layouts == ["csr" if name == "thin" else "dense", "dense", "dense"]


@pytest.mark.parametrize("features", MAPS[:5])
def test_a_map_parts_what_no_line_parts(good, tables, features):
    _, y = rows()
    good("train", "a.svm", "--algo", "ls", "-q")
    line = good("evaluate", "model.npz", "a.csv", "--json", "-q").json["error"]
    good("train", "a.svm", "--algo", "ls", *given(features), "-q")
    curve = good("evaluate", "model.npz", "a.csv", "--json", "-q").json["error"]
    assert curve < line - (0.1 if features.startswith("poly") else 0.0), (line, curve)
    assert line < np.mean(y) + 0.01


@maps
@pytest.mark.parametrize("n", [2, 5])
def test_merged_shards_equal_one_run(good, write, features, n):
    write("a.svm", libsvm(*rows(4000)))
    train = ["train", "a.svm", "--algo", "nr-rls", *given(features), "-q", "-o"]
    good(*train, "whole.npz")
    parts = [f"{k}.npz" for k in range(1, n + 1)]
    for k, part in enumerate(parts, 1):
        good(*train, part, "--shard", f"{k}/{n}")
    good("merge", *parts, "-o", "merged.npz", "-q")
    whole, merged = (load(Path(f"{name}.npz")) for name in ("whole", "merged"))
    assert merged.schema.map == whole.schema.map and (merged.rows, merged.counts) == (whole.rows, whole.counts)
    for name in SUMS:
        a, b = getattr(merged.state, name), getattr(whole.state, name)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(), err_msg=name)
    one, two = (good("predict", f"{name}.npz", "a.svm", "-q").out for name in ("whole", "merged"))
    assert one == two


def test_shards_with_other_columns_are_merged_by_column(good, write):
    """The columns 9 to 11 are met by the last shard alone."""
    write("a.svm", svm(MORE + 900, 6, late=True))
    for features in ("rm", "poly", "rff --rff-dim 12"):
        train = ["train", "a.svm", "--algo", "ls", *given(features), "-q", "-o"]
        good(*train, "whole.npz")
        for k in (1, 2):
            good(*train, f"{k}.npz", "--shard", f"{k}/2")
        assert [load(Path(f"{k}.npz")).schema.used for k in (1, 2)] == [5, 13]
        good("merge", "1.npz", "2.npz", "-o", "merged.npz", "-q")
        whole, merged = (load(Path(f"{name}.npz")) for name in ("whole", "merged"))
        size = whole.shape(used=True).cols
        a, b = (m.state.gram[:, :size, :size] for m in (merged, whole))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())


@maps
@pytest.mark.parametrize("algo", ["pa-1", "arow", "perceptron", "ls", "nr-rls"])
def test_columns_that_come_late_are_as_if_they_had_been_there(good, write, features, algo):
    """The same rows, but for an explicit zero in the first one, which makes a column known from the start."""
    late = [f"{line} 5:{i % 7 - 3} 6:{i % 5 / 4:g}" for i, line in enumerate(libsvm(*rows(300, seed=2)).splitlines())]
    text = libsvm(*rows(MORE)) + "\n".join(late) + "\n"
    first, rest = text.split("\n", 1)
    write("late.svm", text), write("early.svm", f"{first} 5:0 6:0\n{rest}")
    words = ["--algo", algo, *given(features), "--scale", "none", "-q", "-o"]
    words[2:2] = ["--sigma", "2"] if features == "rff --rff-dim 25" else []
    for name in ("late", "early"):
        good("train", f"{name}.svm", *words, f"{name}.npz")
    late, early = (load(Path(f"{name}.npz")) for name in ("late", "early"))
    size = early.shape(used=True)
    assert late.shape(used=True) == size and late.schema.map == early.schema.map
    if algo in ("pa-1", "arow", "perceptron"):
        a, b = (m.state.w[:, : size.cols] for m in (late, early))
        if "rff" in features:  # which has as many columns before as after
            assert np.array_equal(a, b)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
        return
    for name in ("gram", "first"):  # tiles end where a column is born, so sums are rounded otherwise
        a, b = (getattr(m.state, name)[..., : size.cols] for m in (late, early))
        a, b = (x[:, : size.cols] if name == "gram" else x for x in (a, b))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(), err_msg=name)
    assert good("predict", "late.npz", "late.svm", "-q").out == good("predict", "early.npz", "late.svm", "-q").out


def test_the_seed_decides_the_draws_and_is_kept(good, tables):
    train = ["train", "a.csv", "--algo", "pa-1", *given("rff --rff-dim 25"), "-q", "-o"]
    for seed in (1, 2):
        good(*train, f"{seed}.npz", "--seed", seed)
    good(*train, "plain.npz")
    one, two, plain = (load(Path(f"{name}.npz")) for name in ("1", "2", "plain"))
    assert np.array_equal(one.state.w, plain.state.w) and not np.allclose(one.state.w, two.state.w)
    assert (one.schema.map.seed, two.schema.map.seed) == (1, 2)
    good("train", "a.csv", "--continue", "2.npz", "-q", "-o", "more.npz")
    assert load(Path("more.npz")).schema.map == two.schema.map


@pytest.mark.parametrize("algo", ["fsvc", "fsvc-ova", "fsvc-svc", "dkp"])
def test_an_option_that_map_and_algorithm_both_have_is_refused(fault, good, tables, algo):
    both = ["--features", "rff", "--sigma", "0.7"]
    said = [fault(2, "train", "a.svm", "--algo", algo, *both)]
    for command in ("compare", "cv"):
        said.append(fault(2, command, "a.svm", "--algo", " ".join([algo, *both])))
        said.append(fault(2, command, "a.svm", *both[:2], "--algo", f"{algo} --sigma 0.7"))
    assert all(f"--sigma: {algo} and --features rff both have it" in line for line in said)
    good("train", "a.svm", "--algo", algo, *both[:2], "--rff-dim", 8, "--prototypes", 9, "-q")
    good("train", "a.svm", "--algo", algo, *both[2:], "--prototypes", 9, "-q", "-o", "own.npz")
    assert load(Path("own.npz")).params["sigma"] == 0.7


# --- info


def test_info_tells_the_map_and_names_its_columns(good, tables):
    for features, told, names in (
        ("rm", "rm, order 2", {"c0", "c0^2", "c0 s", "c3^2", "s", "s^2", "(bias)"}),
        ("poly --order 3", "poly, order 3", {"c1", "c1^3", "c0 c1", "c0^2 c1", "c0 c1 c2", "(bias)"}),
        ("rff --rff-dim 7 --sigma 1.5", "rff, dim 7, sigma 1.5", {f"rff {k}" for k in range(1, 8)} | {"(bias)"}),
        ("linear", None, {"c0", "c1", "c2", "c3", "(bias)"}),
    ):
        good("train", "a.csv", "--algo", "ls", *given(features), "-q")
        d = good("info", "model.npz", "--json", "--weights", "--top", 99).json
        assert d["feature_map"] == told and d["features"] == 4
        weights = dict(d["weights"]["1"])
        assert names <= set(weights) and len(weights) == load(Path("model.npz")).shape(used=True).cols - (not told)
        assert not told or told in good("info", "model.npz").out
    good("train", "a.csv", "--algo", "ls", "--features", "poly", "-q")
    top = good("info", "model.npz", "--json", "--weights", "--top", 1).json["weights"]["1"]
    assert top[0][0] == "c0 c1", "what the class goes by"
    good("train", "a.svm", "--algo", "ls", "--features", "rm", "-q")
    top = good("info", "model.npz", "--json", "--weights", "--top", 99).json["weights"]["1"]
    assert {"1", "1^2", "1 s", "4^2"} <= set(dict(top)), "LIBSVM has numbers for names"


# --- faults


def test_more_features_than_allowed(fault, good, write, folder):
    write("a.svm", "".join(f"{i % 2} {i % 300 + 1}:1\n" for i in range(900)))
    train = ["train", "a.svm", "--algo", "pa-1", "-o", "m.npz"]
    line = fault(1, *train, *given("poly"))  # C(302, 2) monomials
    assert "makes 45,451 features" in line and "--max-features 20,000" in line and "lower --order" in line
    line = fault(1, *train, *given("rm --max-features 902"))  # 1 + 2 + 300 * 3
    assert "makes 903 features" in line and "--max-features 902" in line
    line = fault(1, *train, *given("rff --rff-dim 30000"))
    assert "makes 30,001 features" in line and "lower --rff-dim" in line
    assert not (folder / "m.npz").exists()
    good(*train, *given("rm --max-features 903"), "-q")


def test_more_features_than_allowed_after_the_head(fault, write, folder):
    write("a.svm", svm(MORE, 1) + "1 1:1 90:1\n")
    line = fault(1, "train", "a.svm", "--algo", "pa-1", *given("rm --max-features 100"), "-o", "m.npz")
    assert "makes 273 features" in line and "--max-features 100" in line and not (folder / "m.npz").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--order", "3"], "--order: goes with --features rm or poly"),
        (["--features", "rff", "--order", "3"], "--order: goes with --features rm or poly"),
        (["--features", "rm", "--sigma", "1"], "--sigma: goes with --features rff"),
        (["--features", "poly", "--rff-dim", "9"], "--rff-dim: goes with --features rff"),
        (["--max-features", "9"], "--max-features: goes with --features"),
        (["--features", "rm", "--order", "7"], "--order"),
        (["--features", "rff", "--rff-dim", "0"], "--rff-dim"),
        (["--features", "rff", "--sigma", "0"], "--sigma"),
        (["--features", "rff", "--sigma", "nan"], "--sigma"),
        (["--features", "cubic"], "--features"),
    ],
)
def test_options_that_do_not_go_together(fault, write, words, named):
    assert named in fault(2, "train", write("a.svm", svm(50)), "--algo", "pa-1", *words)


@maps
def test_index_0_after_the_head(good, fault, write, folder, features):
    """Columns are numbered by the head. In the head it is a column like any other; to a model it is unknown."""
    write("a.svm", svm(MORE, 1) + "1 0:1 1:1\n"), write("b.svm", "1 0:1 1:2\n" + svm(300, 1))
    train = ["train", "--algo", "pa-1", *given(features), "-o", "m.npz"]
    line = fault(1, *train, "a.svm")
    assert f"a.svm:{MORE + 1}: index 0" in line and not (folder / "m.npz").exists()
    good(*train, "b.svm", "-q")
    assert load(Path("m.npz")).schema.map.first == 1
    good(*train, write("c.svm", svm(300, 1)), "-q")
    said = good("predict", "m.npz", write("d.svm", "1 0:9 1:1 2:1\n"), "--scores")
    assert "1 value" in said.err
    assert said.out == good("predict", "m.npz", write("d.svm", "1 1:1 2:1\n"), "--scores").out


@pytest.mark.parametrize("what", ["--continue", "--resume"])
def test_going_on_refuses_another_map(good, fault, tables, monkeypatch, what):
    train = ["train", "a.csv", "--algo", "pa-1", *given("rff --rff-dim 9 --sigma 2"), "-q"]
    good(*train, "-o", "m.npz")
    if what == "--resume":
        with monkeypatch.context() as m:
            cut_after(m, 2)
            assert main([*train, "-o", "m.npz", "--checkpoint", "m.npz", "--block-size", "9000"]) == 130
    before = Path("m.npz").read_bytes()
    for words, had in (
        (["--features", "rm"], "--features rff"),
        (["--features", "linear"], "--features rff"),
        (["--rff-dim", "8"], "--rff-dim 9"),
        (["--sigma", "3"], "--sigma 2"),
        (["--max-features", "7"], "--max-features 20000"),
    ):
        line = fault(1, "train", "a.csv", what, "m.npz", "-o", "n.npz", *words)
        assert f"m.npz: was trained with {had}" in line and " ".join(words) in line
    assert Path("m.npz").read_bytes() == before
    good("train", "a.csv", what, "m.npz", "-o", "n.npz", "-q", *given("rff --rff-dim 9 --sigma 2"))


def test_a_table_of_cosines_that_would_outgrow_the_memory_ends_the_run_and_keeps_the_model(apart, write, folder):
    rows = "".join(f"{i % 2} 1:{i % 7} 2:{i % 3}" + " 900000:1" * (i == 12_000) + "\n" for i in range(13_000))
    words = ["train", write("a.svm", rows), "--algo", "pa-1", "--features", "rff", "--rff-dim", "5000"]
    said = apart(*words, "--budget", "1GiB", "-q")
    assert said.code == 1 and "the feature map needs 16.8 GiB" in said.err and "saved as model.npz" in said.err
    assert load(folder / "model.npz").rows <= 12_000


@pytest.mark.parametrize("scale", ["1e35", "1e-35"])
def test_a_spread_beyond_all_use_is_brought_within_bounds(good, write, scale):
    rows = "".join(f"{i % 2} 1:{i % 7}{scale[1:]} 2:{i % 3}{scale[1:]}\n" for i in range(50))
    good("train", write("a.svm", rows), "--features", "rff", "--scale", "none", "-q")
    good("info", "model.npz")


@pytest.mark.parametrize("command", ["train", "predict", "evaluate"])
def test_rows_that_a_map_takes_beyond_the_range_of_numbers_are_faults(fault, good, write, command):
    small, large = write("a.svm", "1 1:1 2:2\n0 1:2 2:1\n" * 30), write("b.svm", "1 1:1\n0 1:1e20\n")
    words = ["--algo", "pa-1", "--features", "poly", "--scale", "none", "-q"]
    good("train", small, *words)
    line = fault(1, *(["train", large, *words] if command == "train" else [command, "model.npz", large, "-q"]))
    assert "b.svm:2" in line and "beyond the range of float32 after --features poly" in line
