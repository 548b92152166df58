"""Markers, which replace what was cut: the only text that reducer writes.

    text = kept (marker "…" kept)* [marker tail]   a text that was cut; after "…", another kept part follows:
                                                   `It …[900 more characters]… is INC-4711.`
    item = marker                                  the last item of a list: `…[35 more items; mentions APT28]`
    marker = "…[" count " more " ("characters" | "items") *("; " label ": " tally *(", " tally))
             ["; mentions " value *(", " value)] "]"
    tally = count " " value                        how many of the items have a value: `severity: 41 high, 77 low`

`kept` and `tail` are parts of the original text. A mentioned value is an entity as it was written. If there is text
before a marker, a space separates them.

A marker of a repeat is a whole text, a line of a text or an item of a list, in place of what earlier returns show:

    repeat = "…[" count " " ("characters" | "lines" | "items") " as in the " place "]"
    place = "return of " call | "returns of " call *(", " call)
    call = tool " (" call id ")"                   both percent-encoded like a URL: `get%20page (call_7)`
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal
from urllib.parse import quote

Unit = Literal["characters", "items"]
Reads = Callable[[str], bool]
"""Returns whether a text is exactly one entity. A marker that mentions anything else is ordinary text."""

PREFIX = "…["
ESCAPED = "2026["
"""The end of the prefix of a marker that is escaped in JSON."""
CONTINUES = "…"
"""Follows a marker if more of the text was kept after it."""
_INNER_CLOSING = "]" + CONTINUES
MAX_COUNT = (1 << 53) - 1
"""The largest count: the largest integer that every JSON parser preserves."""
_TALLY = r"[1-9][0-9]{0,15} [^,;\]…]{1,40}"
_TALLIES = rf"; [^,;:\]…]{{1,60}}: {_TALLY}(?:, {_TALLY}){{0,7}}"
_HEAD = re.compile(rf"…\[([1-9][0-9]{{0,15}}) more (characters|items)((?:{_TALLIES})*)(?:; mentions |\])")
LABEL = re.compile(r"[^,;:\]…]{1,60}")
_BRACKET = re.compile(r"\[[^][]*\]|\]")
"""A closing bracket, with what it encloses if an earlier one opens it."""
_VALUE = re.compile(r"[^,;\]<…\s](?:[^,;\]<…]{0,38}[^,;\]<…\s])?")
_NAME = "[A-Za-z0-9_.~:/@%-]{1,300}"
_CALL = rf"{_NAME} \({_NAME}\)"
_CALLS = rf"{_CALL}(?:, {_CALL})*"
_REPEAT = re.compile(rf"…\[([1-9][0-9]{{0,15}}) (characters|lines|items) as in the returns? of ({_CALLS})\]")
_MAX_TALLIES = 8
# Limits for forged markers. Real markers stay below them.
_MAX_STARTS = 4
_MAX_BRACKETS = 16  # in a value
_MAX_POSSIBLE = 32
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
    return _HEAD.search(text) is not None or _REPEAT.search(text) is not None


def written(count: int, unit: Unit, mentions: tuple[str, ...] = (), tallies: Counter[Tally] | None = None) -> str:
    """Return the text of a marker with the most frequent values of each label. Counts have a maximum."""
    count = min(count, MAX_COUNT)
    parts = [f"{count} more {unit}"]
    by_label: dict[str, list[tuple[int, str]]] = {}
    for (label, value), number in (tallies or {}).items():
        by_label.setdefault(label, []).append((-number, value))
    for label, counts in by_label.items():
        frequent = sorted(sorted(counts)[:_MAX_TALLIES], key=itemgetter(1))
        parts.append(f"{label}: {', '.join(f'{min(-number, MAX_COUNT)} {value}' for number, value in frequent)}")
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
    if last is not None and last.start >= end:
        found.append(last)
    elif last is not None and last.start == found[-1].start:
        found[-1] = last
    return tuple(found)


def read_item(item: object, reads: Reads, labels: Collection[str] | None = None) -> Marker | None:
    """Return the marker that is an item of a list, or None if the item is not a marker with some of these labels.

    Without `labels`, a marker can have any.
    """
    marker = _marker_at(item, 0, "items", reads, first=len(item)) if type(item) is str else None
    if marker is None or not marker.tallies:
        return marker
    tallies = Counter(dict(marker.tallies))
    for label, value in tallies:
        if (labels is not None and label not in labels) or countable(value) is None:
            return None
    return marker if written(marker.count, "items", marker.mentions, tallies) == item else None


def read_alone(text: str, reads: Reads) -> Marker | None:
    """Return the marker that is a complete text, or None if the text is not a marker."""
    return _marker_at(text, 0, "characters", reads, first=len(text))


def possible(text: str, reads: Reads) -> Iterator[Marker]:
    """Yield each marker that a rule can have written in a text, whichever entities the rule knows.

    `reads` can be less strict than an entity type. Mentioned values can contain brackets, so several markers can start
    at the same place: the likeliest comes first.
    """
    for head in _HEAD.finditer(text):
        begin = max(head.start() - 1, 0)  # a marker can include the space before it
        limit = text.find(PREFIX, head.end())
        brackets = _BRACKET.finditer(text, head.end() - 1, limit if limit >= 0 else len(text))
        for bracket in sorted(brackets, key=lambda match: match[0] != "]")[:_MAX_POSSIBLE]:
            for closing in (_INNER_CLOSING, "]"):
                # A value ends before the bracket, and does not continue after it.
                part = text[begin : bracket.end() - 1 + len(closing)]
                marker = _marker_at(part, head.start() - begin, "characters", reads, closing=closing, first=len(part))
                if marker is not None:
                    yield replace(marker, start=marker.start + begin, stop=marker.stop + begin)


def _marker_at(text: str, start: int, unit: Unit, reads: Reads, *, closing: str = "]", first: int = 0) -> Marker | None:
    """Return the marker that starts at `start` and whose `closing` ends at `first` or later, or None."""
    match = _HEAD.match(text, start)
    own = start - 1 if start and text[start - 1] == " " else start
    if match is None or match[2] != unit or (own == start and start > 0):
        return None
    count, begin = int(match[1]), match.end()
    if count > MAX_COUNT or (match[3] and unit == "characters"):
        return None
    if text[begin - 1] != "]":
        mentions, stop = _mentions(text, begin, first, reads, closing)
    else:
        mentions, stop = (), begin - 1 if text.startswith(closing, begin - 1) else -1
    if stop < 0 or stop + len(closing) < first:
        return None
    return Marker(count, mentions, own, stop + len(closing), tuple(_tallies(match[3])))


def _tallies(text: str) -> Iterator[tuple[Tally, int]]:
    for part in text.split("; ")[1:]:
        label, _, values = part.partition(": ")
        for tally in values.split(", "):
            number, _, value = tally.partition(" ")
            yield (label, value), int(number)


def _mentions(text: str, begin: int, first: int, reads: Reads, closing: str) -> tuple[tuple[str, ...], int]:
    """Return the mentions that start at `begin`, and where the `closing` that ends at `first` or later follows them.

    The position is -1 if this text is not mentions: thousands of forged markers cost little time.
    """
    values: list[str] = []
    while True:
        for end in _ends_of_value(text, begin, first, closing):
            if reads(text[begin:end]):
                break
        else:
            return (), -1
        values.append(text[begin:end])
        if text[end] == "]":
            return (*values,), end if len({*values}) == len(values) else -1  # a marker mentions nothing twice
        begin = end + 2


def _ends_of_value(text: str, begin: int, first: int, closing: str) -> Iterator[int]:
    """Yield where the value that starts at `begin` can end. Only a user agent contains a `, `."""
    least = max(begin, first - len(closing) - 1)
    for mark, times, end in ((", ", _MAX_COMMAS + 1, begin), (closing, _MAX_BRACKETS, least)):
        for _ in range(times):
            end = text.find(mark, end + 1, begin + _MAX_VALUE_CHARS + len(mark))
            if end < 0:
                break
            yield end


# --- repeats


@dataclass(frozen=True, slots=True)
class Repeat:
    """A marker of a repeat: how much the `calls` show, which are written as `call_of` writes them."""

    text: str
    count: int
    unit: str
    calls: tuple[str, ...]


def call_of(tool: str, call_id: str) -> str:
    """Write the name and the id of a tool call for a marker of a repeat; empty if it has no id."""
    name, number = (quote(text, safe=":/@", errors="surrogatepass") for text in (tool, call_id))
    return f"{name} ({number})" if call_id else ""


def repeat(count: int, unit: str, calls: Collection[str]) -> str:
    """Return the marker in place of so many characters, lines or items that the returns of `calls` show."""
    returns = "return" if len(calls) == 1 else "returns"
    return f"{PREFIX}{count} {unit} as in the {returns} of {', '.join(calls)}]"


def repeats_in(text: str) -> Iterator[Repeat]:
    """Yield what looks like a marker of a repeat in a text, at any depth of nested JSON."""
    for match in _REPEAT.finditer(text) if PREFIX in text else ():
        yield Repeat(match[0], int(match[1]), match[2], tuple(match[3].split(", ")))


def is_repeat(text: str) -> bool:
    """Return whether a whole text looks like a marker of a repeat."""
    return text.startswith(PREFIX) and _REPEAT.fullmatch(text) is not None
