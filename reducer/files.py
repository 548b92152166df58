"""Find rule files, and read files with a size limit."""

from __future__ import annotations

from errno import EFBIG, EINVAL
from pathlib import Path

MAX_RULE_BYTES = 1_000_000
"""The maximum size of a rule file."""


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files of a folder. Raises OSError."""
    return sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml") and file.is_file())


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError for a folder, device or FIFO, and above `max_bytes`."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(EFBIG, f"larger than {max_bytes:,} bytes", str(path))
    return data
