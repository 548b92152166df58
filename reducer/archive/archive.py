"""The archive as agents hold it: opened and checked at once, written by a thread of its own, read when something is recalled."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from sqlite3 import Connection

from reducer.archive.bounds import Bounds, read_age, read_bytes
from reducer.archive.entries import Entry
from reducer.archive.file import open_file, reading
from reducer.archive.writer import Job, Writer


class Archive:
    """A file that holds the originals of reduced tool returns: SQLite, safe with several threads and processes.

    `max_bytes` (a number, or `500MB`) bounds the file, `max_age` (a `timedelta`, days, or `30d`) how long an original is kept after
    it was last filed; the oldest goes first. `timeout`: seconds to wait for the lock of another program. `waiting`: how many requests
    may wait to be written.

    Raises `ArchiveError` where the file cannot be used and `ValueError` for a bound that is none, both at once. Later failures never
    reach an agent: they are logged once each (logger `reducer`) and counted in `failures`; what finds the queue full in `dropped`.
    Originals are held by reference until they are written, some 0.1 s: tools must not change what they returned. A process that ends
    without Python's exit (`os._exit`, a worker of `multiprocessing`) calls `close` or `flush` itself.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int | str | None = None,
        max_age: timedelta | float | str | None = None,
        timeout: float = 5.0,
        waiting: int = 10_000,
    ) -> None:
        self.path = Path(path)
        self._bounds = Bounds(read_bytes(max_bytes), read_age(max_age))
        self._timeout = timeout
        self._waiting = waiting
        open_file(self.path, timeout).close()
        self._before_fork: list[Writer] = []
        self._begin()
        if hasattr(os, "register_at_fork"):
            archive = weakref.ref(self)

            def after_fork() -> None:
                held = archive()
                if held is not None:
                    held._forked()

            os.register_at_fork(after_in_child=after_fork)

    @property
    def failures(self) -> int:
        """Count the originals that could not be written."""
        return self._writer.failures

    @property
    def dropped(self) -> int:
        """Count the requests whose originals were lost because too many waited."""
        return self._writer.dropped

    def put(self, job: Job) -> None:
        """Have `job` run, and the entries that it gives written, by the thread that writes. Never waits for the file, never raises."""
        self._writer.put(job)

    def file(self, entries: Sequence[Entry]) -> None:
        """Have entries written. Never waits for the file, never raises."""
        self._writer.put(Job(lambda: entries, len(entries)))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything so far is written, or lost and counted; False if it takes longer than `timeout` seconds."""
        return self._writer.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Write what waits and let go of the file; False if it takes longer than `timeout` seconds. Done at exit too, within 10 s.

        What is filed later opens it again.
        """
        return self._writer.stop(timeout)

    def reading(self) -> AbstractContextManager[Connection]:
        """Open the file to read it. Raises `ArchiveError`."""
        return reading(self.path, self._timeout)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Archive({str(self.path)!r})"

    def _begin(self) -> None:
        self._writer = Writer(self.path, self._bounds, self._timeout, self._waiting)
        # Who drops an archive does not wait for it; at exit the writer itself does.
        weakref.finalize(self, self._writer.leave).atexit = False

    def _forked(self) -> None:
        # In a child there is no thread, and SQLite forbids to use or close the connection of the parent, who writes what waits.
        self._writer.abandon()
        self._before_fork.append(self._writer)
        self._begin()
