"""Stored messages of PydanticAI and of session histories, and a plain reducer of contents, for tests."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from reducer.values import is_media, plain, shown

TIME = "2025-01-01T00:00:02.123456Z"


def call(id: str, tool: str = "t", args: Any = None) -> dict[str, Any]:
    return {"tool_name": tool, "args": {} if args is None else args, "tool_call_id": id, "part_kind": "tool-call"}


def answer(id: str, tool: str = "t", content: Any = "x") -> dict[str, Any]:
    return {"tool_name": tool, "content": content, "tool_call_id": id, "timestamp": TIME, "part_kind": "tool-return"}


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
"""A history without findings. Its call id comes back, as it does with providers that number calls."""


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


def requests(id: str) -> dict[str, Any]:
    return {"type": "activity", "activity_type": "tool_request", "tools": [{"name": "t", "arguments": {}, "id": id}]}


def results(id: str | None, content: Any = "[1]", tool: str = "t") -> dict[str, Any]:
    result = {"name": tool, "content": content, "is_error": False, "call_id": id}
    return {"type": "activity", "activity_type": "tool_result", "results": [result]}


def session(*parts: Any, older: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "text_content": "", "parts": list(parts), "activity_parts": older}


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
