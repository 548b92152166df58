"""Sums over tool returns: of bounded size, whatever the input, and mergeable across processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from reducer.analysis.measures import Measures
from reducer.analysis.measures import add as add_measures
from reducer.analysis.missing import Missing

if TYPE_CHECKING:
    from reducer.analysis.report import ReturnReport
    from reducer.analysis.steps import StepReport

_T = TypeVar("_T")

_MAX_TOOLS = 5_000
_MAX_REASONS = 200
"""Different things that a step does not find, or faults of a tool; a hostile input has a new one in every return."""
_MAX_CHARACTERS = 1_000
OTHER_TOOLS = "(other tools)"
"""The name of all tools beyond `_MAX_TOOLS`."""


@dataclass(slots=True)
class FaultSum:
    """Returns of a tool that are unchanged for one reason: the name of the first, how many, and their characters."""

    first: str
    calls: int = 0
    characters: int = 0


@dataclass(slots=True)
class ToolSum:
    """The returns of one tool: `rule` is the file of its rule, `without_rule` the characters of those without one.

    `faults` are by reason.
    """

    rule: str | None = None
    calls: int = 0
    reduced: int = 0
    untouched: int = 0
    before: int = 0
    after: int = 0
    without_rule: int = 0
    faults: dict[str, FaultSum] = field(default_factory=dict)

    def merge(self, other: ToolSum) -> None:
        """Add the sums of more returns."""
        self.rule = self.rule or other.rule
        _add_numbers(self, other)
        for why, fault in other.faults.items():
            if (known := _bounded(self.faults, why, FaultSum(fault.first))) is not None:
                _add_numbers(known, fault)


@dataclass(slots=True)
class MissingSum:
    """Something that a step did not find, and in how many returns."""

    item: Missing
    calls: int = 0


@dataclass(slots=True)
class StepSum:
    """One step where it ran: `placed` says whether it ever found its place, `seen` which of its keys it found.

    `missed` counts the returns for each thing that was not found, `reasons` also by what was there instead. `undone`
    counts the returns in which preserve restored at least half of what the step removed: `restored` of the `removed`
    characters. `always_kept` counts the items that only its `always_keep` kept.
    """

    placed: bool = False
    seen: set[str] = field(default_factory=set)
    missed: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, MissingSum] = field(default_factory=dict)
    undone: int = 0
    restored: int = 0
    removed: int = 0
    always_kept: int = 0

    def merge(self, other: StepSum) -> None:
        """Add the sums of more returns."""
        self.placed = self.placed or other.placed
        self.seen |= other.seen
        _add_numbers(self, other)
        for name, calls in other.missed.items():
            self.missed[name] = self.missed.get(name, 0) + calls
        for key, reason in other.reasons.items():
            if (known := _bounded(self.reasons, key, MissingSum(reason.item))) is not None:
                known.calls += reason.calls


@dataclass(slots=True)
class RuleSum:
    """One rule: its steps by number, `max_chars` after the last; entities that were lost, and in how many returns.

    `over` counts the returns above `max_chars`; `worst` is the largest excess, in characters.
    """

    steps: dict[int, StepSum] = field(default_factory=dict)
    lost: int = 0
    losing: int = 0
    over: int = 0
    worst: int = 0
    worst_name: str = ""

    def merge(self, other: RuleSum) -> None:
        """Add the sums of more returns."""
        self.lost += other.lost
        self.losing += other.losing
        self.over += other.over
        if other.worst > self.worst:
            self.worst, self.worst_name = other.worst, other.worst_name
        for number, step in other.steps.items():
            self.steps.setdefault(number, StepSum()).merge(step)


@dataclass(slots=True)
class LineSum:
    """The lines of one file of JSON lines.

    `bad` lines contain no history, `long` ones are too large to be read; `first_bad` has the numbers of the first bad
    ones, each with what is wrong.
    """

    history: str
    lines: int = 0
    blank: int = 0
    bad: int = 0
    long: int = 0
    first_bad: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """All sums: tools by name and rules by file, in the order of their first return, and what the rules cost.

    `referenced` are the characters that were kept because later messages reference them, in `referencing` returns.
    """

    tools: dict[str, ToolSum] = field(default_factory=dict)
    rules: dict[str, RuleSum] = field(default_factory=dict)
    measures: Measures | None = None
    referenced: int = 0
    referencing: int = 0

    def add(self, entry: ReturnReport) -> None:
        """Count one more return."""
        self.merge(_of_return(entry))

    def merge(self, other: Tally) -> None:
        """Add the sums of the returns that follow."""
        if other.measures is not None:
            self.measures = other.measures if self.measures is None else add_measures((self.measures, other.measures))
        self.referenced += other.referenced
        self.referencing += other.referencing
        for name, tool in other.tools.items():
            known = name in self.tools or len(self.tools) < _MAX_TOOLS
            self.tools.setdefault(name if known else OTHER_TOOLS, ToolSum()).merge(tool)
        for file, rule in other.rules.items():
            self.rules.setdefault(file, RuleSum()).merge(rule)


def tally_of(entries: Iterable[ReturnReport]) -> Tally:
    """Sum up returns."""
    tally = Tally()
    for entry in entries:
        tally.add(entry)
    return tally


def item_name(item: Missing) -> str:
    """Return the name of something that was not found, whatever was there instead."""
    return f"{item.what} {item.text}"


def _of_return(entry: ReturnReport) -> Tally:
    tool = ToolSum(
        rule=None if entry.rule is None else entry.rule.file,
        calls=1,
        reduced=int(entry.status == "reduced"),
        untouched=int(entry.status == "untouched"),
        before=entry.before,
        after=entry.after,
        without_rule=entry.before if entry.status == "no rule" else 0,
        faults={_short(entry.why): FaultSum(_short(entry.name), 1, entry.before)} if entry.status == "fault" else {},
    )
    tally = Tally({_short(entry.tool): tool}, referenced=entry.referenced, referencing=int(entry.referenced > 0))
    if entry.rule is not None:
        steps = {
            step.step.number if step.step else len(entry.rule.steps) + 1: _of_step(step)
            for step in entry.steps
            if step.ran
        }
        name = _short(entry.name) if entry.over else ""
        lost, over = entry.lost, entry.over
        tally.rules[entry.rule.file] = RuleSum(steps, lost, int(lost > 0), int(over > 0), over, name)
    return tally


def _of_step(step: StepReport) -> StepSum:
    total = StepSum(step.places > 0, set(step.seen), always_kept=step.always_kept)
    for item in step.missing:
        name = item_name(item)
        total.missed[name] = 1
        short = replace(item, help=_short(item.help), nearest=_short(item.nearest))
        total.reasons[f"{name}: {short.help}"] = MissingSum(short, 1)
    removed = step.before - step.after
    if step.restored * 2 >= removed > 0:
        total.undone, total.restored, total.removed = 1, step.restored, removed
    return total


def _add_numbers(total: Any, more: Any) -> None:
    """Add the fields that are numbers."""
    for each in fields(total):
        number = getattr(more, each.name)
        if type(number) is int:
            setattr(total, each.name, getattr(total, each.name) + number)


def _bounded(known: dict[str, _T], key: str, new: _T) -> _T | None:
    return known.setdefault(key, new) if key in known or len(known) < _MAX_REASONS else None


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
