"""What rules did to tool returns, as data: a report of each return, their sums, and what needs attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from reducer.analysis.measures import Measures, add_measures
from reducer.analysis.steps import Change, StepReport, changes, characters, step_reports
from reducer.engine import Outcome
from reducer.histories.stored import Return
from reducer.rules import Rule, Ruleset

Status = Literal["reduced", "unchanged", "gated", "fault", "no rule", "untouched"]
TITLES = {
    "no rule": "Tools without a rule",
    "unused rule": "Unused rules",
    "no place": "Steps that found nothing",
    "undone": "Steps that preserve largely undoes",
    "lost": "Entities beyond the limits of preserve",
    "fault": "Returns left unchanged because of a fault",
    "too long": "Returns still above max_chars",
    "bad line": "Lines without a history, kept unchanged",
    "long line": "Lines that are too large, kept unchanged",
    "warning": "Warnings of the rules",
}
"""The heading of each kind, in the order in which they are listed."""
OTHER_TOOLS = "(other tools)"
"""The name of all tools beyond `_MAX_TOOLS`."""
MAX_BAD = 5
"""Bad lines that are reported in full; the others are counted."""
_MAX_TOOLS = 5_000
_MAX_NEEDS = 10_000
_MAX_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class ReturnReport:
    """What its rule did to one tool return. `message` and `part` count from 0.

    `nth` counts from 1 among the returns with this call id. `why` says why the return is unchanged. All sizes are
    characters: `rewritten` are those that compact JSON saves, `restored` those that preserve and markers add after the
    steps, `referenced` those that are also kept because later messages reference them, `over` those above the rule's
    `max_chars`. `restorations` are the places of what is restored; `lost` counts entities beyond a bound of `preserve`.
    """

    history: str
    message: int
    part: int
    tool: str
    call_id: str
    nth: int
    rule: Rule | None
    status: Status
    why: str
    before: int
    after: int
    rewritten: int = 0
    steps: tuple[StepReport, ...] = ()
    restored: int = 0
    referenced: int = 0
    restorations: tuple[Change, ...] = ()
    over: int = 0
    lost: int = 0

    @property
    def name(self) -> str:
        """The return as `--call` names it: its call id, with a number from the second one on."""
        return f"{self.call_id}#{self.nth}" if self.nth > 1 else self.call_id


def report_return(history: str, found: Return, outcome: Outcome, *, alone: Outcome, detailed: bool) -> ReturnReport:
    """Report what a rule did to a return; `alone` is the outcome without protection of later references.

    If `detailed`, the report also says what each step removed.
    """
    rule, place = outcome.rule, found.places[0]
    before = characters(place.content, place.end - place.start)
    after = before if outcome.content is found.content else characters(outcome.content, before)
    after_alone = after if alone is outcome else characters(alone.content, before)
    status, why = _status(found, outcome, alone)
    steps = step_reports(alone, before, detailed) if alone.steps else ()
    removed = steps[0].before - steps[-1].after if steps else 0
    return ReturnReport(
        history=history,
        message=found.key.message,
        part=found.key.part,
        tool=found.tool,
        call_id=found.call_id,
        nth=found.nth,
        rule=rule,
        status=status,
        why=why,
        before=before,
        after=after,
        rewritten=before - steps[0].before if steps and status == "reduced" and type(found.content) is str else 0,
        steps=steps,
        restored=max(0, after_alone - steps[-1].after) if removed > 0 and not alone.fault else 0,
        referenced=max(0, after - after_alone),
        restorations=changes(outcome.restorations(), restored=True) if detailed and not outcome.fault else (),
        over=max(0, after - rule.max_chars) if rule and rule.max_chars is not None and not outcome.gated else 0,
        lost=len(outcome.restored.lost),
    )


def _status(found: Return, outcome: Outcome, alone: Outcome) -> tuple[Status, str]:
    if found.untouched:
        return "untouched", found.untouched
    if outcome.rule is None:
        return "no rule", "no rule is for this tool"
    if outcome.fault:
        return "fault", outcome.fault
    if outcome.gated:
        return "gated", "the rule's `when` does not hold"
    if outcome.content is not found.content:
        return "reduced", ""
    if alone.content is not found.content:
        return "unchanged", "later messages reference everything that the rule would remove"
    return "unchanged", "the rule removes nothing"


# --- sums


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


def add_lines(total: LineSum, more: LineSum) -> None:
    """Add the sums of the lines that follow; their numbers continue."""
    room = MAX_BAD - len(total.first_bad)
    total.first_bad += [(total.lines + number, why) for number, why in more.first_bad[:room]]
    total.lines += more.lines
    total.blank += more.blank
    total.bad += more.bad
    total.long += more.long


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs attention: `where` is the tool, or `file:line` of a rule; `calls` counts returns or lines.

    `about` is the reason of a fault, the name of a step, or all there is to say. `characters` are those of the returns
    for `no rule` and `fault`, those restored for `undone`, those above `max_chars` for `too long`, else 0. `first` is
    the name of the first return, `nearest` the path or key that was probably meant.
    """

    kind: str
    where: str
    about: str = ""
    calls: int = 1
    characters: int = 0
    entities: int = 0
    first: str = ""
    nearest: str = ""

    @property
    def message(self) -> str:
        """What needs attention, as a sentence."""
        size = f"{self.characters:,} characters"
        returns = f"{self.first} and {self.calls - 1:,} more" if self.calls > 1 else self.first
        messages = {
            "no rule": f"{self.calls:,} {plural(self.calls, 'call')}, {size}",
            "undone": f"preserve restored {size} that `{self.about}` removed; "
            "`preserve: []` on the step restores nothing, `preserve: {ioc: 200}` at most 200",
            "lost": f"{self.entities:,} entities are lost because `preserve` limits their number",
            "fault": f"{returns} unchanged, {size}: {self.about}",
            "too long": f"{returns} {'are' if self.calls > 1 else 'is'} {size} above `max_chars` {self.about}",
        }
        return messages.get(self.kind, self.about)


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
    needs: dict[tuple[str, str, str], Attention] = field(default_factory=dict)
    found: set[tuple[str, str]] = field(default_factory=set)
    always_kept: Counter[tuple[str, int]] = field(default_factory=Counter)
    measures: Measures | None = None
    referenced: int = 0
    referencing: int = 0

    def merge(self, other: Tally) -> None:
        """Add the sums of the returns that follow."""
        for name, counts in other.tools.items():
            tool = name if name in self.tools or len(self.tools) < _MAX_TOOLS else OTHER_TOOLS
            self.tools.setdefault(tool, Counter()).update(counts)
            if name in other.rules:
                self.rules.setdefault(tool, other.rules[name])
        for key, need in other.needs.items():
            self.add_need(key, need)
        self.used |= other.used
        self.found |= other.found
        self.always_kept.update(other.always_kept)
        self.referenced += other.referenced
        self.referencing += other.referencing
        if other.measures is not None:
            self.measures = other.measures if self.measures is None else add_measures(self.measures, other.measures)

    def add_need(self, key: tuple[str, str, str], need: Attention) -> None:
        """Add what needs attention in some returns, by kind, place and name."""
        known = self.needs.get(key)
        if known is not None:
            self.needs[key] = replace(
                known,
                calls=known.calls + need.calls,
                characters=known.characters + need.characters,
                entities=known.entities + need.entities,
            )
        elif len(self.needs) < _MAX_NEEDS:
            self.needs[key] = need


def tally_of(entry: ReturnReport) -> Tally:
    """Return the sums of one return."""
    tool, rule = _short(entry.tool), entry.rule
    tally = Tally(referenced=entry.referenced, referencing=int(entry.referenced > 0))
    tally.tools[tool] = Counter(calls=1, before=entry.before, after=entry.after)
    tally.tools[tool].update({entry.status} & {"reduced", "untouched"})
    for name, need in _needs(entry):
        tally.add_need((need.kind, need.where, name), need)
    if rule is not None:
        tally.rules[tool] = rule.file
        tally.used.add(rule.file)
        for step in entry.steps:
            if step.step is not None and step.places:
                where = _where(step, rule)
                tally.found.add((where, f"place {step.step.path.text}"))
                tally.found.update((where, f"key {key}") for key in step.seen)
                tally.always_kept[rule.file, step.step.number] += step.always_kept
    return tally


def _needs(entry: ReturnReport) -> Iterator[tuple[str, Attention]]:
    """Yield what needs attention in one return, each with a name that is its own at its place."""
    tool, name, rule = _short(entry.tool), _short(entry.name), entry.rule
    if entry.status == "no rule":
        yield "", Attention("no rule", tool, characters=entry.before)
    if entry.status == "fault":
        yield _short(entry.why), Attention("fault", tool, _short(entry.why), characters=entry.before, first=name)
    if rule is None:
        return
    if entry.lost:
        yield "", Attention("lost", rule.file, entities=entry.lost)
    if entry.over:
        yield "", Attention("too long", rule.file, f"{rule.max_chars:,}", characters=entry.over, first=name)
    for step in entry.steps:
        where = _where(step, rule)
        for item in step.missing:
            about = f"`{step.name}`: {_short(item.help)}"
            yield f"{item.what} {item.text}", Attention("no place", where, about, nearest=_short(item.nearest))
        if step.is_undone:
            yield "", Attention("undone", where, step.name, characters=step.restored)


def _where(step: StepReport, rule: Rule) -> str:
    return f"{rule.file}:{step.step.location.line}" if step.step else rule.file


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class ToolReport:
    """All returns of one tool: `reduced` got shorter, `untouched` are those that rules never apply to."""

    tool: str
    rule: Rule | None
    calls: int
    before: int
    after: int
    reduced: int = 0
    untouched: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a ruleset did to histories.

    `tally` has the sums of all returns, `returns` those that were reported in detail, in order; JSON lines have
    `lines`. `whole` is False if only some returns were selected.
    """

    rules: str
    ruleset: Ruleset
    histories: Sequence[str]
    tally: Tally
    returns: Sequence[ReturnReport] = ()
    lines: Sequence[LineSum] = ()
    whole: bool = True

    @property
    def tools(self) -> list[ToolReport]:
        """The tools, the largest first."""
        rules = {rule.file: rule for rule in self.ruleset.rules}
        files = self.tally.rules
        tools = (ToolReport(tool, rules.get(files.get(tool, "")), **sums) for tool, sums in self.tally.tools.items())
        return sorted(tools, key=lambda entry: (-entry.before, entry.tool))

    @property
    def before(self) -> int:
        """The characters of all returns as they arrived."""
        return sum(tool.before for tool in self.tools)

    @property
    def after(self) -> int:
        """The characters of all returns as the rules leave them."""
        return sum(tool.after for tool in self.tools)


def attention(report: Report) -> tuple[Attention, ...]:
    """List what needs attention, the kinds in the order of `TITLES`, the largest first."""
    tally, kinds = report.tally, list(TITLES)
    unused = [rule for rule in report.ruleset.rules if rule.file not in tally.used] if report.whole else []
    entries = [
        *(Attention("unused rule", rule.file, ", ".join(rule.tools), calls=0) for rule in unused),
        *(need for key, need in tally.needs.items() if key[1:] not in tally.found),
        *(entry for total in report.lines for entry in _of_lines(total)),
        *(Attention("warning", f"{one.location}", one.message, calls=0) for one in report.ruleset.warnings),
    ]
    return tuple(sorted(entries, key=lambda entry: (kinds.index(entry.kind), -entry.characters)))


def _of_lines(total: LineSum) -> Iterator[Attention]:
    of_all = f"of {total.lines:,} lines"
    if total.bad:
        numbers = ", ".join(f"{number:,}" for number, _ in total.first_bad)
        more = ", …" if total.bad > len(total.first_bad) else ""
        yield Attention("bad line", total.history, f"{total.bad:,} {of_all}: {numbers}{more}", total.bad)
    if total.long:
        yield Attention("long line", total.history, f"{total.long:,} {of_all}", total.long)


def plural(count: int, noun: str) -> str:
    """Return the singular of a noun for one, otherwise the plural with an s."""
    return noun if count == 1 else f"{noun}s"


def by_kind(entries: Iterable[Attention]) -> dict[str, list[Attention]]:
    """Group what `attention` returned by kind, in order."""
    return {kind: list(group) for kind, group in groupby(entries, key=lambda entry: entry.kind)}


def tokens(characters: int) -> int:
    """Estimate the tokens of so many characters: a quarter, rounded up. Real tokenizers differ by a third and more."""
    return -(-characters // 4)
