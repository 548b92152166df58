"""Cuts texts: so that no half address, domain, hash or name is left that reads as another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.engine.record import Cut, Range, own
from reducer.entities import Entity
from reducer.marks import Reads, read_all

Scan = Callable[[str], Sequence[Entity]]

_NEAR = 80
"""Characters in which white space is looked for before a word is cut."""
_FAR = 4096
"""Characters around a cut that are read: more than the longest entity but a URL, of which no half is left either."""


def uncut(text: str, tail: int, reads: Reads) -> Cut:
    """Read a text as it arrived: marks of an earlier cut, by larger numbers or around what was referred to, count on."""
    earlier = read_all(text, tail, reads)
    return Cut(text, tuple(own(text, earlier)) if earlier else ((0, len(text)),), earlier)


def cut(made: Cut, head: int, tail: int, everything: Callable[[], Scan]) -> Cut | None:
    """Keep of what is left of a text at most `head` characters of its start and `tail` of its end; None if that is all of it.

    `everything` gives the scanner of all types, whatever the rule preserves: no half of anything may be left. It is asked for only where
    there is something to cut.
    """
    text, kept = made.old, made.kept
    size = len(text)
    first = kept[0][1] if kept and kept[0][0] == 0 else 0
    last = kept[-1][0] if kept and kept[-1][1] == size else size
    end = first if first <= head else head_end(text, head, everything()) if head else 0
    start = last if size - last <= tail else tail_start(text, tail, everything()) if tail else size
    if end >= start:
        return None
    ends: tuple[Range, ...] = ((0, end),) if end else ()
    if start < size:
        ends = (*ends, (start, size))
    return None if ends == kept else Cut(text, ends, made.earlier, tail)


def head_end(text: str, limit: int, scan: Scan) -> int:
    """Give the end of a head of at most `limit` characters of `text`, which is longer."""
    for end in range(limit, max(0, limit - _NEAR), -1):
        if text[end].isspace():
            while end and text[end - 1].isspace():
                end -= 1
            return end
    return _between(text, limit, scan)


def tail_start(text: str, limit: int, scan: Scan) -> int:
    """Give the start of a tail of at most `limit` characters of `text`, which is longer."""
    size = len(text)
    for start in range(size - limit, min(size, size - limit + _NEAR)):
        if text[start - 1].isspace():
            while start < size and text[start].isspace():
                start += 1
            return start
    first = size - limit
    while first < size:
        around, low = _around(text, first, scan)
        inside = next((entity for entity in around if low + entity.start < first < low + entity.end), None)
        if inside is not None:
            first = low + inside.end
        elif _begins_whole(text, first, around, low, scan):
            return first
        else:
            first += 1
    return size


def _between(text: str, limit: int, scan: Scan) -> int:
    end = limit
    while end > 0:
        around, low = _around(text, end, scan)
        inside = next((entity for entity in around if low + entity.start < end < low + entity.end), None)
        if inside is not None:
            end = low + inside.start
        elif _ends_whole(text, end, around, low, scan):
            return end
        else:
            end -= 1
    return 0


def is_whole_from(text: str, start: int, scan: Scan) -> bool:
    """Tell whether no half of anything is left of what stands at the start of `text[start:]`."""
    around, low = _around(text, start, scan)
    return not any(low + entity.start < start < low + entity.end for entity in around) and _begins_whole(text, start, around, low, scan)


def is_whole_to(text: str, end: int, scan: Scan) -> bool:
    """Tell whether no half of anything is left of what stands at the end of `text[:end]`."""
    around, low = _around(text, end, scan)
    return not any(low + entity.start < end < low + entity.end for entity in around) and _ends_whole(text, end, around, low, scan)


def entity_around(text: str, start: int, end: int, scan: Scan) -> tuple[int, int]:
    """Give where the entity that covers a place starts and ends; the place itself without one."""
    around, low = _around(text, start, scan)
    return next(((low + e.start, low + e.end) for e in around if low + e.start <= start and low + e.end >= end), (start, end))


def _around(text: str, at: int, scan: Scan) -> tuple[Sequence[Entity], int]:
    """Give the entities around a place, and where what was read begins."""
    low = max(0, at - _FAR)
    return scan(text[low : at + _FAR]), low


def _begins_whole(text: str, first: int, around: Sequence[Entity], low: int, scan: Scan) -> bool:
    # What stands at the start may read as another entity without what stood before it.
    touching = next((entity for entity in scan(text[first : first + _FAR]) if entity.start == 0), None)
    return touching is None or any(low + entity.start == first and entity.value == touching.value for entity in around)


def _ends_whole(text: str, end: int, around: Sequence[Entity], low: int, scan: Scan) -> bool:
    touching = next((entity for entity in scan(text[low:end]) if low + entity.end == end), None)
    return touching is None or any(low + entity.end == end and entity.value == touching.value for entity in around)
