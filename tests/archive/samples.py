"""Archives, entries and histories that several tests share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reducer.archive import Archive
from reducer.archive.entries import Entry, Place
from reducer.archive.originals import Original, find
from reducer.values import stored_json


def entry(original: Any, reduced: Any, *, tool: str = "explore", call_id: str = "c", nth: int = 1, returned: int = 0) -> Entry:
    return Entry(Place(tool, call_id, nth, returned), "rule@1", stored_json(reduced), stored_json(original))


def found(archive: Archive, entry: Entry, *, newest: bool = False, **place: Any) -> Original:
    """Look for the original of the return that `entry` reduced, or of one at another place."""
    with archive.reading() as connection:
        return find(connection, entry.place._replace(**place), json.loads(entry.reduced), newest=newest)


def rows(archive: Archive | Path, table: str = "returns") -> int:
    from reducer.archive.file import reading

    with reading(archive if isinstance(archive, Path) else archive.path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
