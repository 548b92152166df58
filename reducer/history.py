"""Histories as PydanticAI objects: only the contents of tool returns change, in new messages and parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reducer.untouched import untouched

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ToolReturnPart


def reduce_messages(messages: Sequence[ModelMessage], reduce: Callable[[str, Any], Any]) -> list[ModelMessage]:
    """Reduce the tool returns of a history of PydanticAI objects; gives a new list, whatever changed.

    A message in which nothing changed is the same object; another one is made with `dataclasses.replace`, as is its part.
    `reduce(tool_name, content)` gets the content as the part holds it and gives the same object for one that stays.
    """
    from pydantic_ai.messages import ToolReturnPart

    def part(old: Any) -> Any:
        return reduced_part(old, reduce) if type(old) is ToolReturnPart else old

    return [with_parts(message, part) for message in messages]


def with_parts(message: ModelMessage, part: Callable[[Any], Any]) -> ModelMessage:
    """Give `message` with what `part` gives for each part of it; the same object when all are, and for a response."""
    if message.kind != "request":
        return message
    parts = [part(old) for old in message.parts]
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=parts)


def reduced_part(part: ToolReturnPart, reduce: Callable[[str, Any], Any]) -> ToolReturnPart:
    """Give a tool return with its content reduced; the same object when it stays or when rules never apply to it."""
    content = part.content
    if content is None or isinstance(content, (bool, int, float, bytes, bytearray)):
        return part
    # `outcome` and `tool_kind` came in the course of PydanticAI 1.
    if untouched(part.tool_name, getattr(part, "outcome", None), getattr(part, "tool_kind", None), part.metadata):
        return part
    new = reduce(part.tool_name, content)
    # What is stored as a text without being one (a date, an enum, a UUID) stays, as it does in a stored history.
    if new is content or (isinstance(new, str) and not isinstance(content, str)):
        return part
    return replace(part, content=new)
