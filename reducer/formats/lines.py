"""Lines of text."""

from __future__ import annotations

from collections.abc import Callable


def line_end(text: str) -> str:
    """Return the line end that a text uses everywhere; with several, `\\r` counts as part of a line."""
    return "\r\n" if text.count("\r\n") == text.count("\n") > 0 else "\n"


def read_lines(text: str) -> tuple[list[str], Callable[[list[str]], str]]:
    """Return the lines of a text without line ends, and a function that writes some of them with line ends."""
    end = line_end(text)
    body = text.removesuffix(end)
    after = text[len(body) :]
    return body.split(end), lambda lines: end.join(lines) + after
