"""Counts the characters of answers, place by place, in one walk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reducer.codecs import read, read_nested
from reducer.profile.maps import with_maps
from reducer.profile.spot import MOST_SEEN, Spot
from reducer.values import MAX_DEPTH, dump, is_media

_LEAST_SAYING = 40
"""Characters of a text below which nobody gains by looking into it."""


def profile(contents: Iterable[Any]) -> Spot:
    """Count where the characters of tool answers (plain JSON values) are; texts that hold structure are looked into.

    What is deeper than `MAX_DEPTH` levels is left out, as rules leave it alone.
    """
    root = Spot(())
    for content in contents:
        if type(content) is str:
            found = read(content, {})
            if found is not None:
                root.saying, root.said, root.notation = root.saying + 1, root.said + len(content), root.notation or found[1].name
                content = found[0]
        _add(root, content, MAX_DEPTH)
    return with_maps(root)


def _add(spot: Spot, value: Any, depth: int) -> int:
    """Add a value and give its characters."""
    kind = type(value)
    size = 0
    if kind is str:
        found = read_nested(value, {}) if len(value) >= _LEAST_SAYING else None
        if found is not None and depth > 0 and spot.path:
            spot.saying, spot.said, spot.notation = spot.saying + 1, spot.said + len(dump(value)), spot.notation or found[1].name
            return _add(spot, found[0], depth - 1)
        size = len(dump(value))
        spot.texts += 1
        spot.longest_text = max(spot.longest_text, len(value))
    elif kind is dict:
        size = 2 if depth < 0 or is_media(value) else _object(spot, value, depth)
    elif kind is list:
        size = 2 if depth < 0 else _list(spot, value, depth)
    else:
        size = len(dump(value)) if value == value and value not in (float("inf"), float("-inf")) else 4
    spot.values += 1
    spot.chars += size
    if kind is not dict and kind is not list and len(spot.seen) < MOST_SEEN:
        spot.seen.append(value)
    return size


def _object(spot: Spot, value: dict[str, Any], depth: int) -> int:
    spot.objects += 1
    size = 2
    for key, item in value.items():
        # The key, its colon and the comma behind it count as its own: they go with it.
        head = len(dump(key)) + 2
        below = spot.key(key)
        below.chars += head
        one = head + _add(below, item, depth - 1)
        size += one
        if item is None or item == "" or item == [] or item == {}:
            spot.empty += one
    return size


def _list(spot: Spot, value: list[Any], depth: int) -> int:
    spot.lists += 1
    spot.items += len(value)
    spot.longest = max(spot.longest, len(value))
    size = 2
    if value:
        each = spot.item()
        for item in value:
            size += 1 + _add(each, item, depth - 1)
    return size
