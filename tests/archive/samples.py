"""Helpers that create, store and find entries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from reducer.archive import Archive
from reducer.archive.database import NO_TIME, Entry, Original, ReturnId, find_original, open_to_read
from reducer.values import stored_json


def entry(
    original: Any, reduced: Any, *, tool: str = "explore", call_id: str = "c", nth: int = 1, time: int = NO_TIME
) -> Entry:
    return Entry(ReturnId(tool, call_id, nth, time), stored_json(reduced), stored_json(original), "owner")


def store(archive: Archive, *entries: Entry | Callable[[], Entry]) -> None:
    archive.add(entries)
    assert archive.flush(20)


def found(archive: Archive, entry: Entry, **changes: Any) -> Original:
    """Find the original of the return that `entry` reduced, or of one with another id."""
    with open_to_read(archive.path) as connection:
        return find_original(connection, entry.id._replace(**changes), json.loads(entry.reduced))


def rows(archive: Archive | Path, table: str = "returns") -> int:
    with open_to_read(archive if isinstance(archive, Path) else archive.path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def execute(path: Path, *statements: str) -> None:
    """Change a database without `Archive`."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
