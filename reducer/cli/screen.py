"""Output of the command line: messages on standard error, coloured text and tables, and JSON."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, TextIO

from reducer.analysis.records import as_json
from reducer.errors import counted as counted
from reducer.errors import did_you_mean, nearest, shortened

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDE = 1000
_MIN_TEXT = 8
"""Columns of text are not cut further."""
_MAX_NAMES = 8
_MAX_SKIPPED = 3
_MAX_REASON = 83
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_STYLES = {
    r"(?m)^\S.*?: (error\b.*?|failed)(?=[: ])|\^+$": "bold red",
    r"(?m)^\S.*?: (warning\b.*?)(?=[: ])": "bold yellow",
    r"(?m)^  (help|expected|found):": "bold cyan",
}


class CommandError(Exception):
    """A verb cannot run; the process ends with exit code 2."""


def say(message: str) -> None:
    """Print a message to standard error."""
    print(f"reducer: {visible(message)}", file=sys.stderr)


def say_skipped(skipped: Sequence[str]) -> int:
    """List the first skipped inputs with the reasons, count the others, and return the number of lines."""
    lines = [shortened(name_and_reason, _MAX_REASON) for name_and_reason in skipped[:_MAX_SKIPPED]]
    if len(skipped) > _MAX_SKIPPED:
        lines.append(f"{len(skipped) - _MAX_SKIPPED:,} more")
    for line in lines:
        say(f"skipped {line}")
    return len(lines)


def version() -> str:
    """Return the version of the installed package."""
    from importlib import metadata  # takes time to import

    try:
        return metadata.version("reducer")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def visible(text: str, allowed: str = "") -> str:
    """Escape control characters, direction marks and surrogates, except those in `allowed`."""
    return _UNPRINTABLE.sub(lambda one: one[0] if one[0] in allowed else one[0].encode("unicode_escape").decode(), text)


def problem_counts(severities: Counter[str], where: str) -> str:
    """Count the problems of each severity: `1 error, 2 warnings in 3 rule files`."""
    counts = [counted(number, severity) for severity, number in sorted(severities.items())]
    return f"{', '.join(counts)} in {where}" if counts else f"{where}: no problems"


def has_failed(severities: Counter[str], strict: bool) -> int:
    """Return the exit code of a check that found problems of these severities."""
    return int("error" in severities or (strict and bool(severities)))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that is most similar to an unknown one, or list the first known names."""
    from reducer.analysis.texts import listed  # takes time to import

    names = list(known)
    available = f"available: {listed((f'`{one}`' for one in names), _MAX_NAMES)}"
    return did_you_mean(nearest(name, names)) or available


def print_problem(text: str) -> None:
    """Print a problem, in colour on a terminal."""
    if not _has_colour(sys.stdout):
        print(visible(text, "\n\t"))  # avoids the import of rich, which takes time
        return
    from rich.text import Text

    coloured = Text(visible(text, "\n\t"))
    for pattern, style in _STYLES.items():
        coloured.highlight_regex(pattern, style)
    console().print(coloured, soft_wrap=True)


def console(stream: TextIO | None = None) -> Console:
    """Return a console with colours on a terminal (unless `NO_COLOR` is set), and without wrapping elsewhere."""
    from rich.console import Console

    stream = stream or sys.stdout
    terminal = stream.isatty()
    return Console(
        file=stream, force_terminal=terminal, color_system="auto" if _has_colour(stream) else None,
        width=None if terminal else _WIDE, highlight=False, markup=False, emoji=False, soft_wrap=not terminal,
    )  # fmt: skip


def _has_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def make_table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str] = (), *, texts: Sequence[int] = (0,)
) -> Table:
    """Return a table with `total` as its last row. Columns contain numbers, except `texts`, which are cut to fit."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_footer=bool(total), footer_style="bold"
    )
    for number, title in enumerate(titles):
        footer = total[number] if total else ""
        if number in texts:
            grid.add_column(title, footer, overflow="ellipsis", min_width=_MIN_TEXT)
        else:
            grid.add_column(title, footer, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    return grid


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """Indent a line and wrap it between words. Control characters are escaped."""
    wrapper = TextWrapper(
        max(width, _MIN_TEXT + indent), " " * indent, " " * (indent + 2),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return wrapper.wrap(visible(line)) or [""]


def print_lines(lines: Iterable[str], screen: Console, indent: int = 0, style: str = "", width: int = 0) -> None:
    """Print lines, indented and wrapped between words, by default at the width of the screen."""
    for line in lines:
        for part in wrapped(line, width or screen.width, indent):
            screen.print(part, style=style, soft_wrap=True)


def print_json(value: Any, stream: TextIO | None = None) -> None:
    """Print a value as ASCII JSON; dataclasses and named tuples become objects."""
    import json

    print(json.dumps(as_json(value), indent=1), file=stream)
