"""Words for descriptions of operations."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAX_NAMES = 6
_MAX_CHARS = 60
_NAME = re.compile(r"`[\w-]+s`")


def named(texts: Iterable[str]) -> str:
    """Return keys or expressions as code: the first few, each shortened, and how many more there are."""
    every = list(texts)
    names = [f"`{text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + '…'}`" for text in every[:_MAX_NAMES]]
    return enumerated([*names, f"{len(every) - _MAX_NAMES} more"] if len(every) > _MAX_NAMES else names)


def enumerated(names: Iterable[str], last: str = "and") -> str:
    """Return a list in words: `a, b and c`."""
    *most, end = [*names]
    return f"{', '.join(most)} {last} {end}" if most else end


def ends_of(*ends: tuple[str, int]) -> str:
    """Return how much stays at each end: `first 3 and last 2`."""
    return enumerated(f"{end} {count:,}" for end, count in ends if count)


def items_of(place: str) -> str:
    """Return the name of the items at a place: the place itself if it is a plural, as in "the 20 newest `hosts`"."""
    return place if _NAME.fullmatch(place) else f"items of {place}"
