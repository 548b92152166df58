"""The implementation of `run`: reduce histories in order, in one or several processes, write them, and report."""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import groupby
from multiprocessing import get_context, parent_process
from operator import itemgetter
from pathlib import Path
from typing import NoReturn, TextIO

from reducer.analysis.explanation import Explanation
from reducer.analysis.json_report import report_as_json, rule_texts
from reducer.analysis.look import Look, LookOptions, look, look_at_lines
from reducer.analysis.measures import Measures
from reducer.analysis.report import Attention, LineSum, Report, add_lines, attention
from reducer.api import Reducer
from reducer.cli.inputs import Problems, nothing_found, sources_or_sample
from reducer.cli.outputs import check_targets, open_target, targets, write
from reducer.cli.screen import CommandError, console, counted, print_json, say, say_skipped, version
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.diff import print_returns
from reducer.cli.views.report import print_end, print_head, print_table, share
from reducer.errors import FileError, HistoryError
from reducer.inputs import tables
from reducer.inputs.chunks import Chunk, read_chunks
from reducer.inputs.compression import compressed
from reducer.inputs.recorded import ALL, Selection
from reducer.inputs.sources import ENDINGS, Source
from reducer.workbench.page import report_page

_CHUNKS_AHEAD = 2
"""Chunks to read ahead per worker: about 2 MB of JSON lines, or a row group."""
_Call = tuple[Source, Callable[[], Look]]
"""The source of a chunk, and the function that reduces it."""


@dataclass(slots=True)
class _Run:
    """The inputs and options of a run, and its results so far.

    `targets` maps each source to its output (None is standard output), and is empty if there is no output. `show` takes
    the title and the returns of each history and line. `written` counts bytes.
    """

    options: Namespace
    reducer: Reducer
    sources: Sequence[Source]
    targets: Mapping[Source, Path | None]
    selection: Selection
    report: Report
    show: Callable[[str, Sequence[Explanation]], None]
    problems: Problems = field(default_factory=partial(Problems, "; for one sample, add --tool NAME, or use `try`"))
    written: int = 0


def dry_run(options: Namespace) -> int:
    """Reduce, write and report histories; return the exit code. Raises `CommandError` and OSError."""
    # With the reduced history on standard output, the report goes to standard error.
    stream = sys.stderr if options.writes and options.output == "-" else sys.stdout
    run = _prepare(options, stream)
    _reduce_sources(run)
    said = say_skipped(run.problems.skipped)
    report = run.report
    if not report.histories:
        if not run.problems.errors:
            raise CommandError(f"no history in {', '.join(options.histories)}")
        return 2
    needs = attention(report)
    _print_report(options, report, needs, stream, said)
    if run.targets and options.output != "-":
        say(f"wrote {options.output}, {run.written:,} bytes")
    is_too_low = _is_below(options.fail_under, report)
    has_bad_lines = any(lines.bad for lines in report.lines if lines.noun == "line")
    has_failed = is_too_low or has_bad_lines or (options.strict and needs)
    return 2 if run.problems.errors else 1 if has_failed else 0


def _print_report(options: Namespace, report: Report, needs: Sequence[Attention], stream: TextIO, said: int) -> None:
    if options.format == "html":
        trees = [entry.tree for entry in report.returns]
        made = {"by": f"reducer {version()}", "on": date.today().isoformat()}
        page = report_page(report_as_json(report, needs), trees, rule_texts(report), made)
        write(None if options.output in (None, "-") else Path(options.output), page)
    elif options.format == "json":
        print_json(report_as_json(report, needs), stream)
    elif options.format == "diff":
        print_end(report, needs, stream, options.verbose)
    else:
        print_table(report, needs, stream, options.verbose, said)


def _prepare(options: Namespace, stream: TextIO) -> _Run:
    """Load the rules, and find the inputs and outputs. Raises `CommandError` and OSError."""
    chosen = choose_rules(options.rules, for_sample=not options.histories)
    reducer = Reducer(load(chosen), chosen.sources)
    sources = sources_or_sample(options.histories, (*ENDINGS, tables.ENDING) if options.column else ENDINGS)
    has_parquet = any(map(tables.is_parquet, sources))
    if options.column and not has_parquet:
        raise CommandError("--column requires Parquet files (.parquet)")
    written: Mapping[Source, Path | None] = {}
    if options.writes:
        archive = [] if options.archive is None else [Path(options.archive)]
        written = targets(options.output, sources, [*chosen.files, *archive])
    elif options.output not in (None, "-"):
        check_targets([Path(options.output)], sources, chosen.files)
    if options.archive is not None:
        _check_archive(options, has_parquet)
    selection = Selection(options.tool, options.call)
    report = Report(chosen.name, reducer.ruleset, whole=selection == ALL, references=options.references)
    run = _Run(options, reducer, sources, written, selection, report, lambda _, returns: report.returns.extend(returns))
    if options.format == "diff":
        screen = console(stream)
        print_head(replace(report, histories=[source.name for source in sources]), screen)
        run.show = partial(print_returns, whole=report.whole, screen=screen)
    return run


def _check_archive(options: Namespace, has_parquet: bool) -> None:
    """Create the archive if it does not exist. Raises `CommandError` and `ArchiveError` if it cannot be used."""
    if not options.writes:
        raise CommandError("--archive stores the originals of the histories that --output writes; add --output")
    if has_parquet:
        raise CommandError("--archive does not support Parquet files, because `restore` cannot read them")
    from reducer.archive import Archive  # SQLite takes time to import

    Archive(options.archive).close()


def _is_below(minimums: Mapping[str, float], report: Report) -> bool:
    """Return whether a measure is below its minimum, and print those. A measure without values is never below."""
    total, measures = report.total, report.tally.measures or Measures()
    parts = {
        "saved": (total.before - total.after, total.before),
        "references": (measures.kept, measures.references),
        "entities": (measures.recall.kept, measures.recall.total),
    }
    is_below = False
    for name, least in minimums.items():
        part, whole = parts[name]
        if part < least * whole:
            is_below = True
            say(f"{name}: {share(part, whole)} is below the required {least * 100:.4g}%")
    return is_below


# --- all sources, in order


def _reduce_sources(run: _Run) -> None:
    """Reduce all sources, and report those that cannot be read or written. Raises `CommandError`."""
    try:
        with closing(_calls_ahead(run)) as calls:
            for source, of_source in groupby(calls, key=itemgetter(0)):
                with run.problems.reported(source):
                    _reduce_source(run, source, of_source)
                    run.report.histories.append(source.name)
    except BrokenProcessPool:
        raise CommandError("a worker process ended unexpectedly; fewer --jobs need less memory") from None


@contextmanager
def _open_output(run: _Run, source: Source) -> Iterator[Callable[[bytes], object]]:
    """Open the output of a source, and yield the function that writes the result of a chunk."""
    if not run.targets:
        yield len  # there is nothing to write
        return
    target = run.targets[source]
    with open_target(target) as file:
        if tables.is_parquet(source):
            with tables.writer(source.name, file) as write:
                yield write
        else:
            yield file.write
        if target is not None and file.seekable():
            run.written += file.tell()


def _reduce_source(run: _Run, source: Source, calls: Iterable[_Call]) -> None:
    """Add up the results of one source, and write its output. Raises `FileError` if the source cannot be read."""
    lines = LineSum(source.name, noun="row" if tables.is_parquet(source) else "line")
    with _open_output(run, source) as write:
        for _, call in calls:
            result = call()
            for line, returns in result.details:
                whole = source.name if len(run.sources) > 1 else ""
                run.show(f"{source.name}:{lines.lines + line}" if line else whole, returns)
            add_lines(lines, result.lines)
            run.report.tally.merge(result.tally)
            write(result.output)
        if source is run.sources[-1] and not run.report.tally.tools and not run.report.whole:
            raise nothing_found(run.selection, run.sources)  # leaves no output
    for line, why in lines.first_bad:
        say(f"{source.name}:{line}: {why}")
    if lines.lines:
        run.report.lines.append(lines)


def _calls_ahead(run: _Run) -> Generator[_Call]:
    """Yield a call for every chunk in order; several processes start on later chunks ahead of time."""
    waiting, jobs = deque[_Call](), run.options.jobs
    ahead = jobs * _CHUNKS_AHEAD if jobs > 1 else 0
    many = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker) if jobs > 1 else nullcontext()
    with many as pool:
        try:
            for call in _calls(run, pool):
                waiting.append(call)
                if len(waiting) > ahead:
                    yield waiting.popleft()
            yield from waiting
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)


def _calls(run: _Run, pool: ProcessPoolExecutor | None) -> Iterator[_Call]:
    options = run.options
    tool = None if options.writes else options.tool  # the tool of a sample
    for source in run.sources:
        target = run.targets.get(source)
        chunks = read_chunks(source, tool=None if source.folder else tool)
        if tables.is_parquet(source):
            chunks = tables.row_groups(source.name, options.column)
        try:
            for chunk in chunks:
                call = partial(reduce_chunk, chunk, run.reducer, name=source.name, target=target, options=options)
                # Detailed results contain rules, which cannot be sent to another process.
                executor = None if _is_detailed(options, chunk) else pool
                yield source, executor.submit(call).result if executor else call
        except FileError as error:
            yield source, partial(_refuse, str(error))


def _refuse(message: str) -> NoReturn:
    raise FileError(message)


# --- one chunk, perhaps in a worker process


def _start_worker() -> None:
    """Prepare a worker process: ignore Ctrl-C, which the main process handles, and exit with the main process."""

    def exit_with_parent() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, daemon=True).start()


def _is_detailed(options: Namespace, chunk: Chunk) -> bool:
    """Return whether to report what each step removed: in a diff, and in JSON and pages for whole histories."""
    return options.format == "diff" or (options.format != "table" and chunk.kind in ("history", "sample"))


def reduce_chunk(chunk: Chunk, reducer: Reducer, *, name: str, target: Path | None, options: Namespace) -> Look:
    """Reduce a chunk of the source `name`, and compress the output for `target`.

    Raises `FileError`, `CommandError` and OSError.
    """
    ruleset = reducer.ruleset
    look_options = LookOptions(
        Selection(options.tool, options.call).matches,
        _is_detailed(options, chunk),
        with_trees=options.format == "html",
        writes=options.writes,
        measured=options.measures,
        references=options.references,
        repeats=options.repeats,
        input_format=options.input_format,
    )
    if chunk.kind == "row group":
        return tables.look_at_row_group(ruleset, name, chunk.number, options.column, look_options)
    if chunk.kind == "lines":
        result = look_at_lines(ruleset, chunk.content, look_options, name)
    else:
        try:
            result = look(ruleset, name, chunk.content, look_options)
        except HistoryError as error:
            raise FileError(f"{name}: {error}") from None
    if options.archive is not None:
        _archive(options, chunk, result.output)
    return result._replace(output=compressed(result.output, target.name if target else ""))


def _archive(options: Namespace, chunk: Chunk, output: bytes) -> None:
    """Store the originals of returns that differ between a chunk and its output. Raises `CommandError` and OSError."""
    from reducer.archive import Archive  # SQLite takes time to import
    from reducer.archive.histories import entries_between

    with Archive(str(options.archive)) as archive:
        for old, new in zip(chunk.histories, chunk._replace(content=output).histories, strict=True):
            if old != new:
                archive.add(list(entries_between(old, new, options.input_format)))
        archive.flush()
    if archive.failures:
        originals = counted(archive.failures, "original")
        raise CommandError(f"{options.archive}: could not store {originals}; the reduced histories are not written")
