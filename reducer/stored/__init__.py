"""Histories as JSON bytes, of any era: finds the tool returns, gives their contents, and writes only those that changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from reducer.errors import HistoryError
from reducer.stored.reader import Found, read
from reducer.untouched import untouched


class Return(NamedTuple):
    """One tool return of a stored history: `content` is decoded, `start` and `end` bound its JSON in the decoded text."""

    tool: str
    call_id: str
    nth: int  # counts from 1 among the returns with this call id: ids come back in later turns
    message: int  # counts from 0
    part: int
    content: Any
    start: int
    end: int
    untouched: str  # why rules never apply to it; empty for a return that can be reduced
    timestamp: str = ""  # when it came, as it stands there; empty where that is not said


def reduce_json(data: bytes, reduce: Callable[[str, Any], Any]) -> bytes:
    """Reduce the tool returns of a stored history; all bytes outside the contents that changed stay as they are.

    `data`: UTF-8 JSON, a list of PydanticAI's messages or one message. `reduce(tool_name, content)` gives the same object
    for a content that stays. Gives `data` itself when nothing changed. Raises `HistoryError` for what is no history.
    """
    text = _decoded(data)
    return _spliced(data, text, _changes(text, reduce))


def returns(data: bytes) -> Iterator[Return]:
    """Give each tool return of a stored history in order, those that are never touched among them. Raises `HistoryError`."""
    seen: dict[str, int] = {}
    for found in read(_decoded(data)):
        message, part, fields, content, start, end, _ = found
        tool, call_id = str(fields.get("tool_name", "")), str(fields.get("tool_call_id", ""))
        seen[call_id] = nth = seen.get(call_id, 0) + 1
        yield Return(tool, call_id, nth, max(0, message), part, content, start, end, _untouched(found), str(fields.get("timestamp") or ""))


def splice(data: bytes, changes: Iterable[tuple[Return, Any]]) -> bytes:
    """Write a new content in place of that of each `Return` of `returns(data)`; they come in the order of the history.

    A content given as bytes is JSON already, and written as it stands.
    """
    return _spliced(data, _decoded(data), ((found.start, found.end, new) for found, new in changes))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at line {line}, byte {column}") from None


def _changes(text: str, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[int, int, Any]]:
    for found in read(text):
        if not _untouched(found):
            content = found[3]
            new = reduce(found[2]["tool_name"], content)
            if new is not content:
                yield found[4], found[5], new


def _untouched(found: Found) -> str:
    _, _, fields, content, _, _, flaw = found
    get = fields.get
    why = untouched(get("tool_name"), get("outcome"), get("tool_kind"), get("metadata")) or flaw
    if why:
        return why
    kind = type(content)
    if kind is str:
        # PydanticAI writes this key beside every content but texts, numbers, booleans and null.
        return "its content is bytes, a date or the like, stored as a text" if "content_file_digests" in fields else ""
    return "" if kind is list or kind is dict else "its content is no text, list or object"


def _spliced(data: bytes, text: str, changes: Iterable[tuple[int, int, Any]]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for start, end, new in changes:
        written = new if type(new) is bytes else _written(new)
        # A number such as 1e400 reads as infinity: a content that holds one cannot be written back, so it stays.
        if b"Infinity" in written and type(new) not in (str, bytes) and _overflows(text[start:end]):
            continue
        pieces += (text[done:start].encode(), written)
        done = end
    if not pieces:
        return data
    pieces.append(text[done:].encode())
    return b"".join(pieces)


_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def _written(value: Any) -> bytes:
    # to_json spells floats as PydanticAI does (1e-7, not 1e-07) and takes a third of the time; lone surrogates are beyond it.
    try:
        return to_json(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", _encode(value)).encode()


def _overflows(text: str) -> bool:
    found = False

    def read(number: str) -> float:
        nonlocal found
        value = float(number)
        found = found or value - value != 0
        return value

    json.loads(text, parse_float=read)
    return found
