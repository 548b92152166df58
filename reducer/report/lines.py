"""JSON lines: a history on each line, reduced one by one."""

from __future__ import annotations

from collections.abc import Callable

from reducer.errors import HistoryError
from reducer.lines import is_heavy, lines_of
from reducer.report import ReturnReport, look, look_briefly
from reducer.report.tally import LineSum, Tally, merge
from reducer.rule import Ruleset
from reducer.stored import InputFormat, Return

TOLD = 5
"""Bad lines that are told of in full; the others are counted."""
_MOST_CHARACTERS = 500


def look_at_lines(
    ruleset: Ruleset,
    piece: bytes,
    chosen: Callable[[Return], bool] | None = None,
    *,
    measured: bool = False,
    references: bool = True,
    write: bool = False,
    see: Callable[[int, tuple[ReturnReport, ...]], None] | None = None,
    input_format: InputFormat = "auto",
) -> tuple[Tally, LineSum, bytes]:
    """Reduce the history on each line of `piece` and sum up what the rules did; the reduced lines are made if asked to `write`.

    Blank lines, line ends and lines that hold no history or take too much memory stay as they are. Numbers of lines count from 1 in the piece.
    `see` hears of each line what was done to its returns, in detail; what the rules cost is `measured` if asked for. `references` as for `look`.
    """
    tally, lines = Tally(), LineSum("")
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
            if see is None:
                sums, reduced = look_briefly(ruleset, line, chosen, measured=measured, references=references, write=write, input_format=input_format)
            else:
                seen = look(ruleset, "", line, chosen, detailed=True, measured=measured, references=references, input_format=input_format)
                see(lines.lines, seen.returns)
                sums, reduced = seen.tally, seen.reduced() if write else b""
        except HistoryError as error:
            lines.bad += 1
            if len(lines.told) < TOLD:
                # It was read as a text of its own, whose only line is the first.
                lines.told.append((lines.lines, str(error).replace("line 1, ", "")[:_MOST_CHARACTERS]))
            continue
        merge(tally, sums)
        if write and reduced is not line:
            pieces += (piece[done:start], reduced)
            done = end
    if not write or not pieces:
        return tally, lines, piece if write else b""
    pieces.append(piece[done:])
    return tally, lines, b"".join(pieces)


def add_lines(total: LineSum, more: LineSum) -> None:
    """Count the lines that follow; the numbers of their bad ones are made to go on."""
    total.told += [(total.lines + number, what) for number, what in more.told[: TOLD - len(total.told)]]
    total.lines += more.lines
    total.blank += more.blank
    total.bad += more.bad
    total.long += more.long
