"""Lines of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.formats.parts import is_marker, origins


def line_end(text: str) -> str:
    """Return the line end that a text uses everywhere; with several, `\\r` counts as part of a line."""
    return "\r\n" if text.count("\r\n") == text.count("\n") > 0 else "\n"


def read_lines(text: str) -> tuple[list[str], Callable[[list[str]], str]]:
    """Return the lines of a text without line ends, and a function that writes some of them with line ends."""
    end = line_end(text)
    body = text.removesuffix(end)
    after = text[len(body) :]
    return body.split(end), lambda lines: end.join(lines) + after


def marker_paragraph(text: str) -> int:
    """Return where the last paragraph of a text starts if it is the marker of a list, otherwise where the text ends."""
    body = text.rstrip("\r\n")
    start = body.rfind("\n") + 1
    above = body.rfind("\n", 0, max(start - 1, 0)) + 1
    is_paragraph = start > 0 and not body[above:start].strip()
    return start if is_paragraph and is_marker(body[start:]) else len(text)


def parts_of(
    text: str, stop: int, before: str, parts: list[Any], write_part: Callable[[int, Any], str]
) -> tuple[list[Any], Callable[[Any], str | None]]:
    """Return the parts of a text with the marker at `stop` if there is one, and a function that writes some of them.

    It writes the text `before` the first part, what `write_part(index, item)` returns for an item that is left of the
    part with an index, and the marker of what was removed as the last paragraph. It returns None for anything else.
    """

    def write(new: Any) -> str | None:
        found = origins(new, parts) if type(new) is list else None
        if not found:
            return None
        body = before + "".join(map(write_part, found, new))
        if len(found) == len(new):  # another paragraph at the end may not be read as a marker
            return body if marker_paragraph(body) == len(body) else None
        end = line_end(text)
        after = end if text.endswith("\n") else ""
        return f"{body.rstrip()}{end * 2}{new[-1]}{after}"

    return parts + [text[stop:].strip()] * (stop < len(text)), write
