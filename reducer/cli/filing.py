"""`--archive` of the dry run: the originals of what it writes reduced are filed before that is written."""

from __future__ import annotations

import os

from reducer.archive import Archive, ArchiveError
from reducer.archive.between import between
from reducer.archive.entries import Entry
from reducer.cli.stop import Stop
from reducer.errors import HistoryError
from reducer.lines import lines_of
from reducer.rule import Ruleset
from reducer.stored import InputFormat


def usable(archive: str, output: str | None) -> None:
    """Check that originals can be filed, and make the archive if there is none. Raises `Stop`."""
    if output is None:
        raise Stop("--archive takes the originals of what --output writes: give --output too")
    if output != "-" and os.path.realpath(output) == os.path.realpath(archive):
        raise Stop(f"{archive}: is the archive and the output")
    try:
        Archive(archive).close()
    except ArchiveError as error:
        raise Stop(str(error)) from None


def file_history(archive: str, before: bytes, after: bytes, ruleset: Ruleset, input_format: InputFormat) -> None:
    """File the originals of what differs between a history and the same one reduced. Raises `Stop`."""
    if before is not after:
        _file(archive, list(between(before, after, lambda tool: _version(ruleset, tool), input_format)))


def file_lines(archive: str, before: bytes, after: bytes, ruleset: Ruleset, input_format: InputFormat) -> None:
    """Do what `file_history` does for each line of JSON lines. Raises `Stop`."""
    if before is after:
        return
    entries: list[Entry] = []
    for (start, end), (begin, stop) in zip(lines_of(before), lines_of(after), strict=True):
        old, new = before[start:end], after[begin:stop]
        if old != new:
            entries += between(old, new, lambda tool: _version(ruleset, tool), input_format)
    _file(archive, entries)


def _file(archive: str, entries: list[Entry]) -> None:
    if not entries:
        return
    try:
        with Archive(archive) as held:
            held.file(entries)
            held.flush()
            lost = held.failures
    except (ArchiveError, HistoryError) as error:
        raise Stop(str(error)) from None
    if lost:
        raise Stop(f"{archive}: {lost:,} {'original' if lost == 1 else 'originals'} could not be filed; what they were reduced to is not written")


def _version(ruleset: Ruleset, tool: str) -> str:
    rule = ruleset.rule_for(tool)
    return f"{rule.file}@{rule.digest}" if rule is not None else ""
