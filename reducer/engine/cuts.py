"""Cut texts: the ranges that stay, chosen so that no half of an address, domain, hash or name reads as another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reducer import markers
from reducer.entities import Entity

Range = tuple[int, int]
"""Start and end of a piece of a text, in characters."""
Scan = Callable[[str], Sequence[Entity]]

_NEAR = 80
"""Characters in which white space is looked for before a word is cut."""
_FAR = 4096
"""Characters around a cut that are scanned: more than the longest entity but a URL, of which no half stays either."""


@dataclass(slots=True)
class Cut:
    """What stays of a text: the ranges `kept` of `text`, in order, with a marker in each gap.

    `earlier` are the markers of an earlier cut in `text`, which are never kept. The last range is the tail if it has at
    most `tail` characters and ends where the text does. Entities of the types `always` in a gap are mentioned in any
    case, others if step `step` preserves them. `written` is the text with its markers; the overlay `restored` is the
    same with what restoring adds. `original` is the cut that this one widens, `before` the cut of an earlier step.
    """

    text: str
    kept: tuple[Range, ...]
    earlier: tuple[markers.PlacedMarker, ...] = ()
    tail: int = 0
    step: int = 0
    always: frozenset[str] = frozenset()
    written: str = ""
    restored: str | None = None
    original: Cut | None = None
    before: Cut | None = None

    def gaps(self) -> list[Range]:
        """Return the ranges of the text that are not kept."""
        return between(self.kept, len(self.text))

    def away(self, entities: Sequence[Entity]) -> list[Entity]:
        """Return the entities of the text that are not whole in what is kept."""
        gaps = self.gaps()
        return [e for e in entities if any(e.end > first and e.start < last for first, last in gaps)]

    def shown(self, entities: Sequence[Entity]) -> list[Entity]:
        """Return the entities of the text that are whole in what is kept, or mentioned in any case."""
        gaps = self.gaps()
        return [
            e
            for e in entities
            if e.type in self.always or all(e.end <= first or e.start >= last for first, last in gaps)
        ]

    def marker(self, gap: Range, mentions: tuple[str, ...] = ()) -> str:
        """Write the marker of a gap, with a blank before it if there is text, and a sign if kept text follows."""
        start, end = gap
        count = end - start
        count += sum(mark.marker.count + mark.start - mark.stop for mark in self.earlier if start <= mark.start < end)
        follows = end < len(self.text) and (len(self.text) - end > self.tail or self.kept[-1][0] != end)
        marker = markers.written(count, "characters", mentions)
        return f"{' ' if start else ''}{marker}{markers.CONTINUES if follows else ''}"

    def write(self, mentions: Sequence[tuple[str, ...]] = ()) -> str:
        """Write what is kept with a marker in each gap; `mentions` has those of one gap after the other."""
        pieces, at, number = [], 0, 0
        for start, end in (*self.kept, (len(self.text), len(self.text))):
            if start > at:
                pieces.append(self.marker((at, start), mentions[number] if mentions else ()))
                number += 1
            pieces.append(self.text[start:end])
            at = end
        return "".join(pieces)


def uncut(text: str, tail: int, first: Callable[[], int], reads: markers.Reads) -> Cut:
    """Return the cut that keeps all of a text but the markers that an earlier cut of it can have written.

    `first` returns how far from the start the first of them can begin; any other marker is text.
    """
    earlier = markers.read_all(text, tail, reads)
    if not earlier or earlier[0].start > first():
        return Cut(text, ((0, len(text)),))
    return Cut(text, tuple(own(text, earlier)), earlier)


def shortened(cut: Cut, head: int, tail: int, scan_all: Callable[[], Scan]) -> Cut | None:
    """Return the cut that keeps at most `head` characters of the start and `tail` of the end of what `cut` keeps.

    None if that is all of it. `scan_all` returns the scanner of all types, whatever the rule preserves.
    """
    text, kept = cut.text, cut.kept
    size = len(text)
    first = kept[0][1] if kept and kept[0][0] == 0 else 0
    last = kept[-1][0] if kept and kept[-1][1] == size else size
    end = first if first <= head else head_end(text, head, scan_all()) if head else 0
    start = last if size - last <= tail else tail_start(text, tail, scan_all()) if tail else size
    if end >= start:
        return None
    ends: tuple[Range, ...] = ((0, end),) if end else ()
    if start < size:
        ends = (*ends, (start, size))
    if ends == kept:
        return None
    new = Cut(text, ends, cut.earlier, tail)
    new.written = new.write()
    return new


def replaced(cut: Cut, mentions: tuple[str, ...], types: frozenset[str]) -> Cut:
    """Return the cut that keeps nothing: a marker with `mentions`, which are entities of `types`."""
    new = Cut(cut.text, (), cut.earlier, always=types)
    new.written = new.write((mentions,))
    return new


def between(ranges: Iterable[Range], size: int) -> list[Range]:
    """Return what of a text of `size` characters lies between ranges, which are in order."""
    left, at = [], 0
    for start, end in ranges:
        if start > at:
            left.append((at, start))
        at = end
    return [*left, (at, size)] if at < size else left


def own(text: str, earlier: Iterable[markers.PlacedMarker]) -> list[Range]:
    """Return the ranges of a text outside its markers."""
    return between([(mark.start, mark.stop) for mark in earlier], len(text))


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return ranges in order, those that touch or overlap as one."""
    new: list[Range] = []
    for start, end in sorted(ranges):
        if new and start <= new[-1][1]:
            new[-1] = (new[-1][0], max(end, new[-1][1]))
        else:
            new.append((start, end))
    return tuple(new)


def with_mentions(cut: Cut, entities: Sequence[Entity], wanted: Iterable[str]) -> str:
    """Write a cut text with markers that mention each `wanted` entity that is not kept; all of it if that is no longer.

    `entities` are those of the whole text.
    """
    wanted = frozenset(wanted)
    while True:
        away = cut.away(entities)
        gone = set(map(id, away))
        shown = {entity.value for entity in entities if id(entity) not in gone}
        mentions = []
        for first, last in cut.gaps():
            values = dict.fromkeys(
                e.value for e in away if e.end > first and e.start < last and e.value in wanted and e.value not in shown
            )
            shown |= values.keys()
            mentions.append(tuple(values))
        closed = without_small_gaps(cut, mentions)
        if closed is cut:
            text = cut.write(mentions)
            return text if len(text) < len(cut.text) else cut.text
        cut = closed


def without_small_gaps(cut: Cut, mentions: Sequence[tuple[str, ...]]) -> Cut:
    """Return the cut that also keeps gaps no longer than their markers; the same cut if there are none."""
    small = [
        gap
        for gap, values in zip(cut.gaps(), mentions, strict=True)
        # What a marker of an earlier cut counts is not in the text any more.
        if len(cut.marker(gap, values)) >= gap[1] - gap[0]
        and not any(gap[0] <= mark.start < gap[1] for mark in cut.earlier)
    ]
    return replace(cut, kept=merged([*cut.kept, *small])) if small else cut


def head_end(text: str, limit: int, scan: Scan) -> int:
    """Return the end of a head of at most `limit` characters of `text`, which is longer."""
    for end in range(limit, max(0, limit - _NEAR), -1):
        if text[end].isspace():
            while end and text[end - 1].isspace():
                end -= 1
            return end
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


def tail_start(text: str, limit: int, scan: Scan) -> int:
    """Return the start of a tail of at most `limit` characters of `text`, which is longer."""
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


def is_whole_from(text: str, start: int, scan: Scan) -> bool:
    """Return whether `text[start:]` begins with no half of an entity."""
    around, low = _around(text, start, scan)
    inside = any(low + entity.start < start < low + entity.end for entity in around)
    return not inside and _begins_whole(text, start, around, low, scan)


def is_whole_to(text: str, end: int, scan: Scan) -> bool:
    """Return whether `text[:end]` ends with no half of an entity."""
    around, low = _around(text, end, scan)
    inside = any(low + entity.start < end < low + entity.end for entity in around)
    return not inside and _ends_whole(text, end, around, low, scan)


def entity_around(text: str, start: int, end: int, scan: Scan) -> Range:
    """Return the range of the entity that covers a range; the range itself without one."""
    around, low = _around(text, start, scan)
    covering = ((low + e.start, low + e.end) for e in around if low + e.start <= start and low + e.end >= end)
    return next(covering, (start, end))


def _around(text: str, at: int, scan: Scan) -> tuple[Sequence[Entity], int]:
    low = max(0, at - _FAR)
    return scan(text[low : at + _FAR]), low


def _begins_whole(text: str, first: int, around: Sequence[Entity], low: int, scan: Scan) -> bool:
    # What begins here may read as another entity without what is before it.
    touching = next((entity for entity in scan(text[first : first + _FAR]) if entity.start == 0), None)
    return touching is None or any(low + entity.start == first and entity.value == touching.value for entity in around)


def _ends_whole(text: str, end: int, around: Sequence[Entity], low: int, scan: Scan) -> bool:
    touching = next((entity for entity in scan(text[low:end]) if low + entity.end == end), None)
    return touching is None or any(low + entity.end == end and entity.value == touching.value for entity in around)
