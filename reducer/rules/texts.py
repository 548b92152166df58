"""Which texts of a return a rule reads as structure: those on the way of its paths, keys and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reducer.paths import Chain, Shape

if TYPE_CHECKING:
    from reducer.rules.model import Step, When


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


@dataclass(slots=True)
class _Way:
    """A `TextPaths` under construction. `items` is what `[*]` names; keys and conditions pass through lists."""

    names: dict[str, _Way] = field(default_factory=dict)
    every: _Way | None = None
    items: _Way | None = None
    here: bool = False
    goes_on: bool = False
    all: bool = False

    def along_shape(self, shape: Shape) -> _Way:
        way = self
        for before, token in pairwise((("root",), *shape)):
            if token[0] in ("only", "nothing", "pick") or (token[0] == "flatten" and before[0] == "each"):
                continue  # selects among the places so far
            way.goes_on = True
            if token[0] == "field":
                way = way.names.setdefault(token[1], _Way())
            elif token[0] == "values":
                way.every = way = way.every or _Way()
            else:
                way.items = way = way.items or _Way()
        return way

    def along(self, names: Chain) -> _Way:
        way = self
        for name in names:
            way.goes_on = True
            if name == "*":
                way.every = way = way.every or _Way()
            else:
                way = way.names.setdefault(name, _Way())
        return way

    def add(self, chains: Iterable[Chain]) -> None:
        for chain in chains:
            self.along(chain)


def text_paths(steps: tuple[Step, ...], gate: When | None) -> TextPaths | None:
    """Return the way of a rule's steps and gate into texts; None if only the root is read."""
    root = _Way()
    for when in (gate, *(step.when for step in steps)):
        if when is not None and when.where is not None:
            root.add(when.where.reads)
    for step in steps:
        for shape, expression in step.path.filters:
            root.along_shape(shape).add(expression.reads)
        place = root.along_shape(step.path.shape)
        place.here = place.here or str not in step.op.accepts
        place.all = place.all or step.op.opens_texts
        for chain in step.op.shortens():
            place.along(chain).here = True
        place.add((*base, *chain) for base, chain in step.op.reads())
        place.add(step.op.names())
        root.add(step.op.reads_return())
    return _frozen([root], False, {})


def _frozen(ways: list[_Way], inside: bool, known: dict[Any, TextPaths | None]) -> TextPaths | None:
    """Join ways into one, `inside` the items of a list; None if they read no text.

    `known` has the ways joined before: without it, a path of twenty names takes a million steps.
    """
    if not ways:
        return None
    key = (inside, *((id(way.names), id(way.every), id(way.items), way.here, way.goes_on, way.all) for way in ways))
    if key not in known:
        known[key] = _joined(ways, inside, known)
    return known[key]


def _joined(ways: list[_Way], inside: bool, known: dict[Any, TextPaths | None]) -> TextPaths | None:
    others = [way.every for way in ways if way.every is not None]
    found = {
        name: _frozen([*(way.names[name] for way in ways if name in way.names), *others], False, known)
        for way in ways
        for name in way.names
    }
    names = {name: below for name, below in found.items() if below is not None}
    every = _frozen(others, False, known)
    here = any(way.here or way.goes_on for way in ways)
    everything = any(way.all for way in ways)
    if not (here or names or every or everything):
        return None
    # Items are what `[*]` names; keys and conditions pass through lists.
    named = [way.items for way in ways if way.items is not None]
    through = [_Way(names=way.names, every=way.every, goes_on=True) for way in ways if way.names or way.every]
    items = _frozen([*through, *named], True, known) if named or not inside else None
    return TextPaths(MappingProxyType(names), every, items, here=here, all=everything)
