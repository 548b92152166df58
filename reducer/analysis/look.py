"""Apply rules to the tool returns of stored histories, and report what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from io import BytesIO
from typing import Any, NamedTuple

from reducer.analysis.explanation import Explanation, ReturnPlace, explain_outcome
from reducer.analysis.measures import Reduced, measure
from reducer.analysis.report import BadLine, LineSum, Tally, add_lines
from reducer.analysis.texts import characters
from reducer.analysis.tree import tree
from reducer.engine import Outcome, attempt, reduce_content
from reducer.errors import HistoryError
from reducer.histories import protecting, stored
from reducer.histories.repeats import Repeated, Repeats
from reducer.markers import repeats_in
from reducer.references import Mentions
from reducer.rules import Ruleset, read_rules
from reducer.values import dump


def _is_any(found: stored.Return) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class LookOptions:
    """What to reduce, and what to report about it.

    - `chosen` selects tool returns.
    - `detailed` adds a report of each return, with what each step removed.
    - `with_trees` adds the annotated tree of each return to a detailed report.
    - `writes` adds the reduced history.
    - `measured` adds what the rules cost without the protection of referenced values, or with it if `as_written`.
    - `references` protects values that later messages reference.
    - `repeats` leaves out what earlier returns show. Returns that are not chosen show what the rules leave of them.
    """

    chosen: Callable[[stored.Return], bool] = _is_any
    detailed: bool = False
    with_trees: bool = False
    writes: bool = False
    measured: bool = False
    as_written: bool = False
    references: bool = True
    repeats: bool = False
    input_format: stored.InputFormat = "auto"


ALL_RETURNS = LookOptions()
_MAX_CHARACTERS = 500


class Look(NamedTuple):
    """What rules did to a history, or to some lines; `details` has the reports by line, which is 0 for a history."""

    tally: Tally
    lines: LineSum
    output: bytes = b""
    details: tuple[tuple[int, tuple[Explanation, ...]], ...] = ()

    @property
    def returns(self) -> tuple[Explanation, ...]:
        """The reports of all returns, in order."""
        return tuple(entry for _, reports in self.details for entry in reports)


def look(ruleset: Ruleset, history: str, data: bytes, options: LookOptions = ALL_RETURNS) -> Look:
    """Reduce the chosen returns of a stored history, and report what each step did.

    A return of a session history counts once, with the size of its first text; its copies are reduced too. Unless
    the report is `detailed` or `measured`, only one return at a time is in memory. Raises `HistoryError`.
    """
    tally = Tally()
    reports: list[Explanation] = []
    reduced: dict[stored.Key, Reduced] = {}
    mentions = stored.later_mentions(data, options.input_format) if options.references else None
    reduce = partial(reduce_content, ruleset)
    as_written = _reducing(ruleset, options, mentions)
    in_agent = _reducing(ruleset, options, None)

    def changes() -> Iterator[tuple[stored.Content, Any]]:
        for found in stored.returns(data, options.input_format):
            is_chosen = options.chosen(found)
            if not is_chosen and not options.repeats:
                continue
            repeated = alone = as_written(found)
            if repeated.outcome.restored.referenced or (mentions and options.repeats):
                alone = in_agent(found)
            if not is_chosen:
                continue
            entry = _explained(history, found, repeated, alone.outcome, options)
            tally.add(entry)
            if options.detailed:
                reports.append(entry)
            if options.measured:
                measured = repeated if options.as_written else alone
                reduced[found.key] = Reduced(found, measured.outcome, measured.content)
            if options.writes and not found.untouched:
                reduce_here = protecting(reduce, mentions, found.key)
                yield from stored.change_copies(found, repeated.outcome.content, reduce_here, repeated.content)

    output = stored.splice(data, changes())
    if not tally.files and next(stored.returns(data, options.input_format), None) is None:
        tally.add_reason(history, stored.why_without_returns(data, options.input_format))
    if options.measured:
        tally.measures = measure(history, data, reduced, options.input_format)
    return Look(tally, LineSum(""), output if options.writes else b"", ((0, tuple(reports)),))


def _reducing(ruleset: Ruleset, options: LookOptions, mentions: Mentions | None) -> Callable[[stored.Return], Repeated]:
    """Return a function that reduces the returns of a history in order, and protects the values in `mentions`."""
    apply = partial(attempt, ruleset)
    repeats = Repeats(apply) if options.repeats else None

    def reduce(found: stored.Return) -> Repeated:
        if found.untouched:
            return Repeated(Outcome(None, found.content), found.content)
        if repeats is not None:
            return stored.reduce_repeats(repeats, found, mentions)
        protected = partial(mentions.after, found.key, found.content) if mentions else None
        outcome = apply(found.tool, found.content, protected)
        return Repeated(outcome, outcome.content)

    return reduce


def _explained(
    history: str, found: stored.Return, repeated: Repeated, alone: Outcome, options: LookOptions
) -> Explanation:
    """Return what was done to a return; `alone` is the outcome without the protection of referenced values."""
    outcome = repeated.outcome
    entry = explain_outcome(found.tool, found.content, outcome, detailed=options.detailed, alone=alone)
    if found.untouched:
        entry = replace(entry, status="untouched", why=found.untouched)
    if repeated.saved:
        entry = replace(
            entry,
            status="reduced" if entry.status == "unchanged" else entry.status,
            after=entry.after - repeated.saved,
            repeats=repeated.saved,
            repeats_of=_named_calls(repeated.content),
        )
    elif options.measured and entry.status == "no rule":
        entry = replace(entry, general=entry.before - characters(reduce_content(_general(), found.tool, found.content)))
    entry = replace(entry, repeats_dropped=repeated.is_dropped, dangling=repeated.dangling)
    place = ReturnPlace(history, found.key.message, found.key.part, found.name)
    return replace(entry, place=place, tree=tree(found.content, outcome) if options.with_trees else None)


@cache
def _general() -> Ruleset:
    """Return the rule for tools without a rule."""
    return read_rules("builtin:general")


def _named_calls(content: Any) -> tuple[str, ...]:
    """Return the calls that the markers of repeats in a content name."""
    calls: dict[str, None] = {}
    for marker in repeats_in(content if type(content) is str else dump(content)):
        calls |= dict.fromkeys(marker.calls)
    return tuple(calls)


def look_at_lines(ruleset: Ruleset, piece: bytes, options: LookOptions = ALL_RETURNS, file: str = "") -> Look:
    """Reduce the history on each line of `piece`, a part of `file`, and report what each step did.

    Line ends, blank lines and lines without a history stay unchanged. Line numbers count from 1 in the piece.
    """
    outputs: list[bytes] = []

    def looks() -> Iterator[Look]:
        for whole in BytesIO(piece):
            line = whole.removesuffix(b"\n")
            found = look_at_line(ruleset, line, options, file)
            outputs.append(found.output + whole[len(line) :])
            yield found

    found = joined(looks())
    return found._replace(output=b"".join(outputs) if options.writes else b"")


def look_at_line(ruleset: Ruleset, line: bytes, options: LookOptions, file: str) -> Look:
    """Reduce the history on a line or in a row of `file`, which stays unchanged if it is none."""
    if not line.strip():
        return Look(Tally(), LineSum("", lines=1), line)
    try:
        found = look(ruleset, file, line, options)
    except HistoryError as error:
        # The line was read on its own, so the message names line 1.
        return bad_line(line, str(error).replace("line 1, ", "")[:_MAX_CHARACTERS])
    return found._replace(lines=LineSum("", lines=1), details=((1, found.returns),) if options.detailed else ())


def bad_line(line: bytes, why: str) -> Look:
    """Return the result of a line that cannot be read, which stays unchanged."""
    return Look(Tally(), LineSum("", lines=1, bad=1, first_bad=[BadLine(1, why)]), line)


def joined(looks: Iterable[Look]) -> Look:
    """Add up what rules did to lines that follow each other, without the outputs."""
    tally, lines = Tally(), LineSum("")
    details: list[tuple[int, tuple[Explanation, ...]]] = []
    for found in looks:
        details += ((lines.lines + line, returns) for line, returns in found.details)
        add_lines(lines, found.lines)
        tally.merge(found.tally)
    return Look(tally, lines, b"", tuple(details))
