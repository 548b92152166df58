"""Tables of Markdown and psql, and tables with fixed columns, with any lines before and after them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from reducer.formats.columns import Table, fixed_tables, is_marker_line, psql_table
from reducer.formats.lines import line_end
from reducer.formats.rows import Part, is_unique, part_of

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
    tables = list(_barred_tables(lines)) or list(fixed_tables(lines))
    table = tables[0] if len(tables) == 1 else None
    if table is None:
        return None
    value = [*table.rows, *table.marker]

    def write(new: Any) -> str | None:
        part = part_of(new, value, table.names, table.least)
        written = None if part is None else table.write(part)
        if part is None or written is None:
            return None
        return end.join([*lines[: table.start], *written, *part.marker, *lines[table.stop :]])

    return value, write


def _barred_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables below which a line of `-` is the second line."""
    stop = 0
    for index, line in enumerate(lines):
        if index > stop and "-" in line and not line.strip("|:-+ \t\r"):
            table = _markdown_table(lines, index) if "|" in line else psql_table(lines, index)
            if table is not None:
                stop = table.stop
                yield table


def _markdown_table(lines: Sequence[str], rule: int) -> Table | None:
    outer = _outer(lines[rule])
    head = [_barred(lines[rule - 1], outer), _barred(lines[rule], outer)]
    names = [_text(cell) for cell in head[0].cells]
    delimiters = head[1].cells
    if len(names) != len(delimiters) or not all(map(_DELIMITER.fullmatch, delimiters)) or not is_unique(names):
        return None
    body: list[_Barred] = []
    at = rule + 1
    while at < len(lines) and "|" in lines[at] and not is_marker_line(lines, at):
        body.append(_barred(lines[at], outer))
        at += 1
    marker = [lines[at]] if is_marker_line(lines, at) else []
    if not (body or marker) or any(len(line.cells) > len(names) for line in body):
        return None
    rows = [_row(names, line) for line in body]

    def write(part: Part) -> list[str]:
        kept = [_joined(line, line.cells, part.columns) for line in head]
        for index, item in part.rows:
            line = body[index]
            cells = [_cell(cell, item.get(name, "")) for name, cell in zip(names, line.cells, strict=False)]
            kept.append(_joined(line, cells, part.columns))
        return kept

    is_closed = all(line.before.strip() or line.after.strip() for line in head)
    return Table(rule - 1, at + len(marker), names, rows, marker, write, 1 if is_closed else 2)


def _row(names: Sequence[str], line: _Barred) -> dict[str, str]:
    """Return a row as an object. Cells that it lacks are empty."""
    cells = [_text(cell) for cell in line.cells]
    cells += [""] * (len(names) - len(cells))
    return dict(zip(names, cells, strict=True))


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
    return line.before + "|".join([cells[column] for column in columns if column < len(cells)]) + line.after


def _text(cell: str) -> str:
    return cell.strip().replace("\\|", "|")


def _cell(before: str, text: str) -> str:
    """Return a cell as it was written, or what is left of it, with at most one blank on each side."""
    if text == _text(before):
        return before
    inner = text.replace("|", "\\|")
    left = " " if before[:1].isspace() else ""
    right = " " if inner and before[-1:].isspace() else ""
    return f"{left}{inner}{right}"
