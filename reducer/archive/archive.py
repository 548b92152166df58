"""The archive that agents use: it is checked when opened, written in the background and read on recall."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from threading import Lock, Thread
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

_SIZE = TypeAdapter[int | None](Annotated[ByteSize, Field(gt=0, lt=2**63)] | None)
_AGE = re.compile(r"(\d{1,5})([mhdw])")
_MINUTES = {"m": 1, "h": 60, "d": 60 * 24, "w": 60 * 24 * 7}


class Archive(AbstractContextManager["Archive"]):
    """A SQLite file with the originals of reduced tool returns, which threads and processes can share.

    `max_bytes` (a number or `500MB`) limits the size of the file. `max_age` (`30d`, `12h`, `90m`, `2w`) limits the time
    since an original was last stored. The oldest originals are deleted first. `timeout` is the number of seconds to
    wait for a lock.

    Raises `ArchiveError` if the file cannot be used and `ValueError` for an invalid option. Later errors never reach
    an agent: each is logged once (logger `reducer`) and counted in `failures` and by the OpenTelemetry counter
    `reducer.archive.failures`. Originals are not copied before they are written, so tools must not change what they
    returned. A process must call `close` before it forks, and before it skips Python's normal exit (`os._exit`).
    """

    failures: int
    """Number of originals that could not be written."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int | str | None = None,
        max_age: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        self.path = Path(path)
        self.failures = 0
        self._limits = Limits(parse_size(max_bytes), parse_age(max_age))
        self._timeout = timeout
        with database.open_to_write(self.path, timeout):
            pass  # refuses a file that cannot be used
        self._waiting: list[Pending] = []
        self._adding = Lock()
        self._writing = Lock()
        self._writer: Thread | None = None
        self._log_once = cache(logging.getLogger("reducer").error)
        counter = get_meter("reducer").create_counter
        self._failed = counter("reducer.archive.failures", "{original}", "Originals that are not in the archive")

    def add(self, entries: Sequence[Pending]) -> None:
        """Write entries in the background. This never waits for the file and never raises."""
        with self._adding:
            if len(self._waiting) + len(entries) > _MAX_WAITING:
                self._fail(len(entries), f"more than {_MAX_WAITING:,} originals wait to be written")
                return
            has_writer = bool(self._waiting)
            self._waiting += entries
            if not has_writer:
                self._start_writer()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all entries are written or counted as failures; return False after `timeout` seconds."""
        writer = self._writer
        if writer is None:
            return True
        writer.join(timeout)
        return not writer.is_alive()

    close = flush
    """Write all waiting entries. The archive can still be used: its file is open only while something is written."""

    def find(self, return_id: ReturnId, content: Any, owner: str) -> Original:
        """Find the original that `owner` stored within `max_age` for a return with this reduced content (plain JSON).

        Raises `ArchiveError`.
        """
        since = NO_TIME if self._limits.age is None else _now() - self._limits.age
        with database.open_to_read(self.path, self._timeout) as connection:
            return database.find_original(connection, return_id, content, owner=owner, since=since)

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start_writer(self) -> None:
        # The interpreter waits for the thread before it exits.
        writer = Thread(target=self._write, name="reducer archive")
        try:
            writer.start()
        except RuntimeError as error:  # no thread starts while the interpreter exits
            self._fail(len(self._waiting), str(error))
            self._waiting = []
        else:
            self._writer = writer

    def _write(self) -> None:
        """Write all waiting entries in one transaction: a locked file costs one timeout and not one per entry."""
        time.sleep(_DELAY)
        with self._writing:
            with self._adding:
                pending, self._waiting = self._waiting, []
            entries = self._created(pending)
            try:
                with database.open_to_write(self.path, self._timeout) as connection:
                    database.store(connection, entries, _now(), self._limits)
            except ArchiveError as error:
                self._fail(len(entries), str(error))
            except Exception as error:  # its message may contain what a tool returned
                self._fail(len(entries), f"{self.path}: {type(error).__name__}")

    def _created(self, pending: Sequence[Pending]) -> list[Entry]:
        entries = []
        for one in pending:
            try:
                entries.append(one() if callable(one) else one)
            except Exception as error:  # the objects in a content can raise any error while they are serialized
                self._fail(1, f"a content cannot be stored: {type(error).__name__}")
        return entries

    def _fail(self, count: int, why: str) -> None:
        self.failures += count
        self._failed.add(count)
        self._log_once("originals of tool returns are not archived: %s", why)


def parse_size(size: int | str | None) -> int | None:
    """Return the number of bytes of a size such as 1000000, `500MB`, `1.5 GB` or `2GiB`. Raises `ValueError`."""
    try:
        return _SIZE.validate_python(size)
    except ValidationError:
        raise ValueError(f"{size!r} is not a size; write 1000000, 500MB or 2GiB") from None


def parse_age(age: str | None) -> int | None:
    """Return the microseconds of an age such as `30d`, `12h`, `90m` or `2w`. Raises `ValueError`."""
    if age is None:
        return None
    match = _AGE.fullmatch(str(age))
    if match is None:
        raise ValueError(f"{age!r} is not an age; write 30d, 12h, 90m or 2w")
    return int(match[1]) * _MINUTES[match[2]] * 60_000_000


def _now() -> int:
    return time.time_ns() // 1000
