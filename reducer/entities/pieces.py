"""Replace pieces of a text or of bytes, and map positions in the result back."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from io import BytesIO, StringIO
from typing import Any, AnyStr

Pieces = tuple["array[int]", "array[int]", "array[int]", "array[int]"]
"""Replaced pieces in order: their starts and ends in the result, and their starts and ends in the original.

The first piece is an empty one at the start. Arrays need a fifth of the memory of tuples.
"""


def replaced(data: AnyStr, new: Iterable[tuple[int, int, AnyStr]]) -> tuple[AnyStr, Pieces | None]:
    """Return a text or bytes with replaced pieces, and where these are, None if there are none.

    `new` has the start, the end and the replacement of each piece, in order. A piece that overlaps another stays.
    """
    starts, ends, old_starts, old_ends = pieces = array("q", [0]), array("q", [0]), array("q", [0]), array("q", [0])
    result: Any = StringIO() if isinstance(data, str) else BytesIO()  # a list of parts needs ten times the memory
    write = result.write
    done = size = 0
    for start, end, replacement in new:
        if start >= done:
            size += write(data[done:start])
            starts.append(size)
            size += write(replacement)
            ends.append(size)
            old_starts.append(start)
            old_ends.append(end)
            done = end
    if not done:
        return data, None
    write(data[done:])
    return result.getvalue(), pieces


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
