"""Replace pieces of a text or of bytes, and map positions in the result back."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import AnyStr

Pieces = tuple["array[int]", "array[int]", "array[int]", "array[int]"]
"""Replaced pieces in order: their starts and ends in the result, and their starts and ends in the original.

The first piece is an empty one at the start. Arrays need a fifth of the memory of tuples.
"""


def replaced(parts: list[AnyStr], new: list[AnyStr]) -> tuple[AnyStr, Pieces]:
    """Return a text in which every second part is replaced by an element of `new`, and these pieces.

    `parts` starts and ends with a part that stays.
    """
    old_starts, old_ends = _bounds(parts)
    parts[1::2] = new
    starts, ends = _bounds(parts)
    return parts[0][:0].join(parts), (starts, ends, old_starts, old_ends)


def _bounds(parts: list[AnyStr]) -> tuple[array[int], array[int]]:
    """Return the starts and the ends of every second part, after those of an empty part at the start."""
    bounds = array("q", [0])
    bounds.extend(accumulate(map(len, parts), initial=0))
    bounds.pop()
    return bounds[::2], bounds[1::2]


def mapped_back(
    found: list[tuple[int, int, str, AnyStr]], data: AnyStr, pieces: Pieces
) -> list[tuple[int, int, str, AnyStr]]:
    """Return matches in `data` with their positions in the original, and empty `found`, which saves memory.

    A match is a start, an end, a type and a canonical value; an empty one becomes the value in `data`. Drop matches
    that split a piece.
    """
    starts, ends, old_starts, old_ends = pieces
    matches: list[tuple[int, int, str, AnyStr]] = []
    found.reverse()
    while found:
        start, end, kind, canonical = found.pop()
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
        is_at_start = start == starts[first] < ends[first]
        if (start >= ends[first] or is_at_start) and end >= ends[last]:
            begin = old_starts[first] if is_at_start else start - ends[first] + old_ends[first]
            matches.append((begin, end - ends[last] + old_ends[last], kind, canonical or data[start:end]))
    return matches
