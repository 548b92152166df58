"""UI messages of the Vercel AI SDK: `{"role": ..., "parts": [...]}`, with a tool call and its output in one part.

A message of the assistant contains a whole run. Each of its steps is a response with the outputs of its tool calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories import why_untouched
from reducer.histories.format import Some, ToolCall, ToolReturn, Turn, numbered, objects
from reducer.histories.source import Source

NAME = "vercel-ai"
EXPECTED = "a list of UI messages of the Vercel AI SDK, each an object with `role` and `parts`"
HINTS = (b'parts"',)
_ROLES = ("system", "user", "assistant")
_KINDS = ("text", "reasoning", "reasoning-file", "file", "custom", "step-start", "source-url", "source-document")
_OUTPUTS = ("output-available", "output-error", "output-denied")


class Part(Struct, gc=False, rename="camel"):
    """A part of any type. The type of a tool call is `tool-` with the name of the tool, or `dynamic-tool`."""

    type: Any = None
    text: Raw | UnsetType = UNSET
    tool_name: Any = None
    tool_call_id: Any = None
    state: Any = None
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    provider_executed: Any = None


class UIMessage(Struct, gc=False):
    """A message."""

    id: Any = None
    role: Any = None
    parts: Some[Part] = None


MESSAGE = UIMessage


_Step = list[tuple[int, Part]]


def recognises(message: UIMessage, source: Source, strict: bool) -> bool:
    if not strict:
        return type(message.role) is str and type(message.parts) is list
    kinds = [
        part.type in _KINDS or (type(part.type) is str and part.type.startswith("data-")) or _is_tool(part)
        for part in objects(message.parts, Part)
    ]
    return message.role in _ROLES and bool(kinds) and all(kinds)


def _is_tool(part: Part) -> bool:
    is_named = part.type == "dynamic-tool" or (type(part.type) is str and part.type.startswith("tool-"))
    return is_named and type(part.state) is str


def _steps(parts: _Step) -> Iterator[_Step]:
    """Split parts where a step starts, and where a text follows a tool call."""
    step: _Step = []
    for number, part in parts:
        if step and (part.type == "step-start" or (part.type == "text" and _is_tool(step[-1][1]))):
            yield step
            step = []
        step.append((number, part))
    if step:
        yield step


def turns(message: UIMessage, source: Source) -> Iterator[Turn]:
    parts = numbered(message.parts, Part)
    if message.role != "assistant":
        yield from (Turn(False, [part.text], part=number) for number, part in parts if part.type == "text")
        return
    for step in _steps(parts):
        texts = [part.text for _, part in step if part.type == "text"]
        calls = [
            ToolCall(_tool(part), part.tool_call_id, part.input, at=("parts", number, "toolCallId"))
            for number, part in step
            if _is_tool(part)
        ]
        yield Turn(True, texts, calls, part=step[0][0])


def returns(message: UIMessage, source: Source) -> Iterator[ToolReturn]:
    for number, part in numbered(message.parts, Part) if message.role == "assistant" else ():
        if _is_tool(part) and part.state in _OUTPUTS:
            output = [] if part.output is UNSET else [part.output]
            at = ("parts", number, "toolCallId")
            yield ToolReturn(part.tool_call_id, output, _tool(part), number, untouched=_untouched(part), at=at)


def _tool(part: Part) -> Any:
    return part.tool_name if part.type == "dynamic-tool" else part.type.removeprefix("tool-")


def _untouched(part: Part) -> str:
    if part.state != "output-available":
        return f"its outcome is {part.state}"
    return why_untouched(_tool(part)) if part.provider_executed in (None, False) else "the provider executed the tool"
