"""Reduces the histories of a run one after the other, in this process or in several, writes them, and adds up what the
rules did.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, groupby
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Literal

from reducer.analysis.report import MAX_BAD, LookOptions, ReturnReport, add_lines, look, look_at_lines
from reducer.analysis.tally import LineSum, Tally
from reducer.cli.inputs import Chunk, Selection, Source, read_chunks
from reducer.cli.messages import CommandError, counted, say
from reducer.cli.outputs import compressed, make_folder, open_target
from reducer.cli.progress import Advance
from reducer.cli.rules import Chosen, load
from reducer.engine import prepare
from reducer.errors import HistoryError
from reducer.histories.lines import lines_of
from reducer.histories.stored import InputFormat
from reducer.rules import Ruleset

_TASKS_AHEAD = 4
"""Tasks per worker that are read ahead. A chunk of JSON lines has about 2 MB."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reduce a history.

    `detail` tells whether to report what each step removed: of whole `histories` only, or of `all`, lines included.
    `measured` reports what the rules cost, `references` protects what later messages mention, and `archive` is the file
    that takes the originals of what is written.
    """

    rules: Chosen
    tool: str | None
    call: str | None
    detail: Literal["none", "histories", "all"]
    measured: bool
    references: bool
    input_format: InputFormat
    archive: str | None


@dataclass(frozen=True, slots=True)
class Task:
    """One chunk to reduce; `writes` tells whether there is an output, and `target` is its file."""

    number: int
    name: str
    chunk: Chunk
    writes: bool
    target: Path | None
    settings: Settings


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a task: the sums, the compressed output, the names that occur, and details by line number.

    `lines` is None for a whole history, whose details have the line number 0. `error` tells why it is no history.
    """

    tally: Tally
    lines: LineSum | None
    output: bytes
    selection: Selection
    details: tuple[tuple[int, tuple[ReturnReport, ...]], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """What came of a run: the histories that could be read, the sums, the details that were kept, the size of each
    written file, and the errors.
    """

    histories: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    lines: list[LineSum] = field(default_factory=list)
    returns: list[ReturnReport] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that a run reads and does.

    `targets` has the output of each source (None for standard output) and is empty without outputs. `show` gets the
    details of each history or line with its name; without it, the details of whole histories are kept.
    """

    sources: Sequence[Source]
    targets: Sequence[Path | None]
    settings: Settings
    ruleset: Ruleset
    jobs: int
    show: Callable[[str, tuple[ReturnReport, ...]], None] | None
    selection: Selection


def reduce_sources(run: Run, progress: Callable[[Source], Advance]) -> Totals:
    """Reduce all sources in order; report what cannot be read and go on. Raises `CommandError` if writing fails."""
    totals = Totals()
    skipped: dict[str, list[str]] = {}
    gc.freeze()  # collecting garbage after each chunk need not look at the rules
    try:
        for number, outcomes in groupby(_outcomes(run), key=lambda pair: pair[0].number):
            source = run.sources[number]
            try:
                _reduce_source(run, source, outcomes, totals, progress(source))
            except HistoryError as error:
                if source.folder and str(error).startswith("not a history"):
                    skipped.setdefault(source.folder, []).append(f"{source.name}: {error}")
                else:
                    totals.errors.append(f"{source.name}: {error}")
                    say(f"error: {totals.errors[-1]}")
            except _UnreadableError as error:
                totals.errors.append(str(error))
                say(f"error: {error}")
    finally:
        gc.unfreeze()
    _report_skipped(skipped, run.sources, totals)
    return totals


class _UnreadableError(Exception):
    """Why a source cannot be read, or not to its end."""


_Outcomes = Iterator[tuple[Task, Result | CommandError]]


def _reduce_source(run: Run, source: Source, outcomes: _Outcomes, totals: Totals, advance: Advance) -> None:
    task, first = next(outcomes)
    if isinstance(first, CommandError):
        raise _UnreadableError(str(first))
    if first.error:
        raise HistoryError(first.error)
    tally, lines = Tally(), None if task.chunk.kind == "history" else LineSum(source.name)
    if task.target is not None:
        make_folder(task.target.parent)
    size = 0
    with open_target(task.target) if task.writes else nullcontext() as file:
        for part, result in chain([(task, first)], outcomes):
            if isinstance(result, CommandError):
                after = f", after line {lines.lines:,}" if lines is not None and lines.lines else ""
                raise _UnreadableError(f"{result}{after}")
            _take_details(run, source, result, totals, lines.lines if lines else 0)
            if lines is not None and result.lines is not None:
                _add_lines(lines, result.lines)
            tally.merge(result.tally)
            run.selection.add(result.selection)
            if file is not None:
                size += file.write(result.output)
            advance(part.chunk.position)
        if lines is not None and lines.bad > MAX_BAD:
            say(f"{source.name}: {lines.bad:,} bad lines in total")
        if task.writes and not (tally.tools or run.selection.is_everything or len(run.sources) > 1):
            raise run.selection.nothing_found()  # and leave no output
    if task.writes:
        totals.written.append(size)
    totals.histories.append(source.name)
    totals.tally.merge(tally)
    if lines is not None:
        totals.lines.append(lines)


def _take_details(run: Run, source: Source, result: Result, totals: Totals, lines_before: int) -> None:
    for line, returns in result.details:
        if run.show is None:
            totals.returns.extend(returns)
        else:
            run.show(f"{source.name}:{lines_before + line}" if line else source.name, returns)


def _add_lines(total: LineSum, more: LineSum) -> None:
    for number, why in more.first_bad[: MAX_BAD - len(total.first_bad)]:
        say(f"{total.history}:{total.lines + number}: {why}")
    add_lines(total, more)


def _report_skipped(skipped: dict[str, list[str]], sources: Sequence[Source], totals: Totals) -> None:
    """Report the JSON files in folders that contain no history; a folder with nothing else is an error."""
    for folder, files in skipped.items():
        more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        if len(files) == sum(source.folder == folder for source in sources):
            totals.errors.append(folder)
            say(f"error: {folder}: contains no history: {files[0]}{more}")
        else:
            say(f"skipped {files[0]}{more}")


def _tasks(run: Run) -> Iterator[tuple[Task, CommandError | None]]:
    """Read all sources; yield their chunks as tasks, and an error where reading fails."""
    for number, source in enumerate(run.sources):
        target = run.targets[number] if run.targets else None
        empty = Task(number, source.name, Chunk("lines", b"", 0), bool(run.targets), target, run.settings)
        try:
            for chunk in read_chunks(source):
                yield replace(empty, chunk=chunk), None
        except CommandError as error:
            yield empty, error


def _outcomes(run: Run) -> _Outcomes:
    """Yield every task with its result, in order."""
    if run.jobs == 1:
        for task, error in _tasks(run):
            yield task, error or reduce_task(task, run.ruleset)
        return
    waiting: deque[tuple[Task, Future[Result] | CommandError | None]] = deque()
    with ProcessPoolExecutor(run.jobs, get_context("spawn"), initializer=_start_worker) as pool:
        try:
            for task, error in _tasks(run):
                # Detailed results contain rules, which cannot leave their process.
                remote = error is None and (run.settings.detail == "none" or task.chunk.kind != "history")
                future = pool.submit(_reduce_in_worker, task) if remote else None
                waiting.append(
                    (replace(task, chunk=replace(task.chunk, content=b"")) if remote else task, future or error)
                )
                while len(waiting) > _TASKS_AHEAD * run.jobs:
                    yield _finished(run, *waiting.popleft())
            while waiting:
                yield _finished(run, *waiting.popleft())
        except BrokenProcessPool:
            raise CommandError("a worker process ended unexpectedly; fewer --jobs need less memory") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _finished(
    run: Run, task: Task, pending: Future[Result] | CommandError | None
) -> tuple[Task, Result | CommandError]:
    if isinstance(pending, Future):
        return task, pending.result()
    return task, pending or reduce_task(task, run.ruleset)


def _start_worker() -> None:
    """Prepare a worker process: leave Ctrl-C to the main process, end with it, and collect garbage as rarely."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reduce_in_worker(task: Task) -> Result:
    return reduce_task(task, _ruleset(task.settings.rules))


@cache
def _ruleset(rules: Chosen) -> Ruleset:
    ruleset = load(rules)
    prepare(ruleset)
    gc.freeze()  # collecting garbage after each chunk need not look at the rules
    return ruleset


def reduce_task(task: Task, ruleset: Ruleset) -> Result:
    """Reduce one chunk. Raises `CommandError` if its originals cannot be archived."""
    chunk, settings = task.chunk, task.settings
    selection = Selection(settings.tool, settings.call)
    if chunk.kind == "long line":
        lines = LineSum("", lines=int(chunk.ends), long=int(chunk.ends))
        return Result(Tally(), lines, compressed(chunk.content, task.target) if task.writes else b"", selection)
    if chunk.kind == "lines":
        result = _reduce_lines(task, ruleset, selection)
        # The few objects in cycles refer to whole texts; without this, 250 MB of lines accumulate.
        gc.collect()
    else:
        result = _reduce_history(task, ruleset, selection)
    if settings.archive is not None and not result.error:
        _archive(settings, chunk, result.output, ruleset)
    return replace(result, output=compressed(result.output, task.target) if task.writes else b"")


def _reduce_lines(task: Task, ruleset: Ruleset, selection: Selection) -> Result:
    options = replace(_options(task, selection), detailed=task.settings.detail == "all")
    found = look_at_lines(ruleset, task.chunk.content, options)
    return Result(found.tally, found.lines, found.output, selection, found.details)


def _reduce_history(task: Task, ruleset: Ruleset, selection: Selection) -> Result:
    options = replace(_options(task, selection), detailed=task.settings.detail != "none")
    try:
        found = look(ruleset, task.name, task.chunk.content, options)
    except HistoryError as error:
        return Result(Tally(), None, b"", selection, error=str(error))
    return Result(found.tally, None, found.output, selection, ((0, found.returns),) if options.detailed else ())


def _options(task: Task, selection: Selection) -> LookOptions:
    settings = task.settings
    return LookOptions(
        chosen=None if selection.is_everything else selection.matches,
        writes=task.writes,
        measured=settings.measured,
        references=settings.references,
        input_format=settings.input_format,
    )


def _archive(settings: Settings, chunk: Chunk, output: bytes, ruleset: Ruleset) -> None:
    """Store the originals of everything that differs between a chunk and its reduction. Raises `CommandError`."""
    from reducer.archive import Archive, ArchiveError  # SQLite takes time to import
    from reducer.archive.histories import entries_between

    def version(tool: str) -> str:
        rule = ruleset.rule_for(tool)
        return f"{rule.file}@{rule.digest}" if rule is not None else ""

    before = [chunk.content] if chunk.kind == "history" else _split(chunk.content)
    after = [output] if chunk.kind == "history" else _split(output)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    if not changed:
        return
    try:
        with Archive(str(settings.archive)) as archive:
            for old, new in changed:
                archive.add(list(entries_between(old, new, version, settings.input_format)))
            archive.flush()
            failures = archive.failures
    except (ArchiveError, HistoryError) as error:
        raise CommandError(str(error)) from None
    if failures:
        originals = counted(failures, "original")
        raise CommandError(f"{settings.archive}: could not store {originals}; the reduced histories are not written")


def _split(lines: bytes) -> list[bytes]:
    return [lines[start:end] for start, end in lines_of(lines)]
