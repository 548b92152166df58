"""Find the files that the names of files and folders and `-` refer to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from reducer.errors import FileError, reason
from reducer.inputs.compression import decompressed

STANDARD_INPUT = "standard input"
"""The name of the source for `-`."""
LINES_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst")
"""Endings of the names of JSON lines."""
ENDINGS = (".json", ".json.gz", ".json.zst", *LINES_ENDINGS)
"""Endings of the names of files that may contain histories."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of histories; `path` is None for standard input.

    `folder` is the folder argument that contains the file, or empty if the file was named itself.
    """

    name: str
    path: Path | None
    folder: str = ""


_SAMPLES = Path(__file__).parents[1] / "samples"
SAMPLE = Source("the built-in sample", _SAMPLES / "threat_intelligence.json")
"""The bundled history: an invented investigation."""
SAMPLE_RULES = _SAMPLES / "rules"
"""The rules for the tools in the bundled history, which no server has: they are no built-in rules."""


def find_sources(names: Sequence[str], endings: tuple[str, ...] = ENDINGS) -> list[Source]:
    """Return the sources that files, folders and `-` refer to, each once.

    In folders, these are the files with `endings`. Raises `FileError` for a folder without sources, and OSError.
    """
    sources: dict[str, Source] = {}
    for name in names:
        for source in _of_name(name, endings):
            identity = os.path.realpath(source.path) if source.path else "-"
            sources.setdefault(identity, source)
    return list(sources.values())


def _of_name(name: str, endings: tuple[str, ...]) -> list[Source]:
    if name == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed")
        return [Source(STANDARD_INPUT, None)]
    if not name:
        raise FileError("the name of a file is empty")
    path = Path(name)
    if not path.is_dir():
        path.stat()
        return [Source(name, path)]
    found = []
    for file in sorted(path.rglob("*")):
        if _is_in_folder(file, path, endings):
            found.append(Source(str(file), file, name))
    if not found:
        raise FileError(f"{name}: no .json, .jsonl or .ndjson files (plain, .gz or .zst) in this folder")
    return found


def _is_in_folder(file: Path, folder: Path, endings: tuple[str, ...]) -> bool:
    # Hidden folders often contain the JSON caches of other tools.
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.name.lower().endswith(endings) and file.is_file() and not is_hidden


@contextmanager
def open_source(source: Source) -> Iterator[IO[bytes]]:
    """Open a source as a stream of decompressed bytes. Raises `FileError`, also in the block."""
    if source.path and source.path.resolve().is_fifo():  # a pipe without a name, as by `<(…)`, has a writer
        raise FileError(f"{source.name}: a FIFO can have no writer, so it is not read; use - and standard input")
    try:
        opened: Any = source.path.open("rb") if source.path else nullcontext(sys.stdin.buffer)
        with opened as file, decompressed(file, source.name) as stream:
            yield stream
    except OSError as error:
        raise FileError(f"{source.name}: {reason(error)}") from None
