"""Entries of an archive: store the original of a tool return, and find it again."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from reducer.markers import is_marked
from reducer.values import dump, escaped, stored_json

NO_TIME = -(2**63)
"""The time of a return that has no time. No date has this value, so a client cannot send it."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PRECISION = 1_000
"""Times that differ by fewer microseconds are equal, because some programs store milliseconds."""
_COMPRESSION_LEVEL = 4
"""For zlib. Level 4 compresses real tool returns to 1/7.2 at 82 MB/s, level 6 to 1/7.6 at 59 MB/s."""
_MAX_PASSES = 50
"""How often a return can have been reduced with different rules."""


class ReturnId(NamedTuple):
    """Identifies a tool return in a history.

    `nth` numbers the returns with the same call id from 1. `time` is in microseconds since 1970. `copy` numbers the
    copies from 1 if the history contains the return several times; 0 stands for every copy without an entry of its own.
    """

    tool: str
    call_id: str
    nth: int
    time: int = NO_TIME
    copy: int = 0


class Entry(NamedTuple):
    """The original of one return as JSON, and its reduced content in the form of `canonical`.

    Only the conversation `owner` can recall it; if `owner` is empty, no conversation can.
    """

    id: ReturnId
    rule: str
    reduced: bytes
    original: bytes
    owner: str = ""


class Original(NamedTuple):
    """The result of a search: an original as JSON, or None and the problem, which is empty if nothing was stored."""

    data: bytes | None
    problem: str = ""


def microseconds(time: datetime | str | None) -> int:
    """Return a time (UTC by default) in microseconds since 1970, or `NO_TIME` if it is not a time."""
    try:
        date: Any = datetime.fromisoformat(time) if isinstance(time, str) else time
        return int(((date if date.tzinfo else date.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1))
    except (ValueError, OverflowError, TypeError, AttributeError):
        return NO_TIME


def canonical(content: Any) -> bytes | None:
    """Return the JSON that PydanticAI writes for a content (ours for lone surrogates), or None if it is too deep."""
    with suppress(ValueError):  # a lone surrogate
        return stored_json(content)
    with suppress(ValueError, RecursionError):
        return dump(content).encode()
    return None


def insert(connection: sqlite3.Connection, entry: Entry, now: int) -> None:
    """Store an entry inside a transaction. An existing entry gets the time `now`."""
    id, digest = entry.id, _digest(entry.original)
    row = connection.execute("SELECT id FROM originals WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        data = zlib.compress(entry.original, _COMPRESSION_LEVEL)
        values = (digest, len(entry.original), data)
        row = (connection.execute("INSERT INTO originals (hash, size, data) VALUES (?, ?, ?)", values).lastrowid,)
    connection.execute(
        "INSERT INTO returns (key, owner, tool, call_id, nth, time, rule, reduced_size, stored_at, original)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key, owner, nth, time, original)"
        " DO UPDATE SET stored_at = excluded.stored_at, rule = excluded.rule",
        (
            _key(id, entry.reduced),
            *map(escaped, (entry.owner, id.tool, id.call_id)),
            *(id.nth, id.time, entry.rule, len(entry.reduced), now),
            row[0],
        ),
    )


def find_original(
    connection: sqlite3.Connection,
    id: ReturnId,
    content: Any,
    *,
    newest: bool = False,
    owner: str | None = None,
    since: int = NO_TIME,
) -> Original:
    """Find the original of a return by its reduced content (plain JSON).

    `newest`: take the newest original if several fit. `owner`: search only the entries of this owner. `since`: search
    only entries that were stored at this time or later. If rules reduced the return several times, the result is what
    the tool returned. Raises `sqlite3.Error`.
    """

    def search(reduced: Any, elsewhere: bool) -> Original:
        rows = _rows(connection, id, canonical(reduced), owner, since)
        fitting = _fitting(rows, id, has_marker(reduced)) or (rows if elsewhere else [])
        if not fitting:
            return Original(None, "the archive has an original that belongs to another return" if rows else "")
        if len({original for _, _, original in fitting}) > 1 and not newest:
            return Original(None, "the archive has several originals that fit")
        return _load(connection, fitting[0][2])

    found = search(content, newest)
    seen = {found.data}
    while found.data is not None and len(seen) < _MAX_PASSES:
        before = search(json.loads(found.data), False)
        if before.data is None or before.data in seen:
            break
        seen.add(before.data)
        found = before
    return found


def has_marker(content: Any) -> bool:
    """Return whether any text in a content contains something that looks like a marker."""
    return is_marked((canonical(content) or b"").decode())


def _rows(
    connection: sqlite3.Connection, id: ReturnId, reduced: bytes | None, owner: str | None, since: int
) -> list[tuple[int, int, int]]:
    """Return the rows of a return, newest first: `nth`, `time` and the id of the original."""
    for copy in dict.fromkeys((id.copy, 0)):
        rows = connection.execute(
            "SELECT nth, time, original FROM returns WHERE key = ?1 AND (?2 IS NULL OR owner = ?2) AND stored_at >= ?3"
            " ORDER BY stored_at DESC, id DESC",
            (_key(id._replace(copy=copy), reduced or b""), None if owner is None else escaped(owner), since),
        ).fetchall()
        if rows:
            return rows
    return []


def _fitting(rows: list[tuple[int, int, int]], id: ReturnId, marked: bool) -> list[tuple[int, int, int]]:
    """Return the rows with the same time as a return or, where one has no time, the same number."""
    same = [row for row in rows if NO_TIME not in (row[1], id.time) and abs(row[1] - id.time) < _PRECISION]
    untimed = [row for row in rows if NO_TIME in (row[1], id.time)]
    numbered = [row for row in same or untimed if row[0] == id.nth]
    # If the beginning of the history is missing, the number differs; a marker proves that the return was reduced.
    return numbered or same or (untimed if marked else [])


def _load(connection: sqlite3.Connection, original: int) -> Original:
    stored = connection.execute("SELECT data, hash FROM originals WHERE id = ?", (original,)).fetchone()
    with suppress(zlib.error, TypeError):
        data = zlib.decompress(stored[0])
        if _digest(data) == stored[1]:
            return Original(data)
    return Original(None, "its original is damaged")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


def _key(id: ReturnId, reduced: bytes) -> bytes:
    head = dump([id.tool, id.call_id, id.copy]).encode()
    return blake2b(b"%d:%b%b" % (len(head), head, reduced), digest_size=20).digest()
