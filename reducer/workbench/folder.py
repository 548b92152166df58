"""The files that the workbench reads and writes: rule files in one folder, and samples beside them.

A name is a path relative to the folder, such as `search.yaml`, `web/search.yaml` or `samples/search.json`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from reducer.analysis.samples import MAX_SAMPLE
from reducer.files import read_file, rule_files, write_file

_PART = r"[^\x00-\x1f\x7f/\\:.][^\x00-\x1f\x7f/\\:]{0,99}"
_NAME = re.compile(rf"(?:{_PART}/){{0,2}}{_PART}\.(?:yaml|yml|json|txt)")


class RefusedName(ValueError):
    """A name that does not lead to a file in the folder."""


class ChangedError(Exception):
    """A file on disk has another version than expected: it has `text`, or does not exist if `version` is empty."""

    def __init__(self, text: str, version: str) -> None:
        super().__init__("the file has changed on disk")
        self.text = text
        self.version = version


def rule_names(folder: Path) -> list[str]:
    """Return the names of the rule files, or nothing if the folder does not exist. Raises OSError."""
    return [file.relative_to(folder).as_posix() for file in rule_files(folder)] if folder.exists() else []


def located(folder: Path, name: str) -> Path:
    """Return the path of a file. Raises `RefusedName` if it is hidden, outside of the folder, or behind a link."""
    if not _NAME.fullmatch(name):
        raise RefusedName(f"`{name}` is not the name of a rule file, such as `search.yaml` or `web/search.yaml`")
    path = folder / name
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), *name.split("/")):
        raise RefusedName(f"`{name}` is a link, or is in one; open the folder that it leads to")
    return path


def read(folder: Path, name: str) -> tuple[str, str]:
    """Return the text and the version of a file. Raises `RefusedName`, OSError and `UnicodeDecodeError`."""
    data = read_file(located(folder, name), MAX_SAMPLE)
    return data.decode(), _version(data)


def save(folder: Path, name: str, text: str, version: str) -> str:
    """Write a file if it still has the given version on disk, and return the new version.

    Raises `ChangedError`, `RefusedName`, OSError, `UnicodeEncodeError` and `FileError`.
    """
    path, data = located(folder, name), text.encode()
    try:
        old, current = read(folder, name)
    except FileNotFoundError:
        old, current = "", ""
    if current not in (version, _version(data)):
        raise ChangedError(old, current)
    write_file(path, data)
    return _version(data)


def rename(folder: Path, name: str, version: str, to: str) -> None:
    """Rename a file that has the given version on disk. Raises as `save`, and `RefusedName` if `to` exists."""
    path, target = located(folder, name), located(folder, to)
    if target.exists():
        raise RefusedName(f"`{to}` exists already")
    with _taken(path, version) as hidden:
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden.rename(target)


def delete(folder: Path, name: str, version: str) -> None:
    """Delete a file that has the given version on disk. Raises as `save`."""
    with _taken(located(folder, name), version) as hidden:
        hidden.unlink()


@contextmanager
def _taken(path: Path, version: str) -> Iterator[Path]:
    """Rename a file to a hidden one, which no other program writes, and back if it has another version.

    Raises `ChangedError` and OSError.
    """
    hidden = path.with_name(f".{path.name[:50]}.{os.getpid()}.tmp")
    path.rename(hidden)
    try:
        data = read_file(hidden, MAX_SAMPLE)
        if _version(data) != version:
            raise ChangedError(data.decode("utf-8", "replace"), _version(data))
        yield hidden
    finally:
        if hidden.exists():
            hidden.rename(path)


def _version(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
