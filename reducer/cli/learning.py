"""Rules learned on the command line: reads histories, prints what was learned, and writes the drafts, all of them or none."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from reducer.cli.contest import each_history
from reducer.cli.histories import Source, gathered
from reducer.cli.progress import progress
from reducer.cli.stop import Stop, say
from reducer.cli.verbs.check import found
from reducer.errors import HistoryError
from reducer.learn.draft import Draft, drafted
from reducer.learn.evidence import Recorded, recorded
from reducer.learn.lesson import learn
from reducer.report.lessons import as_json, print_learned

_TOLD = 3


class Learning(NamedTuple):
    """What the command line asks for."""

    histories: tuple[str, ...]
    output: str | None
    keep: float
    holdout: float
    format: str


def learning(options: Learning) -> int:
    """Print what was learned, write the drafts if asked to, and give the exit code. Raises `Stop`."""
    sources, faults = gathered(options.histories)
    histories, skipped = _read(sources)
    for name, why in skipped[:_TOLD]:
        say(f"skipped {name}: {why}")
    if len(skipped) > _TOLD:
        say(f"skipped {len(skipped) - _TOLD:,} more")
    if not histories:
        raise Stop(f"no history in {', '.join(options.histories)}")
    learned = learn(histories, options.keep, options.holdout)
    drafts = list(drafted(learned))
    if options.output is not None and drafts:
        _write(Path(options.output), drafts)
    if options.format == "json":
        print(as_json(learned, len(skipped), [draft.file for draft in drafts] if options.output else []))
    else:
        print_learned(learned, len(skipped), sys.stdout)
    if options.output is not None and drafts:
        say(f"wrote {len(drafts):,} {'rule' if len(drafts) == 1 else 'rules'} to {options.output}")
    elif not drafts:
        say("nothing to draft: the evidence is too thin, or there is nothing to save")
    return 2 if faults else 0 if drafts else 1


def _read(sources: list[Source]) -> tuple[list[Recorded], list[tuple[str, str]]]:
    """Read what is a history; give besides what is none, with the reason."""
    read: list[Recorded] = []
    skipped: list[tuple[str, str]] = []
    last = -1
    with progress(sources) as watching:
        for number, name, content, position in each_history(sources, skipped):
            try:
                read.append(recorded(_group(sources[number]), content))
            except (HistoryError, ValueError) as error:
                skipped.append((name, str(error)))
            for source in sources[last + 1 : number + 1]:
                watch = watching(source)
            last = max(last, number)
            if watch is not None:
                watch(position)
    return read, skipped


def _group(source: Source) -> str:
    """Name the source that a history counts for: the folder below the one that was given, else the folder that it is in."""
    if source.path is None:
        return source.name
    if source.folder:
        below = source.path.relative_to(source.folder).parts
        if len(below) > 1:
            return below[0]
    return source.path.absolute().parent.name or "histories"


def _write(folder: Path, drafts: Sequence[Draft]) -> None:
    """Write the drafts to a folder that has none of their files yet, by way of another one beside it. Raises `Stop`."""
    names = [name for draft in drafts for name in (draft.file, draft.sample_file) if name]
    there = [name for name in names if os.path.lexists(folder / name)]
    if there:
        raise Stop(f"{folder}: {', '.join(there[:_TOLD])}{' and more' if len(there) > _TOLD else ''} exist already; files are never replaced")
    try:
        if folder.exists() and not folder.is_dir():
            raise Stop(f"{folder}: is no folder")
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{folder.name[:100]}.", suffix=".tmp", dir=folder.absolute().parent))
    except OSError as error:
        raise Stop(f"{folder}: {error.strerror or error}") from None
    try:
        (staged / "samples").mkdir()
        for draft in drafts:
            (staged / draft.file).write_text(draft.text, encoding="utf-8", newline="\n")
            if draft.sample_file:
                (staged / draft.sample_file).write_text(draft.sample, encoding="utf-8", newline="\n")
        _check(folder, staged)
        _move(names, staged, folder)
    except OSError as error:
        raise Stop(f"{folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _check(folder: Path, staged: Path) -> None:
    """Check the drafts as they stand, and beside the rules that are in the folder already. Raises `Stop` with what is wrong."""
    beside = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml")) if folder.is_dir() else []
    drafts = sorted(staged.glob("*.yaml"))
    # Warnings of the rules that are there already are none of the drafts'.
    mine = [one for one in found([*drafts, *beside]) if one.severity == "error" or one.location.file.startswith(str(staged))]
    if mine:
        raise Stop(f"{folder}: {str(mine[0]).replace(str(staged), str(folder))}\nnothing was written")


def _move(names: Iterable[str], staged: Path, folder: Path) -> None:
    """Move files to where none of their name may be; if one is, or the disk fails, none is moved."""
    made = [path for path in (folder, folder / "samples") if not path.exists()]
    moved: list[Path] = []
    try:
        (folder / "samples").mkdir(parents=True, exist_ok=True)
        for name in names:
            with (staged / name).open("rb") as source, (folder / name).open("xb") as target:
                moved.append(folder / name)
                shutil.copyfileobj(source, target)
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise
