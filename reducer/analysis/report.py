"""What rules did to the tool returns of histories, as data; `cli.views` prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from reducer.analysis.changes import Change, changes
from reducer.analysis.measures import Measures, Reduced, measure
from reducer.analysis.steps import StepReport, characters, step_reports
from reducer.analysis.tally import LineSum, Tally, tally_of
from reducer.engine import Outcome, attempt, reduce_content
from reducer.histories.stored import (
    Content,
    InputFormat,
    Key,
    Return,
    change_copies,
    later_mentions,
    protecting,
    returns,
    splice,
)
from reducer.rules import Rule, Ruleset

Status = Literal["reduced", "unchanged", "gated", "fault", "no rule", "untouched"]


@dataclass(frozen=True, slots=True)
class LookOptions:
    """What to reduce and to report.

    `chosen` selects returns; None selects all. `detailed` also reports what each step removed, `measured` what the
    rules cost, always without the protection of `references`.
    """

    chosen: Callable[[Return], bool] | None = None
    detailed: bool = False
    measured: bool = False
    references: bool = True
    input_format: InputFormat = "auto"


ALL_RETURNS = LookOptions()


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


@dataclass(frozen=True, slots=True)
class ToolReport:
    """All returns of one tool: `reduced` got shorter, `untouched` are those that rules never apply to."""

    tool: str
    rule: Rule | None
    calls: int
    reduced: int
    untouched: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a ruleset did to histories: the returns in order, the tools by size.

    `tally` has the sums of all returns, `returns` only those that were kept; JSON lines have none, but `lines`. `whole`
    is False if only some returns were selected.
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
        """The characters of all returns as they arrived."""
        return sum(tool.before for tool in self.tools)

    @property
    def after(self) -> int:
        """The characters of all returns as the rules leave them."""
        return sum(tool.after for tool in self.tools)


class Look(NamedTuple):
    """What rules did to one history; `reduced` returns the reduced history, `measures` is None if not measured."""

    returns: tuple[ReturnReport, ...]
    reduced: Callable[[], bytes]
    measures: Measures | None

    @property
    def tally(self) -> Tally:
        """The sums of the returns."""
        return replace(tally_of(self.returns), measures=self.measures)


class _Attempt(NamedTuple):
    """What rules did to one return: `outcome` with later references protected, `alone` without.

    `reduce` reduces the copies of the return like it.
    """

    outcome: Outcome
    alone: Outcome
    reduce: Callable[[str, Any], Any]


def tokens(characters: int) -> int:
    """Estimate the tokens of so many characters: a quarter, rounded up. Real tokenizers differ by a third and more."""
    return -(-characters // 4)


def look(ruleset: Ruleset, history: str, data: bytes, options: LookOptions = ALL_RETURNS) -> Look:
    """Reduce the chosen returns of a stored history and report what every step did.

    A return of a session history counts once, with the characters of its first text; its copies are reduced alike.
    Raises `HistoryError`.
    """
    reports: list[ReturnReport] = []
    changed: list[tuple[Content, Any]] = []
    reduced: dict[Key, Reduced] = {}
    for found, attempted in _attempts(ruleset, data, options):
        entry = _report_return(history, found, attempted, options.detailed)
        reports.append(entry)
        if options.measured:
            alone = None if attempted is None else attempted.alone
            reduced[found.key] = Reduced(entry.name, found.tool, found.content, alone)
        if attempted is not None:
            changed += change_copies(found, attempted.outcome.content, attempted.reduce)
    return Look(
        tuple(reports),
        lambda: splice(data, changed),
        measure(history, data, reduced, options.input_format) if options.measured else None,
    )


def look_briefly(
    ruleset: Ruleset, history: str, data: bytes, options: LookOptions = ALL_RETURNS, *, write: bool = False
) -> tuple[Tally, bytes]:
    """Do what `look` does with one return in memory at a time; return the sums and, with `write`, the reduced history.

    If `measured`, all returns are in memory. Raises `HistoryError`.
    """
    if options.measured:
        found = look(ruleset, history, data, options)
        return found.tally, found.reduced() if write else b""
    tally = Tally()

    def changed() -> Iterator[tuple[Content, Any]]:
        for found, attempted in _attempts(ruleset, data, options):
            tally.add(_report_return(history, found, attempted, False))
            if attempted is not None:
                yield from change_copies(found, attempted.outcome.content, attempted.reduce)

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
    """Sum up what `look` reports of histories; `tally` has the sums of all returns, by default those of `found`."""
    found = tuple(found)
    tally = tally_of(found) if tally is None else tally
    of_file = {rule.file: rule for rule in ruleset.rules}
    tools = [
        ToolReport(
            name,
            of_file[tool.rule] if tool.rule else None,
            tool.calls,
            tool.reduced,
            tool.untouched,
            tool.before,
            tool.after,
        )
        for name, tool in tally.tools.items()
    ]
    tools.sort(key=lambda entry: (-entry.before, entry.tool))
    return Report(rules, ruleset, tuple(histories), found, tuple(tools), whole, tally, tuple(lines))


def _attempts(ruleset: Ruleset, data: bytes, options: LookOptions) -> Iterator[tuple[Return, _Attempt | None]]:
    """Yield the chosen returns of a history, each with what rules did to it; None if rules never apply to it."""
    mentions = later_mentions(data, options.input_format) if options.references else None
    reduce = partial(reduce_content, ruleset)
    for found in returns(data, options.input_format):
        if options.chosen is not None and not options.chosen(found):
            continue
        if found.untouched:
            yield found, None
        elif mentions is None:
            outcome = attempt(ruleset, found.tool, found.content)
            yield found, _Attempt(outcome, outcome, reduce)
        else:
            outcome = attempt(ruleset, found.tool, found.content, mentions(found.key, found.content))
            alone = attempt(ruleset, found.tool, found.content) if outcome.restored.referenced else outcome
            yield found, _Attempt(outcome, alone, protecting(reduce, mentions, found.key))


def _report_return(history: str, found: Return, attempted: _Attempt | None, detailed: bool) -> ReturnReport:
    place = found.places[0]
    before = characters(place.content, place.end - place.start)
    entry = ReturnReport(
        history=history,
        message=found.message,
        part=found.part,
        tool=found.tool,
        call_id=found.call_id,
        nth=found.nth,
        rule=None,
        status="untouched",
        why=found.untouched,
        before=before,
        after=before,
    )
    if attempted is None:
        return entry
    outcome, alone = attempted.outcome, attempted.alone
    status, why = _status(outcome, alone.content is not found.content, outcome.content is not found.content)
    entry = replace(entry, rule=outcome.rule, status=status, why=why, lost=len(outcome.restored.lost))
    if outcome.rule is None or outcome.gated:
        return entry
    after = before if outcome.content is found.content else characters(outcome.content, before)
    after_alone = after if alone is outcome else characters(alone.content, before)
    steps = step_reports(alone, before, detailed)
    removed = steps[0].before - steps[-1].after if steps else 0
    return replace(
        entry,
        after=after,
        rewritten=before - steps[0].before if steps and status == "reduced" and type(found.content) is str else 0,
        steps=steps,
        restored=max(0, after_alone - steps[-1].after) if removed > 0 and not alone.fault else 0,
        referenced=max(0, after - after_alone),
        restorations=changes(outcome.restorations(), restored=True) if detailed and not outcome.fault else (),
        over=max(0, after - outcome.rule.max_chars) if outcome.rule.max_chars is not None else 0,
    )


def _status(outcome: Outcome, is_reduced_alone: bool, is_reduced: bool) -> tuple[Status, str]:
    if outcome.rule is None:
        return "no rule", "no rule is for this tool"
    if outcome.fault:
        return "fault", outcome.fault
    if outcome.gated:
        return "gated", "the rule's `when` does not hold"
    if is_reduced:
        return "reduced", ""
    everything = "later messages reference everything that the rule would remove"
    return "unchanged", everything if is_reduced_alone else "the rule removes nothing"
