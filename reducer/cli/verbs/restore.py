"""`restore`: puts the originals of an archive back into reduced histories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from reducer.archive.file import reading
from reducer.archive.restore import Restored, restore
from reducer.cli.histories import Source, each
from reducer.cli.output import write
from reducer.cli.parser import parsed, parser
from reducer.cli.stop import Stop, say
from reducer.cli.targets import targets
from reducer.errors import ArchiveError, HistoryError
from reducer.lines import ArchiveError as PackedError
from reducer.lines import Stream, are_lines, is_lines_name, kind_of, lines_of, packed
from reducer.stored import InputFormat

_EXAMPLES = """\
examples:
  python -m reducer restore session.json --archive returns.db -o original.json
                                                   every reduced return as its tool gave it, all other bytes as they stand
  python -m reducer restore sessions.jsonl.gz --archive returns.db -o original.jsonl.gz
                                                   JSON lines, a history on each; archives as the names end
  python -m reducer restore reduced/ --archive returns.db -o originals/
                                                   all files of a folder, to another
  cat session.json | python -m reducer restore - --archive returns.db > original.json
  python -m reducer restore session.json --archive returns.db --newest -o original.json
                                                   where several originals fit a return, take the newest

The archive is only read. A return is found by its tool, its call id, what it was reduced to and where it stands.
Exit codes: 0 done, 1 something stays reduced (each is named), 2 cannot run.
"""


class _Options(NamedTuple):
    newest: bool
    input_format: InputFormat


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read or written."""
    reader = parser("restore", "Put the original tool returns that an archive holds back into reduced histories.", _EXAMPLES)
    reader.add_argument("histories", nargs="+", metavar="HISTORY", help="a stored history, a folder of them, or - for standard input")
    reader.add_argument("--archive", required=True, metavar="FILE", help="the archive that the agent or the dry run wrote")
    reader.add_argument("--newest", action="store_true", help="take the newest original where several fit a return")
    reader.add_argument(
        "-o", "--output", default="-", metavar="FILE|DIR/",
        help="write the original history there, into a folder if there are several (default: standard output)",
    )  # fmt: skip
    reader.add_argument(
        "--input-format", choices=("auto", "model-messages", "session"), default="auto",
        help="what is read: PydanticAI's messages, session histories, or what it is recognised as (default: auto)",
    )  # fmt: skip
    options = parsed(reader, arguments)
    sources = list(each(options.histories))
    files = targets(options.output, sources, [Path(options.archive)])
    faults = left = 0
    try:
        with reading(Path(options.archive)) as connection:
            for source, file in zip(sources, files, strict=True):
                try:
                    left += _one(source, file, connection, _Options(options.newest, options.input_format), len(sources) > 1)
                except Stop as stop:
                    if len(sources) == 1:
                        raise
                    say(f"error: {stop}")
                    faults += 1
    except ArchiveError as error:
        raise Stop(str(error)) from None
    return 2 if faults else 1 if left else 0


def _one(source: Source, file: Path | None, connection: Connection, options: _Options, named: bool) -> int:
    """Restore one file, and give how many returns stay reduced. Raises `Stop` and `ArchiveError`."""
    history = source.read()
    try:
        restored = list(_restored(history, is_lines_name(source.name) or are_lines(Stream(BytesIO(history).read)), connection, options))
        whole = b"".join(one.history for _, one in restored)
        output = packed(whole, kind_of(str(file or "")))
    except HistoryError as error:
        raise Stop(f"{source.name}: {error}") from None
    except PackedError as error:
        raise Stop(f"{file}: {error}") from None
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"{file}: {error.strerror or error}") from None
    write("-" if file is None else str(file), output)
    for line, one in restored:
        for found, why in one.left:
            where = f"{source.name}: " if named else ""
            where += f"line {line}, " if line else ""
            say(f"{where}message {found.message + 1}, {found.tool} {found.call_id}#{found.nth}: stays as it is: {why}")
    put_back, left = sum(one.put_back for _, one in restored), sum(len(one.left) for _, one in restored)
    written = "" if file is None else f"wrote {file}, {len(whole):,} bytes: "
    say(f"{written}{put_back:,} {'return' if put_back == 1 else 'returns'} put back, {left:,} not")
    return left


def _restored(history: bytes, lines: bool, connection: Connection, options: _Options) -> Iterator[tuple[int, Restored]]:
    """Restore a history, or the one on each line; a line that holds none stays. Lines count from 1; 0 is all of a history."""
    newest, form = options
    if not lines:
        yield 0, restore(history, connection, newest=newest, input_format=form)
        return
    done = 0
    for number, (start, end) in enumerate(lines_of(history), 1):
        try:
            one = restore(history[start:end], connection, newest=newest, input_format=form)
        except HistoryError:
            one = Restored(history[start:end], 0, ())
        yield number, one._replace(history=history[done:start] + one.history)
        done = end
    yield 0, Restored(history[done:], 0, ())
