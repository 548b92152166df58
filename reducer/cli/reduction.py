"""Reduce the histories of a run in order, in one or several processes; write them, and add up the results."""

from __future__ import annotations

import gc
import os
import signal
import threading
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from multiprocessing import get_context, parent_process
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NoReturn

from reducer.analysis.explanation import Explanation
from reducer.analysis.look import Look, LookOptions, look, look_at_lines
from reducer.analysis.report import MAX_BAD, LineSum, Report, Tally, add_lines
from reducer.cli.files import Advance, Chunk, Selection, Source, compressed, open_target, read_chunks
from reducer.cli.rules import Chosen, load
from reducer.cli.screen import CommandError, counted, say, say_skipped
from reducer.engine import prepare
from reducer.errors import HistoryError
from reducer.rules import Ruleset

_CHUNKS_AHEAD = 4
"""Chunks to read ahead per worker. A chunk of JSON lines has about 2 MB."""
Show = Callable[[str, Sequence[Explanation]], None]
"""Takes the title of a history or a line, and the reports of its returns."""
_Result = tuple[Look, Selection]
"""The result of a chunk, with the compressed output, and the names that occur in the chunk."""
_Call = tuple[Source, int, Callable[[], _Result]]
"""A chunk to reduce: its source, the position after it, and the function that returns its result."""


@dataclass(slots=True)
class Run:
    """The inputs and options of a run, and its results so far.

    `targets` maps each source to its output (None is standard output), and is empty if there is no output. `written`
    counts bytes, `errors` the sources that cannot be read.
    """

    options: Namespace
    rules: Chosen
    sources: Sequence[Source]
    targets: Mapping[Source, Path | None]
    selection: Selection
    report: Report
    written: int = 0
    errors: int = 0


def reduce_sources(run: Run, show: Show | None, advance: Advance) -> None:
    """Reduce all sources in order, and report those that cannot be read. Raises `CommandError` if writing fails.

    If `show` is given, it receives the details of each history and line, which are then not added to the report.
    """
    skipped: list[str] = []
    gc.freeze()  # the collection of garbage after each chunk skips the rules
    try:
        with closing(_calls_ahead(run)) as calls:
            for source, of_source in groupby(calls, key=itemgetter(0)):
                try:
                    with open_target(run.targets[source]) if run.targets else nullcontext() as file:
                        _reduce_source(run, source, _results(of_source, advance), show=show, file=file)
                except HistoryError as error:
                    if source.folder and str(error).startswith(f"{source.name}: not a history"):
                        skipped.append(str(error))
                    else:
                        run.errors += 1
                        say(f"error: {error}")
                else:
                    run.report.histories.append(source.name)
    except BrokenProcessPool:
        raise CommandError("a worker process ended unexpectedly; fewer --jobs need less memory") from None
    gc.unfreeze()
    say_skipped(skipped)


def _results(calls: Iterable[_Call], advance: Advance) -> Iterator[_Result]:
    for source, position, result in calls:
        yield result()
        advance(source, position)


def _reduce_source(
    run: Run, source: Source, results: Iterable[_Result], *, show: Show | None, file: IO[bytes] | None
) -> None:
    """Add up the results of one source, and write its output. Raises `HistoryError` if the source cannot be read."""
    lines = LineSum(source.name)
    for result, selection in results:
        for line, returns in result.details:
            if show is None:
                run.report.returns.extend(returns)
            else:
                whole = source.name if len(run.sources) > 1 else ""
                show(f"{source.name}:{lines.lines + line}" if line else whole, returns)
        for line, why in result.lines.first_bad[: MAX_BAD - len(lines.first_bad)]:
            say(f"{source.name}:{lines.lines + line}: {why}")
        add_lines(lines, result.lines)
        run.report.tally.merge(result.tally)
        run.selection.add(selection)
        run.written += file.write(result.output) if file is not None else 0
    if lines.bad > MAX_BAD:
        say(f"{source.name}: {lines.bad:,} bad lines in total")
    if lines.lines:
        run.report.lines.append(lines)
    if source is run.sources[-1] and not run.report.tally.tools and not run.selection.is_everything:
        raise run.selection.nothing_found()  # leaves no output


def _calls_ahead(run: Run) -> Generator[_Call]:
    """Yield a call for every chunk in order; several processes start on later chunks ahead of time."""
    if run.options.jobs == 1:
        yield from _calls(run)
        return
    waiting: deque[_Call] = deque()
    with ProcessPoolExecutor(run.options.jobs, get_context("spawn"), initializer=_start_worker) as pool:
        try:
            for call in _calls(run, pool):
                waiting.append(call)
                if len(waiting) > _CHUNKS_AHEAD * run.options.jobs:
                    yield waiting.popleft()
            yield from waiting
        finally:
            pool.shutdown(cancel_futures=True)


def _calls(run: Run, pool: ProcessPoolExecutor | None = None) -> Iterator[_Call]:
    for source in run.sources:
        chunk_options: dict[str, Any] = {"name": source.name, "target": run.targets.get(source), "options": run.options}
        try:
            for chunk in read_chunks(source):
                # Detailed results contain rules, which cannot be sent to another process.
                if pool is None or _is_detailed(run.options, chunk):
                    yield source, chunk.position, partial(reduce_chunk, chunk, run.report.ruleset, **chunk_options)
                else:
                    yield source, chunk.position, pool.submit(_reduce_in_worker, chunk, run.rules, chunk_options).result
        except CommandError as error:
            yield source, 0, partial(_refuse, str(error))


def _refuse(message: str) -> NoReturn:
    raise HistoryError(message)


def _start_worker() -> None:
    """Prepare a worker process: ignore Ctrl-C, which the main process handles, and exit with the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reduce_in_worker(chunk: Chunk, rules: Chosen, chunk_options: dict[str, Any]) -> _Result:
    return reduce_chunk(chunk, _ruleset(rules), **chunk_options)


@cache
def _ruleset(rules: Chosen) -> Ruleset:
    ruleset = load(rules)
    prepare(ruleset)
    gc.freeze()
    return ruleset


def _is_detailed(options: Namespace, chunk: Chunk) -> bool:
    """Tell whether to report what each step removed: in a diff, and in JSON for whole histories."""
    return bool(options.format == "diff" or (options.format == "json" and chunk.kind == "history"))


def reduce_chunk(chunk: Chunk, ruleset: Ruleset, *, name: str, target: Path | None, options: Namespace) -> _Result:
    """Reduce one chunk of the source `name` for the output `target`.

    Raises `HistoryError` if the chunk cannot be read, and `CommandError` if its originals cannot be archived.
    """
    selection = Selection(options.tool, options.call)
    look_options = LookOptions(
        None if selection.is_everything else selection.matches,
        _is_detailed(options, chunk),
        writes=options.output is not None,
        measured=options.measures,
        references=options.references,
        input_format=options.input_format,
    )
    if chunk.kind == "lines":
        result = look_at_lines(ruleset, chunk.content, look_options)
        # A few objects in cycles refer to whole texts; without this, 250 MB of lines accumulate.
        gc.collect()
    elif chunk.kind == "history":
        try:
            result = look(ruleset, name, chunk.content, look_options)
        except HistoryError as error:
            raise HistoryError(f"{name}: {error}") from None
    else:
        count, unchanged = int(chunk.ends), chunk.content if look_options.writes else b""
        result = Look(Tally(), LineSum("", lines=count, long=count), unchanged)
    if options.archive is not None and chunk.kind != "long line":
        _archive(options, chunk, result.output, ruleset)
    return result._replace(output=compressed(result.output, target)), selection


def _archive(options: Namespace, chunk: Chunk, output: bytes, ruleset: Ruleset) -> None:
    """Store the originals of all returns that differ between a chunk and its output. Raises `CommandError`."""
    from reducer.archive import Archive, ArchiveError  # SQLite takes time to import
    from reducer.archive.histories import entries_between

    def version(tool: str) -> str:
        rule = ruleset.rule_for(tool)
        return rule.version if rule is not None else ""

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
