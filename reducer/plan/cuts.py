"""Cut texts without leaving half of an address, domain, hash or name that reads as a different one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from reducer import markers
from reducer.entities import Entity
from reducer.entities.escapes import spans

Range = tuple[int, int]
"""The start and end of a piece of text, in characters."""
Piece = Range | str
"""A range of a text, or a marker."""
Scan = Callable[[str], Sequence[Entity]]

EXCERPT = 200
"""Characters on each side of a value in which the end of its sentence, of its line or white space is searched."""
RESULT = sys.maxsize - 1
"""The step number of the result: after all steps and restoring."""
_NEAR = 80
"""Characters in which white space is searched before a word is cut."""
_FAR = 4096
"""Characters around a cut that are scanned: longer than any entity except a URL, which is never halved either."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
_BLANK = re.compile(r"\s+")
_WORD_EDGE = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)")


class Cut(Struct, gc=False):
    """A text of which some ranges are kept, with a marker in each gap."""

    text: str
    kept: tuple[Range, ...]
    """The kept ranges, in order."""
    earlier: tuple[markers.Marker, ...] = ()
    """The markers of an earlier pass in `text`, which are never kept."""
    tail: int = 0
    """The last range is the tail if it has at most this many characters and ends with the text."""
    step: int = 0
    always: frozenset[str] = frozenset()
    """Markers mention entities of these types, and of the types that the step preserves."""
    written: str = ""
    """The kept text with its markers."""
    restored: tuple[Piece, ...] | None = None
    """The overlay: the pieces of the text with what restoring adds."""
    before: Cut | None = None
    """The cut of an earlier step."""

    def after(self, step: int) -> str:
        """Return the text as it is after a step."""
        if step < self.step:
            return self.text if self.before is None else self.before.after(step)
        return self.written if self.restored is None or step < RESULT else self.join(self.restored)

    def gaps(self) -> list[Range]:
        """Return the ranges of the text that are not kept."""
        return between(self.kept, len(self.text))

    def split(self, entities: Sequence[Entity]) -> tuple[list[Entity], list[Entity]]:
        """Return the entities of the text that are kept as a whole, and all others."""
        gaps, kept, removed = self.gaps(), list[Entity](), list[Entity]()
        for entity in entities:
            is_cut = any(map(partial(_overlap, entity), gaps))
            (removed if is_cut else kept).append(entity)
        return kept, removed

    def marker(self, gap: Range, mentions: tuple[str, ...] = ()) -> str:
        """Write the marker of a gap, after a space unless it starts the text, and with a `…` if kept text follows."""
        start, end = gap
        count = end - start
        count += sum(mark.count + mark.start - mark.stop for mark in self.earlier if start <= mark.start < end)
        follows = end < len(self.text) and (len(self.text) - end > self.tail or self.kept[-1][0] != end)
        marker = markers.written(count, "characters", mentions)
        return f"{' ' if start else ''}{marker}{markers.CONTINUES if follows else ''}"

    def pieces(self, mentions: Sequence[tuple[str, ...]] = ()) -> tuple[Piece, ...]:
        """Return the kept ranges with a marker in each gap, or with the gap itself if that is not longer.

        `mentions` contains the mentions of each gap.
        """
        pieces, at = list[Piece](), 0
        for number, (start, end) in enumerate(self.gaps()):
            marker = self.marker((start, end), mentions[number] if mentions else ())
            pieces += [(at, start), marker if len(marker) < end - start else (start, end)]
            at = end
        return (*pieces, (at, len(self.text)))

    def written_pieces(self) -> tuple[Piece, ...]:
        """Return the pieces of `written`. Without kept text, it is the marker of the step, or the whole text."""
        if self.written == self.text:
            return ((0, len(self.text)),)
        return self.pieces() if self.kept else (self.written,)

    def join(self, pieces: Iterable[Piece]) -> str:
        """Join pieces of the text."""
        return "".join([piece if isinstance(piece, str) else self.text[piece[0] : piece[1]] for piece in pieces])

    def write(self, mentions: Sequence[tuple[str, ...]] = ()) -> str:
        """Write the kept text with its markers."""
        return self.join(self.pieces(mentions))

    def pieces_with_mentions(self, entities: Sequence[Entity], wanted: Iterable[str]) -> tuple[Piece, ...]:
        """Return pieces with markers that mention the `wanted` entities that are not kept, or the whole text if that
        is not longer. `entities` are all entities of the text.
        """
        kept, removed = self.split(entities)
        unmentioned = set(wanted)
        for entity in kept:
            unmentioned.discard(entity.value)
        mentions = []
        for gap in self.gaps():
            inside = [entity.value for entity in removed if _overlap(entity, gap)]
            mentions.append(tuple(dict.fromkeys(filter(unmentioned.__contains__, inside))))
            unmentioned.difference_update(mentions[-1])
        pieces = self.pieces(mentions)
        return pieces if len(self.join(pieces)) < len(self.text) else ((0, len(self.text)),)


def shortened(cut: Cut, head: int, tail: int, scan: Scan) -> Cut | None:
    """Return a cut that keeps at most `head` characters at the start and `tail` at the end of the kept text.

    Return None if it would cut nothing. `scan` returns the entities of all types.
    """
    text, kept = cut.text, cut.kept
    size = len(text)
    first = kept[0][1] if kept and kept[0][0] == 0 else 0
    last = kept[-1][0] if kept and kept[-1][1] == size else size
    end = first if first <= head else boundary(text, head, -1, scan) if head else 0
    start = last if size - last <= tail else boundary(text, size - tail, 1, scan) if tail else size
    ends = ((0, end),) if end else ()
    if start < size:
        ends = (*ends, (start, size))
    if end >= start or ends == kept:
        return None
    new = Cut(text, ends, cut.earlier, tail)
    new.written = new.write()
    return new


def with_excerpts(cut: Cut, places: Iterable[Range | None], scan: Scan) -> Cut:
    """Return a cut that also keeps the sentences around some places, or the whole text if that is not longer."""
    text = cut.text
    whole = replace(cut, kept=((0, len(text)),))
    pieces, ranges = outside_markers(text, cut.earlier), [*cut.kept]
    for place in places:
        around = place and _excerpt(text, place, pieces, scan)
        if not around:
            return whole
        ranges.append(around)
    wider = replace(cut, kept=_merged(ranges))
    return wider if len(wider.write()) < len(text) else whole


def _excerpt(text: str, place: Range, pieces: Sequence[Range], scan: Scan) -> Range | None:
    """Return the sentence or line around a place within one of the pieces, or None if it has no usable end."""
    low, high = next(piece for piece in pieces if piece[0] <= place[0] < piece[1])
    start, end = _excerpt_start(text, place[0], low, scan), _excerpt_end(text, place[1], high, scan)
    return (start, end) if start <= place[0] and place[1] <= end else None


def _excerpt_start(text: str, at: int, low: int, scan: Scan) -> int:
    """Return the start of the sentence or line before a position, at `low` or after it."""
    first = max(low, at - EXCERPT)
    start = max((match.end() for match in _SENTENCE_END.finditer(text, first, at)), default=-1)
    if start < 0:
        edge = _BLANK.search(text, first, at) or _WORD_EDGE.search(text, first, at)
        start = low if first == low else boundary(text, edge.end() if edge else first, 1, scan)
    while low < start < at and text[start].isspace():
        start += 1
    # One blank or line break stays between the marker and the excerpt.
    return start - (start > low and text[start - 1].isspace())


def _excerpt_end(text: str, at: int, high: int, scan: Scan) -> int:
    """Return the end of the sentence or line after a position, at `high` or before it."""
    last = min(high, at + EXCERPT)
    found = _SENTENCE_END.search(text, at, last)
    if found is not None:
        end = found.start() + (found[0] != "\n")
    else:
        edges = [*_BLANK.finditer(text, at, last)] or [*_WORD_EDGE.finditer(text, at, last)]
        end = high if last == high else boundary(text, edges[-1].start() if edges else last, -1, scan)
    while at < end < high and text[end - 1].isspace():
        end -= 1
    return end


def between(ranges: Iterable[Range], size: int) -> list[Range]:
    """Return the gaps between ordered ranges in a text of `size` characters."""
    gaps, at = [], 0
    for start, end in ranges:
        if start > at:
            gaps.append((at, start))
        at = end
    return [*gaps, (at, size)] if at < size else gaps


def outside_markers(text: str, earlier: Iterable[markers.Marker]) -> list[Range]:
    """Return the ranges of a text outside its markers."""
    return between(map(attrgetter("start", "stop"), earlier), len(text))


def is_within(place: Range, ranges: Iterable[Range]) -> bool:
    """Return whether one of the ranges contains a place."""
    return any(start <= place[0] and place[1] <= end for start, end in ranges)


def _overlap(entity: Entity, gap: Range) -> bool:
    return entity.end > gap[0] and entity.start < gap[1]


def _merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Sort ranges, and join those that touch or overlap."""
    new: list[Range] = []
    for start, end in sorted(ranges):
        if new and start <= new[-1][1]:
            new[-1] = (new[-1][0], max(end, new[-1][1]))
        else:
            new.append((start, end))
    return tuple(new)


def boundary(text: str, at: int, direction: int, scan: Scan) -> int:
    """Return the position nearest to `at`, before it (`direction` -1) or after it (1), that cuts no entity or escape.

    The kept text ends (-1) or starts (1) at this position. White space nearby is preferred; otherwise the kept text
    must contain the same entities there as the whole text. If there is no such position, nothing is kept.
    """
    size, after = len(text), direction > 0
    blank = _blank(text, at, direction)
    if blank is not None:
        return blank
    while 0 < at < size:
        whole, kept = _windows(text, at, direction)
        low, begin = max(0, at - _FAR), at if after else max(0, at - _FAR)
        around = {(low + e.start, low + e.end, e.value) for e in scan(whole)}
        units = [each[:2] for each in around]
        units += [(low + start, low + end) for start, end in spans(whole)]
        cut = next((unit for unit in units if unit[0] < at < unit[1]), None)
        if cut is not None:
            at = cut[after]
            continue
        beside = {(begin + e.start, begin + e.end, e.value) for e in scan(kept)}
        if all(each in around for each in beside if at in each[:2]):
            return at
        at += direction
    return at


def scanned_to_shorten(text: str, head: int, tail: int) -> list[str]:
    """Return the parts of a text that `shortened` scans first, so that those of many texts can be scanned together."""
    ends = ((head, -1), (len(text) - tail, 1))
    parts: list[str] = []
    for at, direction in ends:
        if 0 < at < len(text) and _blank(text, at, direction) is None:
            parts += _windows(text, at, direction)
    return parts


def _blank(text: str, at: int, direction: int) -> int | None:
    """Return the position of the nearest white space, without the white space next to it, or None."""
    size, after = len(text), direction > 0
    for place in range(at, min(max(at + direction * _NEAR, 0), size), direction):
        if text[place - after].isspace():
            while 0 < place < size and text[place - (not after)].isspace():
                place += direction
            return place
    return None


def _windows(text: str, at: int, direction: int) -> tuple[str, str]:
    """Return the text around a position, and the part of it that is kept."""
    before, after = text[max(0, at - _FAR) : at], text[at : at + _FAR]
    return before + after, after if direction > 0 else before
