"""Operations receive places, which contain the only functions that add omissions to a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from reducer import markers
from reducer.engine.cuts import Cut, outside_markers, shortened
from reducer.engine.plan import (
    LAST,
    Emptied,
    Node,
    Omission,
    Opened,
    at_least,
    build,
    empty_of,
    fits,
    has_structure,
    holds_texts,
    open_live,
)
from reducer.engine.protected import References, Scans
from reducer.paths import Path, walk
from reducer.rules import Rule
from reducer.values import MAX_DEPTH, Unreducible, is_media

Key = str | int

_NUMBERS = frozenset({int, float, bool, type(None)})
_SIMPLE = _NUMBERS | {str, list}


@dataclass(slots=True, eq=False)
class Work:
    """The state of one pass of a rule over one return, shared by all places."""

    top: Opened
    rule: Rule
    scans: Scans
    references: References
    step: int = 0
    """The number of the current step."""
    edits: int = 0
    """The number of omissions so far."""
    in_maps: bool = False
    """Whether a step selected among the values of an object."""
    marked: bool = False
    """Whether a list of texts lost items in this pass or an earlier one, and may need a marker."""

    def root(self) -> Place:
        """Return the place of the whole return."""
        return Place(self.top.value, self.top.inside.get(0), self.top, 0, work=self)


@dataclass(slots=True, eq=False)
class Place:
    """A value that a path leads to, with its plan so far. Operations work only with places."""

    value: Any
    node: Node | None
    parent: Place | Opened
    key: Key
    _: KW_ONLY
    work: Any
    depth: int = 0

    @property
    def is_root(self) -> bool:
        """Whether this is the whole return."""
        return self.parent is self.work.top

    @property
    def json(self) -> Any:
        """The value without the omissions of its plan, as conditions see it."""
        return build(self.value, self.node, LAST, seen=True)

    def find(self, path: Path) -> list[Place]:
        """Return the places that a path leads to from here, in order. Nulls are skipped, and media are not entered."""
        return walk(path.shape, self)

    def accepted_by(self, types: Collection[type]) -> bool:
        """Return whether the value has one of these types and is not a media item."""
        return type(self.value) in types and not is_media(self.value)

    # --- children

    def indices(self) -> Sequence[int]:
        """Return the indices of the kept items of this list, without the marker of an earlier pass."""
        value, node = self.value, self.node
        if type(node) is not Omission or node.kept is None:
            if len(value) < 2 or type(value[-1]) is not str or value[-1][:2] != markers.PREFIX:
                return range(len(value))
            marker = markers.read_item(value[-1], self.work.scans.is_entity)
            if marker is None or not holds_texts(value, node):
                return range(len(value))
            node = self.omission()
            node.earlier = marker
            node.keep(range(len(value) - 1), 0)
            self.work.marked = True
        return node.kept  # type: ignore[return-value]

    def entries(self) -> Sequence[Any]:
        """Return the indices of the kept items of this list, or the kept keys of this object, unless all keys stay."""
        if type(self.value) is list:
            return self.indices()
        self.work.in_maps = True
        return () if self.is_root or self.work.rule.all_keys else self.keys()

    def contents(self) -> list[Any]:
        """Return the values at `entries` as conditions see them, or the list itself if nothing is omitted."""
        value, indices = self.value, self.entries()
        inside = self.node.inside if type(self.node) is Omission else None
        if inside:
            return [build(value[i], inside.get(i), LAST, seen=True) for i in indices]
        return value if type(value) is list and len(indices) == len(value) else [value[i] for i in indices]

    def keys(self) -> Sequence[Any]:
        """Return the kept indices or keys of this list or object; media have none."""
        if type(self.value) is list:
            return self.indices()
        return [key for key in self.value if self.has(key)] if self.accepted_by((dict,)) else ()

    def has(self, key: str) -> bool:
        """Return whether this is an object that contains the key and keeps it."""
        if type(self.value) is not dict or key not in self.value:
            return False
        node = self.node
        return node.kept is None or key in node.kept if type(node) is Omission else node is None

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
        node = self.node.inside.get(key) if type(self.node) is Omission else None
        if depth > MAX_DEPTH:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        if node is None and has_structure(value):
            node = self.omission().inside[key] = open_live(value)
        if type(node) is Emptied:
            value = node.empty
        elif type(node) is Opened:
            return Place(node.value, node.inside.get(0), node, 0, work=self.work, depth=depth)
        return Place(value, node, self, key, work=self.work, depth=depth)

    def children(self) -> Iterator[Place]:
        """Yield the place of every child that is not a number, a boolean or null."""
        return (self.child(key) for key in self.keys() if type(self.value[key]) not in _NUMBERS)

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
        for child in self.children():
            yield from child.texts(longer_than)

    # --- omissions

    def omission(self) -> Omission:
        """Return the plan of this list or object. Create it on first use."""
        if type(self.node) is not Omission:
            self._attach(Omission())
        return self.node  # type: ignore[return-value]

    def _attach(self, node: Node) -> None:
        parent = self.parent
        inside = parent.inside if type(parent) is Opened else parent.omission().inside  # type: ignore[union-attr]
        existing = inside.get(self.key)
        if type(existing) is Omission and type(node) is Omission:
            node = existing
        inside[self.key] = self.node = node

    def keep_items(self, positions: Collection[int]) -> None:
        """Keep only the items at these positions in `contents`, plus all media. A root list keeps at least one item."""
        if type(self.value) is dict:
            entries = self.entries()
            kept = map(entries.__getitem__, positions)
            self.keep_keys(frozenset(self.value.keys() - set(entries).difference(kept)))
            return
        indices, value = self.indices(), self.value
        if any(type(item) not in _SIMPLE and (type(item) is not dict or "kind" in item) for item in value):
            media = {position for position, index in enumerate(indices) if is_media(value[index])}
            positions = sorted(media.union(positions))
        least = max(self.parent.least if type(self.parent) is Opened else 0, self.is_root)
        if len(positions) < least:
            positions = at_least(least, positions, len(indices))
        if len(positions) < len(indices):
            self.omission().keep([indices[position] for position in positions], self.work.step)
            self.work.edits += 1
            self.work.marked = self.work.marked or holds_texts(value[:1], None)

    def keep_keys(self, names: frozenset[str]) -> None:
        """Keep only these keys of this object, or of each object in this list, plus all media.

        At the root, and everywhere with `keys: all`, empty the values of other keys instead.
        """
        value, work = self.value, self.work
        if type(value) is list:
            self._keep_keys_of_each(names)
        elif not self.accepted_by((dict,)):
            return
        elif self.is_root or work.rule.all_keys:
            for key in self.keys():
                if key not in names:
                    self.empty(key)
        else:
            before = value if type(self.node) is not Omission or self.node.kept is None else self.node.kept
            if not names.issuperset(before):
                media = (key for key, item in value.items() if is_media(item))
                self.omission().keep(names.intersection(before).union(media), work.step)
                work.edits += 1

    def _keep_keys_of_each(self, names: frozenset[str]) -> None:
        version, inside, work = ((self.work.step, names),), self.omission().inside, self.work
        for index in self.indices():
            item = self.value[index]
            is_record = type(item) is dict and index not in inside and "kind" not in item and not work.rule.all_keys
            removed = item.keys() - names if is_record else ()
            if is_record and _SIMPLE.issuperset(map(type, map(item.__getitem__, removed))):
                # Records without media share their kept keys: a place for each would double the time.
                if removed:
                    inside[index] = Omission(names, version)
                    work.edits += 1
            elif type(item) not in _SIMPLE:
                child = self.child(index)
                if type(child.value) is dict:
                    child.keep_keys(names)

    def empty(self, key: str) -> None:
        """Replace a text, list or object at a key with an empty one. Any other value and media stay."""
        empty = empty_of(self.value[key])
        if empty is not None:
            inside = self.omission().inside
            inside[key] = Emptied(self.work.step, empty, inside.get(key))
            self.work.edits += 1

    def cut(self, head: int, tail: int) -> None:
        """Keep at most `head` characters at the start and `tail` at the end of this text, if the result is shorter."""
        if type(self.node) is Cut or markers.read(self.value, head, tail, self.work.scans.is_entity) is None:
            cut = shortened(self._cut_so_far(head, tail), head, tail, self.work.rule.vocabulary.everything)
            if cut is not None:
                self._cut(cut)

    def cut_out(self, mentions: tuple[str, ...], types: frozenset[str]) -> None:
        """Replace this text with a marker that mentions entities of `types`, if the marker is shorter."""
        before = self._cut_so_far(0, 0)
        cut = Cut(before.text, (), before.earlier, always=types)
        cut.written = cut.write((mentions,))
        self._cut(cut)

    def extract(self, types: frozenset[str]) -> bool:
        """Replace this text with a marker that mentions its entities of `types`, and return whether it has any."""
        if markers.read_alone(self.value, self.work.scans.is_entity) is not None:
            return True
        mentions = tuple(
            dict.fromkeys(entity.value for entity in self.work.scans.entities(self.value) if entity.type in types)
        )
        if mentions:
            self.cut_out(mentions, types)
        return bool(mentions)

    def unwrap(self) -> None:
        """Replace every JSON text at or below this place with its value, unless the value is longer."""
        parent = self.parent
        is_text = type(parent) is Opened and parent is not self.work.top and parent.is_json and not parent.unwrapped
        if is_text and fits(self.value):  # data in a text must not become media items
            parent.unwrapped = self.work.step  # type: ignore[union-attr]
            self.work.edits += 1
        for child in self.children():
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
        # An earlier cut may be the shorter one now, but not with the mentions that restoring adds.
        if len(cut.written) < len(self.value) and (before is None or cut.written != before.written):
            cut.step = self.work.step
            cut.before = before.before if before is not None and before.step == cut.step else before
            self._attach(cut)
            self.work.edits += 1
