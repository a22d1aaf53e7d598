"""Kernels that are compiled in a process, and the same from the cache."""

import os
import subprocess
import sys
from pathlib import Path

HEART = Path(__file__).parent.parent / "sample_data" / "heart_scale.svm"


def test_a_model_is_the_same_from_kernels_just_compiled_and_from_the_cache(tmp_path):
    """A helper left outside its kernel may be found in another one, loaded before, in which it rounds otherwise."""
    models = []
    for name in ("compiled.npz", "cached.npz"):
        words = [sys.executable, "-m", "bigclf", "train", str(HEART), "--algo", "acog-1", "-q", "-o", name]
        subprocess.run(words, cwd=tmp_path, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)}, check=True)
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1]
