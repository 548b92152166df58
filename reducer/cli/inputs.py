"""What verbs read, and messages about inputs that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from reducer.cli.screen import CommandError, say, say_skipped, suggestion
from reducer.errors import FileError, HistoryError
from reducer.inputs.sources import ENDINGS, SAMPLE, Source, find_sources

if TYPE_CHECKING:
    from reducer.histories.stored import Return
    from reducer.inputs.chunks import Chunk
    from reducer.inputs.recorded import Recorded, Selection

_T = TypeVar("_T")
_MAX_RETURNS = 10_000
"""Tool returns to read for a suggestion."""


def sources_or_sample(names: Sequence[str], endings: tuple[str, ...] = ENDINGS) -> list[Source]:
    """Return what `find_sources` returns, or the built-in sample if there are no names."""
    if names:
        return find_sources(names, endings)
    say("showing the built-in sample; pass a HISTORY to see your own (see --help)")
    return [SAMPLE]


def read_histories(names: Sequence[str], read: Callable[[Source, bytes], _T]) -> tuple[list[_T], int]:
    """Return `read(source, content)` for each history in the sources that `names` refer to, and the number of skipped
    inputs, which contain no history. Raises `CommandError`, for example if there is no history.
    """
    from reducer.inputs.recorded import read_each  # takes time to import

    def result(source: Source, line: Chunk) -> list[_T]:
        return [read(source, line.content)]

    results: list[_T] = []
    skipped: list[str] = []
    for source in sources_or_sample(names):
        try:
            results += read_each(source, result, skipped)
        except FileError as error:
            skipped.append(str(error))
    say_skipped(skipped)
    if not results:
        raise CommandError(f"no history in {', '.join(names)}")
    return results, len(skipped)


def each_recorded(names: Sequence[str], selection: Selection) -> Iterator[Recorded]:
    """Yield the selected returns and samples, at least one. Raises `CommandError`, `FileError` and OSError."""
    from reducer.inputs.recorded import recorded  # takes time to import

    sources = find_sources(names)
    skipped: list[str] = []
    is_found = False
    for source in sources:
        for one in recorded(source, selection, skipped):
            is_found = True
            yield one
    say_skipped(skipped)
    if not is_found:
        raise nothing_found(selection, sources)


def nothing_found(selection: Selection, sources: Sequence[Source]) -> CommandError:
    """Return the error if no tool return matches. Reads the sources again, except standard input."""
    every = (entry for source in sources for entry in _returns(source))
    found = list(islice(every, _MAX_RETURNS))
    tools = {entry.tool: None for entry in found}
    of_tool = {entry.tool for entry in found if selection.matches_tool(entry.tool)}
    calls = {entry.call_id: None for entry in found if entry.tool in of_tool}
    if selection.call is not None and calls:
        near = suggestion(selection.call, calls)
        return CommandError(f"--call {selection.call}: no tool return has this call id; {near}")
    if selection.tool is not None and found:
        return CommandError(f"--tool {selection.tool}: no such tool; {suggestion(selection.tool, tools)}")
    return CommandError("no tool returns")


def _returns(source: Source) -> Iterator[Return]:
    """Yield the tool returns of a file as far as it can be read."""
    from reducer.histories.stored import returns
    from reducer.inputs.recorded import read_each

    if source.path is not None:
        with suppress(FileError, HistoryError):
            yield from read_each(source, lambda _, line: returns(line.content), [])
