"""`restore`: puts the originals of an archive back into a reduced history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection

from reducer.archive.file import reading
from reducer.archive.restore import Restored, restore
from reducer.cli.histories import find
from reducer.cli.output import refuse, write
from reducer.cli.parser import parser
from reducer.cli.stop import Stop, say
from reducer.errors import ArchiveError, HistoryError
from reducer.lines import is_lines_name, lines_of

_EXAMPLES = """\
examples:
  python -m reducer restore session.json --archive returns.db -o original.json
                                                   every reduced return as its tool gave it, all other bytes as they stand
  python -m reducer restore sessions.jsonl --archive returns.db -o original.jsonl
                                                   JSON lines, a history on each
  cat session.json | python -m reducer restore - --archive returns.db > original.json
  python -m reducer restore session.json --archive returns.db --newest -o original.json
                                                   where several originals fit a return, take the newest

The archive is only read. A return is found by its tool, its call id, what it was reduced to and where it stands.
Exit codes: 0 done, 1 something stays reduced (each is named), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read or written."""
    reader = parser("restore", "Put the original tool returns that an archive holds back into a reduced history.", _EXAMPLES)
    reader.add_argument("history", metavar="HISTORY", help="a stored history, or - for standard input")
    reader.add_argument("--archive", required=True, metavar="FILE", help="the archive that the agent or the dry run wrote")
    reader.add_argument("--newest", action="store_true", help="take the newest original where several fit a return")
    reader.add_argument("-o", "--output", default="-", metavar="FILE", help="write the original history there (default: standard output)")
    options = reader.parse_intermixed_args(arguments)
    source = next(find([options.history], ()))
    if isinstance(source, Stop):
        raise source
    if source.folder:
        raise Stop(f"{options.history}: is a folder: name one history")
    if options.output != "-":
        refuse(options.output, [source.path, Path(options.archive)])
    history = source.read()
    try:
        with reading(Path(options.archive)) as connection:
            restored = list(_restored(history, is_lines_name(source.name), connection, options.newest))
    except ArchiveError as error:
        raise Stop(str(error)) from None
    except HistoryError as error:
        raise Stop(f"{source.name}: {error}") from None
    whole = b"".join(one.history for _, one in restored)
    write(options.output, whole)
    for line, one in restored:
        for found, why in one.left:
            where = f"line {line}, " if line else ""
            say(f"{where}message {found.message + 1}, {found.tool} {found.call_id}#{found.nth}: stays as it is: {why}")
    put_back, left = sum(one.put_back for _, one in restored), sum(len(one.left) for _, one in restored)
    written = "" if options.output == "-" else f"wrote {options.output}, {len(whole):,} bytes: "
    say(f"{written}{put_back:,} {'return' if put_back == 1 else 'returns'} put back, {left:,} not")
    return 1 if left else 0


def _restored(history: bytes, lines: bool, connection: Connection, newest: bool) -> Iterator[tuple[int, Restored]]:
    """Restore a history, or the one on each line; a line that holds none stays. Lines count from 1; 0 is all of a history."""
    if not lines:
        yield 0, restore(history, connection, newest=newest)
        return
    done = 0
    for number, (start, end) in enumerate(lines_of(history), 1):
        try:
            one = restore(history[start:end], connection, newest=newest)
        except HistoryError:
            one = Restored(history[start:end], 0, ())
        yield number, one._replace(history=history[done:start] + one.history)
        done = end
    yield 0, Restored(history[done:], 0, ())
