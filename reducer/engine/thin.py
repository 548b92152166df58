"""Thin values: of a value only the keys and items on the way to what must stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from reducer.values import MAX_DEPTH, Unreducible, is_media, shown

GONE: Any = object()
"""Stands for what is not there any more."""


class Taker(Protocol):
    """Takes away and remembers, as a draft does."""

    all_keys: bool

    def opened(self, value: Any) -> Any: ...
    def take_items(self, items: Any, indexes: Sequence[int]) -> Any: ...
    def take_keys(self, value: Any, names: Any) -> Any: ...
    def note(self, new: Any, old: Any) -> None: ...
    def emptied(self, value: Any) -> Any: ...


def thin(value: Any, pick: Callable[[str], Any], holds: Callable[[str], bool], taker: Taker, depth: int = MAX_DEPTH) -> Any:
    """Keep of `value` what leads to texts that `pick` does not answer with `GONE`, and to keys that hold something; `GONE` if there is nothing.

    Raises `Unreducible` past `depth` levels.
    """
    if type(value) is str:
        return pick(value)
    opened = taker.opened(value)
    if type(opened) is str:
        return pick(opened)
    if type(opened) not in (dict, list) or is_media(opened):
        return GONE
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    found: dict[Any, Any] = {}
    if type(opened) is dict:
        for key, item in opened.items():
            named = holds(key)
            left = thin(item, pick, holds, taker, depth - 1)
            if left is not GONE or named:
                found[key] = taker.emptied(item) if left is GONE else left
        if not found:
            return GONE
        new = taker.take_keys(value, found.keys())
        changed: Any = {key: found.get(key, item) for key, item in taker.opened(new).items()}
    else:
        for index, item in enumerate(opened):
            left = thin(item, pick, holds, taker, depth - 1)
            if left is not GONE:
                found[index] = left
        if not found:
            return GONE
        new = taker.take_items(value, list(found))
        rest = iter(found.values())
        changed = list(rest) if len(new) == len(found) else [found.get(index, item) for index, item in _placed(opened, new)]
    if all(a is b for a, b in zip(_values(changed), _values(taker.opened(new)), strict=True)):
        return new
    taker.note(changed, new)
    return changed


def _values(value: Any) -> Any:
    return value.values() if type(value) is dict else value


def _placed(items: list[Any], new: list[Any]) -> list[tuple[int, Any]]:
    # More stayed than was found, as media do: each is the next one in order that is the same object.
    placed, number = [], 0
    for item in new:
        while items[number] is not item:
            number += 1
        placed.append((number, item))
        number += 1
    return placed


def emptied(value: Any) -> Any:
    """Give the empty value of the same type; numbers, booleans, null and media as they are."""
    opened = shown(value)
    kind = type(opened)
    if not opened or is_media(opened):
        return value
    return "" if kind is str else {} if kind is dict else [] if kind is list else value
