"""Which texts of a return a rule reads as structure: those on the way of its paths, keys and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from reducer.paths import Shape

if TYPE_CHECKING:
    from reducer.rules.model import Step, When

_Way: TypeAlias = tuple[str | int, ...]
"""Keys from a value on, `*` for any key, with the integers below."""
_ITEM, _HERE, _ALL = 0, 1, 2
"""`_ITEM` is an item of a list. At the end of a way, `_HERE` reads a text, `_ALL` also every text below."""


@dataclass(frozen=True, slots=True)
class TextPaths:
    """The way of a rule through a value.

    `names` leads on from an object by its keys, `every` by any key, `items` from a list to its items (None: by the same
    names). With `here` a text is read as the value that it encodes; with `all` every text below is too.
    """

    names: Mapping[str, TextPaths]
    every: TextPaths | None
    items: TextPaths | None
    here: bool
    all: bool

    def of_items(self) -> TextPaths | None:
        """Return the way from a list to its items."""
        return self.items or (self if self.names or self.every else None)


def text_paths(steps: tuple[Step, ...], gate: When | None) -> TextPaths | None:
    """Return the way of a rule's steps and gate into texts; None if only the root is read."""

    @cache
    def joined(ways: frozenset[_Way], inside: bool = False) -> TextPaths | None:
        """Join ways into one, `inside` the items of a list; None if they read no text."""
        steps_on = frozenset(way for way in ways if way and type(way[0]) is str)
        named = frozenset(way[1:] for way in ways if way[:1] == (_ITEM,))
        others = frozenset(way[1:] for way in steps_on if way[0] == "*")
        below = {name: joined(others | {way[1:] for way in steps_on if way[0] == name}) for name, *_ in steps_on}
        names = {str(name): way for name, way in below.items() if way is not None and name != "*"}
        every = joined(others) if others else None
        if not any(ways):
            return None
        # Items are what `[*]` names; keys and conditions pass through lists.
        items = joined(steps_on | named, inside=True) if named or not inside else None
        here = any(way[:1] != (_ALL,) for way in ways if way)
        return TextPaths(MappingProxyType(names), every, items, here=here, all=(_ALL,) in ways)

    return joined(frozenset(_ways(steps, gate)))


def _ways(steps: tuple[Step, ...], gate: When | None) -> Iterator[_Way]:
    for when in (gate, *(step.when for step in steps)):
        if when is not None and when.where is not None:
            yield from when.where.reads
    for step in steps:
        for shape, expression in step.path.filters:
            yield from (_along(shape) + chain for chain in expression.reads)
        place, op = _along(step.path.shape), step.op
        yield place
        if str not in op.accepts:
            yield (*place, _HERE)
        if op.opens_texts:
            yield (*place, _ALL)
        yield from ((*place, *chain, _HERE) for chain in op.shortens())
        yield from (place + base + chain for base, chain in op.reads())
        yield from (place + chain for chain in op.names())
        yield from op.reads_return()


def _along(shape: Shape) -> _Way:
    way: list[str | int] = []
    for before, token in pairwise((("root",), *shape)):
        if token[0] in ("only", "nothing", "pick") or (token[0] == "flatten" and before[0] == "each"):
            continue  # selects among the places so far
        way.append(str(token[1]) if token[0] == "field" else "*" if token[0] == "values" else _ITEM)
    return tuple(way)
