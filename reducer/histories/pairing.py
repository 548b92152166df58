"""What PydanticAI does not check: the order of messages, calls with their returns, and session histories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reducer.histories.findings import Finding, Path, short
from reducer.paths.written import path_text

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ANSWERS = ("tool-return", "retry-prompt")
_SESSION_KEYS = frozenset({"text_content", "activity_parts", "response_text_main", "interaction_id"})
_SESSION_LISTS = ("parts", "activity_parts")


Messages = Sequence[tuple[Path, Any]]
"""The messages of a history, each with its path in the file."""


class _Call(NamedTuple):
    path: Path
    tool: Any
    id: str


def check_order(messages: Messages) -> Iterator[Finding]:
    """Check which messages follow each other, and where system prompts and tool returns are in a request."""
    previous: Any = None
    started = False  # something other than a system prompt came before
    for path, message in messages:
        kind = _field(message, "kind")
        kinds = [_field(part, "part_kind") for part in _list(message, "parts")]
        if kind == "response":
            if previous == "response" and "tool-call" in kinds:
                yield Finding("V041", path, "a response with tool calls follows a response; expected a request")
            elif previous == "response":
                yield Finding("V040", path, "a response follows a response; expected a request")
            elif path == messages[0][0]:
                yield Finding("V043", path, "the first message is a response; expected a request")
            started = True
        elif kind == "request":
            prompted = False
            other = next((number for number, part_kind in enumerate(kinds) if part_kind not in _ANSWERS), None)
            if previous == "request" and other is not None:
                words = "a request with more than tool returns follows a request; expected a response"
                yield Finding("V042", (*path, "parts", other), words)
            for number, part_kind in enumerate(kinds):
                here = (*path, "parts", number)
                if part_kind == "system-prompt" and started:
                    yield Finding("V044", here, "a system prompt is not at the start")
                elif part_kind == "tool-return" and prompted:
                    yield Finding("V045", here, "a tool return follows a prompt; expected it before the prompt")
                started = started or part_kind != "system-prompt"
                prompted = prompted or part_kind == "user-prompt"
        previous = kind


def check_calls(messages: Messages) -> Iterator[Finding]:
    """Check that each call has one return or retry with its id and tool name before the next response.

    An id counts within one response: some providers number their calls and reuse the ids. Consecutive responses count
    as one.
    """
    waiting: dict[str, list[_Call]] = {}
    answered: dict[str, _Call] = {}
    previous: Any = None
    for path, message in messages:
        kind = _field(message, "kind")
        parts = [((*path, "parts", number), part) for number, part in enumerate(_list(message, "parts"))]
        if kind == "response":
            if previous != "response":
                yield from _unanswered(waiting, "V030", f"before the next response, {path_text(path)}")
                waiting, answered = {}, {}
            yield from _check_response(parts, waiting)
        elif kind == "request":
            for here, part in parts:
                if _is_answer(part):
                    yield from _check_answer(here, part, waiting, answered)
        previous = kind
    yield from _unanswered(waiting, "V031", "yet")


def _unanswered(waiting: dict[str, list[_Call]], code: str, when: str) -> Iterator[Finding]:
    for calls in waiting.values():
        for call in calls:
            yield Finding(code, (*call.path, "tool_call_id"), f"the call of {_tool(call.tool)} has no return {when}")


def _check_response(parts: Messages, waiting: dict[str, list[_Call]]) -> Iterator[Finding]:
    ids: set[str] = set()
    for path, part in parts:
        if _field(part, "part_kind") == "tool-call":
            yield from _check_id(path, part)
            id = part.get("tool_call_id")
            if type(id) is str:
                if id in ids:
                    words = f"an earlier call of this response also has the id {short(id)}"
                    yield Finding("V034", (*path, "tool_call_id"), words)
                ids.add(id)
                waiting.setdefault(id, []).append(_Call(path, part.get("tool_name"), id))


def _is_answer(part: Any) -> bool:
    kind = _field(part, "part_kind")
    # A retry without a tool name asks for another text and answers no call.
    return kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name") is not None)


def _check_answer(
    path: Path, part: dict[str, Any], waiting: dict[str, list[_Call]], answered: dict[str, _Call]
) -> Iterator[Finding]:
    yield from _check_id(path, part)
    id, tool, here = part.get("tool_call_id"), part.get("tool_name"), (*path, "tool_call_id")
    if type(id) is not str:
        return
    if calls := waiting.get(id):
        # Calls with one id are told apart by their tool name, otherwise by their order.
        call = next((call for call in calls if call.tool == tool), calls[0])
        calls.remove(call)
        answered[id] = call
        if call.tool != tool and type(call.tool) is type(tool) is str:
            words = f"answers {path_text(call.path)}, a call of {_tool(call.tool)}, with the tool name {_tool(tool)}"
            yield Finding("V035", (*path, "tool_name"), words)
    elif id in answered:
        yield Finding("V033", here, f"the call {path_text(answered[id].path)} already has a return")
    else:
        same = next((call.id for calls in waiting.values() for call in calls if call.tool == tool), None)
        hint = "" if same is None else f"; the call {short(same)} of the same tool has no return"
        yield Finding("V032", here, f"no call of the previous response has the id {short(id)}{hint}")


def _check_id(path: Path, part: dict[str, Any]) -> Iterator[Finding]:
    here, id = (*path, "tool_call_id"), part.get("tool_call_id")
    if "tool_call_id" not in part:
        yield Finding("V037", here, "`tool_call_id` is missing; PydanticAI generates a different id at every load")
    elif type(id) is str and not _ID.fullmatch(id):
        yield Finding("V036", here, f"found {short(id)}; Anthropic accepts letters, digits, `_` and `-`")


def is_session_message(value: Any) -> bool:
    """Return whether a value is a message of a session history, which has a role and other keys than PydanticAI's."""
    if type(value) is not dict or type(value.get("role")) is not str:
        return False
    return not _SESSION_KEYS.isdisjoint(value) or any(
        _field(part, "type") == "activity" for part in _list(value, "parts")
    )


def check_session(messages: Messages) -> Iterator[Finding]:
    """Check that the requests and results of a session history match, and that both copies of a result are equal."""
    requested: dict[str, Path] = {}
    answered: set[str] = set()
    for path, message in messages:
        if type(_field(message, "role")) is not str:
            yield Finding("V060", path, "expected a message with a `role`")
        for at, tool in _entries(path, message, "tools"):
            if type(id := _field(tool, "id")) is str:
                requested.setdefault(id, (*at, "id"))
        counts: Counter[Any] = Counter()
        contents: dict[tuple[str, int], Any] = {}
        for at, result in _entries(path, message, "results"):
            if type(id := _field(result, "call_id")) is not str:
                continue
            if id not in requested and id not in answered:
                yield Finding("V061", (*at, "call_id"), f"no request before it has the id {short(id)}")
            answered.add(id)
            listed = at[len(path)]
            counts[listed, id] += 1
            content = result.get("content")
            if contents.setdefault((id, counts[listed, id]), content) != content:
                yield Finding("V063", (*at, "content"), f"differs from the copy of {short(id)} in `parts`")
    for id, path in requested.items():
        if id not in answered:
            yield Finding("V062", path, f"the request {short(id)} has no result")


def _entries(path: Path, message: Any, name: str) -> Iterator[tuple[Path, Any]]:
    """Yield the entries of a list that the activities of a message contain, with their paths."""
    for listed in _SESSION_LISTS:
        for number, activity in enumerate(_list(message, listed)):
            for index, entry in enumerate(_list(activity, name)):
                yield (*path, listed, number, name, index), entry


def _field(value: Any, name: str) -> Any:
    return value.get(name) if type(value) is dict else None


def _list(value: Any, name: str) -> list[Any]:
    items = _field(value, name)
    return items if type(items) is list else []


def _tool(name: Any) -> str:
    return f"`{name[:60]}`" if type(name) is str else "no tool"
