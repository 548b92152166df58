"""An output of JSON lines while it is written: a hidden file beside its place, and how far it has come, so that an interrupted run can go on.

The output gets its name when all of it is there. `.NAME.partial` holds what is written so far, `.NAME.journal` the `State` at the last
checkpoint; what the partial file has beyond that is cut off by who goes on.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reducer.cli.output import mode_of
from reducer.cli.stop import Stop
from reducer.report.tally import LineSum, Tally

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_FORMAT = 1
_HEAD = 1 << 16
_EVERY = 1.0
"""Seconds between checkpoints: each waits until the disk has what was written."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What must be the same for a run to go on: the input by its size, time and beginning, and the `settings`, a digest of all that decides."""

    size: int
    modified: int
    head: str
    settings: str


@dataclass(frozen=True, slots=True)
class State:
    """How far an output is: bytes of lines that are read and bytes of output that are written for them, and the sums so far.

    `done` when the output has its name: then only the sums matter.
    """

    format: int
    stamp: Stamp
    done: bool
    read: int
    written: int
    lines: LineSum
    tally: Tally


def stamp(source: Path, settings: str) -> Stamp:
    """Make the stamp of an input. Raises `Stop`."""
    try:
        with source.open("rb") as file:
            status = os.fstat(file.fileno())
            return Stamp(status.st_size, status.st_mtime_ns, hashlib.sha256(file.read(_HEAD)).hexdigest(), settings)
    except OSError as error:
        raise Stop(f"{source}: {error.strerror or error}") from None


def settings_of(files: Iterable[Path], *others: object) -> str:
    """Digest rule files, what they read, and whatever else decides what is written."""
    digest = hashlib.sha256(repr(others).encode())
    for file in files:
        content = file.read_bytes()
        digest.update(repr((str(file), len(content))).encode() + content)
    return digest.hexdigest()


def left(target: Path) -> State | None:
    """Give the state in which an earlier run left an output; None where there is none that can be read."""
    try:
        state = _states().validate_json(_journal(target).read_bytes())
        return state if state.format == _FORMAT else None
    except (OSError, ValueError):
        return None


def resumable(target: Path, source: Path, now: Stamp) -> State | None:
    """Give the state from which a run can go on, None where nothing was begun. Raises `Stop` where something has changed since."""
    state = left(target)
    if state is None:
        return None
    if state.stamp != now:
        same_input = state.stamp.settings != now.settings
        what = "the rules, --tool, --call, --no-references or the version of reducer have" if same_input else f"{source} has"
        raise Stop(f"{target}: {what} changed since the interrupted run; without --resume it is written anew")
    with suppress(OSError):
        if target.exists() if state.done else _partial(target).stat().st_size >= state.written:
            return state
    return None  # what was written is gone


class Partial:
    """The output `target` while it is written, from the start or from a state. Raises `Stop`."""

    def __init__(self, target: Path, now: Stamp | None, state: State | None) -> None:
        self._target = target
        self._stamp = now
        self._time = -_EVERY
        self.saved: int | None = state.lines.lines if state else None
        """The lines up to the last checkpoint; None before the first."""
        with _named(target):
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file: IO[bytes] = os.fdopen(os.open(_partial(target), flags, 0o600), "r+b")
            _lock(self._file, target)
            self._file.truncate(state.written if state else 0)
            self.written = self._file.seek(0, os.SEEK_END)
            if state is None:
                _journal(target).unlink(missing_ok=True)

    def write(self, content: bytes) -> None:
        """Write what follows."""
        with _named(self._target):
            self._file.write(content)
        self.written += len(content)

    def checkpoint(self, read: int, lines: LineSum, tally: Tally) -> None:
        """Note how far it is, if the last time is a while ago."""
        if self._stamp is not None and time.monotonic() - self._time >= _EVERY:
            with _named(self._target):
                self._file.flush()
                os.fsync(self._file.fileno())
                _save(self._target, State(_FORMAT, self._stamp, False, read, self.written, lines, tally))
            self._time = time.monotonic()
            self.saved = lines.lines

    def finish(self) -> None:
        """Give it its name. The journal stays until `forget`."""
        with _named(self._target):
            self._file.flush()
            os.fsync(self._file.fileno())
            target = self._target.resolve()  # a link stays a link: what it leads to is replaced
            os.chmod(_partial(self._target), mode_of(target))
            os.replace(_partial(self._target), target)
            self._file.close()

    def drop(self) -> None:
        """Leave nothing of it behind."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            _partial(self._target).unlink(missing_ok=True)
        forget(self._target)

    def close(self) -> None:
        """Leave it for a run that goes on."""
        with suppress(OSError):
            self._file.close()


def note_done(target: Path, now: Stamp, lines: LineSum, tally: Tally) -> None:
    """Note that an output is finished while others of the same run are not."""
    _save(target, State(_FORMAT, now, True, 0, 0, lines, tally))


def is_left(target: Path) -> bool:
    """Tell whether an earlier run left something of an output."""
    return _journal(target).exists() or _partial(target).exists()


def forget(target: Path) -> None:
    """Remove the journal of an output."""
    with suppress(OSError):
        _journal(target).unlink(missing_ok=True)


def _save(target: Path, state: State) -> None:
    journal = _journal(target)
    fresh = journal.with_name(f"{journal.name}.new")
    fresh.write_bytes(_states().dump_json(state))
    os.replace(fresh, journal)


@cache
def _states() -> TypeAdapter[State]:
    from pydantic import TypeAdapter

    return TypeAdapter(State)


def _partial(target: Path) -> Path:
    return _beside(target, "partial")


def _journal(target: Path) -> Path:
    return _beside(target, "journal")


def _beside(target: Path, what: str) -> Path:
    target = target.resolve()
    name = os.fsencode(target.name)
    # A name may have 255 bytes.
    return target.with_name(f".{target.name if len(name) <= 220 else hashlib.sha256(name).hexdigest()}.{what}")


@contextmanager
def _named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Stop(f"{target}: {error.strerror or error}") from None


def _lock(file: IO[bytes], target: Path) -> None:
    # Two runs that write the same output would mix theirs. Where there are no such locks the last one wins.
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return
    locking: Callable[[int, int], None] = flock
    try:
        locking(file.fileno(), LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise Stop(f"{target}: another run is writing it") from None
    except OSError:
        return
