"""The report of `run` as a table of tools, with what the rules cost and what needs attention below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from reducer.analysis.attention import Attention
from reducer.analysis.prices import Prices
from reducer.analysis.report import Report
from reducer.cli.views.summary import COLUMNS, Section, attention_sections, costs, head, notes, tool_rows
from reducer.screen import console, print_indented, table, visible

if TYPE_CHECKING:
    from rich.console import Console

_MAX_DETAILS = 8
_NARROW = 110
"""Columns of a terminal below which the table leaves out tokens, which are in a line below it."""


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Print the table, its sums, what the rules cost if that was measured, and what needs attention."""
    screen = console(stream)
    print_head(report, screen)
    if report.tools:
        shown = len(COLUMNS) if screen.width >= _NARROW else len(COLUMNS) - 2
        rows, total = tool_rows(report)
        sums = total[:shown] if len(rows) > 1 else ()
        screen.print(table(COLUMNS[:shown], [row[:shown] for row in rows], sums, texts=2))
        for note in notes(report):
            screen.print(note, style="dim")
    else:
        screen.print("No tool returns.")
    if sections := list(costs(report, prices)):
        _print_sections("What the rules cost", sections, screen)
    print_attention(needs, screen)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report is about."""
    for title, text in head(report):
        screen.print(f"{title:<8} {visible(text)}")
    screen.print()


def print_attention(needs: Sequence[Attention], screen: Console) -> None:
    """Print what needs attention, kind by kind, or that nothing does."""
    if needs:
        _print_sections("What needs attention", attention_sections(needs), screen)
    else:
        screen.print("\nNothing needs attention.", style="green")


def _print_sections(heading: str, sections: Iterable[Section], screen: Console) -> None:
    screen.print(f"\n{heading}", style="bold")
    for section in sections:
        title = f"{section.title:<10} {visible(section.summary)}" if section.summary else section.title
        screen.print(f"  {title}")
        print_indented(section.details[:_MAX_DETAILS], 4, screen)
        if len(section.details) > _MAX_DETAILS:
            screen.print(f"    and {len(section.details) - _MAX_DETAILS:,} more; `--format json` lists them")
