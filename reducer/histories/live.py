"""Histories as PydanticAI objects: only the contents of tool returns change, in new messages and parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any

from reducer.histories import protecting, why_untouched
from reducer.histories.repeats import Repeats
from reducer.references import Call, Mentions, Response
from reducer.values import Unreducible, plain

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ToolReturnPart

_MAX_LEVELS = 250
"""Levels of a content that are searched for references. PydanticAI stores no deeper content."""


def reduce_messages(
    messages: Sequence[ModelMessage],
    reduce: Callable[..., Any],
    mentions: Mentions | None = None,
    repeats: Repeats | None = None,
) -> list[ModelMessage]:
    """Reduce the tool returns of a history; return a new list in which unchanged messages are the same objects.

    `reduce(tool, content)` gets the content as the part contains it, and returns the same object to keep it; with
    `mentions`, it also gets the keyword `protected`. `repeats` reduces instead, and leaves out what earlier returns
    show.
    """
    from pydantic_ai.messages import ToolReturnPart

    def change(number: int, part: Any) -> Any:
        if type(part) is not ToolReturnPart:
            return part
        if repeats is None:
            return reduced_part(part, protecting(reduce, mentions, number))
        mentioned = partial(mentions.after, number) if mentions else None
        return reduced_part(
            part, lambda tool, content: repeats.reduce(tool, part.tool_call_id, content, mentioned).content
        )

    return [with_parts(message, partial(change, number)) for number, message in enumerate(messages)]


def with_parts(message: ModelMessage, change: Callable[[Any], Any]) -> ModelMessage:
    """Return a request with `change(part)` for each part, or the same object for a response or if all parts stay."""
    if message.kind != "request":
        return message
    parts = list(map(change, message.parts))
    if all(map(is_, parts, message.parts)):
        return message
    return replace(message, parts=parts)


def reduced_part(part: ToolReturnPart, reduce: Callable[[str, Any], Any]) -> ToolReturnPart:
    """Return a tool return with reduced content. Return the same object if it stays or rules never apply to it."""
    content = part.content
    if content is None or isinstance(content, (bool, int, float)):
        return part
    # Early versions of PydanticAI 1 have no `outcome` and no `tool_kind`.
    outcome, tool_kind = getattr(part, "outcome", None), getattr(part, "tool_kind", None)
    if why_untouched(part.tool_name, outcome, tool_kind, part.metadata):
        return part
    new = reduce(part.tool_name, content)
    # Bytes, a date or an enum stay if this PydanticAI records that they were not text (`_content_field`).
    recorded = isinstance(new, str) and not isinstance(content, str) and hasattr(part, "_content_field")
    return part if new is content or recorded else replace(part, content=new)


class LaterMentions(Mentions):
    """The values that the responses of a history mention, each with the number of the last one."""

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        def responses() -> Iterator[tuple[int, Response]]:
            for number, message in enumerate(messages):
                if message.kind == "response":
                    yield number, _written(message)

        super().__init__(lambda: [*responses()])

    def after(self, position: int, content: Any) -> frozenset[str]:
        """Return the values in a content that a response after a message mentions."""
        return super().after(position, plain(content, _MAX_LEVELS))


def _written(response: ModelMessage) -> Response:
    parts: Any = response.parts
    texts, calls = [], []
    for part in parts:
        if part.part_kind == "text" and isinstance(part.content, str):
            texts.append(part.content)
        elif part.part_kind == "tool-call":
            calls.append(Call(part.tool_name, _arguments(part.args)))
    return Response(tuple(texts), tuple(calls))


def _arguments(arguments: Any) -> Any:
    try:
        return plain(arguments, _MAX_LEVELS)
    except Unreducible:
        return None
