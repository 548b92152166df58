"""What happened in a stored history, for telling what refers to what: prompts, responses and tool returns in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from reducer.references import Call, Event, Returned, Said, Written, searched


class Placed(NamedTuple):
    """One thing that happened, and where: its message and its part (0 for a response and for instructions), both counted from 0."""

    event: Event
    message: int
    part: int


def events(messages: Any) -> Iterator[Placed]:
    """Give what happened in a history, read from JSON; parts of unknown kinds are passed over.

    `messages`: a list of PydanticAI's messages, or one message. Thinking is not counted: it is not sent back as a text.
    """
    for number, message in enumerate(messages if isinstance(messages, list) else [messages]):
        if not isinstance(message, dict):
            continue
        parts = [(place, part) for place, part in enumerate(_list(message.get("parts"))) if isinstance(part, dict)]
        if message.get("kind") == "response":
            texts = tuple(part["content"] for _, part in parts if part.get("part_kind") == "text" and isinstance(part.get("content"), str))
            calls = (part for _, part in parts if part.get("part_kind") == "tool-call")
            made = tuple(Call(str(part.get("tool_name", "")), part.get("args"), str(part.get("tool_call_id", ""))) for part in calls)
            yield Placed(Written(texts, made), number, 0)
            continue
        if isinstance(message.get("instructions"), str):
            yield Placed(Said(message["instructions"]), number, 0)
        for place, part in parts:
            kind, content = part.get("part_kind"), part.get("content")
            if kind == "tool-return":
                yield Placed(Returned(content, str(part.get("tool_call_id", ""))), number, place)
            elif kind in ("system-prompt", "user-prompt", "retry-prompt"):
                yield Placed(Said(content if isinstance(content, str) else searched(content)), number, place)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
