"""Find what must not vanish from one return: entities in its texts, and values that later messages reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from reducer.entities import Entity
from reducer.entities.entity import under_key
from reducer.entities.vocabulary import Vocabulary
from reducer.formats import Atom
from reducer.plan.cuts import EXCERPT, Cut, Range, Scan, is_within, outside_markers, with_excerpts
from reducer.references import occurrences, searched, searcher
from reducer.values import MAX_TEXT_CHARS, Unreducible, plain

Protected = Collection[str] | Callable[[], frozenset[str]]
"""Protected values, or a function that returns those in the content. It is called only if a rule removes something."""

_EARLIER = 1000
"""Characters by which excerpts of an earlier pass, whose references are unknown, can extend the head of a text."""
_BREAKS = re.compile(r"\\[nrt]")
"""Escapes whose letter is not part of the next word."""
_HASHABLE = frozenset({int, float, str})


class Scans:
    """The entities of some types in a return. `found` maps each scanned text that contains any to them.

    One object serves both passes over a return, because they scan the same texts.
    """

    __slots__ = ("_scan", "_scan_many", "_scanned", "_windows", "found", "vocabulary")

    def __init__(self, vocabulary: Vocabulary, types: frozenset[str]) -> None:
        self.vocabulary = vocabulary
        self.found: dict[str, Sequence[Entity]] = {}
        self._scanned: set[str] = set()
        self._scan = vocabulary.scanner(types)
        self._scan_many = vocabulary.scanner_of_many(types)
        self._windows: dict[str, Sequence[Entity]] = {}

    def entities(self, text: str) -> Sequence[Entity]:
        """Return the entities in a text."""
        self.scan((text,))
        return self.found.get(text, ())

    def scan(self, texts: Iterable[str]) -> None:
        """Add the entities in some texts to `found`. Raises `Unreducible` for a huge text."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._scanned]
        if fresh:
            if max(map(len, fresh)) > MAX_TEXT_CHARS:
                raise Unreducible(f"a text of more than {MAX_TEXT_CHARS:,} characters")
            self._scanned.update(fresh)
            self.found.update(self._scan_many(fresh))

    def scan_windows(self, windows: Iterable[str]) -> None:
        """Scan parts of texts for entities of all types together: one by one, they would hold up other threads.

        The scanner of names releases Python's lock for each text, and takes it again before another thread does.
        """
        parts = dict.fromkeys(windows, ())
        self._windows = {**parts, **self.vocabulary.scanner_of_many(self.vocabulary.all_types)(parts)}

    def any_entities(self, text: str) -> Sequence[Entity]:
        """Return the entities of all types in a part of a text."""
        found = self._windows.get(text)
        return self.vocabulary.everything()(text) if found is None else found

    def is_entity(self, text: str) -> bool:
        """Return whether a marker can mention a whole text, because it is one entity."""
        return any(entity.value == text for entity in under_key(self._scan, "mentions", text))


class References:
    """The protected values in one return; `is_text` if its content is a text without structure."""

    def __init__(self, protected: Protected | None, content: Any, is_text: bool) -> None:
        self._protected = protected
        self._content = content
        self._is_text = is_text
        self._cached: dict[tuple[type, Any], frozenset[str]] = {}

    @cached_property
    def values(self) -> frozenset[str]:
        """The values, searched when they are first needed. Raises `Unreducible` if the content is nested too deeply."""
        if callable(self._protected):
            return self._protected()
        if not self._protected:
            return frozenset()
        content = self._content if type(self._content) is str else plain(self._content)
        return frozenset(searcher(self._protected)(searched(content)))

    @cached_property
    def _search(self) -> Callable[[str], set[str]]:
        return searcher(self.values)

    def values_in(self, leaf: Any) -> frozenset[str]:
        """Return the values in one key, text, number or media item."""
        if not self.values or leaf is None or type(leaf) is bool:
            return frozenset()
        if type(leaf) is Atom:
            leaf = leaf.source
        if type(leaf) not in _HASHABLE:
            return frozenset(self._search(searched(leaf)))
        key = (type(leaf), leaf)  # 1 is equal to True and 1.0
        values = self._cached.get(key)
        if values is None:
            # Escapes are decoded in a return that is one text, but not in a text within structure.
            values = self._cached[key] = frozenset(self._search(searched(leaf if self._is_text else [leaf])))
        return values

    def missing(self, remaining: Iterable[Any], cuts: Iterable[Cut]) -> frozenset[str]:
        """Return the values that are neither in the remaining leaves nor in the kept ranges of cut texts."""
        if not self.values:
            return self.values
        kept = [cut.text[start:end] for cut in cuts for start, end in cut.kept]
        return self.values.difference(*map(self.values_in, [*remaining, *kept]))

    def widened(self, cut: Cut, values: Collection[str], scan: Scan) -> Cut:
        """Return a cut that also keeps an excerpt around the first place of each value, or the whole text instead."""
        pieces = outside_markers(cut.text, cut.earlier)
        wider = with_excerpts(cut, [self._place(value, cut.text, pieces) for value in sorted(values)], scan)
        return replace(cut, kept=((0, len(cut.text)),)) if self.missing((), [wider]).intersection(values) else wider

    def reach(self, text: str) -> int:
        """Return the most characters that excerpts of this pass or an earlier one can add to the head of a text."""
        return max(_EARLIER, sum(len(value) + 2 * EXCERPT for value in self.values_in(text)))

    def _place(self, value: str, text: str, ranges: Sequence[Range]) -> Range | None:
        """Return the first place of a value within one of the ranges of a text, or None."""
        if self._is_text and "\\" in text:
            text = _BREAKS.sub("  ", text)
        places = sorted(occurrences(value, text))
        return next((place for place in places if is_within(place, ranges)), None)
