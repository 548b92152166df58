"""The implementation of `run`: reduce histories, print the report and compare it with the required values."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from reducer.analysis.report import Report, attention
from reducer.cli.files import Selection, find_sources, progress, targets
from reducer.cli.reduction import Run, reduce_sources
from reducer.cli.rules import choose_rules, files_read, load
from reducer.cli.screen import CommandError, console, say
from reducer.cli.views.diff import print_returns
from reducer.cli.views.json_report import print_report
from reducer.cli.views.report import print_end, print_head, print_html, print_table, share
from reducer.cli.watch import watch

_PRINT = {"table": print_table, "diff": print_end, "json": print_report, "html": print_html}


def dry_run(options: Namespace) -> tuple[int, Report]:
    """Reduce histories, write them to `--output`, and print the report. Return the exit code and the report.

    Raises `CommandError`, `ArchiveError` and OSError.
    """
    run = _prepare(options)
    # With the reduced history on standard output, the report goes to standard error.
    stream = sys.stderr if options.output == "-" else sys.stdout
    show = None
    if options.format == "diff":
        screen = console(stream)
        print_head(replace(run.report, histories=[source.name for source in run.sources]), screen)
        show = partial(print_returns, whole=run.selection.is_everything, screen=screen)
    # A progress bar and a diff on the same terminal would overwrite each other.
    with progress(() if show and stream.isatty() else run.sources) as advance:
        reduce_sources(run, show, advance)
    report = run.report
    if not report.histories:
        if not run.errors:
            raise CommandError(f"no history in {', '.join(options.histories)}")
        return 2, report
    needs = attention(report)
    _PRINT[options.format](report, needs, stream, options.cache_prices)
    if options.output not in (None, "-"):
        say(f"wrote {options.output}, {run.written:,} bytes")
    too_low = list(_below(options.fail_under, report))
    for message in too_low:
        say(message)
    has_failed = too_low or any(lines.bad for lines in report.lines) or (options.strict and needs)
    return 2 if run.errors else 1 if has_failed else 0, report


def _prepare(options: Namespace) -> Run:
    """Load the rules, and find the inputs and outputs. Raises `CommandError`, `ArchiveError` and OSError."""
    output, archive = options.output, options.archive
    if output is not None and output.endswith(".html"):
        page = f"write the page with `--format html > {output}`"
        raise CommandError(f"--output {output}: writes the reduced history; {page}")
    chosen = choose_rules(options.rules, use_local=bool(options.histories))
    ruleset = load(chosen)
    sources = find_sources(options.histories)
    files = targets(output, sources, chosen.files) if output is not None else {}
    if archive is not None:
        if output is None:
            raise CommandError("--archive stores the originals of what --output writes; add --output")
        if os.path.realpath(output) == os.path.realpath(archive):
            raise CommandError(f"{archive}: is both --archive and --output")
        from reducer.archive import Archive  # SQLite takes time to import

        Archive(archive).close()
    selection = Selection(options.tool, options.call)
    report = Report(chosen.name, ruleset, whole=selection.is_everything)
    return Run(options, chosen, sources, files, selection=selection, report=report)


def watch_run(options: Namespace) -> NoReturn:
    """Run after every change, for `--watch`. Raises `CommandError`."""
    if options.output is not None or options.format not in ("table", "diff") or "-" in options.histories:
        needless = "--output, --format json or html, and standard input"
        raise CommandError(f"--watch prints tables and diffs of files; leave out {needless}")

    def facts() -> dict[str, str]:
        report = dry_run(options)[1]
        kept = {tool.tool: f"{tool.after:,} of {tool.before:,} characters kept" for tool in report.tools}
        if (measures := report.tally.measures) is not None:
            kept["references"] = f"{measures.kept:,} of {measures.references:,} kept"
        return kept

    def read() -> Iterator[Path]:
        yield from files_read(options.rules, use_local=bool(options.histories))
        sources = find_sources(options.histories) if options.histories else ()
        yield from (source.path for source in sources if source.path is not None)

    watch(facts, read)


def _below(minimums: dict[str, float], result: Report) -> Iterator[str]:
    """Yield a message for each measure below its minimum. A measure without values is never below."""
    shares = {"saved": (result.before - result.after, result.before)}
    if (measures := result.tally.measures) is not None:
        entities = measures.entities.values()
        shares["references"] = (measures.kept, measures.references)
        shares["entities"] = (sum(found.kept for found in entities), sum(found.total for found in entities))
    for name, minimum in minimums.items():
        part, whole = shares[name]
        if whole and part / whole < minimum:
            yield f"{name}: {share(part, whole)} is below the required {minimum * 100:.4g}%"
