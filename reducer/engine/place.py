"""Places: what an operation receives, and the only functions that add omissions to a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from reducer import markers
from reducer.engine.cuts import Cut, own, shortened
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
    """One pass of a rule over one return: the number of the current step and what all of its places share.

    `edits` counts the omissions so far; `marked` says whether some list of texts lost items.
    """

    top: Opened
    rule: Rule
    scans: Scans
    references: References
    step: int = 0
    edits: int = 0
    marked: bool = False

    def root(self) -> Place:
        """Return the place of the whole return."""
        return Place(self.top.value, self.top.inside.get(0), self.top, 0, work=self)


@dataclass(slots=True, eq=False)
class Place:
    """A value that a path leads to, with its plan so far; all that an operation works with."""

    value: Any
    node: Node | None
    above: Place | Opened
    key: Key
    _: KW_ONLY
    work: Any
    depth: int = 0

    @property
    def is_root(self) -> bool:
        """Whether this is the whole return."""
        return self.above is self.work.top

    @property
    def json(self) -> Any:
        """The value as the plan leaves it, which is what conditions see."""
        return build(self.value, self.node, LAST, seen=True)

    def find(self, path: Path) -> list[Place]:
        """Return the places that a path leads to from here, in order; null is no place, and media are not entered."""
        return walk(path.shape, self)

    def accepted_by(self, types: Collection[type]) -> bool:
        """Return whether an operation for values of these types works here; it never does on media."""
        return type(self.value) in types and not is_media(self.value)

    # --- children

    def indices(self) -> Sequence[int]:
        """Return the indices of the items of this list that are still kept, without the marker of an earlier pass."""
        value, node = self.value, self.node
        if type(node) is not Omission or node.kept is None:
            if len(value) < 2 or type(value[-1]) is not str or value[-1][:2] != markers.PREFIX:
                return range(len(value))
            marker = markers.read_item(value[-1], self.work.scans.reads)
            if marker is None or not holds_texts(value, node):
                return range(len(value))
            node = self.make()
            node.earlier = marker
            node.keep(range(len(value) - 1), 0)
            self.work.marked = True
        return node.kept  # type: ignore[return-value]

    def contents(self) -> list[Any]:
        """Return the items of this list as the plan leaves them: the list itself if it leaves all of it."""
        value, indices = self.value, self.indices()
        inside = self.node.inside if type(self.node) is Omission else None
        if inside:
            return [build(value[i], inside.get(i), LAST, seen=True) for i in indices]
        return value if len(indices) == len(value) else [value[i] for i in indices]

    def keys(self) -> Sequence[Any]:
        """Return the indices or keys that this list or object still has; none for media."""
        if type(self.value) is list:
            return self.indices()
        return [key for key in self.value if self.has(key)] if self.accepted_by((dict,)) else ()

    def has(self, key: str) -> bool:
        """Return whether this is an object that still has the key."""
        if type(self.value) is not dict or key not in self.value:
            return False
        node = self.node
        return node.kept is None or key in node.kept if type(node) is Omission else node is None

    def field(self, name: str) -> Place | None:
        """Return the place at a key of this object; None without one, or for null."""
        present = self.has(name) and not is_media(self.value) and self.value[name] is not None
        return self.child(name) if present else None

    def items(self) -> list[Place | None] | None:
        """Return the places of the items of this list, None for null; None if it is no list."""
        return self._below() if type(self.value) is list else None

    def values(self) -> list[Place | None]:
        """Return the places at all keys of this object, None for null."""
        return self._below() if type(self.value) is dict else []

    def _below(self) -> list[Place | None]:
        return [None if self.value[key] is None else self.child(key) for key in self.keys()]

    def child(self, key: Key) -> Place:
        """Return the place of an item or value, opened. Raises `Unreducible` past `MAX_DEPTH` levels."""
        value, depth = self.value[key], self.depth + 1
        node = self.node.inside.get(key) if type(self.node) is Omission else None
        if depth > MAX_DEPTH:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        if node is None and has_structure(value):
            node = self.make().inside[key] = open_live(value)
        if type(node) is Emptied:
            value = node.empty
        elif type(node) is Opened:
            return Place(node.value, node.inside.get(0), node, 0, work=self.work, depth=depth)
        return Place(value, node, self, key, work=self.work, depth=depth)

    def children(self) -> Iterator[Place]:
        """Yield the place of every value of this object or list that is no number, boolean or null."""
        return (self.child(key) for key in self.keys() if type(self.value[key]) not in _NUMBERS)

    def objects(self) -> Iterator[Place]:
        """Yield the place of this object, or of each object in this list."""
        places = [self] if type(self.value) is dict else self.children()
        return (place for place in places if place.accepted_by((dict,)))

    def texts(self, longer_than: int = 0) -> Iterator[Place]:
        """Yield every text at or below this place that has more characters than that."""
        if type(self.value) is str:
            if len(self.value) > longer_than:
                yield self
            return
        for child in self.children():
            yield from child.texts(longer_than)

    # --- omissions

    def make(self) -> Omission:
        """Return the plan of this list or object, made on first use."""
        if type(self.node) is not Omission:
            self._attach(Omission())
        return self.node  # type: ignore[return-value]

    def _attach(self, node: Node) -> None:
        inside = self.above.inside if type(self.above) is Opened else self.above.make().inside  # type: ignore[union-attr]
        known = inside.get(self.key)
        if type(known) is Omission and type(node) is Omission:
            node = known
        inside[self.key] = self.node = node

    def keep_items(self, positions: Collection[int]) -> None:
        """Keep these of the items that `contents` returns, in order; media always, and of a root list at least one."""
        indices, value = self.indices(), self.value
        special = [item for item in value if type(item) not in _SIMPLE and (type(item) is not dict or "kind" in item)]
        if special:  # media may be among them
            media = {position for position, index in enumerate(indices) if is_media(value[index])}
            positions = sorted(media.union(positions))
        least = max(self.above.least if type(self.above) is Opened else 0, self.is_root)
        if len(positions) < least:
            positions = at_least(least, positions, len(indices))
        if len(positions) < len(indices):
            self.make().keep([indices[position] for position in positions], self.work.step)
            self.work.edits += 1
            self.work.marked = self.work.marked or holds_texts(value[:1], None)

    def keep_keys(self, names: frozenset[str]) -> None:
        """Keep these keys of this object, or of each object in this list; media always.

        At the root, and with `keys: all`, the others are emptied.
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
                self.make().keep(names.intersection(before).union(media), work.step)
                work.edits += 1

    def _keep_keys_of_each(self, names: frozenset[str]) -> None:
        version, inside, work = ((self.work.step, names),), self.make().inside, self.work
        for index in self.indices():
            item = self.value[index]
            is_record = type(item) is dict and index not in inside and "kind" not in item and not work.rule.all_keys
            removed = item.keys() - names if is_record else ()
            if is_record and _SIMPLE.issuperset(map(type, map(item.__getitem__, removed))):
                # Records without media share what they keep: a place for each would take as long as all the rest.
                if removed:
                    inside[index] = Omission(names, version)
                    work.edits += 1
            elif type(item) not in _SIMPLE:
                child = self.child(index)
                if type(child.value) is dict:
                    child.keep_keys(names)

    def drop_keys(self, names: Collection[str]) -> None:
        """Remove these keys of the object."""
        if any(map(self.has, names)):
            self.keep_keys(frozenset(self.value.keys() - names))

    def empty(self, key: str) -> None:
        """Replace the value at a key with the empty value of its type; numbers, booleans, null and media stay."""
        empty = empty_of(self.value[key])
        if empty is not None:
            inside = self.make().inside
            inside[key] = Emptied(self.work.step, empty, inside.get(key))
            self.work.edits += 1

    def cut(self, head: int, tail: int) -> None:
        """Keep at most `head` characters at the start of this text and `tail` at its end, if that is shorter."""
        if type(self.node) is Cut or markers.read(self.value, head, tail, self.work.scans.reads) is None:
            cut = shortened(self._cut_so_far(head, tail), head, tail, self.work.rule.vocabulary.everything)
            if cut is not None:
                self._cut(cut)

    def cut_out(self, mentions: tuple[str, ...], types: frozenset[str]) -> None:
        """Replace this text with a marker that mentions entities of `types`, if that is shorter."""
        before = self._cut_so_far(0, 0)
        cut = Cut(before.text, (), before.earlier, always=types)
        cut.written = cut.write((mentions,))
        self._cut(cut)

    def extract(self, types: frozenset[str]) -> bool:
        """Replace this text with a marker that mentions its entities of `types`; return whether there are any."""
        if markers.read_alone(self.value, self.work.scans.reads) is not None:
            return True
        mentions = tuple(
            dict.fromkeys(entity.value for entity in self.work.scans.entities(self.value) if entity.type in types)
        )
        if mentions:
            self.cut_out(mentions, types)
        return bool(mentions)

    def unwrap(self) -> None:
        """Let every JSON text in this place be replaced with its value, if that is no longer."""
        above = self.above
        is_text = type(above) is Opened and above is not self.work.top and above.is_json and not above.unwrapped
        if is_text and fits(self.value):  # media would become real
            above.unwrapped = self.work.step  # type: ignore[union-attr]
            self.work.edits += 1
        for child in self.children():
            child.unwrap()

    def _cut_so_far(self, head: int, tail: int) -> Cut:
        """Return the cut so far: all of the text but the markers that an earlier pass can have written."""
        if type(self.node) is Cut:
            return self.node
        text, work = self.value, self.work
        earlier = markers.read_all(text, tail, work.scans.reads)
        if not earlier or earlier[0].start > head + work.references.reach(text):
            return Cut(text, ((0, len(text)),))  # such a marker is text
        return Cut(text, tuple(own(text, earlier)), earlier)

    def _cut(self, cut: Cut) -> None:
        before = self.node if type(self.node) is Cut else None
        if len(cut.written) < len(self.value if before is None else before.written):
            cut.step = self.work.step
            cut.before = before.before if before is not None and before.step == cut.step else before
            self._attach(cut)
            self.work.edits += 1
