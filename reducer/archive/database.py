"""The SQLite database of an archive: its tables, and how it is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reducer.errors import ArchiveError

APPLICATION_ID = 0x52656475
"""Marks a SQLite file as an archive: `Redu`. https://www.sqlite.org/pragma.html#pragma_application_id"""
FORMAT = 2
"""The version of the tables, stored as SQLite's `user_version`."""

# `originals` holds each content once, compressed; `returns` says which return it belongs to. Times are microseconds
# since 1970 (UTC); `time` is the time of the return, `stored_at` the last time that it was stored.
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


def open_to_write(path: Path, timeout: float) -> sqlite3.Connection:
    """Open an archive to write, and create it if it does not exist.

    `timeout`: seconds to wait for a lock. Raises `ArchiveError`.
    """
    folder = path.absolute().parent
    if path.is_dir():
        raise ArchiveError(f"{path}: is a folder; name a file")
    if not folder.is_dir():
        raise ArchiveError(f"{path}: the folder {folder} does not exist")
    connection = None
    try:
        connection = _connect(path, "", timeout)
        # In a write-ahead log NORMAL loses nothing if a process dies, and no transaction waits for the disk.
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
        with suppress(sqlite3.OperationalError):  # another process does the same at this moment
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA journal_size_limit = 16000000")
    except (sqlite3.Error, ArchiveError) as error:
        if connection is not None:
            connection.close()
        raise error if isinstance(error, ArchiveError) else ArchiveError(f"{path}: {error}") from error
    return connection


@contextmanager
def open_to_read(path: Path, timeout: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open an existing archive read-only. Raises `ArchiveError`, also for errors while it is read."""
    if not path.is_file():
        raise ArchiveError(f"{path}: {'is not a file' if path.exists() else 'does not exist'}")
    connection = None
    try:
        try:
            connection = _connect(path, "?mode=ro", timeout)
            _check(path, connection)
        except sqlite3.OperationalError:
            # SQLite needs to write next to the file, unless the file is known not to change.
            if connection is None or path.with_name(f"{path.name}-wal").exists():
                raise
            connection.close()
            connection = _connect(path, "?mode=ro&immutable=1", timeout)
            _check(path, connection)
        yield connection
    except sqlite3.Error as error:
        raise ArchiveError(f"{path}: {error}") from error
    finally:
        if connection is not None:
            connection.close()


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and the inode of a file; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _connect(path: Path, options: str, timeout: float) -> sqlite3.Connection:
    address = path.absolute().as_uri() + options
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and pragma(connection, "application_id") == 0


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if pragma(connection, "application_id") != APPLICATION_ID:
        raise ArchiveError(f"{path}: is not an archive, but the SQLite file of another application")
    found = pragma(connection, "user_version")
    if found != FORMAT:
        writer = "a newer" if found > FORMAT else "an older"
        raise ArchiveError(
            f"{path}: was written by {writer} reducer (format {found}, this reducer needs {FORMAT}); use a new file"
        )
    connection.execute("SELECT 1 FROM returns LIMIT 1")


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """Return a setting of a database that is a number."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
