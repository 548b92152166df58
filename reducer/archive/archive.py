"""The archive that agents use: it is checked when opened, written in the background and read on recall."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from opentelemetry.metrics import get_meter
from pydantic import ByteSize, Field, TypeAdapter, ValidationError

from reducer.archive import database
from reducer.archive.database import NO_TIME, Entry, Limits, Original, ReturnId
from reducer.errors import ArchiveError

Pending: TypeAlias = Entry | Callable[[], Entry]
"""An entry, or a function that creates it in the background."""

_DELAY = 0.01
"""Seconds to wait before writing, so that the thread does not compete with sending the request."""

_MAX_WAITING = 10_000
"""The largest number of originals that can wait to be written."""

_SIZE = TypeAdapter(Annotated[ByteSize, Field(gt=0, lt=2**63)])
_AGE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([mhdw])?")
_MAX_AGE = 2**62  # microseconds before now are still an integer of SQLite
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Archive:
    """A SQLite file with the originals of reduced tool returns, which threads and processes can share.

    `max_bytes` (a number or `500MB`) limits the size of the file. `max_age` (a `timedelta`, a number of days or `30d`)
    limits the time since an original was last stored. The oldest originals are deleted first. `timeout` is the number
    of seconds to wait for a lock.

    Raises `ArchiveError` if the file cannot be used and `ValueError` for an invalid option. Later errors never reach
    an agent: each is logged once (logger `reducer`) and counted in `failures` and by the OpenTelemetry counter
    `reducer.archive.failures`. Originals are not copied before they are written, so tools must not change what they
    returned. A process that skips Python's normal exit (`os._exit`, a `multiprocessing` worker) must call `close`.
    """

    failures: int
    """Number of originals that could not be written or whose file was deleted while it was open."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int | str | None = None,
        max_age: timedelta | float | str | None = None,
        timeout: float = 5.0,
    ) -> None:
        self.path = Path(path)
        self._limits = Limits(parse_size(max_bytes), parse_age(max_age))
        self._timeout = timeout
        database.open_to_write(self.path, timeout).close()
        self._inherited: list[object] = []
        self._start()

    def add(self, entries: Sequence[Pending]) -> None:
        """Write entries in the background. This never waits for the file and never raises."""
        self._restart_after_fork()
        if len(self._waiting) + len(entries) > _MAX_WAITING:
            self._fail(len(entries), f"more than {_MAX_WAITING:,} originals wait to be written")
            return
        self._waiting.extend(entries)
        try:
            self._thread.submit(self._write)
        except RuntimeError as error:  # no thread starts while the interpreter exits
            self._fail(len(entries), str(error))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all entries are written or counted as failures; return False after `timeout` seconds."""
        return self._finish(self._write, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Write all waiting entries and close the file; return False after `timeout` seconds. `add` reopens it."""
        return self.flush(timeout) and self._finish(self._close, timeout)

    def find(self, id: ReturnId, content: Any, owner: str) -> Original:
        """Find the original that `owner` stored within `max_age` for a return with this reduced content (plain JSON).

        Raises `ArchiveError`.
        """
        since = NO_TIME if self._limits.age is None else _now() - self._limits.age
        with database.open_to_read(self.path, self._timeout) as connection:
            return database.find_original(connection, id, content, owner=owner, since=since)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Archive({str(self.path)!r})"

    def _start(self) -> None:
        self.failures = 0
        self._process = os.getpid()
        self._waiting: deque[Pending] = deque()
        # The thread ends after this object is deleted or the interpreter exits, once it has written everything.
        self._thread = ThreadPoolExecutor(1, "reducer archive")
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._written = 0
        self._log_once = cache(logging.getLogger("reducer").error)
        counter = get_meter("reducer").create_counter
        self._failed = counter("reducer.archive.failures", "{original}", "Originals that are not in the archive")

    def _restart_after_fork(self) -> None:
        if self._process != os.getpid():
            # The parent writes the waiting entries. SQLite forbids a child to close the parent's connection.
            self._inherited += [self._thread, self._connection]
            self._start()

    def _finish(self, task: Callable[[], None], timeout: float | None) -> bool:
        self._restart_after_fork()
        try:
            self._thread.submit(task).result(timeout)
        except TimeoutError:
            return False
        except RuntimeError:  # the interpreter is exiting and waits for the thread
            pass
        return True

    def _write(self) -> None:
        # All waiting entries share one transaction, so a locked file costs one timeout and not one per entry.
        if self._waiting:
            time.sleep(_DELAY)
        pending = [self._waiting.popleft() for _ in range(len(self._waiting))]
        entries = [entry for entry in map(self._created, pending) if entry is not None]
        try:
            # SQLite writes into a deleted file without an error.
            if self._connection is not None and self._identity != _identity(self.path):
                self._fail(self._written, f"{self.path}: was deleted or replaced while it was open")
                self._close()
            if entries:
                if self._connection is None:
                    self._connection = database.open_to_write(self.path, self._timeout)
                    self._identity, self._written = _identity(self.path), 0
                try:
                    database.store(self._connection, entries, _now())
                    self._written += len(entries)
                    entries = []
                finally:  # on a full disk, this frees space for the next entries
                    if self._limits != Limits():
                        database.delete_oldest(self._connection, self._limits, _now())
        except ArchiveError as error:
            self._fail(len(entries), str(error))
        except Exception as error:  # the next entries must still be written
            # The message of any other error may contain what a tool returned.
            why = str(error) if isinstance(error, sqlite3.Error) else type(error).__name__
            self._fail(len(entries), f"{self.path}: {why}")
            self._close()  # the file may have been replaced

    def _created(self, pending: Pending) -> Entry | None:
        try:
            return pending() if callable(pending) else pending
        except Exception as error:  # the objects in a content can raise any error while they are serialized
            self._fail(1, f"a content cannot be stored: {type(error).__name__}")
            return None

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _fail(self, count: int, why: str) -> None:
        self.failures += count
        self._failed.add(count)
        self._log_once("originals of tool returns are not archived: %s", why)


def parse_size(size: int | str | None) -> int | None:
    """Return the number of bytes of a size such as 1000000, `500MB`, `1.5 GB` or `2GiB`. Raises `ValueError`."""
    try:
        return None if size is None else _SIZE.validate_python(size if type(size) in (int, str) else "")
    except ValidationError:
        raise ValueError(f"{size!r} is not a size; write 1000000, 500MB or 2GiB") from None


def parse_age(age: timedelta | float | str | None) -> int | None:
    """Return the microseconds of a `timedelta`, a number of days, or `30d`, `12h`, `90m`, `2w`. Raises `ValueError`."""
    if age is None:
        return None
    with suppress(OverflowError, ValueError):
        if isinstance(age, str) and (match := _AGE.fullmatch(age.strip().lower())):
            age = timedelta(**{_UNITS[match[2] or "d"]: float(match[1])})
        elif type(age) in (int, float):
            age = timedelta(days=age)  # type: ignore[arg-type]
        if isinstance(age, timedelta) and age >= timedelta(0):
            return min(age // timedelta(microseconds=1), _MAX_AGE)
    raise ValueError(f"{age!r} is not an age; write 30d, 12h, 90m or 2w, or give a timedelta or a number of days")


def _identity(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def _now() -> int:
    return time.time_ns() // 1000
