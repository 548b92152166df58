"""What must not vanish: the entities in the texts of one return, and the values in it that later messages reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from reducer.engine.cuts import EXCERPT, Cut, Range, Scan, own, with_excerpts
from reducer.entities import Entity
from reducer.formats import Atom
from reducer.references import occurrences, searched, searcher
from reducer.rules import Rule
from reducer.values import MOST_CHARS, Unreducible, plain

Protected = Collection[str] | Callable[[], frozenset[str]]
"""Values that are protected, or what finds those of them that are in the content: it is called only if rules remove
something.
"""

_EARLIER = 1000
"""Characters that excerpts of an earlier pass, whose references are not known, add to the head of a text."""
_BREAKS = re.compile(r"\\[nrt]")
"""Escapes whose letter is no part of the next word."""
_HASHABLE = frozenset({int, float, str})


class Scans:
    """The entities of the types that a rule preserves, by text; `found` has the texts that contain any.

    Made for one return and kept for its second pass, which reads the same texts.
    """

    __slots__ = ("_read", "_scan", "_scan_many", "found")

    def __init__(self, rule: Rule) -> None:
        self.found: dict[str, Sequence[Entity]] = {}
        self._read: set[str] = set()
        self._scan = rule.vocabulary.scanner(rule.types)
        self._scan_many = rule.vocabulary.scanner_of_many(rule.types)

    def entities(self, text: str) -> Sequence[Entity]:
        """Return the entities in a text."""
        self.read((text,))
        return self.found.get(text, ())

    def read(self, texts: Iterable[str]) -> None:
        """Add the entities in some texts to `found`. Raises `Unreducible` for a huge text."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._read]
        if fresh:
            if max(map(len, fresh)) > MOST_CHARS:
                raise Unreducible(f"a text of more than {MOST_CHARS:,} characters")
            self._read.update(fresh)
            self.found.update(self._scan_many(fresh))

    def reads(self, value: str) -> bool:
        """Return whether a whole text reads as one entity."""
        return any(entity.value == value for entity in self._scan(value))


class References:
    """The referenced values that one return contains."""

    def __init__(self, find: Callable[[], frozenset[str]], is_text: bool) -> None:
        self._find = find
        self._is_text = is_text
        self._held: dict[tuple[type, Any], frozenset[str]] = {}

    @cached_property
    def values(self) -> frozenset[str]:
        """The values, looked for when they are first needed. Raises `Unreducible` for a content that is too deep."""
        return self._find()

    @cached_property
    def _search(self) -> Callable[[str], set[str]]:
        return searcher(self.values)

    def held(self, leaf: Any) -> frozenset[str]:
        """Return the values in one key, text, number or media item."""
        if not self.values or leaf is None or type(leaf) is bool:
            return frozenset()
        if type(leaf) is Atom:
            leaf = leaf.source
        if type(leaf) not in _HASHABLE:
            return frozenset(self._search(searched(leaf)))
        place = (type(leaf), leaf)
        found = self._held.get(place)
        if found is None:
            # A return that is one text is read without its escapes, a text within structure as it is.
            found = self._held[place] = frozenset(self._search(searched(leaf if self._is_text else [leaf])))
        return found

    def missing(self, left: Iterable[Any], cuts: Iterable[Cut]) -> frozenset[str]:
        """Return the values that are neither in what remains nor in what cut texts keep."""
        if not self.values:
            return self.values
        kept = [cut.text[start:end] for cut in cuts for start, end in cut.kept]
        return self.values.difference(*map(self.held, [*left, *kept]))

    def widened(self, cut: Cut, values: Collection[str], scan_all: Callable[[], Scan]) -> Cut:
        """Return the cut that also keeps an excerpt around the first place of each value, or else all of the text."""
        pieces = own(cut.text, cut.earlier)
        wider = with_excerpts(cut, [self._place(value, cut.text, pieces) for value in sorted(values)], scan_all)
        return replace(cut, kept=((0, len(cut.text)),)) if self.missing((), [wider]).intersection(values) else wider

    def reach(self, text: str) -> int:
        """Return how many characters excerpts can have added to the head of a text, in this pass or an earlier one."""
        return max(_EARLIER, sum(len(value) + 2 * EXCERPT for value in self.held(text)))

    def _place(self, value: str, text: str, ranges: Sequence[Range]) -> Range | None:
        """Return the first place of a value in a text that lies in one of some ranges; None without one."""
        if self._is_text and "\\" in text:
            text = _BREAKS.sub("  ", text)
        places = (
            place for place in occurrences(value, text) if any(a <= place[0] and place[1] <= b for a, b in ranges)
        )
        return min(places, default=None)


def references_in(protected: Protected | None, content: Any, value: Any) -> References:
    """Return the protected values that a content has, which is `value` when opened."""

    def find() -> frozenset[str]:
        if not protected:
            return frozenset()
        if callable(protected):
            return protected()
        return frozenset(searcher(protected)(searched(content if type(content) is str else plain(content))))

    return References(find, type(value) is str)
