"""Places: what an operation receives, and the only functions that add omissions to a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from operator import contains
from typing import Any

from reducer import markers
from reducer.engine.cuts import Cut, replaced, shortened, uncut
from reducer.engine.plan import (
    Emptied,
    Node,
    Omission,
    Opened,
    build,
    contains_media,
    empty_of,
    has_structure,
    open_live,
    text_of,
)
from reducer.engine.references import References, reach_of_excerpts
from reducer.engine.scans import Scans
from reducer.paths import Path, walk
from reducer.rules import Rule
from reducer.values import MAX_DEPTH, Unreducible, is_media

Key = str | int

_NUMBERS = frozenset({int, float, bool, type(None)})
_LEAVES = _NUMBERS | {str}
_SIMPLE = _LEAVES | {list}
_PLAIN = _SIMPLE | {dict}


class Work:
    """One pass of a rule over one return: the number of the current step and what all of its places share.

    `edits` counts the omissions so far; `marked` says whether some list of texts lost items. `scan` returns the
    entities in a text that the rule looks for, `scan_all` those of all types, `reads` whether a whole text reads as one
    entity.
    """

    __slots__ = ("all_keys", "edits", "expand", "marked", "reads", "references", "scan", "scan_all", "step", "top")

    def __init__(self, top: Opened, rule: Rule, scans: Scans, references: References | None) -> None:
        self.top = top
        self.step = 0
        self.edits = 0
        self.marked = False
        self.references = references
        self.all_keys = rule.all_keys
        self.scan = scans.entities
        self.reads = scans.reads
        self.scan_all = rule.vocabulary.everything
        self.expand = rule.vocabulary.expand

    def root(self) -> Place:
        """Return the place of the whole return."""
        return Place(self.top.value, self.top.inside.get(0), self.top, 0, self)


def _may_have_media(items: list[Any]) -> bool:
    """Return whether some of these items can be media: asked at C speed, as nearly none are."""
    kinds = set(map(type, items))
    return any(map(contains, items, repeat("kind"))) if kinds == {dict} else not kinds <= _SIMPLE


class Place:
    """A value that a path leads to, with its plan so far; all that an operation works with."""

    __slots__ = ("above", "depth", "key", "node", "value", "work")

    def __init__(
        self, value: Any, node: Node | None, above: Place | Opened, key: Key, work: Any, depth: int = 0
    ) -> None:
        self.value = value
        self.node = node
        self.above = above
        self.key = key
        self.work = work
        self.depth = depth

    @property
    def is_root(self) -> bool:
        """Whether this is the whole return."""
        return self.above is self.work.top

    def find(self, path: Path) -> list[Place]:
        """Return the places that a path leads to from here, in order; null is no place, and media are not entered."""
        return walk(path.shape, self)

    def accepted_by(self, types: Collection[type]) -> bool:
        """Return whether an operation for values of these types works here; it never does on media."""
        return type(self.value) in types and not is_media(self.value)

    @property
    def json(self) -> Any:
        """The value as the plan leaves it, which is what conditions see."""
        return build(self.value, self.node, seen=True)

    # --- children

    def indices(self) -> Sequence[int]:
        """Return the indices of the items of this list that are still kept."""
        node = self.node
        return node.kept if type(node) is Omission and node.kept is not None else range(len(self.value))  # type: ignore[return-value]

    def contents(self) -> list[Any]:
        """Return the items of this list as the plan leaves them: the list itself if it leaves all of it."""
        node = self.node
        if type(node) is not Omission:
            return [] if type(node) is Emptied else self.value
        if not node.inside:
            return self.value if node.kept is None else [self.value[i] for i in node.kept]
        inside, value = node.inside, self.value
        return [build(value[i], inside.get(i), seen=True) for i in self.indices()]

    def fields(self) -> dict[str, Any]:
        """Return this object as the plan leaves it: the object itself if it leaves all of it."""
        return self.json  # type: ignore[no-any-return]

    def field(self, name: str) -> Place | None:
        """Return the place at a key of this object; None without one, or for null."""
        return (
            self.child(name) if self.has(name) and not is_media(self.value) and self.value[name] is not None else None
        )

    def items(self) -> list[Place | None] | None:
        """Return the places of the items of this list, None for null; None if it is no list."""
        if type(self.value) is not list:
            return None
        return [None if self.value[index] is None else self.child(index) for index in self.indices()]

    def values(self) -> list[Place | None]:
        """Return the places at all keys of this object, None for null."""
        if type(self.value) is not dict or is_media(self.value):
            return []
        return [None if item is None else self.child(key) for key, item in self.value.items() if self.has(key)]

    def has(self, key: str) -> bool:
        """Return whether this is an object that still has the key."""
        if type(self.value) is not dict or key not in self.value:
            return False
        node = self.node
        if type(node) is Omission:
            return node.kept is None or key in node.kept
        return node is None

    def child(self, key: Key) -> Place:
        """Return the place of an item or value, opened. Raises `Unreducible` past `MAX_DEPTH` levels."""
        value, node = self.value[key], self.node
        inside = node.inside.get(key) if type(node) is Omission else None
        depth = self.depth + 1
        if depth > MAX_DEPTH:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        kind = type(inside)
        if inside is None:
            if has_structure(value):
                inside = self.make().inside[key] = open_live(value)
            else:
                return Place(value, None, self, key, self.work, depth)
        elif kind is Emptied:
            return Place(inside.empty, inside, self, key, self.work, depth)  # type: ignore[union-attr]
        if type(inside) is Opened:
            return Place(inside.value, inside.inside.get(0), inside, 0, self.work, depth)
        return Place(value, inside, self, key, self.work, depth)

    def objects(self) -> Iterator[Place]:
        """Yield the place of this object, or of each object in this list."""
        if type(self.value) is dict:
            if not is_media(self.value):
                yield self
        elif type(self.value) is list:
            for index in self.indices():
                if type(self.value[index]) not in _SIMPLE:
                    child = self.child(index)
                    if type(child.value) is dict and not is_media(child.value):
                        yield child

    def children(self) -> Iterator[Place]:
        """Yield the place of every value of this object or list that is no number, boolean or null."""
        value = self.value
        if type(value) is list:
            for index in self.indices():
                if type(value[index]) not in _NUMBERS:
                    yield self.child(index)
        elif type(value) is dict and not is_media(value):
            for key in value:
                if type(value[key]) not in _NUMBERS and self.has(key):
                    yield self.child(key)

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
        media = [p for p, index in enumerate(indices) if is_media(value[index])] if _may_have_media(value) else ()
        if media:
            positions = sorted({*positions, *media})
        least = max(self.above.least if type(self.above) is Opened else 0, self.is_root)
        if len(positions) < least:
            others = [position for position in range(len(indices)) if position not in positions]
            positions = sorted([*positions, *others[: least - len(positions)]])
        if len(positions) < len(indices):
            self.make().keep([indices[position] for position in positions], self.work.step)
            self.work.edits += 1
            self.work.marked = self.work.marked or type(text_of(value[0])) is str

    def keep_keys(self, names: frozenset[str]) -> None:
        """Keep these keys of this object; media always. At the root, and with `keys: all`, the others are emptied."""
        value = self.value
        if self.is_root or self.work.all_keys:
            for key in value:
                if key not in names and self.has(key):
                    self.empty(key)
            return
        kept = self.node.kept if type(self.node) is Omission else None
        names = names if kept is None else names & kept  # type: ignore[operator]
        if not (value.keys() if kept is None else kept) <= names:  # type: ignore[operator]
            self._keep_keys(self.make(), value, names)

    def keep_keys_of_each(self, names: frozenset[str]) -> None:
        """Keep these keys of this object, or of each object in this list, as `keep_keys` does."""
        if type(self.value) is not list or self.work.all_keys:
            for found in self.objects():
                found.keep_keys(names)
            return
        # Plain records share what they keep: a place for each would take as long as all the rest.
        inside, version = self.make().inside, ((self.work.step, names),)
        for index in self.indices():
            item = self.value[index]
            if type(item) is dict and index not in inside and "kind" not in item:
                if item.keys() <= names:
                    continue
                if not [v for v in item.values() if type(v) not in _SIMPLE and (type(v) is not dict or "kind" in v)]:
                    inside[index] = node = Omission()
                    node.kept, node.versions = names, version
                    self.work.edits += 1
                    continue
            if type(item) not in _SIMPLE:
                child = self.child(index)
                if type(child.value) is dict and not is_media(child.value):
                    child.keep_keys(names)

    def _keep_keys(self, node: Omission, value: dict[str, Any], names: frozenset[str]) -> None:
        media = [key for key, item in value.items() if is_media(item)]
        node.keep(names.union(media), self.work.step)
        self.work.edits += 1

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
        work = self.work
        if type(self.node) is not Cut and markers.read(self.value, head, tail, work.reads) is not None:
            return
        cut = shortened(self._cut_so_far(head, tail), head, tail, work.scan_all)
        if cut is not None:
            self._cut(cut)

    def cut_out(self, mentions: tuple[str, ...], types: frozenset[str]) -> None:
        """Replace this text with a marker that mentions entities of `types`, if that is shorter."""
        self._cut(replaced(self._cut_so_far(0, 0), mentions, types))

    def extract(self, types: frozenset[str]) -> bool:
        """Replace this text with a marker that mentions its entities of `types`; return whether there are any."""
        if markers.read_alone(self.value, self.work.reads) is not None:
            return True
        mentions = tuple(dict.fromkeys(entity.value for entity in self.work.scan(self.value) if entity.type in types))
        if mentions:
            self.cut_out(mentions, types)
        return bool(mentions)

    def unwrap(self) -> None:
        """Let every JSON text in this place be replaced with its value, if that is no longer."""
        above = self.above
        is_text = type(above) is Opened and above is not self.work.top and above.is_json and not above.unwrapped
        if is_text and not contains_media(self.value):  # media would become real
            above.unwrapped = self.work.step  # type: ignore[union-attr]
            self.work.edits += 1
        for child in self.children():
            child.unwrap()

    def _cut_so_far(self, head: int, tail: int) -> Cut:
        if type(self.node) is Cut:
            return self.node
        text, references = self.value, self.work.references
        return uncut(text, tail, lambda: head + reach_of_excerpts(references, text), self.work.reads)

    def _cut(self, cut: Cut) -> None:
        before = self.node if type(self.node) is Cut else None
        if len(cut.written) < len(self.value if before is None else before.written):
            cut.step, cut.before = self.work.step, before
            self._attach(cut)
            self.work.edits += 1
