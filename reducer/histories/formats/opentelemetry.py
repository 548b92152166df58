"""Messages of OpenTelemetry's GenAI conventions: `{"role": ..., "parts": [...]}`, with `tool_call_response` parts.

PydanticAI and Logfire record these in spans, such as in the attribute `pydantic_ai.all_messages`.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "opentelemetry"
EXPECTED = "a list of OpenTelemetry GenAI messages, each an object with `role` and `parts`"
HINTS = (b'parts"',)


class Part(Struct, gc=False):
    """A part of any type. The result of a tool is its `response`, or its `result` as PydanticAI writes it."""

    type: Any = None
    content: Json = UNSET
    id: Any = None
    name: Any = None
    arguments: Json = UNSET
    response: Json = UNSET
    result: Json = UNSET
    builtin: Any = None


class Message(Struct, gc=False):
    """A message. Those of other formats have an id or a kind."""

    id: Any = None
    kind: Any = None
    role: Any = None
    parts: Some[Part] = None


MESSAGE = Message


def recognises(message: Message, source: Source, strict: bool) -> bool:
    is_other = message.id is not None or message.kind is not None
    if is_other or type(message.role) is not str or type(message.parts) is not list:
        return False
    return not strict or any(_is_own(part) for _, part in numbered(message.parts, Part))


def _is_own(part: Part) -> bool:
    return part.type in ("tool_call", "tool_call_response") or (part.type == "text" and part.content is not UNSET)


def read(message: Message, source: Source) -> list[Turn | ToolReturn]:
    turn = Turn(message.role == "assistant", [])
    found: list[Turn | ToolReturn] = []
    for number, part in numbered(message.parts, Part):
        at = ("parts", number, "id")
        if part.type == "text":
            turn.texts.append(part.content)
        elif part.type == "tool_call":
            turn.calls.append(ToolCall(part.name, part.id, part.arguments, at=() if part.builtin else at))
        elif part.type == "tool_call_response":
            why = "the provider executed the tool" if part.builtin else ""
            content = part.response if part.result is UNSET else part.result
            fields = {"name": part.name, "part": number, "untouched": why, "at": () if part.builtin else at}
            found.append(ToolReturn(part.id, [content], **fields))
    return [turn, *found] if turn.is_response or turn.texts else found
