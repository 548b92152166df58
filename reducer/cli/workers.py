"""Processes to work in: they start while the process that asks for them is still importing what it needs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess


class Worker(NamedTuple):
    """A process and the pipe to it; it ends when the pipe is closed."""

    process: SpawnProcess
    connection: Connection


@contextmanager
def started(jobs: int) -> Iterator[list[Worker]]:
    """Start as many processes, none for one job. None of them is left behind."""
    workers = start(jobs) if jobs > 1 else []
    try:
        yield workers
    finally:
        for worker in workers:
            if not worker.connection.closed:  # nobody had work for it
                worker.process.kill()
                worker.connection.close()
        for worker in workers:
            worker.process.join()


def start(jobs: int) -> list[Worker]:
    """Start as many processes; who starts them closes their pipes."""
    # Spawned, not forked: what they inherit of this process are their own pipes alone, so they see its end, however it ends.
    context = get_context("spawn")
    workers = []
    # Ctrl-C reaches every process of a terminal: only this one is to answer.
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            workers.append(Worker(process, ours))
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    return workers


def _serve(connection: Connection) -> None:
    """Work on what comes until there is no more. Runs in a process of its own."""
    import gc

    gc.set_threshold(50_000, *gc.get_threshold()[1:])  # as the command line has it: 12% faster, and what imports make is no garbage
    from reducer.cli.crew import serve

    serve(connection)
