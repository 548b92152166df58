"""The dry run: what rules do to stored histories."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from reducer.cli.floors import floors, prices
from reducer.cli.histories import SAMPLE, Source, find, gathered, sample_history
from reducer.cli.outputs import Outputs, outputs
from reducer.cli.progress import progress
from reducer.cli.rules import choose_rules, load, read_besides
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop, say
from reducer.cli.walk import Seen, Show, Walk, walk
from reducer.cli.watch import Watched
from reducer.report import Report, ReturnReport, report
from reducer.report.attention import attention, plural
from reducer.screen import console
from reducer.stored import InputFormat

if TYPE_CHECKING:
    from rich.console import Console

    from reducer.cli.workers import Worker


class Options(NamedTuple):
    """What the command line asks for."""

    histories: tuple[str, ...]
    rules: tuple[str, ...]
    tool: str | None
    call: str | None
    format: str
    strict: bool
    output: str | None
    jobs: int = 1
    resume: bool = False
    archive: str | None = None
    input_format: InputFormat = "auto"
    measured: bool = False
    floors: str | None = None
    prices: str | None = None
    references: bool = True


def run(options: Options, hears: Callable[[Report], None] | None = None, workers: Sequence[Worker] = ()) -> int:
    """Print the report, write the reduced histories if asked to, and give the exit code; `hears` gets the report. Raises `Stop`.

    `workers` are processes for the jobs that were started already.
    """
    alone = not options.histories
    try:
        least = floors(options.floors or "", options.measured)
        billed = prices(options.prices)
    except ValueError as error:
        raise Stop(str(error)) from None
    chosen = choose_rules(options.rules, here=not alone)
    ruleset = load(chosen)
    sources, faults = ([Source(SAMPLE, sample_history())], 0) if alone else gathered(options.histories)
    if options.format == "diff" and options.jobs > 1:
        raise Stop("--format diff is printed by one process as it reads: leave out --jobs")
    if options.archive is not None:
        from reducer.cli.filing import usable  # SQLite takes time to import

        usable(options.archive, options.output)
    selection = Selection(options.tool, options.call, {}, {})
    plan = outputs(options.output, options.resume, sources, chosen, selection, options.references)
    # With the reduced history on standard output the report must not run into it.
    stream = sys.stderr if options.output == "-" else sys.stdout
    show, begin = _shown(report(chosen.name, ruleset, [source.name for source in sources], (), selection.is_whole), stream)
    is_diff = options.format == "diff"
    # A bar and a diff on the same terminal would run into each other.
    with progress(() if is_diff and stream.isatty() else sources) as watching:
        detailed, shown = options.format in ("json", "diff"), show if is_diff else None
        jobs, archive, form, references = options.jobs, options.archive, options.input_format, options.references
        what = Walk(sources, ruleset, chosen.files, selection, plan, jobs, detailed, options.measured, shown, archive, form, references, workers)
        seen = walk(what, watching)
    plan.close()
    if not seen.histories:
        return 2
    if not seen.tally.tools and not selection.is_whole:
        raise Stop(selection.why_none())
    result = report(chosen.name, ruleset, seen.histories, seen.returns, selection.is_whole, seen.tally, seen.lines)
    needs = attention(result)
    _say_written(options.output, plan, seen)
    if is_diff:
        from reducer.report.diff import print_end

        print_end(result, needs, begin())
    elif options.format == "json":
        from reducer.report.json import print_json

        print_json(result, needs, stream, billed)
    elif options.format == "html":
        from reducer.report.html import print_html

        print_html(result, needs, stream, billed)
    else:
        from reducer.report.table import print_table

        print_table(result, needs, stream, billed)
    if alone:
        say("this was the sample: give a HISTORY to see your own (--help shows how)")
    if hears is not None:
        hears(result)
    bad = any(lines.bad for lines in seen.lines)
    short = list(least.missed(result))
    for missed in short:
        say(missed)
    return 2 if faults or seen.faults else 1 if bad or short or (options.strict and needs) else 0


def watched(options: Options) -> Watched:
    """Make what runs the dry run again and again. Raises `Stop`."""
    if options.output is not None or options.format not in ("table", "diff") or "-" in options.histories:
        raise Stop("--watch prints tables and diffs of files: leave out --output, --format json and html, and standard input")
    alone = not options.histories

    def run_once() -> dict[str, str]:
        reports: list[Report] = []
        if run(options, reports.append) == 2 and not reports:
            raise Stop("no history could be read")
        return {name: fact for report in reports for name, fact in _facts(report)}

    def read() -> Iterator[Path]:
        yield from choose_rules(options.rules, here=not alone).files
        yield from (one.path for one in find(options.histories) if isinstance(one, Source) and one.path is not None)

    return Watched(run_once, read, lambda: read_besides(choose_rules(options.rules, here=not alone).files))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    for tool in report.tools:
        yield tool.tool, f"{tool.after:,} of {tool.before:,} characters left"
    measures = report.tally.measures
    if measures is not None:
        yield "references", f"{measures.kept:,} of {measures.references:,} kept"


def _shown(planned: Report, stream: TextIO) -> tuple[Show, Callable[[], Console]]:
    """Give what prints the returns of a history as a diff when they are known, and what begins to print if nothing has."""
    screens: list[Console] = []

    def begin() -> Console:
        from reducer.report.table import print_head

        if not screens:
            screens.append(console(stream))
            print_head(planned, screens[0])
        return screens[0]

    def show(name: str, returns: tuple[ReturnReport, ...]) -> None:
        from reducer.report.diff import print_returns

        if returns:
            print_returns("" if planned.histories == (name,) else name, returns, planned.whole, begin())

    return show, begin


def _say_written(output: str | None, plan: Outputs, seen: Seen) -> None:
    if output is not None and output != "-" and seen.written:
        count = len(seen.written)
        where = f"{count:,} {plural(count, 'file')} in {output}" if plan.shared else output
        say(f"wrote {where}, {sum(size for _, size in seen.written):,} bytes")
