"""A signal while no row comes: one line says what was written, and what was not."""

from __future__ import annotations

import io
import os
import signal
import threading
from types import SimpleNamespace

import pytest

from bigclf.reading import source

SVM = "0 1:1 2:2\n1 1:2 2:1\n" * 20
NOT_LEARNED, NO_RESULTS = "nothing was learned yet, nothing is saved", "there are no results"


class Idle(io.RawIOBase):
    """Some bytes; then nothing comes any more, but a signal."""

    def __init__(self, data, number):
        super().__init__()
        self.data, self.number = data, number

    def readable(self):
        return True

    def readinto(self, buffer):
        n = min(len(buffer), len(self.data))
        buffer[:n], self.data = self.data[:n], self.data[n:]
        if not n:
            os.kill(os.getpid(), self.number)
            threading.Event().wait(5)  # in a thread beside; the main one has the signal
        return n


@pytest.mark.parametrize(("number", "code", "how"), [(2, 130, "interrupted"), (15, 143, "terminated")])
@pytest.mark.parametrize("data", [b"", SVM.encode(), b"label,x\n0,1\n1,2\n"], ids=["nothing", "libsvm", "csv"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train --algo pa-1 -o n.npz -", NOT_LEARNED),
        ("train --continue m.npz -o n.npz -", NOT_LEARNED),
        ("evaluate m.npz -", NO_RESULTS),
        ("compare --algo pa-1 --algo arow -o n.npz -", NO_RESULTS),
        ("ikt -", NO_RESULTS),
        ("check -", "not all rows were checked"),
        ("predict m.npz - -o n.npz", "nothing was written"),
        ("predict m.npz -", "not all lines were written"),
    ],
)
def test_a_signal_in_the_first_rows(good, fault, folder, write, monkeypatch, words, said, data, number, code, how):
    good("train", write("a.svm", SVM), "--algo", "pa-1", "-q", "-o", "m.npz")
    monkeypatch.setattr(source, "_PIPES", {})
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Idle(data, signal.Signals(number))))
    if not data and words == "predict m.npz -":
        said = "nothing was written"
    line = fault(code, *words.split())
    assert line in (f"bigclf: {how}; {said}", f"bigclf: interrupted at row 0 of pass 1; {said}")
    assert sorted(p.name for p in folder.iterdir()) == ["a.svm", "m.npz"]
