"""Tables with fixed columns: the cells of a column stand below each other."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, islice, pairwise, takewhile

from reducer.formats.parts import is_marker
from reducer.formats.rows import Line, Style, Table, marker_at, table_of

_WORD = re.compile(r"[^ ]+")
_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_NAME = re.compile(r"(?:[^\W\d]|[#%@])(?:(?!:\d)[^|=])*(?<![.,;:!?])")
_TAKEN = bytes(code != ord(" ") for code in range(256))


def fixed_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield a table in each group of lines without empty lines that has one below the first two possible headers."""
    for is_empty, group in groupby(range(len(lines)), lambda at: not lines[at].strip()):
        places = [] if is_empty else [*group]
        headers = (at for at in places if _is_header(lines[at]))
        tables = (_table(lines, at, places[-1] + 1) for at in islice(headers, 2))
        yield from islice(filter(None, tables), 1)


def _is_header(line: str) -> bool:
    """Return whether two or more blanks separate names in a line, or all its letters are capitals."""
    names = _GAP.split(line.strip())
    return (len(names) > 1 or line.isupper()) and all(map(_NAME.fullmatch, names))


def _table(lines: Sequence[str], start: int, stop: int) -> Table | None:
    """Return the table with a header at an index, or None if no row or marker below it fits two columns."""
    first = start + 1
    if first < stop and not lines[first].strip("-= "):
        first += 1
    starts, count = _columns(lines[start], [*takewhile(lambda line: not is_marker(line), lines[first:stop])])
    if len(starts) < 2 or not (count or marker_at(lines, first)):
        return None
    slices = [slice(*ends) for ends in pairwise([*starts, None])]
    style = Style(partial(_cut, slices), str.strip, _write)
    return table_of(style, lines, start, first, lines[first : first + count])


def _columns(header: str, lines: Sequence[str]) -> tuple[list[int], int]:
    """Return where the columns of a table start, and how many of the lines below its header are rows.

    A column starts after the last place between two words of the header that is blank in all rows. If one blank
    separates the words, all rows must also have a text at a place below each. The table ends before a line that leaves
    no blank between two words that more blanks separate.
    """
    words = [match.span() for match in _WORD.finditer(header)]
    wide = [match.span() for match in _GAP.finditer(header)]
    taken = bytearray(len(header))
    always = int.from_bytes(b"\1" * len(header), "little")
    count = 0
    for line in lines:
        size = len(line)
        row = int.from_bytes(line.encode("latin-1", "replace").translate(_TAKEN), "little")
        before = taken[:size]
        taken[:size] = (row | int.from_bytes(before, "little")).to_bytes(size, "little")
        if any(taken.find(0, *gap) < 0 for gap in wide[: bisect(wide, (size, 0))]):
            taken[:size] = before
            break
        always &= row
        count += 1
    below = always.to_bytes(len(header), "little")
    starts = [0]
    for one, other in pairwise(words):
        blank = taken.rfind(0, one[1], other[0])
        is_wide = other[0] - one[1] > 1
        if blank >= 0 and (is_wide or (1 in below[slice(*one)] and 1 in below[slice(*other)])):
            starts.append(blank + 1)
    return starts, count


def _cut(slices: Sequence[slice], line: str) -> Line:
    return [line[one] for one in slices], "", "", ""


def _write(cell: str, text: str) -> str:
    inner = cell.strip()
    return cell.replace(inner, text.ljust(len(inner)), 1)
