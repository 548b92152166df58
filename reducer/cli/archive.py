"""Show what an archive of original tool returns contains (stats), or delete old
originals (prune).

examples:
  python -m reducer archive stats a.db
      contents by tool; use --format json for other programs
  python -m reducer archive prune a.db --max-age 30d
      delete originals older than 30 days (also 12h, 90m, 2w)
  python -m reducer archive prune a.db --max-bytes 1GB
      delete the oldest originals until the file is small enough

Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.archive.archive import parse_age, parse_size
from reducer.archive.database import Limits, open_to_read, open_to_write, statistics, store, used
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.screen import CommandError, console, counted, make_table, print_json, visible

_TIMEOUT = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError` and `ArchiveError`."""
    reader = parser("archive", __doc__, formats=("table", "json"))
    add = reader.add_argument
    add("action", choices=("stats", "prune"), metavar="{stats,prune}", help="what to do")
    add("file", type=Path, metavar="FILE", help="the archive")
    older = "prune: delete originals that were last stored longer ago"
    add("--max-age", type=explained(parse_age), metavar="AGE", help=older)
    largest = "prune: delete the oldest originals until the file is at most this large"
    add("--max-bytes", type=explained(parse_size), metavar="SIZE", help=largest)
    options = parse(reader, arguments)
    limits = Limits(options.max_bytes, options.max_age)
    if (options.action == "prune") == (limits == Limits()):
        raise CommandError("--max-age and --max-bytes are for `archive prune`, which needs at least one of them")
    with open_to_read(options.file) as connection:
        contents = statistics(connection)
    if options.action == "prune":
        _prune(options.file, limits)
    elif options.format == "json":
        print_json(contents)
    else:
        _print_statistics(options.file, contents)
    return 0


def _prune(path: Path, limits: Limits) -> None:
    with open_to_write(path, _TIMEOUT) as connection:
        before = used(connection)
        returns, originals = store(connection, [], time.time_ns() // 1000, limits)
        after = used(connection)
    deleted = f"{counted(returns, 'return')} and {counted(originals, 'original')}"
    print(f"deleted {deleted}; {before:,} bytes before, {after:,} after")


def _print_statistics(path: Path, contents: dict[str, Any]) -> None:
    rows = []
    for tool in contents["tools"]:
        size = tool["bytes"]
        rows.append([tool["tool"], f"{tool['returns']:,}", f"{size['original']:,}", f"{size['reduced']:,}"])
    console().print(make_table(("Tool", "Returns", "Bytes, original", "reduced"), rows))
    counts = f"{counted(contents['returns'], 'return')}, {counted(contents['originals'], 'original')}"
    print(visible(f"{path}: {counts}"))
    print("{originals:,} bytes of originals, {stored:,} compressed; file size {file:,}".format(**contents["bytes"]))
