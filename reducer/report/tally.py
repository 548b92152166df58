"""Sums over tool returns, added up one by one and kept in place of them: bounded, whatever comes, and in parts that can be put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from reducer.measures import Measures
from reducer.measures import add as add_measures
from reducer.report.missing import Missing

if TYPE_CHECKING:
    from reducer.report import ReturnReport, StepReport

_T = TypeVar("_T")

_MOST_TOOLS = 5_000
_MOST_REASONS = 200
"""Different things that a step missed, or reasons of faults of a tool, that are told apart; a hostile stream has a new one in every return."""
_MOST_CHARACTERS = 1_000
OTHER_TOOLS = "(other tools)"
"""What the tools past `_MOST_TOOLS` are called together."""


@dataclass(slots=True)
class FaultSum:
    """Returns of a tool that stayed for one reason: the first by name, how many, and their characters."""

    first: str
    calls: int = 0
    characters: int = 0


@dataclass(slots=True)
class ToolSum:
    """The returns of one tool: `rule` is the file of its rule, `without_rule` the characters of those that no rule is for, `faults` by reason."""

    rule: str | None = None
    calls: int = 0
    reduced: int = 0
    untouched: int = 0
    before: int = 0
    after: int = 0
    without_rule: int = 0
    faults: dict[str, FaultSum] = field(default_factory=dict)


@dataclass(slots=True)
class MissingSum:
    """Something that a step missed, and in how many returns."""

    item: Missing
    calls: int = 0


@dataclass(slots=True)
class StepSum:
    """One step where it ran: `placed` tells whether it ever found its place, `seen` which of the keys that it names were there.

    `missed` counts the returns for each thing that was missed, `reasons` tells those apart by what there was in its place.
    `undone` counts the returns in which preserve put back half and more, `back` of the `taken` characters.
    `always_kept` counts the items that its `always_keep` saved.
    """

    placed: bool = False
    seen: set[str] = field(default_factory=set)
    missed: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, MissingSum] = field(default_factory=dict)
    undone: int = 0
    back: int = 0
    taken: int = 0
    always_kept: int = 0


@dataclass(slots=True)
class RuleSum:
    """One rule: its steps by number (one more is the ladder), entities lost and in how many returns, returns above `max_chars` and the worst of them."""

    steps: dict[int, StepSum] = field(default_factory=dict)
    lost: int = 0
    losing: int = 0
    over: int = 0
    worst: int = 0
    worst_name: str = ""


@dataclass(slots=True)
class LineSum:
    """The lines of one file of JSON lines: all of them, and those that were passed through as they were.

    `bad` lines hold no history, `long` ones are too large to be read; `told` has the numbers of the first bad ones, and what is wrong with them.
    """

    history: str
    lines: int = 0
    blank: int = 0
    bad: int = 0
    long: int = 0
    told: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """All of it: tools by name and rules by file, in the order in which they came, and what the rules cost if that was measured.

    `referred` are the characters that stay as later messages refer to them, in `referring` returns.
    """

    tools: dict[str, ToolSum] = field(default_factory=dict)
    rules: dict[str, RuleSum] = field(default_factory=dict)
    measures: Measures | None = None
    referred: int = 0
    referring: int = 0


def tally_of(entries: Iterable[ReturnReport]) -> Tally:
    """Sum up returns."""
    tally = Tally()
    for entry in entries:
        add(tally, entry)
    return tally


def add(tally: Tally, entry: ReturnReport) -> None:
    """Count one more return."""
    tool = _tool(tally, _short(entry.tool))
    tool.calls += 1
    tool.before += entry.before
    tool.after += entry.after
    tool.reduced += entry.status == "reduced"
    tool.untouched += entry.status == "untouched"
    if entry.status == "no rule":
        tool.without_rule += entry.before
    elif entry.status == "fault":
        fault = _reason(tool.faults, _short(entry.why), FaultSum(_short(entry.name)))
        if fault is not None:
            fault.calls += 1
            fault.characters += entry.before
    tally.referred += entry.referred
    tally.referring += entry.referred > 0
    if entry.rule is None:
        return
    tool.rule = tool.rule or entry.rule.file
    rule = tally.rules.get(entry.rule.file)
    if rule is None:
        rule = tally.rules[entry.rule.file] = RuleSum()
    if entry.lost:
        rule.lost += entry.lost
        rule.losing += 1
    if entry.over:
        rule.over += 1
        if entry.over > rule.worst:
            rule.worst, rule.worst_name = entry.over, _short(entry.name)
    for step in entry.steps:
        if step.ran:
            number = step.step.number if step.step else len(entry.rule.steps) + 1
            _add_step(rule.steps.setdefault(number, StepSum()), step)


def _add_step(total: StepSum, step: StepReport) -> None:
    total.placed = total.placed or step.places > 0
    total.seen.update(step.seen)
    for item in step.missing:
        wanted = what(item)
        total.missed[wanted] = total.missed.get(wanted, 0) + 1
        short = item if len(item.help) <= _MOST_CHARACTERS else replace(item, help=_short(item.help), nearest=_short(item.nearest))
        reason = _reason(total.reasons, f"{wanted}: {short.help}", MissingSum(short))
        if reason is not None:
            reason.calls += 1
    total.always_kept += step.always_kept
    took = step.before - step.after
    if step.put_back * 2 >= took > 0:
        total.undone += 1
        total.back += step.put_back
        total.taken += took


def what(item: Missing) -> str:
    """Name what was missed, whatever there was in its place."""
    return f"{item.what} {item.text}"


def merge(tally: Tally, other: Tally) -> None:
    """Count all that another tally has, as if it had come after what is in this one."""
    if other.measures is not None:
        tally.measures = other.measures if tally.measures is None else add_measures((tally.measures, other.measures))
    tally.referred += other.referred
    tally.referring += other.referring
    for name, tool in other.tools.items():
        total = _tool(tally, name)
        total.rule = total.rule or tool.rule
        for part in ("calls", "reduced", "untouched", "before", "after", "without_rule"):
            setattr(total, part, getattr(total, part) + getattr(tool, part))
        for why, fault in tool.faults.items():
            same = _reason(total.faults, why, FaultSum(fault.first))
            if same is not None:
                same.calls += fault.calls
                same.characters += fault.characters
    for file, rule in other.rules.items():
        _merge_rule(tally.rules.setdefault(file, RuleSum()), rule)


def _merge_rule(total: RuleSum, rule: RuleSum) -> None:
    total.lost += rule.lost
    total.losing += rule.losing
    total.over += rule.over
    if rule.worst > total.worst:
        total.worst, total.worst_name = rule.worst, rule.worst_name
    for number, step in rule.steps.items():
        same = total.steps.setdefault(number, StepSum())
        same.placed = same.placed or step.placed
        same.seen |= step.seen
        for wanted, calls in step.missed.items():
            same.missed[wanted] = same.missed.get(wanted, 0) + calls
        for key, reason in step.reasons.items():
            known = _reason(same.reasons, key, MissingSum(reason.item))
            if known is not None:
                known.calls += reason.calls
        same.undone += step.undone
        same.back += step.back
        same.taken += step.taken
        same.always_kept += step.always_kept


def _tool(tally: Tally, name: str) -> ToolSum:
    found = tally.tools.get(name)
    if found is None:
        if len(tally.tools) >= _MOST_TOOLS:
            name = OTHER_TOOLS
        found = tally.tools.setdefault(name, ToolSum())
    return found


def _reason(known: dict[str, _T], key: str, new: _T) -> _T | None:
    if key not in known and len(known) >= _MOST_REASONS:
        return None
    return known.setdefault(key, new)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
