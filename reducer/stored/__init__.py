"""Histories as JSON bytes, of any era: finds the tool returns, gives their contents, and writes only those that changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from reducer.errors import HistoryError
from reducer.stored.reader import Content, read
from reducer.values import dump

SYNTHESIZED = "pydantic_ai_synthesized_tool_return"
"""The metadata key with which PydanticAI marks a return that it wrote itself, for a call that was never answered."""


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
    for found in _returns(_decoded(data)):
        seen[found.call_id] = nth = seen.get(found.call_id, 0) + 1
        yield found._replace(nth=nth)


def splice(data: bytes, changes: Iterable[tuple[Return, Any]]) -> bytes:
    """Write a new content in place of that of each `Return` of `returns(data)`; they come in the order of the history."""
    return _spliced(data, _decoded(data), changes)


def untouched(tool: object, outcome: object, tool_kind: object, metadata: object) -> str:
    """Say why rules never apply to a tool return with these fields; empty when they do."""
    if not isinstance(tool, str):
        return "it names no tool"
    if tool.startswith("final_result"):
        return "it answers an output tool"
    if outcome is not None and outcome != "success":
        return f"its outcome is {outcome}"
    if tool_kind is not None:
        return f"its tool kind is {tool_kind}"
    if metadata is not None and isinstance(metadata, Mapping) and SYNTHESIZED in metadata:
        return "PydanticAI wrote it for a call without an answer"
    return ""


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at line {line}, byte {column}") from None


def _changes(text: str, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Return, Any]]:
    for found in _returns(text):
        if not found.untouched:
            new = reduce(found.tool, found.content)
            if new is not found.content:
                yield found, new


def _returns(text: str) -> Iterator[Return]:
    for found in read(text):
        yield _return(*found)


def _return(message: int, kind: str, part: int, fields: dict[str, Any], contents: list[Content]) -> Return:
    tool, call_id = fields.get("tool_name", ""), fields.get("tool_call_id", "")
    value, start, end, flaw = contents[-1] if contents else (None, 0, 0, "it has no content")
    if fields["part_kind"] != "tool-return":
        why = "the provider ran the tool"
    elif kind != "request":
        why = f"it stands in a {kind}"
    else:
        why = untouched(tool, fields.get("outcome"), fields.get("tool_kind"), fields.get("metadata")) or flaw
    if not why:
        if len(contents) > 1:
            why = "it has two contents"
        elif not isinstance(value, (str, list, dict)):
            why = "its content is no text, list or object"
        elif type(value) is str and "content_file_digests" in fields:
            # PydanticAI writes this key beside every content but texts, numbers, booleans and null.
            why = "its content is bytes, a date or the like, stored as a text"
    return Return(str(tool), str(call_id), 1, message, part, value, start, end, why)


def _spliced(data: bytes, text: str, changes: Iterable[tuple[Return, Any]]) -> bytes:
    pieces: list[str] = []
    done = 0
    for found, new in changes:
        written = _written(new)
        # A number such as 1e400 reads as infinity: a content that holds one cannot be written back, so it stays.
        if written is None or ("Infinity" in written and _overflows(text[found.start : found.end])):
            continue
        pieces += (text[done : found.start], written)
        done = found.end
    if not pieces:
        return data
    pieces.append(text[done:])
    return "".join(pieces).encode()


def _written(value: Any) -> str | None:
    # to_json spells floats as PydanticAI does (1e-7, not 1e-07) and takes a third of the time; lone surrogates are beyond it.
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError):
        try:
            return dump(value)
        except ValueError:
            return None


def _overflows(text: str) -> bool:
    found = False

    def read(number: str) -> float:
        nonlocal found
        value = float(number)
        found = found or value - value != 0
        return value

    json.loads(text, parse_float=read)
    return found
