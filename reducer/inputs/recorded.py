"""The tool returns that sources contain: those of histories, and samples, which are files with the content of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from reducer.errors import FileError, HistoryError
from reducer.histories.stored import Return, returns
from reducer.inputs.chunks import Chunk, read_lines
from reducer.inputs.sources import STANDARD_INPUT, Source

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Selection:
    """The tool returns selected by `--tool` (a glob) and `--call`; None selects all."""

    tool: str | None = None
    call: str | None = None

    def matches_tool(self, tool: str) -> bool:
        """Return whether the returns of a tool are selected."""
        return self.tool is None or fnmatchcase(tool, self.tool)

    def matches(self, entry: Return) -> bool:
        """Return whether a tool return is selected."""
        is_call = self.call is None or self.call in (entry.call_id, f"{entry.call_id}#{entry.nth}")
        return is_call and self.matches_tool(entry.tool)

    @property
    def sample_tool(self) -> str | None:
        """The tool of samples, which is unknown if it is empty, or None if a call is selected, so that none is read."""
        return None if self.call is not None else self.tool or ""

    def returns_in(self, source: Source, line: Chunk) -> Iterator[Recorded]:
        """Yield the selected returns that rules apply to, or the sample. Raises `HistoryError`."""
        for entry in returns(line.content):
            if line.kind == "sample":
                yield Recorded(source.name, entry.tool, "", entry.content)
            elif not entry.untouched and self.matches(entry):
                yield Recorded(source.name, entry.tool, entry.name, entry.content)


ALL = Selection()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded return, with the call as `--call` names it. A sample has no call, and its tool may be empty."""

    file: str
    tool: str
    call: str
    content: Any

    @property
    def tool_or_file(self) -> str:
        """Return the tool, or the one that the file of a sample is named after. Raises `FileError`."""
        return self.tool or _tool_of(self.file)


def recorded(sources: Iterable[Source], selection: Selection, skipped: list[str]) -> Iterator[Recorded]:
    """Yield the selected returns that rules apply to, and the samples.

    What contains no history is added to `skipped`, as in `read_each`. Raises `FileError`.
    """
    return read_each(sources, selection.returns_in, skipped, tool=selection.sample_tool)


def read_each(
    sources: Iterable[Source],
    read: Callable[[Source, Chunk], Iterable[_T]],
    skipped: list[str],
    *,
    tool: str | None = None,
) -> Iterator[_T]:
    """Yield what `read(source, line)` finds in each history, and with `tool` in each sample.

    Lines of JSON lines and files in folders without a history are added to `skipped`. Raises `FileError` for others.
    """
    for source in sources:
        try:
            for line in read_lines(source, tool=tool):
                yield from _read_line(source, line, read, skipped)
        except FileError as error:
            if not source.folder:
                raise
            skipped.append(str(error))


def _read_line(
    source: Source, line: Chunk, read: Callable[[Source, Chunk], Iterable[_T]], skipped: list[str]
) -> Iterator[_T]:
    if line.is_blank:
        return
    try:
        yield from read(source, line)
    except HistoryError as error:
        message = f"{line.place(source.name)}: {error}"
        if not line.number:
            raise FileError(message) from None
        skipped.append(message)


def _tool_of(file: str) -> str:
    if file == STANDARD_INPUT:
        raise FileError("standard input has no file name; add --tool NAME, the tool that returned this sample")
    return Path(file.removesuffix(".gz").removesuffix(".zst")).stem
