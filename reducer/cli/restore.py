"""`restore`: restores original tool returns from an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from sqlite3 import Connection

from reducer.archive.database import open_to_read
from reducer.archive.histories import Restored, restore
from reducer.cli.arguments import add_input_format, parse, parser
from reducer.cli.inputs import Source, all_sources
from reducer.cli.messages import CommandError, counted, say
from reducer.cli.outputs import compressed, make_folder, targets, write
from reducer.errors import ArchiveError, HistoryError
from reducer.histories.lines import Stream, are_lines, is_lines_name, lines_of
from reducer.histories.stored import InputFormat

_EXAMPLES = """\
examples:
  python -m reducer restore session.json --archive returns.db -o original.json
                                                   every reduced return as its tool gave it; all other bytes unchanged
  python -m reducer restore sessions.jsonl.gz --archive returns.db -o original.jsonl.gz
                                                   JSON lines; compressed as the file names say
  python -m reducer restore reduced/ --archive returns.db -o originals/
                                                   a folder of histories
  cat session.json | python -m reducer restore - --archive returns.db > original.json
  python -m reducer restore session.json --archive returns.db --newest -o original.json
                                                   use the newest original if several match a return

The archive is only read. A return is identified by its tool, its call id, its reduced content and its position.
Exit codes: 0 done, 1 some returns stay reduced (each is listed), 2 cannot run.
"""


@dataclass(frozen=True, slots=True)
class _Settings:
    """The archive, and how to read it and the histories."""

    connection: Connection
    newest: bool
    input_format: InputFormat


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("restore", "Restore the original tool returns in reduced histories from an archive.", _EXAMPLES)
    add = reader.add_argument
    add("histories", nargs="+", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    add("--archive", required=True, metavar="FILE", help="the archive that the agent or `run --archive` wrote")
    add("--newest", action="store_true", help="use the newest original if several match a return")
    add("-o", "--output", default="-", metavar="FILE|DIR/", help="write the histories there (default: standard output)")
    add_input_format(reader)
    options = parse(reader, arguments)
    sources = list(all_sources(options.histories))
    files = targets(options.output, sources, [Path(options.archive)])
    errors = left = 0
    try:
        with open_to_read(Path(options.archive)) as connection:
            settings = _Settings(connection, options.newest, options.input_format)
            for source, file in zip(sources, files, strict=True):
                try:
                    left += _restore_file(source, file, settings, len(sources) > 1)
                except CommandError as error:
                    if len(sources) == 1:
                        raise
                    say(f"error: {error}")
                    errors += 1
    except ArchiveError as error:
        raise CommandError(str(error)) from None
    return 2 if errors else 1 if left else 0


def _restore_file(source: Source, file: Path | None, settings: _Settings, is_named: bool) -> int:
    """Restore one file, and return how many returns stay reduced. Raises `CommandError` and `ArchiveError`."""
    history = source.read()
    in_lines = is_lines_name(source.name) or are_lines(Stream(BytesIO(history).read))
    try:
        restored = list(_restored(history, in_lines, settings))
    except HistoryError as error:
        raise CommandError(f"{source.name}: {error}") from None
    whole = b"".join(one.history for _, one in restored)
    if file is not None:
        make_folder(file.parent)
    write(file, compressed(whole, file))
    for line, one in restored:
        for found, why in one.unrestored:
            where = f"{source.name}: " if is_named else ""
            where += f"line {line}, " if line else ""
            say(f"{where}message {found.message + 1}, {found.tool} {found.call_id}#{found.nth}: not restored: {why}")
    count, left = sum(one.restored for _, one in restored), sum(len(one.unrestored) for _, one in restored)
    written = "" if file is None else f"wrote {file}, {len(whole):,} bytes: "
    say(f"{written}restored {counted(count, 'return')}, {left:,} not restored")
    return left


def _restored(history: bytes, in_lines: bool, settings: _Settings) -> Iterator[tuple[int, Restored]]:
    """Restore a history, or the history in each line, and yield it with its line number (0 for a whole history).

    A line that contains no history stays unchanged.
    """

    def one(data: bytes) -> Restored:
        return restore(data, settings.connection, newest=settings.newest, input_format=settings.input_format)

    if not in_lines:
        yield 0, one(history)
        return
    done = 0
    for number, (start, end) in enumerate(lines_of(history), 1):
        try:
            line = one(history[start:end])
        except HistoryError:
            line = Restored(history[start:end], 0, ())
        yield number, line._replace(history=history[done:start] + line.history)
        done = end
    yield 0, Restored(history[done:], 0, ())
