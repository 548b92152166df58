"""The archive as agents use it: checked when it is opened, written in the background, read on recall."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from reducer.archive.database import file_identity, open_to_read, open_to_write
from reducer.archive.entries import NO_TIME, Entry, Original, ReturnId, find_original, insert
from reducer.archive.limits import Limits, delete_oldest, parse_age, parse_size
from reducer.errors import ArchiveError

Pending: TypeAlias = Entry | Callable[[], Entry]
"""An entry, or a function that creates it in the background."""

_DELAY = 0.01
"""Seconds after which entries are written: the request leaves before the thread competes with it."""

_logger = logging.getLogger("reducer")


class Archive:
    """A SQLite file with the originals of reduced tool returns, for several threads and processes.

    `max_bytes` (a number, or `500MB`) limits the file, `max_age` (a `timedelta`, days, or `30d`) the time since an
    original was last stored; the oldest are deleted first. `timeout`: seconds to wait for a lock. `max_waiting`:
    originals that may wait to be written.

    Raises `ArchiveError` if the file cannot be used and `ValueError` for a wrong option. Later errors never reach an
    agent: they are logged once each (logger `reducer`) and counted in `failures`, a full queue in `dropped`. Originals
    are referenced, not copied, until they are written: tools must not change what they returned. A process that skips
    Python's exit (`os._exit`, a worker of `multiprocessing`) calls `close` itself.
    """

    failures: int
    """Originals that could not be written, or that were in a file that was deleted while open."""
    dropped: int
    """Originals that were lost because too many waited."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int | str | None = None,
        max_age: timedelta | float | str | None = None,
        timeout: float = 5.0,
        max_waiting: int = 10_000,
    ) -> None:
        self.path = Path(path)
        self._limits = Limits(parse_size(max_bytes), parse_age(max_age))
        self._timeout = timeout
        self._max_waiting = max_waiting
        if not isinstance(max_waiting, int) or max_waiting < 1:
            raise ValueError(f"{max_waiting!r} is not a number of originals; write 10000")
        open_to_write(self.path, timeout).close()
        self._inherited: list[object] = []
        self._start()

    def add(self, entries: Sequence[Pending]) -> None:
        """Write entries in the background. Never waits for the file, never raises."""
        self._restart_after_fork()
        if len(self._waiting) + len(entries) > self._max_waiting:
            self.dropped += len(entries)
            self._fail(0, f"more than {self._max_waiting:,} originals wait to be written")
            return
        self._waiting.extend(entries)
        try:
            self._thread.submit(self._write)
        except RuntimeError as error:  # no thread starts while the interpreter exits
            self._fail(len(entries), str(error))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything so far is written or counted as lost; return False after `timeout` seconds."""
        return self._finish(self._write, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Write what waits and close the file; return False after `timeout` seconds. The next entry opens it again."""
        return self.flush(timeout) and self._finish(self._close, timeout)

    def find(self, id: ReturnId, content: Any, owner: str) -> Original:
        """Find the original of a return by its reduced content, plain JSON, stored by `owner` within `max_age`.

        Raises `ArchiveError`.
        """
        since = NO_TIME if self._limits.age is None else _now() - self._limits.age
        with open_to_read(self.path, self._timeout) as connection:
            return find_original(connection, id, content, owner=owner, since=since)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Archive({str(self.path)!r})"

    def _start(self) -> None:
        self.failures = self.dropped = 0
        self._process = os.getpid()
        self._waiting: deque[Pending] = deque()
        # One thread, which ends with this object or with the interpreter after it has written everything.
        self._thread = ThreadPoolExecutor(1, "reducer archive")
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._written = 0
        self._logged: set[str] = set()

    def _restart_after_fork(self) -> None:
        if self._process != os.getpid():
            # The parent writes what waits. SQLite forbids a child to close the parent's connection.
            self._inherited += [self._thread, self._connection]
            self._start()

    def _finish(self, task: Callable[[], None], timeout: float | None) -> bool:
        self._restart_after_fork()
        try:
            self._thread.submit(task).result(timeout)
        except TimeoutError:
            return False
        except RuntimeError:  # the interpreter exits, and its exit waits for the thread
            pass
        return True

    def _write(self) -> None:
        # Everything that waits is one unit: if the file is locked, all of it is lost after one timeout, not after many.
        if self._waiting:
            time.sleep(_DELAY)
        pending = [self._waiting.popleft() for _ in range(len(self._waiting))]
        entries = [entry for entry in map(self._created, pending) if entry is not None]
        try:
            self._check_file()
            if entries:
                self._connection = connection = self._connection or self._opened()
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    for entry in entries:
                        insert(connection, entry, _now())
                self._written += len(entries)
                entries = []
                if self._limits != Limits():
                    delete_oldest(connection, self._limits, _now())
        except ArchiveError as error:
            self._fail(len(entries), str(error))
        except Exception as error:  # whatever fails here, the next entries are written
            # The text of an unknown error may contain what a tool returned.
            why = str(error) if isinstance(error, sqlite3.Error) else type(error).__name__
            self._fail(len(entries), f"{self.path}: {why}")
            self._close()  # the file may have been replaced

    def _created(self, pending: Pending) -> Entry | None:
        try:
            return pending() if callable(pending) else pending
        except Exception as error:  # the objects of a content may raise anything when they are serialized
            self._fail(1, f"a content cannot be stored: {type(error).__name__}")
            return None

    def _check_file(self) -> None:
        # SQLite writes into a deleted file without an error.
        if self._connection is not None and self._identity != file_identity(self.path):
            self._fail(self._written, f"{self.path}: was deleted or replaced while it was open")
            self._close()

    def _opened(self) -> sqlite3.Connection:
        connection = open_to_write(self.path, self._timeout)
        self._identity, self._written = file_identity(self.path), 0
        return connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _fail(self, count: int, why: str) -> None:
        self.failures += count
        if why not in self._logged:
            self._logged.add(why)
            _logger.error("originals of tool returns are not archived: %s", why)


def owner_of(conversation_id: str | None) -> str:
    """Return the owner of what a conversation stores; without a conversation id, the owner is this process."""
    return f"process {_process_token(os.getpid())}" if conversation_id is None else f"conversation {conversation_id}"


@cache
def _process_token(process: int) -> str:
    return token_hex(16)


def _now() -> int:
    return time.time_ns() // 1000
