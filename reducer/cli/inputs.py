"""What verbs read, and messages about inputs that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from reducer.cli.screen import CommandError, say, say_skipped, suggestion
from reducer.errors import FileError
from reducer.inputs.sources import ENDINGS, SAMPLE, Source, find_sources

if TYPE_CHECKING:
    from reducer.inputs.recorded import Recorded, Selection

_MAX_RETURNS = 10_000
"""Tool returns to read for a suggestion."""


def sources_or_sample(names: Sequence[str], endings: tuple[str, ...] = ENDINGS) -> list[Source]:
    """Return what `find_sources` returns, or the built-in sample if there are no names."""
    if names:
        return find_sources(names, endings)
    say("showing the built-in sample; pass a HISTORY to see your own (see --help)")
    return [SAMPLE]


def each_recorded(names: Sequence[str], selection: Selection) -> Iterator[Recorded]:
    """Yield the selected returns and samples, at least one. Raises `CommandError`, `FileError` and OSError."""
    from reducer.inputs.recorded import recorded  # takes time to import

    sources = find_sources(names)
    skipped: list[str] = []
    is_found = False
    for one in recorded(sources, selection, skipped):
        is_found = True
        yield one
    say_skipped(skipped)
    if not is_found:
        raise nothing_found(selection, sources)


def nothing_found(selection: Selection, sources: Sequence[Source]) -> CommandError:
    """Return the error if no tool return matches. Reads the sources again, except standard input."""
    from reducer.inputs.recorded import ALL, recorded

    found: list[Recorded] = []
    for source in sources:
        if source.path is not None and len(found) < _MAX_RETURNS:
            with suppress(FileError):  # is reported already
                found += islice(recorded([source], ALL, []), _MAX_RETURNS)
    tools = [one.tool for one in found]
    calls = [one.call for one in found if selection.matches_tool(one.tool)]
    if selection.call is not None and calls:
        near = suggestion(selection.call, calls)
        return CommandError(f"--call {selection.call}: no tool return has this call id; {near}")
    if selection.tool is not None and found:
        return CommandError(f"--tool {selection.tool}: no such tool; {suggestion(selection.tool, tools)}")
    return CommandError("no tool returns")
