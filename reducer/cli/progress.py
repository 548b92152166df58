"""How far long work has come, for people at a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from reducer.cli.histories import Source

_LONG = 3_000_000
"""Bytes of histories above which there is something to wait for: about a second."""

Watch = Callable[[int], None]


@contextmanager
def progress(sources: Sequence[Source]) -> Iterator[Callable[[Source], Watch | None]]:
    """Show a bar on standard error while histories are read, if they are large and it is a terminal: how much of them, how fast, how long to go.

    Gives a function that gives for each source, in order, what to tell how many bytes of its file are done; None where nobody looks.
    """
    sizes = [source.size for source in sources]
    endless = any(source.path is None for source in sources)
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or (sum(sizes) < _LONG and not endless):
        yield lambda source: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None if endless else sum(sizes))
        done = 0

        def watch(source: Source) -> Watch:
            nonlocal done
            start = done
            done += source.size
            bar.update(task, completed=start, description=source.name[-40:])
            return lambda read: bar.update(task, completed=start + read)

        yield watch
