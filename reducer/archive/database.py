"""The SQLite database of an archive: tables, opening, limits and statistics."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from reducer.errors import ArchiveError

APPLICATION_ID = 0x52656475
"""Marks a SQLite file as an archive: `Redu`. https://www.sqlite.org/pragma.html#pragma_application_id"""
FORMAT = 2
"""The version of the tables, stored as SQLite's `user_version`."""

# `originals` holds each distinct content once, compressed, and `returns` holds the returns that it belongs to. Times
# are microseconds since 1970 (UTC): `time` is when the tool returned, `stored_at` when the return was last stored.
_TABLES = (
    "CREATE TABLE originals (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,"
    " data BLOB NOT NULL)",
    "CREATE TABLE returns (id INTEGER PRIMARY KEY, key BLOB NOT NULL, owner TEXT NOT NULL, tool TEXT NOT NULL,"
    " call_id TEXT NOT NULL, nth INTEGER NOT NULL, time INTEGER NOT NULL, rule TEXT NOT NULL,"
    " reduced_size INTEGER NOT NULL, stored_at INTEGER NOT NULL, original INTEGER NOT NULL REFERENCES originals (id),"
    " UNIQUE (key, owner, nth, time, original))",
    "CREATE INDEX returns_original ON returns (original)",
    "CREATE INDEX returns_stored_at ON returns (stored_at)",
    "CREATE TRIGGER delete_original AFTER DELETE ON returns"
    " WHEN NOT EXISTS (SELECT 1 FROM returns WHERE original = old.original)"
    " BEGIN DELETE FROM originals WHERE id = old.original; END",
)


class Limits(NamedTuple):
    """The maximum size of the file in bytes and the maximum age of an entry in microseconds; None means no limit."""

    size: int | None = None
    age: int | None = None


def open_to_write(path: Path, timeout: float) -> sqlite3.Connection:
    """Open an archive for writing, or create it. Waits `timeout` seconds for a lock. Raises `ArchiveError`."""
    folder = path.absolute().parent
    if path.is_dir():
        raise ArchiveError(f"{path}: is a folder; name a file")
    if not folder.is_dir():
        raise ArchiveError(f"{path}: the folder {folder} does not exist")
    with _naming(path), ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(path, "", timeout)))
        # With a write-ahead log, NORMAL loses nothing if the process dies, and no transaction waits for the disk.
        connection.execute("PRAGMA synchronous = NORMAL")
        if _is_empty(connection):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")  # fails here if the file cannot be written
            if _is_empty(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            _check(path, connection)
        with suppress(sqlite3.OperationalError):  # another process is doing the same
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA journal_size_limit = 16000000")
        stack.pop_all()
        return connection


@contextmanager
def open_to_read(path: Path, timeout: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open an existing archive read-only. Raises `ArchiveError`, also for errors inside the `with` block."""
    if not path.is_file():
        raise ArchiveError(f"{path}: {'is not a file' if path.exists() else 'does not exist'}")
    # SQLite writes files next to the database unless it knows that the database does not change.
    is_frozen = not (os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists())
    options = "?mode=ro&immutable=1" if is_frozen else "?mode=ro"
    with _naming(path), closing(_connect(path, options, timeout)) as connection:
        _check(path, connection)
        yield connection


def delete_oldest(connection: sqlite3.Connection, limits: Limits, now: int) -> tuple[int, int]:
    """Delete returns that are too old at the time `now`, then the oldest ones until the file is small enough.

    Returns the number of deleted returns and of deleted originals, which no other return needs. Raises `sqlite3.Error`
    and then deletes nothing.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        before, returns = connection.total_changes, 0
        if limits.age is not None:
            returns = connection.execute("DELETE FROM returns WHERE stored_at < ?", (now - limits.age,)).rowcount
        if limits.size is not None:
            oldest = "DELETE FROM returns WHERE id = (SELECT id FROM returns ORDER BY stored_at, id LIMIT 1)"
            while used(connection) > limits.size and connection.execute(oldest).rowcount:
                returns += 1
        originals = connection.total_changes - before - returns  # deleted by the trigger
    if returns:
        connection.executescript("PRAGMA incremental_vacuum")  # `execute` frees only one page
    return returns, originals


def used(connection: sqlite3.Connection) -> int:
    """Return the size of the file in bytes, not counting free pages."""
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    return pages * _pragma(connection, "page_size")


def statistics(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return statistics of an archive and of each tool in it as plain JSON. Raises `sqlite3.Error`.

    `bytes` counts each distinct original once: before (`originals`) and after compression (`stored`); `file` is the
    size without free pages. The bytes of a tool count every return. `oldest` and `newest` are None if it is empty.
    """
    originals, unique, stored = connection.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM originals"
    ).fetchone()
    returns, oldest, newest = connection.execute(
        "SELECT count(*), strftime(?1, min(stored_at) / 1000000, 'unixepoch'),"
        " strftime(?1, max(stored_at) / 1000000, 'unixepoch') FROM returns",
        ("%Y-%m-%dT%H:%M:%S+00:00",),
    ).fetchone()
    tools = connection.execute(
        "SELECT tool, count(*), sum(size), sum(reduced_size) FROM returns JOIN originals ON originals.id = original"
        " GROUP BY tool ORDER BY 3 DESC, 1"
    )
    return {
        "returns": returns,
        "originals": originals,
        "bytes": {"originals": unique, "stored": stored, "file": used(connection)},
        "oldest": oldest,
        "newest": newest,
        "tools": [
            {"tool": tool, "returns": count, "bytes": {"original": original, "reduced": reduced}}
            for tool, count, original, reduced in tools
        ],
    }


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Convert SQLite errors to `ArchiveError` with the file name."""
    try:
        yield
    except sqlite3.Error as error:
        raise ArchiveError(f"{path}: {error}") from error


def _connect(path: Path, options: str, timeout: float) -> sqlite3.Connection:
    address = path.absolute().as_uri() + options
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and _pragma(connection, "application_id") == 0


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise ArchiveError(f"{path}: is not an archive, but the SQLite file of another application")
    found = _pragma(connection, "user_version")
    if found != FORMAT:
        writer = "a newer" if found > FORMAT else "an older"
        raise ArchiveError(
            f"{path}: was written by {writer} reducer (format {found}, this reducer needs {FORMAT}); use a new file"
        )
    connection.execute("SELECT 1 FROM returns LIMIT 1")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
