"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. One walk gathers the texts and keys that remain and those that were removed. A
value that must not vanish and does not remain is restored at the first place in document order that contains it, with
only the keys that lead there: a thin item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any, NamedTuple

from reducer import markers
from reducer.engine.cuts import Cut
from reducer.engine.place import Work
from reducer.engine.plan import (
    Emptied,
    Node,
    Omission,
    Opened,
    at_least,
    build,
    empty_of,
    has_structure,
    holds_texts,
    open_live,
    text_of,
)
from reducer.formats import Atom
from reducer.values import MAX_DEPTH, Unreducible, chars, is_media

Types = frozenset[str]

_LONG = 200
"""If the kept texts of a list are longer on average, a marker counts the removed ones. In characters."""
_SHORT = len(markers.written(1, "characters", ("",)))
"""Characters of a marker without its mentions: a text that is not longer is restored as a whole."""
_SCALARS = frozenset({int, float, bool, type(None)})
_LEAVES = _SCALARS | {str}
_TEXT = frozenset({str})
_NONE: Types = frozenset()


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


def restore(work: Work) -> Restored:
    """Restore everything in a return that its rule preserves or later messages reference."""
    if not work.marked and not (work.edits and (any(work.rule.preserved) or work.references.values)):
        return Restored()
    gathered = _Gathered(work)
    gathered.add(_Part([work.top.value], work.top, work.top.inside), [(0, None)], MAX_DEPTH + 1)
    return _Restoration(work, gathered).run()


# --- what remains and what was removed


@dataclass(slots=True, eq=False)
class _Part:
    """A list or object with the plans of its children. An opened or emptied value is child 0 of its own part."""

    value: Any
    node: Node | None
    inside: dict[Any, Node]
    parent: _Part | None = None
    """The part that contains this one, or None if this list or object remains."""
    key: Any = None
    is_marked: bool = False
    """This is a list of texts that lost items in this pass or an earlier one; a marker mentions their entities."""
    restored: dict[Any, Any] = field(default_factory=dict)
    """The plan of each restored child, or its part if only something in it is restored."""

    def restore(self, key: Any, plan: Any) -> None:
        """Restore a child with this plan, and everything that leads to it."""
        part: _Part | None = self
        while part is not None and part.restored.get(key, part) is not plan:
            part.restored[key] = plan
            plan, key, part = part, part.key, part.parent


class _Removal(NamedTuple):
    """Consecutive removed children of a part for which the same types are preserved, with all texts in them."""

    part: _Part
    types: Types
    keys: list[Any]
    texts: list[str]


@dataclass(slots=True, eq=False)
class _Gathered:
    """The remaining and the removed values of a return, in document order."""

    work: Work
    remaining: list[Any] = field(default_factory=list)
    """The remaining texts and keys, and if values are referenced also numbers and media."""
    removals: list[_Removal] = field(default_factory=list)
    parts: list[tuple[_Part, Omission]] = field(default_factory=list)
    """The remaining lists and objects that lost children."""
    cuts: list[Cut] = field(default_factory=list)
    """The plans of the remaining texts that were cut."""

    def add(self, part: _Part, children: Iterable[tuple[Any, Types | None]], depth: int) -> None:
        """Add children of a part, given as keys with the types that are preserved in them, or with None if they remain.

        Raises `Unreducible` beyond `depth` levels.
        """
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        value, inside, leaves = part.value, part.inside, bool(self.work.references.values)
        reads_remaining = leaves or any(self.work.rule.preserved)
        # A child with a plan is a group of its own.
        for (types, planned), group in groupby(children, lambda row: (row[1], row[0] if row[0] in inside else None)):
            if types is not None and not types and not leaves:
                continue
            keys, texts = [key for key, _ in group], self.remaining
            if types is not None:
                texts = []
                self.removals.append(_Removal(part, types, keys, texts))
            if type(value) is dict and (planned is not None or types is not None or reads_remaining):
                texts += keys
            if planned is not None:
                self._enter(part, planned, types, depth)
            elif types is not None or reads_remaining:
                _add_texts([value[key] for key in keys], texts, depth, leaves and types is None)

    def _enter(self, parent: _Part, key: Any, types: Types | None, depth: int) -> None:
        """Add a child that has a plan."""
        value, node = parent.value[key], parent.inside[key]
        if type(node) is Cut and types is None:
            self.cuts.append(node)
        elif type(node) is Cut:
            self.removals[-1].texts.append(value)
        elif type(node) is Emptied:
            preserved = self.work.rule.preserved[node.step]
            before = {} if node.before is None else {0: node.before}
            part = _Part([value], node, before, parent=parent, key=key)
            self.add(part, [(0, preserved if types is None else types & preserved)], depth)
        elif type(node) is Opened:
            unchanged = types is None and build(value, node) is value
            part = _Part([node.value], node, {} if unchanged else node.inside, parent=parent, key=key)
            self.add(part, [(0, types)], depth - 1)
        elif type(node) is Omission:
            part = _Part(value, node, node.inside, parent=parent, key=key)
            rows = _kept_and_removed(value, node, self.work.rule.preserved)
            if types is not None:
                rows = [(key, types if earlier is None else types & earlier) for key, earlier in rows]
            else:
                part.parent = None
                self.parts.append((part, node))
                if node.earlier is not None or (node.kept is not None and holds_texts(value, node)):
                    kept = {key for key, removed in rows if removed is None}
                    part.is_marked = True
                    part.value = [*map(text_of, value)]
                    part.inside = {key: inner for key, inner in node.inside.items() if key in kept}
            self.add(part, rows, depth - 1)


def _is_leaf(value: Any, node: Node | None) -> bool:
    """Return whether a value is a scalar, an atom, a media item or a text that was not opened."""
    if node is not None and type(node) is not Cut:
        return False
    kind = type(value)
    return kind is str or kind in _SCALARS or kind is Atom or (kind is not list and is_media(value))


def _add_texts(value: Any, texts: list[Any], depth: int, leaves: bool) -> None:
    """Add all keys and texts in a value to `texts`, and with `leaves` also numbers and media.

    Media are not entered. Raises `Unreducible` beyond `depth` levels.
    """
    kind = type(value)
    if kind is not list and (kind is not dict or "kind" in value) and _is_leaf(value, None):
        if kind is str or (leaves and value is not None and kind is not bool):
            texts.append(value)
        elif kind is Atom:
            texts.append(value.source)
        return
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    if kind is not list and has_structure(value):
        _add_texts(open_live(value).value, texts, depth - 1, leaves)
        return
    items = value
    if kind is dict:
        texts += value
        items = value.values()
    elif len(value) > 1 and set(map(type, value)) == {dict}:
        # Most items are records; reading all of them together runs at C speed.
        keys, values = dict.fromkeys(chain.from_iterable(value)), [*chain.from_iterable(map(dict.values, value))]
        if "kind" not in keys and _TEXT.issuperset(map(type, keys)):
            texts += keys
            items = values
            depth -= 1
    if not leaves and _LEAVES.issuperset(map(type, items)):
        texts += [item for item in dict.fromkeys(items) if type(item) is str]
        return
    for item in items:
        if type(item) is str:
            texts.append(item)
        elif leaves or type(item) not in _SCALARS:
            _add_texts(item, texts, depth - 1, leaves)


def _kept_and_removed(value: Any, node: Omission, preserved: Sequence[Types]) -> list[tuple[Any, Types | None]]:
    """Return each key or index, in order, with the types that its removal preserves, or with None if it is kept."""
    keys: Iterable[Any] = value if type(value) is dict else range(len(value) - (node.earlier is not None))
    removed: dict[Any, Types] = {}
    for step, kept in reversed(node.versions):
        removed |= dict.fromkeys(set(keys).difference(kept), preserved[step])
    return [(key, removed.get(key)) for key in keys]


# --- the overlay


@dataclass(slots=True, eq=False)
class _Restoration:
    """Adds the overlay to a plan. A value is needed until the first place that contains it is restored."""

    work: Work
    gathered: _Gathered
    result: Restored = field(default_factory=Restored)
    missing: set[str] = field(default_factory=set)
    """The needed referenced values."""
    needed: dict[str, str] = field(default_factory=dict)
    """The needed preserved entities, each with its type."""
    texts: set[str] = field(default_factory=set)
    """The texts that contain a needed entity."""

    def run(self) -> Restored:
        """Restore all needed values."""
        result, gathered = self.result, self.gathered
        result.referenced = self.work.references.missing(gathered.remaining, gathered.cuts)
        self.missing = set(result.referenced)
        widened = [self._widened(cut) for cut in gathered.cuts]
        if any(self.work.rule.preserved):
            self._find_needed(widened)
            result.lost = tuple(_over_bounds(self.work.rule.bounds, self.needed)) if self.work.rule.bounds else ()
            for value in result.lost:
                del self.needed[value]
        preserved = set(self.needed)
        for cut, wider in zip(gathered.cuts, widened, strict=True):
            preserved.update(self._mention(cut, wider))
        result.preserved = len(preserved)
        if self.needed:
            found, needed = self.work.scans.found.items(), self.needed
            self.texts = {text for text, entities in found for entity in entities if entity.value in needed}
        for removal in gathered.removals:
            if self.missing or not self.texts.isdisjoint(removal.texts):
                self._restore(removal.part, removal.keys, removal.types)
        for part, node in gathered.parts:
            if part.is_marked:
                self._write_marker(part, node)
            elif part.restored:
                node.restored = {key: self._plan(child) for key, child in part.restored.items()}
            if node.marker or node.restored:
                result.nodes.append(node)
        return result

    def _widened(self, cut: Cut) -> Cut:
        """Return a cut that also keeps the sentences around the missing values in its text, and mark them as found."""
        references = self.work.references
        values = references.values_in(cut.text) & self.missing if self.missing else _NONE
        self.missing -= values
        return references.widened(cut, values, self.work.rule.vocabulary.everything) if values else cut

    def _find_needed(self, cuts: list[Cut]) -> None:
        """Find the removed entities that are preserved and do not remain, in document order."""
        scans, gathered, preserved, needed = self.work.scans, self.gathered, self.work.rule.preserved, self.needed
        scans.scan(
            chain((cut.text for cut in cuts if preserved[cut.step]), *(each.texts for each in gathered.removals))
        )
        for removal in gathered.removals:
            for text in filter(scans.found.__contains__, dict.fromkeys(removal.texts)):
                for entity in scans.found[text]:
                    if entity.type in removal.types:
                        needed.setdefault(entity.value, entity.type)
        for cut in cuts:
            types = preserved[cut.step]
            _, removed = cut.split(scans.entities(cut.text) if types else ())
            needed.update((e.value, e.type) for e in removed if e.type in types and e.value not in needed)
        if needed:
            remaining = dict.fromkeys(text for text in gathered.remaining if type(text) is str)
            scans.scan(remaining)
            for entity in chain.from_iterable(scans.found[text] for text in remaining if text in scans.found):
                needed.pop(entity.value, None)
            for cut in cuts:
                kept, removed = cut.split(scans.entities(cut.text))
                for entity in (*kept, *(entity for entity in removed if entity.type in cut.always)):
                    needed.pop(entity.value, None)

    def _mention(self, cut: Cut, wider: Cut) -> Iterable[str]:
        """Mention needed entities in the markers of a cut text, mark them as found, and return them.

        Texts that were cut come before removed items and keys in any part of the return, because a mention is shorter.
        """
        types, needed = self.work.rule.preserved[cut.step], self.needed
        entities = self.work.scans.entities(cut.text) if cut.always or (types and needed) else ()
        _, removed = wider.split(entities)
        values = dict.fromkeys(
            e.value for e in removed if e.type in cut.always or (e.type in types and e.value in needed)
        )
        if values or wider is not cut:
            cut.restored = wider.write_with_mentions(entities, values)
            self.result.nodes.append(cut)
        for value in values:
            needed.pop(value, None)
        return values

    def _restore(self, part: _Part, keys: Iterable[Any], types: Types) -> None:
        """Restore the removed children of a part that contain needed values."""
        value, inside, texts, missing = part.value, part.inside, self.texts, self.missing
        for key in keys:
            item = value[key]
            may_be_named = missing or key in texts
            if not may_be_named and not (item in texts if type(item) in _LEAVES else _may_contain(item, texts)):
                continue
            if type(value) is dict and may_be_named and any(self._pop_needed(key, types)):
                part.restore(key, _plan_for_key(item))
            node = inside.get(key)
            if _is_leaf(item, node):
                values, referenced = self._pop_needed(item, types)
                if part.is_marked:
                    part.restored[key] = values, referenced
                elif values or referenced:
                    part.restore(key, self._plan_for_text(item, values, referenced) if type(item) is str else None)
            elif node is None and has_structure(item):
                opened = open_live(item)
                self._restore(_Part([opened.value], opened, opened.inside, parent=part, key=key), (0,), types)
            elif node is None:
                below = item if type(item) is dict else range(len(item))
                self._restore(_Part(item, None, {}, parent=part, key=key), below, types)

    def _pop_needed(self, leaf: Any, types: Types) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the needed entities and referenced values in a key or leaf, and mark them as found."""
        text = leaf.source if type(leaf) is Atom else leaf
        values: tuple[str, ...] = ()
        if type(text) is str and text in self.texts:
            found, needed = self.work.scans.found[text], self.needed
            values = tuple(dict.fromkeys([e.value for e in found if e.type in types and e.value in needed]))
            for value in values:
                del needed[value]
            if not [e for e in found if e.value in needed]:
                self.texts.discard(text)
        if not self.missing:
            return values, _NONE
        referenced = self.work.references.values_in(leaf) & self.missing
        self.missing -= referenced
        return values, referenced

    def _plan_for_text(self, text: str, values: tuple[str, ...], referenced: frozenset[str]) -> Cut | None:
        """Return a plan that keeps only excerpts of a removed text and a marker, or None to keep all of it."""
        if len(text) <= _SHORT or (not referenced and len(text) <= _SHORT + sum(map(len, values))):
            return None
        if referenced:
            removed = Cut(text, (), markers.read_all(text, 0, self.work.scans.is_entity))
            wider = self.work.references.widened(removed, referenced, self.work.rule.vocabulary.everything)
            written = wider.write_with_mentions(self.work.scans.entities(text) if values else (), values)
        else:
            written = markers.written(len(text), "characters", values)
            if len(written) >= len(text) or markers.read_alone(text, self.work.scans.is_entity):
                return None
        return Cut(text, (), restored=written)

    def _plan(self, part: Any) -> Any:
        """Return a plan that keeps only the needed parts of a removed value, or None to keep all of it."""
        if type(part) is not _Part:
            return part
        value, node = part.value, part.node
        plans = {key: self._plan(child) for key, child in part.restored.items()}
        if type(node) is Emptied:
            return plans[0]
        inside = {key: plan for key, plan in plans.items() if plan is not None}
        if type(node) is Opened:
            plan = plans[0]
            if type(plan) is Omission and plan.kept is not None and len(plan.kept) < node.least:
                plan.kept = at_least(node.least, plan.kept, len(node.value))
            return replace(node, inside=inside)
        if not inside and len(plans) == len(value):
            return None
        items = value.items() if type(value) is dict else enumerate(value)
        others = [(key, item) for key, item in items if key not in plans]
        if type(value) is dict and self.work.rule.all_keys:
            empty = {key: Emptied(0, plain) for key, item in others if (plain := empty_of(item)) is not None}
            return Omission(inside=inside | empty)
        kept = plans.keys() | {key for key, item in others if type(item) not in _LEAVES and is_media(item)}
        return Omission(kept if type(value) is dict else sorted(kept), inside=inside)

    def _write_marker(self, part: _Part, node: Omission) -> None:
        """Append a marker that mentions the needed entities of a list of texts, or restore them if it is longer."""
        texts, found, earlier = part.value, part.restored, node.earlier
        rows = _kept_and_removed(texts, node, self.work.rule.preserved)
        kept = [text_of(build(texts[i], node.inside.get(i))) for i, types in rows if types is None]
        restored = {i for i, (_, referenced) in found.items() if referenced}
        removed = [i for i, types in rows if types is not None and i not in restored]
        mentions = dict.fromkeys(earlier.mentions if earlier else ())
        mentions.update((value, None) for i, (values, _) in found.items() if i not in restored for value in values)
        count = len(removed) + (earlier.count if earlier else 0)
        is_marked = earlier or mentions or (count and sum(map(len, kept)) > _LONG * len(kept))
        marker = markers.written(count, "items", tuple(mentions)) if is_marked else ""
        if is_marked and earlier is None and len(marker) > sum(chars(texts[i]) + 2 for i in removed):
            marker, restored = "", restored | {i for i, (values, _) in found.items() if values}
        node.marker = texts[-1] if marker == texts[-1] else marker  # an unchanged list stays the same object
        node.restored = dict.fromkeys(restored)


def _may_contain(value: Any, texts: set[str]) -> bool:
    """Return whether a list or object contains one of some keys or texts. Return true for a value of any other type."""
    items = value
    if type(value) is dict and texts.isdisjoint(value):
        items = value.values()
    elif type(value) is not list:
        return True
    if _LEAVES.issuperset(map(type, items)):
        return not texts.isdisjoint(items)
    return any(item in texts if type(item) in _LEAVES else _may_contain(item, texts) for item in items)


def _plan_for_key(item: Any) -> Any:
    """Return a plan that empties a value of which only the key is restored, or None for a short text or a number.

    A short text stays because `compact` would remove a key with an empty value.
    """
    empty = empty_of(item)
    is_short = type(empty) is str and len(text_of(item)) <= _SHORT
    return None if empty is None or is_short else Emptied(0, empty)


def _over_bounds(bounds: Iterable[tuple[Types, int]], needed: dict[str, str]) -> Iterator[str]:
    """Yield the needed values that exceed a bound, in order. A value counts for each bound that includes its type."""
    room = dict(bounds)
    for value, kind in needed.items():
        matching = [types for types in room if kind in types]
        if any(room[types] == 0 for types in matching):
            yield value
        else:
            room.update((types, room[types] - 1) for types in matching)
