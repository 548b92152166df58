"""What verbs read, and messages about inputs that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from reducer.cli.screen import CommandError, say, say_skipped, suggestion
from reducer.errors import FileError
from reducer.inputs.sources import ENDINGS, SAMPLE, Source, find_sources

if TYPE_CHECKING:
    from reducer.inputs.chunks import Chunk
    from reducer.inputs.recorded import Recorded, Selection

_T = TypeVar("_T")

_MAX_RETURNS = 10_000
"""Tool returns to read for a suggestion."""


@dataclass(slots=True)
class Problems:
    """The inputs that a verb cannot read: the number of errors, and other JSON in folders with the reasons.

    `advice` follows the error of a named file that is no history.
    """

    advice: str = ""
    errors: int = 0
    skipped: list[str] = field(default_factory=list)

    @contextmanager
    def reported(self, source: Source) -> Iterator[None]:
        """Report a `FileError` that the block raises for a source, so that the verb can continue with the next."""
        try:
            yield
        except FileError as error:
            is_other = re.match("not (a history|JSON): ", str(error).removeprefix(f"{source.name}: "))
            if is_other and source.folder:
                self.skipped.append(str(error))
            else:
                self.errors += 1
                say(f"error: {error}{self.advice if is_other else ''}")


def sources_or_sample(names: Sequence[str], endings: tuple[str, ...] = ENDINGS) -> list[Source]:
    """Return what `find_sources` returns, or the built-in sample if there are no names."""
    if names:
        return find_sources(names, endings)
    say("showing the built-in sample; pass a HISTORY to see your own (see --help)")
    return [SAMPLE]


def each_recorded(names: Sequence[str], selection: Selection) -> Iterator[Recorded]:
    """Yield the selected returns and samples, at least one. Raises `CommandError`, `FileError` and OSError."""
    return each_found(names, selection, selection.returns_in)


def returns_by_tool(names: Sequence[str], tool: str | None = None) -> tuple[dict[str, list[Any]], bool]:
    """Return what each tool returned, longest first, and whether any file is a history. Raises `CommandError`.

    A sample is of `tool`, or of the tool that its file is named after.
    """
    from reducer.analysis.texts import characters  # takes time to import
    from reducer.inputs.recorded import Selection

    contents: dict[str, list[Any]] = {}
    is_history = False
    for one in each_recorded(names, Selection(tool)):
        is_history |= bool(one.call)
        contents.setdefault(one.tool_or_file, []).append(one.content)
    for found in contents.values():
        found.sort(key=characters, reverse=True)
    return contents, is_history


def each_found(
    names: Sequence[str], selection: Selection, read: Callable[[Source, Chunk], Iterable[_T]]
) -> Iterator[_T]:
    """Yield what `read` finds in histories and samples, at least once. Raises the same errors as `each_recorded`."""
    from reducer.inputs.recorded import read_each  # takes time to import

    sources = find_sources(names)
    skipped: list[str] = []
    is_found = False
    for one in read_each(sources, read, skipped, tool=selection.sample_tool):
        is_found = True
        yield one
    say_skipped(skipped)
    if not is_found:
        raise nothing_found(selection, sources)


def nothing_found(selection: Selection, sources: Sequence[Source]) -> CommandError:
    """Return the error if no tool return matches. Reads the sources again, except standard input."""
    from reducer.inputs.recorded import ALL, recorded

    tools, calls = [], []
    with suppress(FileError):  # is reported already
        for one in islice(recorded(filter(attrgetter("path"), sources), ALL, []), _MAX_RETURNS):
            tools.append(one.tool)
            if selection.matches_tool(one.tool):
                calls.append(one.call)
    if selection.call is not None and calls:
        near = suggestion(selection.call, calls)
        return CommandError(f"--call {selection.call}: no tool return has this call id; {near}")
    if selection.tool is not None and tools:
        return CommandError(f"--tool {selection.tool}: no such tool; {suggestion(selection.tool, tools)}")
    return CommandError("no tool returns")
