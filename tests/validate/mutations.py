"""A history with one thing changed, for everything that PydanticAI may refuse."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

TIME = "2025-01-01T00:00:02.123456Z"


def call(id: str, tool: str = "t", args: Any = None) -> dict[str, Any]:
    return {"tool_name": tool, "args": {} if args is None else args, "tool_call_id": id, "part_kind": "tool-call"}


def answer(id: str, tool: str = "t", content: Any = "x") -> dict[str, Any]:
    return {"tool_name": tool, "content": content, "tool_call_id": id, "timestamp": TIME, "part_kind": "tool-return"}


def prompt(content: Any = "hi") -> dict[str, Any]:
    return {"content": content, "timestamp": TIME, "part_kind": "user-prompt"}


def request(*parts: Any) -> dict[str, Any]:
    return {"parts": list(parts), "instructions": None, "kind": "request"}


def response(*parts: Any) -> dict[str, Any]:
    return {"parts": list(parts), "usage": {"input_tokens": 1, "details": {}}, "model_name": "m", "timestamp": "2025-01-01T00:00:01Z", "kind": "response"}


HISTORY: list[dict[str, Any]] = [
    request({"content": "be brief", "timestamp": TIME, "dynamic_ref": None, "part_kind": "system-prompt"}, prompt()),
    response({"content": "sure", "part_kind": "text"}, call("tool_0_t", args='{"a":1}')),
    request(answer("tool_0_t", content={"x": 1})),
    response(call("tool_0_t")),
    request({"content": "bad", "tool_name": "t", "tool_call_id": "tool_0_t", "timestamp": TIME, "part_kind": "retry-prompt"}),
    response({"content": "done", "part_kind": "text"}),
]
"""What every version takes. The call id comes back, as it does with providers that number calls."""

_GONE = object()
_BINARY = {"data": "aGk=", "media_type": "image/png", "kind": "binary"}
_TIMES = (
    None, "2025-01-01T00:00:00", "2025-01-01 00:00:00Z", "2025-01-01", 1735689600, "1735689600", 1735689600.5, "yesterday", "2025-13-01T00:00:00Z",
    "2025-01-01T00:00:00+02:00", "2025-01-01T00:00:00+0000", "2025-01-01T00:00:00.123456789Z", "2025-01-01T00:00Z", "2025-01-01T00:00:00,5Z",
    "2025-01-01t00:00:00z", "20250101T000000Z", "", "2025-01-01T00:00:60Z", "2025-01-01T24:00:00Z", "2025-02-30T00:00:00Z", True, [],
    "2025-02-20T00:00:00+02", "0000-02-20T00:00:00Z", "2025-2-20T00:00:00Z", 1e20, "２０２５-01-01T00:00:00Z",
)  # fmt: skip
_USER_CONTENTS: tuple[Any, ...] = (
    None, 5, _GONE, [], ["a", {"url": "https://e.org/a.png", "kind": "image-url"}, _BINARY], {"a": 1}, ["a", {"url": "https://e.org/a.png"}], ["a", None],
    ["a", 4], [{"kind": "image-url"}], [{"kind": "binary", "data": "aGk="}], [{"kind": "binary", "media_type": "image/png"}], [{**_BINARY, "data": "a"}],
    [{**_BINARY, "data": "a+k_"}], [{**_BINARY, "data": "aGk"}], [{**_BINARY, "data": "-_-_"}], [{**_BINARY, "data": ""}], [{**_BINARY, "data": "aGk=\n"}],
    [{"kind": "video-url", "url": "x"}], [{"kind": "uploaded-file", "file_id": "x", "provider_name": "openai"}], [{"kind": "cache-point"}],
    [{"kind": "text-content", "content": "x"}], "", [""],
)  # fmt: skip
_SMALL: dict[tuple[Any, ...], tuple[Any, ...]] = {
    (0,): ("x", None), (0, "kind"): (_GONE, "requests", None, []), (0, "parts"): (_GONE, None, [], {}),
    (0, "parts", 0): ("x", call("q"), {"content": "x", "part_kind": "text"}),
    (0, "parts", 0, "part_kind"): (_GONE, None, []), (0, "parts", 0, "content"): (None, ["a"], 5), (0, "parts", 0, "dynamic_ref"): (3,),
    (0, "parts", 1, "content"): _USER_CONTENTS, (0, "parts", 1, "timestamp"): (_GONE, *_TIMES),
    (0, "timestamp"): (None, "x"), (0, "instructions"): (5, ["a"], "x", _GONE), (0, "run_id"): (5,), (0, "metadata"): ("x",), (0, "state"): ("zz", None),
    (1, "parts", 0): (
        prompt(), answer("c9"), {"content": "x", "part_kind": "thinking"}, {"content": None, "part_kind": "thinking"}, {"part_kind": "compaction"},
        {**call("b1"), "part_kind": "builtin-tool-call"}, {"content": _BINARY, "part_kind": "file"}, {"content": "x", "part_kind": "speech"},
        {"content": {**_BINARY, "data": "%%%"}, "part_kind": "file"}, {"content": None, "part_kind": "file"},
    ),
    (1, "parts", 0, "content"): (_GONE, None, 1, "", ["a"]), (1, "parts", 0, "id"): (3,), (1, "parts", 0, "zzz"): (1,),
    (1, "parts", 1, "tool_name"): (_GONE, None, 1, ""), (1, "parts", 1, "tool_call_id"): (_GONE, None, 1), (1, "parts", 1, "tool_kind"): ("tool-search",),
    (1, "parts", 1, "args"): (_GONE, None, "", [1], 1, {"args_json": "{}"}), (1, "timestamp"): (_GONE, None), (1, "model_name"): (5, _GONE),
    (1, "usage"): (
        _GONE, None, 5, {"foo": 1}, {"input_tokens": None}, {"input_tokens": "a"}, {"input_tokens": "5"}, {"input_tokens": 1.5}, {"input_tokens": -1},
        {"details": {"a": "b"}}, {"details": {"a": None}}, {"details": []}, {"details": None}, {"details": 3},
        {"requests": 1, "request_tokens": None, "response_tokens": None, "total_tokens": None, "details": None},
    ),
    (1, "vendor_id"): ("x",), (1, "vendor_details"): ({"a": 1}, "x"), (1, "provider_details"): ("x",), (1, "provider_response_id"): (4,),
    (1, "finish_reason"): ("whatever", "tool_call", None), (1, "state"): ("zz",), (1, "zzz"): (1,),
    (2, "parts", 0, "tool_name"): (_GONE, None), (2, "parts", 0, "tool_call_id"): (_GONE, None, 7), (2, "parts", 0, "tool_kind"): ("zz", "tool-search", None),
    (2, "parts", 0, "content"): (_GONE, None, [1, None], {"kind": "image-url", "url": "x"}, {"kind": "image-url"}, [{"kind": "binary", "data": "%"}]),
    (2, "parts", 0, "outcome"): ("meh", None, "retried", "denied", "interrupted"), (2, "parts", 0, "metadata"): ("x", None),
    (4, "parts", 0, "tool_name"): (_GONE, None, 3), (4, "parts", 0, "tool_call_id"): (_GONE, None),
    (4, "parts", 0, "content"): (
        _GONE, None, ["a"], {"a": 1}, 3, [{"type": "missing", "loc": ["a"], "msg": "m", "input": 1}], [{"type": "missing", "loc": ["a"], "msg": "m"}],
        [{"type": "missing", "loc": ["a"], "input": 1}],
    ),
}  # fmt: skip


def mutations() -> Iterator[tuple[str, Any]]:
    """Give each history with a name for it."""
    yield "unchanged", HISTORY
    yield "empty", []
    for path, values in _SMALL.items():
        for value in values:
            whole: Any = copy.deepcopy(HISTORY)
            inner = whole
            for step in path[:-1]:
                inner = inner[step]
            if value is _GONE:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield f"{path} {'gone' if value is _GONE else json.dumps(value)[:40]}", whole
