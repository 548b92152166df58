"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. One walk gathers the texts and keys that were removed and those that remain. Every
value that must not vanish and is not in what remains is restored at the first place in document order that contains
it, with the keys that lead there: a thin item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from reducer import markers
from reducer.engine.cuts import Cut
from reducer.engine.place import Work
from reducer.engine.plan import (
    WHOLE,
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
Texts = list[tuple[Types, list[str]]]
"""Texts and keys, with the types that are preserved in them."""

_LONG = 200
"""Average characters of the texts that a list kept, above which a marker counts the removed ones."""
_SHORT = len(markers.written(1, "characters", ("",)))
"""Characters of a marker without what it mentions: a text that is no longer stays as it is."""
_NUMBERS = frozenset({int, float})
_SCALARS = _NUMBERS | {bool, type(None)}
_LEAVES = _SCALARS | {str}
_TEXT = frozenset({str})
_NONE: Types = frozenset()
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


class Removal(NamedTuple):
    """Values that were removed from a list or an object, next to each other, or one that was emptied.

    `value` is the list or object, and `keys` are the removed indices or keys; or the emptied value without keys.
    `texts` has the texts and keys in the removed values, with the types that are preserved in them.
    """

    value: Any
    node: Omission | Emptied
    keys: Sequence[Any]
    types: Types
    texts: Texts


def restore(work: Work) -> Restored:
    """Restore in the plan of a return what its rule preserves and what later messages reference."""
    preserves = any(work.rule.preserved) or work.references is not None
    if not work.marked and not (work.edits and preserves):
        return Restored()
    gathered = _Gathered(work)
    gathered.add(work.top.value, work.top.inside.get(0), MAX_DEPTH)
    return _Restoration(work, gathered).run()


# --- what remains and what was removed


class _Gathered:
    """What remains of a return and what was removed, in document order.

    `left` has the texts and keys that remain, and if values are referenced also numbers and media.
    """

    __slots__ = ("_leaves", "_preserved", "_reads_left", "cuts", "left", "removals")

    def __init__(self, work: Work) -> None:
        self.left: list[Any] = []
        self.removals: list[Removal] = []
        self.cuts: list[Cut] = []
        self._preserved = work.rule.preserved
        self._leaves = work.references is not None
        self._reads_left = self._leaves or any(self._preserved)

    def add(self, value: Any, node: Node | None, depth: int) -> None:
        """Add a value that remains. Raises `Unreducible` for one that is too deep."""
        if node is None:
            if self._reads_left:
                _add_texts(value, self.left, depth, self._leaves)
        elif type(node) is Omission:
            self._add_container(value, node, depth)
        elif type(node) is Cut:
            self.cuts.append(node)
        elif type(node) is Opened:
            changed = build(value, node) is not value
            self.add(node.value, node.inside.get(0) if changed else None, depth - 1)
        elif type(node) is Emptied:
            types = self._preserved[node.step]
            removal = Removal(value, node, (), types, texts=[])
            self._add_removed((value, node.before), types, depth, removal.texts)
            self.removals.append(removal)

    def _add_container(self, value: Any, node: Omission, depth: int) -> None:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        rows = _kept_and_removed(value, node, self._preserved)
        if _is_marked(value, node):
            removal = Removal(value, node, (), _NONE, texts=[])
            self.removals.append(removal)
            for index, types in rows:
                if types is None:
                    self.add(value[index], node.inside.get(index), depth - 1)
                else:
                    _texts_of(removal.texts, types).append(text_of(value[index]))
            return
        for types, run in groupby(rows, itemgetter(1)):
            keys = [key for key, _ in run]
            if types is None:
                if type(value) is dict:
                    self.left += keys
                for key in keys:
                    self.add(value[key], node.inside.get(key), depth - 1)
            elif types or self._leaves:
                removal = Removal(value, node, keys, types, texts=[])
                self.removals.append(removal)
                plain = type(value) is list and node.inside.keys().isdisjoint(keys) and _texts_of_records(value, keys)
                if plain:
                    removal.texts.append((types, plain))
                else:
                    rows_of_keys = [(key, types) for key in keys]
                    self._add_children((value, node), rows_of_keys, depth - 1, removal.texts)

    def _add_children(self, container: Any, rows: Iterable[tuple[Any, Types]], depth: int, texts: Texts) -> None:
        """Add the texts of some children, each with the types that are preserved in it."""
        value, node = container
        for key, types in rows:
            if type(value) is dict and types:
                _texts_of(texts, types).append(key)
            self._add_removed((value[key], node.inside.get(key)), types, depth, texts)

    def _add_removed(self, removed: Any, types: Types, depth: int, texts: Texts) -> None:
        """Add the texts of a removed value: of what an earlier step removed in it those that both steps preserve."""
        value, node = removed
        if not types:
            return
        if type(node) is Opened:
            self._add_removed((node.value, node.inside.get(0)), types, depth - 1, texts)
        elif type(node) is Emptied:
            self._add_removed((value, node.before), types & self._preserved[node.step], depth, texts)
        elif type(node) is Omission and depth >= 0:
            rows = _kept_and_removed(value, node, self._preserved)
            both = [(key, types if earlier is None else types & earlier) for key, earlier in rows]
            self._add_children(removed, both, depth - 1, texts)
        else:
            _add_texts(value, _texts_of(texts, types), depth)


def _is_marked(value: Any, node: Omission) -> bool:
    """Return whether these are texts of which some were removed, now or in an earlier pass: they share a marker."""
    return node.earlier is not None or (node.kept is not None and holds_texts(value, node))


def _texts_of(texts: Texts, types: Types) -> list[str]:
    """Return the list to which texts with these preserved types are added."""
    if not texts or texts[-1][0] != types:
        texts.append((types, []))
    return texts[-1][1]


def _texts_of_records(items: list[Any], indices: Iterable[int]) -> list[str] | None:
    """Return each key and text of some items that are flat objects, once; None if others are among them.

    Records of a log, as such items mostly are, are read at C speed: in a ninth of the time.
    """
    records = [items[index] for index in indices]
    if set(map(type, records)) != {dict}:
        return None
    keys = dict.fromkeys(chain.from_iterable(records))
    try:
        values = dict.fromkeys(chain.from_iterable(map(dict.values, records)))
    except Exception:  # lists and objects have no hash; that of a live object may raise anything
        return None
    if "kind" in keys or not _TEXT.issuperset(map(type, keys)) or not _LEAVES.issuperset(map(type, values)):
        return None
    return [*keys, *(value for value in values if type(value) is str)]


def _add_texts(value: Any, texts: list[Any], depth: int, leaves: bool = False) -> None:
    """Add every key and text in a value to `texts`; with `leaves` numbers and media too.

    Media are not entered. Raises `Unreducible` past `depth` levels.
    """
    kind = type(value)
    if kind is not list and (kind is not dict or "kind" in value):
        if kind is str or (leaves and (kind in _NUMBERS or is_media(value))):
            texts.append(value)
            return
        if kind is Atom:
            texts.append(value.source)
        if kind is Atom or kind in _SCALARS or is_media(value):
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
    for item in items:
        if type(item) is str:
            texts.append(item)
        elif leaves or type(item) not in _SCALARS:
            _add_texts(item, texts, depth - 1, leaves)


def _kept_and_removed(value: Any, node: Omission, preserved: Sequence[Types]) -> list[tuple[Any, Types | None]]:
    """Return every key or index in order, with the types preserved in what was removed there; None for what is kept."""
    keys: Iterable[Any] = value if type(value) is dict else range(len(value) - (node.earlier is not None))
    removed: dict[Any, Types] = {}
    for step, kept in reversed(node.versions):
        removed |= dict.fromkeys(set(keys).difference(kept), preserved[step])
    return [(key, removed.get(key)) for key in keys]


# --- the overlay


class _Restoration:
    """Lays over the plan what leads to needed values; each is needed until the first place that contains it.

    `_needed` has the preserved entities, each value with its type, `_missing` the referenced values, `_texts` the texts
    that contain a needed entity.
    """

    __slots__ = ("_done", "_gathered", "_missing", "_needed", "_references", "_rule", "_scans", "_texts")

    def __init__(self, work: Work, gathered: _Gathered) -> None:
        self._rule = work.rule
        self._scans = work.scans
        self._references = work.references
        self._gathered = gathered
        self._done = Restored()
        self._missing: set[str] = set()
        self._needed: dict[str, str] = {}
        self._texts: set[str] = set()

    def run(self) -> Restored:
        """Restore what is needed."""
        done, gathered = self._done, self._gathered
        if self._references is not None:
            done.referenced = self._references.missing(gathered.left, gathered.cuts)
            self._missing = set(done.referenced)
        widened = [self._widened(cut) for cut in gathered.cuts]
        if any(self._rule.preserved):
            self._find_needed(widened)
            done.lost = tuple(_beyond(self._rule.bounds, self._needed))
            for value in done.lost:
                del self._needed[value]
        needed = set(self._needed)
        for cut, wider in zip(gathered.cuts, widened, strict=True):
            needed.update(self._mention(cut, wider))
        done.preserved = len(needed)
        if self._needed:
            found = self._scans.found.items()
            self._texts = {text for text, entities in found if any(e.value in self._needed for e in entities)}
        for removal in gathered.removals:
            self._restore(removal)
        return done

    def _widened(self, cut: Cut) -> Cut:
        """Return the cut that keeps the sentences around missing values in its text, each in the first such text."""
        values = self._references.held(cut.text) & self._missing if self._references and self._missing else _NONE
        self._missing -= values
        scan_all = self._rule.vocabulary.everything
        return self._references.widened(cut, values, scan_all) if values and self._references else cut

    def _find_needed(self, cuts: list[Cut]) -> None:
        """Find the preserved entities that do not remain, in document order."""
        scans, gathered, preserved, needed = self._scans, self._gathered, self._rule.preserved, self._needed
        removed = [each for removal in gathered.removals for each in removal.texts]
        scans.read(chain((cut.text for cut in cuts if preserved[cut.step]), *(texts for _, texts in removed)))
        for types, texts in removed:
            for text in filter(scans.found.__contains__, dict.fromkeys(texts)):
                for entity in scans.found[text]:
                    if entity.type in types:
                        needed.setdefault(entity.value, entity.type)
        for cut in cuts:
            policy = preserved[cut.step]
            _, away = cut.split(scans.entities(cut.text) if policy else ())
            needed.update((e.value, e.type) for e in away if e.type in policy and e.value not in needed)
        if needed:
            left = dict.fromkeys(text for text in gathered.left if type(text) is str)
            scans.read(left)
            for entity in chain.from_iterable(scans.found[text] for text in left if text in scans.found):
                needed.pop(entity.value, None)
            for cut in cuts:
                whole, away = cut.split(scans.entities(cut.text))
                for entity in (*whole, *(entity for entity in away if entity.type in cut.always)):
                    needed.pop(entity.value, None)

    def _mention(self, cut: Cut, wider: Cut) -> Iterable[str]:
        """Mention needed values in the markers of a text that was cut; return those that are.

        Cut texts come before items and keys, wherever those are: a mention is shorter.
        """
        policy, needed = self._rule.preserved[cut.step], self._needed
        found = self._scans.entities(cut.text) if cut.always or (policy and needed) else ()
        _, away = wider.split(found)
        values = dict.fromkeys(
            e.value for e in away if e.type in cut.always or (e.type in policy and e.value in needed)
        )
        if values or wider is not cut:
            cut.restored = wider.write_with_mentions(found, values)
            self._done.nodes.append(cut)
        for value in values:
            needed.pop(value, None)
        return values

    def _restore(self, removal: Removal) -> None:
        """Restore what a removed value contains of needed and missing values."""
        value, node, keys, types, texts = removal
        if type(node) is Omission and _is_marked(value, node):
            self._restore_texts(value, node)
        elif not self._missing and all(self._texts.isdisjoint(some) for _, some in texts):
            return
        elif type(node) is Emptied:
            left = self._thin(value, node.before, types, MAX_DEPTH)
            if left is not _ABSENT:
                node.restored = WHOLE if left is None else left
                self._done.nodes.append(node)
        elif type(node) is Omission:
            found = self._thin_children((value, node), ((key, types) for key in keys), MAX_DEPTH)
            if found:
                node.restored = {**(node.restored or {}), **found}
                self._done.nodes.append(node)

    def _thin(self, value: Any, node: Node | None, types: Types, depth: int) -> Any:
        """Return the plan that leaves of a removed value what leads to needed values; None leaves all of it."""
        if type(node) is Emptied:
            return self._thin(value, node.before, types & self._rule.preserved[node.step], depth)
        if type(node) is not Opened:
            if type(value) is str:
                return self._thin_text(value, types)
            if type(value) in _SCALARS or type(value) is Atom or (type(value) is not list and is_media(value)):
                entities = self._take_entities(value.source, types) if type(value) is Atom else ()
                return None if self._take_values(value) or entities else _ABSENT
        if type(node) is Opened or has_structure(value):
            return self._thin_opened(node if type(node) is Opened else open_live(value), types, depth - 1)
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        rows: Iterable[tuple[Any, Types]] = zip(value if type(value) is dict else range(len(value)), repeat(types))
        if type(node) is Omission:
            kept_and_removed = _kept_and_removed(value, node, self._rule.preserved)
            rows = [(key, types if earlier is None else types & earlier) for key, earlier in kept_and_removed]
        found = self._thin_children((value, node), rows, depth - 1)
        if not found:
            return _ABSENT
        if len(found) == len(value) and all(left is None for left in found.values()):
            return None
        return self._thin_container(value, found)

    def _thin_children(self, container: Any, rows: Iterable[tuple[Any, Types]], depth: int) -> dict[Any, Any]:
        """Return the plans of what is restored of some children, each with the types that are preserved in it."""
        value, node = container
        inside = node.inside if type(node) is Omission else {}
        found, is_object, texts, missing = {}, type(value) is dict, self._texts, self._missing
        for key, types in rows:
            item, named = value[key], is_object and (key in texts or missing)
            empty = (
                item not in texts if type(item) is str else type(item) in _SCALARS or _is_record_without(texts, item)
            )
            if empty and not named and not missing and key not in inside:
                continue
            if named:
                named = bool(self._take_entities(key, types)) | bool(self._take_values(key))
            left = self._thin(item, inside.get(key), types, depth)
            if left is _ABSENT and named:
                left = _plan_of_named(item)
            if left is not _ABSENT:
                found[key] = left
        return found

    def _thin_container(self, value: Any, found: dict[Any, Any]) -> Omission:
        thin = Omission()
        thin.inside = {key: left for key, left in found.items() if left is not None}
        items = value.items() if type(value) is dict else enumerate(value)
        if type(value) is dict and self._rule.all_keys:
            empty = {key: empty_of(item) for key, item in items if key not in found}
            thin.inside |= {key: Emptied(0, item) for key, item in empty.items() if item is not None}
            return thin
        if not _LEAVES.issuperset(map(type, value.values() if type(value) is dict else value)):
            found |= {key: None for key, item in items if key not in found and is_media(item)}
        thin.kept = found.keys() if type(value) is dict else sorted(found)
        return thin

    def _thin_opened(self, opened: Opened, types: Types, depth: int) -> Any:
        left = self._thin(opened.value, opened.inside.get(0), types, depth)
        if left is _ABSENT:
            return _ABSENT
        thin = replace(opened, inside={})
        if left is not None:
            thin.inside[0] = left
            if type(left) is Omission and left.kept is not None and len(left.kept) < opened.least:
                left.kept = at_least(opened.least, left.kept, len(opened.value))
        return thin

    def _thin_text(self, text: str, types: Types) -> Any:
        """Return the plan of what is restored of a text: all of it, or a marker that mentions what it contains."""
        values = self._take_entities(text, types)
        referenced = self._take_values(text)
        if not values and not referenced:
            return _ABSENT
        if len(text) <= _SHORT or (not referenced and len(text) <= _SHORT + sum(map(len, values))):
            return None
        if referenced and self._references is not None:
            removed = Cut(text, (), markers.read_all(text, 0, self._scans.reads))
            wider = self._references.widened(removed, referenced, self._rule.vocabulary.everything)
            written = wider.write_with_mentions(self._scans.entities(text) if values else (), values)
        else:
            written = markers.written(len(text), "characters", values)
            if len(written) >= len(text) or markers.read_alone(text, self._scans.reads):
                return None
        return Cut(text, (), restored=written)

    def _take_entities(self, text: str, types: Types) -> tuple[str, ...]:
        """Return the needed values in a text, which are needed no more."""
        if text not in self._texts:
            return ()
        found, needed = self._scans.found[text], self._needed
        values = tuple(dict.fromkeys([e.value for e in found if e.type in types and e.value in needed]))
        for value in values:
            del needed[value]
        if not [e for e in found if e.value in needed]:
            self._texts.discard(text)
        return values

    def _take_values(self, leaf: Any) -> frozenset[str]:
        """Return the missing values in a key, text, number or media item, which are missing no more."""
        if not self._missing or self._references is None or leaf is None or type(leaf) is bool:
            return _NONE
        found = self._references.held(leaf) & self._missing
        self._missing -= found
        return found

    def _restore_texts(self, value: list[Any], node: Omission) -> None:
        """Mention in one marker what removed texts of a list contain, or restore them if that is shorter."""
        earlier = node.earlier
        rows = _kept_and_removed(value, node, self._rule.preserved)
        removed = {i: types for i, types in rows if types is not None}
        kept = [text_of(build(value[i], node.inside.get(i))) for i, types in rows if types is None]
        found = {i: values for i, types in removed.items() if (values := self._take_entities(text_of(value[i]), types))}
        stay = {i for i in removed if self._take_values(text_of(value[i]))}
        mentions = dict.fromkeys(earlier.mentions if earlier else ())
        mentions.update(dict.fromkeys(chain.from_iterable(found[i] for i in found if i not in stay)))
        count = len(removed) - len(stay) + (earlier.count if earlier else 0)
        noted = earlier or mentions or (count and sum(map(len, kept)) > _LONG * len(kept))
        marker = markers.written(count, "items", tuple(mentions)) if noted else ""
        if noted and earlier is None and len(marker) > sum(chars(value[i]) + 2 for i in removed if i not in stay):
            marker, stay = "", stay | found.keys()
        if marker or stay:
            node.marker = value[-1] if marker == value[-1] else marker
            node.restored = dict.fromkeys(stay)
            self._done.nodes.append(node)


def _is_record_without(texts: set[str], item: Any) -> bool:
    """Return whether a value is a flat object with none of some texts, as most are: this is asked at C speed."""
    if type(item) is not dict or not _LEAVES.issuperset(map(type, item.values())):
        return False
    return texts.isdisjoint(item) and texts.isdisjoint(item.values())


def _plan_of_named(item: Any) -> Any:
    """Return the plan of a value whose key alone is restored: an empty value, or a short text.

    (`compact` would remove a key with an empty value.)
    """
    if type(item) is str and len(item) <= _SHORT:
        return None
    empty = empty_of(item)
    return None if empty is None else Emptied(0, empty)


def _beyond(bounds: Iterable[tuple[Types, int]], needed: dict[str, str]) -> Iterator[str]:
    """Yield the needed values that no bound has room for, in order; a value counts for every bound on its type."""
    room = dict(bounds)
    for value, kind in needed.items():
        own = [types for types in room if kind in types]
        if any(room[types] == 0 for types in own):
            yield value
        else:
            room.update((types, room[types] - 1) for types in own)
