"""Every text in a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reducer.values import MAX_DEPTH, Unreducible, is_media

LEAVES = frozenset({int, float, bool, type(None)})
"""The types that hold no text."""
_TEXT = frozenset({str})

Gather = Callable[[Any], None]
"""Adds the texts in a value. Raises `Unreducible` where it is too deep."""


def are_texts(keys: Iterable[Any]) -> bool:
    """Tell whether all keys are texts."""
    return _TEXT.issuperset(map(type, keys))


def keys_in_order(opened: Callable[[Any], Any], texts: list[str]) -> Gather:
    """Give what adds every text in a value to `texts`, in order, the keys of objects before what they hold; media items are not entered.

    `opened` gives a value as it is stored.
    """
    add = texts.append

    def gather(value: Any, depth: int = MAX_DEPTH) -> None:
        if type(value) is str:
            add(value)
        elif type(value) not in LEAVES:
            value = opened(value)
            if type(value) is str:
                add(value)
            elif type(value) not in (dict, list) or is_media(value):
                return
            elif depth < 0:
                raise Unreducible(f"deeper than {MAX_DEPTH} levels")
            elif type(value) is dict:
                for key, item in value.items():
                    add(key)
                    gather(item, depth - 1)
            else:
                for item in value:
                    gather(item, depth - 1)

    return gather


def keys_apart(opened: Callable[[Any], Any], texts: list[str], keys: set[Any]) -> Gather:
    """Give what does the same but for keys, which go to `keys`, each once: records repeat theirs, half of all texts.

    Keys are not opened: where one of them is no text (`are_texts`), `keys_in_order` gives what they are stored as.
    """
    add, note = texts.append, keys.update

    # A third faster than with all that does not change handed down; texts are asked about in line, not in a call each.
    def gather(value: Any, depth: int = MAX_DEPTH) -> None:
        if type(value) is dict:
            if "kind" in value and is_media(value):
                return
            note(value)
            value = value.values()
        elif type(value) is not list:
            value = opened(value)
            if type(value) is str:
                add(value)
            elif type(value) is dict or type(value) is list:
                gather(value, depth)
            return
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        for item in value:
            kind = type(item)
            if kind is str:
                add(item)
            elif kind not in LEAVES and (item or kind is not list):
                gather(item, depth - 1)

    return gather
