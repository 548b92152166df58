"""Tables in a text: their rows as objects, and the lines of what a reduction left of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple, TypeAlias

from reducer.formats.parts import is_marker, origins

_LEAST_COLUMNS = 2

Found: TypeAlias = tuple[list[Any], Callable[[Any], str | None]] | None
Line: TypeAlias = tuple[list[str], str, str, str]
"""The cells of a line as they are written, and what stands between, before and after them."""


class Table(NamedTuple):
    """A table: how its lines are cut and cells are written, the lines of its header, its rows by their lines, and where
    these end.

    `write` returns a cell with what is left of its text. This is the cell itself if it lost nothing.
    """

    cut: Callable[[str], Line]
    write: Callable[[str, str], str]
    names: list[str]
    heads: range
    rows: dict[int, dict[str, str]]
    stop: int


def table_of(
    lines: Sequence[str],
    heads: range,
    stop: int,
    cut: Callable[[str], Line],
    read: Callable[[str], str],
    write: Callable[[str, str], str],
) -> Table | None:
    """Return the table with some lines as header, or None if these have not as many cells, or equal ones.

    It ends before a marker, and before a line with another number of cells or another separator.
    """
    head, separator, *_ = cut(lines[heads[0]])
    names = [*map(read, head)]
    widths = {len(cut(lines[at])[0]) for at in heads}
    if len(widths) > 1 or len({*names}) < len(names):
        return None
    rows = {}
    for at in range(heads.stop, stop):
        cells, glue, *_ = cut(lines[at])
        if len(cells) != len(names) or glue != separator or is_marker(lines[at]):
            break
        rows[at] = dict(zip(names, map(read, cells), strict=True))
    return Table(cut, write, names, heads, rows, heads.stop + len(rows))


def marker_at(lines: Sequence[str], at: int) -> list[str]:
    """Return the line at an index if there is one and it is a marker."""
    return [line for line in lines[at : at + 1] if is_marker(line)]


def read_rows(lines: Sequence[str], end: str, tables: Sequence[Table]) -> Found:
    """Return the rows of all tables in some lines with the marker below the last one, and a function that writes some.

    A table without rows and marker is text. Return None if there are none, or if there is a marker below another table.
    """
    tables = [table for table in tables if table.rows or marker_at(lines, table.stop)]
    if not tables or any(marker_at(lines, table.stop) for table in tables[:-1]):
        return None
    marker = marker_at(lines, tables[-1].stop)
    rows = dict(chain.from_iterable(table.rows.items() for table in tables))
    value = [*rows.values(), *marker]
    places = [*rows, *marker]

    def write(new: Any) -> str | None:
        found = origins(new, value)
        if found is None:
            return None
        kept = {places[index]: item for index, item in zip(found, new, strict=False)}
        last = max([number for number, table in enumerate(tables) if kept.keys() & table.rows.keys()], default=-1)
        written = []
        at = 0
        for table in tables:
            written.extend([*lines[at : table.heads.start], *_written(table, lines, kept)])
            if table is tables[last]:
                written += marker_at(new, len(new) - 1)
            at = table.stop
        return end.join([*written, *lines[at + len(marker) :]])

    return value, write


def _written(table: Table, lines: Sequence[str], kept: Mapping[Any, Any]) -> Sequence[str]:
    """Return the lines of a table without the columns that all its rows lost, or its header if no row is left.

    If too few columns stay, the first others do, too.
    """
    rows = [at for at in table.rows if at in kept]
    if not rows:
        return [lines[at] for at in table.heads]
    keys = {key for at in rows for key in kept[at]}
    others = [name for name in table.names if name not in keys]
    keys.update(others[: max(0, _LEAST_COLUMNS - len(keys))])
    stays = [name in keys for name in table.names]
    written = []
    for at in (*table.heads, *rows):
        cells, glue, before, after = table.cut(lines[at])
        if at in kept:
            texts = [kept[at].get(name, "") for name in table.names]
            cells = [*map(table.write, cells, texts)]
        inner = glue.join(compress(cells, stays))
        written.append(f"{before}{inner}{after}" if glue else inner.rstrip())
    return written
