"""A look into a model file for the algorithm's name, without numpy: its options must be known before parsing."""

from __future__ import annotations

import json
import zipfile
from typing import Any


def algorithm_of(path: str) -> tuple[str | None, dict[str, Any]]:
    """The algorithm of a model and its parameters; None where that cannot be told (loading it will say why)."""
    try:
        with zipfile.ZipFile(path) as z, z.open("header.npy") as f:
            text = f.read(1 << 24)
        header = json.loads(text[text.index(b"\n") + 1 :])
        return str(header["algorithm"]), dict(header["params"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError, TypeError):
        return None, {}
