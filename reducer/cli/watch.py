"""`--watch`: runs a verb again whenever a file that it reads changes, and shows what is different."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from reducer.cli.messages import CommandError, counted, say

_INTERVAL = 0.3
"""Seconds between two looks at the files."""
_QUIET = 0.05
"""Seconds without a change after which a file is complete: an editor may delete a file before it writes the new one."""

Facts = Mapping[str, str]
"""What a run found, by name; compared with the previous run."""
Stamps = Mapping[Path, tuple[int, int, int] | None]


@dataclass(frozen=True, slots=True)
class Watched:
    """A verb to watch: `run` prints and returns what it finds, `files` returns what it reads, at every look.

    `other_files` returns files that rules name; it is called once after each run. All may raise `CommandError`.
    """

    run: Callable[[], Facts]
    files: Callable[[], Iterable[Path]]
    other_files: Callable[[], Iterable[Path]] = tuple


def watch(watched: Watched) -> NoReturn:
    """Run a verb, and again after every change of its files, until KeyboardInterrupt."""
    last: Facts | None = None
    while True:
        if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            print("\x1b[2J\x1b[H", end="")
        # A change during the run counts too.
        before = _stamps((*_existing(watched.files), *_existing(watched.other_files)))
        try:
            facts = watched.run()
        except CommandError as error:
            say(f"error: {error}")
        else:
            if last is not None:
                print("\nSince the last run")
                print("\n".join(f"  {line}" for line in changes(last, facts)) or "  no changes")
            last = facts
        sys.stdout.flush()
        others = tuple(_existing(watched.other_files))
        say(f"watching {counted(len(before), 'file')}; Ctrl-C ends")
        before = {**_stamps(others), **before}
        while (now := _stamps((*others, *_existing(watched.files)))) == before:
            time.sleep(_INTERVAL)
        while (later := _later(watched, others)) != now:
            now = later


def changes(last: Facts, facts: Facts) -> Iterator[str]:
    """Yield what is new, different and gone since the last run."""
    for name, fact in facts.items():
        if name not in last:
            yield f"new: {name}{f': {fact}' if fact else ''}"
        elif last[name] != fact:
            yield f"{name}: {fact}, was {last[name]}"
    for name in last:
        if name not in facts:
            yield f"gone: {name}"


def _later(watched: Watched, others: tuple[Path, ...]) -> Stamps:
    time.sleep(_QUIET)
    return _stamps((*others, *_existing(watched.files)))


def _existing(files: Callable[[], Iterable[Path]]) -> Iterator[Path]:
    """Yield files; nothing if they cannot be determined, which the verb itself reports."""
    with suppress(CommandError, OSError):
        yield from files()


def _stamps(files: Iterable[Path]) -> Stamps:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
