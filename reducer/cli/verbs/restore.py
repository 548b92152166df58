"""`restore`: puts the originals of an archive back into a reduced history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.archive.file import reading
from reducer.archive.restore import restore
from reducer.cli.histories import find
from reducer.cli.output import refuse, write
from reducer.cli.parser import parser
from reducer.cli.stop import Stop, say
from reducer.errors import ArchiveError, HistoryError

_EXAMPLES = """\
examples:
  python -m reducer restore session.json --archive returns.db -o original.json
                                                   every reduced return as its tool gave it, all other bytes as they stand
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
            result = restore(history, connection, newest=options.newest)
    except ArchiveError as error:
        raise Stop(str(error)) from None
    except HistoryError as error:
        raise Stop(f"{source.name}: {error}") from None
    write(options.output, result.history)
    for found, why in result.left:
        say(f"message {found.message + 1}, {found.tool} {found.call_id}#{found.nth}: stays as it is: {why}")
    where = "" if options.output == "-" else f"wrote {options.output}, {len(result.history):,} bytes: "
    say(f"{where}{result.put_back:,} {'return' if result.put_back == 1 else 'returns'} put back, {len(result.left):,} not")
    return 1 if result.left else 0
