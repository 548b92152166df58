"""The report of `run` as text: a table with sections below it, on one screen or complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TextIO

from reducer.analysis.measures import LostEntity, LostReference, Measures, Recall
from reducer.analysis.report import TITLES, Attention, Report, ToolReport, tokens
from reducer.analysis.texts import listed
from reducer.cli.screen import console, counted, make_table, print_lines, visible
from reducer.errors import shortened
from reducer.files import builtin_rules

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_TITLES = ("Tool", "Rule", "Calls", "Characters\nbefore", "after", "Saved")
_LINES, _COLUMNS = 36, 100
"""The first screen: 40 lines, of which four show the command, messages on standard error and lines that are wrapped."""
_TABLE_LINES = 8
"""Lines of a table besides its tools: titles, other tools, the total, and blank lines."""
_ATTENTION_LINES = 3
"""Lines of what needs attention besides its kinds: a blank line, the heading, and the line about `-v`."""
_MAX_LISTED = 8
_MAX_VALUES = 3
_MAX_VALUE = 64
_TAIL = 24
"""Characters at the end of a line or value, where similar ones differ."""
_SEVERAL = "several steps"
_MORE = "-v shows all tools, examples of what was lost, and all that needs attention."


class _Line(NamedTuple):
    """A line of the report before it is wrapped."""

    text: str = ""
    indent: int = 0
    style: str = ""


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, is_long: bool, said: int = 0) -> None:
    """Print the table, what the rules cost if that was measured, and what needs attention.

    Unless `is_long`, print one screen, on which `said` lines are used: it has no examples of what was lost, and counts
    the tools, and what needs attention, that do not fit.
    """
    screen = console(stream)
    tools, top, notes = report.tools, list(_head(report)), [_Line(note, 0, "dim") for note in _notes(report)]
    below = [*notes, *_costs(report, True), *_attention(needs, len(needs))]
    shown, lines, width = tools, below, screen.width
    if not is_long:
        width = _width(screen)
        middle = [*notes, *_costs(report, False)]
        room = _LINES - said - _TABLE_LINES - len(top) - len(middle)
        shown = tools[: max(1, room // 2, room - len(_attention(needs, len(needs))))]
        lines = [*middle, *_attention_within(needs, room - len(shown), width)]
    _print(top, screen, width)
    if tools:
        screen.print(_table(report, shown), width=width)
    _print(lines, screen, width)
    if shown != tools or lines != below:
        _print([_Line(_MORE, style="dim")], screen, width)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report covers, and whether referenced content stays."""
    _print([*_head(report), _Line()], screen, screen.width)


def print_end(report: Report, needs: Sequence[Attention], stream: TextIO, is_long: bool) -> None:
    """Print the totals and what needs attention, to follow a diff."""
    screen = console(stream)
    total = report.total
    summary = f"Total: {sizes(total.before, total.after)}" if total.calls else "No tool returns."
    width = screen.width if is_long else _width(screen)
    bottom = _attention(needs, len(needs)) if is_long else _attention_within(needs, _LINES // 2, width)
    _print([_Line(summary, style="bold"), *bottom], screen, width)


# --- lines


def _width(screen: Console) -> int:
    return screen.width if screen.is_terminal else _COLUMNS


def _print(lines: Iterable[_Line], screen: Console, width: int) -> None:
    for line in lines:
        print_lines([line.text], screen, line.indent, line.style, width)


def _head(report: Report) -> Iterator[_Line]:
    """Yield which histories and rules the report covers, and whether referenced content stays."""
    count = len(report.histories)
    names = report.histories[0] if count == 1 else counted(count, "file")
    if report.lines:
        names += f", {counted(sum(total.lines for total in report.lines), report.lines[0].noun)}"
    yield _Line(f"Read     {names}")
    yield _Line(f"Rules    {report.rules} ({counted(len(report.ruleset.rules), 'rule')})")
    for each in report.ruleset.replaced:
        yield _Line(f"{each}", 9)
    mode = "agent: also removes values that are used later"
    if report.references:
        mode = "reduce: keeps values that are used later (--as-in-agent removes them)"
    yield _Line(f"Mode     {mode}")


# --- tools


def _table(report: Report, shown: Sequence[ToolReport]) -> Table:
    """Return a table of the first tools, and the sums of the others and of all."""
    rows = [[tool.tool, _rule_name(tool), *_numbers(tool)] for tool in shown]
    others = report.tools[len(shown) :]
    if others:
        calls = sum(tool.calls for tool in others)
        before = sum(tool.before for tool in others)
        after = sum(tool.after for tool in others)
        numbers = _numbers(ToolReport("", (), calls, before, after))
        rows.append([f"and {counted(len(others), 'more tool')}", "", *numbers])
    sums = ["Total", "", *_numbers(report.total)] if len(rows) > 1 else ()
    return make_table(_TITLES, rows, sums, texts=(0, 1))


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
    if not total.calls:
        yield "No tool returns."
        return
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
        by_tool = listed((f"{tool.tool} {tool.repeats:,}" for tool in tools), _MAX_LISTED)
        characters, returns = counted(total.repeats, "character"), counted(total.repeating, "tool return")
        yield f"Left out {characters} in {returns} because earlier returns show them: {by_tool}."
    if total.repeats_dropped:
        yield f"Kept repeats in {counted(total.repeats_dropped, 'tool return')} because a rule would change them again."
    if total.dangling:
        yield f"Found {counted(total.dangling, 'marker')} that name a return which the history does not contain."


def _attention(needs: Sequence[Attention], most: int) -> list[_Line]:
    """Return what needs attention below a heading: all kinds, and the first entries, which are the most important."""
    lines = [_Line(), _Line("What needs attention" if needs else "Nothing needs attention.", style="bold")]
    for kind, group in groupby(needs, key=attrgetter("kind")):
        entries = list(group)
        shown = entries[:most]
        most -= len(shown)
        count = f" ({len(shown):,} of {len(entries):,})" if len(shown) < len(entries) else ""
        lines.append(_Line(f"{TITLES[kind]}{count}", 2))
        lines += [_Line(_need(need), 4) for need in shown]
    return lines


def _attention_within(needs: Sequence[Attention], room: int, width: int) -> list[_Line]:
    """Return what needs attention in `room` lines, or more if there are many kinds. Long lines are cut."""
    kinds = {need.kind for need in needs}
    lines = []
    for line in _attention(needs, max(0, room - len(kinds) - _ATTENTION_LINES)):
        text = visible(line.text.removeprefix(f"{builtin_rules()}/"))
        lines.append(line._replace(text=shortened(text, width - line.indent, _TAIL)))
    return lines


def _need(need: Attention) -> str:
    line = f"{need.where}: {need.message}"
    return f"{line} ({counted(need.calls, 'call')})" if need.kind in ("no place", "undone") else line


# --- what the rules cost


def _costs(report: Report, is_long: bool) -> Iterator[_Line]:
    """Yield what the rules cost if that was measured; each value that was lost if `is_long`."""
    measures = report.tally.measures
    if measures is None or not report.tools:
        return
    yield _Line()
    yield _Line("What the rules cost in an agent", style="bold")
    yield from _references(measures, is_long)
    yield from _entities(measures, is_long)
    yield from _requests(measures)


def _references(measures: Measures, is_long: bool) -> Iterator[_Line]:
    if not measures.references:
        yield _Line("References none: the agent used no value later that only tool returns contain", 2)
        return
    kept = f"{measures.kept:,} of {measures.references:,} values that the agent used later"
    yield _Line(f"References {share(measures.kept, measures.references)} kept: {kept}", 2)
    if not is_long:
        return
    for lost in measures.lost_references:
        yield _Line(_lost_reference(lost), 4)
    unlisted = measures.references - measures.kept - len(measures.lost_references)
    if unlisted:
        yield _Line(f"and {unlisted:,} more", 4)


def _entities(measures: Measures, is_long: bool) -> Iterator[_Line]:
    total, kept = measures.recall
    if not total:
        return
    summary = f"Entities   {share(kept, total)} of {total:,} kept in reduced returns"
    losses = _losses(measures.entities)
    if is_long or not losses:
        yield _Line(summary, 2)
        for line in lost_entities(measures.entities, measures.lost_entities):
            yield _Line(line, 4)
    else:
        counts = ", ".join(f"{kind} {lost:,} of {of:,}" for kind, lost, of in losses)
        yield _Line(f"{summary}; lost: {counts}", 2)


def _losses(recalls: Mapping[str, Recall]) -> list[tuple[str, int, int]]:
    """Return the types that lost entities with the numbers of lost and of all entities, the largest loss first."""
    losses = [(kind, total - kept, total) for kind, (total, kept) in recalls.items() if kept < total]
    return sorted(losses, key=lambda loss: (-loss[1], loss[0]))


def _lost_reference(one: LostReference) -> str:
    step = one.step or _SEVERAL
    return f"{one.value}: from {one.tool} {one.found} at {one.path}, used in message {one.used}, removed by {step}"


def lost_entities(recalls: Mapping[str, Recall], lost: Sequence[LostEntity]) -> list[str]:
    """Describe the lost entities of each type, the largest loss first."""
    lines = []
    for kind, number, total in _losses(recalls):
        by = _lost_by([one for one in lost if one.type == kind])
        lines.append(f"{kind}: {number:,} of {total:,} lost{by}")
    kept = [f"{kind} {total:,}" for kind, (total, left) in recalls.items() if left == total]
    return [*lines, f"all kept: {', '.join(kept)}"] if kept else lines


def _lost_by(found: Sequence[LostEntity]) -> str:
    """Name the step that removed most entities of one type, and the first of them."""
    by = ""
    for step, count in Counter(one.step or _SEVERAL for one in found).most_common(1):
        by = f", by {step}" if count == len(found) else f", most by {step}"
    return f"{by}: {listed((shortened(visible(one.value), _MAX_VALUE, _TAIL) for one in found), _MAX_VALUES)}"


def _requests(measures: Measures) -> Iterator[_Line]:
    """Yield the cost of the recorded and of the reduced requests with a prompt cache, and what is saved without."""
    old, new = measures.recorded, measures.reduced
    if old.requests:
        cost = f"{old.cached / 4:,.0f} -> {new.cached / 4:,.0f} tokens at input price"
        less, uncached = saved(old.cached, new.cached), saved(old.uncached, new.uncached)
        yield _Line(f"Cost       {cost}: {less} less; without prompt cache {uncached} less", 2)
