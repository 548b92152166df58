"""Find rule files and built-in packs, read files with a size limit, and write them completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EFBIG, EINVAL, ENOENT
from pathlib import Path
from typing import IO

from reducer.errors import FileError, did_you_mean, nearest, reason

MAX_RULE_BYTES = 1_000_000
"""The maximum size of a rule file."""
EMPTY = '""'
"""Stands for an empty text where an error names a source."""
_BUILTIN = "builtin"
_ONLY_BY_NAME = "general"
"""The pack with a rule for all tools, which applies only if a user names it."""


def rule_files(source: Path | str) -> list[Path]:
    """Return the rule files that a source refers to. Raises OSError for an empty text and a folder that cannot be read.

    A source is a file, a folder with its packs, `builtin` for the packs of this package, or `builtin:PACK` for one of
    them. Packs are sub-folders, except `samples`, hidden ones, and `general`, which only its own name selects.
    """
    if source == "":  # `Path("")` is the current folder, which nobody means by an unset variable
        raise OSError(EINVAL, "a source of rules is empty; write `.` for the current folder", EMPTY)
    folder = _builtin_folder(str(source)) or Path(source)
    if not folder.is_dir():
        return [folder]
    found: list[Path] = []
    for each in (folder, *packs_in(folder)):
        if each is folder or each.name != _ONLY_BY_NAME:
            files = sorted(file for file in each.iterdir() if file.suffix in (".yaml", ".yml"))
            found += filter(Path.is_file, files)
    return found


def packs_in(folder: Path) -> list[Path]:
    """Return the packs in a folder of rules. Raises OSError."""
    names = (path for path in folder.iterdir() if path.name != "samples" and not path.name.startswith("."))
    return sorted(filter(Path.is_dir, names))


def builtin_rules() -> Path:
    """Return the folder of the built-in packs: in the package, or next to it in a checkout."""
    package = Path(__file__).parent
    inside = package / "bundled"
    return inside if inside.is_dir() else package.parent / "rules"


def is_builtin(file: Path | str) -> bool:
    """Return whether a file is in a built-in pack."""
    return Path(file).resolve().is_relative_to(builtin_rules().resolve())


def has_samples(file: Path | str) -> bool:
    """Return whether a rule file has its samples: the package is installed without those of the built-in packs."""
    return not is_builtin(file) or Path(file).with_name("samples").is_dir()


def _builtin_folder(source: str) -> Path | None:
    """Return the folder of `builtin` or `builtin:PACK`, or None for any other source. Raises OSError."""
    kind, colon, name = source.partition(":")
    if kind != _BUILTIN:
        return None
    packs = {pack.name: pack for pack in packs_in(builtin_rules())}
    if not colon:
        return builtin_rules()
    if name in packs:
        return packs[name]
    near = nearest(name, packs)
    hint = did_you_mean(near and f"{_BUILTIN}:{near}") or f"the packs are {', '.join(packs)}"
    raise FileNotFoundError(ENOENT, f"no such pack; {hint}", source)


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError for a folder, device or FIFO, and above `max_bytes`."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(EFBIG, f"larger than {max_bytes:,} bytes", str(path))
    return data


@contextmanager
def replaced(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing and create its folder. Raises `FileError`.

    The content is written to a temporary file, which replaces the file when the block ends. It is deleted if the block
    raises.
    """
    path = Path(os.path.realpath(file))  # replace the target of a link, not the link
    new = path.with_name(f".{path.name[:50]}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open("wb") as device:  # a device or a pipe cannot be replaced
                yield device
            return
        try:
            with new.open("wb") as target:
                yield target
                target.flush()
                os.fsync(target.fileno())
            if path.exists():
                shutil.copymode(path, new)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{file}: {reason(error)}") from None


def write_file(file: Path, content: bytes) -> None:
    """Write a file completely or not at all. Raises `FileError`."""
    with replaced(file) as target:
        target.write(content)
