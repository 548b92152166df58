"""JSON text that is read piece by piece at C speed, with the place of each piece."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import JSONDecodeError
from typing import Any

from reducer.errors import HistoryError
from reducer.reading import is_deep, worded

MAX_NESTING = 10_000
"""Levels of nesting past which a text is refused. What is nested deeper than `reading.DEEPEST` up to here is passed over."""

_Scan = Callable[[str, int], tuple[Any, int]]


def scanner(decoder: json.JSONDecoder) -> _Scan:
    """Give the function of a decoder that reads the value right at an index, and its end; `StopIteration` where none starts."""
    scan: _Scan = decoder.scan_once  # type: ignore[attr-defined]
    return scan


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads no more than 4,300 digits
        return 0


scan = scanner(json.JSONDecoder())
"""Read the value that starts right at an index: itself, and its end. Raises `StopIteration` where none starts."""

_lenient_scan = scanner(json.JSONDecoder(parse_int=_integer))
_WHITE = re.compile(r"[ \t\n\r]*+")


class JsonText:
    """A text and how far it was read: `at` is set by who reads an item of a list, or the last value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._repeated = False
        self._pairing: _Scan | None = None

    def paired(self, start: int) -> tuple[Any, int, bool]:
        """Read a value: itself, its end, and whether all objects in it have different keys."""
        if self._pairing is None:

            def pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
                value = dict(pairs)
                if len(value) != len(pairs):
                    self._repeated = True
                return value

            self._pairing = scanner(json.JSONDecoder(object_pairs_hook=pair))
        self._repeated = False
        value, end = self._pairing(self.text, start)
        return value, end, not self._repeated

    def members(self, start: int) -> Iterator[tuple[str, int]]:
        """Give each key of the object at `start`, and where its value starts; who reads the value sets `at` to its end."""
        text = self.text
        at = self.white(start + 1)
        more = text[at : at + 1] != "}"
        if not more:
            at += 1
        while more:
            member = self._member(at)
            yield member
            at, more = follow(text, self.at, "}")
        self.at = at

    def items(self, start: int) -> Iterator[int]:
        """Give the start of each item of the list at `start`; who reads the item sets `at` to its end."""
        at = self.white(start + 1)
        more = self.text[at : at + 1] != "]"
        if not more:
            at += 1
        while more:
            yield at
            at, more = follow(self.text, self.at)
        self.at = at

    def _member(self, start: int) -> tuple[str, int]:
        """Read a key: itself, and where its value starts."""
        text = self.text
        if text[start : start + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, start)
        key, at = self.value(start)
        at = self.white(at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        return key, self.white(at + 1)

    def value(self, start: int) -> tuple[Any, int]:
        """Read any value; one that is nested too deep is passed over and given as None, a number of too many digits as 0."""
        text = self.text
        try:
            try:
                value, end = scan(text, start)
            except JSONDecodeError:
                raise
            except ValueError:
                value, end = _lenient_scan(text, start)
        except JSONDecodeError as error:
            raise worded(error) from None
        except StopIteration as error:
            raise JSONDecodeError("Expecting value", text, error.value) from None
        except RecursionError:
            return None, self.skip(start)
        return (None, self.skip(start)) if is_deep(value, end - start) else (value, end)

    def skip(self, start: int) -> int:
        """Find the end of a value without reading it. Raises `HistoryError` past `MAX_NESTING` levels."""
        text = self.text
        closings: list[str] = []
        at = start
        while True:
            mark = text[at : at + 1]
            if mark not in ("[", "{"):
                _, at = self.value(at)
            else:
                if len(closings) == MAX_NESTING:
                    raise HistoryError(f"nested deeper than {MAX_NESTING:,} levels at {place(text, at)}")
                close = "]" if mark == "[" else "}"
                at = self.white(at + 1)
                if text[at : at + 1] != close:
                    closings.append(close)
                    if close == "}":
                        _, at = self._member(at)
                    continue
                at += 1
            while closings:
                at, more = follow(text, at, closings[-1])
                if more:
                    if closings[-1] == "}":
                        _, at = self._member(at)
                    break
                closings.pop()
            else:
                return at

    def white(self, at: int) -> int:
        """Skip blanks."""
        return _white(self.text, at)

    def finish(self) -> None:
        """Check that nothing but blanks is left."""
        at = self.white(self.at)
        if at != len(self.text):
            raise JSONDecodeError("Extra data", self.text, at)


def follow(text: str, at: int, close: str = "]") -> tuple[int, bool]:
    """Pass the comma after an item, and blanks, or the closing bracket: where the next item starts, or the list ends, and which it is."""
    mark = text[at : at + 1]
    if mark != "," and mark != close:
        at = _white(text, at)
        mark = text[at : at + 1]
    if mark == close:
        return at + 1, False
    if mark != ",":
        raise JSONDecodeError("Expecting ',' delimiter", text, at)
    return _white(text, at + 1), True


def _white(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    return found.end() if found else at


def place(text: str, at: int) -> str:
    """Name a place for a reader."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
