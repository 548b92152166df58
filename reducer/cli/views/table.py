"""The report of `run` as rows and sections, and as a table; the HTML page prints the same rows and sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TextIO

from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import TITLES, Attention, Report, ToolReport, by_kind, tokens
from reducer.cli.messages import counted
from reducer.operations.limit import Limit
from reducer.screen import console, make_table, print_indented, visible

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = ("Tool", "Rule", "Calls", "Characters\nbefore", "after", "Saved", "Tokens, about\nbefore", "after")
_MAX_DETAILS = 8
_SEVERAL = "several steps"
_NARROW = 110
"""Columns of a terminal below which the table leaves out tokens, which are in a line below it."""


class Section(NamedTuple):
    """A part of a report: its title, a sentence or nothing, and details."""

    title: str
    summary: str
    details: Sequence[str]


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Print the table, its sums, what the rules cost if that was measured, and what needs attention."""
    screen = console(stream)
    print_head(report, screen)
    if report.tools:
        shown = len(COLUMNS) if screen.width >= _NARROW else len(COLUMNS) - 2
        rows, total = tool_rows(report)
        sums = total[:shown] if len(rows) > 1 else ()
        screen.print(make_table(COLUMNS[:shown], [row[:shown] for row in rows], sums, texts=2))
        for note in notes(report):
            screen.print(note, style="dim")
    else:
        screen.print("No tool returns.")
    for heading, sections in parts(report, needs, prices):
        _print_part(heading, sections, screen)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report is about."""
    for title, text in head(report):
        screen.print(f"{title:<8} {visible(text)}")
    screen.print()


def print_attention(needs: Sequence[Attention], screen: Console) -> None:
    """Print what needs attention, kind by kind, or that nothing does."""
    _print_part(*_attention(needs), screen)


def _print_part(heading: str, sections: Iterable[Section], screen: Console) -> None:
    screen.print(f"\n{heading}", style="bold")
    for section in sections:
        title = f"{section.title:<10} {visible(section.summary)}" if section.summary else section.title
        screen.print(f"  {title}")
        print_indented(section.details[:_MAX_DETAILS], 4, screen)
        if len(section.details) > _MAX_DETAILS:
            screen.print(f"    and {len(section.details) - _MAX_DETAILS:,} more; `--format json` lists them")


def share(part: int, whole: int) -> str:
    """Return a share as a percentage, `-` of nothing; never 100% if something is missing."""
    if not whole:
        return "-"
    return "100%" if part == whole else f"{min(part / whole, 0.999):.1%}"


def saved(before: int, after: int) -> str:
    """Return the share that was saved as a percentage."""
    return f"{(before - after) / before:.1%}" if before else "-"


def head(report: Report) -> Iterator[tuple[str, str]]:
    """Yield which histories and which rules the report is about, each with its title."""
    count = len(report.histories)
    lines = f", {counted(sum(total.lines for total in report.lines), 'line')}" if report.lines else ""
    if count == 1:
        yield "History", f"{report.histories[0]}{lines}"
    else:
        yield "Read", f"{counted(count, 'file') if lines else counted(count, 'history', 'histories')}{lines}"
    yield "Rules", f"{report.rules} ({counted(len(report.ruleset.rules), 'rule')})"


def tool_rows(report: Report) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the tools and the row with the sums; their titles are `COLUMNS`."""

    def numbers(calls: int, before: int, after: int) -> list[str]:
        sizes = [f"{number:,}" for number in (calls, before, after, tokens(before), tokens(after))]
        return [*sizes[:3], saved(before, after), *sizes[3:]]

    rows = [[tool.tool, _rule_name(tool), *numbers(tool.calls, tool.before, tool.after)] for tool in report.tools]
    return rows, ["Total", "", *numbers(sum(tool.calls for tool in report.tools), report.before, report.after)]


def notes(report: Report) -> Iterator[str]:
    """Yield sentences about all returns: estimated tokens, and what was kept because of later messages."""
    yield f"About {tokens(report.before):,} tokens before, {tokens(report.after):,} after (estimate: characters / 4)."
    if report.tally.referenced:
        characters = counted(report.tally.referenced, "character")
        returns = counted(report.tally.referencing, "tool return")
        reason = "because later messages reference them (--no-references removes them)"
        yield f"Kept {characters} in {returns} {reason}."


def parts(report: Report, needs: Sequence[Attention], prices: Prices) -> Iterator[tuple[str, list[Section]]]:
    """Yield headings with their sections: what the rules cost if that was measured, and what needs attention."""
    measures = report.tally.measures
    if measures is not None and report.tools:
        yield "What the rules cost", [*_losses(measures), *_always_kept(report), *_requests(measures, prices)]
    yield _attention(needs)


def _attention(needs: Sequence[Attention]) -> tuple[str, list[Section]]:
    """Return a heading, and what needs attention kind by kind."""
    sections = []
    for kind, entries in by_kind(needs).items():
        details = [f"{entry.where}: {entry.message}" for entry in entries]
        if kind == "unused rule":
            details = [", ".join(PurePath(entry.where).name for entry in entries)]
        elif kind in ("no place", "undone"):
            details = [f"{entry.where}: {entry.message} ({counted(entry.calls, 'call')})" for entry in entries]
        sections.append(Section(TITLES[kind], "", details))
    return "What needs attention" if needs else "Nothing needs attention.", sections


def _rule_name(tool: ToolReport) -> str:
    """Return the file name of a tool's rule, or why there is none."""
    if tool.rule is not None:
        return PurePath(tool.rule.file).name
    return "not reducible" if tool.untouched == tool.calls else "no rule"


def _losses(found: Measures) -> Iterator[Section]:
    """Yield the references and entities that were kept and lost, and the calls that were repeated."""
    if not found.references:
        yield Section("References", "the agent later used no value that only tool returns contain", [])
    else:
        lost = [
            f"{one.value}: from {one.tool} {one.found} at {one.path}, "
            f"used in message {one.used}, removed by {one.step or _SEVERAL}"
            for one in found.lost_references
        ]
        kept = f"{found.kept:,} of {found.references:,} values that the agent used later"
        yield Section("References", f"{share(found.kept, found.references)} kept: {kept}", lost)
    if total := sum(one.total for one in found.entities.values()):
        kinds = ", ".join(f"{kind} {one.kept:,}/{one.total:,}" for kind, one in found.entities.items())
        kept = share(sum(one.kept for one in found.entities.values()), total)
        steps = Counter((one.step, one.type) for one in found.lost_entities).most_common()
        lost = [f"{counted(count, f'{kind} value')} removed by {step or _SEVERAL}" for (step, kind), count in steps]
        lost += [
            f"{one.value}: {one.type} from {one.tool} {one.found}, removed by {one.step or _SEVERAL}"
            for one in found.lost_entities
        ]
        yield Section("Entities", f"{kept} kept in reduced returns: {kinds}", lost)
    if found.repeats:
        again = [
            f"{one.tool}: message {one.first}, again in message {one.again}, "
            f"{'already cut when recorded' if one.recorded else 'cut by the rules'}"
            for one in found.again
        ]
        yield Section("Repeats", f"{counted(found.repeats, 'call')} repeated after the first answer", again)


def _always_kept(report: Report) -> Iterator[Section]:
    kept = []
    for rule in report.ruleset.rules:
        for step in rule.steps:
            count = report.tally.always_kept[rule.file, step.number]
            if count and isinstance(step.op, Limit) and step.op.always_keep is not None:
                where = f"{PurePath(rule.file).name}:{step.location.line} {step.name}"
                kept.append(f"{where}: {counted(count, 'item')} for `{step.op.always_keep.text}`")
    if kept:
        yield Section("Kept", "only by `always_keep`", kept)


def _requests(found: Measures, prices: Prices) -> Iterator[Section]:
    """Yield what the requests cost with a prompt cache and without, as recorded and as reduced."""
    recorded, reduced = found.recorded, found.reduced
    for name, before, after in (
        ("with prompt cache", recorded.cached(prices), reduced.cached(prices)),
        ("without", recorded.uncached(prices), reduced.uncached(prices)),
    ):
        less = f"{(before - after) / before:.1%} less" if before else "no cost"
        cost = f"about {before / 4:,.0f} -> {after / 4:,.0f} tokens at input price"
        if recorded.requests:
            yield Section("Cost", f"{name}: {cost} in {counted(recorded.requests, 'request')}: {less}", [])
