"""The outputs of a run: where each goes, how it is packed, and from where an interrupted one goes on."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, NamedTuple

from reducer.cli.histories import Source
from reducer.cli.output import write
from reducer.cli.partial import Partial, Stamp, State, forget, is_left, note_done, resumable, settings_of, stamp
from reducer.cli.rules import Chosen, read_by
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop, say
from reducer.cli.targets import targets
from reducer.lines import ArchiveError, Kind, kind_of, packed
from reducer.report.tally import LineSum, Tally


class Outputs(NamedTuple):
    """For each source, by number: its file (None for standard output) and how it is packed (None for no output), its stamp, its state in
    an earlier run that is gone on with. `shared` when they are several files of one folder.
    """

    files: tuple[Path | None, ...]
    kinds: tuple[Kind | None, ...]
    stamps: Mapping[int, Stamp]
    states: Mapping[int, State]
    shared: bool

    def open(self, number: int) -> Sink | None:
        """Open the output of JSON lines; None where none is asked for. Raises `Stop`."""
        if self.kinds[number] is None:
            return None
        target = self.files[number]
        if target is None:
            sys.stdout.flush()
            return Straight("standard output", sys.stdout.buffer)
        try:
            if target.exists() and not target.is_file():
                return Straight(str(target), target.open("wb"))  # a device or a pipe cannot be replaced
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"{target}: {error.strerror or error}") from None
        return Partial(target, self.stamps.get(number), self.states.get(number))

    def write(self, number: int, content: bytes, tally: Tally) -> None:
        """Write a whole history. Raises `Stop`."""
        target = self.files[number]
        if target is not None and self.shared:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise Stop(f"{target}: {error.strerror or error}") from None
        write("-" if target is None else str(target), content)
        self.finished(number, LineSum(""), tally)

    def finished(self, number: int, lines: LineSum, tally: Tally) -> None:
        """Note that an output is whole."""
        target = self.files[number]
        if target is not None and number in self.stamps:
            if self.shared:
                note_done(target, self.stamps[number], lines, tally)
            else:
                forget(target)

    def close(self) -> None:
        """Remove what was noted for a run that goes on."""
        for target in self.files:
            if target is not None:
                forget(target)


class Straight:
    """An output that cannot be taken back: what is written is out."""

    saved: int | None = None

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self._name = name
        self._file = file
        self.written = 0

    def write(self, content: bytes) -> None:
        """Write what follows."""
        self._file.write(content)
        self.written += len(content)

    def checkpoint(self, read: int, lines: LineSum, tally: Tally) -> None:
        """Do nothing: nobody can go on here."""

    def finish(self) -> None:
        """Write what is held back."""
        self._file.flush()

    def drop(self) -> None:
        """Do nothing: it is out."""

    def close(self) -> None:
        """Do nothing: it is out."""


Sink = Partial | Straight


def outputs(output: str | None, resume: bool, sources: Sequence[Source], chosen: Chosen, selection: Selection, references: bool) -> Outputs:
    """Plan the outputs. Nothing is written yet. Raises `Stop`."""
    if output is None or not sources:
        if resume:
            raise Stop("--resume goes on with an output: it needs --output")
        return Outputs((None,) * len(sources), (None,) * len(sources), {}, {}, False)
    files = targets(output, sources, chosen.files)
    kinds = tuple(kind_of(file.name) if file else "" for file in files)
    for file, kind in zip(files, kinds, strict=True):
        try:
            packed(b"", kind)
        except ArchiveError as error:
            raise Stop(f"{file}: {error}") from None
    shared = len(files) > 1 or any(source.folder for source in sources)
    if resume and (output == "-" or sources[0].path is None):
        raise Stop("--resume needs an input and an output that are files: what went through a pipe is gone")
    stamps = _stamps(sources, files, chosen, selection, references)
    states: dict[int, State] = {}
    if resume:
        for number, now in stamps.items():
            source, target = sources[number].path, files[number]
            if source is not None and target is not None and (state := resumable(target, source, now)) is not None:
                states[number] = state
        if not states:
            say(f"{output}: there is no interrupted run to go on with; this one starts at the beginning")
    elif any(file is not None and is_left(file) for file in files):
        say(f"{output}: an interrupted run is begun anew; --resume would have gone on with it")
    return Outputs(files, kinds, stamps, states, shared)


def _stamps(sources: Sequence[Source], files: Sequence[Path | None], chosen: Chosen, selection: Selection, references: bool) -> dict[int, Stamp]:
    try:
        settings = settings_of(read_by(chosen.files), _version(), selection.tool, selection.call, references)
    except OSError:
        return {}  # a rule file that can be read once only, such as a pipe
    stamps = {}
    for number, (source, file) in enumerate(zip(sources, files, strict=True)):
        with suppress(Stop):  # who reads it will say so
            if source.path is not None and source.path.is_file() and file is not None and (file.is_file() or not file.exists()):
                stamps[number] = stamp(source.path, settings)
    return stamps


def _version() -> str:
    try:
        return version("reducer")
    except PackageNotFoundError:
        return "checkout"
