"""Reads stored JSON with the values of some keys kept aside: what is left is small, and each kept value is known with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from json.decoder import JSONDecodeError
from operator import length_hint
from typing import Any

from reducer.reading import is_deep, worded
from reducer.stored.text import JsonText, follow, scan, scanner

Kept = tuple[int, int, Any, str]
"""A value kept aside: where its JSON starts and ends, what it is, and why it cannot be written back without loss (empty when it can).
It stands in its own place in what is read; JSON has no tuples, so nothing else looks like one."""

NO_CONTENT: Kept = (0, 0, None, "")
TWICE = "an object in it has the same key twice"
UNSURE = "an object in it may have the same key twice"
"""What is told of a value that was read before this was looked at, which takes as long again; `Raw.sure` finds out."""

_MARK = "-Infinity"
"""What a kept value is in the outline: the one constant that costs other values nothing, as the scanner asks for its meaning."""
_CONTENT, _RAW_RESULT = '"content"', '"raw_result"'
_KEPT = frozenset({"content", "raw_result"})
_COLON = re.compile(r"[ \t\n\r]*+:[ \t\n\r]*+")
ESCAPED = re.compile(r"\\u00[567]")
"""A letter of a name, or the line in one, written as an escape: no program does so, but a name may then be one of those that count."""
_DEPTH = 48
"""Levels that are read piece by piece where that is needed: a message in some wrappers has a dozen above its contents."""
_MANY = 32
_CHARACTERS = 1 << 13
"""An outline grows by up to `_MANY` values, or so many characters for each of them: that much is in memory at once."""


class Outline:
    """A JSON text read as a whole or item by item, with the values called `content` and `raw_result` kept aside.

    The values are read where they stand; all the rest, in which a mark takes the place of each, is read at C speed in long stretches.
    `made` counts the values kept aside in what was read last: where fewer are found in it, a key stands twice, and `again` tells which.
    """

    def __init__(self, source: JsonText) -> None:
        self.made = 0
        self._source = source
        self._end = self._behind = -1

    def whole(self, start: int) -> Any:
        """Read the value at `start`; `source.at` is then its end."""
        self._restart(start, 1)
        value = self._item()
        self._source.at = self._behind if self._end < 0 else self._origin(self._end)
        return value

    def items(self, start: int) -> Iterator[Any]:
        """Read the items of the list at `start`; `source.at` is in the end that of the list."""
        at = self._source.white(start + 1)
        if self._source.text[at : at + 1] == "]":
            self._source.at = at + 1
        else:
            yield from self.items_from(at)

    def items_from(self, at: int) -> Iterator[Any]:
        """Read the items of a list from the one at `at` on."""
        source = self._source
        self._restart(at, _MANY)
        while True:
            yield self._item()
            end = self._end
            if end < 0:
                at, more = follow(source.text, self._behind)
                if more:
                    self._restart(at, 2)
                else:
                    source.at = at
                    return
            elif self._text.startswith(",{", end):
                self._at = end + 1
                self._used += self.made
            else:
                try:
                    self._at, more = follow(self._text, end)
                except JSONDecodeError as error:
                    raise JSONDecodeError(error.msg, source.text, self._origin(error.pos)) from None
                self._used += self.made
                if not more:
                    source.at = self._origin(self._at)
                    return

    def lost(self, item: Any) -> bool:
        """Tell whether some of the values kept aside in what was read last do not stand in it."""
        return 0 <= self.made != _kept_in(item)

    def again(self) -> Any:
        """Read piece by piece what was read last: in it a kept value that stands twice says so."""
        return careful(self._source, self._origin(self._at))[0]

    def _restart(self, at: int, limit: int) -> None:
        self._text = ""
        self._values: list[Kept] = []
        self._base = self._done = at
        self._at = self._used = 0
        self._end = self._behind = -1
        self._limit = limit
        self._next = (-1, -1)
        self._more()

    def _item(self) -> Any:
        while not self._odd:
            try:
                value, self._end = self._scan(self._text, self._at)
            except JSONDecodeError as error:
                at = error.pos
            except StopIteration as error:
                at = error.value
            except (ValueError, RecursionError):  # a number too long, or nesting too deep
                break
            else:
                if is_deep(value, self._end - self._at):
                    break
                self.made = len(self._values) - self._used - length_hint(self._left)
                return value
            if at < len(self._text) or self._done == len(self._source.text):
                break  # reading piece by piece tells what is wrong
            self._more()
        self.made = self._end = -1
        value, self._behind = careful(self._source, self._origin(self._at))
        return value

    def _origin(self, at: int) -> int:
        """Tell where in the source the place `at` of the outline is."""
        before = self._values[: self._text.count(_MARK, 0, at)]
        return self._base + at + sum(end - start - len(_MARK) for start, end, _, _ in before)

    def _more(self) -> None:
        """Let the outline grow, and forget what was read of it. It ends right behind a kept value, or with the source."""
        # What did not fit is tried again with twice as much, so that a message of any length is read in linear time.
        limit = self._limit = _MANY if self._at else 2 * self._limit
        self._base = self._origin(self._at)
        pieces = [self._text[self._at :]]
        values = self._values[self._used :]
        source, text = self._source, self._source.text
        find = text.find
        at = done = self._done
        most, stop = len(values) + limit, at + limit * _CHARACTERS
        content, raw_result = self._next
        while len(values) < most and at < stop:
            if content < at:
                content = find(_CONTENT, at)
                if content < 0:
                    content = len(text)
            if raw_result < at:
                raw_result = find(_RAW_RESULT, at)
                if raw_result < 0:
                    raw_result = len(text)
            if content < raw_result:
                hit, begin = content, content + len(_CONTENT)
            elif raw_result < len(text):
                hit, begin = raw_result, raw_result + len(_RAW_RESULT)
            else:
                pieces.append(text[done:])
                done = len(text)
                break
            at = begin
            following = text[begin : begin + 2]
            if following[:1] == ":" and following[1:] not in " \t\n\r":  # the usual case; an empty text is in any other
                begin += 1
            else:
                colon = _COLON.match(text, begin)
                if colon is None:
                    continue
                begin = colon.end()
            if text[hit - 1] == "\\":
                continue
            try:
                if text[begin] == '"':
                    value, end = scan(text, begin)
                    values.append((begin, end, value, ""))
                else:
                    value, end, flaw = kept(source, begin)
                    values.append((begin, end, value, flaw))
            except (JSONDecodeError, IndexError):  # reading on from before it tells whether that is the first fault
                pieces.append(text[done:])
                done = len(text)
                break
            pieces += (text[done:begin], _MARK)
            at = done = end
        self._text, self._values, self._done, self._next = "".join(pieces), values, done, (content, raw_result)
        self._at = self._used = 0
        # Each mark then reads as the next of the values: `next(values, "-Infinity")`. So would other constants: a text with such is odd.
        self._left = iter(values)
        self._scan = scanner(json.JSONDecoder(parse_constant=partial(next, self._left)))
        self._odd = self._text.count("Infinity") != len(values) or "NaN" in self._text or ESCAPED.search(self._text) is not None


def careful(source: JsonText, at: int, depth: int = _DEPTH) -> tuple[Any, int]:
    """Read the value at `at`, and its end, as an `Outline` does, but piece by piece: whatever its nesting, numbers and keys."""
    mark = source.text[at : at + 1] if depth else ""
    if mark == "[":
        items = []
        for start in source.items(at):
            item, source.at = careful(source, start, depth - 1)
            items.append(item)
        return items, source.at
    if mark != "{":
        return source.value(at)
    fields: dict[str, Any] = {}
    for key, start in source.members(at):
        value: Any
        if key in _KEPT:
            content, source.at, flaw = kept(source, start)
            value = (start, source.at, content, "it has two contents" if key in fields else flaw)
        else:
            value, source.at = careful(source, start, depth - 1)
        fields[key] = value
    return fields, source.at


def _kept_in(value: Any) -> int:
    if type(value) is tuple:
        return 1
    return sum(map(_kept_in, value.values() if type(value) is dict else value if type(value) is list else ()))


def kept(source: JsonText, start: int) -> tuple[Any, int, str]:
    """Read the value at `start`, its end, and why it cannot be written back without loss, if so."""
    text = source.text
    try:
        if text[start : start + 1] not in ("{", "["):
            return *scan(text, start), ""
        # A hook for pairs costs 35% more than the parsing (3.11); to count the keys read and those written costs 45%.
        value, end, distinct = source.paired(start)
        if not is_deep(value, end - start):
            return value, end, "" if distinct else TWICE
    except JSONDecodeError as error:
        raise worded(error) from None
    except RecursionError:
        pass
    except (ValueError, StopIteration):
        value, end = source.value(start)
        if value is not None:
            return value, end, "a number in it has more digits than can be read"
    return *source.value(start), "it is nested too deep to be read"
