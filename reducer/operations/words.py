"""Words in which operations say what they do, for the model and for analysts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMED = 4
_NAME = re.compile(r"`[\w-]+s`")
_READABLE = 48


def listed(names: Iterable[str]) -> str:
    """Name the first few of some keys or expressions in words for the model, and count the others; what is long is
    counted alone.
    """
    every = list(names)
    named = [f"`{name}`" for name in every[:_NAMED] if len(name) <= _READABLE]
    left = len(every) - len(named)
    if not named:
        return "some of its parts"
    return ", ".join(named) + (f" and {left} more" if left else "")


def enumerated(names: Iterable[str], last: str = "and") -> str:
    """Name all of some things in words for a person: `a, b and c`."""
    *most, end = [*names]
    return f"{', '.join(most)} {last} {end}" if most else end


def items_of(place: str) -> str:
    """Name the items at a place: the place itself if it is a name, as in "the 20 newest `resolutions`"."""
    return place if _NAME.fullmatch(place) else f"items of {place}"


def worded(text: str, otherwise: str) -> str:
    """Give a short expression as it stands, for a longer one other words."""
    return f"`{text}`" if len(text) <= _READABLE else otherwise
