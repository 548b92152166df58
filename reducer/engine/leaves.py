"""Every text in a value, keys before what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.values import MAX_DEPTH, Unreducible, is_media

LEAVES = frozenset({int, float, bool, type(None)})
"""The types that hold no text."""


def leaves(value: Any, opened: Callable[[Any], Any], add: Callable[[str], object], depth: int = MAX_DEPTH) -> None:
    """Call `add` with every text in a value, in order; media items are not entered. Raises `Unreducible` past `depth` levels.

    `opened` gives a value as it is stored.
    """
    kind = type(value)
    if kind is dict:
        try:
            "".join(value)  # keys that are texts, as almost always, need no opening
        except TypeError:
            value = opened(value)
    elif kind is not list:
        value = opened(value)
        kind = type(value)
    if kind is str:
        add(value)
    elif kind is dict:
        if "kind" in value and is_media(value):
            return
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        for key, item in value.items():
            add(key)
            # Asked in line: a call for each text costs more than all else that is done for it.
            kind = type(item)
            if kind is str:
                add(item)
            elif kind not in LEAVES:
                leaves(item, opened, add, depth - 1)
    elif kind is list:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        for item in value:
            kind = type(item)
            if kind is str:
                add(item)
            elif kind not in LEAVES:
                leaves(item, opened, add, depth - 1)
