"""Blocks of `Key: value` lines, such as search results, or the answers of `pip show` and `lspci`.

Blank lines and rule lines (`---`) separate groups of lines. The first key that begins two groups begins each block; if
there is none, the largest group begins the only block. Any other group belongs to the block above it, or stands before
the first.

A pair is a key, a colon, and a blank or the line end. Its value goes on to the next pair with another key that is not
indented more than the first pair of the block. The lines of a block above its first pair have the key `title`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise
from typing import Any, NamedTuple, TypeAlias

from reducer.formats.lines import marker_paragraph, parts_of

TITLE = "title"
"""The key of the lines of a block above its first pair."""
_LINE = re.compile(
    r"^\ufeff?(?P<indent>[ \t]*)(?:(?P<key>\w(?:[\w -]{0,38}[\w-])?)[ \t.]*:(?=[ \t\r\n]|$)"
    r"|(?:(?P<rule>[-=*])(?P=rule){2,}[ \t]*)?\r?$)",
    re.MULTILINE,
)

Line: TypeAlias = tuple[str | None, int, int, int]
"""The key of a pair, or None for a separator; where the line starts, where its label ends, and its indentation."""
Pairs: TypeAlias = dict[str, tuple[int, int, int]]
"""Where each pair of a block is: its start, the end of its label, and its end."""


class _Group(NamedTuple):
    """A group of lines with a pair."""

    above: int
    """Where the lines above it end, without the separator."""
    at: int
    pair: int
    """The index of its first pair among the lines."""
    key: str


def read_blocks(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the blocks of a text, and a function that writes a part of them.

    A block always keeps its first key, at which it begins.
    """
    stop = marker_paragraph(text)
    lines = _lines(text, stop)
    starts = _starts(lines, stop)
    if not starts:
        return None
    blocks = [_pairs(lines, start, following) for start, following in pairwise(starts)]
    value: list[Any] = [_value(text, pairs) for pairs in blocks]

    def write_block(index: int, item: dict[str, str]) -> str:
        kept = {starts[0].key: "", **item}
        written = [_pair(text, *place, kept[key]) for key, place in blocks[index].items() if key in kept]
        following = starts[index + 1]
        return "".join(written) + text[following.above : following.at]

    return parts_of(text, stop, text[: starts[0].at], value, write_block)


def _lines(text: str, stop: int) -> list[Line]:
    """Return the lines of a text that are pairs or separators, with a separator at its end."""
    lines: list[Line] = []
    for line in _LINE.finditer(text, 0, stop):
        lines.append((line["key"], line.start(), line.end(), len(line["indent"])))
    lines.append((None, stop, stop, 0))
    return lines


def _starts(lines: Sequence[Line], stop: int) -> list[_Group]:
    """Return the groups at which a block begins, and where the last block ends."""
    *groups, end = _groups(lines, stop)
    counts = Counter(group.key for group in groups)
    leads = [key for key, number in counts.items() if number > 1] or _largest(lines, groups)
    starts = [group for group in groups if group.key in leads[:1]]
    return [*starts, end] if starts else []


def _largest(lines: Sequence[Line], groups: Sequence[_Group]) -> list[str]:
    """Return the first key of the last group with the most pairs, if these are at least two."""
    sizes = {group.key: _size(lines, group) for group in groups}
    most = max(sizes.values(), default=0)
    return [key for key, size in sizes.items() if size == most > 1][-1:]


def _size(lines: Sequence[Line], group: _Group) -> int:
    """Return the number of pairs of a group."""
    return next(size for size in count() if not lines[group.pair + size][0])


def _groups(lines: Sequence[Line], stop: int) -> Iterator[_Group]:
    """Yield the groups with a pair, and a group without a pair for the end."""
    above = at = 0
    is_first = True
    for number, (key, begin, end, _) in enumerate(lines):
        if not key:
            above = begin if begin > at else above
            at = end + 1
            is_first = True
        elif is_first:
            yield _Group(above, at, number, key)
            is_first = False
    yield _Group(above, stop, len(lines), "")


def _pairs(lines: Sequence[Line], start: _Group, following: _Group) -> Pairs:
    _, begin, _, most = lines[start.pair]
    places = {TITLE: (start.at, start.at)} if start.at < begin else {}
    for key, at, label, indent in lines[start.pair : following.pair]:
        if key and indent <= most:
            places.setdefault(key, (at, label))
    ends = [at for at, _ in places.values()][1:]
    ends.append(following.above)
    return {key: (*place, end) for (key, place), end in zip(places.items(), ends, strict=True)}


def _value(text: str, pairs: Pairs) -> dict[str, str]:
    return {key: text[label:end].strip() for key, (_, label, end) in pairs.items()}


def _pair(text: str, start: int, label: int, end: int, new: str) -> str:
    """Write a pair with what is left of its value. A title stays if it is emptied."""
    old = text[label:end].strip()
    if new == old or not (new or start < label):
        return text[start:end]
    before, _, after = text[label:end].partition(old)
    return f"{text[start:label]}{new and before + new}{after}"
