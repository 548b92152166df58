"""Where a text may be cut: so that no half address, domain, hash or name is left that reads as another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.entities import Entity

Scan = Callable[[str], Sequence[Entity]]

_NEAR = 80
"""Characters in which white space is looked for before a word is cut."""
_FAR = 4096
"""Characters around a cut that are read: more than the longest entity but a URL, of which no half is left either."""


def shortened(text: str, head: int, tail: int, earlier: tuple[int, int, int] | None, everything: Callable[[], Scan]) -> tuple[int, int, int]:
    """Give where the head of a text ends and its tail starts, of at most `head` and `tail` characters, and how many characters went.

    `earlier` is the same of a cut before this one, with the length of the tail. `everything` gives the scanner of all types, whatever
    the rule preserves: no half of anything may be left. It is asked for only where there is something to cut.
    """
    if earlier is None:
        end = head_end(text, head, everything()) if head else 0
        start = max(end, tail_start(text, tail, everything()) if tail else len(text))
        return end, start, start - end
    before, after, count = earlier
    end = before if before <= head else head_end(text, head, everything()) if head else 0
    left = after if after <= tail else 0
    return end, len(text) - left, count + before - end + after - left


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
        low = max(0, first - _FAR)
        around = scan(text[low : first + _FAR])
        at = first - low
        inside = next((entity for entity in around if entity.start < at < entity.end), None)
        if inside is not None:
            first = low + inside.end
            continue
        touching = next((entity for entity in scan(text[first : first + _FAR]) if entity.start == 0), None)
        if touching is None or any(entity.start == at and entity.value == touching.value for entity in around):
            return first
        first += 1
    return size


def _between(text: str, limit: int, scan: Scan) -> int:
    end = limit
    while end > 0:
        low = max(0, end - _FAR)
        around = scan(text[low : end + _FAR])
        at = end - low
        inside = next((entity for entity in around if entity.start < at < entity.end), None)
        if inside is not None:
            end = low + inside.start
            continue
        touching = next((entity for entity in scan(text[low:end]) if entity.end == at), None)
        if touching is None or any(entity.end == at and entity.value == touching.value for entity in around):
            return end
        end -= 1
    return 0
