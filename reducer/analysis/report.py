"""The totals of what rules did to tool returns, and what needs attention, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reducer.analysis.explanation import Explanation
from reducer.analysis.measures import Measures, added
from reducer.errors import counted
from reducer.files import is_builtin
from reducer.rules import Rule, Ruleset

TITLES = {
    "fault": "Returns to which a rule was not applied completely",
    "emptied": "Returns that lost all of their values",
    "bad line": "Lines that cannot be read, kept unchanged",
    "bad row": "Rows that cannot be read, kept unchanged",
    "unread": "Texts that cannot be read in the notation that a rule names",
    "warning": "Warnings of the rules",
    "no return": "Files in which rules apply to no tool return",
    "no place": "Steps that found nothing",
    "too long": "Returns still above max_chars",
    "no rule": "Tools without a rule; `init` drafts rules",
    "general": "The rule for tools without a rule; add it with `--rules builtin:general`",
    "gated": "Rules whose condition holds for no return",
    "undone": "Steps that preserve largely undoes",
    "unused rule": "Unused rules",
}
"""The heading of each kind of `Attention`, the most important first: wrong results, then idle rules, then advice."""
OTHER_TOOLS = "(other tools)"
"""Stands for all tools beyond the first `_MAX_TOOLS`."""
MAX_BAD = 5
"""Bad lines that are reported with their errors; further ones are only counted."""
_GATE = "when"
"""The name of the gate of a rule in `Tally.needs` and `Tally.found`."""
_MAX_TOOLS = 5_000
_MAX_NEEDS = 10_000
_MAX_REASONS = 100
_MAX_CHARACTERS = 1_000


class BadLine(NamedTuple):
    """A line that cannot be read, and why. Lines count from 1."""

    line: int
    why: str


@dataclass(slots=True)
class LineSum:
    """Counts of the lines in a file of JSON lines, or of the rows in a Parquet file (`noun`).

    `bad` lines contain no history or are too large to be read. `first_bad` contains the first of them.
    """

    history: str
    lines: int = 0
    bad: int = 0
    first_bad: list[BadLine] = field(default_factory=list)
    noun: str = "line"


def add_lines(total: LineSum, more: LineSum) -> None:
    """Add the counts of the lines that follow, and continue their numbers."""
    room = MAX_BAD - len(total.first_bad)
    total.first_bad += [BadLine(total.lines + bad.line, bad.why) for bad in more.first_bad[:room]]
    total.lines += more.lines
    total.bad += more.bad


_MESSAGES = {
    "no rule": "{calls}, {size}",
    "gated": "`when: {{where: {about}}}` did not hold for {returns}, {size}",
    "general": "would save {size} of the returns of tools without a rule",
    "undone": "preserve restored {size} that `{about}` removed; "
    "`preserve: []` on the step restores nothing, `preserve: {{ioc: 200}}` at most 200",
    "fault": "{returns}, {size}: {about}",
    "emptied": "{returns}, {size}",
    "unread": "{returns}, {size}",
    "too long": "{returns}: {size} above `max_chars` {about}",
}


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that needs attention.

    - `kind` is a key of `TITLES`.
    - `where` is a tool, a file of histories, or a rule file, with the line if it is about a step.
    - `about` is the reason of a fault, the name of a step, or the whole message.
    - `calls` counts tool returns, or lines.
    - `characters` is the size of the returns, the restored size (`undone`), or the size above `max_chars` (`too long`).
    - `first` names the first return.
    """

    kind: str
    where: str
    about: str = ""
    calls: int = 1
    characters: int = 0
    first: str = ""

    @property
    def message(self) -> str:
        """The message for users."""
        more = f" and {self.calls - 1:,} more" if self.calls > 1 else ""
        calls, size = counted(self.calls, "call"), counted(self.characters, "character")
        text = _MESSAGES.get(self.kind, "{about}")
        return text.format(about=self.about, calls=calls, size=size, returns=f"{self.first}{more}")


@dataclass(slots=True)
class Tally:
    """Totals of tool returns: a constant amount of data for any number of returns.

    - `tools` maps each tool to the sums of a `ToolReport`, and `rules` to the files of the rules that were chosen for
      its returns, with the number of returns.
    - `files` maps each file of histories to the number of returns to which rules apply, under an empty text, and of
      each reason why they do not.
    - `needs` maps a kind, place and name to what needs attention.
    - `found` contains the steps that found a place in some return, with their paths, and the rules that were applied to
      some return, so that they need no attention.
    """

    tools: dict[str, Counter[str]] = field(default_factory=dict)
    rules: dict[str, Counter[str]] = field(default_factory=dict)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    needs: dict[tuple[str, str, str], Attention] = field(default_factory=dict)
    found: set[tuple[str, str]] = field(default_factory=set)
    measures: Measures | None = None

    def add(self, entry: Explanation) -> None:
        """Add one return."""
        counts = Counter(calls=1, before=entry.before, after=entry.after)
        counts.update(unmarked=entry.unmarked, removed_keys=entry.removed_keys)
        counts.update({entry.status} & {"reduced", "untouched"})
        if entry.repeats:
            counts.update(repeats=entry.repeats, repeating=1)
        counts.update(repeats_dropped=entry.repeats_dropped, dangling=entry.dangling)
        if entry.referenced:
            counts.update(referenced=entry.referenced, referencing=1)
        self._add_tool(_short(entry.tool), counts, Counter([entry.rule.file] if entry.rule else []))
        if entry.place is not None:
            self.add_reason(entry.place.history, entry.why if entry.status == "untouched" else "")
        for name, need in _needs(entry):
            self._add_need((need.kind, need.where, name), need)
        if entry.rule is not None and entry.status != "gated":
            self.found.add((entry.rule.file, _GATE))
            for step in entry.steps:
                if step.run.path is not None and step.run.places:
                    self.found.add((_where(step.run.line, entry.rule), step.run.path))

    def merge(self, other: Tally) -> None:
        """Add the totals of the returns that follow."""
        for tool, counts in other.tools.items():
            self._add_tool(tool, counts, other.rules.get(tool, Counter()))
        for file, reasons in other.files.items():
            self.files.setdefault(file, Counter()).update(reasons)
        for key, need in other.needs.items():
            self._add_need(key, need)
        self.found |= other.found
        if other.measures is not None:
            self.measures = other.measures if self.measures is None else added(self.measures, other.measures)

    def add_reason(self, file: str, why: str) -> None:
        """Count why rules do not apply to something in a file; an empty text means that they do."""
        reasons = self.files.setdefault(file, Counter())
        if len(reasons) < _MAX_REASONS:
            reasons[_short(why)] += 1

    def _add_tool(self, name: str, counts: Counter[str], files: Counter[str]) -> None:
        tool = name if name in self.tools or len(self.tools) < _MAX_TOOLS else OTHER_TOOLS
        self.tools.setdefault(tool, Counter()).update(counts)
        if files:
            self.rules.setdefault(tool, Counter()).update(files)

    def _add_need(self, key: tuple[str, str, str], need: Attention) -> None:
        known = self.needs.get(key)
        if known is not None:
            calls, characters = known.calls + need.calls, known.characters + need.characters
            self.needs[key] = replace(known, calls=calls, characters=characters)
        elif len(self.needs) < _MAX_NEEDS:
            self.needs[key] = need


def _needs(entry: Explanation) -> Iterator[tuple[str, Attention]]:
    """Yield what needs attention in one return, each with a name that is unique for its kind and place."""
    tool, name, rule = _short(entry.tool), _short(entry.name), entry.rule
    if rule is None:
        if entry.status == "no rule":
            yield "", Attention("no rule", tool, characters=entry.before)
        if entry.general:
            yield "", Attention("general", "builtin:general", characters=entry.general)
        return
    if entry.status == "fault":
        yield f"{tool} {_short(entry.why)}", _fault(entry, rule)
    for other in (*entry.tried, rule) if entry.status == "gated" else entry.tried:
        if condition := _failed_condition(entry, other):
            yield _GATE, Attention("gated", other.file, condition, characters=entry.before, first=name)
    if entry.is_emptied:
        yield "", Attention("emptied", rule.file, characters=entry.before, first=name)
    if entry.unread:
        yield "", Attention("unread", rule.file, characters=entry.before, first=name)
    if entry.over:
        yield "", Attention("too long", rule.file, f"{rule.max_chars:,}", characters=entry.over, first=name)
    for step in entry.steps:
        where = _where(step.run.line, rule)
        if step.run.path is not None and step.nothing is not None:
            yield step.run.path, Attention("no place", where, f"`{step.name}`: {_short(step.nothing.message)}")
        if step.is_undone:
            yield "", Attention("undone", where, step.name, characters=step.restored)


def _failed_condition(entry: Explanation, rule: Rule) -> str:
    """Return the condition that kept a rule from a return; empty if there is none or the return is too small."""
    when = rule.when
    if when is None or when.where is None or entry.before < (when.min_chars or 0):
        return ""
    return _short(when.where.text)


def _fault(entry: Explanation, rule: Rule) -> Attention:
    """Return what needs attention if a rule could not be applied, or not completely."""
    where, advice = rule.file, "let the tool return less, or less deeply nested content"
    if entry.unstable is not None:
        where = _where(entry.unstable.line, rule)
        advice = f"`check {rule.file}` shows a correction, once this return is in samples/"
    history = f" of {entry.place.history}" if entry.place else ""
    first = f"`{_short(entry.tool)}` {_short(entry.name)}{history}"
    return Attention("fault", where, f"{_short(entry.why)}; {advice}", characters=entry.before, first=first)


def _where(line: int | None, rule: Rule) -> str:
    return rule.file if line is None else f"{rule.file}:{line}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class ToolReport:
    """The totals of one tool, or of all.

    `rules` are those that were chosen for its returns with the number of returns, the most frequent first. `untouched`
    counts the returns to which rules never apply, and `referenced` the characters kept because later messages
    reference them, in `referencing` returns. `unmarked` counts the removed items that no marker counts, and
    `removed_keys` the removed keys of objects and maps. `repeats` counts the characters that `repeating` returns lack
    because earlier returns show them; in `repeats_dropped` returns, a rule would change such a result again. `dangling`
    counts markers of repeats whose call the history does not contain.
    """

    tool: str
    rules: tuple[tuple[Rule, int], ...] = ()
    calls: int = 0
    before: int = 0
    after: int = 0
    reduced: int = 0
    untouched: int = 0
    referenced: int = 0
    referencing: int = 0
    unmarked: int = 0
    removed_keys: int = 0
    repeats: int = 0
    repeating: int = 0
    repeats_dropped: int = 0
    dangling: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a ruleset did to histories.

    `returns` contains the reports of returns if they are detailed. `lines` counts the lines of each file of JSON lines.
    `whole` is False if only some returns were selected, and `references` if referenced content was not protected.
    """

    rules: str
    ruleset: Ruleset
    histories: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    returns: list[Explanation] = field(default_factory=list)
    lines: list[LineSum] = field(default_factory=list)
    whole: bool = True
    references: bool = True

    @property
    def tools(self) -> list[ToolReport]:
        """The totals of each tool, largest first."""
        rules = {rule.file: rule for rule in self.ruleset.rules}
        tools = []
        for tool, sums in self.tally.tools.items():
            files = self.tally.rules.get(tool, Counter[str]()).most_common()
            chosen = tuple((rules[file], calls) for file, calls in files if file in rules)
            tools.append(ToolReport(tool, chosen, **sums))
        return sorted(tools, key=lambda entry: (-entry.before, entry.tool))

    @property
    def total(self) -> ToolReport:
        """The totals of all tools."""
        return ToolReport("Total", (), **sum(self.tally.tools.values(), Counter()))


def attention(report: Report) -> tuple[Attention, ...]:
    """List what needs attention: kinds in the order of `TITLES`, and the largest first within a kind."""
    tally, kinds = report.tally, list(TITLES)
    entries = [need for key, need in tally.needs.items() if key[1:] not in tally.found]
    if report.whole:
        entries += _files_without_returns(report)
        entries += _unused_rules(report)
    for total in report.lines:
        entries += _of_lines(total)
    for warning in report.ruleset.warnings:
        entries.append(Attention("warning", f"{warning.location}", warning.message, calls=0))
    return tuple(sorted(entries, key=lambda entry: (kinds.index(entry.kind), -entry.characters)))


def _files_without_returns(report: Report) -> Iterator[Attention]:
    for file in report.histories:
        reasons = report.tally.files.get(file, Counter[str]())
        if "" not in reasons:
            counts = [f"{why} ({count:,})" if count > 1 else why for why, count in reasons.most_common()]
            yield Attention("no return", file, "; ".join(counts) or "it contains no history", calls=0)


def _unused_rules(report: Report) -> Iterator[Attention]:
    used = {need.where for need in report.tally.needs.values() if need.kind == "gated"}
    for files in report.tally.rules.values():
        used.update(files)
    for rule in report.ruleset.rules:
        # Nobody uses every tool of the built-in packs.
        if rule.file not in used and not is_builtin(rule.file):
            yield Attention("unused rule", rule.file, ", ".join(rule.tools), calls=0)


def _of_lines(total: LineSum) -> Iterator[Attention]:
    of_all = f"of {total.lines:,} {total.noun}s"
    if total.bad:
        numbers = ", ".join(f"{number:,}" for number, _ in total.first_bad)
        more = ", …" if total.bad > len(total.first_bad) else ""
        yield Attention(f"bad {total.noun}", total.history, f"{total.bad:,} {of_all}: {numbers}{more}", total.bad)


def tokens(characters: int) -> int:
    """Estimate a number of tokens as a quarter of the characters. Real tokenizers differ by a third or more."""
    return -(-characters // 4)
