"""Find the messages in stored JSON: lists of messages, single messages and wrappers around these, of any format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeVar

from msgspec import MsgspecError, Raw

from reducer.errors import HistoryError
from reducer.histories.format import Format, One, Path
from reducer.histories.formats import FORMATS
from reducer.histories.source import BOM, Source, as_list, described, line_and_column, readable
from reducer.paths.written import path_text
from reducer.values import escaped

InputFormat = str
"""The name of the format that a stored history is read in, or `auto` to detect it."""

_MAX_LEVELS = 16
"""Levels of wrappers that are searched for messages."""
_LIST_NAMES = frozenset({"messages", "history", "all_messages", "new_messages", "message_history"})
"""Keys of a wrapper under which an empty list is also a history."""
_HEAD_BYTES = 20_000
_HEAD = re.compile(rb'[\[\s]*(?:[\s,]*\{(?:[^][{}"]|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+\}?)*+', re.DOTALL)
"""The start of a list up to the first nested value."""
_KEY = re.compile(r'"(\w+)"\s*:')
_TEXT_NAMES = ("messages", "stringValue")
"""Ends of the keys of spans under which a text encodes messages."""
_HINT = re.compile(b"|".join([rb"\\u", rb'"\s*:\s*"\[', *chain.from_iterable(form.HINTS for form in FORMATS)]))
"""A text without any of these contains no messages; keys can contain escapes."""
_KEYS = frozenset(chain.from_iterable(form.MESSAGE.__struct_encode_fields__ for form in FORMATS))
_NEXT_LINE = re.compile(rb"\s*+\{")

Formats = tuple[Format, ...]
FoundMessage = tuple[Format, Any]
_T = TypeVar("_T")


class MessageList(NamedTuple):
    """The messages in a list, or a message outside of lists, whose JSON `raw` is at `path`.

    The items before number `valid` are messages.
    """

    form: Format
    path: Path
    raw: Raw
    messages: list[Any]
    valid: int


def with_source(data: bytes, use: Callable[[Source], _T]) -> _T:
    """Return `use(source)`. Raises `HistoryError` if the data is not JSON, nor JSON lines that are one history."""
    _check_text(data)
    text = as_list(data) if are_one_history(data) else data
    try:
        return use(Source(data, text))
    except (MsgspecError, RecursionError):
        return use(Source(data, readable(text, data)))


def are_one_history(data: bytes) -> bool:
    """Return whether data is JSON lines of a format that stores one history in this way, as its first line tells."""
    lines = data.removeprefix(BOM).lstrip()
    end = lines.find(b"\n") + 1
    first = lines[:end].rstrip()
    if not first.endswith(b"}") or not _NEXT_LINE.match(lines, end):
        return False
    source = Source(first, first)
    for form in filter(is_session, FORMATS):
        try:
            message = source.decode(form.MESSAGE, source.root)
        except (MsgspecError, RecursionError):
            return False
        if is_message(message, form, source, strict=True):
            return True
    return False


def _check_text(data: bytes) -> None:
    """Raise `HistoryError` unless the data is UTF-8 text. `msgspec` does not check the values that it skips."""
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        where = line_and_column(data, error.start).replace("column", "byte")
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at {where}") from None


def is_session(form: Format) -> bool:
    """Return whether a format stores one history as JSON lines."""
    return getattr(form, "IS_ONE_HISTORY", False)


def find_messages(source: Source, input_format: InputFormat) -> list[FoundMessage]:
    """Return all messages in order, from a list of messages, one message, or a wrapper. Raises `HistoryError`."""
    messages: list[FoundMessage] = []
    for found in find_lists(source, formats_of(input_format)):
        if found.valid < len(found.messages):
            raise _not_a_message(source, (found.form,), found.raw, (*found.path, found.valid))
        messages += zip(repeat(found.form), found.messages)
    return messages


def find_lists(source: Source, formats: Formats = FORMATS) -> list[MessageList]:
    """Return the lists of messages, and the messages outside of lists. Raises `HistoryError` if there are none."""
    if not memoryview(source.root).nbytes:
        raise HistoryError("empty: expected a list of messages")
    found = list(_search(source, formats, source.root))
    if found:
        return found
    source.decode(Raw, source.root)
    if source.mark(source.root) == "[":
        raise _not_a_message(source, formats, source.root, (0,))
    raise HistoryError(f"not a history: found {_described(source, source.root)}, {expected(formats)}")


def formats_of(input_format: InputFormat) -> Formats:
    """Return the formats to try. Raises `HistoryError` for an unknown name."""
    formats = tuple(one for one in FORMATS if input_format in ("auto", one.NAME))
    if not formats:
        raise HistoryError(f"unknown format {input_format}: expected auto, {_names(FORMATS)}")
    return formats


def _search(source: Source, formats: Formats, raw: Raw, path: Path = ()) -> Iterator[MessageList]:
    """Yield each list of messages, each message outside of lists and each empty history in a value."""
    if source.mark(raw) == '"':
        opened = source.opened(raw)
        if opened is None:
            return
        raw = opened
    found = _decoded(source, formats, raw, path)
    if found is not None:
        yield found
        return
    if source.is_in_text(raw):
        return
    members = source.members(raw)
    if source.mark(raw) == "[" and not members and (not path or path[-1] in _LIST_NAMES):
        yield MessageList(formats[0], path, raw, [], 0)
    for key, value in members.items():
        if _may_contain_messages(source, value, (*path, key)):
            yield from _search(source, formats, value, (*path, key))


def _decoded(source: Source, formats: Formats, raw: Raw, path: Path) -> MessageList | None:
    """Return the messages of a list, or a single message, in the first format in which all are valid.

    If there is none, return them in the format in which most are valid, up to the first that is not.
    """
    best: MessageList | None = None
    is_list = source.mark(raw) == "["
    for form in _likely(source, formats, raw):
        kind: Any = list[One[form.MESSAGE]]  # type: ignore[name-defined]
        messages = source.decode(kind, raw) if is_list else [source.decode(form.MESSAGE, raw)]
        if any(is_message(message, form, source, len(formats) > 1) for message in messages):
            valid = 0
            while valid < len(messages) and is_message(messages[valid], form, source):
                valid += 1
            if best is None or valid > best.valid:
                best = MessageList(form, path, raw, messages, valid)
            if valid == len(messages):
                break
    return best


def is_message(message: Any, form: Format, source: Source, strict: bool = False) -> bool:
    """Return whether a decoded item of a list is a message of a format; `strict`: see `Format.recognises`."""
    return type(message) is form.MESSAGE and form.recognises(message, source, strict)


def _likely(source: Source, formats: Formats, raw: Raw) -> Iterator[Format]:
    """Yield the formats to try for a list or object.

    To decode with the wrong format takes as long as everything else together. A message outside of lists has at least
    two keys of its format. A list whose start has no such two keys is first searched for keys.
    """
    if source.mark(raw) != "[":
        yield from _ranked(_KEYS.intersection(source.members(raw)), formats, 2)
        return
    head = next(_HEAD.finditer(memoryview(raw)[:_HEAD_BYTES]))[0]
    keys = _KEYS.intersection(_KEY.findall(head.decode(errors="replace")))
    first, *others = _ranked(keys, formats, 0)
    yield first
    if not _ranked(keys, formats, 2):
        items = source.decode(list[One[dict[str, Raw]]], raw)
        own = set(chain.from_iterable(item for item in items if type(item) is dict))
        others = [form for form in others if not own.isdisjoint(form.MESSAGE.__struct_encode_fields__)]
    yield from others


@lru_cache
def _ranked(keys: frozenset[str], formats: Formats, least: int) -> Sequence[Format]:
    """Return the formats whose messages have at least this many of the keys, those first that have the most."""
    shared = {form: len(keys.intersection(form.MESSAGE.__struct_encode_fields__)) for form in formats}
    likely = [form for form in formats if shared[form] >= least]
    return sorted(likely, key=lambda form: (-shared[form], len(form.MESSAGE.__struct_encode_fields__)))


def _may_contain_messages(source: Source, raw: Raw, path: Path) -> bool:
    """Return whether a value may contain messages, without decoding it."""
    if source.mark(raw) == '"':
        return str(path[-1]).endswith(_TEXT_NAMES) and bytes(raw).startswith(b'"[')
    if source.mark(raw) not in ("[", "{") or len(path) > _MAX_LEVELS:
        return False
    return path[-1] in _LIST_NAMES or _HINT.search(source.data, *source.span(raw)) is not None


def expected(formats: Formats = FORMATS) -> str:
    """Describe the histories that one of these formats reads."""
    if len(formats) == 1:
        return f"expected {formats[0].EXPECTED}"
    return f"expected a history in one of the formats {_names(formats)}"


def _names(formats: Formats) -> str:
    return ", ".join(sorted(form.NAME for form in formats))


def _not_a_message(source: Source, formats: Formats, raw: Raw, path: Path) -> HistoryError:
    """Return the error for the item at `path` of the list `raw`."""
    number = int(path[-1])
    item = source.decode(list[Raw], raw)[number]
    wrapper = f" of `{path_text(path[:-1])}`" if path[1:] else ""
    where = f"item {number + 1}{wrapper} at {line_and_column(source.data, source.span(item)[0])}"
    return HistoryError(
        f"not a history: {where} is not a message: found {_described(source, item)}, {expected(formats)}"
    )


def _described(source: Source, raw: Raw) -> str:
    value = source.value(raw)
    is_decoded = value is not None or source.mark(raw) == "n"
    return escaped(described(value)) if is_decoded else "a value that is too large or too deep"
