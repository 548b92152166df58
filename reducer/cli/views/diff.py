"""The report as a diff: what each step removed from each return."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from reducer.analysis.attention import Attention, plural
from reducer.analysis.report import Report, ReturnReport
from reducer.analysis.steps import Change, StepReport
from reducer.cli.views.table import print_attention, print_head
from reducer.cli.views.text import saved
from reducer.screen import console, print_indented, visible

if TYPE_CHECKING:
    from rich.console import Console

_SIGNS = {"removed": "-", "emptied": "-", "cut": "~", "unwrapped": "~", "restored": "+"}
_STYLES = {"-": "red", "~": "yellow", "+": "green"}
_NAMED = 4
_LEAST_SAMPLE = 12
_MOST_CHANGES = 40


def print_diff(report: Report, needs: Sequence[Attention], stream: TextIO) -> None:
    """Print every return that a rule is for, step by step, then what needs attention."""
    screen = console(stream)
    print_head(report, screen)
    for name, entries in groupby(report.returns, lambda entry: entry.history):
        print_returns(name if len(report.histories) > 1 else "", list(entries), report.whole, screen)
    print_end(report, needs, screen)


def print_returns(title: str, returns: Sequence[ReturnReport], whole: bool, screen: Console) -> None:
    """Print the returns of one history, below its `title`. If `whole`, unchanged returns in a row are one line."""
    shown = [entry for entry in returns if entry.status not in ("no rule", "untouched")] if whole else returns
    if shown and title:
        screen.print(visible(title), style="bold underline")
        screen.print()
    for quiet, entries in groupby(shown, lambda entry: whole and _is_quiet(entry)):
        if quiet:
            _print_quiet(list(entries), screen)
        else:
            for entry in entries:
                _print_return(entry, screen)


def print_end(report: Report, needs: Sequence[Attention], screen: Console) -> None:
    """Print the totals, then what needs attention."""
    if not report.tools:
        screen.print("No tool returns.")
    else:
        screen.print(f"Total: {_sizes(report.before, report.after)}", style="bold")
    print_attention(needs, screen)


def _is_quiet(entry: ReturnReport) -> bool:
    return entry.status in ("unchanged", "gated") and not entry.over and not entry.restored and not entry.referenced


def _print_quiet(entries: Sequence[ReturnReport], screen: Console) -> None:
    size = sum(entry.before for entry in entries)
    last = f" to {entries[-1].name}" if len(entries) > 1 else ""
    returns = f"{len(entries):,} {plural(len(entries), 'return')}"
    tools = ", ".join(dict.fromkeys(entry.tool for entry in entries))
    screen.print(visible(f"{tools} {entries[0].name}{last}: {returns} unchanged, {size:,} characters"), style="dim")
    screen.print()


def _print_return(entry: ReturnReport, screen: Console) -> None:
    from rich.text import Text

    rule = f"{PurePath(entry.rule.file).name}, " if entry.rule else ""
    place = f"({rule}message {entry.message + 1}, part {entry.part + 1})"
    screen.print(
        Text.assemble((visible(entry.tool), "bold"), " ", (visible(entry.name), "cyan"), " ", (visible(place), "dim"))
    )
    if entry.status == "reduced":
        screen.print(f"  {_sizes(entry.before, entry.after)}")
    else:
        text = f"  {entry.before:,} characters, unchanged: {visible(entry.why)}"
        screen.print(text, style="bold red" if entry.status == "fault" else "dim")
    if entry.rewritten > 0:
        screen.print(f"  JSON text without blanks: {entry.rewritten:,} characters less")
    for step in entry.steps:
        _print_step(step, screen)
    if entry.restored:
        screen.print(Text(f"  restored by preserve, and markers: {entry.restored:,} characters more"))
    if entry.referenced:
        screen.print(Text(f"  kept because later messages reference it: {entry.referenced:,} characters more"))
    if entry.restored or entry.referenced:
        _print_changes(entry.restorations, screen)
    if entry.over:
        limit = entry.rule.max_chars if entry.rule else 0
        screen.print(f"  still {entry.over:,} characters above max_chars {limit:,}", style="yellow")
    screen.print()


def _print_step(step: StepReport, screen: Console) -> None:
    name = f"step {step.step.number}, {visible(step.step.name)}" if step.step else "max_chars"
    if not step.ran:
        screen.print(f"  {name}: its `when` does not hold", style="dim")
    elif step.missing and not step.places:
        screen.print(f"  {name}: {visible(step.missing[0].help)}", style="yellow")
    elif step.before == step.after and not step.changes:
        screen.print(f"  {name}: nothing to remove", style="dim")
    else:
        screen.print(f"  {name}: {step.before - step.after:,} characters less")
        _print_changes(step.changes, screen)


def _print_changes(changes: Sequence[Change], screen: Console) -> None:
    from rich.text import Text

    for change in changes[:_MOST_CHANGES]:
        sign = _SIGNS[change.kind]
        line = Text(f"{sign} {visible(describe(change))}", _STYLES[sign])
        room = screen.width - len(line) - 6
        sample = visible(change.sample)
        if sample and (not screen.is_terminal or room >= _LEAST_SAMPLE):
            # On a terminal, a sample never takes a second line.
            short = sample if len(sample) <= room or not screen.is_terminal else f"{sample[: room - 1]}…"
            line.append(f"  {short}", "dim")
        print_indented(line, 4, screen)
    if len(changes) > _MOST_CHANGES:
        rest = changes[_MOST_CHANGES:]
        size = sum(abs(change.before - change.after) for change in rest)
        screen.print(f"    … and at {len(rest):,} more places: {size:,} characters", style="dim")


def describe(change: Change) -> str:
    """Describe a change on one line, such as `resolutions[20..57]: 38 of 58 items, 41,203 characters`."""
    path = change.path
    if change.items:
        count = f"{change.items:,} {plural(change.items, 'item')}"
        if change.kind == "removed":
            lists = f" in {change.places:,} lists" if change.places > 1 else ""
            count = f"{change.items:,} of {change.total:,} items{lists}"
        return f"{path}: {count}, {abs(change.before - change.after):,} characters"
    if change.names:
        named = ", ".join(change.names[:_NAMED])
        more = f", {len(change.names) - _NAMED:,} more" if len(change.names) > _NAMED else ""
        path = f"{path}: {len(change.names):,} keys ({named}{more})"
        return f"{path}, {abs(change.before - change.after):,} characters"
    times = f" ({change.places:,} times)" if change.places > 1 else ""
    if change.kind in ("removed", "emptied") or not change.before:
        stays = ", the key stays" if change.kind == "emptied" else ""
        return f"{path}{times}: {max(change.before, change.after):,} characters{stays}"
    return f"{path}{times}: {change.before:,} -> {change.after:,} characters"


def _sizes(before: int, after: int) -> str:
    return f"{before:,} -> {after:,} characters, {saved(before, after)} saved"
