"""What `run` does: reduces histories, prints the report and compares it with the required values."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from reducer.analysis.attention import Attention, attention
from reducer.analysis.prices import Prices
from reducer.analysis.report import Report, ReturnReport
from reducer.analysis.tally import Tally
from reducer.cli.inputs import SAMPLE, Selection, all_sources, find_sources
from reducer.cli.messages import CommandError, counted, say
from reducer.cli.outputs import targets
from reducer.cli.progress import progress
from reducer.cli.reduction import Run, Settings, Totals, reduce_sources
from reducer.cli.rules import Chosen, choose_rules, files_named_by, load
from reducer.cli.views.text import share
from reducer.cli.watch import Watched
from reducer.histories.stored import InputFormat
from reducer.rules import Ruleset
from reducer.screen import console

if TYPE_CHECKING:
    from rich.console import Console

_MEASURES = ("references", "entities", "saved")


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `run`."""

    histories: Sequence[str]
    rules: Sequence[str]
    tool: str | None
    call: str | None
    format: str
    measures: bool | None
    references: bool
    fail_under: str
    cache_prices: str | None
    strict: bool
    output: str | None
    archive: str | None
    input_format: InputFormat
    jobs: int

    @property
    def is_measured(self) -> bool:
        """Tell whether to measure what the rules cost."""
        return self.output is None if self.measures is None else self.measures


def dry_run(options: Options, receive: Callable[[Report], None] | None = None) -> int:
    """Write the reduced histories if asked to, print the report and return the exit code. Raises `CommandError`.

    `receive` gets the report.
    """
    minimums, prices = _minimums(options), read_prices(options.cache_prices)
    chosen = choose_rules(options.rules, here=bool(options.histories))
    ruleset = load(chosen)
    sources, errors = find_sources(options.histories) if options.histories else ([SAMPLE], 0)
    _check(options)
    selection = Selection(options.tool, options.call)
    files = targets(options.output, sources, chosen.files) if options.output is not None and sources else ()
    # With the reduced history on standard output, the report goes to standard error.
    stream = sys.stderr if options.output == "-" else sys.stdout
    planned = Report(chosen.name, ruleset, [source.name for source in sources], Tally(), whole=selection.is_everything)
    diff = _Diff(planned, stream) if options.format == "diff" else None
    # A progress bar and a diff on the same terminal would overwrite each other.
    with progress(() if diff is not None and stream.isatty() else sources) as bar:
        settings = _settings(options, chosen)
        show = None if diff is None else diff.show
        totals = reduce_sources(Run(sources, files, settings, ruleset, options.jobs, show, selection), bar)
    if not totals.histories:
        return 2
    if not totals.tally.tools and not selection.is_everything:
        raise selection.nothing_found()
    result = _report(chosen, ruleset, totals, selection)
    needs = attention(result)
    _say_written(options.output, files, totals)
    if diff is not None:
        from reducer.cli.views.diff import print_end

        print_end(result, needs, diff.begin())
    else:
        _print(options.format, result, needs, stream, prices)
    if not options.histories:
        say("this was the sample; give a HISTORY to see your own (--help shows how)")
    if receive is not None:
        receive(result)
    too_low = list(_below(minimums, result))
    for message in too_low:
        say(message)
    if errors or totals.errors:
        return 2
    return 1 if too_low or any(lines.bad for lines in totals.lines) or (options.strict and needs) else 0


def watched(options: Options) -> Watched:
    """Return what `--watch` runs again and again. Raises `CommandError`."""
    if options.output is not None or options.format not in ("table", "diff") or "-" in options.histories:
        raise CommandError(
            "--watch prints tables and diffs of files; leave out --output, --format json or html, and standard input"
        )

    def chosen() -> tuple[Path, ...]:
        return choose_rules(options.rules, here=bool(options.histories)).files

    def run() -> dict[str, str]:
        reports: list[Report] = []
        if dry_run(options, reports.append) == 2 and not reports:
            raise CommandError("no history could be read")
        return {name: fact for report in reports for name, fact in _facts(report)}

    def read() -> Iterator[Path]:
        yield from chosen()
        yield from (source.path for source in all_sources(options.histories) if source.path is not None)

    return Watched(run, read, lambda: files_named_by(chosen()))


def read_prices(text: str | None) -> Prices:
    """Read `--cache-prices`: `read,write,plain`, as multiples of the input price. Raises `CommandError`."""
    if text is None:
        return Prices()
    try:
        read, write, plain = (float(part) for part in text.split(","))
    except ValueError:
        read = write = plain = -1.0
    if not all(0 <= price < float("inf") for price in (read, write, plain)):
        raise CommandError(f"--cache-prices {text}: expected three numbers such as 0.1,1.25,1 (read, write, uncached)")
    return Prices(read, write, plain)


def _check(options: Options) -> None:
    """Raise `CommandError` for options that exclude each other, and for an archive that cannot be used."""
    if options.format == "diff" and options.jobs > 1:
        raise CommandError("--format diff uses one process; leave out --jobs")
    if options.archive is None:
        return
    if options.output is None:
        raise CommandError("--archive stores the originals of what --output writes; add --output")
    if options.output != "-" and os.path.realpath(options.output) == os.path.realpath(options.archive):
        raise CommandError(f"{options.archive}: is both --archive and --output")
    from reducer.archive import Archive, ArchiveError  # SQLite takes time to import

    try:
        Archive(options.archive).close()
    except ArchiveError as error:
        raise CommandError(str(error)) from None


def _settings(options: Options, chosen: Chosen) -> Settings:
    return Settings(
        rules=chosen,
        tool=options.tool,
        call=options.call,
        detail="all" if options.format == "diff" else "histories" if options.format == "json" else "none",
        measured=options.is_measured,
        references=options.references,
        input_format=options.input_format,
        archive=options.archive,
    )


def _report(chosen: Chosen, ruleset: Ruleset, totals: Totals, selection: Selection) -> Report:
    return Report(
        chosen.name,
        ruleset,
        totals.histories,
        totals.tally,
        returns=totals.returns,
        lines=totals.lines,
        whole=selection.is_everything,
    )


class _Diff:
    """Prints the returns of each history as a diff as soon as they are known."""

    def __init__(self, planned: Report, stream: TextIO) -> None:
        self._planned = planned
        self._stream = stream
        self._console: Console | None = None

    def begin(self) -> Console:
        """Print the head of the report once, and return the console."""
        from reducer.cli.views.table import print_head

        if self._console is None:
            self._console = console(self._stream)
            print_head(self._planned, self._console)
        return self._console

    def show(self, name: str, returns: tuple[ReturnReport, ...]) -> None:
        """Print the returns of one history."""
        from reducer.cli.views.diff import print_returns

        if returns:
            title = "" if list(self._planned.histories) == [name] else name
            print_returns(title, returns, self._planned.whole, self.begin())


def _print(format: str, result: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    if format == "json":
        from reducer.cli.views.json_report import print_json

        print_json(result, needs, stream, prices)
    elif format == "html":
        from reducer.cli.views.html_page import print_html

        print_html(result, needs, stream, prices)
    else:
        from reducer.cli.views.table import print_table

        print_table(result, needs, stream, prices)


def _say_written(output: str | None, files: Sequence[Path | None], totals: Totals) -> None:
    if output is None or output == "-" or not totals.written:
        return
    where = output if files == (Path(output),) else f"{counted(len(totals.written), 'file')} in {output}"
    say(f"wrote {where}, {sum(totals.written):,} bytes")


def _minimums(options: Options) -> dict[str, float]:
    """Read `--fail-under`: `measure=share,…`. Raises `CommandError`."""
    minimums: dict[str, float] = {}
    for entry in options.fail_under.split(",") if options.fail_under else ():
        name, _, number = (part.strip() for part in entry.partition("="))
        if name not in _MEASURES:
            near = get_close_matches(name, _MEASURES, 1)
            hint = f"did you mean {near[0]}?" if near else f"available: {', '.join(_MEASURES)}"
            raise CommandError(f"--fail-under: unknown measure {name}; {hint}")
        try:
            value = float(number.removesuffix("%")) / 100
        except ValueError:
            value = -1
        if not number.endswith("%") or not 0 <= value <= 1:
            raise CommandError(f"--fail-under {entry.strip()}: expected a share such as {name}=98%")
        if name != "saved" and not options.is_measured:
            raise CommandError(f"--fail-under: {name} is not measured in this run; add --measures")
        minimums[name] = value
    return minimums


def _below(minimums: dict[str, float], result: Report) -> Iterator[str]:
    """Yield a message for each measure below its minimum. A measure without values is never below."""
    measures = result.tally.measures
    for name, minimum in minimums.items():
        part, whole = result.before - result.after, result.before
        if name != "saved" and measures is not None:
            entities = measures.entities.values()
            part, whole = (
                (measures.kept, measures.references)
                if name == "references"
                else (sum(found.kept for found in entities), sum(found.total for found in entities))
            )
        if whole and part / whole < minimum:
            yield f"{name}: {share(part, whole)} is below the required {minimum * 100:.4g}%"


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    for tool in report.tools:
        yield tool.tool, f"{tool.after:,} of {tool.before:,} characters kept"
    if (measures := report.tally.measures) is not None:
        yield "references", f"{measures.kept:,} of {measures.references:,} kept"
