"""Thin values of what is plain, as nearly all returns are: in a third of the time that looking at every value as it is stored takes."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from reducer.engine.leaves import LEAVES
from reducer.engine.thin import GONE
from reducer.values import MAX_DEPTH, Unreducible, is_media

Pick = Callable[[str, frozenset[str]], Any]
Thin = Callable[[dict[str, Any] | list[Any], frozenset[str], int], Any]
"""Keeps of an object or list what leads to texts that are owed, of the given types, and media beside it; gives `GONE` if there is nothing.

Raises `Unreducible` past a depth, in levels.
"""


def plain_thin(bearers: Container[str], pick: Pick) -> Thin:
    """Give what thins objects and lists in which all is plain but media, and no key is a bearer: to the texts in `bearers` that `pick`
    does not answer with `GONE`.
    """

    # With all that does not change handed down, a call takes a fifth longer.
    def thin(value: dict[str, Any] | list[Any], types: frozenset[str], depth: int) -> Any:
        if type(value) is dict:
            if "kind" in value and is_media(value):
                return GONE
            pairs: Any = value.items()
        else:
            pairs = enumerate(value)
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        found: dict[Any, Any] | None = None
        odd = False
        same = True
        for place, item in pairs:
            kind = type(item)
            if kind is str:
                if item not in bearers:
                    continue
                left = pick(item, types)
            elif kind is dict or kind is list:
                if not item:
                    continue
                left = thin(item, types, depth - 1)
                if left is GONE:
                    odd = odd or (kind is dict and "kind" in item)
            else:
                odd = odd or kind not in LEAVES
                continue
            if left is not GONE:
                same = same and left is item
                if found is None:
                    found = {place: left}
                else:
                    found[place] = left
        if found is None:
            return GONE
        if odd:
            everything = value.items() if type(value) is dict else enumerate(value)
            found = {place: found.get(place, item) for place, item in everything if place in found or is_media(item)}
        if same and len(found) == len(value):
            return value
        return found if type(value) is dict else [*found.values()]

    return thin
