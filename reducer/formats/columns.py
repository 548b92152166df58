"""Tables whose columns stand below each other: those of psql, and fixed columns without bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    if len(pieces) < _LEAST_COLUMNS or not all(piece and not piece.strip("-") for piece in pieces):
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
    """Return the lines of what stays, with columns that are as narrow as their cells allow."""
    body = [_reduced(names, before[index], item) for index, item in part.rows]
    if not glue and not all(any(cell.strip() for cell in row) for row in body):
        return None
    kept: list[list[str]] = [[] for _ in (*head, *body)]
    for column in part.columns:
        width = len(head[0][column])
        cells = [row[column] if glue else row[column].ljust(width) for row in (*head, *body)]
        earlier = [row[column] if glue else row[column].ljust(width) for row in (head[0], *before)]
        left, right = _fewer_blanks(earlier, [cells[0], *cells[len(head) :]])
        right = right if column < len(names) - 1 else 0
        for index, (row, cell) in enumerate(zip(kept, cells, strict=True)):
            end = len(cell.rstrip()) if 0 < index < len(head) else len(cell)
            row.append(cell[left : end - right] + cell[end:])
    if not glue:
        _widen(kept, head[0], part.columns)
    return [_joined(row, glue) for row in kept]


def _joined(row: Sequence[str], glue: str) -> str:
    is_rule = glue and not "".join(row).strip("-")
    return ("+" if is_rule else glue).join(row).rstrip()


def _reduced(names: Sequence[str], cells: Sequence[str], item: Mapping[str, str]) -> list[str]:
    return [_cell(cell, item.get(name, "")) for name, cell in zip(names, cells, strict=True)]


def _cell(before: str, text: str) -> str:
    """Return a cell as it was written, or what is left of it at the same side of its column."""
    if text == before.strip():
        return before
    left = len(before) - len(before.lstrip())
    right = len(before) - len(before.rstrip())
    if text and left > right:
        return (text + " " * right).rjust(len(before))
    return (" " * left + text if text else "").ljust(len(before))


def _fewer_blanks(before: Sequence[str], now: Sequence[str]) -> tuple[int, int]:
    """Return how many blanks all cells of a column can lose on each side, so that it has as many as before."""
    left = _least([len(cell) - len(cell.lstrip()) for cell in now if cell.strip()])
    right = _least([len(cell) - len(cell.rstrip()) for cell in now if cell.strip()])
    left -= _least([len(cell) - len(cell.lstrip()) for cell in before if cell.strip()])
    right -= _least([len(cell) - len(cell.rstrip()) for cell in before if cell.strip()])
    return max(0, left), max(0, right)


def _least(counts: Sequence[int]) -> int:
    return min(counts, default=0)


def _widen(kept: Sequence[list[str]], header: Sequence[str], columns: Sequence[int]) -> None:
    """Put blanks between names of the header which more than one blank separated."""
    for place, (one, other) in enumerate(pairwise(columns)):
        gap = _gap(header[one], header[other]) if other == one + 1 else 2
        missing = min(gap, 2) - _gap(kept[0][place], kept[0][place + 1])
        for row in kept:
            row[place] += " " * missing


def _gap(one: str, other: str) -> int:
    return len(one) - len(one.rstrip()) + len(other) - len(other.lstrip())
