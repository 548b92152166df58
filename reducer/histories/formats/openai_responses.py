"""Items of OpenAI's Responses API, such as `function_call`, `function_call_output` and `message`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import ToolCall, ToolReturn, Turn, parts, texts, tool_returns, types
from reducer.histories.source import Json, Source

NAME = "openai-responses"
EXPECTED = "a list of items of OpenAI's Responses API, each an object with `type` or `role`"
HINTS = (b'call_id"', b'role"')
_CALLS = ("function_call", "custom_tool_call")
_RETURNS = ("function_call_output", "custom_tool_call_output")
_PARTS = ("input_text", "input_image", "input_file", "input_audio", "output_text", "refusal")


class ResponseItem(Struct, gc=False):
    """An item of any type. A message may have no type."""

    type: Any = None
    role: Any = None
    content: Json = UNSET
    call_id: Any = None
    name: Any = None
    arguments: Json = UNSET
    input: Json = UNSET
    output: Json = UNSET
    execution: Any = None


MESSAGE = ResponseItem


def recognises(item: ResponseItem, source: Source, strict: bool) -> bool:
    if not strict:
        return type(item.type) is str or type(item.role) is str
    if item.type in (*_CALLS, *_RETURNS):
        return type(item.call_id) is str
    listed = parts(item.content, source)
    is_message = bool(listed) or (item.type == "message" and source.mark(item.content) == '"')
    return type(item.role) is str and is_message and all(types(listed, _PARTS))


def read(item: ResponseItem, source: Source) -> Iterator[Turn | ToolReturn]:
    if item.type in _RETURNS:
        yield from tool_returns(item.output, source, call_id=item.call_id, at=("call_id",))
    elif item.type in _CALLS:
        arguments = item.input if item.arguments is UNSET else item.arguments
        yield Turn(True, [], [ToolCall(item.name, item.call_id, arguments, at=("call_id",))], joins=True)
    elif type(item.role) is str and item.role != "assistant":
        yield Turn(False, [item.content])
    elif item.execution == "server" or not str(item.type).endswith("_output"):
        yield Turn(True, texts(item.content, source), joins=True)
