"""Model files: whole, the same bytes for the same model, and refused in one line when they are not right."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from data import EACH_KIND, made, train

from bigclf import model as mf
from bigclf.algorithms import registry
from bigclf.errors import BigclfError, ModelFileError
from bigclf.model import Model, load, save
from bigclf.reading.schema import Schema
from bigclf.state import flatten


def a_model(name="nr-rls", d=7, spare=0):
    X, y = made(300, 1, d=d + spare)
    X[:, d:] = 0
    learner = registry.build(name)
    schema = Schema(
        "sparse", "dense", "float32", True, 0, "mean", "none", "none", (), None, ("0", "1"), None, d, False,
        np.zeros(d), np.zeros(d), np.ones(d), np.zeros(d),
    )  # fmt: skip
    return Model(
        name, {}, schema, train(learner, X, y), d + spare, {"header": True}, 300, 1, 300, {"0": 200, "1": 100}
    ), X


@pytest.mark.parametrize("name", EACH_KIND)
def test_comes_back_as_it_was(name, tmp_path):
    model, X = a_model(name, spare=2)
    save(tmp_path / "m.npz", model)
    back = load(tmp_path / "m.npz")
    assert (back.algorithm, back.rows, back.counts, back.reading) == (name, 300, model.counts, model.reading)
    np.testing.assert_array_equal(back.learner().decision(back.state, X), model.learner().decision(model.state, X))


def test_same_model_same_bytes(tmp_path):
    for name in ("a", "b"):
        save(tmp_path / name, a_model()[0])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_bytes_are_those_of_numpy_for_every_order_in_memory():
    r = np.random.default_rng(0)
    arrays = {
        "header": np.frombuffer(b"abc", np.uint8),
        "large": r.random((3, 500, 400)),
        "cut": r.random((4, 50))[:, :7],
        "columns": np.asfortranarray(r.random((30, 40))),
        "empty": np.zeros((2, 0, 5)),
        "whole": np.arange(9),
    }
    got, want = io.BytesIO(), io.BytesIO()
    mf.write_arrays(got, arrays)
    np.savez(want, **{k: np.ascontiguousarray(a) for k, a in arrays.items()})
    assert got.getvalue() == want.getvalue()


def test_saving_does_not_copy_the_state(tmp_path):
    model, _ = a_model()
    wide = 1200
    model.schema = replace(model.schema, used=wide, **{k: np.zeros(wide) for k in Schema.ARRAYS})
    model.cols = wide + 5  # so that all is cut
    model.state = model.learner().init(model.shape())
    size = sum(a.nbytes for a in flatten(model.state).values())
    tracemalloc.start()
    save(tmp_path / "m.npz", model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 3 and size > 8 * wide**2, (peak, size)


def test_cut_anywhere_is_refused(tmp_path):
    save(tmp_path / "m.npz", a_model()[0])
    whole = (tmp_path / "m.npz").read_bytes()
    for n in range(0, len(whole), 97):
        (tmp_path / "cut.npz").write_bytes(whole[:n])
        with pytest.raises(ModelFileError, match="cut.npz"):
            load(tmp_path / "cut.npz")


def test_any_flipped_byte_is_refused_or_harmless(tmp_path):
    """A checksum guards the arrays; a flip in the archive's own fields may leave the content as it was."""
    model, X = a_model()
    save(tmp_path / "m.npz", model)
    whole = bytearray((tmp_path / "m.npz").read_bytes())
    want = model.learner().decision(model.state, X)
    refused = 0
    for k in range(0, len(whole), 53):
        whole[k] ^= 0x55
        (tmp_path / "bad.npz").write_bytes(whole)
        whole[k] ^= 0x55
        try:
            back = load(tmp_path / "bad.npz")
        except ModelFileError:
            refused += 1
        else:
            np.testing.assert_array_equal(back.learner().decision(back.state, X), want)
    assert refused > 20


def header_of(path):
    with np.load(path) as z:
        return json.loads(z["header"].tobytes()), {k: z[k] for k in z.files if k != "header"}


def write(path, header, arrays):
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h, a: h.update(format=99), "written by format 99"),
        (lambda h, a: h.update(algorithm="nope"), "no algorithm 'nope'"),
        (lambda h, a: h.pop("schema"), "damaged"),
        (lambda h, a: h.update(cols=10**12), "impossible"),
        (lambda h, a: a.pop("state/gram"), "state/gram is missing"),
        (lambda h, a: a.update({"state/gram": a["state/gram"][:, :3]}), "has shape"),
        (lambda h, a: a.update({"state/gram": a["state/gram"].astype(np.float32)}), "float32"),
        (lambda h, a: a.update({"schema/factor": a["schema/factor"][:2]}), "wrong length"),
        (lambda h, a: h["schema"].update(used=-4), "damaged"),
        (lambda h, a: h["schema"].update(classes=[]), "damaged"),
        (lambda h, a: h.update(params={"b": "much"}), "damaged"),
    ],
)
def test_altered_files_are_refused(change, words, tmp_path):
    save(tmp_path / "m.npz", a_model()[0])
    header, arrays = header_of(tmp_path / "m.npz")
    change(header, arrays)
    write(tmp_path / "bad.npz", header, arrays)
    with pytest.raises(ModelFileError, match=r"bad\.npz.*" + words.replace("/", ".")):
        load(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("vfdt", "state/tally", np.inf),
        ("vfdt", "state/tally", np.nan),
        ("pa-1 --drift ddm", "state/log/drifts", np.inf),
        ("oabm1 --base gnb --on-weak reset", "state/own/fresh", np.nan),
    ],
)
def test_counts_that_are_none_are_refused(name, path, value, good, fault, folder):
    data = folder / "a.svm"
    data.write_text("".join(f"{k % 2} 1:{k % 7} 2:{k % 5}\n" for k in range(60)))
    good("train", data, "--algo", *name.split(), "-o", "m.npz", "-q")
    good("info", "m.npz")
    header, arrays = header_of(folder / "m.npz")
    arrays[path][-1] = value
    write(folder / "bad.npz", header, arrays)
    for command in (["info", "bad.npz"], ["predict", "bad.npz", data], ["train", data, "--continue", "bad.npz"]):
        assert "bad.npz: damaged or altered (" in fault(1, *map(str, command))


def test_a_packed_or_foreign_or_pickled_file_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", header=np.zeros(10**6, np.uint8))
    np.savez(tmp_path / "other.npz", x=np.zeros(3), y=np.zeros(2))
    np.savez(tmp_path / "pickle.npz", header=np.array([{"a": 1}], object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "path.npz", "w") as z:
        z.writestr("../../evil", "x")
    (tmp_path / "text.npz").write_text("+1 1:1\n")
    for name, words in (
        ("bomb", "packed"),
        ("other", "holds x, y"),
        ("pickle", "pickled"),
        ("path", "evil"),
        ("text", "not a whole"),
        ("absent", "no such file"),
    ):
        with pytest.raises(ModelFileError, match=words):
            load(tmp_path / f"{name}.npz")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    save(tmp_path / "m.npz", a_model()[0])
    old = (tmp_path / "m.npz").read_bytes()

    def full(*_args, **_kw):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mf, "write_arrays", full)
    with pytest.raises(BigclfError, match="No space left"):
        save(tmp_path / "m.npz", a_model("pa")[0])
    assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]
    assert (tmp_path / "m.npz").read_bytes() == old


def test_a_model_of_format_1_predicts_as_it_did(good, folder):
    """Trained by the version before class weights and feature maps, on heart_scale.svm."""
    old = Path(__file__).parent / "models" / "format1.npz"
    data = Path(__file__).parent.parent / "sample_data" / "heart_scale.svm"
    lines = good("predict", old, data, "--scores", "-q").lines
    want = ["1\t1.0506664417110738", "1\t0.143531982002699", "-1\t-0.29211089322192185"]
    assert [line.split("\t")[0] for line in lines[:3]] == ["1", "1", "-1"]
    np.testing.assert_allclose(
        [float(line.split("\t")[1]) for line in lines[:3]], [float(w.split("\t")[1]) for w in want], rtol=1e-12
    )
    good("train", data, "--continue", old, "-o", "n.npz", "-q")
    assert load(folder / "n.npz").state.shown[0] == 540 == load(folder / "n.npz").rows


def test_a_logistic_model_of_format_2_predicts_as_it_did_and_goes_on(good, folder):
    """Trained by the version before steps were made longer, on heart_scale.svm: two members."""
    old = Path(__file__).parent / "models" / "format2.npz"
    data = Path(__file__).parent.parent / "sample_data" / "heart_scale.svm"
    lines = [line.split("\t") for line in good("predict", old, data, "--scores", "-q").lines[:3]]
    assert [line[0] for line in lines] == ["1", "1", "-1"]
    want = [1.0000008594629364, 5.641883952750461e-7, -1.0000005261399179]
    np.testing.assert_allclose([float(line[1]) for line in lines], want, rtol=1e-12)
    good("train", data, "--continue", old, "-o", "n.npz", "-q")
    state = load(folder / "n.npz").state
    assert load(folder / "n.npz").rows == 540 and (state.base[0].length > 1.0).all()
