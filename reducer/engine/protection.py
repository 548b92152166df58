"""Values that later messages refer to: in which keys, texts and numbers of a return they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from reducer.engine.record import Cut, Range
from reducer.references import occurrences, searched, searcher
from reducer.values import MAX_DEPTH, Unreducible, is_media, plain

Protected = Collection[str] | Callable[[], frozenset[str]]
"""Values that are protected, or what finds those of them that stand in the content: it is asked only where rules take something away."""

_BREAKS = re.compile(r"\\[nrt]")
"""Escapes whose letter is no part of the word behind it."""
_NUMBERS = frozenset({int, float})


class Protection:
    """The protected values that stand in one return; `held` remembers of every text and number which of them it holds."""

    __slots__ = ("_find", "_held", "_search", "_values", "_whole")

    def __init__(self, find: Callable[[], frozenset[str]], whole: bool) -> None:
        self._find = find
        self._whole = whole
        self._values: frozenset[str] | None = None
        self._search: Callable[[str], set[str]] | None = None
        self._held: dict[tuple[type, Any], frozenset[str]] = {}

    @property
    def values(self) -> frozenset[str]:
        """Give the values, looked for when they are first asked for. Raises `Unreducible` for a content that is too deep."""
        if self._values is None:
            self._values = self._find()
        return self._values

    def held(self, leaf: Any) -> frozenset[str]:
        """Give the values in one key, text, number or media item, which stand there as `reducer.references` reads it."""
        if self._search is None:
            self._search = searcher(self.values)
        if type(leaf) not in _NUMBERS and type(leaf) is not str:
            return frozenset(self._search(searched(leaf)))
        place = (type(leaf), leaf)
        found = self._held.get(place)
        if found is None:
            # A return that is a text as a whole is read without its escapes, a text in structure as it stands.
            found = self._held[place] = frozenset(self._search(searched(leaf if self._whole else [leaf])))
        return found

    def place(self, value: str, text: str, ranges: Iterable[Range]) -> Range | None:
        """Give the first place of a value in a text, as it is written, that lies in one of some ranges; None where there is none."""
        if self._whole and "\\" in text:
            text = _BREAKS.sub("  ", text)
        return min([place for place in occurrences(value, text) if any(a <= place[0] and place[1] <= b for a, b in ranges)], default=None)

    def stand(self, values: Collection[str], texts: Iterable[str]) -> bool:
        """Tell whether each of some values stands in one of some texts."""
        return frozenset[str]().union(*map(self.held, texts)).issuperset(values)

    def lost(self, value: Any, opened: Callable[[Any], Any], cuts: dict[int, Cut]) -> frozenset[str]:
        """Give the values that do not stand in what is left of the return. Raises `Unreducible` where it is too deep."""
        return self.values - self._shown(value, opened, cuts) if self.values else self.values

    def _shown(self, value: Any, opened: Callable[[Any], Any], cuts: dict[int, Cut]) -> set[str]:
        """Give the values that stand in a value, marks left aside."""
        found: set[str] = set()

        def look(value: Any, depth: int) -> None:
            value = opened(value)
            kind = type(value)
            if kind is str:
                cut = cuts.get(id(value))
                for text in (value,) if cut is None else [cut.old[start:end] for start, end in cut.kept]:
                    found.update(self.held(text))
            elif kind in _NUMBERS or is_media(value):
                found.update(self.held(value))
            elif kind is dict or kind is list:
                if depth < 0:
                    raise Unreducible(f"deeper than {MAX_DEPTH} levels")
                for item in value:
                    if kind is dict:
                        found.update(self.held(item))
                        item = value[item]
                    look(item, depth - 1)

        look(value, MAX_DEPTH)
        return found


def protect(protected: Protected | None, content: Any, value: Any) -> Protection | None:
    """Make the protection of those of some values that stand in a content, which opened is `value`; None without any."""
    if not protected:
        return None
    if callable(protected):
        return Protection(protected, type(value) is str)
    return Protection(lambda: frozenset(searcher(protected)(searched(content if type(content) is str else plain(content)))), type(value) is str)
