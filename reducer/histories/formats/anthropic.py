"""Messages as Anthropic's API takes them: `{"role": ..., "content": [...]}`, with `tool_use` and `tool_result`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered, objects, tool_returns
from reducer.histories.source import Source

NAME = "anthropic"
EXPECTED = "a list of Anthropic messages, each an object with `role` and `content`"
HINTS = (b'role"',)
_OWN = ("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking")
"""Types of blocks that no other format has."""


class Block(Struct, gc=False):
    """A block of any type."""

    type: Any = None
    text: Raw | UnsetType = UNSET
    id: Any = None
    name: Any = None
    input: Raw | UnsetType = UNSET
    tool_use_id: Any = None
    content: Raw | UnsetType = UNSET
    is_error: Any = None


class AnthropicMessage(Struct, gc=False):
    """A message of the user or the assistant."""

    role: Any = None
    content: Some[Block] = None


MESSAGE = AnthropicMessage


def recognises(message: AnthropicMessage, source: Source, strict: bool) -> bool:
    blocks = objects(message.content, Block) if strict else ()
    return type(message.role) is str and (not strict or any(block.type in _OWN for block in blocks))


def turns(message: AnthropicMessage, source: Source) -> Iterator[Turn]:
    blocks = numbered(message.content, Block)
    written = [message.content] if type(message.content) is str else []
    if message.role == "assistant":
        calls = [
            ToolCall(block.name, block.id, block.input, at=("content", number, "id"))
            for number, block in blocks
            if block.type == "tool_use"
        ]
        yield Turn(True, written + [block.text for _, block in blocks if block.type == "text"], calls)
        return
    if written:
        yield Turn(False, written)
    yield from (Turn(False, [block.text], part=number) for number, block in blocks if block.type == "text")


def returns(message: AnthropicMessage, source: Source) -> Iterator[ToolReturn]:
    for number, block in numbered(message.content, Block):
        if block.type == "tool_result":
            why = "" if block.is_error in (None, False) else "it is an error"
            at = ("content", number, "tool_use_id")
            fields = {"part": number, "call_id": block.tool_use_id, "untouched": why, "at": at}
            yield from tool_returns(block.content, source, **fields)
