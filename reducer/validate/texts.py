"""Whether a text is a text of the original with pieces cut out, and whether the mark in their place counts what went."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_MARK = re.compile(r" ?…\[([1-9][0-9]{0,11}) more characters(?=[;\]])")
_ITEMS = re.compile(r"…\[([1-9][0-9]{0,11}) more items(?=[;\]])")
_MENTIONS = "; mentions "
_MOST = 16
"""Marks behind one piece of a text, and brackets behind a mark, that are tried: tools may forge marks."""
_TRIES = 2_000
"""Pieces that are tried."""
_LOOK = 16
_SUMS = 256
"""Counts of marks of the original that may have gone into one mark."""


def cut(old: str, new: str) -> tuple[str, str]:
    """Say what is wrong with `new` as a cut of `old`: the code, empty when nothing is, and the message, or else what the marks mention.

    Right is `old` itself, nothing at all, and pieces of it in order, each with a mark behind it that counts the characters that went.
    """
    if new == old or not new:
        return "", ""
    reading = _Reading(old, new)
    found = reading.mentions()
    if found is not None:
        return "", found
    at, start = reading.furthest
    for mark in _some(_MARK.finditer(new, at)):
        # The piece before it is one of the original, and so is what follows one of the brackets: only the count is wrong.
        if old.startswith(new[at : mark.start()], start):
            begin = start + mark.start() - at
            for end in _brackets(new, mark.end()):
                place = _next_piece(old, new, begin, end)
                if place is not None:
                    return "V111", f"the mark counts {int(mark[1]):,} characters, and {place - begin:,} went"
    if old.startswith(new):
        return "V110", f"{len(old) - len(new):,} characters are cut off without a mark"
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return "V110", f"the text is not the original's from character {same + 1:,} on"


class _Reading:
    """A text read as pieces of another with marks between; `furthest` is up to where, in it and in the original, that went well."""

    def __init__(self, old: str, new: str) -> None:
        self._old = old
        self._new = new
        self.furthest = 0, 0

    def mentions(self) -> str | None:
        """Give what all marks mention; None if the text cannot be read so."""
        old, new = self._old, self._new
        waiting = [(0, 0, "")]
        tried: set[tuple[int, int]] = set()
        while waiting and len(tried) < _TRIES:
            at, start, what = waiting.pop()
            if (at, start) in tried:
                continue
            tried.add((at, start))
            self.furthest = max(self.furthest, (at, start))
            if len(old) - start == len(new) - at and old.endswith(new[at:]):
                return what
            following = [
                (rest, place, what + more)
                for mark in _some(_MARK.finditer(new, at))
                if old.startswith(new[at : mark.start()], start)
                for place in self._places(start + mark.start() - at, int(mark[1]))
                for rest, more in self._ends(new, mark)
                if self._goes_on(rest, place)
            ]
            waiting += reversed(following)
        return None

    def _places(self, start: int, count: int) -> list[int]:
        """Give where in the original a gap from `start` may end that counts so many characters, some of them in marks of the original itself."""
        sums = {0: None}
        for before in _some(_MARK.finditer(self._old, start)):
            lesses = [int(before[1]) - (end - before.start()) for end, _ in self._ends(self._old, before)]
            sums |= {known + less: None for known in list(sums)[:_SUMS] for less in lesses}
        return [start + count - known for known in sums if start < start + count - known <= len(self._old)]

    def _ends(self, text: str, mark: re.Match[str]) -> Iterator[tuple[int, str]]:
        """Give where a text may go on behind a mark, and what that mentions."""
        for end in _brackets(text, mark.end()):
            what = text[mark.end() : end - 1]
            if what and (not what.startswith(_MENTIONS) or "…[" in what):
                return
            if text.startswith("…", end):
                yield end + 1, what
            yield end, what
            if not what:
                return

    def _goes_on(self, at: int, start: int) -> bool:
        # A look at the next characters spares most places the rest.
        mark = _MARK.search(self._new, at)
        if mark is None:
            return len(self._new) - at == len(self._old) - start
        return self._old.startswith(self._new[at : min(at + _LOOK, mark.start())], start)


def _next_piece(old: str, new: str, begin: int, end: int) -> int | None:
    """Find in the original, from `begin` on, the piece that follows the bracket that ends at `end`."""
    mark = _MARK.search(new, end)
    if mark is None:
        tail = new[end:]
        return len(old) - len(tail) if old.endswith(tail) and begin <= len(old) - len(tail) else None
    for first in (end + 1, end) if new.startswith("…", end) else (end,):
        place = old.find(new[first : mark.start()], begin)
        if place >= 0:
            return place
    return None


def mentions(text: str) -> list[str]:
    """Give piece by piece what marks mention behind their counts."""
    return [name for names in text.split(_MENTIONS) if names for name in names.split(", ")]


def items_left_out(item: object) -> tuple[int, str] | None:
    """Read the mark at the end of a list of texts: how many items it counts, and what it mentions; None for what is no such mark."""
    mark = _ITEMS.match(item) if isinstance(item, str) else None
    return (int(mark[1]), item[mark.end() : -1]) if mark and isinstance(item, str) and item.endswith("]") else None


def _some(marks: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    return islice(marks, _MOST)


def _brackets(text: str, at: int) -> Iterator[int]:
    """Give the places behind the first brackets from a place on."""
    for _ in range(_MOST):
        at = text.find("]", at) + 1
        if not at:
            return
        yield at
