"""The dry run: what rules do to stored histories."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from reducer.cli import VERBS
from reducer.cli.histories import SAMPLE, Source, find, sample_history
from reducer.cli.output import refuse, write
from reducer.cli.progress import progress
from reducer.cli.rules import Chosen, choose_rules
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop, say
from reducer.errors import HistoryError, RuleError
from reducer.report import Report, ReturnReport, look, report
from reducer.report.attention import Attention, attention
from reducer.rule import Ruleset, read_rules
from reducer.screen import visible


class Options(NamedTuple):
    """What the command line asks for."""

    histories: tuple[str, ...]
    rules: tuple[str, ...]
    tool: str | None
    call: str | None
    format: str
    strict: bool
    output: str | None


def run(options: Options) -> int:
    """Print the report, write the reduced history if asked to, and give the exit code. Raises `Stop`."""
    alone = not options.histories
    chosen = choose_rules(options.rules, here=not alone)
    ruleset = _read(chosen)
    faults = 0
    sources: list[Source] = []
    for found in [Source(SAMPLE, sample_history())] if alone else find(options.histories, tuple(VERBS)):
        if isinstance(found, Stop):
            say(f"error: {found}")
            faults += 1
        else:
            sources.append(found)
    if options.output is not None:
        _accept(options.output, sources, chosen)
    selection = Selection(options.tool, options.call, {}, {})
    read: list[str] = []
    returns: list[ReturnReport] = []
    reduced = b""
    no_history: dict[str, list[str]] = {}
    with progress(sources) as watch:
        for source in sources:
            try:
                seen = look(ruleset, source.name, source.read(), selection.takes, detailed=options.format != "table", watch=watch(source))
            except (HistoryError, Stop) as error:
                if source.folder and isinstance(error, HistoryError) and str(error).startswith("not a history"):
                    no_history.setdefault(source.folder, []).append(f"{source.name}: {error}")
                else:
                    say(f"error: {error}" if isinstance(error, Stop) else f"error: {source.name}: {error}")
                    faults += 1
                continue
            read.append(source.name)
            returns += seen.returns
            if options.output is not None:
                reduced = seen.reduced()
    faults += _say_skipped(no_history, sources)
    if not read:
        return 2
    if not returns and not selection.is_whole:
        raise Stop(selection.why_none())
    result = report(chosen.name, ruleset, read, returns, selection.is_whole)
    needs = attention(result)
    if options.output is not None:
        write(options.output, reduced)
        if options.output != "-":
            say(f"wrote {options.output}, {len(reduced):,} bytes")
    _print(result, needs, options)
    if alone:
        say("this was the sample: give a HISTORY to see your own (--help shows how)")
    return 2 if faults else 1 if options.strict and needs else 0


def _read(chosen: Chosen) -> Ruleset:
    try:
        return read_rules(*chosen.files)
    except RuleError as error:
        for problem in error.problems:
            print(visible(str(problem), "\n\t"), end="\n\n", file=sys.stderr)
        count = len(error.problems)
        raise Stop(f"{chosen.name}: {count:,} {'error' if count == 1 else 'errors'} in the rules; nothing was run") from None
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None


def _accept(output: str, sources: Sequence[Source], chosen: Chosen) -> None:
    if len(sources) > 1:
        raise Stop(f"--output writes one history, and {len(sources):,} were given")
    if output != "-":
        refuse(output, [*(source.path for source in sources), *chosen.files])


def _say_skipped(no_history: dict[str, list[str]], sources: Sequence[Source]) -> int:
    """Tell of the files in folders that are JSON but no histories; a folder with nothing else is a fault."""
    faults = 0
    for folder, skipped in no_history.items():
        count = len(skipped)
        more = f" and {count - 1:,} more" if count > 1 else ""
        if count == sum(source.folder == folder for source in sources):
            say(f"error: {folder}: no history in it: {skipped[0]}{more}")
            faults += 1
        else:
            say(f"skipped {skipped[0]}{more}")
    return faults


def _print(result: Report, needs: tuple[Attention, ...], options: Options) -> None:
    # With the reduced history on standard output the report must not run into it.
    stream = sys.stderr if options.output == "-" else sys.stdout
    if options.format == "json":
        from reducer.report.json import print_json

        print_json(result, needs, stream)
    elif options.format == "diff":
        from reducer.report.diff import print_diff

        print_diff(result, needs, stream)
    else:
        from reducer.report.table import print_table

        print_table(result, needs, stream)
