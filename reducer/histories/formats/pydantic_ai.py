"""Messages as any version of PydanticAI stores them: `{"kind": "request" | "response", "parts": [...]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories import why_untouched
from reducer.histories.format import Scalar, Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Source

NAME = "model-messages"
EXPECTED = "a list of messages, each an object with `kind` and `parts`"
HINTS = (b'parts"',)


class Part(Struct, gc=False):
    """A part of any kind. `content_file_digests` is present if the content is bytes, a date or similar."""

    part_kind: Any = None
    tool_name: Any = None
    tool_call_id: Any = None
    content: Raw | UnsetType = UNSET
    args: Raw | UnsetType = UNSET
    outcome: Any = None
    tool_kind: Any = None
    metadata: dict[str, Raw] | list[Raw] | Scalar = None
    timestamp: Any = None
    content_file_digests: Raw | UnsetType = UNSET


class StoredMessage(Struct, gc=False):
    """A request or a response."""

    kind: Any = None
    parts: Some[Part] = None
    instructions: Any = None


MESSAGE = StoredMessage


def recognises(message: StoredMessage, source: Source, strict: bool) -> bool:
    return type(message.kind) is str and type(message.parts) is list


def turns(message: StoredMessage, source: Source) -> Iterator[Turn]:
    parts = numbered(message.parts, Part)
    if message.kind == "response":
        texts = [part.content for _, part in parts if part.part_kind == "text"]
        calls = [_call(number, part, part.args) for number, part in parts if part.part_kind == "tool-call"]
        yield Turn(True, texts, calls)
        return
    if type(message.instructions) is str:
        yield Turn(False, [message.instructions])
    for number, part in parts:
        if part.part_kind in ("system-prompt", "user-prompt", "retry-prompt"):
            # A retry without a tool name does not answer a call.
            retried = [_call(number, part)] if part.part_kind == "retry-prompt" and part.tool_name is not None else []
            yield Turn(False, [part.content], retried, part=number)


def _call(number: int, part: Part, arguments: Raw | UnsetType = UNSET) -> ToolCall:
    return ToolCall(part.tool_name, part.tool_call_id, arguments, at=("parts", number, "tool_call_id"))


def returns(message: StoredMessage, source: Source) -> Iterator[ToolReturn]:
    parts: Any = message.parts if message.kind == "request" else ()
    for number, part in enumerate(parts):
        if type(part) is Part and part.part_kind == "tool-return":
            why = why_untouched(part.tool_name, part.outcome, part.tool_kind, part.metadata)
            if part.content_file_digests is not UNSET and not why and source.mark(part.content) == '"':
                why = "its content is bytes, a date or similar, stored as a text"
            yield ToolReturn(
                part.tool_call_id,
                contents=[] if part.content is UNSET else [part.content],
                tool=part.tool_name,
                part=number,
                untouched=why,
                timestamp=part.timestamp,
                at=("parts", number, "tool_call_id"),
            )
