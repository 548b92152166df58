"""Gather what remains of a return and what its plan removes, in one walk in document order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from reducer.engine.needs import Needed, Types
from reducer.formats import Atom
from reducer.markers import Marker
from reducer.plan.cuts import Cut
from reducer.plan.nodes import (
    LEAVES,
    TEXT,
    Emptied,
    Node,
    Omission,
    Opened,
    build,
    holds_texts,
    is_text,
    keys_of,
    open_live,
    text_of,
)
from reducer.plan.place import Work
from reducer.rules import Rule
from reducer.values import MAX_DEPTH, Unreducible, is_media

Plans: TypeAlias = dict[Any, Node | None]
"""The plans of children by index or key; None for a whole child."""
_NOTHING = Marker(0, (), 0, 0)
_Group: TypeAlias = tuple[int | None, list[Any], Node | None]


@dataclass(slots=True, eq=False)
class ShortenedList:
    """A remaining list that lost items, so it may need a marker."""

    value: list[Any]
    node: Omission
    are_texts: bool = False
    """The remaining items are texts, so a marker mentions the entities of removed texts."""
    found: dict[int, Needed] = field(default_factory=dict)
    """What must not vanish of removed texts, by index."""

    @property
    def earlier(self) -> Marker:
        """The marker of an earlier pass, or one that counts nothing."""
        return self.node.earlier or _NOTHING

    @property
    def before(self) -> str:
        """The text of the marker of an earlier pass, or an empty text."""
        return self.value[-1] if self.node.earlier else ""


class Removal(NamedTuple):
    """Consecutive children that a remaining list or object lost, or a child that was emptied."""

    value: Any
    """The list or object."""
    node: Omission
    keys: list[Any]
    types: Types
    """The entity types that are preserved in the children."""
    texts: ShortenedList | None
    """The list, if the remaining items are texts."""


@dataclass(slots=True, eq=False)
class Gathered:
    """What remains of a return, and what its plan removes."""

    work: Work
    rule: Rule
    lists: dict[Omission, ShortenedList]
    """The remaining lists that lost items, by their plans."""
    remaining: list[Any] = field(default_factory=list)
    """The remaining texts and keys, and if values are referenced also numbers and media."""
    removed: list[tuple[Types, list[str]]] = field(default_factory=list)
    """The removed texts and keys, in document order, with the entity types that are preserved in them."""
    removals: list[Removal] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    """The plans of the remaining texts that were cut."""

    def add(self, value: Any, node: Node | None, types: Types | None, depth: int) -> None:
        """Add a value that remains, or with `types` a removed value in which entities of these types are preserved.

        Raises `Unreducible` beyond `depth` levels.
        """
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        if type(node) is Omission:
            self._add_children(value, node, types, depth - 1)
        elif type(node) is Opened:
            # A text of which nothing stays is unchanged only until its marker is written.
            is_unchanged = types is None and not node.notation and build(value, node) is value
            self.add(node.value, None if is_unchanged else node.plan, types, depth - 1)
        elif type(node) is Emptied:
            self.add(value, node.before, preserved_by(self.rule, node.step, types), depth)
        elif type(node) is Cut and types is None and node.written != node.text:
            self.cuts.append(node)
        else:
            self._read([], [value], types, depth)

    def _add_children(self, value: Any, node: Omission, types: Types | None, depth: int) -> None:
        removed, inside = node.removed(value), node.separate(value)
        texts = self._list_of_texts(value, node) if types is None else None
        if texts is not None:
            value = texts.value
            inside = {key: plan for key, plan in inside.items() if key not in removed or not is_text(value[key], plan)}
        for step, keys, child in _groups(value, removed, inside):
            if step == 0:
                continue  # the marker of an earlier pass
            cause = child.step if type(child) is Emptied and step is None else step
            if types is None and cause is not None:
                self.removals.append(Removal(value, node, keys, self.rule.preserved[cause], texts))
            types_below = types if step is None else preserved_by(self.rule, step, types)
            names = keys if type(value) is dict else []
            values = map(value.__getitem__, keys) if child is None else ()
            self._read(names, values, types_below, depth)
            if child is not None:
                self.add(value[keys[0]], child, types_below, depth)

    def _list_of_texts(self, value: Any, node: Omission) -> ShortenedList | None:
        """Return a remaining list that lost items if it holds only texts, with live objects as their texts."""
        texts = self.lists.get(node)
        if texts is None or not holds_texts(value, node):
            return None
        texts.are_texts, texts.value = True, [*map(text_of, value)]
        return texts

    def _read(self, keys: Iterable[str], values: Iterable[Any], types: Types | None, depth: int) -> None:
        """Add keys, and everything in values without a plan."""
        with_leaves, texts = types is None and bool(self.work.references.values), self.remaining
        if types:
            texts = []
            self.removed.append((types, texts))
        elif types is not None or not (with_leaves or any(self.rule.preserved)):
            return
        texts += keys
        _read(values, texts, depth, with_leaves)


def preserved_by(rule: Rule, step: int, types: Types | None) -> Types:
    """Return the types that are preserved in what a step removes from a value that remains, or has these types."""
    preserved = rule.preserved[step]
    return preserved if types is None else types & preserved


def _groups(value: Any, removed: dict[Any, int], inside: Plans) -> Iterator[_Group]:
    """Yield consecutive children that one step removed, or that remain. A child with a plan is a group of its own."""
    planned = dict(zip(inside, inside, strict=True))
    for step, keys in groupby(keys_of(value), removed.get):
        for own, group in groupby(keys, planned.get):
            yield step, [*group], inside.get(own)


def _read(values: Iterable[Any], texts: list[Any], depth: int, with_leaves: bool) -> None:
    """Add all keys and texts in some values to `texts`, and numbers and media `with_leaves`, level by level.

    Raises `Unreducible` beyond `depth` levels.
    """
    level = [*values]
    while level:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        texts += [item for item in level if type(item) is str]
        if with_leaves:
            texts += [item for item in level if type(item) is int or type(item) is float]
        level, depth = _below(level, texts, with_leaves), depth - 1


def _below(level: list[Any], texts: list[Any], with_leaves: bool) -> list[Any]:
    """Return the values below some values. Add the keys, atoms and media on the way to `texts`."""
    below: list[Any] = []
    if LEAVES.issuperset(map(type, level)):
        return below
    for item in level:
        if type(item) in LEAVES:
            continue
        if type(item) is list:
            below += item
        elif type(item) is Atom:
            texts.append(item.source)
        elif (type(item) is not dict or "kind" in item) and is_media(item):
            texts += [item] * with_leaves
        elif type(item) is dict and TEXT.issuperset(map(type, item)):
            texts += item
            below += item.values()
        else:
            below.append(open_live(item).value)
    return below
