"""Marks where something was cut, and of what was taken away the keys and items on the way to needed values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import is_
from typing import Any

from reducer import marks
from reducer.engine.aligned import aligned_items, left_of, owed_key, owed_keys, was_changed
from reducer.engine.claims import Claims
from reducer.engine.draft import Draft
from reducer.engine.leaves import LEAVES
from reducer.engine.thin import GONE
from reducer.engine.thin_plain import plain_thin
from reducer.values import MAX_DEPTH, PLAIN, Unreducible, chars, is_media

_LONG = 200
"""Average characters of the texts that a list kept, above which a mark says how many went."""
_CONTAINERS = frozenset({dict, list})
_SIMPLE = LEAVES | {str, list}
_PLAIN_ITEMS = PLAIN - {dict}


@dataclass(slots=True)
class Owed:
    """What is put back: `claims`, what has not found its place yet.

    `texts`: by id of a cut text the one with marks that mention some, and with stretches that stay; `spans`: by id of an object or list that
    went as a whole the list in which its texts stand and where, so that one without bearers is not entered; `keyed`: keys within what went
    as a whole may be bearers or hold protected values.
    """

    claims: Claims
    texts: dict[int, str]
    spans: dict[int, tuple[list[str], int, int]]
    keyed: bool


def put_back(draft: Draft, old: Any, new: Any, owed: Owed) -> Any:
    """Give `new`, which steps made of `old`, with its marks and with the keys and items of `old` that lead to what is owed.

    Raises `Unreducible` where it is too deep.
    """
    return _Walk(draft, owed).value(old, new, frozenset(), old)


class _Walk:
    __slots__ = ("_bearers", "_claims", "_draft", "_lost", "_needed", "_opened", "_plain", "_spans", "_texts", "_thin_plain")

    def __init__(self, draft: Draft, owed: Owed) -> None:
        self._draft = draft
        self._opened = draft.opened
        self._texts = owed.texts
        self._claims = claims = owed.claims
        self._needed, self._bearers, self._lost = claims.needed, claims.bearers, claims.lost
        self._spans = owed.spans
        self._plain = draft.is_plain and not owed.keyed
        self._thin_plain = plain_thin(claims.bearers, claims.pick)

    def value(self, old: Any, new: Any, types: frozenset[str], last: Any, depth: int = MAX_DEPTH) -> Any:
        """Give `new` with what is owed of `old`; where `new` is `GONE`, `last` was left of it before."""
        if new is old:
            return new
        if new is GONE:
            if not ((types and self._needed) or self._lost):
                return GONE
            span = self._spans.get(id(old))
            if span is not None and self._bearers.isdisjoint(span[0][span[1] : span[2]]):
                return GONE
            if not self._plain or type(old) not in _CONTAINERS or (last is not old and was_changed(self._draft, old, last)):
                return self._thin(old, types, last, depth)
            return self._thin_plain(old, types, depth)
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        old = self._opened(old)
        if type(old) is str:
            return new if old == new else self._text(old, new, types)
        if type(old) not in (dict, list):
            return new
        if type(new) is str:  # what stood in a text that was emptied
            left = self._thin(old, types, old, depth)
            return new if left is GONE else left
        result = self._object(old, new, depth - 1) if type(old) is dict else self._list(old, new, depth - 1)
        if result is not new:
            self._draft.stands_for(result, new)
        return result

    def _is_bare(self, value: Any) -> bool:
        """Tell whether a plain object has no bearer and nothing further in."""
        try:
            return type(value) is dict and self._bearers.isdisjoint(value.values())
        except TypeError:  # lists and objects are no members of sets
            return False

    def _text(self, old: str, new: str, types: frozenset[str]) -> str:
        if id(new) in self._draft.texts:
            return self._texts.get(id(new), new)
        left = self._claims.pick(old, types)
        return new if left is GONE else left

    def _object(self, old: dict[str, Any], new: dict[str, Any], depth: int) -> Any:
        result, bearers = {}, self._bearers
        owed = owed_keys(self._draft, old, new)
        for key, item in old.items():
            left = new.get(key, GONE)
            if left is item:
                result[key] = item
                continue
            if left is GONE and type(item) is str and not (item in bearers or key in bearers or self._lost):
                continue
            types, last = owed_key(self._draft, old, new, key) if owed is None else (owed, item)
            named = left is GONE and self._claims.takes(key, types)
            value = self.value(item, left, types, last, depth)
            if value is not GONE:
                result[key] = value
            elif named:
                result[key] = self._claims.beside(item)
        if result and self._draft.all_keys and len(result) < len(old):
            result = {key: result.get(key, self._draft.emptied(item)) for key, item in old.items()}
        same = len(result) == len(new) and all(value is new[key] for key, value in result.items())
        return new if same else result

    def _list(self, old: list[Any], new: list[Any], depth: int) -> Any:
        rows = list(aligned_items(self._draft, old, new))
        kept = self._draft.lists.get(id(new))
        prior = kept.prior if kept else None
        if prior is not None or (len(rows) > len(new) and all(type(item) is str or type(self._opened(item)) is str for item, *_ in rows)):
            return self._texts_of_list(rows, prior, depth)
        result = []
        flat = self._plain and not self._lost
        for item, left, types, last in rows:
            # Most that went as a whole: asked here, as a call of `value` takes as long again.
            if left is GONE and flat and id(item) not in self._spans and self._is_bare(item):
                continue
            value = left if left is item else self.value(item, left, types, last, depth)
            if value is not GONE:
                result.append(value)
        return new if len(result) == len(new) and all(map(is_, result, new)) else result

    def _texts_of_list(self, rows: list[tuple[Any, Any, frozenset[str], Any]], prior: marks.Mark | None, depth: int) -> list[Any]:
        opened = self._opened  # an enum is a text too
        gone = [(opened(item), types) for item, left, types, _ in rows if left is GONE]
        kept = [self.value(item, left, types, last, depth) for item, left, types, last in rows if left is not GONE]
        owed = {number: values for number, (item, types) in enumerate(gone) if (values := self._claims.claim(item, types))}
        stay = {number for number, (item, _) in enumerate(gone) if self._claims.regains(item)} if self._lost else set()
        mentions = tuple(
            dict.fromkeys((*(prior.mentions if prior else ()), *(value for number, values in owed.items() if number not in stay for value in values)))
        )
        count = len(gone) - len(stay) + (prior.count if prior else 0)
        noted = prior or mentions or (count and sum(len(opened(text)) for text in kept) > _LONG * len(kept))
        mark = str(marks.Mark(count, "items", mentions)) if noted else ""
        room = sum(chars(item) + 2 for number, (item, _) in enumerate(gone) if number not in stay)
        if noted and prior is None and len(mark) > room:
            mark, stay = "", stay | owed.keys()
        if not stay:
            return [*kept, mark] if mark else kept
        left_texts, number = [], -1
        standing = iter(kept)
        for item, left, *_ in rows:
            if left is not GONE:
                left_texts.append(next(standing))
            else:
                number += 1
                if number in stay:
                    left_texts.append(item)
        return [*left_texts, mark] if mark else left_texts

    def _thin(self, value: Any, types: frozenset[str], last: Any, depth: int) -> Any:
        """Keep of `value`, of which `last` was left when it was taken away, what leads to needed values, and media beside it; `GONE` if
        there is nothing."""
        opened = self._opened(value)
        kind = type(opened)
        if kind is str:
            return self._claims.pick(opened, types)
        if kind not in (dict, list) or is_media(opened):
            return value if self._claims.regains(opened) else GONE
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        changed = last is not value and was_changed(self._draft, opened, last)
        if changed:
            found = self._found_of(opened, self._opened(last), types, depth - 1)
        else:
            found = self._found(opened.items() if kind is dict else enumerate(opened), kind is dict, types, depth - 1)
        if not found:
            return GONE
        left = self._thin_list(opened, value, found) if kind is list else self._thin_object(opened, found)
        if self._draft.notation is None:
            return value if left is None else left
        if left is None:
            if not changed:
                return value
            left = opened.copy()
        # Written as it was when it was taken: what `unwrap` took out of a text is put back without its quotes.
        self._draft.stands_for(left, last if changed else value)
        return left

    def _thin_list(self, items: list[Any], value: Any, found: dict[Any, Any]) -> list[Any] | None:
        """Give what was found of the items, and media; None if that is all of them as they are."""
        indexes = [n for n, item in enumerate(items) if n in found or (type(item) not in _PLAIN_ITEMS and is_media(item))]
        if self._draft.notation is not None:
            indexes = list(self._draft.notation.enough(value, indexes, len(items)))
        left = [found.get(n, items[n]) for n in indexes]
        return None if len(left) == len(items) and all(a is b for a, b in zip(left, items, strict=True)) else left

    def _thin_object(self, value: dict[str, Any], found: dict[Any, Any]) -> dict[str, Any] | None:
        """Give the keys that were found, and media; None if that is all of them as they are."""
        if self._draft.all_keys:
            keys = {key: found[key] if key in found else self._draft.emptied(item) for key, item in value.items()}
        else:
            keys = {key: found.get(key, item) for key, item in value.items() if key in found or (type(item) not in _SIMPLE and is_media(item))}
        return None if len(keys) == len(value) and all(item is keys[key] for key, item in value.items()) else keys

    def _found(self, pairs: Iterable[tuple[Any, Any]], keyed: bool, types: frozenset[str], depth: int) -> dict[Any, Any]:
        """Give by key or index what is left of values that lead to needed ones; with `keyed` the keys may be needed too."""
        bearers, lost, found = self._bearers, self._lost, {}
        for key, item in pairs:
            named = keyed and (key in bearers or lost) and self._claims.takes(key, types)
            if type(item) is str:
                left = self._claims.pick(item, types) if item in bearers or lost else GONE
            elif type(item) in LEAVES:
                left = item if lost and self._claims.regains(item) else GONE
            else:
                left = self._thin(item, types, item, depth)
            if left is not GONE:
                found[key] = left
            elif named:
                found[key] = self._claims.beside(item)
        return found

    def _found_of(self, value: Any, last: Any, types: frozenset[str], depth: int) -> dict[Any, Any]:
        """Give the same of a value of which `last` was left when it was taken: what had gone before is owed by both steps or not at all."""
        found = {}
        for key, item, owed, before in left_of(self._draft, value, last, types):
            named = type(value) is dict and self._claims.takes(key, owed)
            left = self._thin(item, owed, before, depth)
            if left is not GONE:
                found[key] = left
            elif named:
                found[key] = self._claims.beside(item)
        return found
