"""Restore the original tool returns in reduced histories from an archive.

examples:
  python -m reducer restore b.json --archive a.db -o a.json
      restore every reduced return; other bytes stay the same
  python -m reducer restore b/ --archive a.db -o a/
      a folder of histories; .gz and .zst files stay compressed
  cat b.json | python -m reducer restore - --archive a.db > a.json

The archive is not changed. A return is identified by its tool, call id, reduced
content and position.
Exit codes: 0 done, 1 some returns stay reduced (each is listed), 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from reducer.archive.database import open_to_read
from reducer.archive.histories import Restored, restore
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import Problems
from reducer.cli.outputs import open_target, targets
from reducer.cli.screen import counted, say, say_skipped
from reducer.errors import FileError, HistoryError
from reducer.inputs.chunks import read_chunks
from reducer.inputs.compression import compressed
from reducer.inputs.sources import Source, find_sources


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`, `FileError` and `ArchiveError`."""
    reader = parser("restore", __doc__, ("--input-format",))
    add = reader.add_argument
    add("histories", nargs="+", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    archive = "the archive that the agent or `run --archive` wrote"
    add("--archive", type=Path, required=True, metavar="FILE", help=archive)
    add("-o", "--output", default="-", metavar="FILE|DIR/", help="write the histories there (default: standard output)")
    options = parse(reader, arguments)
    sources = find_sources(options.histories)
    problems = Problems()
    unrestored = 0
    with open_to_read(options.archive) as connection:
        restored = partial(restore, connection=connection, input_format=options.input_format)
        for source, file in targets(options.output, sources, [options.archive]).items():
            with problems.reported(source):
                unrestored += _restore_file(source, file, restored)
    say_skipped(problems.skipped)
    return 2 if problems.errors else 1 if unrestored else 0


def _restore_file(source: Source, file: Path | None, restore_history: Callable[[bytes], Restored]) -> int:
    """Restore one file, and return the number of returns that stay reduced. Raises `FileError`."""
    count = unrestored = size = 0
    name = "" if file is None else file.name
    with open_target(file) as target:
        for chunk in read_chunks(source):
            lines = []
            for number, data in enumerate(chunk.histories, chunk.number):
                one = _restored(source, data, number, restore_history)
                count += one.restored
                unrestored += len(one.unrestored)
                lines.append(one.history)
            size += target.write(compressed(b"\n".join(lines), name))
    written = "" if file is None else f"wrote {file}, {size:,} bytes: "
    say(f"{written}restored {counted(count, 'return')}, {unrestored:,} not restored")
    return unrestored


def _restored(source: Source, data: bytes, number: int, restore_history: Callable[[bytes], Restored]) -> Restored:
    """Restore a history, and list what stays reduced. A line (with a number) that is no history stays unchanged."""
    try:
        one = restore_history(data)
    except HistoryError as error:
        if not number:
            raise FileError(f"{source.name}: {error}") from None
        return Restored(data, 0, ())
    where = f"{source.name}:{number}" if number else source.name
    for entry, why in one.unrestored:
        call = f"{entry.tool} {entry.call_id}#{entry.nth}"
        say(f"{where}: message {entry.key.message + 1}, {call}: not restored: {why}")
    return one
