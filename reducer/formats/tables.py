"""Tables of Markdown and psql, and tables with fixed columns, with any lines before and after them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

from reducer.formats.columns import fixed_tables
from reducer.formats.lines import line_end
from reducer.formats.rows import Found, Line, Style, Table, read_rows, table_of

_RULE = re.compile(r"\s*+([|+]?)\s*+:?-++:?\s*+(?:[|+]\s*+:?-++:?\s*+)*+([|+]?)\s*")
_BAR = re.compile(r"(?<!\\)\|")


def read_table(text: str) -> Found:
    """Return the rows of all tables of a text as objects, and a function that writes some of them.

    Lines that look like fixed columns are tables if the text has no table with bars.
    """
    end = line_end(text)
    lines = text.split(end)
    return read_rows(lines, end, [*_barred_tables(lines)] or [*fixed_tables(lines)])


def _barred_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables whose second line is a rule with as many cells as the first. Each row has a bar."""
    stop = 0
    for at, line in enumerate(lines):
        rule = _RULE.fullmatch(line)
        if rule is None or at <= stop or "|" not in lines[at - 1]:
            continue
        cut = partial(_cut, rule[1], rule[2])
        if len(cut(lines[at - 1])[0]) == len(cut(line)[0]):
            below = takewhile(lambda line: "|" in line, (lines[row] for row in range(at + 1, len(lines))))
            table = table_of(Style(cut, _read, _write), lines, at - 1, at + 1, below)
            stop = table.stop if table else at
            yield from filter(None, [table])


def _cut(starts: str, ends: str, line: str) -> Line:
    """Return a line whose first and last bar may enclose its cells."""
    glue = "|" if "|" in line else "+"
    cells = _BAR.split(line) if "\\" in line else line.split(glue)
    before = after = ""
    if starts and len(cells) > 1 and not cells[0].strip():
        before = cells.pop(0) + glue
    if ends and len(cells) > 1 and not cells[-1].strip():
        after = glue + cells.pop()
    return cells, glue, before, after


def _read(cell: str) -> str:
    return cell.strip().replace("\\|", "|")


def _write(cell: str, text: str) -> str:
    return cell.replace(cell.strip(), text.replace("|", "\\|"), 1)
