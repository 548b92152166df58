"""What an archive holds: the original of one reduced return, where it stood, and how it is written and found again."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from reducer.values import dump, stored_json

LEVEL = 4
"""zlib's: real tool answers take 1/7.2 of their bytes at 82 MB/s. 1 gives 1/6.4 at 73 MB/s, 6 gives 1/7.6 at 59, 9 gives 1/7.8 at 29."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAME = 1_000
"""Microseconds within which two times are one: some programs keep milliseconds."""


class Place(NamedTuple):
    """Where a return stands: `nth` counts from 1 among the returns of the history with this call id, `returned` is when it came (0: not known).

    `copy` counts from 1 where a history has a return several times; an entry with 0 is for all its copies that no other entry is for.
    """

    tool: str
    call_id: str
    nth: int
    returned: int
    copy: int = 0


class Entry(NamedTuple):
    """The original of one return as JSON, and what it was reduced to, as `canonical` writes it; `rule` says by what."""

    place: Place
    rule: str
    reduced: bytes
    original: bytes


class Filed(NamedTuple):
    """One row of an archive that may be the original of a return: `original` is its number there."""

    nth: int
    returned: int
    filed: int
    original: int


class Prepared(NamedTuple):
    """An entry with all that takes time done; `form` is the compressed original, None where the archive has it."""

    entry: Entry
    key: bytes
    hash: bytes
    form: bytes | None


def instant(time: datetime | str | None) -> int:
    """Give a time, or the text of one, as microseconds since 1970; 0 for what is none. Without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(time) if isinstance(time, str) else time
        if time is None:
            return 0
        return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError, TypeError, AttributeError):
        return 0


def key_of(tool: str, call_id: str, reduced: bytes, copy: int = 0) -> bytes:
    """Give the key under which the original of a return is filed, by what it was reduced to, as `canonical` writes it."""
    head = dump([tool, call_id, copy] if copy else [tool, call_id]).encode()
    return blake2b(b"%d:%b%b" % (len(head), head, reduced), digest_size=20).digest()


def canonical(content: Any) -> bytes | None:
    """Write a content, plain JSON, in the one way that its key is made from: as PydanticAI writes it, where that can.

    None for what is nested too deep.
    """
    try:
        return stored_json(content)
    except ValueError:  # a lone surrogate
        pass
    try:
        return dump(content).encode()
    except (ValueError, RecursionError):
        return None


def prepare(connection: sqlite3.Connection, entry: Entry) -> Prepared:
    """Make an entry ready to be written, so that the transaction is short."""
    key = key_of(entry.place.tool, entry.place.call_id, entry.reduced, entry.place.copy)
    hash = blake2b(entry.original, digest_size=32).digest()
    known = connection.execute("SELECT 1 FROM originals WHERE hash = ?", (hash,)).fetchone()
    return Prepared(entry, key, hash, None if known else zlib.compress(entry.original, LEVEL))


def write(connection: sqlite3.Connection, prepared: Prepared, now: int) -> None:
    """Write one entry within a transaction; one that is there already becomes as new as `now`, in microseconds since 1970."""
    entry, place = prepared.entry, prepared.entry.place
    row = connection.execute("SELECT id FROM originals WHERE hash = ?", (prepared.hash,)).fetchone()
    if row is None:
        # Whoever has shortened the archive since may have taken it.
        form = zlib.compress(entry.original, LEVEL) if prepared.form is None else prepared.form
        inserted = connection.execute("INSERT INTO originals (hash, size, form) VALUES (?, ?, ?)", (prepared.hash, len(entry.original), form))
        row = (inserted.lastrowid,)
    connection.execute(
        "INSERT INTO returns (key, tool, call_id, nth, returned, rule, reduced, filed, original) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (key, nth, returned, original) DO UPDATE SET filed = excluded.filed, rule = excluded.rule",
        (prepared.key, _text(place.tool), _text(place.call_id), place.nth, place.returned, entry.rule, len(entry.reduced), now, row[0]),
    )


def _text(name: str) -> str:
    # A lone surrogate has no UTF-8; the key, not this column, is what a return is found by.
    return name.encode("utf-8", "backslashreplace").decode()


def candidates(connection: sqlite3.Connection, key: bytes) -> list[Filed]:
    """Give what is filed under a key, the newest first."""
    rows = connection.execute("SELECT nth, returned, filed, original FROM returns WHERE key = ? ORDER BY filed DESC, id DESC", (key,))
    return [Filed(*row) for row in rows]


def original(connection: sqlite3.Connection, number: int) -> bytes | None:
    """Give an original as the JSON that was filed; None for one that has gone or is damaged."""
    row = connection.execute("SELECT form, hash FROM originals WHERE id = ?", (number,)).fetchone()
    try:
        form = zlib.decompress(row[0]) if row else None
    except (zlib.error, TypeError):
        return None
    return form if form is not None and blake2b(form, digest_size=32).digest() == row[1] else None


def at_place(found: Sequence[Filed], place: Place) -> list[Filed]:
    """Give those that were filed at a place: of its time; where either has none, of its number among the returns with that call id."""
    near = [one for one in found if one.returned and place.returned and abs(one.returned - place.returned) < _SAME]
    if not near:
        return [one for one in at_no_time(found, place) if one.nth == place.nth]
    same = [one for one in near if one.returned == place.returned] or near
    return [one for one in same if one.nth == place.nth] or same


def at_no_time(found: Sequence[Filed], place: Place) -> list[Filed]:
    """Give those that no time tells apart from a place, whatever their number."""
    return [one for one in found if not (one.returned and place.returned)]
