"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. One walk gathers the texts and keys that were removed and those that remain. Every
value that must not vanish and is not in what remains is restored at the first place in document order that contains
it, with the keys that lead there: a thin item.
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
"""Average characters of the texts that a list kept, above which a marker counts the removed ones."""
_SHORT = len(markers.written(1, "characters", ("",)))
"""Characters of a marker without what it mentions: a text that is no longer stays as it is."""
_SCALARS = frozenset({int, float, bool, type(None)})
_LEAVES = _SCALARS | {str}
_TEXT = frozenset({str})
_NONE: Types = frozenset()


@dataclass(slots=True)
class Restored:
    """What an overlay did: the entities beyond their bound, how many are restored or mentioned, the values referenced.

    `nodes` are the plans that it changed.
    """

    lost: tuple[str, ...] = ()
    preserved: int = 0
    referenced: frozenset[str] = _NONE
    nodes: list[Omission | Cut] = field(default_factory=list)

    def undo(self) -> None:
        """Take the overlay off the plan."""
        for node in self.nodes:
            node.restored = None
            if type(node) is Omission:
                node.marker = ""


def restore(work: Work) -> Restored:
    """Restore in the plan of a return what its rule preserves and what later messages reference."""
    if not work.marked and not (work.edits and (any(work.rule.preserved) or work.references.values)):
        return Restored()
    gathered = _Gathered(work)
    gathered.add(_Part([work.top.value], work.top, work.top.inside), [(0, None)], MAX_DEPTH + 1)
    return _Restoration(work, gathered).run()


# --- what remains and what was removed


@dataclass(slots=True, eq=False)
class _Part:
    """A list or object with the plans of its children; what was opened or emptied is the only child, 0, of its part.

    `found` has what is restored of each removed child: its plan, or the part of it of which something is restored.
    `is_marked`: these are texts of which some were removed, now or in an earlier pass: they share a marker.
    """

    value: Any
    node: Node | None
    inside: dict[Any, Node]
    above: _Part | None = None
    key: Any = None
    is_marked: bool = False
    found: dict[Any, Any] = field(default_factory=dict)

    def restore(self, key: Any, plan: Any) -> None:
        """Restore a child with this plan, and all that leads to it."""
        part: _Part | None = self
        while part is not None and part.found.get(key, part) is not plan:
            part.found[key] = plan
            plan, key, part = part, part.key, part.above


class _Run(NamedTuple):
    """Removed children of a part, next to each other, in which the same types are preserved, with their texts."""

    part: _Part
    types: Types
    keys: list[Any]
    texts: list[str]


@dataclass(slots=True, eq=False)
class _Gathered:
    """What remains of a return and what was removed, in document order.

    `left` has the texts and keys that remain, and if values are referenced also numbers and media. `parts` are the
    lists and objects that remain and of which something was removed.
    """

    work: Work
    left: list[Any] = field(default_factory=list)
    runs: list[_Run] = field(default_factory=list)
    parts: list[tuple[_Part, Omission]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)

    def add(self, part: _Part, rows: Iterable[tuple[Any, Types | None]], depth: int) -> None:
        """Add children of a part, each with the types that are preserved in it, or None if it remains.

        Raises `Unreducible` past `depth` levels.
        """
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        value, inside, leaves = part.value, part.inside, bool(self.work.references.values)
        reads_left = leaves or any(self.work.rule.preserved)
        for (types, planned), group in groupby(rows, lambda row: (row[1], row[0] if row[0] in inside else None)):
            if types is not None and not types and not leaves:
                continue
            keys, texts = [key for key, _ in group], self.left
            if types is not None:
                texts = []
                self.runs.append(_Run(part, types, keys, texts))
            if planned is not None:
                if type(value) is dict:
                    texts.append(planned)
                self._enter(part, planned, types, depth)
            elif types is not None or reads_left:
                if type(value) is dict:
                    texts += keys
                _add_texts([value[key] for key in keys], texts, depth, leaves and types is None)

    def _enter(self, above: _Part, key: Any, types: Types | None, depth: int) -> None:
        """Add a child with a plan: a text, a list or an object, or what was opened or emptied."""
        value, node = above.value[key], above.inside[key]
        if type(node) is Cut and types is None:
            self.cuts.append(node)
        elif type(node) is Cut:
            self.runs[-1].texts.append(value)
        elif type(node) is Emptied:
            preserved = self.work.rule.preserved[node.step]
            before = {} if node.before is None else {0: node.before}
            part = _Part([value], node, before, above, key)
            self.add(part, [(0, preserved if types is None else types & preserved)], depth)
        elif type(node) is Opened:
            unchanged = types is None and build(value, node) is value
            part = _Part([node.value], node, {} if unchanged else node.inside, above, key)
            self.add(part, [(0, types)], depth - 1)
        elif type(node) is Omission:
            part = _Part(value, node, node.inside, above, key)
            rows = _kept_and_removed(value, node, self.work.rule.preserved)
            if types is not None:
                rows = [(key, types if earlier is None else types & earlier) for key, earlier in rows]
            else:
                part.above = None
                self.parts.append((part, node))
                if node.earlier is not None or (node.kept is not None and holds_texts(value, node)):
                    kept = {key for key, removed in rows if removed is None}
                    part.is_marked = True
                    part.value = [*map(text_of, value)]
                    part.inside = {key: inner for key, inner in node.inside.items() if key in kept}
            self.add(part, rows, depth - 1)


def _is_leaf(value: Any, node: Node | None) -> bool:
    """Return whether a value is a text without structure, a scalar, an atom or a media item."""
    if node is not None and type(node) is not Cut:
        return False
    kind = type(value)
    return kind is str or kind in _SCALARS or kind is Atom or (kind is not list and is_media(value))


def _add_texts(value: Any, texts: list[Any], depth: int, leaves: bool) -> None:
    """Add every key and text in a value to `texts`; with `leaves` numbers and media too.

    Media are not entered. Raises `Unreducible` past `depth` levels.
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
        # Records, as most items are, are read together at C speed.
        keys, values = dict.fromkeys(chain.from_iterable(value)), [*chain.from_iterable(map(dict.values, value))]
        if "kind" not in keys and _TEXT.issuperset(map(type, keys)):
            texts += keys
            items = values
            depth -= 1
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


@dataclass(slots=True, eq=False)
class _Restoration:
    """Lays over the plan what leads to needed values; each is needed until the first place that contains it.

    `needed` has the preserved entities, each value with its type, `missing` the referenced values, `texts` the texts
    that contain a needed entity.
    """

    work: Work
    gathered: _Gathered
    done: Restored = field(default_factory=Restored)
    missing: set[str] = field(default_factory=set)
    needed: dict[str, str] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)

    def run(self) -> Restored:
        """Restore what is needed."""
        done, gathered = self.done, self.gathered
        done.referenced = self.work.references.missing(gathered.left, gathered.cuts)
        self.missing = set(done.referenced)
        widened = [self._widened(cut) for cut in gathered.cuts]
        if any(self.work.rule.preserved):
            self._find_needed(widened)
            done.lost = tuple(_beyond(self.work.rule.bounds, self.needed)) if self.work.rule.bounds else ()
            for value in done.lost:
                del self.needed[value]
        kept = set(self.needed)
        for cut, wider in zip(gathered.cuts, widened, strict=True):
            kept.update(self._mention(cut, wider))
        done.preserved = len(kept)
        if self.needed:
            found, needed = self.work.scans.found.items(), self.needed
            self.texts = {text for text, entities in found for entity in entities if entity.value in needed}
        for run in gathered.runs:
            if self.missing or not self.texts.isdisjoint(run.texts):
                self._restore(run.part, run.keys, run.types)
        for part, node in gathered.parts:
            if part.is_marked:
                self._mark(part, node)
            elif part.found:
                node.restored = {key: self._plan(found) for key, found in part.found.items()}
            if node.marker or node.restored:
                done.nodes.append(node)
        return done

    def _widened(self, cut: Cut) -> Cut:
        """Return the cut that keeps the sentences around missing values in its text, each in the first such text."""
        references = self.work.references
        values = references.held(cut.text) & self.missing if self.missing else _NONE
        self.missing -= values
        return references.widened(cut, values, self.work.rule.vocabulary.everything) if values else cut

    def _find_needed(self, cuts: list[Cut]) -> None:
        """Find the preserved entities that do not remain, in document order."""
        scans, gathered, preserved, needed = self.work.scans, self.gathered, self.work.rule.preserved, self.needed
        scans.read(chain((cut.text for cut in cuts if preserved[cut.step]), *(run.texts for run in gathered.runs)))
        for run in gathered.runs:
            for text in filter(scans.found.__contains__, dict.fromkeys(run.texts)):
                for entity in scans.found[text]:
                    if entity.type in run.types:
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
        policy, needed = self.work.rule.preserved[cut.step], self.needed
        found = self.work.scans.entities(cut.text) if cut.always or (policy and needed) else ()
        _, away = wider.split(found)
        values = dict.fromkeys(
            e.value for e in away if e.type in cut.always or (e.type in policy and e.value in needed)
        )
        if values or wider is not cut:
            cut.restored = wider.write_with_mentions(found, values)
            self.done.nodes.append(cut)
        for value in values:
            needed.pop(value, None)
        return values

    def _restore(self, part: _Part, keys: Iterable[Any], types: Types) -> None:
        """Restore what removed children of a part contain of needed and missing values."""
        value, inside, texts, missing = part.value, part.inside, self.texts, self.missing
        for key in keys:
            item = value[key]
            may_be_named = missing or key in texts
            if not may_be_named and not (item in texts if type(item) in _LEAVES else _may_contain(item, texts)):
                continue
            if type(value) is dict and may_be_named and any(self._take(key, types)):
                part.restore(key, _plan_of_named(item))
            node = inside.get(key)
            if _is_leaf(item, node):
                values, referenced = self._take(item, types)
                if part.is_marked:
                    part.found[key] = values, referenced
                elif values or referenced:
                    part.restore(key, self._plan_of_text(item, values, referenced) if type(item) is str else None)
            elif node is None and has_structure(item):
                opened = open_live(item)
                self._restore(_Part([opened.value], opened, opened.inside, part, key), (0,), types)
            elif node is None:
                below = item if type(item) is dict else range(len(item))
                self._restore(_Part(item, None, {}, part, key), below, types)

    def _take(self, leaf: Any, types: Types) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the needed and the missing values in a key, text, number or media item, which are so no more."""
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
        referenced = self.work.references.held(leaf) & self.missing
        self.missing -= referenced
        return values, referenced

    def _plan_of_text(self, text: str, values: tuple[str, ...], referenced: frozenset[str]) -> Cut | None:
        """Return the plan of what is restored of a text: all of it, or a marker that mentions what it contains."""
        if len(text) <= _SHORT or (not referenced and len(text) <= _SHORT + sum(map(len, values))):
            return None
        if referenced:
            removed = Cut(text, (), markers.read_all(text, 0, self.work.scans.reads))
            wider = self.work.references.widened(removed, referenced, self.work.rule.vocabulary.everything)
            written = wider.write_with_mentions(self.work.scans.entities(text) if values else (), values)
        else:
            written = markers.written(len(text), "characters", values)
            if len(written) >= len(text) or markers.read_alone(text, self.work.scans.reads):
                return None
        return Cut(text, (), restored=written)

    def _plan(self, part: Any) -> Any:
        """Return the plan that leaves of a removed value what was found in it; None leaves all of it."""
        if type(part) is not _Part:
            return part
        value, node = part.value, part.node
        found = {key: self._plan(each) for key, each in part.found.items()}
        if type(node) is Emptied:
            return found[0]
        inside = {key: left for key, left in found.items() if left is not None}
        if type(node) is Opened:
            left = found[0]
            if type(left) is Omission and left.kept is not None and len(left.kept) < node.least:
                left.kept = at_least(node.least, left.kept, len(node.value))
            return replace(node, inside=inside)
        if not inside and len(found) == len(value):
            return None
        items = value.items() if type(value) is dict else enumerate(value)
        others = [(key, item) for key, item in items if key not in found]
        if type(value) is dict and self.work.rule.all_keys:
            empty = {key: Emptied(0, plain) for key, item in others if (plain := empty_of(item)) is not None}
            return Omission(inside=inside | empty)
        kept = found.keys() | {key for key, item in others if type(item) not in _LEAVES and is_media(item)}
        return Omission(kept if type(value) is dict else sorted(kept), inside=inside)

    def _mark(self, part: _Part, node: Omission) -> None:
        """Mention in one marker what removed texts of a list contain, or restore them if that is shorter."""
        texts, found, earlier = part.value, part.found, node.earlier
        rows = _kept_and_removed(texts, node, self.work.rule.preserved)
        kept = [text_of(build(texts[i], node.inside.get(i))) for i, types in rows if types is None]
        stay = {i for i, (_, referenced) in found.items() if referenced}
        removed = [i for i, types in rows if types is not None and i not in stay]
        mentions = dict.fromkeys(earlier.mentions if earlier else ())
        mentions.update(dict.fromkeys(chain.from_iterable(values for i, (values, _) in found.items() if i not in stay)))
        count = len(removed) + (earlier.count if earlier else 0)
        noted = earlier or mentions or (count and sum(map(len, kept)) > _LONG * len(kept))
        marker = markers.written(count, "items", tuple(mentions)) if noted else ""
        if noted and earlier is None and len(marker) > sum(chars(texts[i]) + 2 for i in removed):
            marker, stay = "", stay | {i for i, (values, _) in found.items() if values}
        node.marker = texts[-1] if marker == texts[-1] else marker
        node.restored = dict.fromkeys(stay)


def _may_contain(value: Any, texts: set[str]) -> bool:
    """Return whether a key or text in a list or object is one of some texts; true for what is no plain value."""
    items = value
    if type(value) is dict and texts.isdisjoint(value):
        items = value.values()
    elif type(value) is not list:
        return True
    return any(item in texts if type(item) in _LEAVES else _may_contain(item, texts) for item in items)


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
