"""Markers, which replace what was cut: the only text that reducer writes.

    text = kept (marker "…" kept)* [marker tail]   a text that was cut; after "…", another kept part follows:
                                                   `It …[900 more characters]… is INC-4711.`
    item = marker                                  the last item of a list: `…[35 more items; mentions APT28]`
    marker = "…[" count " more " ("characters" | "items") *("; " label ": " tally *(", " tally))
             ["; mentions " value *(", " value)] "]"
    tally = count " " value                        how many of the items have a value: `severity: 41 high, 77 low`

`kept` and `tail` are parts of the original text. A mentioned value is an entity as it was written. If there is text
before a marker, a space separates them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["characters", "items"]
Reads = Callable[[str], bool]
"""Returns whether a text is exactly one entity. A marker that mentions anything else is ordinary text."""

PREFIX = "…["
CONTINUES = "…"
"""Follows a marker if more of the text was kept after it."""
_INNER_CLOSING = "]" + CONTINUES
MAX_COUNT = (1 << 53) - 1
"""The largest count: the largest integer that every JSON parser preserves."""
_TALLY = r"[1-9][0-9]{0,15} [^,;\]…]{1,40}"
_TALLIES = rf"; [^,;:\]…]{{1,60}}: {_TALLY}(?:, {_TALLY}){{0,7}}"
_HEAD = re.compile(rf"…\[([1-9][0-9]{{0,15}}) more (characters|items)((?:{_TALLIES})*)(?:; mentions |\])")
LABEL = re.compile(r"[^,;:\]…]{1,60}")
_BRACKET = re.compile(r"[][]")
_VALUE = re.compile(r"[^,;\]<…\s](?:[^,;\]<…]{0,38}[^,;\]<…\s])?")
_MAX_TALLIES = 8
# Limits for forged markers. Real markers stay below them.
_MAX_STARTS = 4
_MAX_BRACKETS = 16
_MAX_VALUE_CHARS = 4096
_MAX_COMMAS = 1  # in a value: "(KHTML, like Gecko)"
_MAX_WITH_MENTIONS = 500
"""Maximum number of inner markers with mentions that are read in one text."""


Tally = tuple[str, str]
"""The label of a count and the value that is counted."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a text: the number of omitted characters or items, and the preserved entities that they contained.

    `tallies` counts the omitted items by label and value.
    `text[start:stop]` is the marker with the space before it and the `…` after it.
    """

    count: int
    mentions: tuple[str, ...]
    start: int
    stop: int
    tallies: tuple[tuple[Tally, int], ...] = ()


def countable(value: Any) -> str | None:
    """Return the text of a short scalar that a marker can count, or None for any other value."""
    text = value if type(value) is str else json.dumps(value) if type(value) in (bool, int, float) else ""
    return text if _VALUE.fullmatch(text) and text.isprintable() else None


def is_marked(text: str) -> bool:
    """Return whether a text contains something that looks like a marker."""
    return _HEAD.search(text) is not None


def written(count: int, unit: Unit, mentions: tuple[str, ...] = (), tallies: Counter[Tally] | None = None) -> str:
    """Return the text of a marker with the most frequent values of each label. Counts have a maximum."""
    count = min(count, MAX_COUNT)
    parts = [f"{count} more {unit}"]
    for label in dict.fromkeys(label for label, _ in tallies or ()):
        of_label = [(-number, value) for (each, value), number in (tallies or {}).items() if each == label]
        frequent = sorted((value, -number) for number, value in sorted(of_label)[:_MAX_TALLIES])
        parts.append(f"{label}: {', '.join(f'{min(number, MAX_COUNT)} {value}' for value, number in frequent)}")
    if mentions:
        parts.append(f"mentions {', '.join(mentions)}")
    return f"{PREFIX}{'; '.join(parts)}]"


def read(text: str, head: int, tail: int, reads: Reads) -> Marker | None:
    """Return the marker in a text that was cut to at most `head` and `tail` characters, or None."""
    end = text.rfind(PREFIX, 0, head + len(PREFIX) + 1)
    for _ in range(_MAX_STARTS):
        if end < 0:
            return None
        found = _marker_at(text, end, "characters", reads, first=len(text) - tail)
        if found is not None and found.start <= head:
            return found
        end = text.rfind(PREFIX, 0, end)
    return None


def read_all(text: str, tail: int, reads: Reads) -> tuple[Marker, ...]:
    """Return the markers of earlier cuts: inner markers, and the last one before at most `tail` characters."""
    if PREFIX not in text:
        return ()
    found: list[Marker] = []
    end = with_mentions = 0
    for match in _HEAD.finditer(text) if _INNER_CLOSING in text else ():
        if match[2] == "characters" and match.start() >= end and with_mentions < _MAX_WITH_MENTIONS:
            with_mentions += not match[0].endswith("]")
            marker = _marker_at(text, match.start(), "characters", reads, closing=_INNER_CLOSING)
            if marker is not None:
                found.append(marker)
                end = marker.stop
    last = read(text, len(text), tail, reads)
    if last is None or (last.start < end and found[-1].start != last.start):
        return (*found,)
    return (*(marker for marker in found if marker.start < last.start), last)


def read_item(item: object, reads: Reads, labels: Collection[str] = ()) -> Marker | None:
    """Return the marker that is an item of a list, or None if the item is not a marker with some of these labels."""
    marker = _whole(item, "items", reads) if type(item) is str else None
    if marker is None or not marker.tallies:
        return marker
    tallies = Counter(dict(marker.tallies))
    for label, value in tallies:
        if label not in labels or countable(value) is None:
            return None
    return marker if written(marker.count, "items", marker.mentions, tallies) == item else None


def read_alone(text: str, reads: Reads) -> Marker | None:
    """Return the marker that is a complete text, or None if the text is not a marker."""
    return _whole(text, "characters", reads)


def possible(text: str) -> Iterator[Marker]:
    """Yield each marker that a rule can have written in a text, whichever entities the rule knows.

    Mentioned values can contain brackets, so several markers can start at the same place: the likeliest comes first.
    """
    for head in _HEAD.finditer(text):
        count, start = int(head[1]), head.start()
        own = start - 1 if start and text[start - 1] == " " else start
        if head[2] == "items" or head[3] or count > MAX_COUNT or (own == start and start):
            continue
        for stop in _possible_ends(text, head):
            mentions = _possible_mentions(text, head, stop)
            if text.startswith(_INNER_CLOSING, stop):
                yield Marker(count, mentions, own, stop + len(_INNER_CLOSING))
            yield Marker(count, mentions, own, stop + 1)


def possible_item(item: object) -> Marker | None:
    """Return the marker that an item of a list can be, whichever entities and labels its rule knows, or None."""
    head = _HEAD.match(item) if type(item) is str else None
    if head is None or head[2] != "items" or int(head[1]) > MAX_COUNT:
        return None
    text = head.string
    stop = len(text) - 1
    is_whole = head.end() == len(text) if head[0].endswith("]") else text.endswith("]", head.end())
    return Marker(int(head[1]), _possible_mentions(text, head, stop), 0, len(text)) if is_whole else None


def _possible_ends(text: str, head: re.Match[str]) -> Iterable[int]:
    """Return the brackets that can close a marker: first those that no earlier bracket in the mentions opens."""
    if head[0].endswith("]"):
        return (head.end() - 1,)
    others: list[int] = []
    closing: list[int] = []
    depth = 0
    limit = text.find(PREFIX, head.end())
    for bracket in _BRACKET.finditer(text, head.end(), limit if limit >= 0 else len(text)):
        if bracket[0] == "[":
            depth += 1
        elif depth:
            depth -= 1
            others.append(bracket.start())
        else:
            closing.append(bracket.start())
        if len(closing) == _MAX_BRACKETS:
            break
    return (*closing, *others[:_MAX_BRACKETS])


def _possible_mentions(text: str, head: re.Match[str], stop: int) -> tuple[str, ...]:
    return tuple(text[head.end() : stop].split(", ")) if stop > head.end() else ()


def _whole(text: str, unit: Unit, reads: Reads) -> Marker | None:
    return _marker_at(text, 0, unit, reads, first=len(text)) if text.startswith(PREFIX) else None


def _marker_at(text: str, start: int, unit: Unit, reads: Reads, *, closing: str = "]", first: int = 0) -> Marker | None:
    """Return the marker that starts at `start` and whose `closing` ends at `first` or later, or None."""
    match = _HEAD.match(text, start)
    own = start - 1 if start and text[start - 1] == " " else start
    if match is None or match[2] != unit or (own == start and start > 0):
        return None
    count, begin = int(match[1]), match.end()
    if count > MAX_COUNT or (match[3] and unit == "characters"):
        return None
    mentions: tuple[str, ...] | None = ()
    stop = begin - 1
    if text[stop] != "]":
        stop = _end_of_mentions(text, begin, max(begin, first - len(closing)), reads, closing)
        mentions = _mentions(text, begin, stop, reads) if stop >= 0 else None
    elif not text.startswith(closing, stop) or stop + len(closing) < first:
        return None
    if mentions is None:
        return None
    return Marker(count, mentions, own, stop + len(closing), tuple(_tallies(match[3])))


def _end_of_mentions(text: str, begin: int, least: int, reads: Reads, closing: str) -> int:
    """Return where `closing` follows the mentions that start at `begin`, at `least` or later, or -1."""
    stop = text.find(closing, least)
    for _ in range(_MAX_BRACKETS):
        last_value = -1 if stop < 0 else _start_of_value(text, begin, stop, reads)
        if last_value < 0:
            return -1
        if last_value < stop:
            return stop
        stop = text.find(closing, stop + 1)
    return -1


def _tallies(text: str) -> Iterator[tuple[Tally, int]]:
    for part in text.split("; ")[1:]:
        label, _, values = part.partition(": ")
        for tally in values.split(", "):
            number, _, value = tally.partition(" ")
            yield (label, value), int(number)


def _mentions(text: str, begin: int, stop: int, reads: Reads) -> tuple[str, ...] | None:
    # Stop at the first invalid value, so that thousands of forged markers cost little time.
    values = []
    while True:
        for end in _commas(text, begin, stop):
            if reads(text[begin:end]):
                break
        else:
            return None
        values.append(text[begin:end])
        if end == stop:
            return tuple(values) if len({*values}) == len(values) else None  # a marker mentions nothing twice
        begin = end + 2


def _commas(text: str, begin: int, stop: int) -> Iterator[int]:
    """Yield where the value that starts at `begin` can end. Only a user agent contains a `, `."""
    end = begin
    for _ in range(_MAX_COMMAS + 1):
        end = text.find(", ", end + 1, min(stop, begin + _MAX_VALUE_CHARS + 2))
        if end < 0:
            if stop - begin <= _MAX_VALUE_CHARS:
                yield stop
            return
        yield end


def _start_of_value(text: str, begin: int, stop: int, reads: Reads) -> int:
    """Return where the last value before `stop` starts, `stop` if it is not an entity, -1 if it is too long."""
    comma = stop
    for _ in range(_MAX_COMMAS + 1):
        comma = text.rfind(", ", max(begin, stop - _MAX_VALUE_CHARS - 2), comma)
        value = begin if comma < 0 else comma + 2
        if stop - value > _MAX_VALUE_CHARS:
            return -1
        if reads(text[value:stop]):
            return value
        if comma < 0:
            break
    return stop
