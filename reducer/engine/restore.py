"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. One walk gathers the texts and keys that remain and those that were removed. A
value that must not vanish and does not remain is restored at the first place in document order that contains it, with
only the keys that lead there: a thin item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, NamedTuple

from msgspec.structs import replace

from reducer import markers
from reducer.entities import Entity
from reducer.formats import Atom
from reducer.operations.fields import Mark
from reducer.paths import Expression
from reducer.plan.cuts import Cut
from reducer.plan.nodes import (
    LEAVES,
    TEXT,
    Emptied,
    Node,
    Omission,
    Opened,
    Version,
    at_least,
    build,
    empty_of,
    has_structure,
    holds_texts,
    is_text,
    open_live,
    text_of,
)
from reducer.plan.place import Work
from reducer.rules import Rule
from reducer.values import MAX_DEPTH, Unreducible, chars, is_media

Types = frozenset[str]
Plans = dict[Any, Node | None]
"""The plans of children by index or key."""

_LONG = 200
"""If the kept texts of a list are longer on average, a marker counts the removed ones. In characters."""
_SHORT = len(markers.written(1, "characters", ("",)))
"""Characters of a marker without its mentions: a text that is not longer is restored as a whole."""
_MARKER = chars([markers.written(1, "items")])
"""Characters of a list with only a marker. Its count is fixed, so that a second pass makes the same choice."""
_NONE: Types = frozenset()
_NOTHING = object()
"""Takes the place of a plan if nothing is restored."""


@dataclass(slots=True)
class Restored:
    """The effect of an overlay."""

    lost: tuple[str, ...] = ()
    """The preserved entities that are not restored because there are more than their bound."""
    preserved: int = 0
    """The number of entities that are restored or mentioned."""
    referenced: frozenset[str] = _NONE
    """The referenced values that are restored."""
    nodes: list[Omission | Cut] = field(default_factory=list)
    """The plans that it changed."""

    def undo(self) -> None:
        """Remove the overlay from the plan."""
        for node in self.nodes:
            node.restored = None
            if type(node) is Omission:
                node.marker = ""


def restore(work: Work, rule: Rule, reads: frozenset[str]) -> Restored:
    """Restore everything in a return that its rule preserves or later messages reference.

    Thin items keep the keys in `reads`; `*` stands for all keys.
    """
    if not work.marked and not (work.edits and (any(rule.preserved) or work.references.values)):
        return Restored()
    overlay = _Overlay(work, rule, reads)
    overlay.add(work.top.value, work.top.inside.get(0), None, MAX_DEPTH + 1)
    return overlay.restore()


class _Removal(NamedTuple):
    """Consecutive children that a remaining list or object lost, or a child that was emptied."""

    value: Any
    """The list or object."""
    node: Omission
    keys: list[Any]
    types: Types
    """The entity types that are preserved in the children."""
    is_marked: bool
    """The remaining items are texts, and a marker mentions the entities of removed texts."""


@dataclass(slots=True, eq=False)
class _Overlay:
    """Adds the overlay to a plan. A value is needed until the first place that contains it is restored."""

    work: Work
    rule: Rule
    reads: frozenset[str]
    result: Restored = field(default_factory=Restored)
    remaining: list[Any] = field(default_factory=list)
    """The remaining texts and keys, and if values are referenced also numbers and media."""
    removed: list[tuple[Types, list[str]]] = field(default_factory=list)
    """The removed texts and keys, in document order, with the entity types that are preserved in them."""
    removals: list[_Removal] = field(default_factory=list)
    lists: list[tuple[list[Any], Omission, bool]] = field(default_factory=list)
    """The remaining lists that may need a marker, with their plans, and whether they are lists of texts."""
    cuts: list[Cut] = field(default_factory=list)
    """The plans of the remaining texts that were cut."""
    missing: set[str] = field(default_factory=set)
    """The needed referenced values."""
    needed: set[str] = field(default_factory=set)
    """The needed preserved entities."""
    taken: set[str] = field(default_factory=set)
    """The preserved entities that are restored or mentioned."""
    lost: list[str] = field(default_factory=list)
    """The preserved entities that exceed a bound."""
    room: dict[Types, int] = field(default_factory=dict)
    """How many more entities of some types each bound allows."""
    texts: set[str] = field(default_factory=set)
    """The texts that contain a needed entity."""

    def add(self, value: Any, node: Node | None, types: Types | None, depth: int) -> None:
        """Add a value that remains, or with `types` a removed value in which entities of these types are preserved.

        Raises `Unreducible` beyond `depth` levels.
        """
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        if type(node) is Omission:
            self._add_children(value, node, types, depth - 1)
        elif type(node) is Opened:
            is_unchanged = types is None and build(value, node) is value
            self.add(node.value, None if is_unchanged else node.inside.get(0), types, depth - 1)
        elif type(node) is Emptied:
            self.add(value, node.before, self._preserved(node.step, types), depth)
        elif type(node) is Cut and types is None and node.written != node.text:
            self.cuts.append(node)
        else:
            self._read([], [value], types, depth)

    def _add_children(self, value: Any, node: Omission, types: Types | None, depth: int) -> None:
        removed, inside = node.removed(value), node.separate(value)
        is_marked = types is None and bool(node.versions) and holds_texts(value, node)
        if is_marked:
            value = [*map(text_of, value)]
            inside = {key: inside[key] for key in inside if key not in removed or not is_text(value[key], inside[key])}
        needs_marker = is_marked or node.earlier or any(self.rule.marks) or len(removed) == len(value)
        if types is None and type(value) is list and needs_marker:
            self.lists.append((value, node, is_marked))

        planned = {key: key for key in inside}  # a child with a plan is a group of its own
        children = range(len(value)) if type(value) is list else value
        by_step = groupby(children, removed.get)
        for step, own, group in ((step, *each) for step, keys in by_step for each in groupby(keys, planned.get)):
            if step == 0:
                continue  # the marker of an earlier pass
            keys, child = [*group], inside.get(own)
            types_below = types if step is None else self._preserved(step, types)
            cause = child.step if type(child) is Emptied and step is None else step
            if types is None and cause is not None:
                self.removals.append(_Removal(value, node, keys, self._preserved(cause, None), is_marked))
            items = [value[key] for key in keys]
            self._read(keys if type(value) is dict else [], items if child is None else [], types_below, depth)
            if child is not None:
                self.add(items[0], child, types_below, depth)

    def _preserved(self, step: int, types: Types | None) -> Types:
        """Return the types that are preserved in what a step removes from a value that remains, or has these types."""
        preserved = self.rule.preserved[step]
        return preserved if types is None else types & preserved

    def _read(self, keys: Iterable[str], values: Iterable[Any], types: Types | None, depth: int) -> None:
        """Add keys, and everything in values without a plan."""
        leaves, texts = types is None and bool(self.work.references.values), self.remaining
        if types:
            texts = []
            self.removed.append((types, texts))
        elif types is not None or not (leaves or any(self.rule.preserved)):
            return
        texts += keys
        _read(values, texts, depth, leaves)

    def restore(self) -> Restored:
        """Restore all needed values."""
        result, references = self.result, self.work.references
        result.referenced = references.missing(self.remaining, self.cuts)
        self.missing = set(result.referenced)
        widened = [self._widened(cut) for cut in self.cuts]
        if any(self.rule.preserved):
            self._find_needed(widened)
            self.room = dict(self.rule.bounds)
        for cut, wider in zip(self.cuts, widened, strict=True):
            self._mention(cut, wider)
        if self.needed:
            found, needed = self.work.scans.found.items(), self.needed
            self.texts = {text for text, entities in found for entity in entities if entity.value in needed}
        for removal in self.removals:
            if self.missing or self.needed:
                self._restore(removal)
        result.preserved, result.lost = len(self.taken), tuple(self.lost)
        for items, node, are_texts in self.lists:
            self._write_marker(items, node, are_texts)
            result.nodes.append(node)
        return result

    def _widened(self, cut: Cut) -> Cut:
        """Return a cut that also keeps the sentences around the missing values in its text, and mark them as found."""
        references = self.work.references
        values = references.values_in(cut.text) & self.missing if self.missing else _NONE
        self.missing -= values
        return references.widened(cut, values, self.work.scans.any_entities) if values else cut

    def _find_needed(self, cuts: list[Cut]) -> None:
        """Find the removed entities that are preserved and do not remain."""
        scans, preserved, needed = self.work.scans, self.rule.preserved, self.needed
        scans.scan(chain((cut.text for cut in cuts if preserved[cut.step]), *(texts for _, texts in self.removed)))
        for types, texts in self.removed:
            found = chain.from_iterable(scans.found.get(text, ()) for text in dict.fromkeys(texts))
            needed.update(entity.value for entity in found if entity.type in types)
        for cut in cuts:
            types = preserved[cut.step]
            _, removed = cut.split(scans.entities(cut.text) if types else ())
            needed.update(entity.value for entity in removed if entity.type in types)
        if needed:
            remaining = dict.fromkeys(text for text in self.remaining if type(text) is str)
            scans.scan(remaining)
            for entity in chain.from_iterable(scans.found[text] for text in remaining if text in scans.found):
                needed.discard(entity.value)
            for cut in cuts:
                kept, removed = cut.split(scans.entities(cut.text))
                for entity in (*kept, *(entity for entity in removed if entity.type in cut.always)):
                    needed.discard(entity.value)

    def _mention(self, cut: Cut, wider: Cut) -> None:
        """Mention needed entities in the markers of a cut text, and mark them as found.

        Texts that were cut come before removed items and keys in any part of the return, because a mention is shorter.
        """
        types = self.rule.preserved[cut.step]
        entities = self.work.scans.entities(cut.text) if cut.always or (types and self.needed) else ()
        _, removed = wider.split(entities)
        taken = self._take(removed, types)
        values = dict.fromkeys(e.value for e in removed if e.type in cut.always or e.value in taken)
        if values or wider is not cut:
            cut.restored = wider.pieces_with_mentions(entities, values)
            self.result.nodes.append(cut)
        self.taken.update(values)

    def _take(self, entities: Iterable[Entity], types: Types) -> dict[str, None]:
        """Mark the needed entities of `types` as found. Return them, except those that exceed a bound.

        An entity counts for each bound that includes its type. Bounds allow the entities that are found first, and the
        plan of a value may differ between a live and a stored history: so they count while a return is restored, which
        is in document order whatever the plan.
        """
        taken: dict[str, None] = {}
        for entity in entities:
            if entity.type not in types or entity.value not in self.needed:
                continue
            self.needed.discard(entity.value)
            bounds = [bound for bound in self.room if entity.type in bound]
            if any(self.room[bound] == 0 for bound in bounds):
                self.lost.append(entity.value)
                continue
            self.room.update((bound, self.room[bound] - 1) for bound in bounds)
            taken[entity.value] = None
        self.taken.update(taken)
        return taken

    def _restore(self, removal: _Removal) -> None:
        """Restore the needed parts of what a list or object lost. Collect them for the marker of a list of texts."""
        value, node, types = removal.value, removal.node, removal.types
        inside, plans = node.inside, dict[Any, Any]()
        for key in removal.keys:
            # In order, because the keys of a removal depend on what was opened.
            if not (removal.is_marked and is_text(value[key], inside.get(key))):
                plans.update(self._plans(value, inside, [(key, types)]))
            elif any(popped := self._pop_needed(value[key], types)):
                plans[key] = popped
        if plans:
            node.restored = {**(node.restored or {}), **plans}
            self.result.nodes.append(node)

    def _plans(
        self, value: Any, inside: dict[Any, Node | None], rows: Iterable[tuple[Any, Types]]
    ) -> dict[Any, Node | None]:
        """Return plans that keep only the needed parts of children, given as keys with the preserved types."""
        plans: Plans = {}
        for key, types in rows:
            if not (self.missing or self.needed):
                break
            item = value[key]
            if type(value) is dict and (self.missing or key in self.texts) and any(self._pop_needed(key, types)):
                plans[key] = _plan_for_key(item)
            if key in inside or type(item) not in LEAVES or self.missing or item in self.texts:
                plan = self._plan(item, inside.get(key), types)
                if plan is not _NOTHING:
                    plans[key] = plan
        return plans

    def _plan(self, value: Any, node: Node | None, types: Types) -> Any:
        """Return a plan that keeps only the needed parts of a removed value, None for all of it, or `_NOTHING`."""
        if node is None and self._has_nothing(value):
            return _NOTHING
        if type(node) is Emptied:
            return self._plan(value, node.before, self._preserved(node.step, types))
        if _is_leaf(value, node):
            values, referenced = self._pop_needed(value, types)
            if not values and not referenced:
                return _NOTHING
            return self._plan_for_text(value, values, referenced) if type(value) is str else None
        if node is None and has_structure(value):
            node = open_live(value)
        if type(node) is Opened:
            plan = self._plan(node.value, node.inside.get(0), types)
            if plan is _NOTHING:
                return plan
            if type(plan) is Omission and (kept := plan.kept()) is not None and len(kept) < node.least:
                plan.keep(at_least(node.least, kept, len(node.value)), 0)
            return replace(node, inside={} if plan is None else {0: plan})
        node = node if type(node) is Omission else Omission()
        removed = node.removed(value)
        keys = value if type(value) is dict else range(len(value))
        rows = ((key, self._preserved(removed[key], types) if key in removed else types) for key in keys)
        inside = node.separate(value)
        plans = self._plans(value, inside, rows)
        if plans and type(value) is dict:
            read = value.keys() - removed if "*" in self.reads else self.reads & (value.keys() - removed)
            whole = {key for key in read if build(value[key], inside.get(key)) is value[key]}
            plans.update((key, inside.get(key)) for key in read if key in whole or key not in plans)
        return self._thin(value, plans)

    def _has_nothing(self, value: Any) -> bool:
        """Return whether a list or an object without further levels contains no needed value. This runs at C speed."""
        if self.missing or type(value) not in (dict, list):
            return False
        items = value.values() if type(value) is dict else value
        if not (LEAVES.issuperset(map(type, items)) and self.texts.isdisjoint(items)):
            return False
        return type(value) is list or (TEXT.issuperset(map(type, value)) and self.texts.isdisjoint(value))

    def _thin(self, value: Any, plans: Plans) -> Any:
        """Return the plan of a list or an object that keeps only children with plans, None for all, or `_NOTHING`."""
        if not plans:
            return _NOTHING
        inside: Plans = {key: plan for key, plan in plans.items() if plan is not None}
        if not inside and len(plans) == len(value):
            return None
        items = value.items() if type(value) is dict else enumerate(value)
        others = [(key, item) for key, item in items if key not in plans]
        if type(value) is dict and self.rule.all_keys:
            inside.update((key, Emptied(0, empty)) for key, item in others if (empty := empty_of(item)) is not None)
            return Omission(inside=inside)
        kept = dict.fromkeys([*plans, *(key for key, item in others if type(item) not in LEAVES and is_media(item))])
        return Omission((Version(0, kept if type(value) is dict else sorted(kept)),), inside)

    def _pop_needed(self, leaf: Any, types: Types) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the needed entities and referenced values in a key or leaf, and mark them as found."""
        text = leaf.source if type(leaf) is Atom else leaf
        values: tuple[str, ...] = ()
        if type(text) is str and text in self.texts:
            found = self.work.scans.found[text]
            values = tuple(self._take(found, types))
            if not any(entity.value in self.needed for entity in found):
                self.texts.discard(text)
        if not self.missing:
            return values, _NONE
        referenced = self.work.references.values_in(leaf) & self.missing
        self.missing -= referenced
        return values, referenced

    def _plan_for_text(self, text: str, values: tuple[str, ...], referenced: frozenset[str]) -> Cut | None:
        """Return a plan that keeps only excerpts of a removed text and a marker, or None to keep all of it."""
        if referenced:
            removed = Cut(text, (), markers.read_all(text, 0, self.work.scans.is_entity))
            wider = self.work.references.widened(removed, referenced, self.work.scans.any_entities)
            entities = self.work.scans.entities(text) if values else ()
            return Cut(text, (), restored=wider.pieces_with_mentions(entities, values))
        marker = markers.written(len(text), "characters", values)
        if len(marker) >= len(text) or markers.read_alone(text, self.work.scans.is_entity):
            return None
        return Cut(text, (), restored=(marker,))

    def _write_marker(self, value: list[Any], node: Omission, are_texts: bool) -> None:
        """Append a marker that counts the removed items of a list and, for texts, mentions their needed entities.

        Otherwise only long texts, steps that ask for a marker and a root without items have one. If it is longer than
        the removed items, entities are restored, and the marker of a root only counts.
        """
        steps, earlier = node.removed(value), node.earlier
        found: dict[int, Any] = node.restored or {}
        if are_texts and not all(type(each) is tuple for each in found.values()):
            are_texts = False  # with a restored object, this is no longer a list of texts
            texts = {i: self._plan_for_text(value[i], *each) for i, each in found.items() if type(each) is tuple}
            found.update(texts)
        restored = {i for i, plan in found.items() if not are_texts or plan[1]}
        removed = [i for i, step in steps.items() if step and i not in restored]
        mentions = dict.fromkeys(earlier.mentions if earlier else ())
        mentions.update((entity, None) for i in found if i not in restored for entity in found[i][0])
        kept = [text_of(build(value[i], node.inside.get(i))) for i in range(len(value)) if are_texts and i not in steps]
        is_empty = node is self.work.top.inside.get(0) and len(removed) == len(value)
        if is_empty and not found:
            first = next(i for i, step in steps.items() if step == node.versions[-1].step)
            if chars([build(value[first], node.inside.get(first), seen=True)], _MARKER) <= _MARKER:
                node.restored = {first: node.inside.get(first)}
                return
        are_long = sum(map(len, kept)) > _LONG * len(kept)
        marks = self._marks(node, steps)
        before, marker = value[-1] if earlier else "", ""
        if earlier or mentions or (removed and (marks or is_empty or are_long)):
            tallies = self._tallies(value, node, [(i, steps[i]) for i in removed], marks)
            count = len(removed) + (earlier.count if earlier else 0)
            marker = markers.written(count, "items", tuple(mentions), tallies)
        may_be_long = marker and not (are_texts and earlier)
        more = chars([marker]) - (chars([before]) if before else 1)  # a marker also has quotes and a comma
        if may_be_long and more > sum(chars([value[i]]) - 2 for i in removed):
            restored |= {i for i in found if not are_texts or found[i][0]}
            marker = markers.written(len(removed), "items") if is_empty and not restored else before
        node.marker = before if marker == before else marker  # an unchanged list stays the same object
        if are_texts:
            node.restored = dict.fromkeys(restored)

    def _marks(self, node: Omission, removed: dict[Any, int]) -> list[Mark]:
        """Return what the marker of a list counts: the marks of the steps that removed items, now and earlier."""
        marks = self.rule.marks
        labels = {label for (label, _), _ in node.earlier.tallies} if node.earlier else set[str]()
        return [
            mark
            for number, mark in enumerate(marks)
            if mark and (number in removed.values() or (isinstance(mark, Expression) and mark.text in labels))
        ]

    def _tallies(
        self, value: list[Any], node: Omission, removed: Iterable[tuple[int, int]], marks: Iterable[Mark]
    ) -> Counter[markers.Tally]:
        """Count the removed items, given with their steps, by the values of expressions, and add the earlier counts."""
        tallies = Counter(dict(node.earlier.tallies) if node.earlier else {})
        expressions = {mark.text: mark for mark in marks if isinstance(mark, Expression)}
        for index, step in removed if expressions else ():
            item = build(value[index], node.inside.get(index), step - 1, seen=True)
            for label, expression in expressions.items():
                counted = markers.countable(expression.evaluate(item))
                tallies.update([(label, counted)] if counted else ())
        return tallies


def _is_leaf(value: Any, node: Node | None) -> bool:
    """Return whether a value is a scalar, an atom, a media item or a text that was not opened."""
    kind, is_closed = type(value), node is None or type(node) is Cut
    return is_closed and (kind in LEAVES or kind is Atom or (kind is not list and is_media(value)))


def _read(values: Iterable[Any], texts: list[Any], depth: int, leaves: bool) -> None:
    """Add all keys and texts in some values to `texts`, and with `leaves` also numbers and media, level by level.

    Raises `Unreducible` beyond `depth` levels.
    """
    level = [*values]
    while level:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        texts += [item for item in level if type(item) is str]
        if leaves:
            texts += [item for item in level if type(item) is int or type(item) is float]
        are_leaves, below = LEAVES.issuperset(map(type, level)), list[Any]()
        for item in () if are_leaves else [item for item in level if type(item) not in LEAVES]:
            if type(item) is list:
                below += item
            elif type(item) is Atom:
                texts.append(item.source)
            elif (type(item) is not dict or "kind" in item) and is_media(item):
                texts += [item] if leaves else []
            elif type(item) is dict and TEXT.issuperset(map(type, item)):
                texts += item
                below += item.values()
            else:
                below.append(open_live(item).value)
        level, depth = below, depth - 1


def _plan_for_key(item: Any) -> Any:
    """Return a plan that empties a value of which only the key is restored, or None for a short text or a number.

    A short text stays because `compact` would remove a key with an empty value.
    """
    empty = empty_of(item)
    is_short = type(empty) is str and len(text_of(item)) <= _SHORT
    return None if empty is None or is_short else Emptied(0, empty)
