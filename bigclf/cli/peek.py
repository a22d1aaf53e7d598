"""A look into a model file for the algorithm's name, without numpy: its options must be known before parsing."""

from __future__ import annotations

import json
import zipfile


def algorithm_of(path: str) -> str | None:
    """The algorithm of a model; None where that cannot be told (loading it will say why)."""
    try:
        with zipfile.ZipFile(path) as z, z.open("header.npy") as f:
            text = f.read(1 << 24)
        return str(json.loads(text[text.index(b"\n") + 1 :])["algorithm"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return None
