"""What `run` does: reduces histories, prints the report and compares it with the required values."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

from reducer.analysis.attention import attention
from reducer.analysis.report import Report
from reducer.analysis.tally import Tally
from reducer.cli.inputs import find_sources, progress
from reducer.cli.messages import CommandError, say
from reducer.cli.outputs import targets
from reducer.cli.reduction import Run, reduce_sources
from reducer.cli.rules import choose_rules, files_read, load
from reducer.cli.views.diff import print_end, print_returns
from reducer.cli.views.html_page import print_html
from reducer.cli.views.json_report import as_json
from reducer.cli.views.plain import print_json
from reducer.cli.views.table import print_head, print_table, share
from reducer.cli.watch import watch
from reducer.screen import console


def dry_run(options: Namespace) -> tuple[int, Report]:
    """Write the reduced histories if asked to, and print the report; return the exit code and the report.

    Raises `CommandError`, `ArchiveError` and OSError.
    """
    if options.output is not None and options.output.endswith(".html"):
        page = f"`--format html > {options.output}`"
        raise CommandError(f"--output {options.output}: writes the reduced history; write the page with {page}")
    chosen = choose_rules(options.rules, here=bool(options.histories))
    ruleset = load(chosen)
    sources = find_sources(options.histories)
    files = targets(options.output, sources, chosen.files) if options.output is not None else ()
    _check_archive(options)
    # With the reduced history on standard output, the report goes to standard error.
    stream = sys.stderr if options.output == "-" else sys.stdout
    summed = partial(Report, chosen.name, ruleset, whole=options.tool is None and options.call is None)
    show = None
    if options.format == "diff":
        planned, screen = summed([source.name for source in sources], Tally()), console(stream)
        print_head(planned, screen)
        show = partial(print_returns, whole=planned.whole, screen=screen)
    # A progress bar and a diff on the same terminal would overwrite each other.
    with progress(() if show and stream.isatty() else sources) as bar:
        totals = reduce_sources(Run(options, chosen, ruleset, sources=sources, targets=files, progress=bar, show=show))
    if not totals.histories and not totals.errors:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    result = summed(totals.histories, totals.tally, totals.returns, totals.lines)
    if not totals.histories:
        return 2, result
    needs = attention(result)
    if options.format == "diff":
        print_end(result, needs, console(stream))
    elif options.format == "json":
        print_json(as_json(result, needs, options.cache_prices), stream)
    else:
        print_report = print_table if options.format == "table" else print_html
        print_report(result, needs, stream, options.cache_prices)
    if options.output not in (None, "-"):
        say(f"wrote {options.output}, {totals.written:,} bytes")
    too_low = list(_below(options, result))
    for message in too_low:
        say(message)
    needs_work = too_low or any(lines.bad for lines in totals.lines) or (options.strict and needs)
    return 2 if totals.errors else 1 if needs_work else 0, result


def watch_run(options: Namespace) -> NoReturn:
    """Run again and again for `--watch`. Raises `CommandError`."""
    if options.output is not None or options.format not in ("table", "diff") or "-" in options.histories:
        raise CommandError(
            "--watch prints tables and diffs of files; leave out --output, --format json or html, and standard input"
        )

    def facts() -> dict[str, str]:
        found = dry_run(options)[1]
        kept = {tool.tool: f"{tool.after:,} of {tool.before:,} characters kept" for tool in found.tools}
        if (measures := found.tally.measures) is not None:
            kept["references"] = f"{measures.kept:,} of {measures.references:,} kept"
        return kept

    def read() -> Iterator[Path]:
        yield from files_read(options.rules, here=bool(options.histories))
        sources = find_sources(options.histories) if options.histories else ()
        yield from (source.path for source in sources if source.path is not None)

    watch(facts, read)


def _check_archive(options: Namespace) -> None:
    """Raise `CommandError` or `ArchiveError` for an archive that cannot be used."""
    if options.archive is None:
        return
    if options.output is None:
        raise CommandError("--archive stores the originals of what --output writes; add --output")
    if os.path.realpath(options.output) == os.path.realpath(options.archive):
        raise CommandError(f"{options.archive}: is both --archive and --output")
    from reducer.archive import Archive  # SQLite takes time to import

    Archive(options.archive).close()


def _below(options: Namespace, result: Report) -> Iterator[str]:
    """Yield a message for each measure below what `--fail-under` requires. A measure without values is never below."""
    measures = result.tally.measures
    shares = {"saved": (result.before - result.after, result.before)}
    if measures is not None:
        entities = measures.entities.values()
        shares["references"] = (measures.kept, measures.references)
        shares["entities"] = (sum(found.kept for found in entities), sum(found.total for found in entities))
    for name, minimum in options.fail_under.items():
        part, whole = shares[name]
        if whole and part / whole < minimum:
            yield f"{name}: {share(part, whole)} is below the required {minimum * 100:.4g}%"
