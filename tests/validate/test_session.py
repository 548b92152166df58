"""Session histories: requests and results, copies, shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reducer.validate import validate


def asks(id: str) -> dict[str, Any]:
    return {"type": "activity", "activity_type": "tool_request", "tools": [{"name": "explore", "arguments": {}, "id": id}]}


def tells(id: str | None, content: Any = "[1]") -> dict[str, Any]:
    return {"type": "activity", "activity_type": "tool_result", "results": [{"name": "explore", "content": content, "is_error": False, "call_id": id}]}


def message(*parts: Any, older: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "text_content": "", "parts": list(parts), "activity_parts": older, "timestamp": "2025-06-01T12:00:00Z"}


USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": None}
CASES: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("sound", [USER, message(asks("a"), tells("a"), older=[asks("a"), tells("a")])], []),
    ("ids come back", [USER, message(asks("a"), tells("a")), USER, message(asks("a"), tells("a"))], []),
    ("without an id", [USER, message(tells(None))], []),
    ("one document", message(asks("a"), tells("a")), []),
    ("a wrapper", {"messages": [USER, message(tells("a"))]}, [("V061", "messages[1].parts[0].results[0].call_id")]),
    ("no request", [USER, message(asks("b"), tells("b"), tells("a"))], [("V061", "[1].parts[2].results[0].call_id")]),
    ("no result", [USER, message(asks("a"))], [("V062", "[1].parts[0].tools[0].id")]),
    ("copies differ", [message(asks("a"), tells("a"), older=[tells("a", "[2]")])], [("V063", "[0].activity_parts[0].results[0].content")]),
    ("no role", [USER, {"text_content": ""}, 3], [("V060", "[1]"), ("V060", "[2]")]),
    ("no list", [message({"type": "activity", "results": {}}, 3)], [("V064", "[0].parts[0].results"), ("V064", "[0].parts[1]")]),
    ("no results", [message({"type": "activity", "activity_type": "tool_result", "results": None})], []),
    ("content that is an object", [message(asks("a"), tells("a", {"b": 1}))], [("V065", "[0].parts[1].results[0].content")]),
]


@pytest.mark.parametrize(("history", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_session_histories(history: Any, expected: list[tuple[str, str]]) -> None:
    assert [(finding.code, finding.place) for finding in validate(json.dumps(history).encode())] == expected
