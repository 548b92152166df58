"""Messages as Anthropic's API takes them: `{"role": ..., "content": [...]}`, with `tool_use` and `tool_result`."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered, tool_returns, types
from reducer.histories.source import Json, Source

NAME = "anthropic"
EXPECTED = "a list of Anthropic messages, each an object with `role` and `content`"
HINTS = (b'role"',)
_ROLES = ("system", "user", "assistant")
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
    if message.role not in _ROLES:
        return False
    return not strict or any(types(numbered(message.content, Block), _OWN))


def read(message: AnthropicMessage, source: Source) -> list[Turn | ToolReturn]:
    turn = Turn(message.role == "assistant", [message.content] if type(message.content) is str else [])
    found: list[Turn | ToolReturn] = [turn]
    for number, block in numbered(message.content, Block):
        if block.type == "tool_result":
            why = "" if block.is_error in (None, False) else "it is an error"
            at = ("content", number, "tool_use_id")
            found += tool_returns(block.content, source, part=number, call_id=block.tool_use_id, untouched=why, at=at)
        elif block.type == "tool_use":
            turn.calls.append(ToolCall(block.name, block.id, block.input, at=("content", number, "id")))
        elif block.type == "text" and turn.is_response:
            turn.texts.append(block.text)
        elif block.type == "text":
            found.append(Turn(False, [block.text], part=number))
    return found if turn.is_response or turn.texts else found[1:]
