"""What rules did to the tool returns of histories, as data; `cli.views` prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from reducer.analysis.measures import Reduced, measure
from reducer.analysis.steps import Change, StepReport, changes, characters, step_reports
from reducer.analysis.tally import LineSum, Tally
from reducer.engine import Outcome, attempt, reduce_content
from reducer.errors import HistoryError
from reducer.histories.lines import is_heavy, lines_of
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

    `chosen` selects returns; None selects all. `detailed` also reports each return and what each step removed,
    `measured` what the rules cost, always without the protection of `references`. `writes` asks for the reduced
    history.
    """

    chosen: Callable[[Return], bool] | None = None
    detailed: bool = False
    writes: bool = False
    measured: bool = False
    references: bool = True
    input_format: InputFormat = "auto"


ALL_RETURNS = LookOptions()
MAX_BAD = 5
"""Bad lines that are reported in full; the others are counted."""
_MAX_CHARACTERS = 500


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
        tools = [
            ToolReport(name, rules.get(self.tally.rules.get(name, "")), **counts)
            for name, counts in self.tally.tools.items()
        ]
        return sorted(tools, key=lambda entry: (-entry.before, entry.tool))

    @property
    def before(self) -> int:
        """The characters of all returns as they arrived."""
        return sum(counts["before"] for counts in self.tally.tools.values())

    @property
    def after(self) -> int:
        """The characters of all returns as the rules leave them."""
        return sum(counts["after"] for counts in self.tally.tools.values())


class Look(NamedTuple):
    """What rules did to one history: the sums, the returns if `detailed`, and the reduced history if it `writes`."""

    tally: Tally
    returns: tuple[ReturnReport, ...]
    output: bytes


class LinesLook(NamedTuple):
    """What rules did to some lines: sums, the reduced lines if it `writes`, and the returns by line if `detailed`."""

    tally: Tally
    lines: LineSum
    output: bytes
    details: tuple[tuple[int, tuple[ReturnReport, ...]], ...]


def tokens(characters: int) -> int:
    """Estimate the tokens of so many characters: a quarter, rounded up. Real tokenizers differ by a third and more."""
    return -(-characters // 4)


def look(ruleset: Ruleset, history: str, data: bytes, options: LookOptions = ALL_RETURNS) -> Look:
    """Reduce the chosen returns of a stored history and sum up what every step did.

    A return of a session history counts once, with the characters of its first text; its copies are reduced alike. Only
    one return at a time is in memory, unless `detailed` or `measured`. Raises `HistoryError`.
    """
    tally = Tally()
    reports: list[ReturnReport] = []
    reduced: dict[Key, Reduced] = {}

    def changed() -> Iterator[tuple[Content, Any]]:
        for found, outcome, alone, reduce in _attempts(ruleset, data, options):
            entry = _report_return(history, found, (outcome, alone), options.detailed)
            tally.add(entry)
            if options.detailed:
                reports.append(entry)
            if options.measured:
                reduced[found.key] = Reduced(entry.name, found.tool, found.content, alone)
            if options.writes and not found.untouched:
                yield from change_copies(found, outcome.content, reduce)

    output = splice(data, changed())
    if options.measured:
        tally.measures = measure(history, data, reduced, options.input_format)
    return Look(tally, tuple(reports), output if options.writes else b"")


def look_at_lines(ruleset: Ruleset, piece: bytes, options: LookOptions = ALL_RETURNS) -> LinesLook:
    """Reduce the history on each line of `piece`, as `look` does.

    Blank lines, line ends, and lines that contain no history or take too much memory stay. Line numbers count from 1 in
    the piece.
    """
    tally, lines = Tally(), LineSum("")
    details: list[tuple[int, tuple[ReturnReport, ...]]] = []
    pieces: list[bytes] = []
    done = 0
    for start, end in lines_of(piece):
        lines.lines += 1
        line = piece[start:end]
        if not line.strip():
            lines.blank += 1
            continue
        if is_heavy(line):
            lines.long += 1
            continue
        try:
            found = look(ruleset, "", line, options)
        except HistoryError as error:
            lines.bad += 1
            if len(lines.first_bad) < MAX_BAD:
                # The line was read alone, so the message names line 1.
                lines.first_bad.append((lines.lines, str(error).replace("line 1, ", "")[:_MAX_CHARACTERS]))
            continue
        tally.merge(found.tally)
        if options.detailed:
            details.append((lines.lines, found.returns))
        if options.writes and found.output is not line:
            pieces += (piece[done:start], found.output)
            done = end
    output = b"".join((*pieces, piece[done:])) if options.writes else b""
    return LinesLook(tally, lines, output, tuple(details))


def add_lines(total: LineSum, more: LineSum) -> None:
    """Add the sums of the lines that follow; their numbers continue."""
    room = MAX_BAD - len(total.first_bad)
    total.first_bad += [(total.lines + number, why) for number, why in more.first_bad[:room]]
    total.lines += more.lines
    total.blank += more.blank
    total.bad += more.bad
    total.long += more.long


def _attempts(
    ruleset: Ruleset, data: bytes, options: LookOptions
) -> Iterator[tuple[Return, Outcome, Outcome, Callable[[str, Any], Any]]]:
    """Yield the chosen returns, each with what rules did to it, with later references protected and without, and with
    the function that reduces its copies alike.
    """
    mentions = later_mentions(data, options.input_format) if options.references else None
    reduce = partial(reduce_content, ruleset)
    for found in returns(data, options.input_format):
        tool, content = found.tool, found.content
        if options.chosen is not None and not options.chosen(found):
            continue
        outcome = alone = Outcome(None, content)
        if not found.untouched:
            outcome = alone = attempt(ruleset, tool, content, mentions and mentions(found.key, content))
        if outcome.restored.referenced:
            alone = attempt(ruleset, tool, content)
        yield found, outcome, alone, protecting(reduce, mentions, found.key) if mentions else reduce


def _report_return(history: str, found: Return, outcomes: tuple[Outcome, Outcome], detailed: bool) -> ReturnReport:
    (outcome, alone), place = outcomes, found.places[0]
    rule = outcome.rule
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
