"""The report of `run` as text: a table with sections below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from reducer.analysis.measures import LostEntity, LostReference, Measures, Recall
from reducer.analysis.report import TITLES, Attention, Report, ToolReport, tokens
from reducer.analysis.texts import excerpt, listed
from reducer.cli.screen import console, counted, make_table, print_lines

if TYPE_CHECKING:
    from rich.console import Console

_COLUMNS = ("Tool", "Rule", "Calls", "Characters\nbefore", "after", "Saved")
_MAX_DETAILS = 8
_MAX_VALUES = 3
_MAX_VALUE = 64
_SEVERAL = "several steps"
_Section = tuple[str, Sequence[str]]
"""A summary with its details."""


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO) -> None:
    """Print the table, what the rules cost if that was measured, and what needs attention."""
    screen = console(stream)
    print_head(report, screen)
    if report.tools:
        rows = [[tool.tool, _rule_name(tool), *_numbers(tool)] for tool in report.tools]
        sums = ["Total", "", *_numbers(report.total)] if len(rows) > 1 else ()
        screen.print(make_table(_COLUMNS, rows, sums, texts=(0, 1)))
        print_lines(_notes(report), screen, style="dim")
        if (measures := report.tally.measures) is not None:
            sections = chain(_losses(measures), _requests(measures))
            _print_part("What the rules cost in an agent", sections, screen)
    else:
        screen.print("No tool returns.")
    _print_attention(needs, screen)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report covers, and whether referenced content stays."""
    count = len(report.histories)
    names = report.histories[0] if count == 1 else counted(count, "file")
    if report.lines:
        names += f", {counted(sum(total.lines for total in report.lines), report.lines[0].noun)}"
    mode = "agent: also removes values that are used later"
    if report.references:
        mode = "reduce: keeps values that are used later (--as-in-agent removes them)"
    lines = [f"Read     {names}", f"Rules    {report.rules} ({counted(len(report.ruleset.rules), 'rule')})"]
    lines += (f"         {each}" for each in report.ruleset.replaced)
    print_lines([*lines, f"Mode     {mode}"], screen)
    screen.print()


def print_end(report: Report, needs: Sequence[Attention], stream: TextIO) -> None:
    """Print the totals and what needs attention, to follow a diff."""
    screen = console(stream)
    total = report.total
    screen.print(f"Total: {sizes(total.before, total.after)}" if total.calls else "No tool returns.", style="bold")
    _print_attention(needs, screen)


def _print_part(heading: str, sections: Iterable[_Section], screen: Console) -> None:
    screen.print(f"\n{heading}", style="bold")
    for summary, details in sections:
        print_lines([summary], screen, 2)
        print_lines(details[:_MAX_DETAILS], screen, 4)
        if len(details) > _MAX_DETAILS:
            print_lines([f"and {len(details) - _MAX_DETAILS:,} more; `--format json` lists them"], screen, 4)


def share(part: int, whole: int) -> str:
    """Return a share as a percentage, or `-` if there is nothing; it is 100% only if nothing is missing."""
    if not whole:
        return "-"
    return "100%" if part == whole else f"{min(part / whole, 0.999):.1%}"


def saved(before: float, after: float) -> str:
    """Return the saved share as a percentage."""
    return f"{(before - after) / before:.1%}" if before else "-"


def sizes(before: int, after: int) -> str:
    """Return the characters before and after, and the saved share."""
    return f"{before:,} -> {counted(after, 'character')}, {saved(before, after)} saved"


def _rule_name(tool: ToolReport) -> str:
    if tool.rules:
        return ", ".join(PurePath(rule.file).name for rule, _ in tool.rules)
    return "not reducible" if tool.untouched == tool.calls else "no rule"


def _numbers(tool: ToolReport) -> list[str]:
    """Return the cells of `_COLUMNS` that contain numbers."""
    return [f"{tool.calls:,}", f"{tool.before:,}", f"{tool.after:,}", saved(tool.before, tool.after)]


def _notes(report: Report) -> Iterator[str]:
    """Yield the estimated tokens, how much was kept for later messages, and what was removed without a marker."""
    total = report.total
    before, after = tokens(total.before), tokens(total.after)
    yield f"About {before:,} tokens before, {after:,} after (estimate: characters / 4)."
    if total.referenced:
        characters = counted(total.referenced, "character")
        returns = counted(total.referencing, "tool return")
        yield f"Kept {characters} in {returns} because later messages reference them."
    yield from _repeats(report)
    unmarked = [counted(total.unmarked, "item")] if total.unmarked else []
    if total.removed_keys:
        unmarked.append(counted(total.removed_keys, "key"))
    if unmarked:
        yield f"Removed without a marker: {' and '.join(unmarked)}."


def _repeats(report: Report) -> Iterator[str]:
    """Yield what was left out because earlier returns show it, by tool, and how often this failed."""
    total = report.total
    if total.repeats:
        tools = [tool for tool in report.tools if tool.repeats]
        tools.sort(key=lambda tool: -tool.repeats)
        by_tool = listed((f"{tool.tool} {tool.repeats:,}" for tool in tools), _MAX_DETAILS)
        characters, returns = counted(total.repeats, "character"), counted(total.repeating, "tool return")
        yield f"Left out {characters} in {returns} because earlier returns show them: {by_tool}."
    if total.repeats_dropped:
        yield f"Kept repeats in {counted(total.repeats_dropped, 'tool return')} because a rule would change them again."
    if total.dangling:
        yield f"Found {counted(total.dangling, 'marker')} that name a return which the history does not contain."


def _print_attention(needs: Sequence[Attention], screen: Console) -> None:
    """Print what needs attention, grouped by kind."""
    sections: list[_Section] = []
    for kind, group in groupby(needs, key=attrgetter("kind")):
        sections.append((TITLES[kind], list(map(_need, group))))
    _print_part("What needs attention" if needs else "Nothing needs attention.", sections, screen)


def _need(need: Attention) -> str:
    line = f"{need.where}: {need.message}"
    return f"{line} ({counted(need.calls, 'call')})" if need.kind in ("no place", "undone") else line


def _losses(measures: Measures) -> Iterator[_Section]:
    """Yield the references and entities that were kept or lost."""
    if not measures.references:
        yield "References none: the agent used no value later that only tool returns contain", []
    else:
        kept = f"{measures.kept:,} of {measures.references:,} values that the agent used later"
        lost = list(map(_lost_reference, measures.lost_references))
        yield f"References {share(measures.kept, measures.references)} kept: {kept}", lost
    if total := measures.recall.total:
        kept = share(measures.recall.kept, total)
        lost = lost_entities(measures.entities, measures.lost_entities)
        yield f"Entities   {kept} of {total:,} kept in reduced returns", lost


def _lost_reference(one: LostReference) -> str:
    step = one.step or _SEVERAL
    return f"{one.value}: from {one.tool} {one.found} at {one.path}, used in message {one.used}, removed by {step}"


def lost_entities(recalls: Mapping[str, Recall], lost: Sequence[LostEntity]) -> list[str]:
    """Describe the lost entities of each type, the largest loss first."""
    lines, kept = [], []
    for kind, (total, left) in recalls.items():
        if left == total:
            kept.append(f"{kind} {total:,}")
        else:
            by = _lost_by([one for one in lost if one.type == kind])
            lines.append((left - total, f"{kind}: {total - left:,} of {total:,} lost{by}"))
    shown = [line for _, line in sorted(lines)]
    return [*shown, f"all kept: {', '.join(kept)}"] if kept else shown


def _lost_by(found: Sequence[LostEntity]) -> str:
    """Name the step that removed most entities of one type, and the first of them."""
    by = ""
    for step, count in Counter(one.step or _SEVERAL for one in found).most_common(1):
        by = f", by {step}" if count == len(found) else f", most by {step}"
    return f"{by}: {listed((excerpt(one.value, _MAX_VALUE) for one in found), _MAX_VALUES)}"


def _requests(measures: Measures) -> Iterator[_Section]:
    """Yield the cost of the recorded and of the reduced requests, with and without a prompt cache."""
    old, new = measures.recorded, measures.reduced
    requests = counted(old.requests, "request")
    if old.requests:
        yield f"Cost       with prompt cache: {_cost(old.cached, new.cached, requests)}", []
        yield f"Cost       without prompt cache: {_cost(old.uncached, new.uncached, requests)}", []


def _cost(before: float, after: float, requests: str) -> str:
    tokens_sent = f"about {before / 4:,.0f} -> {after / 4:,.0f} tokens at input price"
    return f"{tokens_sent} in {requests}: {saved(before, after)} less"
