"""The report of `run` as a table of tools, with what the rules cost and what needs attention below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from reducer.analysis.attention import TITLES, Attention, by_kind
from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import Report, tokens
from reducer.analysis.tally import Kind
from reducer.cli.messages import counted
from reducer.cli.views.text import cost_lines, kept_for_references, rule_name, saved, share
from reducer.screen import console, print_indented, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_MAX_ENTRIES = 12
_MAX_LOST = 8
_MAX_WARNINGS = 3


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Print the table, its totals, what the rules cost if that was measured, and what needs attention."""
    from rich.text import Text

    table = _table(report)
    screen = fitting(table, stream)
    if stream.isatty() and screen.measure(table, options=screen.options.update(max_width=1000)).maximum > screen.width:
        table = _table(report, narrow=True)
    print_head(report, screen)
    if not report.tools:
        screen.print("No tool returns.")
    else:
        screen.print(table)
        before, after = tokens(report.before), tokens(report.after)
        screen.print(Text(f"About {before:,} tokens before, {after:,} after (estimate: characters / 4).", "dim"))
        if report.tally.referenced:
            screen.print(Text(f"{kept_for_references(report)} (--no-references removes them).", "dim"))
    if report.tally.measures is not None and report.tools:
        _print_measures(report, report.tally.measures, prices, screen)
    print_attention(needs, screen)


def fitting(table: Table, stream: TextIO) -> Console:
    """Return a console for a table: as wide as the terminal; elsewhere as wide as the table, so that nothing folds."""
    screen = console(stream)
    if stream.isatty():
        return screen
    return console(stream, screen.measure(table, options=screen.options.update(max_width=1000)).maximum)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report is about."""
    from rich.text import Text

    count = len(report.histories)
    lines = f", {counted(sum(total.lines for total in report.lines), 'line')}" if report.lines else ""
    if count == 1:
        screen.print(Text.assemble(("History  ", "dim"), visible(report.histories[0]), lines))
    else:
        names = counted(count, "file") if report.lines else counted(count, "history", "histories")
        screen.print(Text.assemble(("Read     ", "dim"), names, lines))
    rules = counted(len(report.ruleset.rules), "rule")
    screen.print(Text.assemble(("Rules    ", "dim"), visible(report.rules), f" ({rules})"))
    screen.print()


def _table(report: Report, narrow: bool = False) -> Table:
    """Return the table of tools; a narrow one has no tokens, which the line below it states."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=len(report.tools) > 1, footer_style="bold")
    table.add_column("\nTool", "Total", overflow="fold", min_width=12)
    table.add_column("\nRule", overflow="fold", min_width=12)

    def sizes(calls: int, before: int, after: int) -> list[Text]:
        share = Text(saved(before, after), "green" if after < before else "dim")
        numbers = [Text(f"{number:,}") for number in (calls, before, after, tokens(before), tokens(after))]
        return [*numbers[:3], share, *([] if narrow else numbers[3:])]

    total = sizes(sum(tool.calls for tool in report.tools), report.before, report.after)
    titles = ("\nCalls", "Characters\nbefore", "\nafter", "\nSaved", "Tokens, about\nbefore", "\nafter")
    for title, sum_ in zip(titles, total, strict=False):
        table.add_column(title, sum_.plain, justify="right", no_wrap=True)
    for tool in report.tools:
        name = rule_name(tool)
        style = "" if tool.rule else "yellow" if name == "no rule" else "dim"
        table.add_row(Text(visible(tool.tool)), Text(visible(name), style), *sizes(tool.calls, tool.before, tool.after))
    return table


def _print_measures(report: Report, measures: Measures, prices: Prices, screen: Console) -> None:
    from rich.text import Text

    screen.print()
    screen.print(Text("What the rules cost", "bold"))
    for title, summary, lost in (*_sections(measures), *_always_kept(report)):
        screen.print(Text.assemble("  ", (f"{title:<10}", "dim"), " ", summary))
        for line in lost[:_MAX_LOST]:
            print_indented(Text(line), 4, screen)
        if len(lost) > _MAX_LOST:
            more = f"and {len(lost) - _MAX_LOST:,} more; `--format json` lists them"
            print_indented(Text(more, "dim"), 4, screen)
    for line in cost_lines(measures, prices):
        screen.print(Text.assemble("  ", ("Cost      ", "dim"), " ", line))


def _sections(measures: Measures) -> Iterator[tuple[str, str, list[str]]]:
    """Yield title, summary and details of what was lost: references, entities, and calls that were repeated."""
    if measures.retention is None:
        yield "References", "the agent later used no value that only tool returns contain", []
    else:
        lost = [
            f"{visible(one.value)}: from {visible(one.tool)} {visible(one.found)} at {visible(one.path)}, "
            f"used in message {one.used}, removed by {visible(one.step) or 'several steps'}"
            for one in measures.lost_references
        ]
        kept = f"{measures.kept:,} of {measures.references:,} values that the agent used later"
        yield "References", f"{share(measures.kept, measures.references)} kept: {kept}", lost
    total = sum(found.total for found in measures.entities.values())
    kept_entities = sum(found.kept for found in measures.entities.values())
    if total:
        kinds = ", ".join(f"{kind} {found.kept:,}/{found.total:,}" for kind, found in measures.entities.items())
        steps = Counter((lost.step, lost.type) for lost in measures.lost_entities)
        yield (
            "Entities",
            f"{share(kept_entities, total)} kept in reduced returns: {kinds}",
            [
                f"{counted(count, f'{kind} value')} removed by {visible(step) or 'several steps'}"
                for (step, kind), count in steps.most_common()
            ],
        )
    if measures.repeats:
        calls = Counter((again.tool, again.recorded) for again in measures.again)
        yield (
            "Repeats",
            f"{counted(measures.repeats, 'call')} repeated after the first answer",
            [
                f"{visible(tool)}: {counted(count, 'time')}, "
                f"{'already cut when recorded' if recorded else 'cut by the rules'}"
                for (tool, recorded), count in calls.most_common()
            ],
        )


def _always_kept(report: Report) -> Iterator[tuple[str, str, list[str]]]:
    from reducer.operations.limit import Limit

    kept = [
        f"{visible(PurePath(rule.file).name)}:{step.location.line} {visible(step.name)}: "
        f"{counted(count, 'item')} for `{visible(step.op.always_keep.text)}`"
        for rule in report.ruleset.rules
        for step in rule.steps
        if isinstance(step.op, Limit)
        and step.op.always_keep is not None
        and (count := report.tally.always_kept[rule.file, step.number])
    ]
    if kept:
        yield "Kept", "only by `always_keep`", kept


def print_attention(needs: Sequence[Attention], screen: Console) -> None:
    """Print what needs attention, kind by kind, or that nothing does."""
    from rich.text import Text

    screen.print()
    if not needs:
        screen.print(Text("Nothing needs attention.", "green"))
        return
    screen.print(Text("What needs attention", "bold yellow"))
    for kind, entries in by_kind(needs).items():
        screen.print(Text(f"  {TITLES[kind]}"))
        for line in _lines(kind, entries):
            print_indented(line, 4, screen)


def _lines(kind: Kind, entries: list[Attention]) -> Iterator[Text]:
    from rich.text import Text

    if kind == "unused rule":
        yield Text(", ".join(visible(PurePath(entry.where).name) for entry in entries))
        return
    if kind == "warning" and len(entries) > _MAX_WARNINGS:
        yield Text(f"{len(entries):,} warnings; `python -m reducer check` lists them")
        return
    of_tools = kind in ("no rule", "fault")
    width = min(40, max(len(visible(entry.where)) for entry in entries[:_MAX_ENTRIES]))
    for entry in entries[:_MAX_ENTRIES]:
        where = visible(entry.where)
        lead = f"{where:<{width}}  " if of_tools else f"{where}: "
        calls = f" ({counted(entry.calls, 'call')})" if kind in ("no place", "undone") else ""
        yield Text.assemble((lead, "bold"), visible(entry.message), calls)
    if len(entries) > _MAX_ENTRIES:
        rest = entries[_MAX_ENTRIES:]
        size = f", {sum(entry.characters for entry in rest):,} characters in total" if kind == "no rule" else ""
        yield Text(f"and {len(rest):,} more{size}", "dim")
