"""Find out whether a text is a cut of another: ranges of it in order, and markers with correct counts between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from reducer import markers
from reducer.markers import Marker

# Tool returns can contain forged markers. These limits bound the work.
_MAX_STATES = 2_000
_MAX_MARKERS = 1_000
_MAX_PLACES = 100


def is_cut(old: str, new: str, is_known: Callable[[str], bool]) -> bool:
    """Return whether a text consists of ranges of `old` in order and correct markers.

    `is_known` tells whether a marker can mention a value. A marker counts the characters of its gap. In place of the
    characters of an earlier marker in the gap, it can add the count of that one.
    """
    written = [*markers.possible(new, is_known)]
    earlier = [*markers.possible(old, _can_be_mentioned)] if written else []
    waiting = [(0, 0)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MAX_STATES:
        state = at, start = waiting.pop()
        if state not in seen:
            seen.add(state)
            if new[at:] == old[start:]:
                return True
            waiting += reversed([*_after_next_marker(old, new, at, start, written, earlier)])
    return False


def _can_be_mentioned(name: str) -> bool:
    """Return whether a value does not reach beyond the marker that mentions it, whichever entities the rule knows."""
    return markers.CONTINUES not in name and name.count("]") <= name.count("[")


def _from(found: Sequence[Marker], start: int) -> Iterator[Marker]:
    """Return the markers that start at `start` or later. They are sorted."""
    return islice(found, bisect_left(found, start, key=lambda marker: marker.start), None)


def _after_next_marker(
    old: str, new: str, at: int, start: int, written: Sequence[Marker], earlier: Sequence[Marker]
) -> Iterator[tuple[int, int]]:
    """Yield where `new[at:]` and `old[start:]` continue after each marker that can be the next one.

    `old` can contain the text of a marker.
    """
    for marker in _from(written, at):
        if not old.startswith(new[at : marker.start], start):
            return
        following = next(_from(written, marker.stop), None)
        stop = len(new) if following is None else following.start
        kept = new[marker.stop : stop]
        for end in _ends_of_gap(old, start + marker.start - at, marker.count, kept, stop == len(new), earlier):
            yield marker.stop, end


def _ends_of_gap(
    old: str, start: int, count: int, kept: str, is_last: bool, earlier: Sequence[Marker]
) -> Iterator[int]:
    """Yield where a gap can end that starts at `start`, whose marker has this count, and before the text `kept`.

    A count includes the counts of the earlier markers that the rule recognised.
    """
    least = most = covered = 0
    for marker in islice(_from(earlier, start), _MAX_MARKERS):
        if marker.start >= covered:
            covered = marker.stop
            beyond = marker.count - (marker.stop - marker.start)
            least += min(beyond, 0)
            most += max(beyond, 0)
    first = max(start + 1, start + count - most)
    last = start + count - least
    at = len(old) - len(kept) if is_last else old.find(kept, first, last + len(kept))
    for _ in range(_MAX_PLACES):
        if not first <= at <= last:
            return
        yield at
        at = old.find(kept, at + 1, last + len(kept))
