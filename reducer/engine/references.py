"""The values that later messages reference: which of them a return contains, where, and the excerpts around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from reducer.engine.cuts import (
    Cut,
    Range,
    Scan,
    entity_around,
    is_whole_from,
    is_whole_to,
    merged,
    own,
    with_mentions,
    without_small_gaps,
)
from reducer.engine.scans import Scans
from reducer.formats import Atom
from reducer.markers import read_all
from reducer.references import occurrences, searched, searcher
from reducer.values import plain

Protected = Collection[str] | Callable[[], frozenset[str]]
"""Values that are protected, or what finds those of them that are in the content: it is called only if rules remove
something.
"""

EXCERPT = 200
"""Characters on each side of a value in which its sentence or line ends, or else white space is looked for."""
_EARLIER = 1000
"""Characters that excerpts of an earlier pass, whose references are not known, add to the head of a text."""
_BREAKS = re.compile(r"\\[nrt]")
"""Escapes whose letter is no part of the next word."""
_HASHABLE = frozenset({int, float, str})
_TRIES = 8
"""Word boundaries in a row of characters without white space at which an excerpt may begin or end."""
_END = re.compile(r"[.!?](?=\s)|\n")
_BLANK = re.compile(r"\s+")
_WORD_BOUNDARY = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)")


class References:
    """The referenced values that one return contains."""

    __slots__ = ("_find", "_held", "_is_text", "_search", "_values")

    def __init__(self, find: Callable[[], frozenset[str]], is_text: bool) -> None:
        self._find = find
        self._is_text = is_text
        self._values: frozenset[str] | None = None
        self._search: Callable[[str], set[str]] | None = None
        self._held: dict[tuple[type, Any], frozenset[str]] = {}

    @property
    def values(self) -> frozenset[str]:
        """The values, looked for when they are first needed. Raises `Unreducible` for a content that is too deep."""
        if self._values is None:
            self._values = self._find()
        return self._values

    def held(self, leaf: Any) -> frozenset[str]:
        """Return the values in one key, text, number or media item."""
        if self._search is None:
            self._search = searcher(self.values)
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

    def added_by_excerpts(self, text: str) -> int:
        """Return the characters that excerpts around the values in a text can add to its head."""
        return sum(len(value) + 2 * EXCERPT for value in self.held(text))

    def place(self, value: str, text: str, ranges: Iterable[Range]) -> Range | None:
        """Return the first place of a value in a text that lies in one of some ranges; None without one."""
        if self._is_text and "\\" in text:
            text = _BREAKS.sub("  ", text)
        places = [
            place for place in occurrences(value, text) if any(a <= place[0] and place[1] <= b for a, b in ranges)
        ]
        return min(places, default=None)

    def all_in(self, values: Collection[str], texts: Iterable[str]) -> bool:
        """Return whether each of some values is in one of some texts."""
        return frozenset[str]().union(*map(self.held, texts)).issuperset(values)

    def missing(self, left: Iterable[Any], cuts: Iterable[Cut]) -> frozenset[str]:
        """Return the values that are neither in what remains nor in what cut texts keep."""
        if not self.values:
            return self.values
        kept = [cut.text[start:end] for cut in cuts for start, end in cut.kept]
        return self.values.difference(*map(self.held, [*left, *kept]))


def references_in(protected: Protected | None, content: Any, value: Any) -> References | None:
    """Return the protected values that a content has, which is `value` when opened; None if nothing is protected."""
    if not protected:
        return None
    is_text = type(value) is str
    if callable(protected):
        return References(protected, is_text)
    whole = content if type(content) is str else None
    return References(
        lambda: frozenset(searcher(protected)(searched(plain(content) if whole is None else whole))), is_text
    )


def reach_of_excerpts(references: References | None, text: str) -> int:
    """Return how many characters excerpts can have added to the head of a text, in this pass or an earlier one."""
    return max(_EARLIER, 0 if references is None else references.added_by_excerpts(text))


def widened(cut: Cut, values: Collection[str], references: References, scan_all: Callable[[], Scan]) -> Cut:
    """Return the cut that also keeps an excerpt around the first place of each value.

    It keeps all of the text where an excerpt is not shorter or cannot be made. `scan_all` returns the scanner of all
    entity types.
    """
    text = cut.text
    whole = replace(cut, kept=((0, len(text)),))
    if len(text) <= len(cut.marker((0, len(text)))):
        return whole
    pieces = own(text, cut.earlier)
    ranges = [*cut.kept]
    for value in sorted(values):
        place = references.place(value, text, pieces)
        around = place and _excerpt(text, place, pieces, scan_all)
        if not around:
            return whole
        ranges.append(around)
    wider = replace(cut, kept=merged(ranges))
    wider = without_small_gaps(wider, [()] * len(wider.gaps()))
    kept = [text[start:end] for start, end in wider.kept]
    return wider if len(wider.write()) < len(text) and references.all_in(values, kept) else whole


def excerpt(
    text: str,
    values: Collection[str],
    mentions: Collection[str],
    references: References,
    scans: Scans,
    scan_all: Callable[[], Scan],
) -> str:
    """Return of a removed text what is around each referenced value, with markers that mention the `mentions`."""
    removed = Cut(text, (), read_all(text, 0, scans.reads))
    wider = widened(removed, values, references, scan_all)
    return with_mentions(wider, scans.entities(text) if mentions else (), mentions)


def _excerpt(text: str, place: Range, pieces: Sequence[Range], scan_all: Callable[[], Scan]) -> Range | None:
    """Return the sentence or line around a place, within one of the pieces; None without an end."""
    low, high = next(piece for piece in pieces if piece[0] <= place[0] < piece[1])
    start, end = _start(text, place, low, scan_all), _end(text, place, high, scan_all)
    return None if start is None or end is None else (start, end)


def _start(text: str, place: Range, low: int, scan_all: Callable[[], Scan]) -> int | None:
    at = place[0]
    first = max(low, at - EXCERPT)
    start = max([match.end() for match in _END.finditer(text, first, at)], default=-1)
    if start < 0 and first == low:
        return low
    if start < 0:
        blank = _BLANK.search(text, first, at)
        start = -1 if blank is None else blank.start()
    if start < 0:
        scan = scan_all()
        tries = [match.start() for match in islice(_WORD_BOUNDARY.finditer(text, first, at + 1), _TRIES)]
        tries.append(entity_around(text, *place, scan)[0])
        return next(
            (boundary for boundary in tries if low <= boundary <= at and is_whole_from(text, boundary, scan)), None
        )
    while start < at and text[start].isspace():
        start += 1
    # One blank or line break stays between the marker and the excerpt.
    return start - 1 if start > low and text[start - 1].isspace() else start


def _end(text: str, place: Range, high: int, scan_all: Callable[[], Scan]) -> int | None:
    at = place[1]
    last = min(high, at + EXCERPT)
    found = _END.search(text, at, last)
    end = -1 if found is None else found.start() + (found[0] != "\n")
    if end < 0 and last == high:
        return high
    if end < 0:
        end = max([match.start() for match in _BLANK.finditer(text, at, last)], default=-1)
    if end < 0:
        scan = scan_all()
        tries = [match.start() for match in _WORD_BOUNDARY.finditer(text, at, last)][: -_TRIES - 1 : -1]
        tries.append(entity_around(text, *place, scan)[1])
        return next(
            (boundary for boundary in tries if at <= boundary <= high and is_whole_to(text, boundary, scan)), None
        )
    while end > at and text[end - 1].isspace():
        end -= 1
    return end
