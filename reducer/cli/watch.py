"""`--watch`: a verb that runs again whenever something that it reads is saved, and tells what that changed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from reducer.cli.stop import Stop, say

_PAUSE = 0.3
"""Seconds between two looks at the files."""
_SETTLED = 0.05
"""Seconds in which nothing changed any more: an editor that saves may take a file away before it puts the new one there."""

Facts = Mapping[str, str]
"""What a run found, by name: what is compared with the run before."""
Stamps = Mapping[Path, tuple[int, int, int] | None]


class Watched(NamedTuple):
    """A verb to be watched: `run` prints what it finds and gives it, `read` gives the files that it reads, at every look anew.

    `besides` gives those that are only known from what stands in others; it is asked once after each run. All may raise `Stop`.
    """

    run: Callable[[], Facts]
    read: Callable[[], Iterable[Path]]
    besides: Callable[[], Iterable[Path]] = tuple


def watch(watched: Watched) -> NoReturn:
    """Run a verb, and again after every change of what it reads, until it is interrupted (which raises KeyboardInterrupt)."""
    last: Facts | None = None
    while True:
        if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            print("\x1b[2J\x1b[H", end="")
        # What is saved while the verb runs is a change too.
        before = _stamps((*_given(watched.read), *_given(watched.besides)))
        try:
            facts = watched.run()
        except Stop as stop:
            say(f"error: {stop}")
        else:
            if last is not None:
                print("\nSince the last run")
                print("\n".join(f"  {line}" for line in changes(last, facts)) or "  nothing changed")
            last = facts
        sys.stdout.flush()
        besides = tuple(_given(watched.besides))
        say(f"watching {len(before):,} files; Ctrl-C ends")
        before = {**_stamps(besides), **before}
        while (now := _stamps((*_given(watched.read), *besides))) == before:
            time.sleep(_PAUSE)
        while (after := _later(watched, besides)) != now:
            now = after


def changes(last: Facts, facts: Facts) -> Iterator[str]:
    """Say what is new, what is another, and what is gone since the last run."""
    for name, fact in facts.items():
        if name not in last:
            yield f"new: {name}{f': {fact}' if fact else ''}"
        elif last[name] != fact:
            yield f"{name}: {fact}, was {last[name]}"
    for name in last:
        if name not in facts:
            yield f"gone: {name}"


def _later(watched: Watched, besides: tuple[Path, ...]) -> Stamps:
    time.sleep(_SETTLED)
    return _stamps((*_given(watched.read), *besides))


def _given(files: Callable[[], Iterable[Path]]) -> Iterator[Path]:
    """Give files, none where they cannot be told: the verb itself says why."""
    with suppress(Stop, OSError):
        yield from files()


def _stamps(files: Iterable[Path]) -> Stamps:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
