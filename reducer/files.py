"""Read files with a size limit."""

from __future__ import annotations

from errno import EFBIG, EINVAL
from pathlib import Path

MAX_RULE_BYTES = 1_000_000
"""Maximum size of a rule file in bytes."""


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError for a folder, device or FIFO, and above `max_bytes`."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(EFBIG, f"larger than {max_bytes:,} bytes", str(path))
    return data
