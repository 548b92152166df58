"""Progress of long work, on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from reducer.cli.inputs import Source

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
