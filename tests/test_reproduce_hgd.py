"""The script that repeats the comparison of the HGD paper."""

from __future__ import annotations

import json
import math

import hgd_tables
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reproduce_hgd as script
from data import SIGNS, TEN


@pytest.fixture
def sets(tmp_path):
    """A folder with a balanced and a skewed set under names of the script's."""
    rng = np.random.default_rng(1)
    for name, n, rare in (("twonorm", 240, 120), ("keel_yeast5", 240, 20)):
        y = np.arange(n) < rare
        X = rng.normal(size=(n, 2)) + np.where(y, 1.0, -1.0)[:, None]
        pq.write_table(
            pa.table({"a": X[:, 0], "b": X[:, 1], "label": np.where(y, "b", "a")}), tmp_path / f"{name}.parquet"
        )
    return tmp_path


def made(imbalance, base="svm", **values):
    """What a set gives: G-means by method, the other measures with them, GII 1 / G-mean."""
    every = {m: values.get(m.replace("-", "_"), 0.5) for m in hgd_tables.published()[base]}
    return {"set": "x", "imbalance": imbalance, "bases": {base: {m: [v, v, v, 1 / v, 1.0] for m, v in every.items()}}}


def test_ranks_of_table_ii_add_up():
    """The mean of the average ranks of k methods is (k + 1) / 2."""
    for base, count in (("perceptron", 25), ("svm", 28), ("kernel", 24)):
        found = hgd_tables.published()[base]
        assert len(found) == count and set(found) == set(hgd_tables.gains()[base])
        for measure in hgd_tables.MEASURES:
            mean = np.mean([p.rank[measure] for p in found.values()])
            assert mean == pytest.approx((count + 1) / 2, abs=0.06), (base, measure)


def test_tables_agree_where_they_overlap():
    """Of OGD nothing is gained; the value of Table II lies between those of the groups of Tables VIII to X."""
    paper, gains = hgd_tables.published(), hgd_tables.gains()
    for base in hgd_tables.BASES:
        ogd = paper[base]["ogd"].value["G-mean"]
        assert set(gains[base]["ogd"].values()) == {0.0}
        for method, p in paper[base].items():
            by_group = gains[base][method].values()
            assert min(by_group) - 0.02 <= p.value["G-mean"] / ogd - 1 <= max(by_group) + 0.02, (base, method)


def test_measures_are_those_of_rows_before_they_are_learned():
    rows = script.Rows(TEN, SIGNS, 1.5)
    ogd = script.play(script.learner("ogd", "svm", 1), rows.take(np.arange(10)))
    assert ogd[:3] == pytest.approx([(3 / 4 + 2 / 6) / 2, 0.5, 6 / 11])
    hgd = script.play(script.learner("hgd", "svm", 1), rows.take(np.arange(10)))
    assert hgd[:3] == pytest.approx([(1 + 2 / 6) / 2, math.sqrt(1 / 3), 8 / 12])
    assert hgd[3] == pytest.approx(harmonized(TEN, SIGNS))


def harmonized(X, y):
    """GII of HGD with a linear SVM, written down from equations 3, 4 and 17."""
    w, pulled, count, total = np.zeros(X.shape[1]), np.zeros(2), np.ones(2), 0.0
    for x, c in zip(X, y, strict=True):
        t, rho = 2 * c - 1, count[0] / count[1]
        alpha = 1.0 if not pulled.any() else 2 * (rho * pulled[0] if c else pulled[1]) / pulled.sum()
        most = max(rho, 1 / rho)
        alpha = min(max(alpha, 1 / most), 2 * most)
        if t * (w @ x) < 1:
            w = w + 0.3 * alpha * t * x
            pulled[c] += alpha * 0.09 * (x @ x)
        count[c] += 1
        total += (pulled[0] / pulled[1] - 1) ** 2 if pulled[1] else 0.0
    return total


def test_rows_come_in_the_same_order_in_tiles():
    X = np.arange(2500.0)[:, None]
    at = np.arange(2500)[::-1]
    blocks = script.Rows(X, (X[:, 0] > 9).astype(np.int32), 1.0).take(at)
    assert [len(b.y) for b in blocks] == [1024, 1024, 452] and blocks[1].row[0] == 1024
    np.testing.assert_array_equal(np.concatenate([b.X[:, 0] for b in blocks]), at)
    np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), at > 9)


def test_sets_are_scaled_and_thinned_out(tmp_path):
    (tmp_path / "s.csv").write_text(
        "a,b,c\n" + "".join(f"{i},{'uv'[i % 2]},{'no' if i % 4 else 'yes'}\n" for i in range(80))
    )
    rows = script.load("s", tmp_path)
    assert rows.imbalance == 3.0 and rows.y.tolist() == [int(i % 4 == 0) for i in range(80)]
    np.testing.assert_allclose((rows.X.astype(float) ** 2).sum(axis=1), 1.0, rtol=1e-5)
    ratio = rows.X[:, 2] / rows.X[:, 0]  # the bias is in front, then a column for index 0 of sparse rows
    assert ratio.mean() == pytest.approx(0, abs=1e-5) and ratio.std() == pytest.approx(1, abs=1e-4)
    even = script.load("s=", tmp_path)
    assert even.imbalance == 1.0 and even.y.sum() == 20 and len(even.y) == 40
    for name in ("p", "q"):
        pq.write_table(pa.table({"a": [1.0, 2, 3], "label": [0, 0, 1]}), tmp_path / f"{name}.parquet")
    assert len(script.load("p+q", tmp_path).y) == 6


def test_the_best_is_one_and_low_is_good_for_gii():
    s = script.Summary([made(1.0, hgd=0.8, ogd=0.4), made(50.0, hgd=1.0, ogd=0.25)], "svm")
    hgd, ogd, ob = (s.methods.index(m) for m in ("hgd", "ogd", "ob"))
    assert s.normal[hgd].tolist() == [1, 1, 1, 1, 1] and s.normal[ogd, 1] == (0.5 + 0.25) / 2
    assert s.normal[ogd, 3] == pytest.approx((0.5 + 0.25) / 2)
    assert s.rank[hgd].tolist() == [1, 1, 1, 1, 14.5] and s.rank[ogd, 3] == 28 and s.rank[ob, 1] == 14.5
    assert s.gain("hgd", "E") == pytest.approx(1.0) and s.gain("hgd", "H") == pytest.approx(3.0)
    assert math.isnan(s.of("hgd", "M")) and s.of("hgd") == 0.9


def test_the_correlation_is_with_the_published_ranks():
    paper = hgd_tables.published()["svm"]
    like = {m.replace("-", "_"): 1 / p.rank["G-mean"] for m, p in paper.items()}
    against = {m: 1 / (30 - 1 / v) for m, v in like.items()}
    assert script.Summary([made(2.0, **like)], "svm").spearman(paper) == pytest.approx(1.0)
    assert script.Summary([made(2.0, **against)], "svm").spearman(paper) == pytest.approx(-1.0)


def test_orderings_can_fail():
    few = [
        made(1.0, csogd_cost2=0.2),
        made(1.5, hgd=0.55, csogd_sum2=0.54),
        made(5.0, hgd=0.6, csogd_sum2=0.6),
        made(50.0, hgd=0.7, csogd_sum2=0.69, oob=0.8, owob=0.8),
    ]
    told = script.orderings({"svm": script.Summary(few, "svm")})
    assert [item[:3] for item, *_ in told] == ["(a)", "(b)", "(c)", "(d)", "(d)", "(e)", "(f)"]
    assert all(holds for _, _, holds, _ in told)
    for worse, item in (
        ([made(1.0, csogd_cost2=0.2, our=0.52), *few[1:]], "(a)"),
        ([*few[:2], made(5.0, hgd=0.54, csogd_sum2=0.54), few[3]], "(b)"),
        ([*few[:2], made(5.0, hgd=0.6, csogd_sum2=0.56), few[3]], "(c)"),
        ([*few[:3], made(50.0, hgd=0.7, csogd_sum2=0.7, oob=0.8, owob=0.8, csogd_cost1=0.53)], "(d)"),
        ([made(1.0, csogd_cost2=0.4), *few[1:]], "(e)"),
        ([*few[:3], made(50.0, hgd=0.7, csogd_sum2=0.7, oob=0.8, owob=0.6)], "(f)"),
    ):
        told = script.orderings({"svm": script.Summary(worse, "svm")})
        assert {i[:3] for i, _, holds, _ in told if not holds} == {item}
    told = script.orderings({"svm": script.Summary(few[1:], "svm")})
    assert {i[:3] for i, _, holds, _ in told if holds is None} == {"(a)", "(b)", "(e)"}
    both = {b: script.Summary([made(50.0, b, ogd=v)], b) for b, v in (("perceptron", 0.3), ("svm", 0.2))}
    assert script.orderings(both)[-1][2:] == (True, "0.300, 0.200")


def test_ratios_change_within_a_stream():
    y = np.repeat(np.array([1, 0], np.int32), [400, 4000])
    order = script.changing(y, "flip", 400)
    assert y[order(0)[:200]].mean() == 0.1 and y[order(0)[200:]].mean() == 0.9
    assert len(set(order(0))) == 400 and (order(0) != order(1)).any()
    assert len(script.changing(y, "increase", 10_000)(0)) == script.Plan("increase", [1, 4, 20], None).longest(
        np.array([400, 4000])
    )


def test_two_sets_are_repeated(sets, capsys):
    words = ["--data", str(sets), "--only", "twonorm,Keel_Yeast5", "--runs", "1", "--json", str(sets / "told.json")]
    assert (
        script.main([*words, "--bases", "svm,kernel", "--kernel-rows", "100", "--markdown", str(sets / "told.md")]) == 0
    )
    out = capsys.readouterr().out
    assert (
        (sets / "told.md").read_text() == out
        and "## kernel: 2 sets" in out
        and "| keel_yeast5 | 240 | 2 | 11.00 |" in out
    )
    found = {s["set"]: s["bases"]["svm"] for s in json.loads((sets / "told.json").read_text())["sets"]}
    assert set(found["twonorm"]) == set(hgd_tables.published()["svm"])
    assert 0.8 < found["twonorm"]["hgd"][1] < 1 and found["keel_yeast5"]["hgd"][1] > found["keel_yeast5"]["ogd"][1]


def test_streams_that_change_are_beside_table_iii(sets, capsys):
    words = ["--data", str(sets), "--only", "twonorm,keel_yeast5", "--runs", "1", "--bases", "perceptron", "--dynamic"]
    assert script.main(words) == 0
    out = capsys.readouterr().out
    assert "## perceptron: 3 streams" in out and "| G-mean | increase | decrease | gradual | flip |" in out
    assert "| twonorm flip |" in out and "keel_yeast5" not in out
    hgd = next(line for line in out.splitlines() if line.startswith("| hgd |"))
    assert " / 0.975 |" in hgd and " / 7.0 |" in hgd


def test_what_is_not_there_is_told(tmp_path, capsys):
    assert script.main(["--data", str(tmp_path / "none")]) == 1
    assert "--data FOLDER" in capsys.readouterr().err
    assert script.main(["--data", str(tmp_path), "--only", "twonorm"]) == 1
    assert "twonorm: no file twonorm.parquet, left out" in capsys.readouterr().err
    for words, text in (
        ("--only wines", "no set wines"),
        ("--bases svm,rbf", "no base rbf"),
        ("--rows 0", "at least 1"),
    ):
        with pytest.raises(SystemExit):
            script.main(words.split())
        assert text in capsys.readouterr().err
