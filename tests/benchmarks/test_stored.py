"""Stored histories against `json.loads` of the same bytes; the target is twice its speed where no rule matches.

`python -m pytest tests/benchmarks/test_stored.py -o addopts= --benchmark-only -s` prints a line for each, measured in
turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter
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


def reduce(data: bytes) -> bytes:
    return reduce_json(data, shorter)


def reduce_nothing(data: bytes) -> bytes:
    return reduce_json(data, shorter, applies=lambda tool: False)


def best(files: list[bytes], rounds: int, run: Callable[[bytes], bytes]) -> tuple[float, float]:
    """Time `json.loads` and `reduce_json` in turn, file by file; the sums of each file's best seconds."""
    sums = [0.0, 0.0]
    for data in files:
        times: list[list[float]] = [[], []]
        for _ in range(rounds):
            for index, read in enumerate((json.loads, run)):
                start = perf_counter()
                read(data)
                times[index].append(perf_counter() - start)
        sums[0] += min(times[0])
        sums[1] += min(times[1])
    return sums[0], sums[1]


def report(benchmark: Any, name: str, files: list[bytes], rounds: int, run: Callable[[bytes], bytes] = reduce) -> None:
    loads, reduced = best(files, rounds, run)
    megabytes = sum(map(len, files)) / 1e6
    benchmark.extra_info["speed of json.loads"] = ratio = round(loads / reduced, 2)
    print(f"\n{name}: {megabytes:.1f} MB, {megabytes / reduced:.0f} MB/s, {ratio:.2f} of json.loads", end="")
    benchmark.pedantic(lambda: [run(data) for data in files] and None, rounds=3)


@pytest.mark.parametrize("what", ["records", "articles", "both"])
@pytest.mark.parametrize("megabytes", [5, 50])
def test_synthetic(benchmark: Any, megabytes: int, what: str) -> None:
    report(benchmark, f"{megabytes} MB of {what}", [synthetic(megabytes, what)], 12 if megabytes == 5 else 3)


@pytest.mark.parametrize(
    "source", ["agentdojo", "livemcp", "secrl", "secrl_large", "sweagent", "tau_airline", "toolbench", "*"]
)
def test_real(benchmark: Any, data: Path, source: str) -> None:
    files = [file.read_bytes() for file in sorted((data / "histories").glob(f"{source}/*.json"))]
    report(benchmark, "all of them" if source == "*" else source, files, 12 if source == "*" else 40)


def test_real_without_a_matching_rule(benchmark: Any, data: Path) -> None:
    files = [file.read_bytes() for file in sorted((data / "histories").glob("*/*.json"))]
    report(benchmark, "all of them without a matching rule", files, 12, reduce_nothing)


@pytest.mark.parametrize("raw", [False, True], ids=["endpoint", "stored"])
@pytest.mark.parametrize(("megabytes", "records"), [(1, 2), (5, 150), (50, 150)])
def test_sessions(benchmark: Any, megabytes: int, records: int, raw: bool) -> None:
    name = f"{megabytes} MB of a session history, answers of {records} records{', raw results' if raw else ''}"
    report(benchmark, name, [sessions(megabytes, records, raw)], 3 if megabytes == 50 else 12)
