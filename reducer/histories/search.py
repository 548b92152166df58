"""Finds the messages of a stored history, whatever they are wrapped in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from textwrap import shorten
from typing import Any

from msgspec import Raw, Struct

from reducer.errors import HistoryError
from reducer.histories import pydantic_ai, session
from reducer.histories.format import Format, Scalar
from reducer.histories.source import Source, located
from reducer.paths.written import path_text

InputFormat = str
"""What a stored history is read as: the name of a format, or `auto` to recognise it."""

FORMATS = (pydantic_ai.FORMAT, session.FORMAT)

_LEVELS = 16
"""Levels of wrapping that are searched."""
_NAMES = frozenset({"messages", "history", "all_messages", "new_messages", "message_history"})
"""Under these keys of a wrapper an empty list is a history too."""
_LONGEST_KEYS = 100

Path = tuple[str | int, ...]
Message = tuple[Format, Any]
"""A message with its format."""


def find_messages(source: Source, input_format: InputFormat) -> list[Message]:
    """Return all messages of a stored history in order. Raises `HistoryError` if it is none.

    The history is a list of messages, one message, or any JSON in which there are such.
    """
    formats = [one for one in FORMATS if one.name == input_format] or FORMATS
    if not memoryview(source.root).nbytes:
        raise HistoryError("empty: expected a list of messages")
    mark = source.mark(source.root)
    found = list(_search(source, formats, source.root, ())) if mark in ("[", "{") else []
    if found:
        return [(form, message) for form, messages in found for message in messages]
    source.decode(Raw, source.root)
    if mark == "[":
        raise _no_message(source, formats, source.root, (0,))
    raise HistoryError(f"not a history: found {_described(source, source.root)}, {_expected(formats)}")


def _search(source: Source, formats: Sequence[Format], raw: Raw, path: Path) -> Iterator[tuple[Format, list[Any]]]:
    """Yield the messages in a list or object: each list of them, each single message and each empty history."""
    is_list = source.mark(raw) == "["
    members: dict[Any, Raw] = {} if is_list else source.decode(dict[str, Raw], raw)
    for one in formats:
        if is_list:
            messages = source.decode(_list_of(one.message), raw)
        else:
            is_likely = not members.keys().isdisjoint(one.message.__struct_encode_fields__)
            messages = [source.decode(one.message, raw)] if is_likely else []
        if any(type(message) is one.message and one.recognises(message, len(formats) > 1) for message in messages):
            for number, message in enumerate(messages):
                if type(message) is not one.message or not one.recognises(message, False):
                    raise _no_message(source, [one], raw, (*path, number))
            yield one, messages
            return
    if is_list:
        members = dict(enumerate(source.decode(list[Raw], raw)))
        if not members and (not path or path[-1] in _NAMES):
            yield formats[0], []
    for key, value in members.items():
        if _may_hold(source, value, (*path, key)):
            yield from _search(source, formats, value, (*path, key))


def _may_hold(source: Source, raw: Raw, path: Path) -> bool:
    """Tell whether there is a key of a message in a value, in any spelling; it is decoded only then."""
    start, end = source.place(raw)
    data = source.data
    if data[start] not in b"[{" or len(path) > _LEVELS:
        return False
    return path[-1] in _NAMES or data.find(b'parts"', start, end) >= 0 or data.find(b"\\u", start, end) >= 0


@cache
def _list_of(message: type[Struct]) -> Any:
    return list[message | list[Raw] | Scalar]  # type: ignore[valid-type]


def _expected(formats: Sequence[Format]) -> str:
    return f"expected {', or '.join(one.expected for one in formats)}"


def _no_message(source: Source, formats: Sequence[Format], raw: Raw, path: Path) -> HistoryError:
    """Return the error for an item of a list, given by its path, that is no message."""
    number = int(path[-1])
    item = source.decode(list[Raw], raw)[number]
    wrapper = f" of `{path_text(path[:-1])}`" if path[1:] else ""
    where = f"item {number + 1}{wrapper} at {located(source.data, source.place(item)[0])}"
    return HistoryError(
        f"not a history: {where} is not a message: found {_described(source, item)}, {_expected(formats)}"
    )


def _described(source: Source, raw: Raw) -> str:
    """Name a value that is not a message."""
    mark = source.mark(raw)
    if mark != "{":
        names = {"[": "a list", '"': "a text", "t": "true", "f": "false", "n": "null"}
        return names.get(mark, "a number")
    keys = list(source.decode(dict[str, Raw], raw))
    shown = shorten(", ".join(keys), _LONGEST_KEYS, placeholder=" …")
    return f"an object with the keys {shown}" if keys else "an empty object"
