"""`archive`: what an archive of originals holds, and shortening it by age or size."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from reducer.archive.bounds import Bounds, read_age, read_bytes, shorten, used
from reducer.archive.file import open_file, reading, reason
from reducer.archive.stats import Stats, stats
from reducer.cli.parser import parsed, parser
from reducer.cli.stop import Stop
from reducer.errors import ArchiveError

_EXAMPLES = """\
examples:
  python -m reducer archive stats returns.db                 what it holds, by tool
  python -m reducer archive stats returns.db --format json   the same for another program
  python -m reducer archive prune returns.db --older-than 30d
                                                             drop originals last filed more than 30 days ago (12h, 90m, 2w)
  python -m reducer archive prune returns.db --max-bytes 1GB
                                                             drop the oldest until the file has at most this size

An agent writes the archive: ReduceToolReturns("rules", archive=Archive("returns.db")).
Exit codes: 0 done, 2 cannot run.
"""
_TIMEOUT = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop`."""
    reader = parser("archive", "Tell what an archive of original tool returns holds (stats), or drop what is old (prune).", _EXAMPLES)
    reader.add_argument("action", choices=("stats", "prune"), help="what to do")
    reader.add_argument("file", metavar="FILE", help="the archive")
    reader.add_argument("--format", choices=("table", "json"), default="table", help="what is printed (default: table)")
    reader.add_argument("--older-than", metavar="AGE", help="prune: drop what was last filed longer ago")
    reader.add_argument("--max-bytes", metavar="SIZE", help="prune: drop the oldest until the file is within this size")
    options = parsed(reader, arguments)
    path = Path(options.file)
    try:
        if options.action == "prune":
            return _prune(path, Bounds(read_bytes(options.max_bytes), read_age(options.older_than)), options.format)
        if options.older_than or options.max_bytes:
            raise Stop("--older-than and --max-bytes are for `archive prune`")
        with reading(path) as connection:
            found = stats(connection)
    except (ArchiveError, ValueError) as error:
        raise Stop(str(error)) from None
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
    else:
        _table(path, found)
    return 0


def _prune(path: Path, bounds: Bounds, format: str) -> int:
    if bounds == Bounds():
        raise Stop("archive prune: say what may go: --older-than 30d, --max-bytes 1GB, or both")
    with reading(path):  # it must be there, and an archive: opening it to write would make one
        pass
    connection = open_file(path, _TIMEOUT)
    try:
        before = used(connection)
        gone = shorten(connection, bounds, time.time_ns() // 1000)
        after = used(connection)
    except sqlite3.Error as error:
        raise Stop(f"{path}: {reason(error)}") from None
    finally:
        connection.close()
    if format == "json":
        print(json.dumps({"returns": gone.returns, "originals": gone.originals, "bytes": {"before": before, "after": after}}, indent=2))
    else:
        print(f"dropped {gone.returns:,} returns and {gone.originals:,} originals; {before:,} bytes before, {after:,} after")
    return 0


def _time(microseconds: int | None) -> str | None:
    return None if microseconds is None else datetime.fromtimestamp(microseconds // 1_000_000, UTC).isoformat().replace("+00:00", "Z")


def _as_json(found: Stats) -> dict[str, object]:
    return {
        "returns": found.returns,
        "originals": found.originals,
        "bytes": {"originals": found.unique, "stored": found.stored, "file": found.file},
        "oldest": _time(found.oldest),
        "newest": _time(found.newest),
        "tools": [{"tool": one.tool, "returns": one.returns, "bytes": {"original": one.original, "reduced": one.reduced}} for one in found.tools],
    }


def _table(path: Path, found: Stats) -> None:
    from rich.table import Table
    from rich.text import Text

    from reducer.screen import console, visible

    screen = console(sys.stdout)
    table = Table(box=None, pad_edge=False)
    for title in ("Tool", "Returns", "Bytes, original", "reduced"):
        table.add_column(title, justify="left" if title == "Tool" else "right", overflow="fold")
    for one in found.tools:
        table.add_row(Text(visible(one.tool)), f"{one.returns:,}", f"{one.original:,}", f"{one.reduced:,}")
    if found.tools:
        screen.print(table)
        screen.print()
    screen.print(Text(visible(f"{path}: {found.returns:,} returns, {found.originals:,} originals")))
    screen.print(f"{found.unique:,} bytes of originals are stored in {found.stored:,}; the file has {found.file:,}")
    if found.newest is not None:
        screen.print(f"oldest filed {_time(found.oldest)}, newest {_time(found.newest)}")
