"""Terminal output: consoles, and texts without control characters."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDTH = 100
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def console(stream: TextIO, width: int = _WIDTH) -> Console:
    """Return a console: in colour only on a terminal without `NO_COLOR`, elsewhere at least `width` columns wide."""
    from rich.console import Console

    terminal = stream.isatty()
    plain = not terminal or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    columns = None if terminal else max(_WIDTH, width, _columns())
    return Console(
        file=stream, force_terminal=terminal, color_system=None if plain else "auto", width=columns,
        highlight=False, markup=False, emoji=False, soft_wrap=not terminal,
    )  # fmt: skip


def print_indented(text: Text, indent: int, screen: Console) -> None:
    """Print an indented text. Elsewhere than on a terminal, print it on one line, so that searches find it."""
    from rich.padding import Padding
    from rich.text import Text

    screen.print(Padding(text, (0, 0, 0, indent), expand=False) if screen.is_terminal else Text(" " * indent) + text)


def visible(text: str, allowed: str = "") -> str:
    """Return a text with escapes for control characters, direction marks and surrogates not in `allowed`."""
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in allowed else _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isdigit() and len(text) < 5 else 0
