"""Reduces the histories of a run in order, in one process or several, writes them, and adds up what the rules did."""

from __future__ import annotations

import gc
import os
import signal
import threading
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from multiprocessing import get_context, parent_process
from operator import itemgetter
from pathlib import Path
from typing import IO, NamedTuple

from reducer.analysis.look import LinesLook, LookOptions, look, look_at_lines
from reducer.analysis.report import MAX_BAD, LineSum, ReturnReport, Tally, add_lines
from reducer.cli.inputs import Advance, Chunk, Selection, Source, read_chunks
from reducer.cli.messages import CommandError, counted, say, say_skipped
from reducer.cli.outputs import compressed, open_target
from reducer.cli.rules import Chosen, load
from reducer.engine import prepare
from reducer.errors import HistoryError
from reducer.rules import Ruleset

_TASKS_AHEAD = 4
"""Tasks per worker that are read ahead. A chunk of JSON lines has about 2 MB."""


@dataclass(frozen=True, slots=True)
class Task:
    """One chunk of a source to reduce with the arguments of `run`; `target` is the file of its output, if any."""

    options: Namespace
    rules: Chosen
    name: str
    target: Path | None
    chunk: Chunk

    @property
    def is_detailed(self) -> bool:
        """Tell whether to report what each step removed: in a diff, and of whole histories in JSON."""
        form = self.options.format
        return bool(form == "diff" or (form == "json" and self.chunk.kind == "history"))


class Result(NamedTuple):
    """What came of a task: how many bytes of the file were read, what the rules did, and the names that occur.

    `found` has the compressed output. A whole history has no lines, and its details have the line number 0.
    """

    position: int
    found: LinesLook
    selection: Selection


@dataclass(slots=True)
class Totals:
    """The sums of a run, the details of whole histories, and the numbers of written files and bytes and of errors."""

    selection: Selection
    histories: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    lines: list[LineSum] = field(default_factory=list)
    returns: list[ReturnReport] = field(default_factory=list)
    written: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What a run reads and does.

    `targets` has the output of each source (None for standard output) and is empty without outputs. `show` gets the
    details of each history or line with its title; without it, the details of whole histories are kept.
    """

    options: Namespace
    rules: Chosen
    ruleset: Ruleset
    sources: Sequence[Source]
    targets: Sequence[Path | None]
    progress: Callable[[Source], Advance]
    show: Callable[[str, tuple[ReturnReport, ...]], None] | None = None


def reduce_sources(run: Run) -> Totals:
    """Reduce all sources in order; report what cannot be read and go on. Raises `CommandError` if writing fails."""
    totals = Totals(Selection(run.options.tool, run.options.call))
    skipped: list[tuple[str, str]] = []
    gc.freeze()  # collecting garbage after each chunk need not look at the rules
    for number, results in groupby(_results(run), key=itemgetter(0)):
        source = run.sources[number]
        try:
            with open_target(run.targets[number]) if run.targets else nullcontext() as file:
                _add_results(run, source, (result for _, result in results), totals=totals, file=file)
        except HistoryError as error:
            why = str(error).removeprefix(f"{source.name}: ")
            if source.folder and why.startswith("not a history"):
                skipped.append((source.name, why))
            else:
                totals.errors += 1
                say(f"error: {error}")
        else:
            totals.histories.append(source.name)
    gc.unfreeze()
    say_skipped(skipped)
    return totals


def _add_results(
    run: Run, source: Source, results: Iterable[Result | str], *, totals: Totals, file: IO[bytes] | None
) -> None:
    """Add up the results of one source, and write their outputs. Raises `HistoryError` if it cannot be read."""
    advance = run.progress(source)
    lines = LineSum(source.name)
    for result in results:
        if isinstance(result, str):
            raise HistoryError(result)
        found = result.found
        for line, returns in found.details:
            if run.show is None:
                totals.returns.extend(returns)
            else:
                whole = source.name if len(run.sources) > 1 else ""
                run.show(f"{source.name}:{lines.lines + line}" if line else whole, returns)
        for line, why in found.lines.first_bad[: MAX_BAD - len(lines.first_bad)]:
            say(f"{source.name}:{lines.lines + line}: {why}")
        add_lines(lines, found.lines)
        totals.tally.merge(found.tally)
        totals.selection.add(result.selection)
        totals.written += file.write(found.output) if file is not None else 0
        advance(result.position)
    if lines.bad > MAX_BAD:
        say(f"{source.name}: {lines.bad:,} bad lines in total")
    if lines.lines:
        totals.lines.append(lines)
    if source is run.sources[-1] and not totals.tally.tools and not totals.selection.is_everything:
        raise totals.selection.nothing_found()  # and leave no output


def _tasks(run: Run) -> Iterator[tuple[int, Task]]:
    """Read all sources; yield each chunk as a task with the number of its source."""
    for number, source in enumerate(run.sources):
        target = run.targets[number] if run.targets else None
        task = partial(Task, run.options, run.rules, source.name, target=target)
        try:
            for chunk in read_chunks(source):
                yield number, task(chunk=chunk)
        except CommandError as error:
            yield number, task(chunk=Chunk("unreadable", str(error).encode(), 0))


def _results(run: Run) -> Iterator[tuple[int, Result | str]]:
    """Yield the result of every task with the number of its source, in order."""
    if run.options.jobs == 1:
        yield from ((number, reduce_task(task, run.ruleset)) for number, task in _tasks(run))
        return
    waiting: deque[tuple[int, Callable[[], Result | str]]] = deque()
    with ProcessPoolExecutor(run.options.jobs, get_context("spawn"), initializer=_start_worker) as pool:
        try:
            for number, task in _tasks(run):
                # Detailed results contain rules, which cannot leave their process.
                here = partial(reduce_task, task, run.ruleset)
                waiting.append((number, here if task.is_detailed else pool.submit(_reduce_in_worker, task).result))
                if len(waiting) > _TASKS_AHEAD * run.options.jobs:
                    first, result = waiting.popleft()
                    yield first, result()
            for number, result in waiting:
                yield number, result()
        except BrokenProcessPool:
            raise CommandError("a worker process ended unexpectedly; fewer --jobs need less memory") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    """Prepare a worker process: leave Ctrl-C to the main process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reduce_in_worker(task: Task) -> Result | str:
    return reduce_task(task, _ruleset(task.rules))


@cache
def _ruleset(rules: Chosen) -> Ruleset:
    ruleset = load(rules)
    prepare(ruleset)
    gc.freeze()
    return ruleset


def reduce_task(task: Task, ruleset: Ruleset) -> Result | str:
    """Reduce one chunk, or return why it cannot be read. Raises `CommandError` if its originals cannot be archived."""
    chunk, options = task.chunk, task.options
    selection = Selection(options.tool, options.call)
    asked = LookOptions(
        None if selection.is_everything else selection.matches,
        task.is_detailed,
        writes=options.output is not None,
        measured=options.measures,
        references=options.references,
        input_format=options.input_format,
    )
    found = LinesLook(Tally(), LineSum(""), chunk.content if asked.writes else b"", ())
    try:
        if chunk.kind == "unreadable":
            return chunk.content.decode()
        if chunk.kind == "long line":
            found.lines.lines = found.lines.long = int(chunk.ends)
        elif chunk.kind == "lines":
            found = look_at_lines(ruleset, chunk.content, asked)
            # The few objects in cycles refer to whole texts; without this, 250 MB of lines accumulate.
            gc.collect()
        else:
            tally, returns, output = look(ruleset, task.name, chunk.content, asked)
            found = LinesLook(tally, found.lines, output, ((0, returns),))
    except HistoryError as error:
        return f"{task.name}: {error}"
    if options.archive is not None and chunk.kind != "long line":
        _archive(options, chunk, found.output, ruleset)
    return Result(chunk.position, found._replace(output=compressed(found.output, task.target)), selection)


def _archive(options: Namespace, chunk: Chunk, output: bytes, ruleset: Ruleset) -> None:
    """Store the originals of everything that differs between a chunk and its reduction. Raises `CommandError`."""
    from reducer.archive import Archive, ArchiveError  # SQLite takes time to import
    from reducer.archive.histories import entries_between

    def version(tool: str) -> str:
        rule = ruleset.rule_for(tool)
        return f"{rule.file}@{rule.digest}" if rule is not None else ""

    texts = [text.split(b"\n") if chunk.kind == "lines" else [text] for text in (chunk.content, output)]
    try:
        with Archive(str(options.archive)) as archive:
            for old, new in zip(*texts, strict=True):
                if old != new:
                    archive.add(list(entries_between(old, new, version, options.input_format)))
            archive.flush()
            failures = archive.failures
    except ArchiveError as error:
        raise CommandError(str(error)) from None
    if failures:
        originals = counted(failures, "original")
        raise CommandError(f"{options.archive}: could not store {originals}; the reduced histories are not written")
