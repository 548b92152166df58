"""Sums over tool returns: of bounded size, whatever the input, and mergeable across processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from reducer.analysis.measures import Measures
from reducer.analysis.measures import add as add_measures

if TYPE_CHECKING:
    from reducer.analysis.report import ReturnReport
    from reducer.analysis.steps import StepReport
    from reducer.rules import Rule

_MAX_TOOLS = 5_000
_MAX_NEEDS = 10_000
_MAX_CHARACTERS = 1_000
OTHER_TOOLS = "(other tools)"
"""The name of all tools beyond `_MAX_TOOLS`."""

Kind = Literal[
    "no rule", "unused rule", "no place", "undone", "lost", "fault", "too long", "bad line", "long line", "warning"
]


@dataclass(frozen=True, slots=True)
class Need:
    """Something about returns that needs attention, at a tool, a rule (its file) or a step (`file:line`).

    `about` says what: the reason of a fault, the name of a step. `calls` counts the returns, `size` their characters or
    entities; `first` is the name of the first return, `nearest` what was probably meant.
    """

    kind: Kind
    where: str
    about: str = ""
    calls: int = 1
    size: int = 0
    first: str = ""
    nearest: str = ""


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
    """All sums, in the order of the first return, and what the rules cost.

    `tools` has the counts `calls`, `reduced`, `untouched`, `before` and `after` (characters) of each tool, `rules` the
    file of its rule, and `used` the files of all rules that applied. `needs` are what needs attention, by kind, place
    and name; `found` are the places and names that a step found in some return, which therefore need none.
    `always_kept` counts the items that only `always_keep` kept, by rule file and step. `referenced` are the characters
    that were kept because later messages reference them, in `referencing` returns.
    """

    tools: dict[str, Counter[str]] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    needs: dict[tuple[Kind, str, str], Need] = field(default_factory=dict)
    found: set[tuple[str, str]] = field(default_factory=set)
    always_kept: Counter[tuple[str, int]] = field(default_factory=Counter)
    measures: Measures | None = None
    referenced: int = 0
    referencing: int = 0

    def add(self, entry: ReturnReport) -> None:
        """Count one more return."""
        counts = Counter(calls=1, before=entry.before, after=entry.after)
        counts.update({entry.status} & {"reduced", "untouched"})
        self._add_tool(_short(entry.tool), counts, None if entry.rule is None else entry.rule.file)
        self.referenced += entry.referenced
        self.referencing += entry.referenced > 0
        for name, need in _needs(entry):
            self._add_need((need.kind, need.where, name), need)
        if entry.rule is None:
            return
        self.used.add(entry.rule.file)
        for step in entry.steps:
            if step.step is not None and step.places:
                where = _where(step, entry.rule)
                self.found.add((where, f"place {step.step.path.text}"))
                self.found.update((where, f"key {key}") for key in step.seen)
                if step.always_kept:
                    self.always_kept[entry.rule.file, step.step.number] += step.always_kept

    def merge(self, other: Tally) -> None:
        """Add the sums of the returns that follow."""
        for name, counts in other.tools.items():
            self._add_tool(name, counts, other.rules.get(name))
        for key, need in other.needs.items():
            self._add_need(key, need)
        self.used |= other.used
        self.found |= other.found
        self.always_kept.update(other.always_kept)
        self.referenced += other.referenced
        self.referencing += other.referencing
        if other.measures is not None:
            self.measures = other.measures if self.measures is None else add_measures(self.measures, other.measures)

    def _add_tool(self, tool: str, counts: Counter[str], rule: str | None) -> None:
        if tool not in self.tools and len(self.tools) >= _MAX_TOOLS:
            tool = OTHER_TOOLS
        self.tools.setdefault(tool, Counter()).update(counts)
        if rule is not None:
            self.rules.setdefault(tool, rule)

    def _add_need(self, key: tuple[Kind, str, str], need: Need) -> None:
        known = self.needs.get(key)
        if known is not None:
            self.needs[key] = replace(known, calls=known.calls + need.calls, size=known.size + need.size)
        elif len(self.needs) < _MAX_NEEDS:
            self.needs[key] = need


def _needs(entry: ReturnReport) -> Iterator[tuple[str, Need]]:
    """Yield what needs attention in one return, each with a name that is its own at its place."""
    tool, name, rule = _short(entry.tool), _short(entry.name), entry.rule
    if entry.status == "no rule":
        yield "", Need("no rule", tool, size=entry.before)
    if entry.status == "fault":
        yield _short(entry.why), Need("fault", tool, _short(entry.why), size=entry.before, first=name)
    if rule is None:
        return
    if entry.lost:
        yield "", Need("lost", rule.file, size=entry.lost)
    if entry.over:
        yield "", Need("too long", rule.file, f"{rule.max_chars:,}", size=entry.over, first=name)
    for step in entry.steps:
        where = _where(step, rule)
        for item in step.missing:
            about = f"`{step.name}`: {_short(item.help)}"
            yield f"{item.what} {item.text}", Need("no place", where, about, nearest=_short(item.nearest))
        if step.is_undone:
            yield "", Need("undone", where, step.name, size=step.restored)


def _where(step: StepReport, rule: Rule) -> str:
    return f"{rule.file}:{step.step.location.line}" if step.step else rule.file


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
