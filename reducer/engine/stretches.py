"""Stretches of a cut text that stay: the sentence or line around what later messages refer to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from reducer.engine.cut import Scan, entity_around, is_whole_from, is_whole_to
from reducer.engine.draft import Draft
from reducer.engine.protection import Protection
from reducer.engine.record import Cut, Range, own
from reducer.entities import Entity
from reducer.marks import read_all

_REACH = 200
"""Characters on each side of a value in which its sentence or line ends, or else white space is looked for."""
_TRIES = 8
"""Places in a row of characters without white space at which it is tried to begin or end a stretch."""
_END = re.compile(r"[.!?](?=\s)|\n")
_BLANK = re.compile(r"\s+")
_SEAM = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)")


def widened(cut: Cut, values: Collection[str], protection: Protection, everything: Callable[[], Scan]) -> Cut:
    """Give the cut with a stretch kept around the first place of each of `values`, or with all of the text where that is not shorter or cannot be."""
    text = cut.old
    whole = replace(cut, kept=((0, len(text)),))
    if len(text) <= len(cut.mark((0, len(text)))):
        return whole
    pieces = own(text, cut.earlier)
    ranges = [*cut.kept]
    for value in sorted(values):
        place = protection.place(value, text, pieces)
        stretch = place and _stretch(text, place, pieces, everything)
        if not stretch:
            return whole
        ranges.append(stretch)
    wider = replace(cut, kept=_merged(ranges))
    wider = _without_small_gaps(wider, [()] * len(wider.gaps()))
    if len(wider.written()) >= len(text) or not protection.stand(values, [text[start:end] for start, end in wider.kept]):
        return whole
    return wider


def around(text: str, values: Collection[str], owed: Collection[str], draft: Draft) -> str:
    """Keep of a text that was taken away what stands around each of `values`, which are protected; marks mention what is `owed` where it stands in none."""
    if draft.protection is None:
        return text
    gone = Cut(text, (), read_all(text, 0, draft.reading.reads))
    return finished(widened(gone, values, draft.protection, draft.vocabulary.everything), draft.reading.entities(text) if owed else (), owed)


def finished(cut: Cut, found: Sequence[Entity], owed: Collection[str]) -> str:
    """Give what is left of a text, with marks that mention each value in `owed` that does not stand in it; all of the text if that is no longer.

    `found` are the entities of the text.
    """
    while True:
        away = cut.away(found)
        gone = set(map(id, away))
        shown = {entity.value for entity in found if id(entity) not in gone}
        mentions = []
        for first, last in cut.gaps():
            values = dict.fromkeys(e.value for e in away if e.end > first and e.start < last and e.value in owed and e.value not in shown)
            shown |= values.keys()
            mentions.append(tuple(values))
        closed = _without_small_gaps(cut, mentions)
        if closed is cut:
            text = cut.written(mentions)
            return text if len(text) < len(cut.old) else cut.old
        cut = closed


def _without_small_gaps(cut: Cut, mentions: Sequence[tuple[str, ...]]) -> Cut:
    """Keep the gaps too whose marks, with what they mention, are no shorter; the same cut if there are none."""
    small = [
        gap
        for gap, values in zip(cut.gaps(), mentions, strict=True)
        # What a mark of an earlier cut stands for is not there any more.
        if len(cut.mark(gap, values)) >= gap[1] - gap[0] and not any(gap[0] <= mark.start < gap[1] for mark in cut.earlier)
    ]
    return replace(cut, kept=_merged([*cut.kept, *small])) if small else cut


def _merged(ranges: Sequence[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _stretch(text: str, place: Range, pieces: Sequence[Range], everything: Callable[[], Scan]) -> Range | None:
    """Give the sentence or line around a place, at most so much of it, within the piece of the text's own characters; None without an end."""
    low, high = next(piece for piece in pieces if piece[0] <= place[0] < piece[1])
    start, end = _start(text, place, low, everything), _end(text, place, high, everything)
    return None if start is None or end is None else (start, end)


def _start(text: str, place: Range, low: int, everything: Callable[[], Scan]) -> int | None:
    at = place[0]
    first = max(low, at - _REACH)
    start = max([match.end() for match in _END.finditer(text, first, at)], default=-1)
    if start < 0 and first == low:
        return low
    if start < 0:
        blank = _BLANK.search(text, first, at)
        start = -1 if blank is None else blank.start()
    if start < 0:
        scan = everything()
        seams = [match.start() for match, _ in zip(_SEAM.finditer(text, first, at + 1), range(_TRIES), strict=False)]
        return next((seam for seam in (*seams, entity_around(text, *place, scan)[0]) if low <= seam <= at and is_whole_from(text, seam, scan)), None)
    while start < at and text[start].isspace():
        start += 1
    # One blank or line break stays, so that the stretch stands off from the mark.
    return start - 1 if start > low and text[start - 1].isspace() else start


def _end(text: str, place: Range, high: int, everything: Callable[[], Scan]) -> int | None:
    at = place[1]
    last = min(high, at + _REACH)
    found = _END.search(text, at, last)
    end = -1 if found is None else found.start() + (found[0] != "\n")
    if end < 0 and last == high:
        return high
    if end < 0:
        end = max([match.start() for match in _BLANK.finditer(text, at, last)], default=-1)
    if end < 0:
        scan = everything()
        seams = [match.start() for match in _SEAM.finditer(text, at, last)][: -_TRIES - 1 : -1]
        return next((seam for seam in (*seams, entity_around(text, *place, scan)[1]) if at <= seam <= high and is_whole_to(text, seam, scan)), None)
    while end > at and text[end - 1].isspace():
        end -= 1
    return end
