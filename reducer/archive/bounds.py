"""How much an archive keeps: by age and by bytes, the oldest goes first."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from typing import NamedTuple

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_DAYS = {"m": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0}
_ROW = 150
"""Bytes that a row of `returns` takes, with its indexes; about."""
_LAST = 8192
"""Excess in bytes, two pages, from which on one return goes at a time."""


class Bounds(NamedTuple):
    """What is kept at most: `bytes` of the file, and microseconds of `age`; None for no bound."""

    bytes: int | None = None
    age: int | None = None


class Gone(NamedTuple):
    """What went: rows of returns, and originals that no other return needs."""

    returns: int
    originals: int


def read_bytes(amount: int | str | None) -> int | None:
    """Read a number of bytes: 1000000, `500MB`, `1 GB`, `2GiB`. Raises `ValueError`."""
    if amount is None or (isinstance(amount, int) and not isinstance(amount, bool) and amount > 0):
        return amount
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]i?)?b?", amount.strip().lower()) if isinstance(amount, str) else None
    number = int(float(match[1]) * _UNITS[match[2] or ""]) if match else 0
    if number < 1:
        raise ValueError(f"{amount!r} is no number of bytes: write 1000000, 500MB or 2GiB")
    return number


def read_age(age: timedelta | float | str | None) -> int | None:
    """Read an age and give it in microseconds: a `timedelta`, a number of days, `30d`, `12h`, `90m`, `2w`. Raises `ValueError`."""
    if age is None:
        return None
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([mhdw])?", age.strip().lower()) if isinstance(age, str) else None
    try:
        if match:
            age = timedelta(days=float(match[1]) * _DAYS[match[2] or "d"])
        elif isinstance(age, (int, float)) and not isinstance(age, bool):
            age = timedelta(days=age)
        if isinstance(age, timedelta) and age >= timedelta(0):
            return age // timedelta(microseconds=1)
    except (OverflowError, ValueError):
        pass
    raise ValueError(f"{age!r} is no age: write 30d, 12h, 90m or 2w, or give a timedelta or a number of days")


def shorten(connection: sqlite3.Connection, bounds: Bounds, now: int) -> Gone:
    """Take what is older than the bounds allow, in microseconds since 1970 `now`, then the oldest until the bytes are within theirs.

    Raises `sqlite3.Error`; then nothing has gone.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        returns = originals = 0
        if bounds.age is not None:
            returns = connection.execute("DELETE FROM returns WHERE filed < ?", (now - bounds.age,)).rowcount
            originals = _orphans(connection)
        if bounds.bytes is not None:
            while (excess := used(connection) - bounds.bytes) > 0:
                gone = _oldest(connection, (excess - _LAST) // 2)  # what goes frees up to twice what it holds, as pages do
                if not gone.returns:
                    break
                returns, originals = returns + gone.returns, originals + gone.originals
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if returns:
        # It frees one page a step, and `execute` takes one step of what gives no rows.
        connection.executescript("PRAGMA incremental_vacuum")
    return Gone(returns, originals)


def used(connection: sqlite3.Connection) -> int:
    """Give the bytes of the file that hold something."""
    pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
    return int((pages - free) * size)


def _oldest(connection: sqlite3.Connection, size: int) -> Gone:
    """Take the oldest returns that hold about `size` bytes, at least one where there are any."""
    ids: list[tuple[int]] = []
    seen: set[tuple[int]] = set()
    rows = connection.execute("SELECT returns.id, original, length(form) FROM returns JOIN originals ON originals.id = original ORDER BY filed, returns.id")
    for id, original, length in rows:
        ids.append((id,))
        size -= _ROW + (0 if (original,) in seen else length)
        seen.add((original,))
        if size <= 0:
            break
    rows.close()
    connection.executemany("DELETE FROM returns WHERE id = ?", ids)
    return Gone(len(ids), connection.executemany(f"{_ORPHANS} AND id = ?", sorted(seen)).rowcount if seen else 0)


_ORPHANS = "DELETE FROM originals WHERE NOT EXISTS (SELECT 1 FROM returns WHERE original = originals.id)"


def _orphans(connection: sqlite3.Connection) -> int:
    return connection.execute(_ORPHANS).rowcount
