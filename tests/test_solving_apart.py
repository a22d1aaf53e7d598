"""What is solved at the end of a run: a signal ends it, and that it takes long is told."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from bigclf.cli import progress
from bigclf.kernels import kernel_means
from bigclf.training.apart import apart


@pytest.fixture
def data(write):
    r = np.random.default_rng(0)
    rows = "".join(f"{i % 2} 1:{a:.3f} 2:{b + i % 2:.3f}\n" for i, (a, b) in enumerate(r.standard_normal((400, 2))))
    return write("a.svm", rows)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_while_solving_saves_a_checkpoint_from_which_the_end_is_the_same(
    number, code, data, good, fault, folder, monkeypatch
):
    good("train", data, "--algo", "fsvc", "-o", "want.npz", "-q")
    over, inner = threading.Event(), kernel_means.self_means

    def endless(*given):
        os.kill(os.getpid(), number)
        over.wait(60)
        return inner(*given)

    began = time.monotonic()
    with monkeypatch.context() as m:
        m.setattr(kernel_means, "self_means", endless)
        said = fault(code, "train", data, "--algo", "fsvc", "-o", "m.npz", "-q")
        assert time.monotonic() - began < 10
        over.set()
    assert "interrupted at row 400 of pass 1; saved m.ck.npz; go on with: bigclf train --resume m.ck.npz" in said
    assert not (folder / "m.npz").exists()
    good("train", data, "--resume", "m.ck.npz", "-o", "m.npz", "-q")
    assert (folder / "m.npz").read_bytes() == (folder / "want.npz").read_bytes()


@pytest.mark.parametrize("words", [(), ("-q",)])
def test_a_long_end_is_told_in_one_line_unless_quiet(words, data, good, monkeypatch):
    inner = kernel_means.self_means
    monkeypatch.setattr(progress, "FIRST_LINE", 0.3)
    assert progress.SOLVING not in good("train", data, "--algo", "fsvc-linear", *words).err
    monkeypatch.setattr(kernel_means, "self_means", lambda *given: time.sleep(1) or inner(*given))
    assert good("train", data, "--algo", "fsvc", *words).err.count(progress.SOLVING) == (not words)


def test_what_the_work_returns_and_raises():
    asked = []
    assert apart(lambda: time.sleep(0.3) or threading.current_thread().name, lambda: asked.append(1)) == "solver"
    assert asked
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0, asked.clear)
