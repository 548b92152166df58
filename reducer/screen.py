"""Terminal output: consoles, tables, texts in colour, and texts without control characters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDE = 1000
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_STYLES = {
    r"(?m)^\S.*?: (error\b.*?|failed)(?=[: ])|\^+$": "bold red",
    r"(?m)^\S.*?: (warning\b.*?|not tested)(?=[: ])": "bold yellow",
    r"(?m)^  (help|expected|found):": "bold cyan",
}


def console(stream: TextIO, width: int = _WIDE) -> Console:
    """Return a console: in colour only on a terminal without `NO_COLOR`; elsewhere nothing is wrapped."""
    from rich.console import Console

    terminal = stream.isatty()
    return Console(
        file=stream, force_terminal=terminal, color_system="auto" if _has_colour(stream) else None,
        width=None if terminal else width, highlight=False, markup=False, emoji=False, soft_wrap=not terminal,
    )  # fmt: skip


def make_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], total: Sequence[str] = (), texts: int = 1
) -> Table:
    """Return a table; the first `texts` columns contain text, the others numbers. `total` is its last row."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=bool(total), footer_style="bold")
    for number, (title, footer) in enumerate(zip_longest(titles, total, fillvalue="")):
        if number < texts:
            grid.add_column(title, footer, overflow="fold", min_width=12)
        else:
            grid.add_column(title, footer, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    return grid


def print_indented(lines: Iterable[str], indent: int, screen: Console) -> None:
    """Print texts, each wrapped and indented."""
    from rich.padding import Padding
    from rich.text import Text

    for line in lines:
        screen.print(Padding(Text(visible(line)), (0, 0, 0, indent), expand=False))


def print_problem(text: str, stream: TextIO) -> None:
    """Print the text of a problem, in colour on a terminal."""
    if not _has_colour(stream):
        print(visible(text, "\n\t"), file=stream)  # rich takes time to import
        return
    from rich.text import Text

    coloured = Text(visible(text, "\n\t"))
    for pattern, style in _STYLES.items():
        coloured.highlight_regex(pattern, style)
    console(stream).print(coloured, soft_wrap=True)


def visible(text: str, allowed: str = "") -> str:
    """Return a text with escapes for control characters, direction marks and surrogates not in `allowed`."""
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in allowed else _escape(ord(match[0])), text)


def _has_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def _escape(code: int) -> str:
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
