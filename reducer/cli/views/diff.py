"""What a rule did to a return, for `try`, `explain` and `run --format diff`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from reducer.analysis.explanation import Change, Explanation, StepReport
from reducer.analysis.texts import listed
from reducer.cli.screen import counted, print_lines, visible
from reducer.cli.views.report import lost_entities, sizes

if TYPE_CHECKING:
    from rich.console import Console

_SIGNS = {"removed": "-", "emptied": "-", "cut": "~", "unwrapped": "~", "restored": "+"}
_STYLES = {"-": "red", "~": "yellow", "+": "green"}
_MAX_CHANGES = 12


def print_returns(title: str, returns: Sequence[Explanation], whole: bool, screen: Console) -> None:
    """Print the returns of one history below its `title`; if `whole`, only list the returns that do not change."""
    if title and returns:
        print_lines([title], screen, style="bold underline")
        screen.print()
    unchanged = []
    for entry in returns:
        if whole and entry.status != "reduced" and not any(step.changes for step in entry.steps):
            unchanged.append(entry.name)
            continue
        print_head(entry, screen)
        print_effects(entry, screen)
        screen.print()
    if unchanged:
        count = counted(len(unchanged), "return")
        print_lines([f"{count} unchanged (--call shows why): {listed(unchanged)}", ""], screen)


def print_head(entry: Explanation, screen: Console, sample: str = "") -> None:
    """Print which rule applied to which return or `sample`, and the sizes before and after."""
    name = sample or entry.tool
    about = [PurePath(entry.rule.file).name] if entry.rule else []
    if entry.place is not None:
        name = f"{entry.tool} {entry.name}"
        about += [f"message {entry.place.message + 1}", f"part {entry.place.part + 1}"]
    print_lines([f"{name} ({', '.join(about)})" if about else name], screen, style="bold")
    size = f"{counted(entry.before, 'character')}, unchanged"
    if entry.after < entry.before:
        size = sizes(entry.before, entry.after)
    print_lines([f"{size}: {entry.why}" if entry.why else size], screen, 2)


def print_effects(entry: Explanation, screen: Console) -> None:
    """Print what changed the size of a return, at the places that it changed, and the entities that it lost."""
    for line, changes in _effects(entry):
        print_lines([line], screen, 2)
        print_changes(changes, screen)
    if entry.lost_entities:
        print_lines(["entities missing from the result"], screen, 2)
        print_lines(lost_entities(entry.entities, entry.lost_entities), screen, 4)


def step_line(step: StepReport, is_refused: bool = False) -> str:
    """Describe in one line what a step did, or what it would do if the result `is_refused`."""
    name = f"step {step.run.number}, {step.name}" if step.run.step else step.name
    if step.run.skipped:
        return f"{name}: not applied, because a second pass would change the result"
    if not step.run.ran:
        return f"{name}: its `when` does not hold"
    if step.nothing is not None:
        return f"{name}: {step.nothing.message}"
    if step.before == step.after and not step.changes:
        return f"{name}: nothing to remove"
    size = step.before - step.after
    effect = counted(abs(size), "more character" if size < 0 else "fewer character")
    restored = f", {step.restored:,} of them restored" if step.restored else ""
    return f"{name}: {'would be ' if is_refused else ''}{effect}{restored}"


def describe(change: Change) -> str:
    """Describe a change in one line, such as `resolutions[20..57]: 38 of 58 items, 41,203 characters`."""
    times = f" ({change.places:,} times)" if change.places > 1 else ""
    size = counted(abs(change.before - change.after), "character")
    is_emptied = change.kind == "emptied"
    if change.total:
        size = f"{change.items:,} of {counted(change.total, 'item')}, {size}"
    elif change.items:
        size = f"{counted(change.items, 'item')}, {size}"
    elif change.before and change.after and not is_emptied:
        size = f"{change.before:,} -> {counted(change.after, 'character')}"
    return f"{change.path}{times}: {size}{', the key stays' if is_emptied else ''}"


def _effects(entry: Explanation) -> Iterator[tuple[str, Sequence[Change]]]:
    """Yield what changed the size of a return, with the changed places."""
    if entry.rewritten > 0:
        yield f"JSON without white space: {counted(entry.rewritten, 'fewer character')}", ()
    for step in entry.steps:
        yield step_line(step, entry.is_refused), step.changes
    if entry.restored:
        places = () if entry.referenced else entry.restorations
        yield f"restored by preserve, and markers: {counted(entry.restored, 'more character')}", places
    if entry.referenced:
        more = counted(entry.referenced, "more character")
        yield f"kept because later messages reference them: {more}", entry.restorations
    if entry.is_emptied:
        yield "none of its values is left", ()
    if entry.over and entry.rule:
        yield f"still {counted(entry.over, 'character')} above max_chars {entry.rule.max_chars or 0:,}", ()


def print_changes(changes: Sequence[Change], screen: Console) -> None:
    """Print the first changed places with a sample of each, and count the others."""
    for change in changes[:_MAX_CHANGES]:
        sign = _SIGNS[change.kind]
        line = visible(f"{sign} {describe(change)}  {change.sample}".rstrip())
        screen.print(f"    {line}", style=_STYLES[sign], no_wrap=True, overflow="ellipsis")
    others = changes[_MAX_CHANGES:]
    if others:
        size = counted(sum(abs(change.before - change.after) for change in others), "character")
        screen.print(f"    … and at {counted(len(others), 'more place')}: {size}")
