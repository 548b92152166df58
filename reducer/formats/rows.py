"""Tables in a text: their rows as objects, and the lines of what a reduction left of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from reducer.formats.parts import is_marker, origins

_LEAST_COLUMNS = 2

Found: TypeAlias = tuple[list[Any], Callable[[Any], str | None]] | None


Line: TypeAlias = tuple[list[str], str, str, str]
"""The cells of a line as they are written, and what stands between, before and after them."""


class Style(NamedTuple):
    """How a line is cut into cells, which text a cell expresses, and how it is written with what is left of its text.

    A cell is written as it was if it lost nothing.
    """

    cut: Callable[[str], Line]
    read: Callable[[str], str]
    write: Callable[[str, str], str]


class Table(NamedTuple):
    """A table whose header starts in a line, and its rows by the number of their line, which are below each other."""

    style: Style
    names: list[str]
    start: int
    first: int
    rows: dict[int, dict[str, str]]

    @property
    def stop(self) -> int:
        """The number of the line after the last row."""
        return self.first + len(self.rows)


def table_of(style: Style, lines: Sequence[str], start: int, first: int, below: Iterable[str]) -> Table | None:
    """Return the table whose header starts in a line, or None if its columns have no different names.

    Of the lines below the header, it ends before a marker, and before a line with another number of cells.
    """
    names = [*map(style.read, style.cut(lines[start])[0])]
    if len({*names}) < len(names):
        return None
    rows = {}
    for at, line in enumerate(below, first):
        cells = style.cut(line)[0]
        if len(cells) != len(names) or is_marker(line):
            break
        rows[at] = dict(zip(names, map(style.read, cells), strict=True))
    return Table(style, names, start, first, rows)


def marker_at(lines: Sequence[str], at: int) -> list[str]:
    """Return the line at an index if there is one and it is a marker."""
    return [line for line in lines[at : at + 1] if is_marker(line)]


def read_rows(lines: Sequence[str], end: str, tables: Sequence[Table]) -> Found:
    """Return the rows of all tables in some lines with the marker below the last one, and a function that writes some.

    Return None if there are none, or if there is a marker below another table.
    """
    if not tables or any(marker_at(lines, table.stop) for table in tables[:-1]):
        return None
    marker = marker_at(lines, tables[-1].stop)
    value: list[Any] = [*chain.from_iterable(table.rows.values() for table in tables), *marker]
    places = [*chain.from_iterable(table.rows for table in tables)]

    def write(new: Any) -> str | None:
        found = origins(new, value) if type(new) is list else None
        if found is None:
            return None
        kept = {places[index]: item for index, item in zip(found, new, strict=False) if type(item) is dict}
        written: list[str] = []
        at = 0
        for table in tables:
            written += [*lines[at : table.start], *_written(table, lines, kept)]
            at = table.stop
        written += [item for item in new[-1:] if type(item) is str and item]
        return end.join([*written, *lines[at + len(marker) :]])

    return (value, write) if value else None


def _written(table: Table, lines: Sequence[str], kept: Mapping[int, dict[str, str]]) -> list[str]:
    """Return the lines of a table without the columns that all its rows lost, or its header if no row is left."""
    rows = [at for at in table.rows if at in kept]
    if not rows:
        return [*lines[table.start : table.first]]
    keys = {key for at in rows for key in kept[at]}
    others = [name for name in table.names if name not in keys]
    keys.update(others[: max(0, _LEAST_COLUMNS - len(keys))])
    columns = [index for index, name in enumerate(table.names) if name in keys]
    written: list[str] = []
    for at in (*range(table.start, table.first), *rows):
        cells, glue, before, after = table.style.cut(lines[at])
        if at in kept:
            texts = [kept[at].get(name, "") for name in table.names]
            cells = [*map(table.style.write, cells, texts)]
        inner = glue.join([cells[column] for column in columns])
        written.append(f"{before}{inner}{after}" if glue else inner.rstrip())
    return written
