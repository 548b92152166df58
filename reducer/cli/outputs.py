"""Where verbs write: `--output` is a file, a folder, or `-` for standard output. A file is written completely or not at
all, and never if it is also an input.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reducer.cli.messages import CommandError, counted, reason
from reducer.histories import compressed as compression
from reducer.histories.compressed import CompressedError

if TYPE_CHECKING:
    from reducer.cli.inputs import Source

_READ = "is also an input; inputs are never overwritten"


def targets(output: str, sources: Sequence[Source], rules: Sequence[Path]) -> tuple[Path | None, ...]:
    """Return the file for each source, None for standard output. Creates nothing.

    Raises `CommandError` for a file that cannot be written or is an input, and if two histories would share a file.
    """
    into_folder = output.endswith(("/", os.sep)) or (output != "-" and _is_folder(output))
    if into_folder:
        files: tuple[Path | None, ...] = _in_folder(output, sources, rules)
    else:
        if len(sources) > 1 or (output != "-" and any(source.folder for source in sources)):
            several = counted(len(sources), "history", "histories")
            raise CommandError(
                f"--output {output}: cannot write {several} to standard output"
                if output == "-"
                else f"--output {output}: cannot write {several} to one file; use -o {output}/ to write a folder"
            )
        if output.lower().endswith((".html", ".htm")):
            raise CommandError(
                f"--output {output}: writes the reduced history; for the report, use --format html > {output}"
            )
        if output != "-":
            check_target(output, [*(source.path for source in sources), *rules])
        files = (None if output == "-" else Path(output),) * len(sources)
    for file in files:
        compressed(b"", file)
    return files


def check_target(output: str, inputs: Iterable[Path | None]) -> None:
    """Raise `CommandError` if `output` is a folder or, by any name or link, an input (None is standard input)."""
    path = Path(output)
    try:
        if path.is_dir():
            raise CommandError(f"{output}: is a folder; name a file")
        if not path.resolve().parent.is_dir():
            raise CommandError(f"{output}: there is no folder {path.resolve().parent}")
        target = path.stat() if path.exists() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise CommandError(f"{output}: {reason(error)}") from None
    if target is None or not stat.S_ISREG(target.st_mode):
        return
    for source in inputs:
        with suppress(OSError, ValueError):
            read = os.fstat(sys.stdin.fileno()) if source is None else source.stat()
            if os.path.samestat(read, target):
                raise CommandError(f"{output}: {_READ}")


def compressed(content: bytes, file: Path | None) -> bytes:
    """Compress content as the name of its file says; None is standard output. Raises `CommandError`."""
    if file is None:
        return content
    try:
        return compression.compressed(content, compression.compression_of(file.name))
    except CompressedError as error:
        raise CommandError(f"{file}: {error}") from None


@contextmanager
def open_target(file: Path | None) -> Iterator[IO[bytes]]:
    """Open a file for writing, None for standard output. Raises `CommandError`.

    The content goes to a new file next to it, which replaces it when the block ends, and is deleted if it raises.
    """
    if file is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # A link stays a link: the file that it points to is replaced.
    path = file.resolve()
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:  # a device or a pipe cannot be replaced
                yield device
            return
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as target:
                yield target
                target.flush()
                os.fsync(target.fileno())
            os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise CommandError(f"{file}: {reason(error)}") from None


def write(file: Path | None, content: bytes) -> None:
    """Write a file, or standard output for None. Raises `CommandError`."""
    with open_target(file) as target:
        target.write(content)


def make_folder(folder: Path) -> None:
    """Create a folder and those above it. Raises `CommandError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: {reason(error)}") from None


def _in_folder(output: str, sources: Sequence[Source], rules: Sequence[Path]) -> tuple[Path, ...]:
    folder = Path(output)
    above = folder.resolve().parent
    if not folder.is_dir() and (folder.exists() or not above.is_dir()):
        raise CommandError(f"{output}: is a file" if folder.exists() else f"{output}: there is no folder {above}")
    for name in {source.folder for source in sources if source.folder}:
        if folder.resolve().is_relative_to(Path(name).resolve()):
            raise CommandError(f"{output}: is inside the input folder {name}; the next run would read it")
    inputs = {_identity(path) for path in [*(source.path for source in sources if source.path), *rules]} - {None}
    found: dict[Path, Source] = {}
    for source in sources:
        if source.path is None:
            raise CommandError(f"{output}: standard input has no file name; use -o FILE")
        place = source.path.relative_to(source.folder) if source.folder else Path(source.path.name)
        target = folder / place
        if target in found:
            raise CommandError(f"{output}: {found[target].name} and {source.name} would both be written to {place}")
        if _identity(target) in inputs:
            raise CommandError(f"{target}: {_READ}")
        found[target] = source
    return tuple(found)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
