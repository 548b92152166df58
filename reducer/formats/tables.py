"""Tables of Markdown and psql, and tables with fixed columns, with any lines before and after them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, islice, pairwise

from reducer.formats.lines import line_end
from reducer.formats.parts import is_marker
from reducer.formats.rows import Found, Line, Table, marker_at, read_rows, table_of

_RULE = re.compile(r"\s*+([|+]?)\s*+:?-++:?\s*+(?:[|+]\s*+:?-++:?\s*+)*+([|+]?)\s*")
_MAX_HEADER = 2_000
"""The characters of the longest header, which bound the time that each line below it takes."""
_WORD = re.compile(r"[^ ]+")
_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_NAME = re.compile(r"(?:[^\W\d]|[#%@])(?:(?!:\d)[^|=])*(?<![.,;:!?])")
_TAKEN = bytes(code != ord(" ") for code in range(256))
_BAR = re.compile(r"(?<!\\)\|")


def read_table(text: str) -> Found:
    """Return the rows of all tables of a text as objects, and a function that writes some of them.

    Lines that look like fixed columns are tables if the text has no table with bars.
    """
    end = line_end(text)
    lines = text.split(end)
    return read_rows(lines, end, [*_barred_tables(lines)] or [*_fixed_tables(lines)])


def _barred_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables whose second line is a rule with as many cells as the first."""
    stop = 0
    for at, line in enumerate(lines):
        rule = _RULE.fullmatch(line)
        if rule and at > stop and "|" in lines[at - 1]:
            cut = partial(_cut, rule[1], rule[2])
            table = table_of(lines, range(at - 1, at + 1), len(lines), cut, _read, _write)
            if table:
                stop = table.stop
                yield table


def _cut(starts: str, ends: str, line: str) -> Line:
    """Cut a line, whose first and last bar enclose the cells if the rule below the header starts and ends with one."""
    glue = "|" if "|" in line else "+"
    cells = _BAR.split(line) if "\\" in line else line.split(glue)
    before = cells.pop(0) + glue if starts else ""
    after = glue + cells.pop() if ends and cells else ""
    return cells, glue, before, after


def _read(cell: str) -> str:
    return cell.strip().replace("\\|", "|")


def _write(cell: str, text: str) -> str:
    return cell.replace(cell.strip(), text.replace("|", "\\|"), 1)


# --- fixed columns


def _fixed_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield a table in each group of lines without empty lines that has one below the first two possible headers."""
    for _, group in groupby(range(len(lines)), lambda at: not lines[at].strip()):
        places = [*group]
        headers = [at for at in places if _is_header(lines[at])]
        tables = (_fixed_table(lines, at, places[-1] + 1) for at in headers[:2])
        yield from islice(filter(None, tables), 1)


def _is_header(line: str) -> bool:
    """Return whether two or more blanks separate names in a line, or all its letters are capitals."""
    names = _GAP.split(line.strip())
    return len(line) <= _MAX_HEADER and (len(names) > 1 or line.isupper()) and all(map(_NAME.fullmatch, names))


def _fixed_table(lines: Sequence[str], start: int, stop: int) -> Table | None:
    """Return the table with a header at an index, or None if no row or marker below it fits two columns."""
    rules = [at for at in range(start + 1, stop)[:2] if not lines[at].strip("-= ")]
    first = [*rules, start][0] + 1
    starts, count = _columns(lines[start], lines[first:stop])
    if len(starts) < 2 or not (count or marker_at(lines, first)):
        return None
    slices = [slice(*ends) for ends in pairwise([*starts, None])]
    return table_of(lines, range(start, first), first + count, partial(_cut_columns, slices), str.strip, _write_column)


def _columns(header: str, lines: Sequence[str]) -> tuple[list[int], int]:
    """Return where the columns of a table start, and how many of the lines below its header are rows.

    A column starts after the last place between two words of the header that is blank in all rows. If one blank
    separates the words, all rows must also have a text at a place below each. The table ends before a line that leaves
    no blank between two words that more blanks separate.
    """
    words = [match.span() for match in _WORD.finditer(header)]
    wide = [match.span() for match in _GAP.finditer(header)]
    width = len(header)
    taken = 0
    always = int.from_bytes(b"\1" * width, "little")
    count = 0
    for line in lines:
        row = int.from_bytes(line[:width].encode("latin-1", "replace").translate(_TAKEN), "little")
        marks = (taken | row).to_bytes(width, "little")
        if is_marker(line) or (taken | row != taken and any(0 not in marks[slice(*gap)] for gap in wide)):
            break
        taken |= row
        always &= row
        count += 1
    marks = taken.to_bytes(width, "little")
    below = always.to_bytes(width, "little")
    starts = [0]
    for (start, stop), (after, end) in pairwise(words):
        blank = marks.rfind(0, stop, after)
        if blank >= 0 and (after - stop > 1 or (1 in below[start:stop] and 1 in below[after:end])):
            starts.append(blank + 1)
    return starts, count


def _cut_columns(slices: Sequence[slice], line: str) -> Line:
    return [line[one] for one in slices], "", "", ""


def _write_column(cell: str, text: str) -> str:
    """Return a cell with what is left of its text. A column without texts is none."""
    inner = cell.strip()
    return cell.replace(inner, text.ljust(len(inner)), 1) if text else cell
