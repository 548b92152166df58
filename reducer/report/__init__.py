"""What rules did to tool returns, as data; the table, the diff and the JSON are views of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from reducer.engine import Outcome
from reducer.measures import Measures, Reduced
from reducer.measures import measure as measure_history
from reducer.report.changes import Change, characters
from reducer.report.steps import StepReport, step_reports
from reducer.report.tally import LineSum, Tally, add, tally_of
from reducer.report.traced import Traced, traced_returns
from reducer.rule import Rule, Ruleset
from reducer.stored import Copy, InputFormat, Key, Return, alike, splice

__all__ = ["Change", "Look", "Report", "ReturnReport", "StepReport", "ToolReport", "look", "look_briefly", "report", "step_reports", "tokens"]

Status = Literal["reduced", "unchanged", "gated", "fault", "no rule", "untouched"]


@dataclass(frozen=True, slots=True)
class ReturnReport:
    """What its rule did to one tool return; `message` and `part` count from 0, `nth` from 1 among the returns with this call id.

    `why` says why it stayed as it was, where it did. `before` and `after` are characters, `rewritten` those that writing JSON text
    compactly saved, `put_back` those that preserve and marks added after the steps, `referred` those that stay besides as later messages
    refer to them, `over` those above the rule's `max_chars`; `lost` counts the entities that preserve would have kept without its bound.
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
    rewritten: int
    steps: tuple[StepReport, ...]
    put_back: int
    referred: int
    returned: tuple[Change, ...]
    over: int
    lost: int

    @property
    def name(self) -> str:
        """Name the return as `--call` does: its call id, and which one of that id it is after the first."""
        return f"{self.call_id}#{self.nth}" if self.nth > 1 else self.call_id


@dataclass(frozen=True, slots=True)
class ToolReport:
    """All returns of one tool: `calls` are all, `reduced` those that got shorter, `untouched` those that rules never apply to."""

    tool: str
    rule: Rule | None
    calls: int
    reduced: int
    untouched: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a ruleset did to histories: their names, every return in order, the tools by size, and the rules.

    `tally` sums up all returns, those as well that are in no list as there are too many: `returns` has none of JSON lines, whose lines `lines`
    counts. `whole` is False where only some returns were chosen: what did not come may then still be there.
    """

    rules: str
    ruleset: Ruleset
    histories: tuple[str, ...]
    returns: tuple[ReturnReport, ...]
    tools: tuple[ToolReport, ...]
    whole: bool
    tally: Tally
    lines: tuple[LineSum, ...] = ()

    @property
    def before(self) -> int:
        """Count the characters of all returns as they arrived."""
        return sum(tool.before for tool in self.tools)

    @property
    def after(self) -> int:
        """Count the characters of all returns as the rules leave them."""
        return sum(tool.after for tool in self.tools)


class Look(NamedTuple):
    """One history looked at: what the rules did, the history that they make of it, and what they cost if that was measured."""

    returns: tuple[ReturnReport, ...]
    reduced: Callable[[], bytes]
    measures: Measures | None

    @property
    def tally(self) -> Tally:
        """Sum it up."""
        return replace(tally_of(self.returns), measures=self.measures)


def tokens(characters: int) -> int:
    """Estimate the tokens of so many characters: a quarter, rounded up. Real tokenizers differ by a third and more."""
    return -(-characters // 4)


def look(
    ruleset: Ruleset,
    history: str,
    data: bytes,
    chosen: Callable[[Return], bool] | None = None,
    *,
    detailed: bool = False,
    measured: bool = False,
    references: bool = True,
    watch: Callable[[int], None] | None = None,
    input_format: InputFormat = "auto",
) -> Look:
    """Reduce the chosen returns of a stored history (all by default) and tell what every step did.

    `detailed` finds out what each step took, not only how much; `measured` what the rules cost, always as if nothing stayed for later messages
    that refer to it, which it does with `references`. `watch` hears how far in
    the text each return ends, in characters. A return of a session history counts once, with the characters of its first text; its copies
    are reduced alike.
    Raises `HistoryError`.
    """
    reports: list[ReturnReport] = []
    changed: list[tuple[Return | Copy, Any]] = []
    reduced: dict[Key, Reduced] = {}
    for key, found, traced in traced_returns(ruleset, data, chosen, references, watch, input_format):
        entry = _return(history, found, traced, detailed)
        reports.append(entry)
        if measured:
            reduced[key] = Reduced(entry.name, found.tool, found.content, None if traced is None else traced.alone)
        if traced is not None:
            changed += alike(found, traced.outcome.content, traced.reduce)
    return Look(tuple(reports), lambda: splice(data, changed), measure_history(history, data, reduced) if measured else None)


def look_briefly(
    ruleset: Ruleset,
    data: bytes,
    chosen: Callable[[Return], bool] | None = None,
    *,
    history: str = "",
    measured: bool = False,
    references: bool = True,
    write: bool = False,
    watch: Callable[[int], None] | None = None,
    input_format: InputFormat = "auto",
) -> tuple[Tally, bytes]:
    """Do what `look` does, one return in memory at a time: the sums, and the reduced history; none of it is made unless asked to `write`.

    What rules cost is `measured` on all returns together. Raises `HistoryError`.
    """
    if measured:
        found = look(ruleset, history, data, chosen, measured=True, references=references, watch=watch, input_format=input_format)
        return found.tally, found.reduced() if write else b""
    tally = Tally()

    def changed() -> Iterator[tuple[Return | Copy, Any]]:
        for _, found, traced in traced_returns(ruleset, data, chosen, references, watch, input_format):
            add(tally, _return("", found, traced, False))
            if traced is not None:
                yield from alike(found, traced.outcome.content, traced.reduce)

    if write:
        return tally, splice(data, changed())
    for _ in changed():
        pass
    return tally, b""


def report(
    rules: str,
    ruleset: Ruleset,
    histories: Iterable[str],
    found: Iterable[ReturnReport],
    whole: bool = True,
    tally: Tally | None = None,
    lines: Iterable[LineSum] = (),
) -> Report:
    """Sum up what `look` told of histories: `rules` names the rules, `whole` says whether all returns were looked at.

    `tally` has the sums of all returns, by default those of `found`.
    """
    found = tuple(found)
    tally = tally_of(found) if tally is None else tally
    of_file = {rule.file: rule for rule in ruleset.rules}
    tools = [
        ToolReport(name, of_file[tool.rule] if tool.rule else None, tool.calls, tool.reduced, tool.untouched, tool.before, tool.after)
        for name, tool in tally.tools.items()
    ]
    tools.sort(key=lambda entry: (-entry.before, entry.tool))
    return Report(rules, ruleset, tuple(histories), found, tuple(tools), whole, tally, tuple(lines))


def _return(history: str, found: Return, traced: Traced | None, detailed: bool) -> ReturnReport:
    before = characters(found.content, found.end - found.start)
    outcome = None if traced is None else traced.outcome
    status, why = _status(found, outcome, traced is not None and traced.alone.content is not found.content)
    rule = None if outcome is None else outcome.rule
    steps: tuple[StepReport, ...] = ()
    rewritten = put_back = referred = over = 0
    returned: tuple[Change, ...] = ()
    after = before
    if traced is not None and outcome is not None and outcome.rule is not None and not outcome.gated:
        alone = traced.alone
        if outcome.content is not found.content:
            after = characters(outcome.content, before)
        if alone is not outcome:
            referred = max(0, after - characters(alone.content, before))
        if alone.steps:
            steps, put_back, returned = step_reports(alone, before, detailed)
            if detailed and alone is not outcome and not outcome.fault:
                returned = step_reports(outcome, before, True)[2]
            if status == "reduced" and type(found.content) is str:
                rewritten = before - steps[0].before
        over = max(0, after - outcome.rule.max_chars) if outcome.rule.max_chars is not None else 0
    place = (found.message, found.part, found.tool, found.call_id, found.nth)
    lost = len(outcome.lost) if outcome else 0
    return ReturnReport(history, *place, rule, status, why, before, after, rewritten, steps, put_back, referred, returned, over, lost)


def _status(found: Return, outcome: Outcome | None, referred: bool) -> tuple[Status, str]:
    if outcome is None:
        return "untouched", found.untouched
    if outcome.rule is None:
        return "no rule", "no rule is for this tool"
    if outcome.fault:
        return "fault", outcome.fault
    if outcome.gated:
        return "gated", "the rule's `when` does not hold"
    if outcome.content is not found.content:
        return "reduced", ""
    return "unchanged", "later messages refer to all that the rule would take" if referred else "nothing in it to take"
