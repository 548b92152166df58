"""Operations receive places, whose methods are the only functions that add omissions to a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import islice, repeat
from math import inf
from typing import Any

from reducer import markers
from reducer.paths import Chain, Path, overlap, walk
from reducer.plan.cuts import Cut, outside_markers, scanned_to_shorten, shortened
from reducer.plan.nodes import (
    LAST,
    LEAVES,
    NEVER,
    TEXT,
    Emptied,
    Node,
    Omission,
    Opened,
    Version,
    at_least,
    build,
    empty_of,
    fits,
    has_structure,
    open_live,
)
from reducer.plan.protected import References, Scans
from reducer.values import MAX_DEPTH, PLAIN, Unreducible, is_media

Key = str | int
_NUMBERS = LEAVES - TEXT
_BATCH = 1000
"""Texts that are scanned together before they are cut. More would need more memory, and save no time."""
_SIMPLE = PLAIN - {dict}
"""The types of values that are never media."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What places need to know of a rule."""

    marked: tuple[Chain, ...] | None = ()
    """The lists that get markers, or None for all lists."""
    labels: frozenset[str] = frozenset()
    """The expressions by whose values markers count items."""
    all_keys: bool = False
    """Every object keeps all of its keys."""


@dataclass(slots=True, eq=False)
class Work:
    """The state of one pass over one return, shared by all places."""

    top: Opened
    settings: Settings
    scans: Scans
    references: References
    repeats: frozenset[str] = frozenset()
    """The markers of repeats in the return, which no step sees or removes."""
    step: int = 0
    """The number of the current step."""
    edits: int = 0
    """The number of omissions so far."""
    in_maps: bool = False
    """Whether a step selected among the values of an object."""
    shortened: bool = False
    """Whether a list lost items in this pass or an earlier one."""
    unread: int = 0
    """The number of texts that cannot be read in the notation that a rule names."""

    def root(self) -> Place:
        """Return the place of the whole return."""
        return Place(self.top.value, self.top.plan, self.top, 0, work=self)

    def arrived(self) -> Any:
        """Return the return without the markers of an earlier pass, as conditions see it before the first step."""
        return self.top.built(0, seen=True)


@dataclass(slots=True, eq=False)
class Place:
    """A value that a path leads to, with its plan so far. Operations work only with places."""

    value: Any
    node: Node | None
    parent: Place | Opened
    key: Key
    _: KW_ONLY
    work: Work
    depth: int = 0
    chain: tuple[Key, ...] = ()
    """The keys that lead to the value; the items of a list have the chain of the list."""

    @property
    def is_root(self) -> bool:
        """Whether this is the whole return."""
        return self.parent is self.work.top

    @property
    def json(self) -> Any:
        """The value without the omissions of its plan and the marker of an earlier pass, as conditions see it."""
        if type(self.value) is list:
            self.keys()
        return build(self.value, self.node, LAST, seen=True)

    def find(self, path: Path) -> list[Place]:
        """Return the places that a path leads to from here, in order. Nulls are skipped, and media are not entered."""
        return walk(path.shape, self)

    def accepted_by(self, types: Collection[type]) -> bool:
        """Return whether the value has one of these types and is not a media item."""
        return type(self.value) in types and not is_media(self.value)

    # --- children

    @property
    def kept(self) -> Collection[Any] | None:
        """The kept indices or keys, or None if all are kept."""
        return self.node.kept() if type(self.node) is Omission else None

    def keys(self) -> Sequence[Any]:
        """Return the kept indices, without the markers of an earlier pass, or the kept keys. Media have none."""
        value, kept = self.value, self.kept
        if type(value) is list:
            return self._without_markers() if kept is None else kept  # type: ignore[return-value]
        if not self.accepted_by((dict,)):
            return ()
        return [*value] if kept is None else [key for key in value if key in kept]

    def _without_markers(self) -> Sequence[int]:
        uncounted, value, repeats = self._without_marker(), self.value, self.work.repeats
        if not repeats:
            return uncounted
        others: list[int] = []
        found: list[int] = []
        for index in uncounted:
            is_repeat = type(value[index]) is str and value[index] in repeats
            (found if is_repeat else others).append(index)
        if not found:
            return uncounted
        node = self.omission()
        node.repeats = tuple(found)
        node.keep(others, 0)
        return others

    def _without_marker(self) -> range:
        value, every = self.value, range(len(self.value))
        last = value[-1] if value else None
        if type(last) is not str or last[:2] != markers.PREFIX or not self._can_have_marker():
            return every
        marker = markers.read_item(last, self.work.scans.is_entity, self.work.settings.labels)
        if marker is None:
            return every
        node = self.omission()
        node.earlier, self.work.shortened = marker, True
        node.keep(every[:-1], 0)
        return every[:-1]

    def _can_have_marker(self) -> bool:
        """Return whether an earlier pass of this rule can have written the last item of this list."""
        if self.is_root and len(self.value) == 1:
            return True  # a root list without items holds its marker
        marked, chain = self.work.settings.marked, self.chain
        if marked is None:
            return True
        return any(len(items) == len(chain) and overlap(items, chain) for items in marked)

    def hide_markers(self) -> None:
        """Leave out the markers of an earlier pass in every list at or below this place."""
        for child in self.children(inf):
            child.hide_markers()

    def entries(self) -> Sequence[Any]:
        """Return the indices of the kept items of this list, or the kept keys of this object if it is used as a map.

        The root, and every object of a rule with `keys: all`, keeps its keys.
        """
        if type(self.value) is list:
            return self.keys()
        self.work.in_maps = True
        if self.is_root or self.work.settings.all_keys:
            return ()
        for key in self.keys():
            if has_structure(self.value[key]):
                self.child(key)  # opens a live object, so that a map of them is seen as in a stored history
        return self.keys() if is_map(self.json) else ()

    def contents(self) -> list[Any]:
        """Return the values at `entries` as conditions see them, or the list itself if nothing is omitted."""
        entries = self.entries()
        seen = build(self.value, self.node, LAST, seen=True)
        return seen if type(seen) is list else [seen[key] for key in entries]

    def has(self, key: str) -> bool:
        """Return whether this is an object that contains the key and keeps it."""
        return type(self.value) is dict and key in self.value and ((kept := self.kept) is None or key in kept)

    def field(self, name: str) -> Place | None:
        """Return the place at a key of this object, or None if the key is missing or its value is null."""
        present = self.has(name) and not is_media(self.value) and self.value[name] is not None
        return self.child(name) if present else None

    def items(self) -> list[Place | None] | None:
        """Return the places of the items of this list with None for each null, or None if this is not a list."""
        return self._children_or_null() if type(self.value) is list else None

    def values(self) -> list[Place | None]:
        """Return the places at all keys of this object, with None for each null."""
        return self._children_or_null() if type(self.value) is dict else []

    def _children_or_null(self) -> list[Place | None]:
        return [None if self.value[key] is None else self.child(key) for key in self.keys()]

    def child(self, key: Key) -> Place:
        """Open the item or value at a key, and return its place. Raises `Unreducible` beyond `MAX_DEPTH` levels."""
        value, depth = self.value[key], self.depth + 1
        chain = self.chain if type(self.value) is list else (*self.chain, key)
        node = self.node.child(key, value) if type(self.node) is Omission else None
        if depth > MAX_DEPTH:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        if node is None and has_structure(value):
            node = self.inside[key] = open_live(value)
        if type(node) is Emptied:
            value = node.empty
        elif type(node) is Opened:
            return Place(node.value, node.plan, node, 0, work=self.work, depth=depth, chain=chain)
        return Place(value, node, self, key, work=self.work, depth=depth, chain=chain)

    def children(self, longer_than: float = -1) -> Iterator[Place]:
        """Yield the place of every child that is not a number, a boolean or null.

        Texts without structure are left out if they have at most `longer_than` characters.
        """
        value, planned = self.value, self.node.inside if type(self.node) is Omission else ()
        for key in self.keys():
            kind = type(value[key])
            if kind not in _NUMBERS and (kind is not str or key in planned or len(value[key]) > longer_than):
                yield self.child(key)

    def names(self) -> set[str]:
        """Return all keys of this object, or of the objects in this list, even if they are not kept."""
        if type(self.value) is dict:
            return set(self.value)
        names = set[str]()
        for index in self.keys() if type(self.value) is list else ():
            item = self.value[index]
            if type(item) is dict and TEXT.issuperset(map(type, item)):
                names.update(item)
            elif found := self._object_at(index):
                names.update(found.value)
        return names

    def _object_at(self, index: int) -> Place | None:
        """Return the place of an item of this list if it is an object, also in a text or a live object."""
        if type(self.value[index]) in _SIMPLE and not (type(self.node) is Omission and index in self.node.inside):
            return None
        child = self.child(index)
        return child if type(child.value) is dict else None

    def objects(self) -> Iterator[Place]:
        """Yield the place of this object, or of each object in this list."""
        places = [self] if type(self.value) is dict else self.children()
        return (place for place in places if place.accepted_by((dict,)))

    def texts(self, longer_than: int = 0) -> Iterator[Place]:
        """Yield the place of every text at or below this place with more than `longer_than` characters."""
        if type(self.value) is str:
            if len(self.value) > longer_than:
                yield self
            return
        for child in self.children(longer_than):
            yield from child.texts(longer_than)

    # --- omissions

    @property
    def inside(self) -> dict[Any, Node | None]:
        """The plans of the children of this list or object."""
        return self.omission().inside

    def omission(self) -> Omission:
        """Return the plan of this list or object. Create it on first use."""
        if type(self.node) is not Omission:
            existing = self.parent.inside.get(self.key)  # another place may have created it
            self._attach(existing if type(existing) is Omission else Omission())
        return self.node  # type: ignore[return-value]

    def _attach(self, node: Node) -> None:
        self.parent.inside[self.key] = self.node = node

    def keep_items(self, positions: Collection[int]) -> None:
        """Keep only the items at these positions in `contents`, plus all media."""
        if type(self.value) is dict:
            entries = self.entries()
            removed = set(entries).difference(map(entries.__getitem__, positions))
            self.keep_keys(frozenset(self.value.keys() - removed))
            return
        indices, value = self.keys(), self.value
        if _hold_media(value):
            media = {position for position, index in enumerate(indices) if is_media(value[index])}
            positions = sorted(media.union(positions))
        least = self.parent.least if type(self.parent) is Opened else 0
        if len(positions) < least:
            positions = at_least(least, positions, len(indices))
        if len(positions) < len(indices):
            kept = [indices[position] for position in positions]
            self.omission().keep(kept, self.work.step)
            self.work.edits += 1
            self.work.shortened = True

    def keep_items_that(self, holds: Callable[[Any], bool]) -> None:
        """Keep only the items in `contents` for which `holds` returns true, plus all media."""
        self.keep_items([position for position, item in enumerate(self.contents()) if holds(item)])

    def keep_keys(self, names: frozenset[str]) -> None:
        """Keep only these keys of this object, or of each object in this list, plus all media.

        At the root, and everywhere with `keys: all`, empty the values of other keys instead.
        """
        value, work = self.value, self.work
        if value and type(value) is list:
            self._keep_keys_of_each(names)
        elif self.is_root or work.settings.all_keys:
            for key in self.keys():
                if key not in names:
                    self.empty(key)
        elif not names.issuperset(before := self.keys()):
            kept = [key for key in before if key in names or is_media(value[key])]
            self.omission().keep(dict.fromkeys(kept), work.step)
            work.edits += 1

    def _keep_keys_of_each(self, names: frozenset[str]) -> None:
        node, value = self.omission(), self.value
        planned, shared = node.separate(value), dict[int, Any]()
        for index in self.keys():
            if type(value[index]) is dict and index not in planned:
                shared[index] = value[index]
        keys = set[Any]().union(*shared.values())
        removed = keys - names
        columns = ([*map(dict.get, shared.values(), repeat(key))] for key in removed)
        have_media = ("kind" in keys and any(map(is_media, shared.values()))) or any(map(_hold_media, columns))
        if have_media or self.work.settings.all_keys or not TEXT.issuperset(map(type, keys)):
            shared = {}
        elif removed:
            node.each = Version(self.work.step, names)
            self.work.edits += 1
        for index in self.keys():
            if index not in shared and (found := self._object_at(index)):
                found.keep_keys(names)

    def empty(self, key: str) -> None:
        """Replace a text, list or object at a key with an empty one. Any other value and media stay.

        A list that an earlier step emptied also stays, so that its marker can count the items.
        """
        empty, before = empty_of(self.value[key]), self.inside.get(key)
        is_empty = type(empty) is list and isinstance(before, Omission) and before.leaves_nothing()
        if empty is not None and not is_empty:
            self.inside[key] = Emptied(self.work.step, empty, before)
            self.work.edits += 1

    def cut_texts(self, head: int, tail: int) -> None:
        """Cut every text at or below this place as `cut` does."""
        places = self.texts(longer_than=head + tail)
        while batch := list(islice(places, _BATCH)):
            windows: list[str] = []
            for place in batch:
                windows += scanned_to_shorten(place.value, head, tail)
            self.work.scans.scan_windows(windows)
            for place in batch:
                place.cut(head, tail)

    def cut(self, head: int, tail: int) -> None:
        """Keep at most `head` characters at the start and `tail` at the end of this text, if the result is shorter."""
        if type(self.node) is Cut or markers.read(self.value, head, tail, self.work.scans.is_entity) is None:
            cut = shortened(self._cut_so_far(head, tail), head, tail, self.work.scans.any_entities)
            if cut is not None:
                self._cut(cut)

    def extract(self, types: frozenset[str], if_none: bool = False) -> bool:
        """Replace this text with a marker that mentions its entities of `types`, if the marker is shorter.

        Return whether there are any. Without any, the text stays unless `if_none`.
        """
        if markers.read_alone(self.value, self.work.scans.is_entity) is not None:
            return True
        found = (entity.value for entity in self.work.scans.entities(self.value) if entity.type in types)
        mentions = tuple(dict.fromkeys(found))
        if mentions or (if_none and self.value):  # a text that an earlier step emptied stays so
            before = self._cut_so_far(0, 0)
            cut = Cut(before.text, (), before.earlier, always=types)
            cut.written = cut.write((mentions,))
            self._cut(cut)
        return bool(mentions)

    def unwrap(self) -> None:
        """Replace every JSON text at or below this place with its value, unless the value is longer."""
        parent = self.parent
        is_text = (
            type(parent) is Opened and parent is not self.work.top and parent.is_json and parent.unwrapped == NEVER
        )
        if is_text and fits(self.value):  # data in a text must not become media items
            parent.unwrapped = self.work.step  # type: ignore[union-attr]
            self.work.edits += 1
        for child in self.children(inf):
            child.unwrap()

    def _cut_so_far(self, head: int, tail: int) -> Cut:
        """Return the cut so far: the whole text, without markers that an earlier pass can have written."""
        if type(self.node) is Cut:
            return self.node
        text, work = self.value, self.work
        earlier = markers.read_all(text, tail, work.scans.is_entity)
        if not earlier or earlier[0].start > head + work.references.reach(text):
            return Cut(text, ((0, len(text)),))  # no earlier pass can have written these markers
        return Cut(text, tuple(outside_markers(text, earlier)), earlier)

    def _cut(self, cut: Cut) -> None:
        before = self.node if type(self.node) is Cut else None
        if len(cut.written) >= len(self.value):
            cut.written = self.value  # the text stays, but later steps start from what is kept of it
        self.work.edits += cut.written != (self.value if before is None else before.written)
        cut.step = self.work.step
        cut.before = before.before if before is not None and before.step == cut.step else before
        self._attach(cut)


def is_map(value: dict[str, Any]) -> bool:
    """Return whether the values are at least two objects that share a key; empty ones and media do not count."""
    objects = [item for item in value.values() if item and not is_media(item)]
    are_objects = len(objects) > 1 and {*map(type, value.values())} == {dict}
    return are_objects and bool(frozenset(objects[0]).intersection(*objects))


def _hold_media(items: list[Any]) -> bool:
    """Return whether some items are media. Usually, this runs at C speed."""
    if _SIMPLE.issuperset(map(type, items)):
        return False
    with suppress(TypeError):  # some items are not objects
        if not any(map(dict.__contains__, items, repeat("kind"))):
            return False
    return any(map(is_media, items))
