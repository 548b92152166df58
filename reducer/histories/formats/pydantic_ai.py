"""Messages as any version of PydanticAI stores them: `{"kind": "request" | "response", "parts": [...]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct

from reducer.histories import why_untouched
from reducer.histories.format import Path, Scalar, Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "model-messages"
EXPECTED = "a list of messages, each an object with `kind` and `parts`"
HINTS = (b'parts"',)


class Part(Struct, gc=False):
    """A part of any kind. `content_file_digests` is present if the content is bytes, a date or similar."""

    part_kind: Any = None
    tool_name: Any = None
    tool_call_id: Any = None
    content: Json = UNSET
    args: Json = UNSET
    outcome: Any = None
    tool_kind: Any = None
    metadata: dict[str, Raw] | list[Raw] | Scalar = None
    timestamp: Any = None
    content_file_digests: Json = UNSET


class StoredMessage(Struct, gc=False):
    """A request or a response."""

    kind: Any = None
    parts: Some[Part] = None
    instructions: Any = None


MESSAGE = StoredMessage


def recognises(message: StoredMessage, source: Source, strict: bool) -> bool:
    return type(message.kind) is str and type(message.parts) is list


def read(message: StoredMessage, source: Source) -> Iterator[Turn | ToolReturn]:
    if message.kind == "response":
        yield _response(message)
        return
    if type(message.instructions) is str:
        yield Turn(False, [message.instructions])
    for number, part in numbered(message.parts, Part):
        if part.part_kind == "tool-return" and message.kind == "request":
            yield _tool_return(part, number, source)
        elif part.part_kind in ("system-prompt", "user-prompt", "retry-prompt"):
            prompt = Turn(False, [part.content], part=number)
            # A retry without a tool name does not answer a call.
            if part.part_kind == "retry-prompt" and part.tool_name is not None:
                prompt.calls.append(ToolCall(part.tool_name, part.tool_call_id, UNSET, _at(number)))
            yield prompt


def _response(message: StoredMessage) -> Turn:
    response = Turn(True, [])
    for number, part in numbered(message.parts, Part):
        if part.part_kind == "text":
            response.texts.append(part.content)
        elif part.part_kind == "tool-call":
            response.calls.append(ToolCall(part.tool_name, part.tool_call_id, part.args, _at(number)))
    return response


def _tool_return(part: Part, number: int, source: Source) -> ToolReturn:
    why = why_untouched(part.tool_name, part.outcome, part.tool_kind, part.metadata)
    if part.content_file_digests is not UNSET and source.mark(part.content) == '"':
        why = why or "its content is bytes, a date or similar, stored as a text"
    return ToolReturn(
        part.tool_call_id,
        [part.content],
        part.tool_name,
        part=number,
        untouched=why,
        timestamp=part.timestamp,
        at=_at(number),
    )


def _at(number: int) -> Path:
    """Return the path from a message to the call id of a part."""
    return ("parts", number, "tool_call_id")
