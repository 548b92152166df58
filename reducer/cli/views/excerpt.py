"""The excerpt of a content that fits on the screen."""

from __future__ import annotations

from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from reducer.analysis.texts import excerpt, opened
from reducer.cli.screen import counted, visible
from reducer.values import dump

if TYPE_CHECKING:
    from rich.console import Console

_DETAIL = ((1, 2), (2, 1), (2, 2), (3, 2), (4, 3), (5, 5), (8, 10), (12, 30), (20, 100))
"""Levels and items of each list, of which the last that fits is shown."""
_MAX_KEYS = 50
_MAX_WIDTH = 120
_MIN_WIDTH = 20


def print_excerpt(content: Any, screen: Console, max_lines: int) -> None:
    """Print a content as JSON or as text, with as many levels and items as fit into `max_lines`."""
    value, width = opened(content), max(_MIN_WIDTH, min(screen.width - 2, _MAX_WIDTH))
    if type(value) is str:
        lines = [part for line in value[: width * max_lines].splitlines() for part in wrap(line, width) or [""]]
        lines = lines if len(lines) <= max_lines else value.splitlines()
    else:
        lines = _outline(value, *_DETAIL[0], width)
        for detail in _DETAIL[1:]:
            more = _outline(value, *detail, width)
            if len(more) > max_lines and len(lines) > max_lines // 2:
                break
            lines = more
    for line in lines[:max_lines]:
        shown = visible(line)
        screen.print(f"  {shown if len(shown) <= width else f'{shown[: width - 1]}…'}", soft_wrap=True)
    if len(lines) > max_lines:
        screen.print(f"  … {counted(len(lines) - max_lines, 'more line')}", style="dim")


class _Json(str):
    """JSON text, which `rich` prints as it is."""

    def __repr__(self) -> str:
        return str(self)


def _outline(value: Any, levels: int, items: int, width: int) -> list[str]:
    """Return the lines of JSON with the first `items` of each list. Deeper levels are cut to one line."""
    from rich.pretty import pretty_repr

    def shortened(value: Any, levels: int) -> Any:
        if not levels or not value or type(value) not in (list, dict):
            return _Json(excerpt(dump(value), width))
        if type(value) is list:
            shown = [shortened(item, levels - 1) for item in value[:items]]
            return shown + [_Json(f"… {len(value) - items:,} more")] * (len(value) > items)
        pairs = islice(value.items(), _MAX_KEYS)
        more = {_Json("…"): _Json(f"{len(value) - _MAX_KEYS:,} more keys")} if len(value) > _MAX_KEYS else {}
        return {_Json(excerpt(dump(key), width)): shortened(inner, levels - 1) for key, inner in pairs} | more

    return pretty_repr(shortened(value, levels), max_width=width, indent_size=2).split("\n")
