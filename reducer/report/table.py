"""The report as a table of tools, and what needs attention below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from reducer.measures.cost import Prices
from reducer.report import Report, ToolReport, tokens
from reducer.report.attention import TITLES, Attention, Kind, by_kind, plural
from reducer.report.measured import print_measures
from reducer.screen import console, print_indented, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_MOST = 12
_FEW = 3
_WIDEST = 1000


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Print the table, its totals, what the rules cost if that was measured, and what needs attention."""
    from rich.text import Text

    table = _table(report)
    screen = console(stream)
    wanted = screen.measure(table, options=screen.options.update(max_width=_WIDEST)).maximum
    if not stream.isatty():
        # Nothing is folded there: a table is as wide as its names.
        screen = console(stream, wanted)
    elif wanted > screen.width:
        table = _table(report, narrow=True)
    print_head(report, screen)
    if not report.tools:
        screen.print("No tool returns in it." if len(report.histories) == 1 else "No tool returns in them.")
    else:
        screen.print(table)
        before, after = tokens(report.before), tokens(report.after)
        screen.print(Text(f"About {before:,} tokens before, {after:,} after: an estimate, characters / 4.", "dim"))
        if report.tally.referred:
            screen.print(Text(f"{referred(report)}: --no-references lets them go.", "dim"))
    if report.tally.measures is not None and report.tools:
        print_measures(report, report.tally.measures, prices, screen)
    print_attention(needs, screen)


def print_head(report: Report, screen: Console) -> None:
    """Print what was looked at: the histories and the rules."""
    from rich.text import Text

    count = len(report.histories)
    lines = sum(total.lines for total in report.lines)
    names = report.histories[0] if count == 1 else f"{count:,} histories"
    if report.lines:
        names = f"{report.histories[0] if count == 1 else f'{count:,} files'}, {lines:,} {plural(lines, 'line')}"
    rules = len(report.ruleset.rules)
    screen.print(Text.assemble(("History  ", "dim"), visible(names)) if count == 1 else Text.assemble(("Read     ", "dim"), names))
    screen.print(Text.assemble(("Rules    ", "dim"), visible(report.rules), f" ({rules:,} {plural(rules, 'rule')})"))
    screen.print()


def print_attention(needs: Sequence[Attention], screen: Console) -> None:
    """Print what needs attention, kind by kind; or that nothing does."""
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
    if kind == "warning" and len(entries) > _FEW:
        yield Text(f"{len(entries):,} warnings: `python -m reducer check` shows them")
        return
    longest = max(len(visible(entry.where)) for entry in entries[:_MOST])
    for entry in entries[:_MOST]:
        where = visible(entry.where)
        calls = f" ({entry.calls:,} {plural(entry.calls, 'call')})" if kind in ("no place", "undone") else ""
        lead = where.ljust(min(longest, 40)) if kind in ("no rule", "fault") else f"{where}:"
        yield Text.assemble((lead, "bold"), "  " if kind in ("no rule", "fault") else " ", visible(entry.message), calls)
    if len(entries) > _MOST:
        rest = entries[_MOST:]
        size = sum(entry.characters for entry in rest)
        yield Text(f"and {len(rest):,} more{f', {size:,} characters together' if kind == 'no rule' else ''}", "dim")


def _table(report: Report, narrow: bool = False) -> Table:
    """Make the table; a narrow one leaves the tokens to the line below it."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=len(report.tools) > 1, footer_style="bold")
    calls = sum(tool.calls for tool in report.tools)
    before, after = report.before, report.after
    table.add_column("\nTool", "Total", overflow="fold", min_width=12)
    table.add_column("\nRule", overflow="fold", min_width=12)
    columns = [
        ("\nCalls", f"{calls:,}"), ("Characters\nbefore", f"{before:,}"), ("\nafter", f"{after:,}"), ("\nSaved", saved(before, after)),
        ("Tokens, about\nbefore", f"{tokens(before):,}"), ("\nafter", f"{tokens(after):,}"),
    ]  # fmt: skip
    for head, foot in columns[: 4 if narrow else 6]:
        table.add_column(head, foot, justify="right", no_wrap=True)
    for tool in report.tools:
        name, style = _rule_name(tool)
        share = Text(saved(tool.before, tool.after), "green" if tool.after < tool.before else "dim")
        sizes = (f"{tool.calls:,}", f"{tool.before:,}", f"{tool.after:,}", share, f"{tokens(tool.before):,}", f"{tokens(tool.after):,}")
        table.add_row(Text(visible(tool.tool)), Text(name, style), *sizes[: 4 if narrow else 6])
    return table


def _rule_name(tool: ToolReport) -> tuple[str, str]:
    if tool.rule is not None:
        return visible(PurePath(tool.rule.file).name), ""
    return ("never touched", "dim") if tool.untouched == tool.calls else ("no rule", "yellow")


def referred(report: Report) -> str:
    """Say how much stays for later messages."""
    count = report.tally.referring
    characters = report.tally.referred
    return f"{characters:,} {plural(characters, 'character')} in {count:,} {plural(count, 'return')} stay, as later messages refer to what is in them"


def saved(before: int, after: int) -> str:
    """Write the share that was saved."""
    return f"{(before - after) / before:.1%}" if before else "-"
