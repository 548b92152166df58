"""Output files, which are never written over an input.

`--output` is a file, a folder, or `-` for standard output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reducer.cli.screen import CommandError, say
from reducer.files import replaced
from reducer.inputs.compression import compressed
from reducer.inputs.sources import Source


def targets(output: str, sources: Sequence[Source], others: Iterable[Path]) -> dict[Source, Path | None]:
    """Return the output file of each source, or None for standard output. Creates nothing.

    Raises `CommandError` if an output is also a source or one of the `others`, which are read as well, or if two
    histories have the same output.
    """
    is_folder = output.endswith("/") or os.path.isdir(output)
    if not is_folder and (len(sources) > 1 or (sources[0].folder and output != "-")):
        raise CommandError(f"--output {output}: several histories, or a folder of them, require a folder: -o reduced/")
    if output == "-":
        return {sources[0]: None}
    found: dict[Path, Source] = {}
    for source in sources:
        file = _in_folder(Path(output), source) if is_folder else Path(output)
        if file in found:
            names = f"{found[file].name} and {source.name}"
            raise CommandError(f"{output}: {names} would both be written to {file.name}")
        compressed(b"", str(file))  # reports a missing package
        found[file] = source
    check_targets(found, sources, others)
    return {source: file for file, source in found.items()}


def _in_folder(folder: Path, source: Source) -> Path:
    if source.path is None:
        raise CommandError(f"{folder}/: standard input has no file name; use -o FILE")
    if not source.folder:
        return folder / source.path.name
    if folder.resolve().is_relative_to(Path(source.folder).resolve()):
        raise CommandError(f"{folder}/: is inside the input folder {source.folder}; the next run would read it")
    return folder / source.path.relative_to(source.folder)


def check_targets(files: Iterable[Path], sources: Sequence[Source], others: Iterable[Path]) -> None:
    """Raise `CommandError` if a file is also a source or one of `others`, under any name or link."""
    read = set(map(os.path.realpath, others))
    for source in sources:
        read.add(os.path.realpath(source.path or "/dev/stdin"))
    for file in files:
        if os.path.realpath(file) in read:
            raise CommandError(f"{file}: is also an input; inputs are never overwritten")


@contextmanager
def open_target(file: Path | None) -> Iterator[IO[bytes]]:
    """Open a file as `replaced` does; None is standard output. Raises `FileError`."""
    if file is not None:
        with replaced(file) as target:
            yield target
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def write(file: Path | None, content: bytes) -> None:
    """Write a file, and say so; None is standard output. Raises `FileError`."""
    with open_target(file) as target:
        target.write(content)
    if file is not None:
        say(f"wrote {file}, {len(content):,} bytes")
