"""Applies rules to the tool returns of stored histories, and collects what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from reducer.analysis.measures import Reduced, measure
from reducer.analysis.report import MAX_BAD, LineSum, ReturnReport, Tally, report_return, tally_of
from reducer.engine import Outcome, attempt, reduce_content
from reducer.errors import HistoryError
from reducer.histories import stored
from reducer.histories.files import is_heavy, lines_of
from reducer.rules import Ruleset


@dataclass(frozen=True, slots=True)
class LookOptions:
    """What to reduce and to report.

    `chosen` selects returns; None selects all. `detailed` also reports each return and what each step removed,
    `measured` what the rules cost, always without the protection of `references`. `writes` asks for the reduced
    history.
    """

    chosen: Callable[[stored.Return], bool] | None = None
    detailed: bool = False
    writes: bool = False
    measured: bool = False
    references: bool = True
    input_format: stored.InputFormat = "auto"


ALL_RETURNS = LookOptions()
_MAX_CHARACTERS = 500


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


def look(ruleset: Ruleset, history: str, data: bytes, options: LookOptions = ALL_RETURNS) -> Look:
    """Reduce the chosen returns of a stored history and sum up what every step did.

    A return of a session history counts once, with the characters of its first text; its copies are reduced alike. Only
    one return at a time is in memory, unless `detailed` or `measured`. Raises `HistoryError`.
    """
    tally = Tally()
    reports: list[ReturnReport] = []
    reduced: dict[stored.Key, Reduced] = {}
    mentions = stored.later_mentions(data, options.input_format) if options.references else None
    reduce = partial(reduce_content, ruleset)

    def changed() -> Iterator[tuple[stored.Content, Any]]:
        for found in stored.returns(data, options.input_format):
            if options.chosen is not None and not options.chosen(found):
                continue
            protected = mentions(found.key, found.content) if mentions else None
            outcome = alone = Outcome(None, found.content)
            if not found.untouched:
                outcome = alone = attempt(ruleset, found.tool, found.content, protected)
            if outcome.restored.referenced:
                alone = attempt(ruleset, found.tool, found.content)
            entry = report_return(history, found, outcome, alone=alone, detailed=options.detailed)
            tally.merge(tally_of(entry))
            if options.detailed:
                reports.append(entry)
            if options.measured:
                reduced[found.key] = Reduced(found, alone)
            if options.writes and not found.untouched:
                copies = stored.protecting(reduce, mentions, found.key) if mentions else reduce
                yield from stored.change_copies(found, outcome.content, copies)

    output = stored.splice(data, changed())
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
        line = piece[start:end]
        is_blank = not line.strip()
        is_long = not is_blank and is_heavy(line)
        lines.lines += 1
        lines.blank += is_blank
        lines.long += is_long
        if is_blank or is_long:
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
