"""Tables whose cells are separated by a comma, a tab, a semicolon or a bar."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from itertools import takewhile

from reducer.formats.lines import line_end
from reducer.formats.rows import Found, Line, marker_at, read_rows, table_of

_SEPARATORS = ("\t", ";", "|", ",")
_QUOTED = re.compile('"[^"]*+(?:""[^"]*+)*+"')
_NEEDS_QUOTES = re.compile(r'[\t,;|\n\r"]')
_BOM = "\ufeff"
_COMMENT = re.compile(
    rf"{_BOM}?#(?:[ #\r]|\Z|(?:separator|set_separator|empty_field|unset_field|path|open|close|fields|types)\b)|\r?\Z"
)
"""An empty line, `#` alone, before a blank or another `#`, or a line in which Zeek describes its log."""
_FIELDS = "#fields\t"
_BEFORE = re.compile(rf"(?:{_BOM}|{_FIELDS}|#types\t)?")
"""What may stand before the first cell of a header. Zeek names the columns and their types in comments."""


def read_csv(text: str) -> Found:
    """Return the rows of a text as objects, and a function that writes some of them.

    The separator is the one that the header has most often. There may be comments before the header and after the rows.
    """
    end = line_end(text)
    lines = text.split(end)
    above = _comments(lines)
    start = next((at for at in range(above) if lines[at].startswith(_FIELDS)), above)
    if start == len(lines) or lines[start].endswith((".", "!", "?")):
        return None
    heads = range(start, max(above, start + 1))
    separator = max(_SEPARATORS, key=lines[start].count)
    cell = rf"(?:{_QUOTED.pattern}(?=[{separator}\r\n]|\Z)|[^{separator}\r\n]*+)"
    lines = _records(text, end, rf"(?:\A|{end})({cell}(?:[{separator}]{cell})*+)")
    cut = partial(_cut, separator, re.compile(rf"(?:\A|[{separator}])({cell})"))
    is_markdown = not "".join(lines[heads.stop : heads.stop + 1]).strip("|:- ")
    if is_markdown or separator not in lines[start]:
        return None
    stop = len(lines) - _comments(reversed(lines))
    table = table_of(lines, heads, stop, cut, _read, _write)
    if table is None or table.stop + len(marker_at(lines, table.stop)) < stop:
        return None
    return read_rows(lines, end, [table])


def _comments(lines: Iterable[str]) -> int:
    """Return how many of the first lines are comments."""
    return sum(1 for _ in takewhile(_COMMENT.match, lines))


def _records(text: str, end: str, pattern: str) -> list[str]:
    """Return the lines of a text. A line end in a quoted cell ends no line. Other quotes are part of a cell."""
    records = re.findall(pattern, text) if '"' in text else []
    return records if end.join(records) == text else text.split(end)


def _cut(separator: str, pattern: re.Pattern[str], line: str) -> Line:
    match = _BEFORE.match(line)
    before = match[0] if match else ""
    inner = line[len(before) :].removesuffix("\r")
    after = line[len(before) + len(inner) :]
    cells = pattern.findall(inner) if '"' in inner else inner.split(separator)
    return cells, separator, before, after


def _read(cell: str) -> str:
    is_quoted = cell.startswith('"') and _QUOTED.fullmatch(cell)
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def _write(cell: str, text: str) -> str:
    if text == _read(cell):
        return cell
    needs_quotes = text and (cell.startswith('"') or _NEEDS_QUOTES.search(text))
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text
