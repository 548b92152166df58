"""The thread that writes: whoever reduces only puts a job into its queue."""

from __future__ import annotations

import atexit
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from reducer.archive.bounds import Bounds, shorten, used
from reducer.archive.entries import Entry, Prepared, prepare, write
from reducer.archive.file import open_file, reason
from reducer.errors import ArchiveError

_GATHER = 0.05
"""Seconds for which jobs are gathered: by then the request that made the first is on its way, and many share one transaction."""
_CHUNK = 8_000_000
"""Bytes of originals in one transaction: a larger one would keep other programs waiting."""
_OFTEN = 3600.0
"""Seconds after which the age of what is kept is looked at again."""
_ROOM = 0.9
"""The share of the bytes allowed that is left once they are reached, so that not every entry costs a shortening."""
_LAST = 10.0
"""Seconds that the end of the interpreter waits for what is still to be written."""

_logger = logging.getLogger("reducer")


class Job(NamedTuple):
    """Makes the entries of `returns` returns, in the thread that writes; an exception in the place of one says why there is none."""

    entries: Callable[[], Iterable[Entry | Exception]]
    returns: int


class Writer:
    """A queue of jobs and the thread that writes them into the file; the thread starts with the first job and ends when told to."""

    def __init__(self, path: Path, bounds: Bounds, timeout: float, waiting: int) -> None:
        self._path = path
        self._bounds = bounds
        self._timeout = timeout
        self._waiting = waiting
        self._queue: SimpleQueue[Job | threading.Event | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        # For starting and ending the thread, and for the counts: a job that is put never waits for it. It may be asked for again by the
        # thread that holds it, where garbage is collected meanwhile and an archive in it tells its writer to end.
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._looked: float | None = None
        self._logged: set[str] = set()
        self.failures = 0
        self.dropped = 0

    def put(self, job: Job) -> None:
        """Take a job. Never waits for the file, never raises: a job that finds the queue full, or no thread, is counted and lost."""
        if self._queue.qsize() >= self._waiting:
            with self._lock:
                self.dropped += job.returns
            self._say(f"more than {self._waiting:,} requests wait to be written")
            return
        self._queue.put(job)
        if self._thread is None:
            try:
                self._start()
            except RuntimeError as error:  # no thread can be started, as when the interpreter ends
                self._lose(job.returns, str(error))

    def flush(self, timeout: float | None) -> bool:
        """Wait until what was put before is written, or lost; False if that takes longer than `timeout` seconds."""
        with self._lock:
            if self._thread is None:
                return True
            done = threading.Event()
            self._queue.put(done)
        return done.wait(timeout)

    def stop(self, timeout: float | None) -> bool:
        """Write what waits, then end the thread and close the file; False if that takes longer. A later job starts it again."""
        thread = self.leave()
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def leave(self) -> threading.Thread | None:
        """Have the thread end once it has written what waits, without waiting for it."""
        with self._lock:
            if self._thread is not None:
                self._queue.put(None)
            return self._thread

    def abandon(self) -> None:
        """Do nothing more: this is the copy of a writer in a forked child, where its thread does not run."""
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self.stop(_LAST)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="reducer archive", daemon=True)
                thread.start()
                self._thread = thread
                atexit.register(self._at_exit)

    def _run(self) -> None:
        while True:
            jobs, done, last = self._gather()
            try:
                self._write(jobs)
            except Exception as error:  # this thread must outlive whatever a job or SQLite does
                self._lose(sum(job.returns for job in jobs), type(error).__name__)
            if done is not None:
                done.set()
            if last and self._end():
                return

    def _gather(self) -> tuple[list[Job], threading.Event | None, bool]:
        """Wait for jobs; give them with who waits for them, and whether the thread shall end."""
        jobs: list[Job] = []
        end: float | None = None
        while True:
            try:
                item = self._queue.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
            except Empty:
                return jobs, None, False
            if item is None:
                return jobs, None, True
            if isinstance(item, threading.Event):
                return jobs, item, False
            jobs.append(item)
            end = time.monotonic() + _GATHER if end is None else end

    def _end(self) -> bool:
        with self._lock:
            # In this order: whoever puts a job now finds either a thread that still looks, or none and waits for the lock to start one.
            thread, self._thread = self._thread, None
            if not self._queue.empty():
                self._thread = thread
                self._queue.put(None)
                return False
            self._close()
            atexit.unregister(self._at_exit)
            return True

    def _write(self, jobs: list[Job]) -> None:
        open_ones = sum(job.returns for job in jobs)
        waiting: list[Prepared] = []
        size = 0
        try:
            if jobs:
                self._open()
            for job in jobs:
                made = 0
                for entry in _entries(job):
                    made += 1
                    if isinstance(entry, Exception):
                        open_ones -= 1
                        self._lose(1, f"a return cannot be filed: {type(entry).__name__}")
                        continue
                    waiting.append(prepare(self._open(), entry))
                    size += len(entry.original)
                    if size > _CHUNK:
                        open_ones -= self._commit(waiting)
                        waiting, size = [], 0
                open_ones -= job.returns - made
            open_ones -= self._commit(waiting)
            self._keep_bounds()
        except (sqlite3.Error, ArchiveError) as error:
            # The file may have been moved or replaced: the next batch opens it again.
            self._close()
            self._lose(open_ones, str(error) if isinstance(error, ArchiveError) else f"{self._path}: {reason(error)}")

    def _commit(self, waiting: list[Prepared]) -> int:
        if waiting:
            connection = self._open()
            now = time.time_ns() // 1000
            connection.execute("BEGIN IMMEDIATE")
            for prepared in waiting:
                write(connection, prepared, now)
            connection.execute("COMMIT")
        return len(waiting)

    def _keep_bounds(self) -> None:
        bounds, connection, now = self._bounds, self._connection, time.monotonic()
        if connection is None or bounds == Bounds():
            return
        old = bounds.age is not None and (self._looked is None or now - self._looked > _OFTEN)
        full = bounds.bytes is not None and used(connection) > bounds.bytes
        if old or full:
            self._looked = now
            shorten(connection, Bounds(int(bounds.bytes * _ROOM) if full and bounds.bytes else None, bounds.age), time.time_ns() // 1000)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_file(self._path, self._timeout)
        return self._connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except sqlite3.Error as error:
                self._say(f"{self._path}: {reason(error)}")

    def _lose(self, count: int, why: str) -> None:
        with self._lock:
            self.failures += count
        self._say(why)

    def _say(self, why: str) -> None:
        if why not in self._logged:
            self._logged.add(why)
            _logger.error("originals of tool returns are not archived: %s", why)


def _entries(job: Job) -> Iterable[Entry | Exception]:
    made = 0
    try:
        for entry in job.entries():
            made += 1
            yield entry
    except Exception as error:
        # What raises gives nothing more: the rest of its entries are lost for the same reason.
        for _ in range(job.returns - made):
            yield error
