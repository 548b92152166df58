"""Histories as JSON bytes, of any era: finds the tool returns, gives their contents, and writes only those that changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from pydantic_core import PydanticSerializationError, to_json

from reducer.codecs.json_text import read_json
from reducer.stored.outline import UNSURE
from reducer.stored.raw import Found, Raw
from reducer.stored.reader import InputFormat, read
from reducer.untouched import untouched

__all__ = ["Copy", "InputFormat", "Key", "Return", "alike", "protecting", "reduce_json", "returns", "splice"]

Key = tuple[int, int, int]
"""Where a tool return stands: its message, its part, and which of that part's returns it is."""


class Finding(Protocol):
    """Finds what is protected in the tool returns of a history."""

    def finder(self, key: Key, content: Any, /) -> Callable[[], frozenset[str]]:
        """Give what finds the protected values in a content of the return at `key`."""


class Copy(NamedTuple):
    """A further place where a stored history has the same return: `content` is decoded, `start` and `end` bound its JSON in the text."""

    content: Any
    start: int
    end: int


class Return(NamedTuple):
    """One tool return of a stored history: `content` is decoded, `start` and `end` bound its JSON in the decoded text.

    In a session history it is the first text of several copies; the others are `copies`, and `part` counts in the list that has it first.
    """

    tool: str
    call_id: str
    nth: int  # counts from 1 among the returns with this call id: ids come back in later turns
    message: int  # counts from 0, through all lists of messages in a wrapper
    part: int
    content: Any
    start: int
    end: int
    untouched: str  # why rules never apply to it; empty for a return that can be reduced
    timestamp: str = ""  # when it came, as it stands there; empty where that is not said
    copies: tuple[Copy, ...] = ()

    @property
    def places(self) -> tuple[Return | Copy, ...]:
        """Give all places where it stands: itself and its copies."""
        return self, *self.copies


def reduce_json(data: bytes, reduce: Callable[..., Any], input_format: InputFormat = "auto", finding: Finding | None = None) -> bytes:
    """Reduce the tool returns of a stored history; all bytes outside the contents that changed stay as they are.

    `data`: UTF-8 JSON: a list of PydanticAI's messages or one message, a session history, or a wrapper of such. `reduce(tool_name, content)`
    gives the same object for a content that stays; with `finding` it is called with what finds the values to protect besides, as
    `protected`. Gives `data` itself when nothing changed. Raises `HistoryError` for what is no history.
    """
    raw = Raw(data)
    return _spliced(raw, _changes(raw, reduce, input_format, finding))


def returns(data: bytes, input_format: InputFormat = "auto") -> Iterator[Return]:
    """Give each tool return of a stored history once, in order, those that are never touched among them. Raises `HistoryError`."""
    seen: dict[str, int] = {}
    raw = Raw(data)
    place = raw.in_text
    for found in read(raw, input_format):
        message, part, fields, content, start, end, _, others = found
        tool, call_id = str(fields.get("tool_name", "")), str(fields.get("tool_call_id", ""))
        seen[call_id] = nth = seen.get(call_id, 0) + 1
        copies = tuple(Copy(value, place(begin), place(behind)) for begin, behind, value, _ in others)
        why = _untouched(raw.sure(found))
        yield Return(tool, call_id, nth, message, part, content, place(start), place(end), why, str(fields.get("timestamp") or ""), copies)


def splice(data: bytes, changes: Iterable[tuple[Return | Copy, Any]]) -> bytes:
    """Write a new content in place of that of each `Return` of `returns(data)` and each `Copy` of it, as `alike` pairs them.

    A content given as bytes is JSON already, and written as it stands.
    """
    raw = Raw(data)
    raw.turn()
    return _spliced(raw, ((found.start, found.end, new) for found, new in changes))


def alike(found: Return, new: Any, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Return | Copy, Any]]:
    """Give a return and its copies with their new contents, where those change: `new` is that of the return itself.

    A copy that says the same (the same value, or what the text of the return says as JSON) changes as the return does; any other, a
    shortened text for one, is given to `reduce(tool_name, content)`.
    """
    if new is not found.content:
        yield found, new
    for copy in found.copies:
        other = _renewed(found.tool, found.content, new, copy.content, reduce)
        if other is not copy.content:
            yield copy, other


def _renewed(tool: str, content: Any, new: Any, other: Any, reduce: Callable[[str, Any], Any]) -> Any:
    if type(other) is type(content):
        return (other if new is content else new) if _same(other, content) else reduce(tool, other)
    mine = reduce(tool, other)
    if type(content) is not str or type(new) is not str or (mine is other and new is content):
        return mine
    # They nearly always agree; the original text, which is long, is read only where they do not.
    said = other if new is content else read_json(new)
    return said if type(said) is type(other) and not _same(said, mine) and _same(other, read_json(content)) else mine


def _same(one: Any, other: Any) -> bool:
    # `1 == 1.0 == True` for Python; what is written must be the same as well.
    return bool(one == other) and (type(one) is str or _written(one) == _written(other))


def _changes(raw: Raw, reduce: Callable[..., Any], input_format: InputFormat, finding: Finding | None) -> Iterator[tuple[int, int, Any]]:
    key: Key = (-1, -1, 0)
    one: Callable[[str, Any], Any] = reduce
    for found in read(raw, input_format):
        if finding is not None:
            key = (found[0], found[1], key[2] + 1 if key[:2] == found[:2] else 0)
        if _untouched(found):
            continue
        _, _, fields, content, start, end, flaw, copies = found
        tool = fields["tool_name"]
        if finding is not None:
            one = protecting(reduce, finding, key)
        new = one(tool, content)
        changes = [(start, end, new)] if new is not content else []
        for start, end, copied, _ in copies:
            other = new if copied is content else _renewed(tool, content, new, copied, one)
            if other is not copied:
                changes.append((start, end, other))
        if changes and not (flaw and raw.sure(found)[6]):
            yield from changes


def protecting(reduce: Callable[..., Any], finding: Finding, key: Key) -> Callable[[str, Any], Any]:
    """Give `reduce(tool_name, content)` for the contents of the return at `key`, in which the values that are found are protected."""
    return lambda tool, content: reduce(tool, content, protected=finding.finder(key, content))


def _untouched(found: Found) -> str:
    _, _, fields, content, _, _, flaw, _ = found
    get = fields.get
    why = untouched(get("tool_name"), get("outcome"), get("tool_kind"), get("metadata")) or flaw
    if why and why is not UNSURE:
        return why
    kind = type(content)
    if kind is str:
        # PydanticAI writes this key beside every content but texts, numbers, booleans and null.
        return "its content is bytes, a date or the like, stored as a text" if "content_file_digests" in fields else ""
    return "" if kind is list or kind is dict else "its content is no text, list or object"


def _spliced(raw: Raw, changes: Iterable[tuple[int, int, Any]]) -> bytes:
    edits: list[tuple[int, int, bytes]] = []
    last: Any = None
    said = b""
    for start, end, new in changes:
        if new is not last:  # the copies of a return change alike
            last, said = new, new if type(new) is bytes else _written(new)
        # A number such as 1e400 reads as infinity: a content that holds one cannot be written back, so it stays.
        if b"Infinity" in said and type(new) not in (str, bytes) and _overflows(raw.piece(start, end).decode()):
            continue
        edits.append((start, end, said))
    if not edits:
        return raw.data
    edits.sort()  # copies stand further on, before the next return and behind it
    pieces: list[bytes] = []
    piece = raw.piece
    done = 0
    for start, end, written in edits:
        pieces += (piece(done, start), written)
        done = end
    pieces.append(raw.piece(done, len(raw.source.text)))
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
