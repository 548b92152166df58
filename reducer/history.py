"""Histories as PydanticAI objects: only the contents of tool returns change, in new messages and parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reducer.references import Call, Mentions, Written
from reducer.untouched import untouched
from reducer.values import Unreducible, plain

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ToolReturnPart

_DEEPEST = 250
"""Levels of a content that are looked into for what is mentioned: PydanticAI stores none that are deeper."""


class Mentioned:
    """The values that later responses mention, in one history of PydanticAI objects; they are read when they are first asked for."""

    __slots__ = ("_mentions", "_messages")

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        self._messages = messages
        self._mentions: Mentions | None = None

    def finder(self, message: int, content: Any) -> Callable[[], frozenset[str]]:
        """Give what finds the values in a content of a return in the message at `message` that later responses mention."""
        return lambda: self._in(message, content)

    def _in(self, message: int, content: Any) -> frozenset[str]:
        if self._mentions is None:
            self._mentions = Mentions([(number, _written(one)) for number, one in enumerate(self._messages) if one.kind == "response"])
        return self._mentions.after(message, plain(content, _DEEPEST))


def _written(response: ModelMessage) -> Written:
    """Give what an agent writes in a response, as `stored.events` reads it."""
    parts: Any = response.parts
    texts = tuple(part.content for part in parts if part.part_kind == "text" and isinstance(part.content, str))
    return Written(texts, tuple(Call(part.tool_name, _stored(part.args)) for part in parts if part.part_kind == "tool-call"))


def _stored(arguments: Any) -> Any:
    try:
        return plain(arguments, _DEEPEST)
    except Unreducible:
        return None


def reduce_messages(messages: Sequence[ModelMessage], reduce: Callable[..., Any], mentioned: Mentioned | None = None) -> list[ModelMessage]:
    """Reduce the tool returns of a history of PydanticAI objects; gives a new list, whatever changed.

    A message in which nothing changed is the same object; another one is made with `dataclasses.replace`, as is its part.
    `reduce(tool_name, content)` gets the content as the part holds it and gives the same object for one that stays. With `mentioned` it is
    called with what finds the values to protect besides, as `protected`.
    """
    from pydantic_ai.messages import ToolReturnPart

    def at(number: int) -> Callable[[str, Any], Any]:
        return reduce if mentioned is None else lambda tool, content: reduce(tool, content, protected=mentioned.finder(number, content))

    def changed(message: ModelMessage, one: Callable[[str, Any], Any]) -> ModelMessage:
        return with_parts(message, lambda old: reduced_part(old, one) if type(old) is ToolReturnPart else old)

    return [changed(message, at(number)) for number, message in enumerate(messages)]


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
