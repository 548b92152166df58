"""Reading many histories, with a progress bar on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from reducer.cli.inputs import Source, find_sources, read_lines
from reducer.cli.messages import CommandError, say_skipped
from reducer.errors import HistoryError

_T = TypeVar("_T")

_LARGE = 3_000_000
"""Bytes of histories that take about a second."""

Advance = Callable[[int], None]
"""Takes the number of bytes of a source that were read."""


@contextmanager
def progress(sources: Sequence[Source]) -> Iterator[Callable[[Source], Advance]]:
    """Show a progress bar on standard error while large histories are read, if it is a terminal.

    Yields a function that returns, for each source in order, the function to call with the bytes that were read.
    """
    total = sum(source.size for source in sources)
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or total < _LARGE:
        yield lambda source: lambda read: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        done = 0

        def start(source: Source) -> Advance:
            nonlocal done
            before = done
            done += source.size
            return lambda read: bar.update(task, completed=before + read)

        yield start


def read_histories(names: Sequence[str], read: Callable[[Source, bytes], _T]) -> tuple[list[_T], int]:
    """Return `read(source, content)` of each history that the arguments `names` refer to, and how many inputs were
    skipped because they contain none. Raises `CommandError`, also if there is no history.
    """
    found: list[_T] = []
    skipped: list[tuple[str, str]] = []
    sources = find_sources(names)
    with progress(sources) as bar:
        for source in sources:
            advance = bar(source)
            try:
                for line in read_lines(source):
                    if line.number and not line.is_long and not line.content.strip():
                        continue
                    try:
                        found.append(read(source, line.content))
                    except (HistoryError, ValueError) as error:
                        name = f"{source.name}:{line.number}" if line.number else source.name
                        skipped.append((name, "longer than 16 MB" if line.is_long else str(error)))
                    advance(line.position)
            except CommandError as error:
                skipped.append((source.name, str(error).removeprefix(f"{source.name}: ")))
    say_skipped(skipped)
    if not found:
        raise CommandError(f"no history in {', '.join(names)}")
    return found, len(skipped)
