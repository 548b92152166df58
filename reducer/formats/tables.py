"""Tables of Markdown and psql, and tables with fixed columns, with any lines before and after them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from reducer.formats.columns import Table, fixed_tables, is_marker_line, psql_table
from reducer.formats.lines import line_end
from reducer.formats.rows import Part, is_unique, part_of
from reducer.markers import PREFIX

_DELIMITER = re.compile(r"[ \t]*:?-+:?[ \t]*")
_BAR = re.compile(r"(?<!\\)\|")


class _Barred(NamedTuple):
    """A line of a Markdown table: its cells as they are written, and what is before and after them."""

    before: str
    cells: list[str]
    after: str


def read_table(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the rows of the only table of a text as objects, and a function that writes some of them.

    Lines that look like fixed columns are a table if the text has no table with bars.
    """
    end = line_end(text)
    lines = text.split(end)
    tables = list(islice(_barred_tables(lines), 2)) or list(islice(fixed_tables(lines), 2))
    table = tables[0] if len(tables) == 1 else None
    if table is None:
        return None
    value = [*table.rows, *table.marker]

    def write(new: Any) -> str | None:
        part = part_of(new, value, table.names, table.least)
        written = None if part is None else table.write(part)
        if part is None or written is None:
            return None
        before = lines[table.start : table.stop - len(table.marker)]
        if sum(map(len, written)) > sum(map(len, before)) and not any(PREFIX in line for line in written):
            return None
        return end.join([*lines[: table.start], *written, *part.marker, *lines[table.stop :]])

    return value, write


def _barred_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables below which a line of `-` is the second line."""
    stop = 0
    for index, line in enumerate(lines):
        if index > stop and "-" in line and ("|" in line or "+" in line) and not line.strip("|:-+ \t\r"):
            table = _markdown_table(lines, index) if "|" in line else psql_table(lines, index)
            if table is not None:
                stop = table.stop
                yield table


def _markdown_table(lines: Sequence[str], rule: int) -> Table | None:
    outer = _outer(lines[rule])
    head = [_barred(lines[rule - 1], outer), _barred(lines[rule], outer)]
    names = _texts(head[0].cells)
    delimiters = head[1].cells
    if len(names) != len(delimiters) or not all(map(_DELIMITER.fullmatch, delimiters)) or not is_unique(names):
        return None
    rows: list[dict[str, str]] = []
    first = at = rule + 1
    while at < len(lines) and "|" in lines[at] and not is_marker_line(lines, at):
        cells = _texts(_barred(lines[at], outer).cells)
        if len(cells) > len(names):
            return None
        cells += [""] * (len(names) - len(cells))
        rows.append(dict(zip(names, cells, strict=True)))
        at += 1
    marker = [lines[at]] if is_marker_line(lines, at) else []
    if not (rows or marker):
        return None

    def write(part: Part) -> list[str]:
        kept = [_joined(line, line.cells, part.columns) for line in head]
        for index, item in part.rows:
            line = _barred(lines[first + index], outer)
            cells = [_cell(cell, item.get(name, "")) for name, cell in zip(names, line.cells, strict=False)]
            kept.append(_joined(line, cells, part.columns))
        return kept

    is_closed = all(line.before.strip() or line.after.strip() for line in head)
    return Table(rule - 1, at + len(marker), names, rows, marker, write, 1 if is_closed else 2)


def _outer(rule: str) -> tuple[bool, bool]:
    """Return whether the rows of a table start and end with a bar."""
    rule = rule.strip()
    return rule.startswith("|"), rule.endswith("|")


def _barred(line: str, outer: tuple[bool, bool]) -> _Barred:
    cells = _BAR.split(line) if "\\" in line else line.split("|")
    starts = outer[0] and len(cells) > 1 and not cells[0].strip()
    ends = outer[1] and len(cells) > 1 + starts and not cells[-1].strip()
    before = cells[0] + "|" if starts else ""
    after = "|" + cells[-1] if ends else ""
    return _Barred(before, cells[starts : len(cells) - ends], after)


def _joined(line: _Barred, cells: Sequence[str], columns: Sequence[int]) -> str:
    kept = [cells[column] for column in columns if column < len(cells)]
    written = line.before + "|".join(kept) + line.after
    return written if "|" in written or len(columns) == 1 else written + "|"


def _texts(cells: Sequence[str]) -> list[str]:
    """Return what cells express."""
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _cell(before: str, text: str) -> str:
    """Return a cell as it was written, or what is left of it, with at most one blank on each side."""
    if [text] == _texts([before]):
        return before
    inner = text.replace("|", "\\|")
    left = " " if before[:1].isspace() else ""
    right = " " if inner and before[-1:].isspace() else ""
    return f"{left}{inner}{right}"
