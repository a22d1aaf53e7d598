"""pyarrow.parquet, without the clients of cloud stores that come along when it is imported.

They take memory and start threads, and only files are opened here. Each is hidden while pyarrow imports it, which
passes over those that it was built without.
"""

from __future__ import annotations

import sys

_HIDDEN = [f"pyarrow.{name}" for name in ("_azurefs", "_gcsfs", "_hdfs", "_s3fs")]
_HIDDEN = [name for name in _HIDDEN if name not in sys.modules]
for _name in _HIDDEN:
    sys.modules[_name] = None  # type: ignore[assignment]
import pyarrow.parquet as pq  # noqa: E402

for _name in _HIDDEN:
    del sys.modules[_name]

__all__ = ["pq"]
