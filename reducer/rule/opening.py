"""Which texts a rule goes into: those on the way of its paths, keys and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reducer.path import Chain, Shape

if TYPE_CHECKING:
    from reducer.rule.model import Step, When


@dataclass(frozen=True, slots=True)
class Opening:
    """The way of a rule through a value.

    `names` leads on from an object by its keys, `every` by any key, `items` from a list to its items (None: by the same names). A text is
    read as what it says `here`: the way leads on from it, or an operation on lists and objects stands at it. With `all` so is every text below.
    """

    names: Mapping[str, Opening]
    every: Opening | None
    items: Opening | None
    here: bool
    all: bool

    def of_items(self) -> Opening | None:
        """Give the way on from a list to its items."""
        return self.items or (self if self.names or self.every else None)


@dataclass(slots=True)
class _Way:
    """An opening while it is made. `items` is for what a path names by `[*]`; keys and conditions mean the items of lists without saying so."""

    names: dict[str, _Way] = field(default_factory=dict)
    every: _Way | None = None
    items: _Way | None = None
    here: bool = False
    goes_on: bool = False
    all: bool = False

    def along_shape(self, shape: Shape) -> _Way:
        way = self
        for token in shape:
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


def opening_of(steps: tuple[Step, ...], gate: When | None) -> Opening | None:
    """Give the way of a rule's steps and gate into texts; None if they go nowhere but through the root."""
    root = _Way()
    for when in (gate, *(step.when for step in steps)):
        if when is not None and when.where is not None:
            _add(root, when.where.reads)
    for step in steps:
        for shape, expression in step.path.filters:
            _add(root.along_shape(shape), expression.reads)
        place = root.along_shape(step.path.shape)
        place.here = place.here or str not in step.op.accepts
        place.all = place.all or step.op.opens_texts
        for chain in step.op.shortens():
            place.along(chain).here = True
        _add(place, ((*base, *chain) for base, chain in step.op.reads()))
        _add(place, step.op.names())
        _add(root, step.op.reads_return())
    return _frozen([root], False, {})


def _add(way: _Way, chains: Iterable[Chain]) -> None:
    for chain in chains:
        way.along(chain)


def _frozen(ways: list[_Way], inside: bool, known: dict[Any, Opening | None]) -> Opening | None:
    """Join ways into one, with `inside` ways of a list's items; None if no text is read on them. `known` has those joined before.

    Each level is asked for by its names and by its items: without what is known a path of twenty names took a million steps.
    """
    if not ways:
        return None
    key = (inside, *((id(way.names), id(way.every), id(way.items), way.here, way.goes_on, way.all) for way in ways))
    if key not in known:
        known[key] = _joined(ways, inside, known)
    return known[key]


def _joined(ways: list[_Way], inside: bool, known: dict[Any, Opening | None]) -> Opening | None:
    others = [way.every for way in ways if way.every is not None]
    found = {name: _frozen([*(way.names[name] for way in ways if name in way.names), *others], False, known) for way in ways for name in way.names}
    names = {name: below for name, below in found.items() if below is not None}
    every = _frozen(others, False, known)
    here = any(way.here or way.goes_on for way in ways)
    everything = any(way.all for way in ways)
    if not (here or names or every or everything):
        return None
    # Items are what `[*]` leads to, and keys and conditions go through lists as if they were not there.
    named = [way.items for way in ways if way.items is not None]
    through = [_Way(names=way.names, every=way.every, goes_on=True) for way in ways if way.names or way.every]
    items = _frozen([*through, *named], True, known) if named or not inside else None
    return Opening(MappingProxyType(names), every, items, here, everything)
