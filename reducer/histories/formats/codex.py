"""Sessions of Codex: JSON lines, each an event whose `payload` can be an item of OpenAI's Responses API.

Until August 2025, the lines after the first one are such items themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, ToolReturn, Turn, inside
from reducer.histories.formats import openai_responses
from reducer.histories.formats.openai_responses import ResponseItem
from reducer.histories.source import Json, Source

NAME = "codex"
EXPECTED = "the lines of a session of Codex"
HINTS = (b'payload"',)
IS_ONE_HISTORY = True
_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")


class SessionLine(Struct, gc=False):
    """An event. The first line of an old session has no type."""

    type: Any = None
    timestamp: Any = None
    id: Any = None
    payload: One[ResponseItem] = None
    instructions: Json = UNSET
    role: Any = None
    content: Json = UNSET
    call_id: Any = None
    name: Any = None
    arguments: Json = UNSET
    input: Json = UNSET
    output: Json = UNSET


MESSAGE = SessionLine


def recognises(line: SessionLine, source: Source, strict: bool) -> bool:
    if not strict:
        return True
    if type(line.payload) is ResponseItem:
        return line.type in _TYPES
    return line.type is None and line.instructions is not UNSET and type(line.timestamp) is type(line.id) is str


def read(line: SessionLine, source: Source) -> Iterable[Turn | ToolReturn]:
    if type(line.payload) is ResponseItem:
        is_item = line.type == "response_item"
        return inside("payload", openai_responses.read(line.payload, source)) if is_item else ()
    if line.type is None:
        return ()
    item = ResponseItem(
        line.type, line.role, line.content, line.call_id, line.name, line.arguments, line.input, line.output
    )
    return openai_responses.read(item, source)
