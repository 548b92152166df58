"""Reads many messages of a stored history at once, by the quickest reader at hand, with their contents kept aside."""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError
from typing import Any, NamedTuple

from pydantic_core import from_json

from reducer.errors import HistoryError
from reducer.stored.outline import ESCAPED, Kept, kept
from reducer.stored.raw import Raw
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
            name = sought[0]
            head, ahead = heads.get(name, ("", 0))
            at = begin + 1
            begin += ahead
            # What stands before a value is mostly what stood before the last one.
            if not ahead or text[begin] not in '"[{' or not text.startswith(head, begin - len(head)):
                found = _head(text, at - 1, sought)
                if found is None:
                    continue
                begin = found[1]
                heads[name] = text[found[0] : begin], begin - at + 1
            lead = text[begin : begin + _LEAD] if copies else ""
            same = known.get(lead) if copies else None
            if same is not None and text.startswith(same[0], begin):
                end = begin + len(same[0])
                aside[mark] = (begin, end, same[1], same[2])
            else:
                aside[mark] = item = seams.read(name, begin) or (_text if text[begin] == '"' else _kept)(raw, name, begin)
                _, end, value, flaw = item
                # A number may go on where another ends; nothing else does.
                if copies and (text[begin] == '"' or (end - begin < _MOST and text[begin] in "[{")):
                    known[lead] = (text[begin:end], value, flaw)
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


def _head(text: str, at: int, look: Look) -> tuple[int, int] | None:
    """Tell where what leads to a value starts, and the value itself; None where the key at `at` is not what is looked for."""
    name, pattern = look
    if pattern is None:
        match = _COLON.match(text, at + len(name))
        return None if match is None or text[at - 1] == "\\" else (at - 1, match.end())
    match = pattern.match(text, text.rfind("{", at - _NEAR if at > _NEAR else 0, at + 1))
    return None if match is None or match.end() <= at else match.span()


def _text(raw: Raw, key: str, start: int) -> Kept:
    value, end = scan(raw.source.text, start)
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
