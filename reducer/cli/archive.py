"""`archive`: shows what an archive of originals contains, and shrinks it by age or size."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from reducer.archive.database import open_to_read, open_to_write
from reducer.archive.limits import Limits, Statistics, delete_oldest, parse_age, parse_size, statistics, used
from reducer.cli.arguments import parse, parser
from reducer.cli.messages import CommandError
from reducer.errors import ArchiveError
from reducer.screen import console, visible

_EXAMPLES = """\
examples:
  python -m reducer archive stats returns.db                 what it contains, by tool
  python -m reducer archive stats returns.db --format json   the same for another program
  python -m reducer archive prune returns.db --older-than 30d
                                                             delete originals older than 30 days (also 12h, 90m, 2w)
  python -m reducer archive prune returns.db --max-bytes 1GB
                                                             delete the oldest until the file has at most this size

An agent writes the archive: ReduceToolReturns("rules", archive=Archive("returns.db")).
Exit codes: 0 done, 2 cannot run.
"""
_TIMEOUT = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    about = "Show what an archive of original tool returns contains (stats), or delete old originals (prune)."
    reader = parser("archive", about, _EXAMPLES)
    add = reader.add_argument
    add("action", choices=("stats", "prune"), help="what to do")
    add("file", metavar="FILE", help="the archive")
    add("--format", choices=("table", "json"), default="table", help="output format (default: table)")
    add("--older-than", metavar="AGE", help="prune: delete what was last stored longer ago")
    add("--max-bytes", metavar="SIZE", help="prune: delete the oldest until the file has at most this size")
    options = parse(reader, arguments)
    path = Path(options.file)
    try:
        if options.action == "prune":
            _prune(path, Limits(parse_size(options.max_bytes), parse_age(options.older_than)), options.format)
            return 0
        if options.older_than or options.max_bytes:
            raise CommandError("--older-than and --max-bytes are for `archive prune`")
        with open_to_read(path) as connection:
            found = statistics(connection)
    except (ArchiveError, ValueError) as error:
        raise CommandError(str(error)) from None
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
    else:
        _print_table(path, found)
    return 0


def _prune(path: Path, limits: Limits, format: str) -> None:
    if limits == Limits():
        raise CommandError("archive prune: add --older-than 30d, --max-bytes 1GB, or both")
    with open_to_read(path):  # the archive must exist: opening it for writing would create one
        pass
    connection = open_to_write(path, _TIMEOUT)
    try:
        before = used(connection)
        gone = delete_oldest(connection, limits, time.time_ns() // 1000)
        after = used(connection)
    except sqlite3.Error as error:
        raise CommandError(f"{path}: {error}") from None
    finally:
        connection.close()
    if format == "json":
        deleted = {"returns": gone.returns, "originals": gone.originals, "bytes": {"before": before, "after": after}}
        print(json.dumps(deleted, indent=2))
    else:
        deleted_text = f"{gone.returns:,} returns and {gone.originals:,} originals"
        print(f"deleted {deleted_text}; {before:,} bytes before, {after:,} after")


def _time(microseconds: int | None) -> str | None:
    return (
        None
        if microseconds is None
        else datetime.fromtimestamp(microseconds // 1_000_000, UTC).isoformat().replace("+00:00", "Z")
    )


def _as_json(found: Statistics) -> dict[str, object]:
    return {
        "returns": found.returns,
        "originals": found.originals,
        "bytes": {"originals": found.unique, "stored": found.stored, "file": found.file},
        "oldest": _time(found.oldest),
        "newest": _time(found.newest),
        "tools": [
            {"tool": one.tool, "returns": one.returns, "bytes": {"original": one.original, "reduced": one.reduced}}
            for one in found.tools
        ],
    }


def _print_table(path: Path, found: Statistics) -> None:
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
    screen.print(f"{found.unique:,} bytes of originals, {found.stored:,} compressed; file size {found.file:,}")
    if found.newest is not None:
        screen.print(f"stored from {_time(found.oldest)} to {_time(found.newest)}")
