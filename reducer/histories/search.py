"""Finds the messages of a stored history, whatever they are wrapped in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from textwrap import shorten
from typing import Any

from msgspec import Raw, Struct

from reducer.errors import HistoryError
from reducer.histories import pydantic_ai, session
from reducer.histories.format import Format, Scalar
from reducer.histories.plain import PlainSource, located
from reducer.histories.sources import MsgspecSource

InputFormat = str
"""What a stored history is read as: the name of a format, or `auto` to recognise it."""

FORMATS = (pydantic_ai.FORMAT, session.FORMAT)
INPUT_FORMATS = ("auto", *(one.name for one in FORMATS))

_LEVELS = 16
"""Levels of wrapping that are searched."""
_NAMES = frozenset({"messages", "history", "all_messages", "new_messages", "message_history"})
"""Under these keys of a wrapper an empty list is a history too."""
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\n\r]*+")
_LONGEST_KEYS = 100

Messages = list[tuple[Format, list[Any]]]
"""Lists of messages, each with its format."""


@dataclass(slots=True)
class _Search:
    """What is searched, and what was found so far: messages in order, and whether there was an empty history."""

    data: bytes
    source: MsgspecSource | PlainSource
    formats: tuple[Format, ...]
    strict: bool
    expected: str
    found: Messages = field(default_factory=list)
    is_empty: bool = False


def find_messages(data: bytes, source: MsgspecSource | PlainSource, input_format: InputFormat) -> Messages:
    """Return all messages of a stored history in order. Raises `HistoryError` if it is none.

    `data`: a list of messages, one message, or any JSON in which there are such. Raises what `source` raises for text
    that it cannot decode.
    """
    chosen = tuple(one for one in FORMATS if one.name == input_format)
    expected = f"expected {', or '.join(one.expected for one in chosen or FORMATS)}"
    search = _Search(data, source, chosen or FORMATS, not chosen, expected)
    begin = _BEGINNING.match(data)
    start = begin.end() if begin else 0
    if start == len(data):
        raise HistoryError("empty: expected a list of messages")
    mark = data[start : start + 1]
    if mark == b"[":
        _search_list(search, None, "", _LEVELS)
    elif mark == b"{":
        _search_object(search, None, "", _LEVELS)
    if not search.found and not search.is_empty:
        if mark == b"[":
            raise _no_message(search, None, 0, "", search.expected)
        raise HistoryError(f"not a history: found {_described(search, source.decode(Raw))}, {search.expected}")
    return search.found


def _search_list(search: _Search, raw: Raw | None, path: str, levels: int) -> None:
    for one in search.formats:
        messages = search.source.decode(_list_of(one.message), raw)
        if any(type(message) is one.message and one.recognises(message, search.strict) for message in messages):
            for number, message in enumerate(messages):
                if type(message) is not one.message or not one.recognises(message, False):
                    raise _no_message(search, raw, number, path, f"expected {one.expected}")
            search.found.append((one, messages))
            return
    items = search.source.decode(list[Raw], raw)
    if not items and (not path or _last_key(path) in _NAMES):
        search.is_empty = True
    for number, item in enumerate(items):
        _search_value(search, item, f"{path}[{number}]", levels)


def _search_object(search: _Search, raw: Raw | None, path: str, levels: int) -> None:
    members = search.source.decode(dict[str, Raw], raw)
    for one in search.formats:
        if not members.keys().isdisjoint(one.message.__struct_encode_fields__):
            message = search.source.decode(one.message, raw)
            if one.recognises(message, search.strict):
                search.found.append((one, [message]))
                return
    for key, value in members.items():
        _search_value(search, value, f"{path}.{key}" if path else key, levels)


def _search_value(search: _Search, raw: Raw, path: str, levels: int) -> None:
    """Search a list or object, unless there is no key of a message in it."""
    start, end = search.source.place(raw)
    data = search.data
    if not levels or data[start] not in b"[{":
        return
    may_hold = data.find(b'parts"', start, end) >= 0 or data.find(b"\\u", start, end) >= 0
    if may_hold or _last_key(path) in _NAMES:
        (_search_list if data[start] in b"[" else _search_object)(search, raw, path, levels - 1)


def _last_key(path: str) -> str:
    return path.rpartition(".")[2]


@cache
def _list_of(message: type[Struct]) -> Any:
    return list[message | list[Raw] | Scalar]  # type: ignore[valid-type]


def _no_message(search: _Search, raw: Raw | None, number: int, path: str, expected: str) -> HistoryError:
    item = search.source.decode(list[Raw], raw)[number]
    where = f"{f' of `{path}`' if path else ''} at {located(search.data, search.source.place(item)[0])}"
    found = f"is not a message: found {_described(search, item)}"
    return HistoryError(f"not a history: item {number + 1}{where} {found}, {expected}")


def _described(search: _Search, raw: Raw) -> str:
    """Name a value that is not a message."""
    start = search.source.place(raw)[0]
    mark = search.data[start : start + 1]
    if mark != b"{":
        names = {b"[": "a list", b'"': "a text", b"t": "true", b"f": "false", b"n": "null"}
        return names.get(mark, "a number")
    keys = [*search.source.decode(dict[str, Raw], raw)]
    if not keys:
        return "an empty object"
    return f"an object with the keys {shorten(', '.join(keys), _LONGEST_KEYS, placeholder=' …')}"
