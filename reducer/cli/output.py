"""Writes the reduced history: all of it or nothing, and never over what was read."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from reducer.cli.stop import Stop


def refuse(output: str, inputs: Iterable[Path | None]) -> None:
    """Raise `Stop` if `output` is a folder, or one of the files that are read (None is standard input), by whatever name or link."""
    path = Path(output)
    try:
        if path.is_dir():
            raise Stop(f"{output}: is a folder: name the file to write")
        if not path.resolve().parent.is_dir():
            raise Stop(f"{output}: there is no folder {path.resolve().parent}")
        target = path.stat() if path.exists() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise Stop(f"{output}: {getattr(error, 'strerror', None) or error}") from None
    if target is None or not stat.S_ISREG(target.st_mode):
        return
    for source in inputs:
        with suppress(OSError, ValueError):
            read = os.fstat(sys.stdin.fileno()) if source is None else source.stat()
            if os.path.samestat(read, target):
                raise Stop(f"{output}: is read here; nothing that is read is ever written")


def write(output: str, content: bytes) -> None:
    """Write `content` to the file `output` by way of a new file beside it, or to standard output for `-`. Raises `Stop`."""
    if output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    # A link stays a link: what it leads to is replaced.
    path = Path(output).resolve()
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a device or a pipe cannot be replaced
            return
        mode = mode_of(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise Stop(f"{output}: {error.strerror or error}") from None


def mode_of(path: Path) -> int:
    """Give the permissions that a file has or, when it is made, would get."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
