"""Every text in a value, keys before what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.values import MAX_DEPTH, Unreducible, is_media

LEAVES = frozenset({int, float, bool, type(None)})
"""The types that hold no text."""


Shapes = dict[tuple[str, ...], bool]
"""The keys of objects whose keys were given, and whether one of them is `kind`."""


def leaves(value: Any, opened: Callable[[Any], Any], texts: list[str], shapes: Shapes | None, depth: int = MAX_DEPTH) -> None:
    """Add every text in a value to `texts`, in order; media items are not entered. Raises `Unreducible` past `depth` levels.

    `opened` gives a value as it is stored. With `shapes` the keys of an object are left out if those of another one were the same: records
    repeat theirs, half of all texts.
    """
    kind = type(value)
    add = texts.append
    if kind is dict:
        shape = tuple(value)
        known = None if shapes is None else shapes.get(shape)
        if known is not None:
            if known and is_media(value):
                return
            if depth < 0:
                raise Unreducible(f"deeper than {MAX_DEPTH} levels")
            for item in value.values():
                # Asked in line: a call for each text costs more than all else that is done for it.
                kind = type(item)
                if kind is str:
                    add(item)
                elif kind not in LEAVES:
                    leaves(item, opened, texts, shapes, depth - 1)
            return
        try:
            "".join(shape)  # keys that are texts, as almost always, need no opening
        except TypeError:
            value = opened(value)
        else:
            if shapes is not None:
                shapes[shape] = "kind" in value
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
            kind = type(item)
            if kind is str:
                add(item)
            elif kind not in LEAVES:
                leaves(item, opened, texts, shapes, depth - 1)
    elif kind is list:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        for item in value:
            kind = type(item)
            if kind is str:
                add(item)
            elif kind not in LEAVES:
                leaves(item, opened, texts, shapes, depth - 1)
