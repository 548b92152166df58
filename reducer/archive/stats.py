"""What an archive holds, in numbers."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from reducer.archive.bounds import used


class ToolStats(NamedTuple):
    """The returns of one tool: their `original` and `reduced` JSON in bytes, each counted as often as it came back."""

    tool: str
    returns: int
    original: int
    reduced: int


class Stats(NamedTuple):
    """All of an archive: `unique` are the bytes of different originals, `stored` those after compression, `file` those of the file.

    `oldest` and `newest` are microseconds since 1970; None where there is nothing.
    """

    returns: int
    originals: int
    unique: int
    stored: int
    file: int
    oldest: int | None
    newest: int | None
    tools: tuple[ToolStats, ...]


def stats(connection: sqlite3.Connection) -> Stats:
    """Count what an archive holds; tools come by the bytes of their originals. Raises `sqlite3.Error`."""
    tools = connection.execute(
        "SELECT tool, count(*), sum(size), sum(reduced) FROM returns JOIN originals ON originals.id = original GROUP BY tool ORDER BY 3 DESC, 1"
    )
    originals, unique, stored = connection.execute("SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(form)), 0) FROM originals").fetchone()
    returns, oldest, newest = connection.execute("SELECT count(*), min(filed), max(filed) FROM returns").fetchone()
    return Stats(returns, originals, unique, stored, used(connection), oldest, newest, tuple(ToolStats(*row) for row in tools))
