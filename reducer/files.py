"""Find rule files, and read files with a size limit."""

from __future__ import annotations

from errno import EFBIG, EINVAL
from pathlib import Path

MAX_RULE_BYTES = 1_000_000
"""The maximum size of a rule file."""


_NO_PACKS = ("samples", "general")


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files of a folder, then those of its packs. Raises OSError.

    Packs are the sub-folders, except `samples`, hidden ones, and `general`, whose rule for all tools is used only if
    a user names it.
    """
    packs = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    folders = [folder, *(path for path in packs if path.name not in _NO_PACKS)]
    return [file for each in folders for file in _rule_files_in(each)]


def _rule_files_in(folder: Path) -> list[Path]:
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
