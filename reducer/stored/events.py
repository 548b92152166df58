"""What happened in a stored history, for telling what refers to what: prompts, responses and tool returns in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

from reducer.references import Call, Event, Returned, Said, Written, searched
from reducer.stored import InputFormat, Key, Return, messages, session

_WRAPPERS = 16


class Placed(NamedTuple):
    """One thing that happened, and where: its message and its part, both counted from 0, and which tool return of that part it is, from 0."""

    event: Event
    message: int
    part: int
    nth: int = 0

    @property
    def key(self) -> Key:
        """Give the place."""
        return self.message, self.part, self.nth


def keyed(found: Iterable[Return]) -> Iterator[tuple[Key, Return]]:
    """Give tool returns with the places that they have among events."""
    times: dict[tuple[int, int], int] = {}
    for one in found:
        nth = times.get((one.message, one.part), 0)
        times[one.message, one.part] = nth + 1
        yield (one.message, one.part, nth), one


def events(history: Any, input_format: InputFormat = "auto") -> Iterator[Placed]:
    """Give what happened in a history, read from JSON; parts of unknown kinds are passed over.

    `history`: a list of PydanticAI's messages or one message, a session history, or a wrapper of such. Messages, parts and returns are
    counted as `stored.returns` does. Thinking is not counted: it is not sent back as a text.
    """
    for number, message in enumerate(_messages(history, _WRAPPERS, input_format)):
        if messages.is_message(message):
            yield from _model_message(message, number)
        else:
            yield from _session_message(message, number)


def _messages(value: Any, levels: int, form: InputFormat) -> Iterator[dict[str, Any]]:
    if (form != "session" and messages.is_message(value)) or (form != "model-messages" and session.is_message(value, form == "session")):
        yield value
    elif levels and isinstance(value, (list, dict)):
        for inner in value if isinstance(value, list) else value.values():
            yield from _messages(inner, levels - 1, form)


def _model_message(message: dict[str, Any], number: int) -> Iterator[Placed]:
    parts = [(place, part) for place, part in enumerate(_list(message.get("parts"))) if isinstance(part, dict)]
    if message.get("kind") == "response":
        texts = tuple(part["content"] for _, part in parts if part.get("part_kind") == "text" and isinstance(part.get("content"), str))
        made = (part for _, part in parts if part.get("part_kind") == "tool-call")
        yield Placed(Written(texts, tuple(_call(part, "tool_name", "args", "tool_call_id") for part in made)), number, 0)
        return
    if isinstance(message.get("instructions"), str):
        yield Placed(Said(message["instructions"]), number, 0)
    for place, part in parts:
        kind, content = part.get("part_kind"), part.get("content")
        if kind == "tool-return":
            yield Placed(Returned(content, str(part.get("tool_call_id", ""))), number, place)
        elif kind in ("system-prompt", "user-prompt", "retry-prompt"):
            yield Placed(Said(content if isinstance(content, str) else searched(content)), number, place)


def _session_message(message: dict[str, Any], number: int) -> Iterator[Placed]:
    text = next((message[key] for key in ("text_content", "response_text_main") if isinstance(message.get(key), str)), "")
    if message.get("role") != "assistant":
        yield Placed(Said(text), number, 0)
        return
    texts: list[str] = []
    calls: list[Call] = []
    asked: set[str] = set()
    place = 0
    for place, part, listed in _activities(message):
        if isinstance(part.get("text"), str) and listed == "parts":
            texts.append(part["text"])
        made = [_call(tool, "name", "arguments", "id") for tool in session.objects(part.get("tools"))]
        calls += [call for call in made if not call.id or call.id not in asked]
        asked.update(call.id for call in made)
        if not session.answers(part):
            continue
        if texts or calls:
            yield Placed(Written(tuple(texts), tuple(calls)), number, place)
            texts, calls = [], []
        for nth, result in enumerate(_results(part)):
            yield Placed(Returned(result.get("content", result.get("raw_result")), str(result.get("call_id") or "")), number, place, nth)
    if not texts and text:
        texts = [text]
    if texts or calls:
        yield Placed(Written(tuple(texts), tuple(calls)), number, place)


def _activities(message: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Give the parts of a message with their places; those of the older list only where the newer one carries no answers."""
    parts = [part if isinstance(part, dict) else {} for part in _list(message.get("parts"))]
    yield from ((place, part, "parts") for place, part in enumerate(parts))
    if not any(map(session.answers, parts)):
        older = (part if isinstance(part, dict) else {} for part in _list(message.get("activity_parts")))
        yield from ((place, part, "activity_parts") for place, part in zip(count(), older))


def _results(part: dict[str, Any]) -> list[dict[str, Any]]:
    return session.objects(part.get("results")) or session.objects(part.get("technical_details"))


def _call(part: dict[str, Any], tool: str, arguments: str, id: str) -> Call:
    return Call(str(part.get(tool, "")), part.get(arguments), str(part.get(id) or ""))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
