"""The SQLite database of an archive: tables, entries, limits and statistics."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from reducer.errors import ArchiveError, reason
from reducer.markers import is_marked
from reducer.values import dump, escaped, stored_json

APPLICATION_ID = 0x52656475
"""Marks a SQLite file as an archive: `Redu`. https://www.sqlite.org/pragma.html#pragma_application_id"""
FORMAT = 3
"""The version of the tables, stored as SQLite's `user_version`."""
NO_TIME = -(2**63)
"""The time of a return that has no time. No date has this value, so a client cannot send it."""

_PRECISION = 1_000
"""Times that differ by fewer microseconds are equal, because some programs store milliseconds."""
_COMPRESSION_LEVEL = 4
"""For zlib. Level 4 compresses real tool returns to 1/7.2 at 82 MB/s, level 6 to 1/7.6 at 59 MB/s."""
_MAX_PATH = 200
_MAX_PASSES = 50
"""How often a return can have been reduced with different rules."""

# `originals` holds each distinct content once, compressed, and `returns` holds the returns that it belongs to. Times
# are microseconds since 1970 (UTC): `time` is when the tool returned, `stored_at` when the return was last stored.
_TABLES = (
    "CREATE TABLE originals (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,"
    " data BLOB NOT NULL)",
    "CREATE TABLE returns (id INTEGER PRIMARY KEY, key BLOB NOT NULL, owner TEXT NOT NULL, tool TEXT NOT NULL,"
    " call_id TEXT NOT NULL, nth INTEGER NOT NULL, time INTEGER NOT NULL,"
    " reduced_size INTEGER NOT NULL, stored_at INTEGER NOT NULL, original INTEGER NOT NULL REFERENCES originals (id),"
    " UNIQUE (key, owner, nth, time, original))",
    "CREATE INDEX returns_original ON returns (original)",
    "CREATE INDEX returns_stored_at ON returns (stored_at)",
    "CREATE TRIGGER delete_original AFTER DELETE ON returns"
    " WHEN NOT EXISTS (SELECT 1 FROM returns WHERE original = old.original)"
    " BEGIN DELETE FROM originals WHERE id = old.original; END",
)


class ReturnId(NamedTuple):
    """Identifies a tool return in a history.

    `nth` numbers the returns with the same call id from 1. `time` is in microseconds since 1970.
    """

    tool: str
    call_id: str
    nth: int
    time: int = NO_TIME


class Entry(NamedTuple):
    """The original of one return as JSON, and its reduced content in the form of `canonical`.

    Only the conversation `owner` can recall it; if `owner` is empty, no conversation can.
    """

    id: ReturnId
    reduced: bytes
    original: bytes
    owner: str = ""


class Original(NamedTuple):
    """The result of a search: an original as JSON, or None and a problem, which is empty if nothing was reduced."""

    data: bytes | None
    problem: str = ""


class Limits(NamedTuple):
    """The maximum size of the file in bytes and the maximum age of an entry in microseconds; None means no limit."""

    size: int | None = None
    age: int | None = None


@contextmanager
def open_to_write(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """Open an archive for writing, or create it. Waits `timeout` seconds for a lock.

    Raises `ArchiveError`, even for SQLite errors inside the `with` block.
    """
    _check_path(path)
    folder = path.absolute().parent
    if path.is_dir():
        raise ArchiveError(f"{path}: is a folder; name a file")
    if not folder.is_dir():
        raise ArchiveError(f"{path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise ArchiveError(f"{path}: the folder {folder} cannot be written")
    with _connected(path, "", timeout) as connection:
        if _is_empty(connection):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if _is_empty(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            _check(path, connection)
            connection.execute("DELETE FROM returns WHERE 0")  # fails if the file cannot be written
        yield connection


@contextmanager
def open_to_read(path: Path, timeout: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open an existing archive read-only. Raises `ArchiveError`, even for SQLite errors inside the `with` block."""
    _check_path(path)
    if not path.is_file():
        raise ArchiveError(f"{path}: {'is not a file' if path.exists() else 'does not exist'}")
    with _connected(path, "?mode=rw", timeout) as connection:
        # A connection that may write undoes what a process that was killed left unfinished.
        connection.execute("PRAGMA query_only = ON")
        _check(path, connection)
        yield connection


@contextmanager
def _connected(path: Path, options: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """Connect to a file. SQLite errors become `ArchiveError` with the file name."""
    address = path.absolute().as_uri() + options
    try:
        with closing(sqlite3.connect(address, timeout, isolation_level=None, uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise ArchiveError(f"{path}: {error}") from error


def store(connection: sqlite3.Connection, entries: Sequence[Entry], now: int, limits: Limits) -> tuple[int, int]:
    """Store entries with the time `now`, then delete the oldest returns beyond the limits, in one transaction.

    Existing entries get the new time. Returns the number of deleted returns and of deleted originals, which no other
    return needs. Raises `sqlite3.Error`.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for entry in entries:
            _insert(connection, entry, now)
        return _delete_oldest(connection, limits, now)


def _insert(connection: sqlite3.Connection, entry: Entry, now: int) -> None:
    return_id, digest = entry.id, _digest(entry.original)
    row = connection.execute("SELECT id FROM originals WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        values = (digest, len(entry.original), zlib.compress(entry.original, _COMPRESSION_LEVEL))
        row = (connection.execute("INSERT INTO originals (hash, size, data) VALUES (?, ?, ?)", values).lastrowid,)
    connection.execute(
        "INSERT INTO returns (key, owner, tool, call_id, nth, time, reduced_size, stored_at, original)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key, owner, nth, time, original)"
        " DO UPDATE SET stored_at = excluded.stored_at",
        (
            _key(return_id, entry.reduced),
            *map(escaped, (entry.owner, return_id.tool, return_id.call_id)),
            *(return_id.nth, return_id.time, len(entry.reduced), now),
            row[0],
        ),
    )


def find_original(
    connection: sqlite3.Connection, return_id: ReturnId, content: Any, *, owner: str | None = None, since: int = NO_TIME
) -> Original:
    """Find the original of a return by its reduced content (plain JSON).

    Searches entries that were stored at the time `since` or later, and with `owner`, only its entries. If rules reduced
    the return several times, the result is what the tool returned. Raises `sqlite3.Error`.
    """

    def search(content: Any) -> Original:
        reduced = canonical(content) or b""
        marked = is_marked(reduced.decode())
        rows = connection.execute(
            "SELECT nth, time, original FROM returns WHERE key = ?1 AND (?2 IS NULL OR owner = ?2) AND stored_at >= ?3",
            (_key(return_id, reduced), None if owner is None else escaped(owner), since),
        ).fetchall()
        originals = {original for _, _, original in _fitting(rows, return_id, marked)}
        if len(originals) == 1:
            return _load(connection, originals.pop())
        if originals:
            return Original(None, "the archive has several originals that fit")
        if rows:
            return Original(None, "the archive has an original that belongs to another return")
        return Original(None, "it contains markers, and the archive does not have its original" if marked else "")

    result = search(content)
    for _ in range(1, _MAX_PASSES):
        earlier = result if result.data is None else search(json.loads(result.data))
        if earlier.data is None:
            break
        result = earlier
    return result


def _delete_oldest(connection: sqlite3.Connection, limits: Limits, now: int) -> tuple[int, int]:
    before, returns = connection.total_changes, 0
    if limits.age is not None:
        returns = connection.execute("DELETE FROM returns WHERE stored_at < ?", (now - limits.age,)).rowcount
    if limits.size is not None:
        oldest = "DELETE FROM returns WHERE id = (SELECT id FROM returns ORDER BY stored_at, id LIMIT 1)"
        while used(connection) > limits.size and connection.execute(oldest).rowcount:
            returns += 1
    for _ in range(_pragma(connection, "freelist_count")):
        connection.execute("PRAGMA incremental_vacuum(1)")  # Python runs only the first step of a pragma: one page
    return returns, connection.total_changes - before - returns  # the trigger deletes the originals


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


def microseconds(time: datetime | str | None) -> int:
    """Return a time (UTC by default) in microseconds since 1970, or `NO_TIME` if it is not a time."""
    try:
        date = datetime.fromisoformat(time) if isinstance(time, str) else time
    except ValueError:
        return NO_TIME
    if not isinstance(date, datetime):
        return NO_TIME
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return round(date.timestamp() * 1_000_000)


def canonical(content: Any) -> bytes | None:
    """Return the JSON that PydanticAI writes for a content (ours for lone surrogates), or None if it is too deep."""
    with suppress(ValueError):  # a lone surrogate
        return stored_json(content)
    with suppress(ValueError, RecursionError):
        return dump(content).encode()
    return None


def _check_path(path: Path) -> None:
    """Raise `ArchiveError` if the system does not accept a path. SQLite would read one with NUL only up to there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        raise ArchiveError(f"{str(path)[:_MAX_PATH]!r}: {reason(error)}") from None


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and _pragma(connection, "application_id") == 0


def _check(path: Path, connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise ArchiveError(f"{path}: is not an archive, but the SQLite file of another application")
    found = _pragma(connection, "user_version")
    if found != FORMAT:
        formats = f"format {found}, this one needs {FORMAT}"
        raise ArchiveError(f"{path}: was written by another version of reducer ({formats}); use a new file")
    connection.execute("SELECT 1 FROM returns LIMIT 1")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _fitting(rows: list[tuple[int, int, int]], return_id: ReturnId, marked: bool) -> list[tuple[int, int, int]]:
    """Return the rows with the same time as a return or, where one has no time, the same number."""
    untimed = [row for row in rows if NO_TIME in (row[1], return_id.time)]
    same_time = [row for row in rows if row not in untimed and abs(row[1] - return_id.time) < _PRECISION]
    same_number = [row for row in same_time or untimed if row[0] == return_id.nth]
    # If the beginning of the history is missing, the number differs; a marker proves that the return was reduced.
    return same_number or same_time or (untimed if marked else [])


def _load(connection: sqlite3.Connection, original: int) -> Original:
    stored = connection.execute("SELECT data, hash FROM originals WHERE id = ?", (original,)).fetchone()
    with suppress(zlib.error, TypeError):
        data = zlib.decompress(stored[0])
        if _digest(data) == stored[1]:
            return Original(data)
    return Original(None, "its original is damaged")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


def _key(return_id: ReturnId, reduced: bytes) -> bytes:
    head = dump([return_id.tool, return_id.call_id, 0]).encode()
    return blake2b(b"%d:%b%b" % (len(head), head, reduced), digest_size=20).digest()
