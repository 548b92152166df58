"""JSON lines: a history on each line, reduced one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reducer.analysis.report import ALL_RETURNS, LookOptions, ReturnReport, look
from reducer.analysis.tally import LineSum, Tally
from reducer.errors import HistoryError
from reducer.histories.lines import is_heavy, lines_of
from reducer.rules import Ruleset

MAX_BAD = 5
"""Bad lines that are reported in full; the others are counted."""
_MAX_CHARACTERS = 500


def look_at_lines(
    ruleset: Ruleset,
    piece: bytes,
    options: LookOptions = ALL_RETURNS,
    see: Callable[[int, tuple[ReturnReport, ...]], None] | None = None,
) -> tuple[Tally, LineSum, bytes]:
    """Reduce the history on each line of `piece`; return the sums and, if it `writes`, the reduced lines.

    Blank lines, line ends, and lines that contain no history or take too much memory stay. Line numbers count from 1 in
    the piece. `see` gets the detailed report of each line.
    """
    options = replace(options, detailed=see is not None)
    tally, lines = Tally(), LineSum("")
    pieces: list[bytes] = []
    done = 0
    for start, end in lines_of(piece):
        lines.lines += 1
        line = piece[start:end]
        if not line.strip():
            lines.blank += 1
        elif is_heavy(line):
            lines.long += 1
        else:
            try:
                found = look(ruleset, "", line, options)
            except HistoryError as error:
                lines.bad += 1
                if len(lines.first_bad) < MAX_BAD:
                    # The line was read alone, so the message names line 1.
                    lines.first_bad.append((lines.lines, str(error).replace("line 1, ", "")[:_MAX_CHARACTERS]))
                continue
            if see is not None:
                see(lines.lines, found.returns)
            tally.merge(found.tally)
            if options.writes and found.output is not line:
                pieces += (piece[done:start], found.output)
                done = end
    return tally, lines, b"".join((*pieces, piece[done:])) if options.writes else b""


def add_lines(total: LineSum, more: LineSum) -> None:
    """Add the sums of the lines that follow; their numbers continue."""
    room = MAX_BAD - len(total.first_bad)
    total.first_bad += [(total.lines + number, why) for number, why in more.first_bad[:room]]
    total.lines += more.lines
    total.blank += more.blank
    total.bad += more.bad
    total.long += more.long
