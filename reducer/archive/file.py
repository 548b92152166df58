"""The file of an archive: one SQLite database, opened and checked, and what is wrong with it in plain words."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reducer.errors import ArchiveError

APPLICATION = 0x52656475
"""What marks the file as an archive in SQLite's header: `Redu`. https://www.sqlite.org/pragma.html#pragma_application_id"""

FORM = 1
"""The version of the tables, kept as SQLite's `user_version`."""

# `originals` holds each content once, as compressed JSON; `returns` says where it stood and what became of it.
# Times are microseconds since 1970, UTC; `returned` is 0 where a return has no time of its own.
_TABLES = """
CREATE TABLE originals (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, form BLOB NOT NULL);
CREATE TABLE returns (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, tool TEXT NOT NULL, call_id TEXT NOT NULL, nth INTEGER NOT NULL, returned INTEGER NOT NULL,
    rule TEXT NOT NULL, reduced INTEGER NOT NULL, filed INTEGER NOT NULL, original INTEGER NOT NULL REFERENCES originals (id),
    UNIQUE (key, nth, returned, original)
);
CREATE INDEX returns_original ON returns (original);
CREATE INDEX returns_filed ON returns (filed);
"""


def open_file(path: Path, timeout: float) -> sqlite3.Connection:
    """Open an archive to write, and make it where there is none. Raises `ArchiveError` with the reason why it cannot be used.

    `timeout`: seconds to wait where another program holds the lock.
    """
    if path.is_dir():
        raise ArchiveError(f"{path}: is a folder: name a file")
    if not path.absolute().parent.is_dir():
        raise ArchiveError(f"{path}: there is no folder {path.absolute().parent}")
    connection = None
    try:
        connection = connect(path.absolute().as_uri(), timeout)
        # In a write-ahead log NORMAL loses nothing when a process dies, and spares a wait for the disk at each transaction.
        connection.execute("PRAGMA synchronous = NORMAL")
        if _is_new(connection):  # in a file that has tables it would be written, whoever's it is
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # One write shows that it can be written, and makes the tables of a new file before anyone else does.
        connection.execute("BEGIN IMMEDIATE")
        if _is_new(connection):
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
        _check(path, connection)
        connection.execute(f"PRAGMA user_version = {FORM}")
        connection.execute("COMMIT")
        _log_ahead(connection, timeout)
    except (sqlite3.Error, ArchiveError) as error:
        if connection is not None:
            connection.close()
        raise error if isinstance(error, ArchiveError) else ArchiveError(f"{path}: {reason(error)}") from error
    return connection


@contextmanager
def reading(path: Path, timeout: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open an archive that is there, to read it only. Raises `ArchiveError`, for what fails while it is read too."""
    if not path.is_file():
        raise ArchiveError(f"{path}: {'is no file' if path.exists() else 'there is no such file'}")
    connection = None
    try:
        try:
            connection = connect(f"{path.absolute().as_uri()}?mode=ro", timeout)
            _check(path, connection)
        except sqlite3.OperationalError:
            # Where nothing can be written beside the file SQLite does not open it, unless nobody else can change it either.
            if connection is None or path.with_name(f"{path.name}-wal").exists():
                raise
            connection.close()
            connection = connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", timeout)
            _check(path, connection)
        yield connection
    except sqlite3.Error as error:
        raise ArchiveError(f"{path}: {reason(error)}") from error
    finally:
        if connection is not None:
            connection.close()


def connect(address: str, timeout: float) -> sqlite3.Connection:
    """Connect to a database by its `file:` address; each statement stands alone unless a transaction is begun."""
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def reason(error: sqlite3.Error) -> str:
    """Say what SQLite could not do."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    return {
        sqlite3.SQLITE_NOTADB: "is no SQLite file",
        sqlite3.SQLITE_BUSY: "is locked by another program",
        sqlite3.SQLITE_LOCKED: "is locked by another program",
        sqlite3.SQLITE_READONLY: "is read-only",
        sqlite3.SQLITE_PERM: "is not permitted to be opened",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened",
        sqlite3.SQLITE_FULL: "has no room left: the disk is full",
        sqlite3.SQLITE_CORRUPT: "is damaged",
    }.get(code, f"SQLite says: {error}")


def _is_new(connection: sqlite3.Connection) -> bool:
    return _pragma(connection, "application_id") == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION:
        raise ArchiveError(f"{path}: is no archive: the SQLite file of another application")
    form = _pragma(connection, "user_version")
    if form > FORM:
        raise ArchiveError(f"{path}: was written by a newer reducer: its form is {form}, this one knows {FORM}")
    connection.execute("SELECT 1 FROM returns LIMIT 1")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _log_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Turn on the write-ahead log: readers and one writer at a time, without waiting. SQLite does not wait for the lock here."""
    end = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA journal_size_limit = 16000000")
