"""Sections of Markdown: each heading with the text below it.

A heading is a line with one to six `#` and a blank, or a line without text above it that is underlined with `===` or
`---`. Lines in fenced code and in the front matter are not headings. A cut text can end within fenced code, so a line
that ends with a marker ends it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from reducer import markers
from reducer.formats.lines import marker_paragraph, with_marker
from reducer.formats.parts import origins

_LINE = re.compile(
    r"^\ufeff?[ ]{0,3}(?:(?P<hashes>#{1,6})(?:[ \t][^\n]*|\r?$)|(?P<fence>`{3,}|~{3,})[^\n]*"
    r"|(?P<underline>={3,}|-{3,})[ \t]*\r?$|[^\n]*\]\r?$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n")
_END_OF_FRONT_MATTER = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_NO_TITLE = re.compile(r"\s*$| {4}|\t| {0,3}(?:[-*+][ \t]|[>|]|([-=*_])\1*\s*$)")
"""A line that an underline does not make a heading: a blank or rule line, code, or a part of a list, quote or table."""


class _Section(NamedTuple):
    """Where the parts of a section are in a text: `title`, and `body` after the lines of the heading."""

    start: int
    title: slice
    level: int
    body: int


def read_sections(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the sections of a text with at least one heading, and a function that writes a part of them.

    Text before the first heading is a section without a heading, at level 0. With a marker at the end, it can be alone.
    """
    stop = marker_paragraph(text)
    sections = list(_sections(text, stop))
    if not sections or (stop == len(text) and not sections[-1].level):
        return None
    ends = [section.start for section in sections[1:]]
    ends.append(stop)
    value = [_value(text, section, end) for section, end in zip(sections, ends, strict=True)]

    def write(new: Any) -> str | None:
        found = origins(new, value) if type(new) is list else None
        if not found:
            return None
        written = []
        for item, index in zip(new, found, strict=False):
            part = _written(text, sections[index], ends[index], item, value[index])
            if part is None:
                return None
            written.append(part)
        return with_marker("".join(written), new[len(found) :], text)

    return value + [text[stop:].strip()] * (stop < len(text)), write


def _sections(text: str, stop: int) -> Iterator[_Section]:
    sections = _headings(text, stop)
    first = next(sections, None)
    start = stop if first is None else first.start
    if text[:start].strip("\ufeff \t\r\n"):
        yield _Section(0, slice(0, 0), 0, 0)
    elif first is not None:
        first = first._replace(start=0)
    if first is not None:
        yield first
    yield from sections


def _headings(text: str, stop: int) -> Iterator[_Section]:
    fence = ""
    begin = clear = _end_of_front_matter(text)
    """`clear` is where the last heading or fence ends: no text stands above the next line."""
    for line in _LINE.finditer(text, begin, stop):
        if fence:
            if _closes(line, fence):
                fence = ""
                clear = line.end() + 1
        elif line["hashes"]:
            yield _Section(
                line.start(), _title(text, line.end("hashes"), line.end()), len(line["hashes"]), line.end() + 1
            )
            clear = line.end() + 1
        elif line["fence"]:
            is_code = "`" not in line[0].lstrip("\ufeff `")
            fence = line["fence"] if is_code or line["fence"][0] == "~" else ""
        elif line["underline"]:
            start = text.rfind("\n", 0, max(line.start() - 1, 0)) + 1
            if _is_title(text, start, line.start(), clear):
                level = 1 if line["underline"][0] == "=" else 2
                yield _Section(start, _stripped(text, start, line.start()), level, line.end() + 1)
                clear = line.end() + 1


def _end_of_front_matter(text: str) -> int:
    opening = _FRONT_MATTER.match(text)
    closing = opening and _END_OF_FRONT_MATTER.search(text, opening.end())
    return closing.end() + 1 if closing else 0


def _closes(line: re.Match[str], fence: str) -> bool:
    """Return whether a line ends fenced code."""
    if line["fence"]:
        is_bare = not line[0].strip().strip(fence[0])
        return is_bare and line["fence"].startswith(fence)
    cut = line[0].rfind(markers.PREFIX)
    return cut >= 0 and line[0].rstrip("\r").endswith("]") and markers.is_marked(line[0][cut:])


def _is_title(text: str, start: int, end: int, clear: int) -> bool:
    """Return whether an underlined line is a heading: no text stands directly above it."""
    line = text[start:end]
    if _NO_TITLE.match(line) or start < clear:
        return False
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return start == clear or not text[above:start].strip()


def _title(text: str, start: int, end: int) -> slice:
    """Return where the title of a heading with `#` is. `#` after it close the heading."""
    title = text[start:end].rstrip()
    without = title.rstrip("#")
    if without != without.rstrip() or not without:
        title = without
    return _stripped(text, start, start + len(title))


def _stripped(text: str, start: int, end: int) -> slice:
    part = text[start:end]
    begin = start + len(part) - len(part.lstrip("\ufeff \t\r\n"))
    return slice(begin, max(begin, start + len(part.rstrip())))


def _content(text: str, section: _Section, end: int) -> slice:
    """Return where the text of a section is, without the blank lines around it."""
    part = text[section.body : end]
    begin = section.body + len(part) - len(part.lstrip())
    stop = section.body + len(part.rstrip())
    line = text.rfind("\n", section.body, begin) + 1
    return slice(max(line, section.body), stop) if begin < stop else slice(section.body, section.body)


def _value(text: str, section: _Section, end: int) -> dict[str, Any]:
    return {"heading": text[section.title], "level": section.level, "text": text[_content(text, section, end)]}


def _written(text: str, section: _Section, end: int, item: Any, old: dict[str, Any]) -> str | None:
    """Write what is left of a section. It keeps its heading, and the text of a section without heading."""
    if type(item) is not dict:
        return None
    title = old["heading"] and (item.get("heading") or old["heading"])
    content = item.get("text", "")
    if type(title) is not str or type(content) is not str or "\n" in title:
        return None
    head = f"{text[section.start : section.title.start]}{title}{text[section.title.stop : section.body]}"
    if content == old["text"] or not (content or section.level):
        return head + text[section.body : end]
    place = _content(text, section, end)
    if not content:
        return head + text[place.stop : end].removeprefix("\r").removeprefix("\n")
    return f"{head}{text[section.body : place.start]}{content}{text[place.stop : end]}"
