"""Messages of OpenAI's chat completions and compatible APIs: `{"role": ..., "content": ..., "tool_calls": [...]}`.

A message with the role `tool` is a tool return. A chat without tool calls is also read as this format. Compatible APIs
have parts of other types, such as Mistral's `document_url`; only parts for calls and results are of another format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, Some, ToolCall, ToolReturn, Turn, numbered, parts, texts, tool_returns, types
from reducer.histories.source import Json, Source

NAME = "openai-chat"
EXPECTED = "a list of OpenAI chat messages, each an object with `role` and `content`"
HINTS = (b'role"',)
_ROLES = ("system", "developer", "user", "assistant", "tool")
_PARTS = ("text", "image_url", "input_audio", "file", "refusal")

_OTHER = ("tool_use", "tool_result", "tool-call", "tool-result")
"""Parts with these ends are of other formats."""


class Function(Struct, gc=False):
    """What a call calls: a function with `arguments`, or a custom tool with `input`."""

    name: Any = None
    arguments: Json = UNSET
    input: Json = UNSET


class Call(Struct, gc=False):
    """A tool call."""

    id: Any = None
    function: One[Function] = None
    custom: One[Function] = None


class ChatMessage(Struct, gc=False):
    """A message. Ollama has no ids, and `tool_name` instead. Other formats have `parts`."""

    role: Any = None
    content: Json = UNSET
    tool_calls: Some[Call] = None
    tool_call_id: Any = None
    name: Any = None
    tool_name: Any = None
    parts: Json = UNSET


MESSAGE = ChatMessage


def recognises(message: ChatMessage, source: Source, strict: bool) -> bool:
    if message.role not in _ROLES or message.parts is not UNSET:
        return False
    if message.role == "tool":
        return not strict or str in (type(message.tool_call_id), type(message.tool_name))
    is_written = source.mark(message.content) in ("[", '"') or numbered(message.tool_calls, Call)
    listed = parts(message.content, source)
    if strict and not (is_written and (not listed or any(types(listed, _PARTS)))):
        return False
    return all(type(part.type) is str and not part.type.endswith(_OTHER) for _, part in listed)


def read(message: ChatMessage, source: Source) -> Iterator[Turn | ToolReturn]:
    if message.role == "tool":
        has_no_ids = message.tool_name is not None and message.tool_call_id is None
        fields = {
            "call_id": message.tool_call_id,
            "name": message.tool_name or message.name,
            "at": () if has_no_ids else ("tool_call_id",),
        }
        yield from tool_returns(message.content, source, **fields)
    elif message.role == "assistant":
        response = Turn(True, texts(message.content, source))
        for number, call in numbered(message.tool_calls, Call):
            called = call.function if type(call.function) is Function else call.custom
            if type(called) is Function:
                arguments = called.input if called.arguments is UNSET else called.arguments
                has_no_ids = source.mark(arguments) == "{" and call.id is None  # Ollama writes arguments as objects
                at = () if has_no_ids else ("tool_calls", number, "id")
                response.calls.append(ToolCall(called.name, call.id, arguments, at=at))
        yield response
    else:
        yield Turn(False, [message.content])
