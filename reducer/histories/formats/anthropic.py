"""Messages as Anthropic's API takes them: `{"role": ..., "content": [...]}`, with `tool_use` and `tool_result`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered, objects, tool_returns
from reducer.histories.source import Json, Source

NAME = "anthropic"
EXPECTED = "a list of Anthropic messages, each an object with `role` and `content`"
HINTS = (b'role"',)
_OWN = ("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking")
"""Types of blocks that no other format has."""


class Block(Struct, gc=False):
    """A block of any type."""

    type: Any = None
    text: Json = UNSET
    id: Any = None
    name: Any = None
    input: Json = UNSET
    tool_use_id: Any = None
    content: Json = UNSET
    is_error: Any = None


class AnthropicMessage(Struct, gc=False):
    """A message of the user or the assistant."""

    role: Any = None
    content: Some[Block] = None


MESSAGE = AnthropicMessage


def recognises(message: AnthropicMessage, source: Source, strict: bool) -> bool:
    if type(message.role) is not str:
        return False
    return not strict or any(block.type in _OWN for block in objects(message.content, Block))


def read(message: AnthropicMessage, source: Source) -> Iterator[Turn | ToolReturn]:
    is_response = message.role == "assistant"
    if is_response:
        yield _response(message)
    elif type(message.content) is str:
        yield Turn(False, [message.content])
    for number, block in numbered(message.content, Block):
        if block.type == "tool_result":
            why = "" if block.is_error in (None, False) else "it is an error"
            at = ("content", number, "tool_use_id")
            yield from tool_returns(block.content, source, part=number, call_id=block.tool_use_id, untouched=why, at=at)
        elif block.type == "text" and not is_response:
            yield Turn(False, [block.text], part=number)


def _response(message: AnthropicMessage) -> Turn:
    response = Turn(True, texts=[message.content] if type(message.content) is str else [])
    for number, block in numbered(message.content, Block):
        if block.type == "text":
            response.texts.append(block.text)
        elif block.type == "tool_use":
            response.calls.append(ToolCall(block.name, block.id, block.input, at=("content", number, "id")))
    return response
