"""The script that puts online boosting beside its bases, and beside MOA."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reproduce_boosting as script
from prequential import Encoded, run, tiles

from bigclf.units import code_matrix

SETS = "wine,seeds"


def moa_jar():
    """The jar of MOA where it is at hand: named by MOA_JAR, or in capymoa."""
    if named := os.environ.get("MOA_JAR"):
        return Path(named)
    found = find_spec("capymoa")
    return Path(found.submodule_search_locations[0]) / "jar" / "moa.jar" if found else None


def clouds(n, classes=3, apart=2.0, seed=1):
    """Rows (1, 0, three columns) around a centre a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n).astype(np.int32)
    X = np.column_stack([np.ones(n), np.zeros(n), rng.normal(size=(n, 3))]).astype(np.float32)
    X[:, 2] += apart * y
    return Encoded(X, y, [str(k) for k in range(classes)])


@pytest.fixture
def sets(tmp_path):
    """A folder with two sets under names of the script's."""
    for name, apart in zip(SETS.split(","), (3.0, 1.0), strict=True):
        X, y, _ = clouds(300, apart=apart)
        columns = {f"x{j}": X[:, j] for j in range(2, 5)}
        pq.write_table(pa.table({**columns, "label": y}), tmp_path / f"{name}.parquet")
    return tmp_path


def made(name, **accuracy):
    """A set whose methods have these accuracies, of base vfdt."""
    return {"set": name, "bases": {"vfdt": {m.replace("_", "-"): [v, v / 2, 2e3, 1.5] for m, v in accuracy.items()}}}


def test_rows_are_predicted_before_they_are_learned():
    """Gaussian naive Bayes of two classes, one column, by hand: ties are positive, an unseen class is not guessed."""
    rows = Encoded(np.array([[1, 0.0], [1, 4.0], [1, 1.0], [1, 3.99]]), np.array([0, 1, 0, 1], np.int32), ["0", "1"])
    found = run(script.learner("alone", "gnb", 1), tiles(*rows[:2], np.arange(4)), code_matrix(rows.classes))
    assert found.guess.tolist() == [1, 0, 0, 1] and found.state.n.tolist() == [2.0, 2.0]
    accuracy, kappa, held, _ = script.play(script.learner("alone", "gnb", 1), rows, np.arange(4))
    assert (accuracy, kappa) == (0.5, 0.0)
    assert held == 8 * (2 + 2 * (2 * 2) + 2)  # n; mean and M2 of 2 columns, code


def test_members_are_so_many():
    rows, at = clouds(50), np.arange(50)
    one, ten = (script.play(script.learner("oabm2", "gnb", m), rows, at)[2] for m in (1, 10))
    alone = script.play(script.learner("alone", "gnb", 1), rows, at)[2]
    assert alone < one and 9 * alone < ten - one < 10 * alone


def test_means_ranks_and_sets_won():
    done = [
        made("a", alone=0.5, oabm2=0.7, oabm1=0.5003),
        made("b", alone=0.8, oabm2=0.7, oabm1=0.4),
        made("c", alone=0.2, oabm2=0.4, oabm1=0.5997),
    ]
    lines = script.means(done, "vfdt", ("alone", "oabm1", "oabm2")).splitlines()
    assert lines[0] == "| vfdt | accuracy | kappa | mean rank | won / lost | state | us a row |"
    assert lines[2] == "| alone | 0.5000 | 0.2500 | 2.33 | - | 2.0 kB | 1.5 |"
    assert lines[3] == "| oabm1 | 0.5000 | 0.2500 | 2.00 | 1 / 1 | 2.0 kB | 1.5 |"
    assert lines[4] == "| oabm2 | 0.6000 | 0.3000 | 1.67 | 2 / 1 | 2.0 kB | 1.5 |"


def test_differences_from_moa_are_told():
    names = [n for moa, ours in script.LIKE.items() for n in (moa, *(o[0] for o in ours))]
    done = [
        {"set": "a", "moa": dict.fromkeys(names, [0.5, 0.2, 8.0])},
        {"set": "b", "moa": dict.fromkeys(names, [0.5, 0.2, 2.0]) | {"vfdt": [0.485, 0.2, 0.5]}},
    ]
    text = "\n".join(script.by_moa(done))
    assert "| MOA HoeffdingTree | 0.5000 | 0.2000 |  |  |  | 5.0 |  |" in text
    assert "| vfdt | 0.4925 | 0.2000 | 0.0075 | -0.0150 (b) | 1 of 2 | 4.2 | 2.0 |" in text
    done[1]["moa"]["oza-boost --moa-compat"] = [0.515, 0.2, 2.0]
    assert "| oza-boost --moa-compat | 0.5075 | 0.2000 | 0.0075 | +0.0150 (b) | 2 of 2 | 5.0 | 1.0 |" in "\n".join(
        script.by_moa(done)
    )


def test_two_sets_are_repeated(sets, capsys):
    words = ["--data", str(sets), "--only", SETS, "--bases", "gnb,vfdt", "--members", "3", "--rows", "250"]
    more = ["--json", str(sets / "told.json"), "--markdown", str(sets / "told.md")]
    assert script.main([*words, *more]) == 0
    said = capsys.readouterr()
    assert said.out == (sets / "told.md").read_text()
    assert "Left out: no --moa-jar FILE." in said.out and "MOA is left out: no --moa-jar FILE" in said.err
    assert "| wine | 300 | 3 | 3 |" in said.out
    told = json.loads((sets / "told.json").read_text())
    assert (told["runs"], told["rows"], told["members"]) == (1, 250, 3)
    easy, hard = (told["sets"][i]["bases"] for i in range(2))
    for base in ("gnb", "vfdt"):
        assert list(easy[base]) == list(script.METHODS)
        for method in script.METHODS:
            assert easy[base][method][0] > hard[base][method][0] > 1 / 3, (base, method)


def test_rows_are_handed_to_moa(sets, tmp_path, monkeypatch, capsys):
    """In place of Java: one that has all right as HoeffdingTree, and answers class 0 as OzaBoost."""
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(
        f"#!{sys.executable}\nimport sys\nimport numpy as np\n"
        "*_, path, members, seconds = sys.argv\nf = open(path, 'rb')\n"
        "n, d, k = np.fromfile(f, '>i4', 3)\nA = np.fromfile(f, '>f8').reshape(n, d + 1)\n"
        "assert (d, k, members, seconds) == (3, 3, '2', '1.5') and abs(A[:, :3].mean()) < 0.1\n"
        "print('HoeffdingTree 7.0', *A[:, 3].astype(int))\nprint('OzaBoost 9.0', *np.zeros(n, int))\n"
    )
    java.chmod(0o755)
    (tmp_path / "moa.jar").touch()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    words = ["--data", str(sets), "--only", "wine", "--bases", "vfdt", "--members", "2"]
    words += ["--moa-jar", str(tmp_path / "moa.jar"), "--moa-seconds", "1.5"]
    assert script.main([*words, "--json", str(sets / "told.json")]) == 0
    out = capsys.readouterr().out
    (found,) = json.loads((sets / "told.json").read_text())["sets"]
    assert found["moa"]["HoeffdingTree"] == [1.0, 1.0, 7.0]
    assert found["moa"]["OzaBoost"] == [pytest.approx((clouds(300).y == 0).mean()), 0.0, 9.0]
    assert found["moa"]["vfdt"][0] == found["bases"]["vfdt"]["alone"][0]
    assert "| MOA HoeffdingTree | 1.0000 | 1.0000 |  |  |  | 7.0 |  |" in out
    java.write_text("#!/bin/sh\necho no class >&2\nexit 1\n")
    with pytest.raises(SystemExit, match="MOA failed:\nno class"):
        script.main(words)


@pytest.mark.skipif(not (moa_jar() and shutil.which("java")), reason="neither MOA_JAR nor capymoa, or no Java")
def test_moa_and_ours_agree():
    rows, chosen = clouds(2500, apart=1.0), argparse.Namespace(moa_jar=moa_jar(), members=3, moa_seconds=0.0)
    found = script.beside_moa(rows, np.arange(2500), chosen)
    assert set(found) == {*script.LIKE, *(o[0] for ours in script.LIKE.values() for o in ours)}
    for theirs, ours in script.LIKE.items():
        for name, *_ in ours:
            assert found[name][0] == pytest.approx(found[theirs][0], abs=0.01 if theirs == "HoeffdingTree" else 0.02)
            assert found[name][2] > 0 and found[theirs][2] > 0


def test_what_is_not_there_is_told(tmp_path, capsys, monkeypatch):
    words = ["--data", str(tmp_path), "--only", "wine"]
    assert script.main([*words, "--moa-jar", str(tmp_path / "none.jar")]) == 1
    said = capsys.readouterr().err
    assert "none.jar" in said and "wine: no file wine.parquet, left out" in said
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "moa.jar").touch()
    assert script.main([*words, "--moa-jar", str(tmp_path / "moa.jar")]) == 1
    assert "MOA is left out: Java is not installed" in capsys.readouterr().err
    for wrong, text in (("--only wines", "no set wines"), ("--bases tree", "no base tree"), ("--rows 0", "at least 1")):
        with pytest.raises(SystemExit):
            script.main(wrong.split())
        assert text in capsys.readouterr().err
