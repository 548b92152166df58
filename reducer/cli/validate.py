"""`validate`: checks the structure of stored histories."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from reducer.cli.arguments import integer, parse, parser
from reducer.cli.inputs import Source, find_sources
from reducer.cli.messages import CommandError, reason, say
from reducer.cli.progress import Advance, progress
from reducer.cli.views.findings import Checked, print_codes, print_json, print_text, severities
from reducer.histories.against import compare
from reducer.histories.compressed import CompressedError, decompressed
from reducer.histories.findings import Finding
from reducer.histories.lines import MAX_LINE, Stream, are_lines, is_heavy, is_lines_name, lines_of, pieces
from reducer.histories.validate import check_document, read_document

_ABOUT = """\
Check stored histories, before or after reducing: fields, calls and their returns, ids, order.
An error is what PydanticAI refuses to load or a large provider refuses to answer. A warning is unusual but accepted.
No file is changed.
"""
_EXAMPLES = """\
examples:
  python -m reducer validate session.json          every finding with line, column, code and JSON path
  python -m reducer validate histories/ --strict   all histories in a folder; also fail for warnings
  python -m reducer validate reduced.json --against session.json
                                                   also prove that one is a reduction of the other
  curl … | python -m reducer validate - --format json
                                                   read standard input, print JSON for another program
  python -m reducer validate --codes               list all codes

A history is JSON as PydanticAI 0.2 to 2.x stores it (a list of messages, one message, or an object with a list), JSON
lines of these, or a session history of a chat front end, which gets fewer checks. .gz and .zst are decompressed.
Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("validate", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("histories", nargs="*", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    add(
        "--against",
        metavar="ORIGINAL",
        help="check that HISTORY is a reduction of this one; for several, of the same files in this folder",
    )
    add("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    add(
        "--max-findings",
        type=integer("a number of findings", 0),
        default=20,
        metavar="N",
        help="print at most N findings per code and file as text, 0 for all (default: 20)",
    )
    add("--strict", action="store_true", help="exit with 1 for warnings too")
    add("--codes", action="store_true", help="print the table of codes and exit")
    options = parse(reader, arguments)
    if options.codes:
        print_codes(sys.stdout)
        return 0
    if not options.histories:
        raise CommandError("name a HISTORY to check, or - for standard input (--help shows how)")
    sources, errors = find_sources(options.histories)
    if options.against is not None and len(sources) > 1 and not Path(options.against).is_dir():
        raise CommandError(f"--against {options.against}: for {len(sources):,} histories, name a folder")
    kept = options.max_findings if options.format == "text" and options.max_findings else sys.maxsize
    checked: list[Checked] = []
    with progress(sources) as bar:
        for source in sources:
            advance = bar(source)
            try:
                original = None if options.against is None else _original(options.against, source)
                found = _check(source, original, kept, advance)
            except CommandError as error:
                say(f"error: {error}")
                errors += 1
                continue
            if source.folder and found.histories == found.counts.get("V003"):
                # A folder may contain other JSON; a file that was named must be a history.
                say(f"skipped {source.name}: {found.findings[0].message}")
            else:
                checked.append(found)
            advance(source.size)
    if not checked:
        return 2
    if options.format == "json":
        print_json(checked, sys.stdout)
    else:
        print_text(checked, sys.stdout)
    counts = severities(checked)
    return 2 if errors else 1 if counts["error"] or (options.strict and counts) else 0


def _original(name: str, source: Source) -> Source:
    """Return the original of a history: the file `name`, or the file at the same place in the folder `name`."""
    path = Path(name)
    if path.is_dir() and source.path is not None:
        path /= source.path.relative_to(source.folder) if source.folder else source.path.name
    return replace(source, name=str(path), path=path)


@dataclass(frozen=True, slots=True)
class _Findings:
    """The first `limit` findings of each code, and how often each code occurs."""

    limit: int
    kept: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, findings: Sequence[Finding]) -> None:
        """Count findings, and keep the first of each code."""
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= self.limit:
                self.kept.append(finding)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line by its number, from 1; of a `long` line a part, the last one if it `ends`."""

    number: int
    content: bytes
    long: bool = False
    ends: bool = True


def _check(source: Source, original: Source | None, limit: int, advance: Advance) -> Checked:
    """Check a source, and with an `original` that it is a reduction of that. Raises `CommandError`."""
    found = _Findings(limit)
    with ExitStack() as files:
        file = files.enter_context(source.open())
        stream = _decompressed(source, file)
        try:
            in_lines = is_lines_name(source.name) or are_lines(stream)
            whole = b"" if in_lines else stream.read()
        except (OSError, CompressedError) as error:
            raise _error(source, error) from None
        if in_lines:
            old = None
            if original is not None:
                old = _lines(original, _decompressed(original, files.enter_context(original.open())))
            count = _check_lines(_lines(source, stream), old, found, lambda: advance(file.at))
        else:
            count = _check_whole(whole, None if original is None else original.read(), found)
    return Checked(source.name, count, found.kept, found.counts)


def _decompressed(source: Source, file: Stream) -> Stream:
    try:
        return decompressed(file)
    except (OSError, CompressedError) as error:
        raise _error(source, error) from None


def _error(source: Source, error: Exception) -> CommandError:
    return CommandError(f"{source.name}: {reason(error)}")


def _check_whole(stored: bytes, original: bytes | None, found: _Findings) -> int:
    document = read_document(stored)
    found.add(check_document(document))
    if original is not None:
        found.add(compare(document, read_document(original)))
    return 1


def _lines(source: Source, stream: Stream) -> Iterator[_Line]:
    """Yield the lines of a source, those that are too long in parts. Raises `CommandError`."""
    number = 0
    try:
        for piece in pieces(stream):
            if piece.long:
                yield _Line(number + 1, piece.content, True, piece.ends)
                number += piece.ends
                continue
            for start, end in lines_of(piece.content):
                number += 1
                yield _Line(number, piece.content[start:end])
    except (OSError, CompressedError) as error:
        raise _error(source, error) from None


def _paired(new: Iterator[_Line], old: Iterator[_Line]) -> Iterator[tuple[_Line | None, _Line | None]]:
    """Yield lines, and parts of lines, with those of the same number."""
    mine, theirs = next(new, None), next(old, None)
    while mine is not None or theirs is not None:
        first = min(line.number for line in (mine, theirs) if line is not None)
        here = mine if mine is not None and mine.number == first else None
        there = theirs if theirs is not None and theirs.number == first else None
        yield here, there
        mine = mine if here is None else next(new, None)
        theirs = theirs if there is None else next(old, None)


def _check_lines(
    new: Iterator[_Line], old: Iterator[_Line] | None, found: _Findings, advance: Callable[[], None]
) -> int:
    """Check each line, with `old` also against the line of the same number, and return the number of histories."""
    count = last = last_old = 0
    for line, other in _paired(new, old or iter(())):
        last_old = last_old if other is None else other.number
        if line is None:
            continue
        last = line.number
        count += line.ends if line.long else bool(line.content.strip())
        if line.long or is_heavy(line.content):
            if line.ends:
                what = f"a line of more than {MAX_LINE:,} bytes, or one that takes too much memory; it was not checked"
                found.add([Finding("V007", (), what, last, 1)])
            if old is not None and other != line:
                found.add([Finding("V101", (), "differs from the original; the line is not compared further", last, 1)])
        elif line.content.strip():
            read = read_document(line.content, last)
            found.add(check_document(read))
            if other is not None and other.content != line.content:
                found.add(compare(read, read_document(other.content, last)))
        elif other is not None and other.content.strip():
            found.add([Finding("V101", (), "a blank line; the original has a history in this line", last, 1)])
        advance()
    if old is not None and last_old != last:
        found.add([Finding("V101", (), f"{last:,} lines; the original has {last_old:,}", max(last, 1), 1)])
    return count
