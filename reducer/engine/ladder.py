"""`max_chars`: a fixed ladder of limits, each stricter than the one before, on all texts and lists of a return."""

from __future__ import annotations

from typing import Any

from reducer.engine.draft import Draft

RUNGS = ((4000, 100), (2000, 50), (1000, 25), (500, 12), (250, 6), (120, 3))
"""Characters of a text and items of a list that stay, rung by rung. Each about halves what the one before left; at the last a return can still be read."""


def descend(draft: Draft, value: Any, rung: tuple[int, int]) -> Any:
    """Cut every text and shorten every list in `value` to what `rung` says; the same object if all are short enough."""
    longest, most = rung

    def walk(value: Any) -> Any:
        if type(value) is str:
            return value if len(value) <= longest else draft.cut(value, longest, 0)
        if type(value) is list and len(value) > most:
            value = draft.take_items(value, range(most))
        return draft.replace(value, walk)

    return walk(value)
