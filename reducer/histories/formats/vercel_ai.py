"""UI messages of the Vercel AI SDK: `{"role": ..., "parts": [...]}`, with a tool call and its output in one part.

A message of the assistant contains a whole run. Each of its steps is a response with the outputs of its tool calls.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "vercel-ai"
EXPECTED = "a list of UI messages of the Vercel AI SDK, each an object with `role` and `parts`"
HINTS = (b'parts"',)
_ROLES = ("system", "user", "assistant")
_KINDS = ("text", "reasoning", "reasoning-file", "file", "custom", "step-start", "source-url", "source-document")
_OUTPUTS = ("output-available", "output-error", "output-denied")


class Part(Struct, gc=False, rename="camel"):
    """A part of any type. The type of a tool call is `tool-` with the name of the tool, or `dynamic-tool`."""

    type: Any = None
    text: Json = UNSET
    tool_name: Any = None
    tool_call_id: Any = None
    state: Any = None
    input: Json = UNSET
    output: Json = UNSET
    provider_executed: Any = None


class UIMessage(Struct, gc=False):
    """A message."""

    id: Any = None
    role: Any = None
    parts: Some[Part] = None


MESSAGE = UIMessage


def recognises(message: UIMessage, source: Source, strict: bool) -> bool:
    if not strict:
        return type(message.role) is str and type(message.parts) is list
    parts = list(map(itemgetter(1), numbered(message.parts, Part)))
    return message.role in _ROLES and bool(parts) and all(map(_is_own, parts))


def _is_own(part: Part) -> bool:
    if part.type == "text":
        return part.text is not UNSET
    return part.type in _KINDS or str(part.type).startswith("data-") or _is_tool(part)


def _is_tool(part: Part) -> bool:
    is_named = part.type == "dynamic-tool" or str(part.type).startswith("tool-")
    return is_named and type(part.state) is str


def read(message: UIMessage, source: Source) -> list[Turn | ToolReturn]:
    found: list[Turn | ToolReturn] = []
    response = Turn(True, [])
    was_tool = False
    for number, part in numbered(message.parts, Part):
        if message.role != "assistant":
            if part.type == "text":
                found.append(Turn(False, [part.text], part=number))
            continue
        if not found or part.type == "step-start" or (part.type == "text" and was_tool):
            response = Turn(True, [], part=number)
            found.append(response)
        was_tool = _is_tool(part)
        if part.type == "text":
            response.texts.append(part.text)
        elif was_tool:
            at = ("parts", number, "toolCallId")
            response.calls.append(ToolCall(_tool(part), part.tool_call_id, part.input, at))
            if part.state in _OUTPUTS:
                fields = {"tool": _tool(part), "part": number, "untouched": _untouched(part), "at": at}
                found.append(ToolReturn(part.tool_call_id, [part.output], **fields))
    return found


def _tool(part: Part) -> Any:
    return part.tool_name if part.type == "dynamic-tool" else part.type.removeprefix("tool-")


def _untouched(part: Part) -> str:
    if part.state != "output-available":
        return f"its outcome is {part.state}"
    return "" if part.provider_executed in (None, False) else "the provider executed the tool"
