"""Sections of Markdown: each heading with the text below it.

A heading is a line with one to six `#` and a blank, or a line that is underlined with `===` or `---` and has no text
above it. Lines in fenced code are not headings. A cut text can end within fenced code, so a line that ends with a
marker ends it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from reducer import markers
from reducer.formats.lines import marker_paragraph, parts_of

_LINE = re.compile(
    r"^\ufeff?(?:[ ]{0,3}(?P<hashes>#{1,6})(?=[ \t\r\n]|$)[ \t]*(?P<title>[^\n]*)"
    r"|[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<language>[^\n]*)"
    r"|(?<![^\r\n]\n)(?<![^\r\n]\r\n)[ ]{0,3}(?![-+*=_>|\s])(?P<underlined>[^\n]+)\n(?P<line>===+|---+)[ \t]*\r?$"
    r"|[^\n]*\]\r?$)",
    re.MULTILINE,
)
"""A heading, a line that can open or close fenced code, or one that can end with a marker."""


class _Section(NamedTuple):
    """Where a section, its title and its text start."""

    start: int
    at: int
    title: str
    level: int
    body: int


def read_sections(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the sections of a text with at least one heading, and a function that writes a part of them.

    Text before the first heading is a section without a heading, at level 0. With a marker at the end, it can be alone.
    """
    stop = marker_paragraph(text)
    sections = [_Section(0, 0, "", 0, 0), *_headings(text, stop)]
    ends = [section.start for section in sections[1:]]
    ends.append(stop)
    if not text[: ends[0]].strip("\ufeff \t\r\n"):
        del sections[0], ends[0]
    if not sections or (stop == len(text) and not sections[-1].level):
        return None
    value = [_value(text, section, end) for section, end in zip(sections, ends, strict=True)]

    def write_section(index: int, item: dict[str, Any]) -> str:
        return _written(text, sections[index], ends[index], item)

    return parts_of(text, stop, text[: sections[0].start], value, write_section)


def _headings(text: str, stop: int) -> Iterator[_Section]:
    fence = ""
    for line in _LINE.finditer(text, 0, stop):
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif line["fence"]:
            fence = line["fence"]
        elif line["hashes"]:
            yield _section(line, "title", len(line["hashes"]))
        elif line["line"]:
            yield _section(line, "underlined", 1 if line["line"][0] == "=" else 2)


def _closes(line: re.Match[str], fence: str) -> bool:
    """Return whether a line ends fenced code."""
    if line["fence"]:
        return line["fence"].startswith(fence) and not line["language"].strip()
    cut = line[0].rfind(markers.PREFIX)
    return cut >= 0 and line[0].rstrip("\r").endswith("]") and markers.is_marked(line[0][cut:])


def _section(line: re.Match[str], title: str, level: int) -> _Section:
    return _Section(line.start(), line.start(title), line[title].rstrip(), level, line.end() + 1)


def _value(text: str, section: _Section, end: int) -> dict[str, Any]:
    return {"heading": section.title, "level": section.level, "text": text[section.body : end].strip()}


def _written(text: str, section: _Section, end: int, item: dict[str, Any]) -> str:
    """Write what is left of a section. It keeps its heading, and the text of a section without heading."""
    title = item.get("heading") or section.title
    head = f"{text[section.start : section.at]}{title}{text[section.at + len(section.title) : section.body]}"
    body = text[section.body : end]
    old = body.strip()
    new = item.get("text", "")
    if new == old or not (new or section.level):
        return head + body
    before, _, after = body.partition(old)
    return head + (before + new + after if new else after[after.find("\n") + 1 :])
