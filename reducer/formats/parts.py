"""Compare a reduced value with the value that it is a part of, to find what a writer has to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reducer import markers
from reducer.formats.json_text import read_json


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


def _is_part_of_json(new: str, old: str) -> bool:
    """Return whether both texts are JSON, and one has a part of the value of the other."""
    value = read_json(new) if len(new) <= len(old) else None
    return value is not None and is_part(value, read_json(old))


def _is_cut(new: str, old: str) -> bool:
    """Return whether a text is empty, or is what cuts left of another: its markers count the other characters."""
    if not new:
        return True
    found = _markers(new) if len(new) < len(old) else ()
    if not found:
        return False
    rest = new[found[-1].stop :]
    after = rest.removeprefix(markers.CONTINUES) if not old.endswith(rest) else rest
    counted = _counted(new) - (len(rest) - len(after))
    is_whole = counted == len(old) or counted == _counted(old)  # the markers of an earlier pass count as well
    if not (is_whole and old.startswith(new[: found[0].start]) and old.endswith(after)):
        return False
    return all(name in old for marker in found for name in marker.mentions)


def _markers(text: str) -> Sequence[markers.Marker]:
    return markers.read_all(text, len(text), lambda name: True)


def _counted(text: str) -> int:
    """Return the number of characters of a text with those that its markers count."""
    return len(text) + sum(marker.count + marker.start - marker.stop for marker in _markers(text))
