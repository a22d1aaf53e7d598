"""The examples in the docstrings of the package, as installed."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import bigclf

MODULES = [m.name for m in pkgutil.walk_packages(bigclf.__path__, "bigclf.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0
