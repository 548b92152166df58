"""Stored messages of all formats, and a plain reducer of contents, for tests."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from reducer.histories.stored import Return, reduce_json, returns
from reducer.values import is_media, plain, shown

TIME = "2025-01-01T00:00:02.123456Z"


def call(call_id: str, tool: str = "t", args: Any = None) -> dict[str, Any]:
    return {"tool_name": tool, "args": {} if args is None else args, "tool_call_id": call_id, "part_kind": "tool-call"}


def answer(call_id: str, tool: str = "t", content: Any = "x") -> dict[str, Any]:
    return {
        "tool_name": tool,
        "content": content,
        "tool_call_id": call_id,
        "timestamp": TIME,
        "part_kind": "tool-return",
    }


def prompt(content: Any = "hi") -> dict[str, Any]:
    return {"content": content, "timestamp": TIME, "part_kind": "user-prompt"}


def text(content: str = "a") -> dict[str, Any]:
    return {"content": content, "part_kind": "text"}


def request(*parts: Any) -> dict[str, Any]:
    return {"parts": list(parts), "instructions": None, "kind": "request"}


def response(*parts: Any) -> dict[str, Any]:
    usage = {"input_tokens": 1, "details": {}}
    return {"parts": list(parts), "usage": usage, "model_name": "m", "timestamp": TIME, "kind": "response"}


HISTORY: list[dict[str, Any]] = [
    request({"content": "be brief", "timestamp": TIME, "dynamic_ref": None, "part_kind": "system-prompt"}, prompt()),
    response(text("sure"), call("tool_0_t", args='{"a":1}')),
    request(answer("tool_0_t", content={"x": 1})),
    response(call("tool_0_t")),
    request({**answer("tool_0_t", content="bad"), "part_kind": "retry-prompt"}),
    response(text("done")),
]
"""A history without findings. Its call call_id comes back, as it does with providers that number calls."""


def edited(value: Any, path: Sequence[str | int], new: Any = ...) -> Any:
    """Return a copy of JSON with the value at a path set, or removed."""
    holder = value = copy.deepcopy(value)
    for step in path[:-1]:
        holder = holder[step]
    if new is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return value


def requests(call_id: str) -> dict[str, Any]:
    return {
        "type": "activity",
        "activity_type": "tool_request",
        "tools": [{"name": "t", "arguments": {}, "id": call_id}],
    }


def results(call_id: str | None, content: Any = "[1]", tool: str = "t") -> dict[str, Any]:
    result = {"name": tool, "content": content, "is_error": False, "call_id": call_id}
    return {"type": "activity", "activity_type": "tool_result", "results": [result]}


def session(*parts: Any, older: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "text_content": "", "parts": list(parts), "activity_parts": older}


def openai_chat(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    called = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": call_id, "content": content},
    ]


def openai_responses(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    return [
        {"type": "function_call", "call_id": call_id, "name": tool, "arguments": "{}"},
        {"type": "function_call_output", "call_id": call_id, "output": content},
    ]


def anthropic(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": fails}
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": tool, "input": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "go on"}, result]},
    ]


def ag_ui(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    called = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [
        {"id": "m1", "role": "assistant", "toolCalls": [called]},
        {"id": "m2", "role": "tool", "toolCallId": call_id, "content": content, **({"error": "no"} if fails else {})},
    ]


def bedrock(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    blocks: Any = [{"json" if isinstance(content, dict) else "text": content}]
    if isinstance(content, list):
        blocks = [{"text": part["text"]} if isinstance(part, dict) and "text" in part else part for part in content]
    result = {"toolUseId": call_id, "content": blocks, "status": "error" if fails else "success"}
    return [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": call_id, "name": tool, "input": {}}}]},
        {"role": "user", "content": [{"text": "go on"}, {"toolResult": result}]},
    ]


def claude_code(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": fails}
    used = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    shown = content if isinstance(content, list) else {"stdout": content, "stderr": ""}
    answer = {"role": "user", "content": [result]}
    return [
        {"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "content": [used]}},
        {"type": "user", "sessionId": "s", "message": answer, "toolUseResult": shown},
    ]


def codex(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    items = openai_responses(call_id, content, tool)
    return [{"timestamp": TIME, "type": "response_item", "payload": item} for item in items]


def gemini(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    result = {"name": tool, "id": call_id, "response": {"error" if fails else "result": content}}
    return [
        {"role": "model", "parts": [{"functionCall": {"name": tool, "id": call_id, "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": result}]},
    ]


def langchain_dict(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    calls = [{"name": tool, "args": {}, "id": call_id, "type": "tool_call"}]
    result = {"type": "tool", "content": content, "tool_call_id": call_id, "status": "error" if fails else "success"}
    return [
        {"type": "ai", "data": {"type": "ai", "content": "", "additional_kwargs": {}, "tool_calls": calls}},
        {"type": "tool", "data": result},
    ]


def langchain_dumps(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    return [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": message["data"]}
        for name, message in zip(
            ("AIMessage", "ToolMessage"), langchain_dict(call_id, content, tool, fails), strict=True
        )
    ]


def langgraph(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    called, answer = langchain_dict(call_id, content, tool, fails)
    return [called["data"], answer["data"]]


def opentelemetry(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    result = {"type": "tool_call_response", "id": call_id, "name": tool, "result": content}
    return [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": call_id, "name": tool, "arguments": {}}]},
        {"role": "user", "parts": [result]},
    ]


def vercel_ai(call_id: Any, content: Any, tool: Any = "t", fails: bool = False) -> list[dict[str, Any]]:
    state = "output-error" if fails else "output-available"
    part = {"type": f"tool-{tool}", "toolCallId": call_id, "state": state, "input": {}, "output": content}
    return [{"id": "msg", "role": "assistant", "parts": [{"type": "step-start"}, part]}]


Turn = Callable[..., list[dict[str, Any]]]
TURNS: dict[str, Turn] = {
    turn.__name__: turn
    for turn in (
        openai_chat,
        openai_responses,
        anthropic,
        bedrock,
        claude_code,
        codex,
        gemini,
        ag_ui,
        langgraph,
        opentelemetry,
        langchain_dict,
        langchain_dumps,
        vercel_ai,
    )
}
"""Build a call and its return with an id and a content. Only some formats can say that a tool `fails`."""
OWN_NAMES = ("gemini", "opentelemetry", "vercel_ai")
"""Formats in which a return contains the name of its tool, so that it needs no id."""


def shorter(tool: str, content: Any) -> Any:
    """Keep two items of a list, five characters of a text, two items of each list in an object, and all media.

    Returns the same object if nothing is removed.
    """
    opened = shown(content)
    plain(opened)  # raises for contents that have no JSON form
    if isinstance(opened, str):
        return content if len(opened) <= 5 else opened[:5]
    if isinstance(opened, list):
        new: Any = _two_items(opened)
        return content if new is opened else new
    if not isinstance(opened, dict) or is_media(opened):
        return content
    before = {key: shown(value) for key, value in opened.items()}
    new = {key: _two_items(value) for key, value in before.items()}
    return content if all(new[key] is before[key] for key in new) else new


def _two_items(value: Any) -> Any:
    is_cut = isinstance(value, list) and len(value) > 2 and not any(map(_contains_media, value[2:]))
    return value[:2] if is_cut else value


def _contains_media(value: Any) -> bool:
    inner = shown(value)
    items = inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    return is_media(value) or any(map(_contains_media, items))


def reduced_returns(data: bytes) -> list[Return]:
    """Reduce a history, check that nothing but contents changes, and return the returns that change."""
    result = reduce_json(data, shorter)
    before, after = list(returns(data)), list(returns(result))
    assert [one._replace(copies=()) for one in before] == [one._replace(copies=()) for one in after]
    expected = [one.content if one.untouched else shorter(one.tool, one.content) for one in before]
    assert [one.content for one in after] == expected
    changed = [new is not one.content for one, new in zip(before, expected, strict=True)]
    spans = [[copy[1:3] for one in compress(side, changed) for copy in one.copies] for side in (before, after)]
    assert outside(data, spans[0]) == outside(result, spans[1])
    return list(compress(before, changed))


def outside(data: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
    """Return the pieces of a history between spans."""
    bounds = [0, *(bound for span in sorted(spans) for bound in span), len(data)]
    return [data[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
