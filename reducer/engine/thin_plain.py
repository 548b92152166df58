"""Thin values of what is plain, as nearly all returns are: in a third of the time that looking at every value as it is stored takes."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from reducer.engine.leaves import LEAVES
from reducer.engine.thin import GONE
from reducer.values import MAX_DEPTH, Unreducible, is_media

Pick = Callable[[str, frozenset[str]], Any]


def thin_plain(value: dict[str, Any] | list[Any], bearers: Container[str], pick: Pick, types: frozenset[str], depth: int = MAX_DEPTH) -> Any:
    """Keep of an object or list what leads to texts in `bearers` that `pick` does not answer with `GONE`, and media beside it; `GONE` if there is nothing.

    All in it is plain but media, and no key is a bearer. Raises `Unreducible` past `depth` levels.
    """
    found: dict[Any, Any] = {}
    odd = False
    if type(value) is dict:
        if "kind" in value and is_media(value):
            return GONE
        pairs: Any = value.items()
    else:
        pairs = enumerate(value)
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    for place, item in pairs:
        kind = type(item)
        if kind is str:
            if item in bearers:
                left = pick(item, types)
                if left is not GONE:
                    found[place] = left
        elif kind is dict or kind is list:
            if item:
                left = thin_plain(item, bearers, pick, types, depth - 1)
                if left is not GONE:
                    found[place] = left
                elif kind is dict and "kind" in item:
                    odd = True
        elif kind not in LEAVES:
            odd = True
    if not found:
        return GONE
    if odd:
        everything = value.items() if type(value) is dict else enumerate(value)
        found = {place: found.get(place, item) for place, item in everything if place in found or is_media(item)}
    if type(value) is dict:
        return value if len(found) == len(value) and all(left is value[place] for place, left in found.items()) else found
    left = list(found.values())
    return value if len(left) == len(value) and all(a is b for a, b in zip(left, value, strict=True)) else left
