"""`--watch`: run a verb again whenever one of its files changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from reducer.cli.screen import CommandError, counted, say
from reducer.errors import FileError

_INTERVAL = 0.3
"""Seconds between two checks of the files."""


def watch(run: Callable[[], object], files: Callable[[], Iterable[Path]]) -> NoReturn:
    """Call `run` now and after every change of `files`, until KeyboardInterrupt.

    Both functions may raise `CommandError` and OSError.
    """
    while True:
        if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            print("\x1b[2J\x1b[H", end="")
        before = _stamps(files)  # a change during the run counts too
        try:
            run()
        except (CommandError, FileError, OSError) as error:
            say(f"error: {error}")
        sys.stdout.flush()
        say(f"watching {counted(len(before), 'file')}; press Ctrl-C to stop")
        while _stamps(files) == before:
            time.sleep(_INTERVAL)
        time.sleep(_INTERVAL)  # an editor may delete a file before it writes the new one


def _stamps(files: Callable[[], Iterable[Path]]) -> dict[Path, tuple[int, int]]:
    """Return the modification time and the inode of each file that exists, or nothing if they cannot be listed."""
    stamps: dict[Path, tuple[int, int]] = {}
    with suppress(CommandError, FileError, OSError):
        for file in filter(Path.exists, files()):
            status = file.stat()
            stamps[file] = (status.st_mtime_ns, status.st_ino)
    return stamps
