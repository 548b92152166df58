"""Tables whose columns stand below each other: those of psql, and fixed columns without bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from reducer.formats.parts import is_marker
from reducer.formats.rows import Part, is_unique
from reducer.markers import PREFIX

_LEAST_COLUMNS = 2
_MAX_NAME = 40
_MAX_WORDS = 4
_MAX_HEADERS = 3
"""The number of lines of one group of lines that are tried as header."""
_MAX_AFTER = 3
"""The number of lines below a table, without an empty line between them, that do not fit its columns."""
_WORD = re.compile(r"[^ ]+")
_GAP = re.compile(r" {2,}")
_BLANKS = re.compile(rb"\0+")
_NO_NAME = re.compile(r"[|=]|:\d|[.,;:!?]$")
_SUMMARY = re.compile(
    r"\(?\d+ (?:rows?|items?|results?|records?|entries|packages?|loaded|listed|found|total)\b.*"
    r"|(?:total|found|showing|count)\b.*",
    re.IGNORECASE,
)
_OCCUPIED = bytes(code != ord(" ") for code in range(256))


class Table(NamedTuple):
    """A table in the lines from `start` to `stop`, with its rows as objects and a marker below them.

    `write` returns the lines of a part, without the marker, or None if the notation cannot express it.
    """

    start: int
    stop: int
    names: list[str]
    rows: list[dict[str, str]]
    marker: list[str]
    write: Callable[[Part], list[str] | None]
    least: int


class _Layout(NamedTuple):
    """How lines are cut into the cells of columns, which are joined with `glue`."""

    cut: Callable[[str], list[str]]
    glue: str


class _Header(NamedTuple):
    names: list[str]
    starts: list[int]


def is_marker_line(lines: Sequence[str], at: int) -> bool:
    """Return whether there is a line at an index, and it is a marker."""
    return at < len(lines) and lines[at].startswith(PREFIX) and is_marker(lines[at])


# --- psql


def psql_table(lines: Sequence[str], rule: int) -> Table | None:
    """Return the table of psql whose second line is at an index, or None."""
    pieces = lines[rule].rstrip().split("+")
    places = [match.start() for match in re.finditer(r"\+", lines[rule])]
    if (
        "|" not in lines[rule - 1]
        or len(pieces) < _LEAST_COLUMNS
        or not all(piece and not piece.strip("-") for piece in pieces)
    ):
        return None
    bars = itemgetter(*places)
    slices = [slice(start + 1, stop) for start, stop in zip([-1, *places], [*places, None], strict=True)]

    def cut(line: str) -> list[str]:
        is_aligned = len(line) > places[-1] and not "".join(bars(line)).strip("|+")
        return [line[one] for one in slices] if is_aligned else line.split("|")

    stop = rule + 1
    while stop < len(lines) and "|" in lines[stop] and not is_marker_line(lines, stop):
        stop += 1
    layout = _Layout(cut, "|")
    cells = [cut(line) for line in (lines[rule - 1], *lines[rule + 1 : stop])]
    if any(len(row) != len(pieces) for row in cells):
        return None
    return _table(layout, lines, [rule - 1, rule], range(rule + 1, stop))


# --- fixed columns


def fixed_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables with fixed columns among groups of lines without empty lines."""
    start = 0
    for stop in range(len(lines) + 1):
        if stop == len(lines) or not lines[stop].strip():
            table = _table_among(lines, start, stop) if stop - start > 1 else None
            if table is not None:
                yield table
            start = stop + 1


def _table_among(lines: Sequence[str], start: int, stop: int) -> Table | None:
    tried = 0
    for at in range(start, stop - 1):
        words = _words(lines[at])
        if words:
            tried += 1
            table = _fixed_table(lines, at, stop, words)
            if table is not None or tried == _MAX_HEADERS:
                return table
    return None


def _words(line: str) -> list[re.Match[str]]:
    """Return the words of a line that can be a header, or nothing."""
    names = _GAP.split(line.strip())
    if len(names) == 1 and names[0].isupper():
        names = names[0].split()
    is_header = len(names) >= _LEAST_COLUMNS and all(map(_is_name, names))
    return list(_WORD.finditer(line.rstrip())) if is_header else []


def _is_name(text: str) -> bool:
    """Return whether a text can be the name of a column."""
    is_short = len(text) <= _MAX_NAME and text.count(" ") < _MAX_WORDS
    return is_short and (text[0].isalpha() or text[0] in "#%@_") and not _NO_NAME.search(text)


def _fixed_table(lines: Sequence[str], at: int, stop: int, words: Sequence[re.Match[str]]) -> Table | None:
    """Return the table with a header at an index, or None if the lines below do not fit its columns."""
    heads = [at, at + 1] if _is_rule(lines[at + 1]) else [at]
    first = last = heads[-1] + 1
    while last < stop and not _is_rule(lines[last]) and not is_marker_line(lines, last):
        last += 1
    if last < stop and stop - last > 1 + _MAX_AFTER:
        return None
    body = _body(lines[first:last], words, _MAX_AFTER if last == stop else 0)
    if not body and not is_marker_line(lines, first):
        return None
    starts = _starts(words, body)
    if len(starts) < _LEAST_COLUMNS:
        return None
    slices = [slice(start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]

    def cut(line: str) -> list[str]:
        return [line[one] for one in slices]

    return _table(_Layout(cut, ""), lines, heads, range(first, first + len(body)))


def _is_rule(line: str) -> bool:
    return not line.strip("-= \r")


def _body(lines: Sequence[str], words: Sequence[re.Match[str]], may_follow: int) -> Sequence[str]:
    """Return the first lines that leave a blank column in each wide gap of the header, at most some fewer than all."""
    count = len(lines)
    least = max(0, count - may_follow)
    while count > least and _SUMMARY.fullmatch(lines[count - 1].strip()):
        count -= 1
    occupied = _occupied(lines[:least])
    if not _fits(words, occupied):
        return []
    for index in range(least, count):
        occupied |= _occupied([lines[index]])
        if not _fits(words, occupied):
            return lines[:index]
    return lines[:count]


def _occupied(lines: Iterable[str]) -> int:
    """Return a number with a byte for each column of characters, which is 0 if all lines have a blank there."""
    found = 0
    for line in lines:
        found |= int.from_bytes(line.encode("latin-1", "replace").translate(_OCCUPIED), "little")
    return found


def _fits(words: Sequence[re.Match[str]], occupied: int) -> bool:
    columns = _columns(words, occupied)
    wide = [(one, other) for one, other in pairwise(words) if other.start() - one.end() > 1]
    return all(columns.find(0, one.end(), other.start()) >= 0 for one, other in wide)


def _columns(words: Sequence[re.Match[str]], occupied: int) -> bytes:
    return occupied.to_bytes(max(words[-1].end(), occupied.bit_length() // 8 + 1), "little")


def _blanks(columns: bytes, one: re.Match[str], other: re.Match[str]) -> list[tuple[int, int]]:
    """Return how wide each range of blank columns between two words of the header is, and where it ends."""
    found = _BLANKS.finditer(columns, one.end(), other.start())
    return [(match.end() - match.start(), match.end()) for match in found]


def _starts(words: Sequence[re.Match[str]], body: Sequence[str]) -> list[int]:
    """Return where the columns start: after the widest blank range in each gap of the header.

    One blank separates columns only if each row has a text below both words.
    """
    columns = _columns(words, _occupied(body))
    starts = [0]
    for one, other in pairwise(words):
        blanks = _blanks(columns, one, other)
        is_wide = other.start() - one.end() > 1
        if blanks and (is_wide or (_are_below(body, one) and _are_below(body, other))):
            starts.append(max(blanks)[1])
    return starts


def _are_below(body: Sequence[str], word: re.Match[str]) -> bool:
    """Return whether each row has a text below a word of the header."""
    start, stop = word.span()
    return all(line[start:stop].strip() for line in body)


# --- rows


def _table(layout: _Layout, lines: Sequence[str], heads: Sequence[int], body: range) -> Table | None:
    """Return the table with lines of a header and some rows, or None if its columns have no different names."""
    names = [cell.strip() for cell in layout.cut(lines[heads[0]])]
    at = body.stop
    marker = [lines[at]] if is_marker_line(lines, at) else []
    if not is_unique(names) or not (body or marker):
        return None
    rows = [dict(zip(names, [cell.strip() for cell in layout.cut(lines[index])], strict=True)) for index in body]

    def write(part: Part) -> list[str] | None:
        head = [layout.cut(lines[index]) for index in heads]
        before = [layout.cut(lines[index]) for index in body]
        return _written(layout.glue, names, head, before, part)

    return Table(heads[0], at + len(marker), names, rows, marker, write, _LEAST_COLUMNS)


def _written(
    glue: str, names: Sequence[str], head: Sequence[list[str]], before: Sequence[list[str]], part: Part
) -> list[str] | None:
    """Return the lines of a part, with columns that are as narrow as their cells allow, or None if a row is empty."""
    columns: list[list[str]] = []
    for column in part.columns:
        width = 0 if glue else len(head[0][column])
        earlier = [row[column].ljust(width) for row in before]
        spare = _blanks_around([head[0][column], *earlier])
        name = names[column]
        is_right = _is_right(earlier)
        body = [_cell(earlier[index], item.get(name, ""), is_right) for index, item in part.rows]
        cells = [*(row[column].ljust(width) for row in head), *body]
        columns.append(_narrow(cells, len(head), spare, is_last=column == len(names) - 1))
    if not glue:
        _widen(columns, head, part.columns)
    lines = [_joined(row, glue) for row in zip(*columns, strict=True)]
    return lines if all(lines) else None


def _joined(row: Sequence[str], glue: str) -> str:
    is_rule = glue and not "".join(row).strip("-")
    return ("+" if is_rule else glue).join(row).rstrip()


def _is_right(cells: Sequence[str]) -> bool:
    """Return whether the texts of a column end, rather than start, below each other."""
    sides = [_blanks_around([cell]) for cell in cells if cell.strip()]
    left = {side[0] for side in sides}
    right = {side[1] for side in sides}
    return bool(sides) and max(right) - min(right) < max(left) - min(left)


def _cell(before: str, text: str, is_right: bool) -> str:
    """Return a cell as it was written, or what is left of it at the same side of its column."""
    if text == before.strip():
        return before
    left, right = _blanks_around([before])
    if text and is_right:
        return (text + " " * right).rjust(len(before))
    return (" " * left + text if text else "").ljust(len(before))


def _blanks_around(cells: Sequence[str]) -> tuple[int, int]:
    """Return how many blanks all cells with a text have on their left and right side."""
    filled = [cell for cell in cells if cell.strip()]
    left = min([len(cell) - len(cell.lstrip()) for cell in filled], default=0)
    right = min([len(cell) - len(cell.rstrip()) for cell in filled], default=0)
    return left, right


def _narrow(cells: Sequence[str], heads: int, spare: tuple[int, int], *, is_last: bool) -> list[str]:
    """Return the cells of a column with as many blanks on both sides as it had before. Lines below the name shorten."""
    left, right = _blanks_around([cells[0], *cells[heads:]])
    left = max(0, left - spare[0])
    right = 0 if is_last else max(0, right - spare[1])
    narrow: list[str] = []
    for index, cell in enumerate(cells):
        end = len(cell.rstrip()) if 0 < index < heads else len(cell)
        narrow.append(cell[left : end - right] + cell[end:])
    return narrow


def _widen(columns: Sequence[list[str]], head: Sequence[Sequence[str]], kept: Sequence[int]) -> None:
    """Put blanks between columns which more than one blank separated, or which have an empty cell."""
    for place, (one, other) in enumerate(pairwise(kept)):
        before, after = columns[place : place + 2]
        is_filled = all(cell.strip() for cell in (*before[len(head) :], *after[len(head) :]))
        is_near = other == one + 1 and is_filled
        wanted = min(2, _gap(head[0][one], head[0][other])) if is_near else 2
        blanks = " " * (wanted - _gap(before[0], after[0]))
        before[:] = [cell + blanks for cell in before]


def _gap(one: str, other: str) -> int:
    return len(one) - len(one.rstrip()) + len(other) - len(other.lstrip())
