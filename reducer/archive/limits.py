"""How much an archive holds: limits for its size and age, and statistics."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NamedTuple

from pydantic import ByteSize, Field, TypeAdapter, ValidationError

from reducer.archive.database import pragma

_SIZE = TypeAdapter(Annotated[ByteSize, Field(gt=0, lt=2**63)])
_AGE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([mhdw])?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Limits(NamedTuple):
    """The largest size of the file in bytes and the largest age of an entry in microseconds; None for no limit."""

    size: int | None = None
    age: int | None = None


def parse_size(size: int | str | None) -> int | None:
    """Return a size in bytes: 1000000, `500MB`, `1.5 GB`, `2GiB`. Raises `ValueError`."""
    try:
        return None if size is None else _SIZE.validate_python(size if type(size) in (int, str) else "")
    except ValidationError:
        raise ValueError(f"{size!r} is not a size; write 1000000, 500MB or 2GiB") from None


def parse_age(age: timedelta | float | str | None) -> int | None:
    """Return an age in microseconds: a `timedelta`, days, `30d`, `12h`, `90m`, `2w`. Raises `ValueError`."""
    if age is None:
        return None
    try:
        if isinstance(age, str) and (match := _AGE.fullmatch(age.strip().lower())):
            age = timedelta(**{_UNITS[match[2] or "d"]: float(match[1])})
        elif type(age) in (int, float):
            age = timedelta(days=age)  # type: ignore[arg-type]
        if isinstance(age, timedelta) and age >= timedelta(0):
            return age // timedelta(microseconds=1)
    except (OverflowError, ValueError):
        pass
    raise ValueError(f"{age!r} is not an age; write 30d, 12h, 90m or 2w, or give a timedelta or a number of days")


def delete_oldest(connection: sqlite3.Connection, limits: Limits, now: int) -> tuple[int, int]:
    """Delete what is older than the limits allow at `now`, then the oldest until the file is small enough.

    Returns the number of deleted returns, and of originals that no other return needs. Raises `sqlite3.Error`; then
    nothing is deleted.
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
        connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only
    return returns, originals


def used(connection: sqlite3.Connection) -> int:
    """Return the size of the file in bytes, without its free pages."""
    pages = pragma(connection, "page_count") - pragma(connection, "freelist_count")
    return pages * pragma(connection, "page_size")


def statistics(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return what an archive holds, by tool too, as plain JSON. Raises `sqlite3.Error`.

    Bytes are those of different originals, of these after compression (`stored`), and of the file in use. Those of a
    tool count each return. `oldest` and `newest` are None in an empty archive.
    """
    originals, unique, stored = connection.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM originals"
    ).fetchone()
    query = "SELECT count(*), min(stored_at), max(stored_at) FROM returns"
    returns, *times = connection.execute(query).fetchone()
    oldest, newest = (
        None if time is None else datetime.fromtimestamp(time // 10**6, UTC).isoformat() for time in times
    )
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
