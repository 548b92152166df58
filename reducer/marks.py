"""The marks that stand where something was cut: the only text that reducer writes.

    text = kept (mark "…" kept)* [mark tail]   a text that was cut: ` …[4409 more characters; mentions 1[.]2[.]3[.]4, APT28]`; with "…"
                                               behind a mark goes on what stays in its middle: `It …[900 more characters]… is INC-4711.`
    item = mark                                the last item of a list of texts: `…[35 more items; mentions APT28]`
    mark = "…[" count " more " ("characters" | "items") ["; mentions " value *(", " value)] "]"

`kept` and `tail` are characters of the text itself. A value is an entity as it was written. A blank stands before the mark if there is text before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Unit = Literal["characters", "items"]
Reads = Callable[[str], bool]
"""Tells whether a whole value reads as one entity: a mark that mentions anything else is somebody's text."""

OPENING = "…["
STRETCH = "…"
"""What follows a mark behind which a stretch of the text stands, and not its end."""
_BEFORE_STRETCH = "]" + STRETCH
_HEADS = {unit: re.compile(rf"…\[([1-9][0-9]{{0,11}}) more {unit}(?:; mentions |\])") for unit in ("characters", "items")}
# A tail may begin anywhere, so the end of a mark is looked for. Bounds against forged marks: no cut ever leaves more openings, brackets in one
# mention, or characters in one value than these.
_MOST_OPENINGS = 4
_MOST_BRACKETS = 16
_LONGEST_VALUE = 4096
_MOST_LISTING = 500
"""Marks in one text, with mentions and a stretch behind them, that are tried."""


_ANY = re.compile(r"…\[[1-9][0-9]{0,11} more (?:characters|items)(?:; mentions |\])")


def is_marked(text: str) -> bool:
    """Tell whether something in a text looks like a mark, whoever wrote it."""
    return _ANY.search(text) is not None


@dataclass(frozen=True, slots=True)
class Mark:
    """What was cut: how much of which unit, and the preserved entities in it as first written."""

    count: int
    unit: Unit
    mentions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return written(self.count, self.unit, self.mentions)


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark in a text: `text[start:stop]`, with the blank before it and what says that a stretch follows."""

    start: int
    stop: int
    mark: Mark


def written(count: int, unit: Unit, mentions: tuple[str, ...] = ()) -> str:
    """Write a mark."""
    # Without a `Mark`, which takes as long as all else that is done to write one.
    return f"{OPENING}{count} more {unit}; mentions {', '.join(mentions)}]" if mentions else f"{OPENING}{count} more {unit}]"


def read(text: str, head: int, tail: int, reads: Reads) -> Placed | None:
    """Find the mark of a text that was cut to at most `head` and `tail` characters; None when there is none that a cut would have left."""
    end = text.rfind(OPENING, 0, head + len(OPENING) + 1)
    for _ in range(_MOST_OPENINGS):
        if end < 0:
            return None
        found = _mark_at(text, end, "characters", "]", len(text) - tail, reads)
        if found is not None and found.start <= head:
            return found
        end = text.rfind(OPENING, 0, end)
    return None


def read_all(text: str, tail: int, reads: Reads) -> tuple[Placed, ...]:
    """Find the marks that an earlier cut left, to whatever length: those with a stretch behind them, and the one before at most `tail` characters."""
    if OPENING not in text:
        return ()
    found: list[Placed] = []
    end = 0
    if _BEFORE_STRETCH in text:
        listing = 0
        for match in _HEADS["characters"].finditer(text):
            if match.start() >= end and listing < _MOST_LISTING:
                listing += not match[0].endswith("]")
                mark = _mark_at(text, match.start(), "characters", _BEFORE_STRETCH, 0, reads)
                if mark is not None:
                    found.append(mark)
                    end = mark.stop
    last = read(text, len(text), tail, reads)
    if last is None or (last.start < end and found[-1].start != last.start):
        return (*found,)
    return (*(mark for mark in found if mark.start < last.start), last)


def read_item(item: object, reads: Reads) -> Mark | None:
    """Read a list's mark item; None when `item` is anything else."""
    if type(item) is not str or not item.startswith(OPENING):
        return None
    found = _mark_at(item, 0, "items", "]", len(item), reads)
    return found.mark if found else None


def read_alone(text: str, reads: Reads) -> Mark | None:
    """Read a text that is nothing but a mark; None when it is anything else."""
    if not text.startswith(OPENING):
        return None
    found = _mark_at(text, 0, "characters", "]", len(text), reads)
    return found.mark if found else None


def _mark_at(text: str, start: int, unit: Unit, closing: str, first: int, reads: Reads) -> Placed | None:
    """Read the mark that opens at `start` and whose `closing` ends at `first` or behind it."""
    match = _HEADS[unit].match(text, start)
    own = start - 1 if start and text[start - 1] == " " else start
    if match is None or (own == start and start > 0):
        return None
    count, begin = int(match[1]), match.end()
    if text[begin - 1] == "]":
        stop = begin - 1
        fits = text.startswith(closing, stop) and stop + len(closing) >= first
        return Placed(own, stop + len(closing), Mark(count, unit)) if fits else None
    stop = text.find(closing, max(begin, first - len(closing)))
    for _ in range(_MOST_BRACKETS):
        if stop < 0:
            return None
        last = text.rfind(", ", max(begin, stop - _LONGEST_VALUE - 2), stop)
        last = begin if last < 0 else last + 2
        if stop - last > _LONGEST_VALUE:
            return None
        if reads(text[last:stop]):
            mentions = _mentions(text, begin, stop, reads)
            return None if mentions is None else Placed(own, stop + len(closing), Mark(count, unit, mentions))
        stop = text.find(closing, stop + 1)
    return None


def _mentions(text: str, begin: int, stop: int, reads: Reads) -> tuple[str, ...] | None:
    # One by one: marks that are forged by the thousand, each of which would list all that follows, cost no more than their first values.
    values = []
    while True:
        comma = text.find(", ", begin, min(stop, begin + _LONGEST_VALUE + 2))
        end = stop if comma < 0 else comma
        if end - begin > _LONGEST_VALUE or not reads(text[begin:end]):
            return None
        values.append(text[begin:end])
        if comma < 0:
            return tuple(values)
        begin = comma + 2
