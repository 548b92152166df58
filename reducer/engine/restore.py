"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. One walk gathers the texts and keys that were removed and those that remain. Every
value that must not vanish and is not in what remains is restored at the first place in document order that contains
it, with the keys that lead there: a thin item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from reducer import markers
from reducer.engine.cuts import Cut, with_mentions
from reducer.engine.gather import Gathered, Removal, gather, kept_and_removed
from reducer.engine.plan import (
    WHOLE,
    Emptied,
    Node,
    Omission,
    Opened,
    build,
    empty_of,
    has_structure,
    open_live,
    text_of,
)
from reducer.engine.references import References, excerpt, widened
from reducer.engine.scans import Scans
from reducer.formats import Atom
from reducer.rules import Rule
from reducer.values import MAX_DEPTH, Unreducible, chars, is_media

_LONG = 200
"""Average characters of the texts that a list kept, above which a marker counts the removed ones."""
_SHORT = len(str(markers.Marker(1, "characters", ("",))))
"""Characters of a marker without what it mentions: a text that is no longer stays as it is."""
_SCALARS = frozenset({int, float, bool, type(None)})
_LEAVES = _SCALARS | {str}
_NONE: frozenset[str] = frozenset()
_ABSENT: Any = object()


@dataclass(slots=True)
class Restored:
    """What an overlay did: the entities beyond their bound, how many are restored or mentioned, the values referenced.

    `nodes` are the plans that it changed.
    """

    lost: tuple[str, ...] = ()
    preserved: int = 0
    referenced: frozenset[str] = _NONE
    nodes: list[Omission | Emptied | Cut] = field(default_factory=list)

    def undo(self) -> None:
        """Take the overlay off the plan."""
        for node in self.nodes:
            node.restored = None
            if type(node) is Omission:
                node.marker = ""


def restore(top: Opened, rule: Rule, scans: Scans, references: References | None) -> Restored:
    """Restore in the plan of a return what a rule preserves and what later messages reference."""
    gathered = gather(top, rule, references is not None)
    done = Restored()
    lost = set[str]()
    if references is not None:
        done.referenced = references.missing(gathered.left, gathered.cuts)
        lost = set(done.referenced)
        _widen(gathered.cuts, lost, references, rule, done)
    needed = _needed(gathered, rule, scans)
    if rule.bounds and needed:
        done.lost = tuple(_beyond(rule.bounds, needed))
        for value in done.lost:
            del needed[value]
    mentioned = _mention(gathered.cuts, needed, rule, scans, done)
    done.preserved = len(needed.keys() | mentioned)
    overlay = _Overlay(gathered, needed, lost, rule, scans, references, done)
    for removal in gathered.removals:
        overlay.restore(removal)
    return done


# --- what is needed


def _widen(cuts: list[Cut], lost: set[str], references: References, rule: Rule, done: Restored) -> None:
    """Keep in cut texts the sentences around values in `lost`, each in the first text that contains it."""
    for number, cut in enumerate(cuts):
        values = references.held(cut.text) & lost
        if values:
            cuts[number] = wider = widened(cut, values, references, rule.vocabulary.everything)
            wider.original = cut
            lost -= values


def _needed(gathered: Gathered, rule: Rule, scans: Scans) -> dict[str, str]:
    """Return the preserved entities that do not remain, each value with its type, in document order."""
    if not any(rule.preserved):
        return {}
    needed = dict[str, str]()
    spans = [span for removal in gathered.removals for span in removal.spans]
    cuts = (cut.text for cut in gathered.cuts if _wanted(cut, rule))
    found = scans.entities_in(chain(cuts, *(texts for _, texts in spans)))
    for types, texts in spans:
        for text in dict.fromkeys(texts):
            for entity in found.get(text, ()):
                if entity.type in types:
                    needed.setdefault(entity.value, entity.type)
    for cut in gathered.cuts:
        policy = rule.preserved[cut.step]
        for entity in cut.away(found.get(cut.text, ())):
            if entity.type in policy:
                needed.setdefault(entity.value, entity.type)
    if needed:
        left = [text for text in gathered.left if type(text) is str]
        shown = [e for entities in scans.entities_in(left).values() for e in entities]
        for cut in gathered.cuts:
            shown += cut.shown(scans.entities(cut.text))
        for entity in shown:
            needed.pop(entity.value, None)
    return needed


def _wanted(cut: Cut, rule: Rule) -> bool:
    return bool(rule.preserved[cut.step] or cut.always)


def _beyond(bounds: Iterable[tuple[frozenset[str], int]], needed: dict[str, str]) -> Iterator[str]:
    """Yield the needed values that no bound has room for, in order; a value counts for every bound on its type."""
    room = [[types, most] for types, most in bounds]
    for value, kind in needed.items():
        own = [entry for entry in room if kind in entry[0]]  # type: ignore[operator]
        if any(entry[1] == 0 for entry in own):
            yield value
        else:
            for entry in own:
                entry[1] -= 1  # type: ignore[operator]


def _mention(cuts: list[Cut], needed: dict[str, str], rule: Rule, scans: Scans, done: Restored) -> set[str]:
    """Mention needed values in the markers of the texts that were cut; return those that are.

    They come before items and keys, wherever those are: a mention is shorter.
    """
    mentioned = set[str]()
    for cut in cuts:
        original = cut.original or cut
        policy = rule.preserved[cut.step]
        found = scans.entities(cut.text) if _wanted(cut, rule) and (needed or cut.always) else ()
        values = dict.fromkeys(
            e.value for e in cut.away(found) if e.type in cut.always or (e.type in policy and e.value in needed)
        )
        if values or original is not cut:
            original.restored = with_mentions(cut, found, values)
            done.nodes.append(original)
        mentioned.update(values)
        for value in values:
            needed.pop(value, None)
    return mentioned


# --- the overlay


class _Overlay:
    """Lays over the plan what leads to needed values; each is needed until the first place that contains it."""

    __slots__ = ("_bearing", "_done", "_entities", "_lost", "_needed", "_references", "_rule", "_scans")

    def __init__(
        self,
        gathered: Gathered,
        needed: dict[str, str],
        lost: set[str],
        rule: Rule,
        scans: Scans,
        references: References | None,
        done: Restored,
    ) -> None:
        self._needed = needed
        self._lost = lost
        self._rule = rule
        self._scans = scans
        self._references = references
        self._done = done
        self._entities = scans.bearing
        self._bearing = (
            {text for text, found in scans.bearing.items() if any(entity.value in needed for entity in found)}
            if needed
            else set()
        )

    def restore(self, removal: Removal) -> None:
        """Restore what a removed value contains of needed and lost values."""
        value, node, keys, types, spans, marked = removal
        if marked:
            self._text_items(value, node)  # type: ignore[arg-type]
        elif not self._lost and all(self._bearing.isdisjoint(texts) for _, texts in spans):
            return
        elif type(node) is Emptied:
            left = self._thin(value, node.before, types, MAX_DEPTH)
            if left is not _ABSENT:
                node.restored = WHOLE if left is None else left
                self._done.nodes.append(node)
        elif type(node) is Omission:
            for key in keys:
                left = self._child(value, key, node.inside.get(key), types, MAX_DEPTH)
                if left is not _ABSENT:
                    if node.restored is None:
                        node.restored = {}
                        self._done.nodes.append(node)
                    node.restored[key] = left

    def _named(self, key: Any, item: Any, node: Node | None, types: frozenset[str], depth: int) -> Any:
        """Return the plan of what stays of the value at a key: at least an empty value if the key itself is needed."""
        named = type(key) is str and (key in self._bearing or bool(self._lost)) and self._takes(key, types)
        left = self._thin(item, node, types, depth)
        if left is not _ABSENT or not named:
            return left
        # `compact` would remove a key with an empty value, so a short text stays.
        if type(item) is str and len(item) <= _SHORT:
            return None
        empty = empty_of(item)
        return None if empty is None else Emptied(0, empty, None)

    def _takes(self, key: str, types: frozenset[str]) -> bool:
        referenced = bool(self._referenced(key))
        return bool(self._claim(key, types)) or referenced

    def _thin(self, value: Any, node: Node | None, types: frozenset[str], depth: int) -> Any:
        """Return the plan that leaves of a removed value what leads to needed values; None leaves all of it."""
        kind = type(node)
        if kind is Opened:
            return self._thin_opened(node, types, depth - 1)  # type: ignore[arg-type]
        if kind is Emptied:
            return self._thin(value, node.before, types & self._rule.preserved[node.step], depth)  # type: ignore[union-attr]
        if type(value) is str:
            return self._text(value, types)
        if type(value) is Atom:
            claimed, referenced = self._claim(value.source, types), self._referenced(value)
            return None if claimed or referenced else _ABSENT
        if type(value) in _SCALARS or ((type(value) is not dict or "kind" in value) and is_media(value)):
            return None if self._referenced(value) else _ABSENT
        if type(value) is not list and has_structure(value):
            return self._thin_opened(open_live(value), types, depth - 1)
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        found = self._thin_children(value, node if type(node) is Omission else None, types, depth - 1)
        if not found:
            return _ABSENT
        if len(found) == len(value) and all(left is None for left in found.values()):
            return None
        return self._thin_container(value, found)

    def _thin_children(self, value: Any, node: Omission | None, types: frozenset[str], depth: int) -> dict[Any, Any]:
        if node is not None:
            return {
                key: left
                for key, earlier in kept_and_removed(value, node, self._rule.preserved)
                for both in (types if earlier is None else types & earlier,)
                for left in (self._child(value, key, node.inside.get(key), both, depth),)
                if left is not _ABSENT
            }
        bearing, found = self._bearing, {}
        is_object = type(value) is dict
        for key, item in value.items() if is_object else enumerate(value):
            empty = item not in bearing if type(item) is str else type(item) in _SCALARS
            if empty and not self._lost and not (is_object and key in bearing):
                continue
            left = self._child(value, key, None, types, depth)
            if left is not _ABSENT:
                found[key] = left
        return found

    def _child(self, value: Any, key: Any, node: Node | None, types: frozenset[str], depth: int) -> Any:
        if type(value) is dict:
            return self._named(key, value[key], node, types, depth)
        return self._thin(value[key], node, types, depth)

    def _thin_container(self, value: Any, found: dict[Any, Any]) -> Omission:
        thin = Omission()
        thin.inside = {key: left for key, left in found.items() if left is not None}
        if type(value) is dict and self._rule.all_keys:
            for key, item in value.items():
                empty = empty_of(item)
                if key not in found and empty is not None:
                    thin.inside[key] = Emptied(0, empty, None)
            return thin
        items = value.values() if type(value) is dict else value
        if not _LEAVES.issuperset(map(type, items)):
            media = (
                key for key, item in (value.items() if type(value) is dict else enumerate(value)) if is_media(item)
            )
            found.update(dict.fromkeys(key for key in media if key not in found))
        thin.kept = found.keys() if type(value) is dict else sorted(found)
        return thin

    def _thin_opened(self, opened: Opened, types: frozenset[str], depth: int) -> Any:
        left = self._thin(opened.value, opened.inside.get(0), types, depth)
        if left is _ABSENT:
            return _ABSENT
        thin = Opened(opened.value, opened.write, opened.is_json, opened.least)
        thin.unwrapped = opened.unwrapped
        if left is not None:
            thin.inside[0] = left
            if type(left) is Omission and left.kept is not None and len(left.kept) < opened.least:
                others = [index for index in range(len(opened.value)) if index not in left.kept]
                left.kept = sorted([*left.kept, *others[: opened.least - len(left.kept)]])
        return thin

    def _text(self, text: str, types: frozenset[str]) -> Any:
        """Return the plan of what is restored of a text: all of it, or a marker that mentions what it contains."""
        values = self._claim(text, types)
        referenced = self._referenced(text)
        if referenced:
            if len(text) <= _SHORT or self._references is None:
                return None
            return _text_plan(
                text, excerpt(text, referenced, values, self._references, self._scans, self._rule.vocabulary.everything)
            )
        if not values:
            return _ABSENT
        if len(text) <= _SHORT + sum(map(len, values)):
            return None
        marker = markers.written(len(text), "characters", values)
        if len(marker) >= len(text) or markers.read_alone(text, self._scans.reads):
            return None
        return _text_plan(text, marker)

    def _claim(self, text: str, types: frozenset[str]) -> tuple[str, ...]:
        """Return the needed values in a text, which are needed no more."""
        if text not in self._bearing:
            return ()
        found, needed = self._entities[text], self._needed
        values = tuple(dict.fromkeys(e.value for e in found if e.type in types and e.value in needed))
        for value in values:
            del needed[value]
        if not any(entity.value in needed for entity in found):
            self._bearing.discard(text)
        return values

    def _referenced(self, leaf: Any) -> frozenset[str]:
        """Return the lost values in a key, text, number or media item, which are lost no more."""
        if not self._lost or self._references is None or leaf is None or type(leaf) is bool:
            return _NONE
        found = self._references.held(leaf) & self._lost
        self._lost -= found
        return found

    def _text_items(self, value: list[Any], node: Omission) -> None:
        """Mention in one marker what removed texts of a list contain, or restore them if that is shorter."""
        earlier = node.earlier
        rows = [*kept_and_removed(value, node, self._rule.preserved)]
        gone = [(i, types) for i, types in rows if types is not None]
        kept = [text_of(build(value[i], node.inside.get(i))) for i, types in rows if types is None]
        found = {i: values for i, types in gone if (values := self._claim(text_of(value[i]), types))}
        stay = {i for i, _ in gone if self._referenced(text_of(value[i]))}
        mentions = dict.fromkeys(earlier.mentions if earlier else ())
        mentions.update(dict.fromkeys(each for i, values in found.items() if i not in stay for each in values))
        count = len(gone) - len(stay) + (earlier.count if earlier else 0)
        noted = earlier or mentions or (count and sum(map(len, kept)) > _LONG * len(kept))
        marker = str(markers.Marker(count, "items", tuple(mentions))) if noted else ""
        if noted and earlier is None and len(marker) > sum(chars(value[i]) + 2 for i, _ in gone if i not in stay):
            marker, stay = "", stay | found.keys()
        if marker or stay:
            node.marker = value[-1] if marker == value[-1] else marker
            node.restored = dict.fromkeys(stay)
            self._done.nodes.append(node)


def _text_plan(text: str, restored: str) -> Cut:
    return Cut(text, (), restored=restored)
