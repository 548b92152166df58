"""Stored histories against `json.loads` of the same bytes; the target is twice its speed where no rule matches."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from reducer.histories.stored import reduce_json


def shorter(tool: str, content: Any) -> Any:
    """Keep 400 characters of a text, 20 items of a list."""
    most = 400 if isinstance(content, str) else 20
    return content if isinstance(content, dict) or len(content) <= most else content[:most]


def record(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "hostname": f"host-{number}.example.com",
        "address": f"10.{number % 250}.{number % 13}.{number % 200}",
        "last_seen": "2026-01-01T00:00:00Z",
        "risk": "high" if number % 7 else "low",
        "score": number * 0.37,
        "tags": ["botnet", "tor", "scanner"],
        "active": True,
        "owner": None,
        "asn": 64512 + number,
        "country": "DE",
        "note": "Seen in a scan of the whole network, one of many. " * 2,
    }


def synthetic(megabytes: int, what: str) -> bytes:
    """Write a history, most of it returns of 50-100 kB with `records`, `articles` or both in turn."""
    contents: list[Any] = [[record(number) for number in range(200)], ["Ein längerer Artikel über nichts. " * 300] * 10]
    contents = {"records": contents[:1], "articles": contents[1:], "both": contents}[what]
    common: dict[str, Any] = {"tool_name": "explore", "tool_call_id": "tool_0_explore"}
    returned = {"metadata": None, "timestamp": "2026-01-01T00:00:04Z", "outcome": "success", "part_kind": "tool-return"}
    call = {**common, "args": {"n": 1}, "part_kind": "tool-call"}
    turns: list[str] = []
    for content in cycle(contents):
        response = {"parts": [call], "usage": {"input_tokens": 5, "output_tokens": 7}, "kind": "response"}
        request = {"parts": [{**common, "content": content, **returned}], "instructions": None, "kind": "request"}
        turns.append(json.dumps([response, request], separators=(",", ":"), ensure_ascii=False)[1:-1])
        if sum(map(len, turns)) >= megabytes * 1_000_000:
            return f"[{','.join(turns)}]".encode()
    raise AssertionError


def sessions(megabytes: int, records: int, raw: bool) -> bytes:
    """Write a session history whose answers are `records` as JSON text, each in `parts` and in `activity_parts`; `raw`
    adds the raw results.
    """
    messages: list[dict[str, Any]] = []
    size = 0
    while size < megabytes * 1_000_000:
        content = [record(number) for number in range(records)]
        call_id = f"call_{len(messages)}"
        result = {"name": "explore", "content": json.dumps(content), "is_error": False, "call_id": call_id}
        tool = {"name": "explore", "arguments": {"n": 1}, "id": call_id}
        common = {"source": "agent", "timestamp": "2026-01-22T21:48:52.498078", "display_info": {"icon": "✅"}}
        legacy = [
            {"type": "tool_request", **common, "tools": [tool]},
            {"type": "tool_result", **common, "results": [result]},
        ]
        parts = [{**one, "activity_type": one["type"], "type": "activity", "content": None} for one in legacy]
        if raw:
            parts[1]["technical_details"] = {"function_name": "explore", "raw_result": content, "status": "success"}
        ids = {"text_content": None, "interaction_id": call_id}
        message = {"role": "assistant", "parts": parts, "activity_parts": legacy, **ids}
        messages += [{"role": "user", "parts": [], **ids}, message]
        size += len(json.dumps(message))
    return json.dumps(messages, ensure_ascii=False).encode()


def check(compare: Callable[..., dict[str, float]], name: str, files: list[bytes], applies: bool = True) -> None:
    def reduce(files: list[bytes]) -> None:
        for data in files:
            reduce_json(data, shorter, applies=lambda tool: applies)

    contenders = {
        "json.loads": (lambda files: [json.loads(data) and None for data in files], lambda: files),
        "reduce_json": (reduce, lambda: files),
    }
    megabytes = sum(map(len, files)) / 1e6
    compare(f"{name}, {megabytes:.1f} MB", contenders, rounds=3 if megabytes > 40 else 12)


@pytest.mark.parametrize("what", ["records", "articles", "both"])
@pytest.mark.parametrize("megabytes", [5, 50])
def test_synthetic(compare: Callable[..., Any], megabytes: int, what: str) -> None:
    check(compare, what, [synthetic(megabytes, what)])


@pytest.mark.parametrize("applies", [True, False], ids=["matching rules", "no matching rule"])
@pytest.mark.parametrize(
    "source", ["agentdojo", "livemcp", "secrl", "secrl_large", "sweagent", "tau_airline", "toolbench", "*"]
)
def test_real(compare: Callable[..., Any], data: Path, source: str, applies: bool) -> None:
    files = [file.read_bytes() for file in sorted((data / "histories").glob(f"{source}/*.json"))]
    check(compare, f"{source}{'' if applies else ' without a matching rule'}", files, applies)


@pytest.mark.parametrize("raw", [False, True], ids=["endpoint", "stored"])
@pytest.mark.parametrize(("megabytes", "records"), [(1, 2), (5, 150), (50, 150)])
def test_sessions(compare: Callable[..., Any], megabytes: int, records: int, raw: bool) -> None:
    name = f"a session history, answers of {records} records{', raw results' if raw else ''}"
    check(compare, name, [sessions(megabytes, records, raw)])
