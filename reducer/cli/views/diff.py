"""The report of `run` as a diff: what each step removed from each return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from reducer.analysis.explanation import Explanation
from reducer.analysis.steps import Change, StepReport
from reducer.cli.screen import counted, visible
from reducer.cli.views.report import sizes

if TYPE_CHECKING:
    from rich.console import Console

_SIGNS = {"removed": "-", "emptied": "-", "cut": "~", "unwrapped": "~", "restored": "+"}
_STYLES = {"-": "red", "~": "yellow", "+": "green"}
_NAMED = 4
_MAX_CHANGES = 40


def print_returns(title: str, returns: Sequence[Explanation], whole: bool, screen: Console) -> None:
    """Print the returns of one history below its `title`; if `whole`, only the returns that have a rule."""
    shown = [entry for entry in returns if entry.status not in ("no rule", "untouched")] if whole else returns
    if shown and title:
        screen.print(f"{visible(title)}\n", style="bold underline")
    for entry in shown:
        _print_return(entry, screen)


def step_line(step: StepReport) -> str:
    """Describe what a step did in one line."""
    name = f"step {step.step.number}, {step.step.name}" if step.step else "max_chars"
    if not step.ran:
        return f"{name}: its `when` does not hold"
    if step.missing and not step.places:
        return f"{name}: {step.missing[0].help}"
    if step.before == step.after and not step.changes:
        return f"{name}: nothing to remove"
    restored = f", {step.restored:,} of them restored" if step.restored else ""
    return f"{name}: {counted(step.before - step.after, 'character')} less{restored}"


def describe(change: Change) -> str:
    """Describe a change in one line, such as `resolutions[20..57]: 38 of 58 items, 41,203 characters`."""
    times = f" ({change.places:,} times)" if change.places > 1 else ""
    size = counted(abs(change.before - change.after), "character")
    if change.items and change.kind == "removed":
        lists = f" in {change.places:,} lists" if change.places > 1 else ""
        return f"{change.path}: {change.items:,} of {change.total:,} items{lists}, {size}"
    if change.items:
        return f"{change.path}: {counted(change.items, 'item')}, {size}"
    if change.names:
        more = f", {len(change.names) - _NAMED:,} more" if len(change.names) > _NAMED else ""
        return f"{change.path}: {len(change.names):,} keys ({', '.join(change.names[:_NAMED])}{more}), {size}"
    if change.before and change.kind not in ("removed", "emptied"):
        return f"{change.path}{times}: {change.before:,} -> {counted(change.after, 'character')}"
    stays = ", the key stays" if change.kind == "emptied" else ""
    return f"{change.path}{times}: {counted(max(change.before, change.after), 'character')}{stays}"


def _print_return(entry: Explanation, screen: Console) -> None:
    about = [PurePath(entry.rule.file).name] if entry.rule else []
    name = entry.tool
    if entry.place is not None:
        name = f"{entry.tool} {entry.name}"
        about += [f"message {entry.place.message + 1}", f"part {entry.place.part + 1}"]
    screen.print(visible(f"{name} ({', '.join(about)})" if about else name), style="bold")
    if entry.status == "reduced":
        screen.print(f"  {sizes(entry.before, entry.after)}")
    else:
        screen.print(f"  {counted(entry.before, 'character')}, unchanged: {visible(entry.why)}")
    for line, changes in _effects(entry):
        screen.print(f"  {visible(line)}")
        _print_changes(changes, screen)
    screen.print()


def _effects(entry: Explanation) -> Iterator[tuple[str, Sequence[Change]]]:
    """Yield what changed the size of a return, with the changed places."""
    if entry.rewritten > 0:
        yield f"JSON text without blanks: {counted(entry.rewritten, 'character')} less", ()
    yield from ((step_line(step), step.changes) for step in entry.steps)
    if entry.restored:
        places = () if entry.referenced else entry.restorations
        yield f"restored by preserve, and markers: {counted(entry.restored, 'character')} more", places
    if entry.referenced:
        more = counted(entry.referenced, "character")
        yield f"kept because later messages reference it: {more} more", entry.restorations
    if entry.over and entry.rule:
        yield f"still {counted(entry.over, 'character')} above max_chars {entry.rule.max_chars or 0:,}", ()


def _print_changes(changes: Sequence[Change], screen: Console) -> None:
    for change in changes[:_MAX_CHANGES]:
        sign = _SIGNS[change.kind]
        sample = f"  {change.sample}" if change.sample else ""
        line = visible(f"{sign} {describe(change)}{sample}")
        screen.print(f"    {line}", style=_STYLES[sign], no_wrap=True, overflow="ellipsis")
    if len(changes) > _MAX_CHANGES:
        size = counted(sum(abs(change.before - change.after) for change in changes[_MAX_CHANGES:]), "character")
        screen.print(f"    … and at {counted(len(changes) - _MAX_CHANGES, 'more place')}: {size}")
