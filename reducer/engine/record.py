"""What is remembered of lists and texts while steps take from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reducer import marks
from reducer.entities import Entity

NOTHING: frozenset[str] = frozenset()
"""No entity types: nothing is owed."""


@dataclass(slots=True)
class Kept:
    """What a list kept of the list that arrived, and by which step. Holding `new` keeps its id from being given again."""

    new: list[Any]
    indexes: Sequence[int]
    prior: marks.Mark | None
    step: int
    parent: Kept | None


Range = tuple[int, int]
"""Start and end of a piece of a text, in characters."""


def between(ranges: Iterable[Range], size: int) -> list[Range]:
    """Give what of a text of `size` characters lies between ranges, which are in order."""
    left, at = [], 0
    for start, end in ranges:
        if start > at:
            left.append((at, start))
        at = end
    return [*left, (at, size)] if at < size else left


def own(text: str, earlier: Iterable[marks.Placed]) -> list[Range]:
    """Give the ranges of a text that are none of its marks."""
    return between([(mark.start, mark.stop) for mark in earlier], len(text))


@dataclass(slots=True)
class Cut:
    """What is left of a text: the ranges `kept` of `old`, the text as it arrived, in order; `new` is them with marks in the gaps.

    `earlier` are the marks that stand in `old` since it was cut before: never in what is kept. The last range is the tail if it has at
    most `tail` characters and ends where the text does. Entities of the types `always` in a gap are mentioned in any case, of others those
    that step `step` owes.
    """

    old: str
    kept: tuple[Range, ...]
    earlier: tuple[marks.Placed, ...]
    tail: int = 0
    step: int = 0
    always: frozenset[str] = NOTHING
    new: str = ""

    def gaps(self) -> list[Range]:
        """Give the ranges of `old` that are not kept."""
        return between(self.kept, len(self.old))

    def away(self, found: Sequence[Entity]) -> list[Entity]:
        """Give those of the entities of `old` that are not whole in what is kept."""
        gaps = self.gaps()
        if len(gaps) == 1:  # as in most
            first, last = gaps[0]
            return [entity for entity in found if entity.end > first and entity.start < last]
        return [entity for entity in found if any(entity.end > first and entity.start < last for first, last in gaps)]

    def stands(self, found: Sequence[Entity]) -> list[Entity]:
        """Give those of the entities of `old` that are whole in what is kept or mentioned in any case."""
        gaps, always = self.gaps(), self.always
        if len(gaps) == 1:
            first, last = gaps[0]
            return [entity for entity in found if entity.end <= first or entity.start >= last or entity.type in always]
        return [entity for entity in found if entity.type in always or all(entity.end <= first or entity.start >= last for first, last in gaps)]

    def mark(self, gap: Range, mentions: tuple[str, ...] = ()) -> str:
        """Write what stands in a gap: the mark, a blank if there is text before it, and what says that a stretch follows."""
        start, end = gap
        count = end - start
        if self.earlier:  # those in the gap count for what they stand for
            count += sum([mark.mark.count + mark.start - mark.stop for mark in self.earlier if start <= mark.start < end])
        follows = end < len(self.old) and (len(self.old) - end > self.tail or self.kept[-1][0] != end)
        return f"{' ' if start else ''}{marks.written(count, 'characters', mentions)}{marks.STRETCH if follows else ''}"

    def written(self, mentions: Sequence[tuple[str, ...]] = ()) -> str:
        """Give what is left with a mark in each gap; `mentions` are those of one gap after the other."""
        pieces, at, number = [], 0, 0
        for start, end in (*self.kept, (len(self.old), len(self.old))):
            if start > at:
                pieces.append(self.mark((at, start), mentions[number] if mentions else ()))
                number += 1
            pieces.append(self.old[start:end])
            at = end
        return "".join(pieces)
