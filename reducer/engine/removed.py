"""What a finished draft has taken away: its texts, with the entity types that are owed for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from reducer.engine.aligned import aligned_items, left_of, owed_key, owed_keys, was_changed
from reducer.engine.draft import Draft
from reducer.engine.leaves import LEAVES, Gather, are_texts, keys_apart, keys_in_order
from reducer.engine.record import NOTHING, Cut
from reducer.engine.thin import GONE
from reducer.values import MAX_DEPTH, Unreducible, is_media

_SCALARS = LEAVES | {str}
_SEVERAL = 4
"""Items from which on they are read together."""


@dataclass(slots=True)
class Piece:
    """Texts beside each other for which the same types are owed, or one text that was cut.

    `keys`: those of objects that went as a whole, each once, where they do not stand among the texts.
    """

    types: frozenset[str]
    cut: Cut | None = None
    texts: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def distinct(self) -> dict[str, None]:
        """Give each text and key once."""
        return dict.fromkeys([*self.texts, *self.keys]) if self.keys else dict.fromkeys(self.texts)


@dataclass(slots=True)
class Removed:
    """All that was taken away: its pieces, and by id of an object or list that went as a whole where its texts stand among those of a piece,
    unless it is a plain object without objects and lists in it.
    """

    pieces: list[Piece] = field(default_factory=list)
    spans: dict[int, tuple[list[str], int, int]] = field(default_factory=dict)


def removed(draft: Draft, old: Any, new: Any, ordered: bool) -> Removed:
    """Give every text that was taken away in full or in part on the way from `old` to `new`: as often as it stands there and in the
    order of the content if `ordered`, else at least once.

    Raises `Unreducible` where it is too deep.
    """
    walk = _Walk(draft, ordered)
    walk.between(old, new, frozenset(), MAX_DEPTH)
    return walk.removed if all(are_texts(piece.keys) for piece in walk.removed.pieces) else removed(draft, old, new, True)


class _Walk:
    __slots__ = ("_draft", "_gather", "_ordered", "_pieces", "removed")

    def __init__(self, draft: Draft, ordered: bool) -> None:
        self._draft = draft
        self._ordered = ordered
        self._gather: Gather
        self.removed = Removed()
        self._pieces = self.removed.pieces

    def between(self, old: Any, new: Any, types: frozenset[str], depth: int) -> None:
        if new is old or depth < 0:
            return
        if new is GONE:
            self._gone(old, types, old, depth)
            return
        old = self._draft.opened(old)
        kind = type(old)
        if kind is str:
            if old != new:
                cut = self._draft.texts.get(id(new))
                if cut is not None:
                    self._pieces.append(Piece(types, cut, [old]))
                elif types:
                    self._piece(types).texts.append(old)
        elif type(new) is str:  # what stood in a text that was emptied
            self._gone(old, types, old, depth)
        elif kind is dict:
            if not is_media(old):
                self._object(old, new, depth - 1)
        elif kind is list:
            self._list(old, new, depth - 1)

    def _piece(self, types: frozenset[str]) -> Piece:
        if not self._pieces or self._pieces[-1].cut is not None or self._pieces[-1].types != types:
            piece = Piece(types)
            self._pieces.append(piece)
            opened = self._draft.opened
            self._gather = keys_in_order(opened, piece.texts) if self._ordered else keys_apart(opened, piece.texts, piece.keys)
        return self._pieces[-1]

    def _gone(self, value: Any, types: frozenset[str], last: Any, depth: int) -> None:
        if not types:
            return
        if type(value) is str:
            self._piece(types).texts.append(value)
        elif last is not value and was_changed(self._draft, opened := self._draft.opened(value), last):
            if depth < 0:
                raise Unreducible(f"deeper than {MAX_DEPTH} levels")
            for key, item, owed, before in left_of(self._draft, opened, self._draft.opened(last), types):
                if owed:
                    if type(opened) is dict:
                        self._piece(owed).texts.append(key)
                    self._gone(item, owed, before, depth - 1)
        elif type(value) not in LEAVES:
            texts = self._piece(types).texts
            start = len(texts)
            self._gather(value)
            self.removed.spans[id(value)] = texts, start, len(texts)

    def _object(self, old: dict[str, Any], new: dict[str, Any], depth: int) -> None:
        draft = self._draft
        same = owed_keys(draft, old, new)
        for key, item in old.items():
            left = new.get(key, GONE)
            if left is item:
                continue
            types, last = owed_key(draft, old, new, key) if same is None else (same, item)
            if left is not GONE:
                self.between(item, left, types, depth)
            elif types:
                self._piece(types).texts.append(key)
                self._gone(item, types, last, depth)

    def _list(self, old: list[Any], new: list[Any], depth: int) -> None:
        run: list[Any] = []
        owed = NOTHING
        for item, left, types, last in aligned_items(self._draft, old, new):
            if left is item:
                continue
            if left is GONE and not self._ordered and (last is item or not was_changed(self._draft, item, last)):
                if types != owed:
                    self._all_gone(run, owed, depth)
                    run, owed = [], types
                run.append(item)
            elif left is GONE:
                self._gone(item, types, last, depth)
            else:
                self.between(item, left, types, depth)
        self._all_gone(run, owed, depth)

    def _all_gone(self, items: list[Any], types: frozenset[str], depth: int) -> None:
        """Add the texts of items of a list of which nothing had gone before."""
        if types and (len(items) < _SEVERAL or not self._flat(items, types)):
            for item in items:
                self._gone(item, types, item, depth)

    def _flat(self, items: list[Any], types: frozenset[str]) -> bool:
        """Add the texts of items that are all plain objects without lists and objects in them; tell whether they are.

        Records of a log, as such items mostly are, are read at C speed: in a ninth of the time.
        """
        if not {dict}.issuperset(map(type, items)):
            return False
        try:
            values = set(chain.from_iterable(map(dict.values, items)))
        except Exception:  # lists and objects have no hash; that of what is no JSON may raise anything
            return False
        keys = set[Any]().union(*items)
        if "kind" in keys or not _SCALARS.issuperset(map(type, values)) or not are_texts(keys):
            return False
        piece = self._piece(types)
        piece.keys |= keys
        piece.texts += [text for text in values if type(text) is str]
        return True
