"""Find out which ranges of a text a reduced text keeps, and check the counts of the markers between them.

`cut_mentions(old, new)` returns what the markers mention, or None if `new` is not a cut of `old`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from reducer import markers
from reducer.markers import Marker

# Tool returns can contain forged markers. These limits bound the work.
_MAX_STATES = 2_000
_MAX_MARKERS = 1_000
_MAX_PLACES = 16


class _State(NamedTuple):
    """What both texts have in common before `new[at:]` and `old[start:]`, and what the markers before mention."""

    at: int
    start: int
    mentions: tuple[str, ...] = ()


def cut_mentions(old: str, new: str, is_known: Callable[[str], bool]) -> tuple[str, ...] | None:
    """Return what the markers of a text mention if it consists of ranges of `old` in order and correct markers.

    Return None for any other text. `is_known` tells whether a marker can mention a value. A marker counts the
    characters of its gap. In place of the characters of an earlier marker in the gap, it can add the count of that one.
    """
    written = [*markers.possible(new, is_known)]
    earlier = [*markers.possible(old, lambda name: True)] if written else []
    waiting = [_State(0, 0)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MAX_STATES:
        state = waiting.pop()
        if state[:2] in seen:
            continue
        seen.add(state[:2])
        if len(new) - state.at == len(old) - state.start and new.endswith(old[state.start :]):
            return tuple(dict.fromkeys(state.mentions))
        waiting += reversed([*_after_next_marker(old, new, state, written, earlier)])
    return None


def _from(found: Sequence[Marker], start: int) -> Iterator[Marker]:
    """Return the markers that start at `start` or later. They are sorted."""
    return islice(found, bisect_left(found, start, key=lambda marker: marker.start), None)


def _after_next_marker(
    old: str, new: str, state: _State, written: Sequence[Marker], earlier: Sequence[Marker]
) -> Iterator[_State]:
    """Yield the states after each marker that can follow a state. `old` can contain the text of a marker."""
    for marker in _from(written, state.at):
        start = state.start + marker.start - state.at
        if not old.startswith(new[state.at : marker.start], state.start):
            return
        rest = _kept_after(new, marker, written)
        for end in _ends_of_gap(old, start, marker.count, rest, earlier):
            yield _State(marker.stop, end, marker.mentions + state.mentions)


def _kept_after(new: str, marker: Marker, written: Sequence[Marker]) -> tuple[str, bool]:
    """Return the text between a marker and the next one, and whether it is the end of the text."""
    following = next(_from(written, marker.stop), None)
    stop = len(new) if following is None else following.start
    return new[marker.stop : stop], stop == len(new)


def _ends_of_gap(old: str, start: int, count: int, rest: tuple[str, bool], earlier: Sequence[Marker]) -> Iterator[int]:
    """Yield where a gap can end that starts at `start` and whose marker has this count.

    A count includes the counts of the earlier markers that the rule recognised. If these are not the first ones of the
    gap, the text after the gap tells its end.
    """
    end = start + count
    if start < end <= len(old):
        yield end
    covered = least = most = 0
    for marker in islice(_from(earlier, start), _MAX_MARKERS):
        if marker.start >= covered:
            covered = marker.stop
            beyond = marker.count - (marker.stop - marker.start)
            least += min(beyond, 0)
            most += max(beyond, 0)
            if covered <= end - least - most <= len(old):
                yield end - least - most
    if covered:
        possible = (place for place in _places(old, start + 1, *rest) if least <= end - place <= most)
        yield from islice(possible, _MAX_PLACES)


def _places(old: str, start: int, kept: str, is_end: bool) -> Iterator[int]:
    """Yield where `kept` is in a text after `start`."""
    if is_end:
        yield len(old) - len(kept)
        return
    at = old.find(kept, start)
    while at >= 0:
        yield at
        at = old.find(kept, at + 1)
