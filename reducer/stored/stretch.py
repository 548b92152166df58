"""Reads many messages of a stored history at once, by the quickest reader at hand, with their contents kept aside."""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError
from typing import Any, NamedTuple

from pydantic_core import from_json

from reducer.errors import HistoryError
from reducer.stored.outline import ESCAPED, Kept, kept
from reducer.stored.raw import Raw
from reducer.stored.seams import LONG
from reducer.stored.text import JsonText, scan

SIZE = 1 << 16
"""Characters of a stretch: what is read of them is in memory at once. More is slower: memory is fresh, and far away."""
_MARK = -8 * 10**18 - 1
"""What the first kept value is in the outline, each further one two less: a whole number that is odd, so that no decimal number equals it."""
_MARKED = b"-800000000000"
_B = r"[ \t\n\r]*+"
_BEGINNING = re.compile(rf'\{{{_B}"(\w+)"')
_COLON = re.compile(rf"{_B}:{_B}")
_MOST = 32 * SIZE
"""Bytes of an outline: a larger one holds a value that should stand aside, and would be in memory twice."""
_NEAR = 200
"""Characters within which an object begins before its content."""
_LEAD = 48
_MUCH = 2000
_OTHERS = 8
_NO_HEAD = ("", 0)

Look = tuple[str, re.Pattern[str] | None]
"""What is looked for, to keep the values behind it aside: how a key is written, and how an object begins of which it is one, if that counts."""


class Stretch(NamedTuple):
    """Items of a list, read with some of their values kept `aside`, by the numbers that stand in their places.

    `outline` is what was read. `end` is behind the last item, or at the bracket that follows it. Places are those of a `Raw`.
    """

    items: list[Any]
    aside: dict[int, Kept]
    outline: bytes
    end: int

    def complete(self, reached: int) -> bool:
        """Tell whether all kept values stand in the items, of which `reached` were found; where a key stands twice, one is lost."""
        return reached == len(self.aside) or self._marks(self.items) == len(self.aside)

    def stands(self, name: bytes, times: int) -> bool:
        """Tell whether a key stands as often as that in what was read."""
        return self.outline.count(b'"%s"' % name) == times and self.plain()

    def plain(self) -> bool:
        """Tell whether no key is written with escapes."""
        return b"\\" not in self.outline or b"\\u00" not in self.outline or ESCAPED.search(self.outline.decode()) is None

    def _marks(self, value: Any) -> int:
        if type(value) is int:
            return value in self.aside
        return sum(map(self._marks, value.values() if type(value) is dict else value if type(value) is list else ()))


def beginning(name: str) -> re.Pattern[str]:
    """Write how an object begins in which `content` follows a `name`."""
    return re.compile(rf'\{{{_B}"{name}"{_B}:{_B}(?:"[^"\\]*+"|null){_B},{_B}"content"{_B}:{_B}')


def stretch(raw: Raw, start: int, first: Look, second: Look | None = None, alone: bool = False, copies: bool = False) -> Stretch | None:
    """Read items of a list from the one at `start` on, some of them, or one that stands `alone`; None where they cannot be read so.

    The values behind what is looked for are kept aside; where there are `copies`, one says it for all that are alike. The quick reader
    takes half the time of `json.loads`. It refuses what that refuses, lone surrogates, 200 levels and numbers of more than 4,300 digits.
    """
    text = raw.source.text
    find = text.find
    ends = alone or len(text) - start <= 2 * SIZE  # or where it ends is looked for when it is long enough
    stop = text.rfind("}") + 1 if alone else _stop(text, start, start) if ends else start + SIZE
    at = done = start
    pieces = ["["]
    aside: dict[int, Kept] = {}
    known: dict[str, tuple[str, Any, str]] = {}
    seams = raw.seams
    mark = _MARK
    hit = other = -1
    sought = first
    heads: dict[str, tuple[str, int]] = {}
    head, ahead = _NO_HEAD
    try:
        while True:
            if hit < at:
                hit = find(first[0], at, stop)
                if hit < 0:
                    hit = len(text)
            begin = hit
            if second is not None:
                if other < at:
                    other = find(second[0], at, stop)
                    if other < 0:
                        other = len(text)
                sought = first if hit < other else second
                begin = hit if hit < other else other
            if begin >= stop:
                if ends:
                    break
                ends, stop = True, _stop(text, start, at)
                hit = other = -1
                continue
            name, pattern = sought
            at = begin + 1
            # What stands before a copy is mostly what stood before the last one.
            if copies:
                head, ahead = heads.get(name, _NO_HEAD)
            if ahead and text[begin + ahead] in '"[{' and text.startswith(head, begin + ahead - len(head)):
                begin += ahead
            else:
                if pattern is not None:
                    match = pattern.match(text, text.rfind("{", begin - _NEAR if begin > _NEAR else 0, at))
                    if match is None or match.end() <= begin:
                        continue
                else:
                    match = _COLON.match(text, begin + len(name))
                    if match is None or text[begin - 1] == "\\":
                        continue
                if copies:
                    before, begin = match.start() if pattern is not None else begin - 1, match.end()
                    heads[name] = text[before:begin], begin - at + 1
                else:
                    begin = match.end()
            quoted = text[begin] == '"'
            if copies:
                lead = text[begin : begin + _LEAD]
                same = known.get(lead)
                if same is not None and text.startswith(same[0], begin):
                    item = (begin, begin + len(same[0]), same[1], same[2])
                else:
                    item = seams.read(name, begin) or (_text if quoted else _kept)(raw, name, begin)
                    end = item[1]
                    # A number may go on where another ends; nothing else does.
                    if quoted or (text[begin] in "[{" and end - begin < _MOST):
                        known[lead] = (text[begin:end], item[2], item[3])
            else:
                item = (seams.read(name, begin) if seams.behind else None) or (_text if quoted else _kept)(raw, name, begin)
            aside[mark] = item
            end = item[1]
            pieces += (text[done:begin], str(mark))
            mark -= 2
            at = done = end
            if ends and end > stop:
                stop = _stop(text, start, end)
                hit = other = -1
        pieces += (text[done:stop], "]")
        outline = raw.encoded("".join(pieces))
        if len(outline) > _MOST:
            return None
        if outline.count(_MARKED) != len(aside):
            return None
        # Copies have most of their short texts alike: remembered, they are read in nine tenths of the time.
        items = from_json(outline, cache_strings=True if copies else "keys")
        return Stretch(items, aside, outline, stop) if items else None
    except (JSONDecodeError, StopIteration, IndexError, ValueError, HistoryError):
        return None


def _text(raw: Raw, key: str, start: int) -> Kept:
    value, end = scan(raw.source.text, start)
    long = end - start
    # A text without escapes is read so quickly that a guess pays late.
    if long >= LONG and (long - len(value) > long // 16 or long >= 12 * LONG):
        raw.seams.learn(key, start, end)
    if raw.bytewise and not value.isascii():
        text = raw.data[start:end].decode()
        value = scan(text, 0)[0] if "\\" in text else text[1:-1]
    return start, end, value, ""


def _kept(raw: Raw, key: str, start: int) -> Kept:
    """Read a value that is no text. Raises `ValueError` where that is better done in characters, of which there is time to think yet."""
    value, end, flaw = kept(raw.source, start)
    hopeful = raw.seams.learn(key, start, end)
    if raw.bytewise and not _is_ascii(raw.data, start, end):
        value = None  # not two of it at once: a line of 15 MB may take 60
        if raw.structured is None and end - start > _MUCH and not hopeful:
            raw.structured = True
            raise ValueError
        value, _, flaw = kept(JsonText(raw.data[start:end].decode()), 0)
    return start, end, value, flaw


def _is_ascii(data: bytes, start: int, end: int) -> bool:
    return all(data[at : min(at + SIZE, end)].isascii() for at in range(start, end, SIZE))


def _stop(text: str, start: int, at: int) -> int:
    """Tell where a stretch ends that began at `start` and goes on at `at`: where the first later item begins as its first one does."""
    beginning = _BEGINNING.match(text, start) if at < len(text) - 2 * SIZE else None
    seam = re.compile(rf'\}}{_B}(?=,{_B}\{{{_B}"{beginning[1]}")').search(text, max(at, start + SIZE)) if beginning else None
    if seam:
        return seam.end()
    end = text.rfind("]")
    for _ in range(_OTHERS):  # what wraps the messages may end in other lists
        if end < 0 or text[max(0, end - _NEAR) : end].rstrip().endswith("}"):
            break
        end = text.rfind("]", 0, end)
    return max(end, 0)
