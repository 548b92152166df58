"""Values read by the quickest reader at hand: where one ends is guessed by what stood behind the one before it under the same key."""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import from_json, to_json

from reducer.stored.outline import UNSURE, Kept, kept
from reducer.stored.text import JsonText

_SEAM = re.compile(r'["\]}][ \t\n\r,\[\]{}]{0,80}+"[^"\\]{0,40}+"[ \t\n\r]*+:')
"""The last character of a value, and what follows it up to the next key."""
LONG = 500
"""Characters from which on the end of a text is worth a guess: a shorter one is read sooner than that."""
_NEAR = 1 << 16
_FAR = 1 << 22
"""Characters within which an end is looked for; what is read so is in memory twice."""
_PATIENCE = 64
_MISS = 8
"""How much of the patience one wrong guess takes, where a right one gives 1."""
_LOOK = 256
_SHORT = 8 * _LOOK
"""Characters up to which no value is worth a look."""
_MANY = 24
_QUOTE = ord('"')


class Seams:
    """What stood behind the last values under some keys of a `text`; `data` has a byte for each of its characters, if there is such a thing.

    No guess can be wrong unseen: a text, list or object of JSON that is cut short is none, nor is one with something behind it.
    """

    __slots__ = ("_bytewise", "_data", "_patience", "_text", "behind")

    def __init__(self, text: str, data: bytes | None, bytewise: bool) -> None:
        self._text, self._data, self._bytewise = text, data, bytewise
        self.behind: dict[str, tuple[str, int]] = {}
        self._patience = _PATIENCE

    def read(self, key: str, start: int) -> Kept | None:
        """Read the text, list or object at `start` under a key; None where that has to be done otherwise."""
        text = self._text
        mark = text[start]
        known = self.behind.get(key + mark)
        if known is None:
            return None
        seam, reach = known
        end = text.find(seam, start, start + reach) + 1
        if end:
            quick = end - start < _SHORT or self._is_quick(start, end)
            if not quick and not self._is_encoded(start, end):
                del self.behind[key + mark]  # Python's own reader tells where a value ends, and is the quicker one
                return None
            piece = text[start:end].encode() if self._data is None else self._data[start:end]
            read = _read(piece, quick)
            if read is not None:
                if self._patience < _PATIENCE:
                    self._patience += 1
                if mark == '"' and end - start < LONG // 4:
                    del self.behind[key + mark]
                return start, end, *read
        self._patience -= _MISS
        del self.behind[key + mark]
        return None

    def learn(self, key: str, start: int, end: int) -> bool:
        """Remember what stands behind the value from `start` to `end` under a key; tells whether the quick reader is worth it."""
        text = self._text
        mark = text[start]
        if self._patience < 0 or mark not in '"[{' or end - start > _FAR or (mark == '"' and end - start < LONG):
            return False
        quick = end - start < _SHORT or self._is_quick(start, end)
        seam = _SEAM.match(text, end - 1) if quick or self._is_encoded(start, end) else None
        if seam is not None:
            self.behind[key + mark] = seam[0], min(_NEAR + 4 * (end - start), _FAR)
        return seam is not None and quick

    def _is_encoded(self, start: int, end: int) -> bool:
        """Tell whether a value has characters of several bytes: it would be read in bytes, for its end, and once more."""
        return self._bytewise and not self._text[start:end].isascii()

    def _is_quick(self, start: int, end: int) -> bool:
        """Tell whether `from_json` is the quicker reader of a long value, by how it looks here and there."""
        text = self._text
        middle = (start + end) // 2
        look = text[start : start + _LOOK] + text[middle : middle + _LOOK] + text[end - _LOOK : end]
        # It takes 0.1 to 0.6 of the time, but as long for long texts that are not ASCII, and three times as long where they are all escapes.
        escapes = look.count("\\")
        if escapes > _MANY // 3 and look.count("\\u") > _MANY // 3:
            return False
        if text[start] == '"':
            return escapes > _MANY or look.isascii()
        # Where objects hold long texts, to count their keys costs more than to read them.
        return look.count('"') - look.count('\\"') > _MANY or (look.isascii() and text.find("{", start, end) < 0)


def _read(piece: bytes, quick: bool) -> tuple[Any, str] | None:
    """Read a piece of JSON, and tell why it cannot be written back; None where it is not one whole value."""
    try:
        if quick:
            return from_json(piece, cache_strings="keys"), UNSURE if piece[0] != _QUOTE and b"{" in piece else ""
        text = piece.decode()
        value, end, flaw = kept(JsonText(text), 0)
    except ValueError:  # for the quick reader also lone surrogates, 200 levels, numbers of more than 4,300 digits
        return None
    return (value, flaw) if end == len(text) else None


def repeated(piece: bytes, value: Any) -> str:
    """Tell why a value cannot be written back that was read from a piece of JSON: an object in it has the same key twice, if so.

    A key that is lost to a later one takes its colon with it: what is written of the value has fewer than what was read. Only an escape hides one.
    """
    # To read so quickly and count takes three quarters of what a hook for pairs does, half of that where objects are small (3.11).
    try:
        if to_json(value).count(b":") == piece.count(b":") and (b"\\" not in piece or b"\\u003" not in piece):
            return ""
    except ValueError:  # it was not read so: a lone surrogate cannot be written
        pass
    return kept(JsonText(piece.decode()), 0)[2]
