"""Texts within a return, read as what they say where a rule goes into them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from reducer.codecs import read_nested
from reducer.engine.notation import Nested, Notation
from reducer.rule.opening import Opening
from reducer.values import MAX_DEPTH, PLAIN, Unreducible, chars, is_media, shown

# What may be longer in JSON as it is written here, `1e5` as 100000.0: only then it is counted.
_RESPELLED = re.compile(r"[0-9][eE][-+]?[0-9]")
_CONTAINERS = frozenset({dict, list})
_SCALARS = frozenset({str, int, float, bool, type(None)})
_FLAT = frozenset({dict, int, float, bool, type(None)})


def opened(value: Any, way: Opening, notation: Notation) -> Any:
    """Give a return with the texts on the way of a rule read as what they say; the same object if there are none. Raises `Unreducible`."""
    return value if type(value) is str else _opened(value, way, way.all, notation, MAX_DEPTH)


def _opened(value: Any, way: Opening | None, everything: bool, notation: Notation, depth: int) -> Any:
    """Open along `way`, and with `everything` all below; None for `way` is nowhere."""
    stored = value if type(value) in PLAIN else shown(value)
    kind = type(stored)
    if kind is str:
        return _said(stored, way, everything, notation, depth)
    if kind is not dict and kind is not list:
        return value
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    everything = everything or (way is not None and way.all)
    new: Any = None
    if kind is list:
        below = None if way is None else way.of_items()
        if (below is None and not everything) or (not everything and _is_flat(stored, below)):
            return value
        for index, item in enumerate(stored):
            left = _opened(item, below, everything, notation, depth - 1)
            if left is not item:
                new = [*stored] if new is None else new
                new[index] = left
    elif not is_media(stored):
        every = None if way is None else way.every
        names = {} if way is None else way.names
        keys = stored if every is not None or everything else names.keys() & stored.keys()
        for key in keys:
            item = stored[key]
            if item is not None:
                left = _opened(item, names.get(key, every), everything, notation, depth - 1)
                if left is not item:
                    new = {**stored} if new is None else new
                    new[key] = left
    if new is None:
        return value
    notation.opened(new, value)
    return new


def _is_flat(items: list[Any], way: Opening | None) -> bool:
    # The usual list of objects with no texts to go into: asked at C speed.
    return way is not None and not way.names and way.every is None and not way.all and _FLAT.issuperset(map(type, items))


def _said(text: str, way: Opening | None, everything: bool, notation: Notation, depth: int) -> Any:
    everything = everything or (way is not None and way.all)
    if not everything and not (way is not None and way.here):
        return text
    found = read_nested(text, notation.brackets)
    if found is None:
        return text
    value, codec = found
    named = way is not None and way.here
    # Media that `unwrap` took out of its text would become real; it takes JSON alone.
    if not fits(value, depth - 1, named) or not (named or codec.is_json):
        notation.hold(value)
        return text
    new = _opened(value, way, everything, notation, depth - 1)
    if new is not value:
        # The value between is of no interest: what did not change is the text.
        notation.origins[id(new)] = text
        notation.texts[id(new)] = Nested(text, codec)
    else:
        notation.opened(new, text, Nested(text, codec))
    return new


def unwrapped(value: Any, notation: Notation, replace: Callable[[Any, Callable[[Any], Any]], Any], note: Callable[[Any, Any], None]) -> Any:
    """Give a value in which everything that stood in a text of JSON stands for itself, if that is no longer."""

    def walk(value: Any) -> Any:
        left = replace(value, walk)
        nested = notation.texts.get(id(value))
        if nested is None or not nested.codec.is_json or not fits(left, MAX_DEPTH, media=False):
            return left
        new = left.copy()
        if _RESPELLED.search(nested.text) and chars(notation.closed(new)) > chars([nested.text]) - 2:
            return left
        note(new, left)
        notation.stands_for_itself(new)
        return new

    return walk(value)


def fits(value: Any, depth: int, media: bool) -> bool:
    """Tell whether a value has no more than `depth` levels, and no media items unless they may be there."""
    if type(value) not in _CONTAINERS:
        return True
    if depth < 0 or (not media and is_media(value)):
        return False
    items = value.values() if type(value) is dict else value
    return _SCALARS.issuperset(map(type, items)) or all(fits(item, depth - 1, media) for item in items)
