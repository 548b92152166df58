"""Reads stored JSON that msgspec refuses, slowly: NaN, lone surrogates, numbers of any size and any nesting.

Tells where and why a text is no JSON, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, Union, get_args, get_origin

from msgspec import Raw, Struct
from msgspec.structs import fields

from reducer.errors import HistoryError
from reducer.histories.contents import decode
from reducer.histories.sources import BOM

_BLANKS = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|NaN|-?Infinity")
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_CLOSING = {"[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Span:
    """A value of the input; takes the place of a `msgspec.Raw`."""

    start: int
    end: int


class PlainSource:
    """JSON text of any kind. Each character of `_text` is one byte of the input."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text = data.decode("latin-1")
        self._root = self._blank(len(BOM) if data.startswith(BOM) else 0)
        end = self._blank(self._end(self._root))
        if end != len(self._text):
            raise self._fault("Extra data", end)

    def decode(self, kind: Any, raw: Any = None) -> Any:
        """Decode a value as msgspec does, by default all of the input. Raises `HistoryError` for what is no JSON."""
        return self._read(kind, self._root if raw is None else raw.start)[0]

    def value(self, raw: Any) -> Any:
        """Decode a value; None if it cannot be decoded."""
        return decode(self._data[raw.start : raw.end])[0]

    def is_text(self, raw: Any) -> bool:
        """Tell whether a value is a text, without decoding it."""
        return self._text[raw.start] == '"'

    def place(self, raw: Any) -> tuple[int, int]:
        """Return where a value starts and ends."""
        return raw.start, raw.end

    def _read(self, kind: Any, at: int) -> tuple[Any, int]:
        """Read the value at `at` as the Struct, list or dict of `kind` that it fits; return it with its end."""
        kinds = _alternatives(kind)
        mark = self._text[at]
        if mark == "[" and list in kinds:
            items = []
            for start in self._starts(at):
                item, self._at = self._read(kinds[list], start)
                items.append(item)
            return items, self._at + 1
        if mark == "{" and (dict in kinds or Struct in kinds):
            known = _fields(kinds[Struct]) if Struct in kinds else {}
            found: dict[str, Any] = {}
            for start in self._starts(at):
                key, value = self._key(start)
                field, inner = known.get(key, ("", Raw)) if known else (key, kinds[dict])
                item, self._at = self._read(inner, value)
                if field:
                    found[field] = item
            return kinds[Struct](**found) if known else found, self._at + 1
        end = self._end(at)
        return Span(at, end) if Raw in kinds else self.value(Span(at, end)), end

    def _starts(self, at: int) -> Iterator[int]:
        """Return where the members of the list or object at `at` start; `_at` must be set to the end of each."""
        text = self._text
        close = _CLOSING[text[at]]
        self._at = self._blank(at + 1)
        while text[self._at] != close:
            yield self._at
            self._at = self._blank(self._at)
            if text[self._at] == ",":
                self._at = self._blank(self._at + 1)

    def _end(self, at: int) -> int:
        """Return the end of the value at `at`, without recursion. Raises `HistoryError` for what is no JSON."""
        text = self._text
        open_until: list[str] = []
        while True:
            mark = text[at : at + 1]
            if mark in _CLOSING:
                close = _CLOSING[mark]
                at = self._blank(at + 1)
                if text[at : at + 1] != close:
                    open_until.append(close)
                    at = self._key(at)[1] if close == "}" else at
                    continue
                at += 1
            else:
                at = self._scalar(at)
            while open_until:
                at = self._blank(at)
                if text[at : at + 1] == open_until[-1]:
                    open_until.pop()
                    at += 1
                elif text[at : at + 1] == ",":
                    at = self._blank(at + 1)
                    at = self._key(at)[1] if open_until[-1] == "}" else at
                    break
                else:
                    raise self._fault("Expecting ',' delimiter", at)
            else:
                return at

    def _scalar(self, at: int) -> int:
        if self._text[at : at + 1] == '"':
            return self._string(at)[1]
        found = _SCALAR.match(self._text, at)
        if found is None:
            raise self._fault("Expecting value", at)
        return found.end()

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, at + 1)
        except JSONDecodeError as error:
            raise self._fault(error.msg, error.pos) from None
        return value, end

    def _key(self, at: int) -> tuple[str, int]:
        """Read the key at `at`; return it with the start of its value."""
        if self._text[at : at + 1] != '"':
            raise self._fault("Expecting property name enclosed in double quotes", at)
        end = self._string(at)[1]
        colon = self._blank(end)
        if self._text[colon : colon + 1] != ":":
            raise self._fault("Expecting ':' delimiter", colon)
        return decode(self._data[at:end])[0], self._blank(colon + 1)

    def _blank(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return found.end() if found else at

    def _fault(self, message: str, at: int) -> HistoryError:
        text = self._text
        rest = text[at : at + 12].strip(" \t\n\r")
        in_escape = message.startswith("Invalid \\") and '"' not in text[at + 1 :]
        if message.startswith("Unterminated") or in_escape or any(word.startswith(rest) for word in _WORDS):
            return HistoryError(f"cut off: the text ends at {self._located(len(text))}, in the middle of a history")
        message = message.removesuffix(" at").removesuffix(" starting").removesuffix(": ")
        return HistoryError(f"not JSON: {message} at {self._located(at)}")

    def _located(self, at: int) -> str:
        return located(self._data, at)


def located(data: bytes, at: int) -> str:
    """Return the line and the column of a byte offset, both counted from 1."""
    start = data.rfind(b"\n", 0, at) + 1
    line = data.count(b"\n", 0, at) + 1
    return f"line {line}, column {len(data[start:at].decode(errors='replace')) + 1}"


@cache
def _alternatives(kind: Any) -> dict[Any, Any]:
    """Return what a value may be read as: a list with the kind of its items, a dict, a Struct, `Raw`."""
    found: dict[Any, Any] = {}
    for one in get_args(kind) if get_origin(kind) in (Union, type(int | str)) else (kind,):
        origin = get_origin(one)
        if origin in (list, dict):
            found[origin] = get_args(one)[-1]
        elif one is Raw:
            found[Raw] = Raw
        elif isinstance(one, type) and issubclass(one, Struct):
            found[Struct] = one
    return found


@cache
def _fields(kind: type[Struct]) -> dict[str, tuple[str, Any]]:
    return {field.encode_name: (field.name, field.type) for field in fields(kind)}
