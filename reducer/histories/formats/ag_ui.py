"""Messages of the AG-UI protocol: `{"id": ..., "role": ..., "toolCalls": [...]}`, with returns in the role `tool`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered, texts, tool_returns
from reducer.histories.formats.openai_chat import Call, Function
from reducer.histories.source import Json, Source

NAME = "ag-ui"
EXPECTED = "a list of AG-UI messages, each an object with `id` and `role`"
HINTS = (b'role"',)
_ROLES = ("developer", "system", "user", "assistant", "tool", "activity", "reasoning")


class Message(Struct, gc=False, rename="camel"):
    """A message."""

    id: Any = None
    role: Any = None
    content: Json = UNSET
    tool_calls: Some[Call] = None
    tool_call_id: Any = None
    error: Any = None


MESSAGE = Message


def recognises(message: Message, source: Source, strict: bool) -> bool:
    if message.role not in _ROLES:
        return False
    has_tool = type(message.tool_call_id) is str or bool(numbered(message.tool_calls, Call))
    return not strict or (type(message.id) is str and has_tool)


def read(message: Message, source: Source) -> Iterator[Turn | ToolReturn]:
    if message.role == "tool":
        why = "it is an error" if message.error else ""
        fields = {"call_id": message.tool_call_id, "untouched": why, "at": ("toolCallId",)}
        yield from tool_returns(message.content, source, **fields)
    elif message.role == "assistant":
        response = Turn(True, texts(message.content, source))
        for number, call in numbered(message.tool_calls, Call):
            if type(call.function) is Function:
                at = ("toolCalls", number, "id")
                response.calls.append(ToolCall(call.function.name, call.id, call.function.arguments, at=at))
        yield response
    elif message.role not in ("activity", "reasoning"):
        yield Turn(False, [message.content])
