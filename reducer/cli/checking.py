"""What `validate` finds in one source: a whole history, or JSON lines read piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

from reducer.cli.histories import Source
from reducer.cli.stop import Stop
from reducer.lines import MAX_LINE, ArchiveError, Stream, are_lines, cut, is_heavy, is_lines_name, lines_of, open_archive
from reducer.validate import validated
from reducer.validate.against import compared, compared_one
from reducer.validate.document import document, documents
from reducer.validate.finding import Finding
from reducer.validate.views import Checked


class _Line(NamedTuple):
    """A line by its number, from 1, or a part of a `long` one, its last if it `ends`."""

    number: int
    content: bytes
    long: bool = False
    ends: bool = True


def check(source: Source, original: Source | None, kept: int, look: Callable[[int], None] | None) -> Checked:
    """Check a source, with an `original` also that it is a reduction of that. Of each code `kept` findings are kept, the others are counted.

    `look` hears how many bytes of the file are done. Raises `Stop`.
    """
    found = _Found(kept)
    with ExitStack() as files:
        file = files.enter_context(source.opened())
        stream = _unpacked(source, file)
        try:
            in_lines = is_lines_name(source.name) or are_lines(stream)
            whole = b"" if in_lines else stream.read()
        except (OSError, ArchiveError) as error:
            raise _stop(source, error) from None
        if in_lines:
            old = None if original is None else _lines(original, _unpacked(original, files.enter_context(original.opened())))
            count = _check_lines(_lines(source, stream), old, found, lambda: look(file.at) if look is not None else None)
        else:
            count = _check_whole(whole, None if original is None else original.read(), found)
    return Checked(source.name, count, found.kept, found.counts)


def _unpacked(source: Source, file: Stream) -> Stream:
    try:
        return open_archive(file)
    except (OSError, ArchiveError) as error:
        raise _stop(source, error) from None


def _stop(source: Source, error: Exception) -> Stop:
    return Stop(f"{source.name}: {getattr(error, 'strerror', None) or error}")


class _Found:
    """What was found so far."""

    def __init__(self, most: int) -> None:
        self.kept: list[Finding] = []
        self.counts: Counter[str] = Counter()
        self._most = most

    def add(self, findings: list[Finding]) -> None:
        """Count findings, and keep those that are among the first of their code."""
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= self._most:
                self.kept.append(finding)


def _check_whole(stored: bytes, original: bytes | None, found: _Found) -> int:
    new = list(documents(stored))
    for one in new:
        found.add(validated(one))
    if original is not None and stored != original:
        found.add(compared(new, original))
    return len(new)


def _lines(source: Source, stream: Stream) -> Iterator[_Line]:
    """Give the lines of a source, those that are too long in parts. Raises `Stop`."""
    number = 0
    try:
        for piece in cut(stream):
            if piece.long:
                yield _Line(number + 1, piece.content, True, piece.ends)
                number += piece.ends
                continue
            for start, end in lines_of(piece.content):
                number += 1
                yield _Line(number, piece.content[start:end])
    except (OSError, ArchiveError) as error:
        raise _stop(source, error) from None


def _paired(new: Iterator[_Line], old: Iterator[_Line]) -> Iterator[tuple[_Line | None, _Line | None]]:
    """Give lines, and parts of them, with those of the same number."""
    mine, theirs = next(new, None), next(old, None)
    while mine is not None or theirs is not None:
        first = min(line.number for line in (mine, theirs) if line is not None)
        here = mine if mine is not None and mine.number == first else None
        there = theirs if theirs is not None and theirs.number == first else None
        yield here, there
        mine = mine if here is None else next(new, None)
        theirs = theirs if there is None else next(old, None)


def _check_lines(new: Iterator[_Line], old: Iterator[_Line] | None, found: _Found, look: Callable[[], None]) -> int:
    """Check each line, and with `old` against the line of the same number there. Gives how many histories there are: blank lines are none."""
    count = lines = theirs = 0
    for line, other in _paired(new, old or iter(())):
        theirs = theirs if other is None else other.number
        if line is None:
            continue
        lines = line.number
        if line.long or is_heavy(line.content):
            if line.ends:
                count += 1
                what = f"a line of more than {MAX_LINE:,} bytes, or one that takes too much memory: it was not looked into"
                found.add([Finding("V007", (), what, lines, 1)])
            if old is not None and other != line:
                found.add([Finding("V102", (), "other bytes than in the original; they were not looked into", lines, 1)])
        elif line.content.strip():
            count += 1
            read = document(line.content, lines)
            found.add(validated(read))
            if other is not None and other.content != line.content:
                found.add(compared_one(document(other.content, lines), read))
        elif other is not None and other.content.strip():
            found.add([Finding("V101", (), "a blank line; that of the original is none", lines, 1)])
        look()
    if old is not None and theirs != lines:
        found.add([Finding("V101", (), f"{lines:,} lines; the original has {theirs:,}", max(lines, 1), 1)])
    return count
