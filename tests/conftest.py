"""Fixtures of the tests of the command line: a folder, a way to call it, and small tables."""

import json
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest

from bigclf import start
from bigclf.cli.main import main


class Said(NamedTuple):
    """What one call gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A fresh working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def compiling_in_silence(monkeypatch):
    """What is compiled depends on the tests before."""
    start.on_compiling(lambda: None)
    monkeypatch.setattr(start, "on_compiling", lambda tell: None)


@pytest.fixture
def cli(folder, capsys, monkeypatch):
    """Calls the command line in this process; warnings of libraries count as printed."""

    def call(*argv):
        argv = [str(a) for a in argv]
        monkeypatch.setattr(sys, "argv", ["bigclf", *argv])
        capsys.readouterr()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = main(argv)
        out, err = capsys.readouterr()
        return Said(code, out, err + "".join(f"{w.category.__name__}: {w.message}\n" for w in caught))

    return call


@pytest.fixture
def apart(folder):
    """Calls the command line in a process of its own: for what depends on the memory that the process holds."""

    def call(*argv):
        words = [sys.executable, "-m", "bigclf", *map(str, argv)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        return Said(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def good(cli):
    """Calls it where it must succeed."""

    def call(*argv):
        said = cli(*argv)
        assert said.code == 0, said
        return said

    return call


@pytest.fixture
def fault(cli, folder):
    """Calls it where it must fail with this code and one line; no temporary file may stay. Returns the line."""

    def call(code, *argv):
        said = cli(*argv)
        assert said.code == code, said
        assert said.out == "" and said.err.startswith("bigclf: ") and said.err.count("\n") == 1, said
        assert not [p.name for p in folder.rglob(".*.tmp")]
        return said.err.rstrip("\n")

    return call


@pytest.fixture
def write(folder):
    """Writes a file of text or bytes in the working folder."""

    def put(name, data):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    return put
