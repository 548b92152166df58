"""Messages of Amazon Bedrock's Converse API: `{"role": ..., "content": [...]}`, with `toolUse` and `toolResult`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "bedrock"
EXPECTED = "a list of messages of Bedrock's Converse API, each an object with `role` and `content`"
HINTS = (b'role"',)


class ResultBlock(Struct, gc=False):
    """A block of a result: a text, JSON, or media."""

    text: Json = UNSET
    json: Json = UNSET


class Tool(Struct, gc=False, rename="camel"):
    """The use of a tool with `input`, or its result. Those of a tool that the provider executes have a type."""

    tool_use_id: Any = None
    name: Any = None
    input: Json = UNSET
    content: Some[ResultBlock] = None
    status: Any = None
    type: Any = None


class Block(Struct, gc=False, rename="camel"):
    """A block of any kind. Blocks of other formats have a type."""

    type: Any = None
    text: Json = UNSET
    tool_use: One[Tool] = None
    tool_result: One[Tool] = None


class BedrockMessage(Struct, gc=False):
    """A message of the user or the assistant."""

    role: Any = None
    content: Some[Block] = None


MESSAGE = BedrockMessage


def recognises(message: BedrockMessage, source: Source, strict: bool) -> bool:
    listed = numbered(message.content, Block)
    if message.role not in ("user", "assistant") or type(message.content) is not list:
        return False
    if any(block.type is not None for _, block in listed):
        return False
    return not strict or any(_is_own(block, source) for _, block in listed)


def _is_own(block: Block, source: Source) -> bool:
    return source.mark(block.text) == '"' or Tool in (type(block.tool_use), type(block.tool_result))


def read(message: BedrockMessage, source: Source) -> list[Turn | ToolReturn]:
    turn = Turn(message.role == "assistant", [])
    found: list[Turn | ToolReturn] = []
    for number, block in numbered(message.content, Block):
        if source.mark(block.text) == '"':
            turn.texts.append(block.text)
        if type(block.tool_use) is Tool:
            at = ("content", number, "toolUse", "toolUseId")
            turn.calls.append(ToolCall(block.tool_use.name, block.tool_use.tool_use_id, block.tool_use.input, at=at))
        if type(block.tool_result) is Tool:
            found += _returns(block.tool_result, number)
    return [turn, *found] if turn.is_response or turn.texts else found


def _returns(result: Tool, number: int) -> Iterator[ToolReturn]:
    """Yield a tool return for each text and each JSON value of a result, because rules apply to each of them."""
    why = "" if result.status in (None, "success") else f"its outcome is {result.status}"
    if result.type is not None:
        why = "the provider executed the tool"
    contents = []
    for _, block in numbered(result.content, ResultBlock):
        contents += [one for one in (block.text, block.json) if one is not UNSET]
    at = ("content", number, "toolResult", "toolUseId")
    for content in contents or [UNSET]:
        yield ToolReturn(result.tool_use_id, [content], part=number, untouched=why, at=at)
