"""Reduces the histories of a run in order, in one process or several, writes them, and adds up what the rules did."""

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
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from multiprocessing import get_context, parent_process
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NoReturn

from reducer.analysis.look import LinesLook, LookOptions, look, look_at_lines
from reducer.analysis.report import MAX_BAD, LineSum, ReturnReport, Tally, add_lines
from reducer.cli.files import Advance, Chunk, Selection, Source, compressed, open_target, read_chunks
from reducer.cli.rules import Chosen, load
from reducer.cli.screen import CommandError, counted, say, say_skipped
from reducer.engine import prepare
from reducer.errors import HistoryError
from reducer.rules import Ruleset

_CHUNKS_AHEAD = 4
"""Chunks per worker that are read ahead. A chunk of JSON lines has about 2 MB."""
Show = Callable[[str, Sequence[ReturnReport]], None]
"""Takes the title of a history or a line, and what the rules did to its returns."""
_Result = tuple[LinesLook, Selection]
"""What the rules did to a chunk, with the compressed output, and the names that occur in it."""
_Call = tuple[Source, int, Callable[[], _Result]]
"""A chunk to reduce: its source, how many bytes of the source were read, and the function that returns the result."""


@dataclass(slots=True)
class Run:
    """What a run reads and does, and what came of it.

    `targets` has the output of each source (None for standard output), and is empty without outputs. `returns` has the
    details of whole histories, `written` the number of bytes, `errors` the number of sources that cannot be read.
    """

    options: Namespace
    rules: Chosen
    ruleset: Ruleset
    sources: Sequence[Source]
    targets: Mapping[Source, Path | None]
    selection: Selection
    histories: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    lines: list[LineSum] = field(default_factory=list)
    returns: list[ReturnReport] = field(default_factory=list)
    written: int = 0
    errors: int = 0


def reduce_sources(run: Run, show: Show | None, advance: Advance) -> None:
    """Reduce all sources in order; report what cannot be read and go on. Raises `CommandError` if writing fails.

    `show` gets the details of each history and line instead of `run.returns`.
    """
    skipped: list[str] = []
    gc.freeze()  # collecting garbage after each chunk need not look at the rules
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
                    run.histories.append(source.name)
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
    """Add up the results of one source, and write their outputs. Raises `HistoryError` if it cannot be read."""
    lines = LineSum(source.name)
    for found, selection in results:
        for line, returns in found.details:
            if show is None:
                run.returns.extend(returns)
            else:
                whole = source.name if len(run.sources) > 1 else ""
                show(f"{source.name}:{lines.lines + line}" if line else whole, returns)
        for line, why in found.lines.first_bad[: MAX_BAD - len(lines.first_bad)]:
            say(f"{source.name}:{lines.lines + line}: {why}")
        add_lines(lines, found.lines)
        run.tally.merge(found.tally)
        run.selection.add(selection)
        run.written += file.write(found.output) if file is not None else 0
    if lines.bad > MAX_BAD:
        say(f"{source.name}: {lines.bad:,} bad lines in total")
    if lines.lines:
        run.lines.append(lines)
    if source is run.sources[-1] and not run.tally.tools and not run.selection.is_everything:
        raise run.selection.nothing_found()  # and leave no output


def _calls_ahead(run: Run) -> Generator[_Call]:
    """Yield a call for every chunk in order; with several processes, some chunks are reduced ahead."""
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
        about: dict[str, Any] = {"name": source.name, "target": run.targets.get(source), "options": run.options}
        try:
            for chunk in read_chunks(source):
                # Detailed results contain rules, which cannot leave their process.
                if pool is None or _is_detailed(run.options, chunk):
                    yield source, chunk.position, partial(reduce_chunk, chunk, run.ruleset, **about)
                else:
                    yield source, chunk.position, pool.submit(_reduce_in_worker, chunk, run.rules, about).result
        except CommandError as error:
            yield source, 0, partial(_refuse, str(error))


def _refuse(message: str) -> NoReturn:
    raise HistoryError(message)


def _start_worker() -> None:
    """Prepare a worker process: leave Ctrl-C to the main process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reduce_in_worker(chunk: Chunk, rules: Chosen, about: dict[str, Any]) -> _Result:
    return reduce_chunk(chunk, _ruleset(rules), **about)


@cache
def _ruleset(rules: Chosen) -> Ruleset:
    ruleset = load(rules)
    prepare(ruleset)
    gc.freeze()
    return ruleset


def _is_detailed(options: Namespace, chunk: Chunk) -> bool:
    """Tell whether to report what each step removed: in a diff, and of whole histories in JSON."""
    return bool(options.format == "diff" or (options.format == "json" and chunk.kind == "history"))


def reduce_chunk(chunk: Chunk, ruleset: Ruleset, *, name: str, target: Path | None, options: Namespace) -> _Result:
    """Reduce one chunk of the source `name` for the file `target`.

    Raises `HistoryError` if it cannot be read, and `CommandError` if its originals cannot be archived.
    """
    selection = Selection(options.tool, options.call)
    asked = LookOptions(
        None if selection.is_everything else selection.matches,
        _is_detailed(options, chunk),
        writes=options.output is not None,
        measured=options.measures,
        references=options.references,
        input_format=options.input_format,
    )
    if chunk.kind == "lines":
        found = look_at_lines(ruleset, chunk.content, asked)
        # The few objects in cycles refer to whole texts; without this, 250 MB of lines accumulate.
        gc.collect()
    elif chunk.kind == "history":
        try:
            tally, returns, output = look(ruleset, name, chunk.content, asked)
        except HistoryError as error:
            raise HistoryError(f"{name}: {error}") from None
        found = LinesLook(tally, LineSum(""), output, ((0, returns),))
    else:
        count = int(chunk.ends)
        found = LinesLook(Tally(), LineSum("", lines=count, long=count), chunk.content if asked.writes else b"", ())
    if options.archive is not None and chunk.kind != "long line":
        _archive(options, chunk, found.output, ruleset)
    return found._replace(output=compressed(found.output, target)), selection


def _archive(options: Namespace, chunk: Chunk, output: bytes, ruleset: Ruleset) -> None:
    """Store the originals of everything that differs between a chunk and its reduction. Raises `CommandError`."""
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
