"""The marks that stand where something was cut: the only text that reducer writes.

    text = head ["" | " "] mark tail        a text that was cut: ` …[4409 more characters; mentions 1[.]2[.]3[.]4, APT28]`
    item = mark                              the last item of a list of texts: `…[35 more items; mentions APT28]`
    mark = "…[" count " more " ("characters" | "items") ["; mentions " value *(", " value)] "]"

A value is an entity as it was written. A blank stands before the mark if there is text before it.
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
_HEADS = {unit: re.compile(rf"…\[([1-9][0-9]{{0,11}}) more {unit}(?:; mentions |\])") for unit in ("characters", "items")}
# A tail may begin anywhere, so the end of a mark is looked for. Bounds against forged marks: no cut ever leaves more openings, brackets in one
# mention, or characters in one value than these.
_MOST_OPENINGS = 4
_MOST_BRACKETS = 16
_LONGEST_VALUE = 4096


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
        mentions = f"; mentions {', '.join(self.mentions)}" if self.mentions else ""
        return f"{OPENING}{self.count} more {self.unit}{mentions}]"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with a mark in it: `text[:head]` and `text[len(text) - tail:]` are its own characters."""

    head: int
    tail: int
    mark: Mark


def write(head: str, mark: Mark, tail: str = "") -> str:
    """Put `mark` between the kept head and tail of a text."""
    return f"{head} {mark}{tail}" if head else f"{mark}{tail}"


def read(text: str, head: int, tail: int, reads: Reads) -> Marked | None:
    """Find the mark of a text that was cut to at most `head` and `tail` characters; None when there is none that a cut would have left."""
    end = text.rfind(OPENING, 0, head + len(OPENING) + 1)
    for _ in range(_MOST_OPENINGS):
        if end < 0:
            return None
        found = _mark_at(text, end, "characters", tail, reads)
        if found is not None:
            stop, mark = found
            own = end - 1 if end and text[end - 1] == " " else end
            if own <= head and (own < end or end == 0):
                return Marked(own, len(text) - stop, mark)
        end = text.rfind(OPENING, 0, end)
    return None


def read_item(item: object, reads: Reads) -> Mark | None:
    """Read a list's mark item; None when `item` is anything else."""
    if type(item) is not str or not item.startswith(OPENING):
        return None
    found = _mark_at(item, 0, "items", 0, reads)
    return found[1] if found else None


def read_alone(text: str, reads: Reads) -> Mark | None:
    """Read a text that is nothing but a mark; None when it is anything else."""
    if not text.startswith(OPENING):
        return None
    found = _mark_at(text, 0, "characters", 0, reads)
    return found[1] if found else None


def _mark_at(text: str, start: int, unit: Unit, tail: int, reads: Reads) -> tuple[int, Mark] | None:
    match = _HEADS[unit].match(text, start)
    if match is None:
        return None
    count, begin = int(match[1]), match.end()
    if text[begin - 1] == "]":
        return (begin, Mark(count, unit)) if len(text) - begin <= tail else None
    stop = text.find("]", max(begin, len(text) - tail - 1))
    for _ in range(_MOST_BRACKETS):
        if stop < 0:
            return None
        last = text.rfind(", ", begin, stop)
        last = begin if last < 0 else last + 2
        if stop - last > _LONGEST_VALUE:
            return None
        if reads(text[last:stop]):
            mentions = tuple(text[begin:stop].split(", "))
            return (stop + 1, Mark(count, unit, mentions)) if all(map(reads, mentions[:-1])) else None
        stop = text.find("]", stop + 1)
    return None
