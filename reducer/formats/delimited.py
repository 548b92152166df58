"""Tables whose cells are separated by a comma, a tab, a semicolon or a bar."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reducer.formats.parts import is_marker
from reducer.formats.rows import Part, is_unique, part_of
from reducer.markers import PREFIX

_SEPARATORS = ("\t", ",", ";", "|")
_BOM = "\ufeff"
_LEAST_COLUMNS = 2
_MAX_NAME = 80
_QUOTED = '"[^"]*+(?:""[^"]*+)*+"'
_CELLS = {
    separator: re.compile(rf"(?:({_QUOTED})|([^{separator}\n]*))({re.escape(separator)}|\r?\n|\Z)")
    for separator in _SEPARATORS
}
_COMMENTS = re.compile(r"(?:#(?:[ \t#!][^\n]*)?\r?\n|\r?\n)*+")
_REST = re.compile(r"(?:#[^\n]*(?:\n|\Z)|\r?\n)*+")
_LINE_ENDS = re.compile(r"(?:\r?\n)*+")
_QUOTES = re.compile(r'[\t,;|\n\r"]')
_RULE = re.compile(r"[ \t]*:?-+:?[ \t]*")
_ZEEK = re.compile(r"(?:#(?!fields\t)[^\n]*\n)*+(?=#fields\t)")
_ZEEK_HEADS = ("#fields\t", "#types\t")


class _Line(NamedTuple):
    """The cells of a row as they are written, the texts that they express, and the line ends after it."""

    cells: list[str]
    texts: list[str]
    end: str


class _Layout(NamedTuple):
    """Where the rows of a text start, after the lines of a header, each with what is before its cells.

    With comments, there may be some after the rows.
    """

    separator: str
    heads: list[tuple[str, _Line]]
    begin: int
    start: int
    has_comments: bool


def read_csv(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the rows of a text as objects, and a function that writes some of them.

    Comments that start with `# ` or `##` may stand before the header. With them, there may be comments after the rows.
    """
    for layout in _layouts(text):
        found = _rows(text, layout)
        if found is not None:
            return found
    return None


def _layouts(text: str) -> list[_Layout]:
    """Return how a text can be read: first with the separator that gives most columns."""
    begin = len(_BOM) if text.startswith(_BOM) else 0
    found = [layout for layout in (_layout(text, begin, separator) for separator in _SEPARATORS) if layout]
    return sorted(found, key=lambda layout: -len(layout.heads[0][1].cells))


def _layout(text: str, begin: int, separator: str) -> _Layout | None:
    has_comments = text.startswith("#", begin)
    comments = _COMMENTS.match(text, begin)
    start = at = comments.end() if comments else begin
    befores: tuple[str, ...] = ("",)
    zeek = _ZEEK.match(text, begin) if has_comments and separator == "\t" else None
    if zeek is not None:
        start = at = zeek.end()
        befores = _ZEEK_HEADS
    heads: list[tuple[str, _Line]] = []
    for before in befores:
        if text.startswith(before, at):
            line, at = _line(text, at + len(before), separator)
            heads.append((before, line))
    widths = {len(line.cells) for _, line in heads}
    return _Layout(separator, heads, start, at, has_comments) if len(widths) == 1 and _is_header(heads[0][1]) else None


def _is_header(line: _Line) -> bool:
    names = line.texts
    prose = names[-1].endswith((".", "!", "?")) and " " in names[-1]
    return len(names) >= _LEAST_COLUMNS and is_unique(names) and max(map(len, names)) <= _MAX_NAME and not prose


def _line(text: str, start: int, separator: str) -> tuple[_Line, int]:
    """Return the row that starts at a position, and where the next one starts."""
    stop = text.find("\n", start)
    end = "\n" if stop >= 0 else ""
    body = text[start:stop] if end else text[start:]
    if '"' in body:
        return _quoted_line(text, start, separator)
    if end and body.endswith("\r"):
        body, end = body[:-1], "\r\n"
    cells = body.split(separator)
    return _ended(text, start + len(body), cells, cells, end)


def _quoted_line(text: str, start: int, separator: str) -> tuple[_Line, int]:
    """Return the row whose cells may have several lines, and where the next one starts."""
    cells: list[str] = []
    texts: list[str] = []
    after = separator
    pattern = _CELLS[separator]
    while after == separator:
        match = pattern.match(text, start)
        if match is None:
            break
        quoted, plain, after = match.groups()
        start = match.end()
        cells.append(plain if quoted is None else quoted)
        texts.append(plain if quoted is None else quoted[1:-1].replace('""', '"'))
    if after == "\n" and cells[-1].endswith("\r"):
        cells[-1] = cells[-1][:-1]
        texts[-1] = texts[-1][:-1]
        after = "\r\n"
    return _ended(text, start - len(after), cells, texts, after)


def _ended(text: str, stop: int, cells: list[str], texts: list[str], end: str) -> tuple[_Line, int]:
    """Return a row with the empty lines after it, and where the next one starts."""
    start = stop + len(end)
    if text.startswith(("\n", "\r\n"), start):
        empty = _LINE_ENDS.match(text, start)
        end += empty[0] if empty else ""
    return _Line(cells, texts, end), stop + len(end)


def _rows(text: str, layout: _Layout) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the rows of a text and their writer, or None if they have not as many cells as the header."""
    names = layout.heads[0][1].texts
    width = len(names)
    separator = layout.separator
    stop = len(text.rstrip(" \r\n"))
    value: list[Any] = []
    lines: list[str] = []
    at = layout.start
    while at < stop:
        line, after = _line(text, at, separator)
        if text.startswith(PREFIX, at) and _is_last_marker(text, at, layout):
            after = text.find("\n", at) + 1 or len(text)
            value.append(text[at:after].rstrip("\r\n"))
        elif text.startswith("#", at) and _are_comments(text, at, len(line.cells), layout):
            break
        elif len(line.cells) != width:
            return None
        else:
            value.append(dict(zip(names, line.texts, strict=True)))
        lines.append(text[at:after])
        at = after
    if not lines or (type(value[0]) is dict and all(map(_RULE.fullmatch, value[0].values()))):
        return None

    def write(new: Any) -> str | None:
        part = part_of(new, value, names, _LEAST_COLUMNS)
        return None if part is None else text[: layout.begin] + _written(layout, lines, part) + text[at:]

    return value, write


def _is_last_marker(text: str, start: int, layout: _Layout) -> bool:
    """Return whether a line is a marker, and only comments and empty lines follow."""
    after = text.find("\n", start) + 1 or len(text)
    rest = _REST if layout.has_comments else _LINE_ENDS
    return rest.fullmatch(text, after) is not None and is_marker(text[start:after].rstrip("\r\n"))


def _are_comments(text: str, start: int, width: int, layout: _Layout) -> bool:
    """Return whether a line that starts with `#` is no row, and only comments and empty lines follow."""
    before, header = layout.heads[0]
    is_row = width == len(header.cells) and not before
    return layout.has_comments and not is_row and _REST.fullmatch(text, start) is not None


def _written(layout: _Layout, lines: Sequence[str], part: Part) -> str:
    separator = layout.separator
    written: list[str] = []
    for before, head in layout.heads:
        written += [before, separator.join([head.cells[column] for column in part.columns]), head.end]
    newline = written[-1]
    names = layout.heads[0][1].texts
    for index, item in part.rows:
        line = _line(lines[index], 0, separator)[0]
        cells = [_cell(line, column, item.get(names[column], "")) for column in part.columns]
        written += [separator.join(cells), line.end or newline]
    for marker in part.marker:
        written += [marker, newline]
    last = lines[-1]
    return "".join(written[:-1]) + last[len(last.rstrip("\r\n")) :]


def _cell(line: _Line, column: int, text: str) -> str:
    """Return a cell as it was written, or what is left of it."""
    before = line.cells[column]
    if text == line.texts[column]:
        return before
    is_quoted = before != line.texts[column] or _QUOTES.search(text)
    return '"' + text.replace('"', '""') + '"' if text and is_quoted else text
