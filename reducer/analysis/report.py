"""The totals of what rules did to tool returns, and what needs attention, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from reducer.analysis.explanation import Explanation, StepReport
from reducer.analysis.measures import Measures, added
from reducer.errors import counted
from reducer.files import is_builtin
from reducer.rules import Rule, Ruleset

TITLES = {
    "fault": "Returns to which a rule was not applied completely",
    "no rule": "Tools without a rule",
    "unused rule": "Unused rules",
    "gated": "Rules whose condition holds for no return",
    "no place": "Steps that found nothing",
    "undone": "Steps that preserve largely undoes",
    "too long": "Returns still above max_chars",
    "bad line": "Lines that cannot be read, kept unchanged",
    "bad row": "Rows that cannot be read, kept unchanged",
    "warning": "Warnings of the rules",
}
"""The heading of each kind of `Attention`, in the order in which they are listed."""
OTHER_TOOLS = "(other tools)"
"""Stands for all tools beyond the first `_MAX_TOOLS`."""
MAX_BAD = 5
"""Bad lines that are reported with their errors; further ones are only counted."""
_GATE = "when"
"""The name of the gate of a rule in `Tally.needs` and `Tally.found`."""
_MAX_TOOLS = 5_000
_MAX_NEEDS = 10_000
_MAX_CHARACTERS = 1_000


@dataclass(slots=True)
class LineSum:
    """Counts of the lines in a file of JSON lines, or of the rows in a Parquet file (`noun`).

    `bad` lines contain no history or are too large to be read. `first_bad` contains the numbers and errors of the
    first bad lines.
    """

    history: str
    lines: int = 0
    blank: int = 0
    bad: int = 0
    first_bad: list[tuple[int, str]] = field(default_factory=list)
    noun: str = "line"


def add_lines(total: LineSum, more: LineSum) -> None:
    """Add the counts of the lines that follow, and continue their numbers."""
    room = MAX_BAD - len(total.first_bad)
    total.first_bad += [(total.lines + number, why) for number, why in more.first_bad[:room]]
    total.lines += more.lines
    total.blank += more.blank
    total.bad += more.bad


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that needs attention.

    - `kind` is a key of `TITLES`.
    - `where` is a tool, a file of histories, or a rule file, with the line if it is about a step.
    - `about` is the reason of a fault, the name of a step, or the whole message.
    - `history`, `tool` and `step` are those of the first fault of its kind.
    - `calls` counts tool returns, or lines.
    - `characters` is the size of the returns, the restored size (`undone`), or the size above `max_chars` (`too long`).
    - `first` is the name of the first return.
    """

    kind: str
    where: str
    about: str = ""
    calls: int = 1
    characters: int = 0
    first: str = ""
    history: str = ""
    tool: str = ""
    step: str = ""

    @property
    def message(self) -> str:
        """The message for users."""
        size = counted(self.characters, "character")
        if self.kind == "no rule":
            return f"{counted(self.calls, 'call')}, {size}"
        if self.kind == "gated":
            return f"`when: {{where: {self.about}}}` did not hold for {self._returns}, {size}"
        if self.kind == "undone":
            return (
                f"preserve restored {size} that `{self.about}` removed; "
                "`preserve: []` on the step restores nothing, `preserve: {ioc: 200}` at most 200"
            )
        if self.kind == "fault":
            return f"`{self.tool}` {self._returns}, {size}: {self.about}"
        if self.kind == "too long":
            return f"{self._returns} {'are' if self.calls > 1 else 'is'} {size} above `max_chars` {self.about}"
        return self.about

    @property
    def _returns(self) -> str:
        """The first return, and how many more there are."""
        more = f" and {self.calls - 1:,} more" if self.calls > 1 else ""
        return f"{self.first} of {self.history}{more}" if self.history else f"{self.first}{more}"


@dataclass(slots=True)
class Tally:
    """The totals of tool returns, with tools in the order of their first returns.

    - `tools` maps each tool to its counts `calls`, `reduced`, `untouched`, `before` and `after` (characters).
    - `rules` maps each tool to the rule files that were chosen for its returns, with the number of returns.
    - `needs` maps kind, place and name to what needs attention.
    - `found` contains the steps that found a place in some return, with their paths, and the rules that were applied to
      some return, so that they need no attention.
    - `referenced` counts the characters kept because later messages reference them, in `referencing` returns.
    """

    tools: dict[str, Counter[str]] = field(default_factory=dict)
    rules: dict[str, Counter[str]] = field(default_factory=dict)
    needs: dict[tuple[str, str, str], Attention] = field(default_factory=dict)
    found: set[tuple[str, str]] = field(default_factory=set)
    measures: Measures | None = None
    referenced: int = 0
    referencing: int = 0

    def merge(self, other: Tally) -> None:
        """Add the totals of the returns that follow."""
        for name, counts in other.tools.items():
            tool = name if name in self.tools or len(self.tools) < _MAX_TOOLS else OTHER_TOOLS
            self.tools.setdefault(tool, Counter()).update(counts)
            if name in other.rules:
                self.rules.setdefault(tool, Counter()).update(other.rules[name])
        for key, need in other.needs.items():
            self.add_need(key, need)
        self.found |= other.found
        self.referenced += other.referenced
        self.referencing += other.referencing
        if other.measures is not None:
            self.measures = other.measures if self.measures is None else added(self.measures, other.measures)

    def add_need(self, key: tuple[str, str, str], need: Attention) -> None:
        """Add something that needs attention, identified by kind, place and name."""
        known = self.needs.get(key)
        if known is not None:
            calls, characters = known.calls + need.calls, known.characters + need.characters
            self.needs[key] = replace(known, calls=calls, characters=characters)
        elif len(self.needs) < _MAX_NEEDS:
            self.needs[key] = need


def tally_of(entry: Explanation) -> Tally:
    """Return the totals of a single return."""
    tool, rule = _short(entry.tool), entry.rule
    tally = Tally(referenced=entry.referenced, referencing=int(entry.referenced > 0))
    tally.tools[tool] = Counter(calls=1, before=entry.before, after=entry.after)
    tally.tools[tool].update({entry.status} & {"reduced", "untouched"})
    for name, need in _needs(entry):
        tally.add_need((need.kind, need.where, name), need)
    if rule is not None:
        tally.rules[tool] = Counter([rule.file])
        if entry.status != "gated":
            tally.found.add((rule.file, _GATE))
        for step in entry.steps:
            if step.number is not None and step.path is not None and step.places:
                tally.found.add((_where(step, rule), step.path))
    return tally


def _needs(entry: Explanation) -> Iterator[tuple[str, Attention]]:
    """Yield what needs attention in one return, each with a name that is unique for its kind and place."""
    tool, name, rule = _short(entry.tool), _short(entry.name), entry.rule
    if entry.status == "no rule":
        yield "", Attention("no rule", tool, characters=entry.before)
    if rule is None:
        return
    if entry.status == "fault":
        yield f"{tool} {_short(entry.why)}", _fault(entry, rule)
    for other in (*entry.tried, rule) if entry.status == "gated" else entry.tried:
        if condition := _failed_condition(entry, other):
            yield _GATE, Attention("gated", other.file, condition, characters=entry.before, first=name)
    if entry.over:
        yield "", Attention("too long", rule.file, f"{rule.max_chars:,}", characters=entry.over, first=name)
    for step in entry.steps:
        where = _where(step, rule)
        if step.path is not None and step.nothing is not None:
            about = f"`{step.name}`: {_short(step.nothing.message)}"
            yield step.path, Attention("no place", where, about)
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
    step, where, advice = "", rule.file, "let the tool return less, or less deeply nested content"
    if (run := entry.unstable) is not None:
        advice = f"`check {rule.file}` shows a correction, once this return is in samples/"
        step, where = (run.step.name, f"{where}:{run.step.location.line}") if run.step else ("max_chars", where)
    history, about = entry.place.history if entry.place else "", f"{_short(entry.why)}; {advice}"
    need = Attention("fault", where, about, characters=entry.before, first=_short(entry.name))
    return replace(need, history=history, tool=_short(entry.tool), step=step)


def _where(step: StepReport, rule: Rule) -> str:
    return rule.file if step.line is None else f"{rule.file}:{step.line}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class ToolReport:
    """The totals of one tool, or of all.

    `rules` are those that were chosen for its returns with the number of returns, the most frequent first. `untouched`
    counts the returns to which rules never apply.
    """

    tool: str
    rules: tuple[tuple[Rule, int], ...] = ()
    calls: int = 0
    before: int = 0
    after: int = 0
    reduced: int = 0
    untouched: int = 0


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
        entries += _unused_rules(report)
    for total in report.lines:
        entries += _of_lines(total)
    for warning in report.ruleset.warnings:
        entries.append(Attention("warning", f"{warning.location}", warning.message, calls=0))
    return tuple(sorted(entries, key=lambda entry: (kinds.index(entry.kind), -entry.characters)))


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
