"""Where verbs write: `--output` is a file, a folder, or `-` for standard output. A file is written completely or not at
all, and never if it is also an input.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reducer.cli.screen import CommandError, reason
from reducer.histories import compressed as compression
from reducer.histories.compressed import CompressedError

if TYPE_CHECKING:
    from reducer.cli.inputs import Source


def targets(output: str, sources: Sequence[Source], others: Iterable[Path]) -> dict[Source, Path | None]:
    """Return the file for each source, None for standard output. Creates nothing.

    Raises `CommandError` for a file that is also a source or one of the `others` that are read, and if two histories
    would share a file.
    """
    is_folder = output.endswith("/") or os.path.isdir(output)
    if not is_folder and (len(sources) > 1 or (sources[0].folder and output != "-")):
        raise CommandError(f"--output {output}: several histories, or a folder of them, need a folder: -o reduced/")
    if output == "-":
        return {sources[0]: None}
    files: dict[Path, Source] = {}
    for source in sources:
        file = _in_folder(Path(output), source) if is_folder else Path(output)
        if file in files:
            raise CommandError(f"{output}: {files[file].name} and {source.name} would both be written to {file.name}")
        files[file] = source
        compressed(b"", file)
    check_targets(files, [*(source.path for source in sources), *others])
    return {source: file for file, source in files.items()}


def _in_folder(folder: Path, source: Source) -> Path:
    if source.path is None:
        raise CommandError(f"{folder}/: standard input has no file name; use -o FILE")
    if not source.folder:
        return folder / source.path.name
    if folder.resolve().is_relative_to(Path(source.folder).resolve()):
        raise CommandError(f"{folder}/: is inside the input folder {source.folder}; the next run would read it")
    return folder / source.path.relative_to(source.folder)


def check_targets(files: Iterable[Path], inputs: Iterable[Path | None]) -> None:
    """Raise `CommandError` if a file is, by any name or link, an input (None is standard input)."""
    read = {_identity(path) for path in inputs} - {None}
    for file in files:
        if _identity(file) in read:
            raise CommandError(f"{file}: is also an input; inputs are never overwritten")


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what identifies a regular file under all of its names; None if there is no such file."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path is None else path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def compressed(content: bytes, file: Path | None) -> bytes:
    """Compress content as the name of its file says; None is standard output. Raises `CommandError`."""
    try:
        return compression.compressed(content, compression.compression_of(file.name)) if file else content
    except CompressedError as error:
        raise CommandError(f"{file}: {error}") from None


@contextmanager
def open_target(file: Path | None) -> Iterator[IO[bytes]]:
    """Open a file for writing, None for standard output; create its folder. Raises `CommandError`.

    The content goes to a new file next to it, which replaces it when the block ends, and is deleted if it raises.
    """
    if file is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(file))  # a link stays a link: the file that it points to is replaced
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
        raise CommandError(f"{file}: {reason(error)}") from None


def write(file: Path | None, content: bytes) -> None:
    """Write a file, or standard output for None. Raises `CommandError`."""
    with open_target(file) as target:
        target.write(content)
