"""Find out which ranges of a text a reduced text keeps, and check the counts of the markers between them.

`cut_mentions(old, new)` returns what the markers mention, or None if `new` is not a cut of `old`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from reducer import markers
from reducer.markers import MAX_COUNT, Marker

# Tool returns can contain forged markers. These limits bound the work.
_MAX_STATES = 2_000
_MAX_MARKERS = 1_000
_MAX_COMBINED = 128
"""Combinations of earlier markers in one gap that are tried."""
_MAX_PLACES = 16


class _State(NamedTuple):
    """What both texts have in common before `new[at:]` and `old[start:]`."""

    at: int
    start: int
    last: Marker | None = None
    """The last marker before this state."""
    before: _State | None = None


def cut_mentions(old: str, new: str, is_known: Callable[[str], bool]) -> tuple[str, ...] | None:
    """Return what the markers of a text mention if it consists of ranges of `old` in order and correct markers.

    Return None for any other text. `is_known` tells whether a marker can mention a value. A marker counts the
    characters of its gap. In place of the characters of an earlier marker in the gap, it can add the count of that one.
    """
    written = [marker for marker in markers.possible(new) if all(map(is_known, marker.mentions))]
    earlier = [*markers.possible(old)] if written else []
    waiting = [_State(0, 0)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MAX_STATES:
        state = waiting.pop()
        if state[:2] in seen:
            continue
        seen.add(state[:2])
        if len(new) - state.at == len(old) - state.start and new.endswith(old[state.start :]):
            return _mentions_before(state)
        waiting += reversed([*_after_next_marker(old, new, state, written, earlier)])
    return None


def _from(found: Sequence[Marker], start: int) -> Iterator[Marker]:
    """Return the markers that start at `start` or later. They are sorted."""
    return islice(found, bisect_left(found, start, key=lambda marker: marker.start), None)


def _mentions_before(state: _State | None) -> tuple[str, ...]:
    mentions: list[str] = []
    while state is not None:
        mentions += state.last.mentions if state.last is not None else ()
        state = state.before
    return tuple(dict.fromkeys(mentions))


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
            yield _State(marker.stop, end, marker, state)


def _kept_after(new: str, marker: Marker, written: Sequence[Marker]) -> tuple[str, bool]:
    """Return the text between a marker and the next one, and whether it is the end of the text."""
    following = next(_from(written, marker.stop), None)
    stop = len(new) if following is None else following.start
    return new[marker.stop : stop], stop == len(new)


def _ends_of_gap(old: str, start: int, count: int, rest: tuple[str, bool], earlier: Sequence[Marker]) -> Iterator[int]:
    """Yield where a gap can end that starts at `start` and whose marker has this count."""
    inside = [*islice(_from(earlier, start), _MAX_MARKERS)]
    for beyond, least in _counted(inside, start):
        end = start + count - beyond
        if max(least, start + 1) <= end <= len(old):
            yield end
    if count == MAX_COUNT and inside:
        yield from islice(_places(old, start, *rest), _MAX_PLACES)


def _counted(inside: Sequence[Marker], start: int) -> Iterator[tuple[int, int]]:
    """Yield what earlier markers can add to the count of a gap beyond their own characters, and where they end.

    Rules include every marker that they recognise, so all markers of a gap come first, then some of them.
    """
    yield 0, start
    beyond, end = 0, start
    for marker in inside:
        if marker.start >= end:
            beyond += marker.count - (marker.stop - marker.start)
            end = marker.stop
            yield beyond, end
    combined = [(0, start)]
    for marker in inside:
        own = marker.count - (marker.stop - marker.start)
        combined += [(beyond + own, marker.stop) for beyond, end in combined if marker.start >= end]
        if len(combined) > _MAX_COMBINED:
            break
    yield from combined


def _places(old: str, start: int, kept: str, is_end: bool) -> Iterator[int]:
    """Yield where `kept` is in a text after `start`. A count that is capped does not tell it."""
    if is_end:
        yield len(old) - len(kept)
        return
    at = old.find(kept, start)
    while at >= 0:
        yield at
        at = old.find(kept, at + 1)
