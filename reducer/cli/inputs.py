"""Which histories a verb reads, and which of their tool returns."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from reducer.cli import VERBS
from reducer.cli.messages import CommandError, reason, say, suggestion
from reducer.histories.compressed import CompressedError, decompressed
from reducer.histories.lines import ENDINGS, Stream, are_lines, is_lines_name, lines_of, pieces
from reducer.histories.stored import Return

_MAX_NAMES = 2000


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read histories from.

    `path` is None for standard input. `folder` is the folder argument in which the file was found, otherwise empty.
    """

    name: str
    path: Path | None
    folder: str = ""

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Open the stored bytes. Raises `CommandError`; reading the stream raises OSError."""
        if self.path is None:
            if sys.stdin is None:
                raise CommandError("standard input is closed")
            if sys.stdin.isatty():
                say("reading a history from the terminal; end it with Ctrl-D")
            given = sys.stdin.buffer
            yield Stream(getattr(given, "read1", given.read))  # what is available, without waiting for more
            return
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise CommandError(f"{self.name}: {reason(error)}") from None
        with file:
            yield Stream(lambda most: file.read(most) or b"")

    def read(self) -> bytes:
        """Read the whole file, decompressed. Raises `CommandError`."""
        try:
            with self.open() as stream:
                return decompressed(stream).read()
        except (OSError, CompressedError) as error:
            raise CommandError(f"{self.name}: {reason(error)}") from None

    @property
    def size(self) -> int:
        """The size of the file in bytes; 0 if it is unknown before reading."""
        try:
            return self.path.stat().st_size if self.path else 0
        except OSError:
            return 0


SAMPLE = Source("the sample bundled with reducer", Path(__file__).parents[1] / "samples" / "threat_intelligence.json")
"""The stored history that comes with reducer: an invented investigation with the answers in `rules/samples`."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source: a whole `history`, complete `lines` of JSON lines, or a part of a `long line`.

    A long line is too large to be read; `ends` tells whether the chunk is its last part. `position` counts the bytes
    of the file that were read so far, compressed if the file is.
    """

    kind: Literal["history", "lines", "long line"]
    content: bytes
    position: int
    ends: bool = True


def read_chunks(source: Source) -> Iterator[Chunk]:
    """Yield the chunks of a source, at least one. Raises `CommandError`."""
    try:
        with source.open() as file:
            stream = decompressed(file)
            if not (is_lines_name(source.name) or are_lines(stream)):
                yield Chunk("history", stream.read(), file.at)
                return
            is_empty = True
            for piece in pieces(stream):
                is_empty = False
                yield Chunk("long line" if piece.long else "lines", piece.content, file.at, piece.ends)
            if is_empty:
                yield Chunk("lines", b"", file.at)
    except (CompressedError, OSError) as error:
        raise CommandError(f"{source.name}: {reason(error)}") from None


def read_histories(source: Source, skipped: list[tuple[str, str]]) -> Iterator[tuple[str, bytes, int]]:
    """Yield each history of a source: its name (with the line number), its content, and the bytes read so far.

    Adds what cannot be read to `skipped`, as name and reason.
    """
    line = 0
    try:
        for chunk in read_chunks(source):
            if chunk.kind == "history":
                yield source.name, chunk.content, chunk.position
            elif chunk.kind == "long line":
                line += chunk.ends
                if chunk.ends:
                    skipped.append((f"{source.name}:{line}", "longer than 16 MB"))
            else:
                for start, end in lines_of(chunk.content):
                    line += 1
                    if chunk.content[start:end].strip():
                        yield f"{source.name}:{line}", chunk.content[start:end], chunk.position
    except CommandError as error:
        skipped.append((source.name, str(error).removeprefix(f"{source.name}: ")))


def find_sources(names: Sequence[str]) -> tuple[list[Source], int]:
    """Return every source that the arguments `names` refer to; report those that refer to none, and count them."""
    found = list(_sources(names))
    errors = [one for one in found if isinstance(one, CommandError)]
    for error in errors:
        say(f"error: {error}")
    return [one for one in found if isinstance(one, Source)], len(errors)


def all_sources(names: Sequence[str]) -> Iterator[Source]:
    """Yield every source that the arguments `names` refer to. Raises `CommandError` at a name that refers to none."""
    for one in _sources(names):
        if isinstance(one, CommandError):
            raise one
        yield one


def _sources(names: Sequence[str]) -> Iterator[Source | CommandError]:
    """Yield the sources of files, folders and `-`, each once, and an error for a name that refers to none."""
    seen: set[str] = set()
    for name in names:
        try:
            sources = _of_name(name)
        except CommandError as error:
            yield error
            continue
        for source in sources:
            key = os.path.realpath(source.path) if source.path else "-"
            if key not in seen:
                seen.add(key)
                yield source


def _of_name(name: str) -> list[Source]:
    if name == "-":
        return [Source("standard input", None)]
    if not name:
        raise CommandError("an empty name is not a file")
    path = Path(name)
    try:
        if not path.is_dir():
            path.stat()
            return [Source(name, path)]
        # Tools keep caches as JSON in hidden folders.
        files = sorted(
            file
            for file in path.rglob("*")
            if file.name.lower().endswith(ENDINGS)
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
    except (OSError, ValueError) as error:
        from difflib import get_close_matches

        verb = get_close_matches(name, VERBS, 1) if isinstance(error, FileNotFoundError) else []
        hint = f"; did you mean the verb `{verb[0]}`?" if verb else ""
        raise CommandError(f"{name}: {reason(error)}{hint}") from None
    if not files:
        raise CommandError(f"{name}: no .json, .jsonl or .ndjson files (plain, .gz or .zst) in this folder")
    return [Source(str(file), file, name) for file in files]


@dataclass(frozen=True, slots=True)
class Selection:
    """The tool returns that `--tool` (a glob) and `--call` select; None selects all.

    `tools` and `calls` collect the names that occur, for messages.
    """

    tool: str | None = None
    call: str | None = None
    tools: dict[str, None] = field(default_factory=dict)
    calls: dict[str, None] = field(default_factory=dict)

    @property
    def is_everything(self) -> bool:
        """Tell whether all tool returns are selected."""
        return self.tool is None and self.call is None

    def matches(self, found: Return) -> bool:
        """Tell whether a tool return is selected, and remember its names."""
        _add(self.tools, [found.tool])
        of_tool = self.tool is None or fnmatchcase(found.tool, self.tool)
        if of_tool:
            _add(self.calls, [found.call_id])
        return of_tool and (self.call is None or self.call in (found.call_id, f"{found.call_id}#{found.nth}"))

    def add(self, other: Selection) -> None:
        """Remember the names that another selection has collected."""
        _add(self.tools, other.tools)
        _add(self.calls, other.calls)

    def nothing_found(self) -> CommandError:
        """Return the error for a selection that no tool return matches."""
        if not self.tools:
            return CommandError("no tool returns")
        if self.tool is not None and not self.calls:
            return CommandError(f"--tool {self.tool}: no such tool; {suggestion(self.tool, self.tools)}")
        call = str(self.call)
        same = call.rpartition("#")[0]
        if same in self.calls:
            return CommandError(f"--call {call}: `{same}` has fewer returns; `--call {same}` selects all of them")
        return CommandError(f"--call {call}: no tool return has this call id; {suggestion(call, self.calls)}")


def _add(names: dict[str, None], more: Sequence[str] | dict[str, None]) -> None:
    for name in more:
        if len(names) >= _MAX_NAMES:
            return
        names[name] = None
