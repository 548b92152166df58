"""Compare a reduced value with the value that it is a part of, to find what a writer has to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reducer import markers
from reducer.formats.json_text import read_json

_HEAD_CHARS = 40
"""A marker says within so many characters that it counts characters."""


def is_part(new: Any, old: Any) -> bool:
    """Return whether a value is equal to another, or is what a reduction left of it."""
    if new is old:
        return True
    if type(new) is not type(old):
        return False
    if type(new) is dict:
        return all(key in old and is_part(item, old[key]) for key, item in new.items())
    if type(new) is list:
        return origins(new, old) is not None
    return bool(new == old or (type(new) is str and (_is_cut(new, old) or _is_part_of_json(new, old))))


def origins(new: Sequence[Any], old: Sequence[Any]) -> list[int] | None:
    """Return the index in a list of each item of a reduced list, without the marker of the reduced list.

    Each item has the first index after the previous one at which it can come from. Return None if there is none.
    """
    found: list[int] = []
    at = 0
    for item in new:
        start = at
        while at < len(old) and not is_part(item, old[at]):
            at += 1
        if at < len(old):
            found.append(at)
            at += 1
        elif item is new[-1] and is_marker(item):
            at = start
        else:
            return None
    return found


def is_marker(item: Any) -> bool:
    """Return whether an item of a list is a marker that counts items, whichever entities it mentions."""
    is_possible = type(item) is str and item.startswith(markers.PREFIX)
    return is_possible and markers.read_item(item, lambda name: True) is not None


def marker_of(new: Sequence[Any], found: Sequence[int]) -> str:
    """Return the marker at the end of a reduced list whose other items have some origins, or an empty text."""
    return new[-1] if len(new) > len(found) else ""


def _is_part_of_json(new: str, old: str) -> bool:
    """Return whether both texts are JSON, and one has a part of the value of the other."""
    value = read_json(new) if len(new) <= len(old) else None
    return value is not None and is_part(value, read_json(old))


def _is_cut(new: str, old: str) -> bool:
    """Return whether a text is empty, or starts like another before its first marker."""
    marker = new.find(markers.PREFIX, 0, len(old) + len(markers.PREFIX) + 1)
    is_marked = marker >= 0 and " more characters" in new[marker : marker + _HEAD_CHARS]
    return not new or (is_marked and old.startswith(new[:marker].removesuffix(" ")))
