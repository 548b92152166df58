"""Input and output files. Outputs are written completely or not at all, and never over an input.

`--output` is a file, a folder, or `-` for standard output.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from reducer.cli.screen import CommandError, reason, say, say_skipped, suggestion
from reducer.errors import HistoryError
from reducer.histories import files as compression
from reducer.histories.files import ENDINGS, MAX_HISTORY, TOO_LARGE, Chunk, CompressedError, chunks

if TYPE_CHECKING:
    from reducer.histories.stored import Return

_T = TypeVar("_T")

_DAMAGED = re.compile(
    rb'\s*\[\s*\{\s*("parts"\s*:\s*\[\s*\{[^{}]*"(part_kind|type)"|"(kind|role)"[^{[]*"parts"\s*:\s*\[)'
)
"""The beginning of a history that cannot be read."""

STANDARD_INPUT = "standard input"
"""The name of the source for `-`."""
_MAX_RETURNS = 10_000
"""Tool returns to read for a suggestion."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of histories; `path` is None for standard input.

    `folder` is the folder argument that contains the file, or empty if the file was named itself.
    """

    name: str
    path: Path | None
    folder: str = ""

    def read(self) -> bytes:
        """Read the whole file, decompressed. Raises `CommandError`."""
        return b"".join(chunk.content for chunk in read_chunks(self))


SAMPLE = Source("the built-in sample", Path(__file__).parents[1] / "samples" / "threat_intelligence.json")
"""The bundled history: an invented investigation with the answers in `rules/threat_intelligence/samples`."""


def read_chunks(source: Source, *, or_sample: bool = False) -> Iterator[Chunk]:
    """Yield the chunks of a source, at least one. With `or_sample`, a file without a history is one sample.

    This decides for all verbs what a file contains:

    - JSON lines, if its name says so, or if its first line is a JSON object or list and another line follows. Each line
      is a history; a line that is none is reported, and the others are read.
    - One history otherwise.
    - One sample, if it contains no history and the verb accepts samples: then JSON lines are a text of this sample.

    Raises `CommandError`.
    """
    return _history_or_sample(_chunks(source), source.name) if or_sample else _chunks(source)


def _history_or_sample(chunks: Iterator[Chunk], name: str) -> Iterator[Chunk]:
    """Yield chunks that contain a history, or all of them as one sample. Raises `CommandError`."""
    first: list[Chunk] = []
    size = 0
    for chunk in chunks:
        first.append(chunk)
        size += len(chunk.content)
        if _has_history(chunk):
            yield from first
            yield from chunks
            return
        if size > MAX_HISTORY:
            raise CommandError(f"{name}: the first {MAX_HISTORY:,} bytes contain no history, and a sample is smaller")
    content = b"".join(chunk.content for chunk in first)
    if first[0].kind != "history" and _is_history(content):
        raise CommandError(f"{name}: one history, not JSON lines; its name must end in .json")
    yield Chunk("sample", 0, content)


def _has_history(chunk: Chunk) -> bool:
    """Return whether a chunk is a history, or contains a line that is one."""
    if chunk.kind == "history":
        return _is_history(chunk.content)
    return chunk.kind == "lines" and any(map(_is_history, chunk.content.split(b"\n")))


def _is_history(data: bytes) -> bool:
    """Return whether data is a history, even a damaged one."""
    from reducer.histories.stored import returns  # takes time to import

    try:
        next(returns(data, applies=lambda tool: False), None)
    except HistoryError:
        return _DAMAGED.match(data) is not None
    return True


def _chunks(source: Source) -> Iterator[Chunk]:
    if source.path and source.path.resolve().is_fifo():  # a pipe without a name, as by `<(…)`, has a writer
        raise CommandError(f"{source.name}: a FIFO can have no writer, so it is not read; use - and standard input")
    try:
        opened: Any = source.path.open("rb") if source.path else nullcontext(sys.stdin.buffer)
        with opened as file:
            yield from chunks(file, source.name)
    except (CompressedError, OSError) as error:
        raise CommandError(f"{source.name}: {reason(error)}") from None


def read_lines(source: Source, *, or_sample: bool = False) -> Iterator[Chunk]:
    """Yield each line of JSON lines, with the beginning of a long line, or one history or sample.

    Raises `CommandError`.
    """
    for chunk in read_chunks(source, or_sample=or_sample):
        if chunk.kind == "lines":
            for number, line in enumerate(BytesIO(chunk.content), chunk.number):
                yield chunk._replace(number=number, content=line.removesuffix(b"\n"))
        elif chunk.kind != "rest":
            yield chunk


def history_in(line: Chunk) -> bytes:
    """Return the history in a line or a whole file. Raises `HistoryError` for a line that is too large."""
    if line.kind == "long line":
        raise HistoryError(TOO_LARGE)
    return line.content


def find_sources(names: Sequence[str], endings: tuple[str, ...] = ENDINGS) -> list[Source]:
    """Return the sources that files, folders and `-` refer to, without duplicates, or the sample if there are no names.

    In folders, these are the files with `endings`. Raises `CommandError` for a folder without sources, and OSError.
    """
    if not names:
        say("showing the built-in sample; pass a HISTORY to see your own (see --help)")
        return [SAMPLE]
    sources: dict[str, Source] = {}
    for source in chain.from_iterable(_of_name(name, endings) for name in names):
        sources.setdefault(os.path.realpath(source.path) if source.path else "-", source)
    return list(sources.values())


def _of_name(name: str, endings: tuple[str, ...]) -> list[Source]:
    if name == "-":
        if sys.stdin is None:
            raise CommandError("standard input is closed")
        return [Source(STANDARD_INPUT, None)]
    if not name:
        raise CommandError("the name of a file is empty")
    path = Path(name)
    if not path.is_dir():
        path.stat()
        return [Source(name, path)]
    # Hidden folders often contain the JSON caches of other tools.
    files = sorted(
        file
        for file in path.rglob("*")
        if file.name.lower().endswith(endings)
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise CommandError(f"{name}: no .json, .jsonl or .ndjson files (plain, .gz or .zst) in this folder")
    return [Source(str(file), file, name) for file in files]


@dataclass(frozen=True, slots=True)
class Selection:
    """The tool returns selected by `--tool` (a glob) and `--call`; None selects all."""

    tool: str | None = None
    call: str | None = None

    @property
    def is_everything(self) -> bool:
        """Return whether all tool returns are selected."""
        return self.tool is None and self.call is None

    def matches(self, entry: Return) -> bool:
        """Return whether a tool return is selected."""
        of_tool = self.tool is None or fnmatchcase(entry.tool, self.tool)
        return of_tool and (self.call is None or self.call in (entry.call_id, f"{entry.call_id}#{entry.nth}"))

    def nothing_found(self, sources: Sequence[Source]) -> CommandError:
        """Return the error if no tool return matches. Reads the sources again, except standard input."""
        found = list(islice(chain.from_iterable(map(_returns, sources)), _MAX_RETURNS))
        calls = {entry.call_id: None for entry in found if Selection(self.tool).matches(entry)}
        if self.call is not None and calls:
            help = suggestion(self.call, calls)
            return CommandError(f"--call {self.call}: no tool return has this call id; {help}")
        if self.tool is not None and found:
            tools = {entry.tool: None for entry in found}
            return CommandError(f"--tool {self.tool}: no such tool; {suggestion(self.tool, tools)}")
        return CommandError("no tool returns")


def _returns(source: Source) -> Iterator[Return]:
    """Yield the tool returns of a file as far as it can be read."""
    from reducer.histories.stored import returns  # takes time to import

    with suppress(CommandError):
        for line in read_lines(source) if source.path else ():
            with suppress(HistoryError):
                yield from returns(line.content)


def read_histories(names: Sequence[str], read: Callable[[Source, bytes], _T]) -> tuple[list[_T], int]:
    """Return `read(source, content)` for each history in the sources that `names` refer to, and the number of skipped
    inputs, which contain no history. Raises `CommandError`, for example if there is no history.
    """
    results: list[_T] = []
    skipped: list[str] = []
    for source in find_sources(names):
        try:
            for line in read_lines(source):
                if line.is_blank:
                    continue
                try:
                    results.append(read(source, history_in(line)))
                except ValueError as error:
                    name = f"{source.name}:{line.number}" if line.number else source.name
                    skipped.append(f"{name}: {error}")
        except CommandError as error:
            skipped.append(str(error))
    say_skipped(skipped)
    if not results:
        raise CommandError(f"no history in {', '.join(names)}")
    return results, len(skipped)


# --- outputs


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
    files: dict[Path, Source] = {}
    for source in sources:
        file = _in_folder(Path(output), source) if is_folder else Path(output)
        if (other := files.setdefault(file, source)) is not source:
            raise CommandError(f"{output}: {other.name} and {source.name} would both be written to {file.name}")
        compressed(b"", file)  # reports a missing package
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
    """Raise `CommandError` if a file is also an input, under any name or link. None is standard input."""
    read = {_identity(path) for path in inputs} - {None}
    for file in files:
        if _identity(file) in read:
            raise CommandError(f"{file}: is also an input; inputs are never overwritten")


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return an identity that all names of a regular file share, or None if there is no such file."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path is None else path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def compressed(content: bytes, file: Path | None) -> bytes:
    """Compress content if the name of its file asks for it; None is standard output. Raises `CommandError`."""
    try:
        return compression.compressed(content, compression.compression_of(file.name)) if file else content
    except CompressedError as error:
        raise CommandError(f"{file}: {error}") from None


@contextmanager
def open_target(file: Path | None) -> Iterator[IO[bytes]]:
    """Open a file for writing and create its folder; None is standard output. Raises `CommandError`.

    The content is written to a temporary file, which replaces the file when the block ends. It is deleted if the block
    raises.
    """
    if file is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
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
        raise CommandError(f"{file}: {reason(error)}") from None


def write(file: Path | None, content: bytes) -> None:
    """Write a file; None is standard output. Raises `CommandError`."""
    with open_target(file) as target:
        target.write(content)
