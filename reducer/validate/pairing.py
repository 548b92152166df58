"""Whether tool calls and their answers belong together, response by response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reducer.validate.fields import is_object_text
from reducer.validate.finding import Finding, Path, nearest, short

_ID = re.compile(r"[a-zA-Z0-9_-]+")


class _Call(NamedTuple):
    path: Path
    tool: Any
    id: Any
    broken: bool  # its `args` are a text that is no JSON object


def check_calls(root: Path, messages: Sequence[Any]) -> Iterator[Finding]:
    """Check that every call is answered once, by a return or retry with its id and tool name, before the next response.

    Ids count within one response: providers that number calls (`tool_0_deep_research`) use them again in later ones. Responses that follow
    each other count as one. What is no message or part is passed over.
    """
    waiting: dict[str, list[_Call]] = {}
    answered: dict[str, _Call] = {}
    after_response = False
    for index, message in enumerate(messages):
        parts = message.get("parts") if type(message) is dict else None
        if type(parts) is not list:
            continue
        where = (*root, index, "parts")
        if message.get("kind") == "response":
            if not after_response:
                for calls in waiting.values():
                    for call in calls:
                        yield from _unanswered("V030", call, f"not answered before the next response, {_at(root, index)}")
                waiting, answered = {}, {}
            yield from _take_calls(where, parts, waiting)
            after_response = True
        elif message.get("kind") == "request":
            for number, part in enumerate(parts):
                if type(part) is dict and _is_answer(part):
                    yield from _take_answer((*where, number), part, waiting, answered)
            after_response = False
    for calls in waiting.values():
        for call in calls:
            yield from _unanswered("V031", call, "not answered yet")


def _is_answer(part: dict[str, Any]) -> bool:
    kind = part.get("part_kind")
    # A retry without a tool name asks for another text; it answers no call.
    return kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name") is not None)


def _take_calls(where: Path, parts: list[Any], waiting: dict[str, list[_Call]]) -> Iterator[Finding]:
    builtin: set[Any] = set()
    own: set[str] = set()
    for number, part in enumerate(parts):
        kind = part.get("part_kind") if type(part) is dict else None
        path = (*where, number)
        if kind == "tool-call":
            id, tool, args = part.get("tool_call_id"), part.get("tool_name"), part.get("args")
            call = _Call(path, tool, id, type(args) is str and not is_object_text(args))
            yield from _check_id(path, part)
            if type(id) is not str:
                if call.broken:
                    yield _broken("V038", call)
                continue
            if id in own:
                yield Finding("V034", (*path, "tool_call_id"), f"{short(id)} is the id of an earlier call in this response too")
            own.add(id)
            waiting.setdefault(id, []).append(call)
        elif kind == "builtin-tool-call":
            builtin.add(_key(part.get("tool_call_id")))
        elif kind == "builtin-tool-return" and "tool_call_id" in part and _key(part["tool_call_id"]) not in builtin:
            yield Finding("V046", (*path, "tool_call_id"), f"no built-in call before it in this response has the id {short(part['tool_call_id'])}")


def _take_answer(path: Path, part: dict[str, Any], waiting: dict[str, list[_Call]], answered: dict[str, _Call]) -> Iterator[Finding]:
    id, tool = part.get("tool_call_id"), part.get("tool_name")
    here = (*path, "tool_call_id")
    yield from _check_id(path, part)
    if type(id) is not str:
        return
    calls = waiting.get(id)
    if calls:
        # Two calls of one id: the answers tell them apart by tool name, else by order.
        call = next((call for call in calls if call.tool == tool), calls[0])
        calls.remove(call)
        if not calls:
            del waiting[id]
        answered[id] = call
        if call.tool != tool and type(tool) is str:
            yield Finding("V035", (*path, "tool_name"), f"answers {_at(call.path)}, a call of {_quoted(call.tool)}, as {_quoted(tool)}")
        if call.broken:
            yield _broken("V039" if part.get("part_kind") == "retry-prompt" else "V038", call)
    elif id in answered:
        yield Finding("V033", here, f"the call {_at(answered[id].path)} is answered already")
    else:
        hint = nearest(id, waiting)
        if not hint:
            same = next((calls[0] for calls in waiting.values() if calls[0].tool == tool), None)
            hint = f"; {short(same.id)} of the same tool waits for an answer" if same else ""
        yield Finding("V032", here, f"no call of the response before it has the id {short(id)}{hint}")


def _unanswered(code: str, call: _Call, why: str) -> Iterator[Finding]:
    yield Finding(code, (*call.path, "tool_call_id"), f"the call of {_quoted(call.tool)} is {why}")
    if call.broken:
        yield _broken("V038", call)


def _broken(code: str, call: _Call) -> Finding:
    return Finding(code, (*call.path, "args"), "a text that is not a JSON object; expected one, as {} or an object itself")


def _check_id(path: Path, part: dict[str, Any]) -> Iterator[Finding]:
    if "tool_call_id" not in part:
        yield Finding("V037", (*path, "tool_call_id"), "`tool_call_id` is missing: every load makes up another id, and call and answer part")
    elif type(part["tool_call_id"]) is str and not _ID.fullmatch(part["tool_call_id"]):
        yield Finding("V036", (*path, "tool_call_id"), f"{short(part['tool_call_id'])}: Anthropic takes letters, digits, `_` and `-`")


def _key(value: Any) -> Any:
    return value if type(value) is str else None


def _quoted(tool: Any) -> str:
    return f"`{tool[:60]}`" if type(tool) is str else "no tool"


def _at(path: Path, *more: int) -> str:
    from reducer.validate.finding import written

    return written((*path, *more))
