"""Kernels that are compiled in a process, and the same from the cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEART = Path(__file__).parent.parent / "sample_data" / "heart_scale.svm"


@pytest.mark.parametrize("algorithm", ["acog-1", "adob --base arow --draw poisson --on-weak reset"])
def test_a_model_is_the_same_from_kernels_just_compiled_and_from_the_cache(tmp_path, algorithm):
    """A helper left outside its kernel may be found in another one, loaded before, in which it rounds otherwise."""
    models = []
    for name in ("compiled.npz", "cached.npz"):
        words = [sys.executable, "-m", "bigclf", "train", str(HEART), "-q", "-o", name, "--algo", *algorithm.split()]
        subprocess.run(words, cwd=tmp_path, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)}, check=True)
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1]
