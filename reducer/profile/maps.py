"""Objects that are used as maps: their keys are addresses, ids or names that differ from answer to answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducer.profile.spot import MOST_SEEN, Spot

_FEWEST = 5
_ALIKE = 0.6
"""The share of all keys in its values that the average value has: values of a map are made alike."""
_ID = re.compile(r"\d.*\d|[.:/@ ]|^\d+$|^[0-9a-f-]{8,}$")


def with_maps(spot: Spot) -> Spot:
    """Put one spot, at the key None, in the place of the keys of each object that is used as a map; the given spots are used up."""
    for name, below in spot.keys.items():
        spot.keys[name] = with_maps(below)
    if spot.each is not None:
        spot.each = with_maps(spot.each)
    if _is_map(spot):
        first = Spot((*spot.path, None))
        for below in spot.keys.values():
            _merge(first, _moved(below, len(spot.path), None))
        spot.keys = {None: first}
    return spot


def _is_map(spot: Spot) -> bool:
    values = [*spot.keys.values()]
    if len(values) < _FEWEST or not all(value.objects or value.lists for value in values):
        return False
    named = sum(bool(_ID.search(str(name))) for name in spot.keys) * 2 >= len(values)
    if all(value.objects and not value.texts and not value.lists for value in values):
        return _alike([value.keys.keys() for value in values])
    if all(value.lists and not value.texts and not value.objects for value in values):
        return named and _alike([() if value.each is None else value.each.keys.keys() for value in values])
    return False


def _alike(groups: Sequence[object]) -> bool:
    sets = [frozenset(group) for group in groups]  # type: ignore[call-overload]
    every = frozenset().union(*sets)
    return not every or sum(map(len, sets)) >= _ALIKE * len(every) * len(sets)


def _moved(spot: Spot, at: int, token: None) -> Spot:
    """Give a spot with its path renamed at one level, all further in too."""
    for inner in spot.everywhere():
        inner.path = (*inner.path[:at], token, *inner.path[at + 1 :])
    return spot


def _merge(into: Spot, other: Spot) -> None:
    for count in ("values", "chars", "objects", "lists", "texts", "items", "saying", "said", "empty"):
        setattr(into, count, getattr(into, count) + getattr(other, count))
    into.longest, into.longest_text = max(into.longest, other.longest), max(into.longest_text, other.longest_text)
    into.notation = into.notation or other.notation
    into.seen += other.seen[: MOST_SEEN - len(into.seen)]
    for name, below in other.keys.items():
        _merge(into.key(name), below)
    if other.each is not None:
        _merge(into.item(), other.each)
