"""Stored histories compared with `json.loads` of the same bytes. The target is twice its speed if no rule matches.

`python -m pytest tests/benchmarks --benchmark-only` measures each row of the speed table in the README:

- recorded histories with the rules that users run, and without a matching rule: `test_recorded`
- stored histories, every return shortened by a plain function: `test_synthetic`, and `test_real` with matching rules
- stored session histories: `test_sessions`
- stored histories of other libraries: `test_formats`, at least 1.5 times as fast as `json.loads` if no rule matches
- the top 20 of 200 records: `test_structural_rules` in `test_engine.py`
- an agent: `test_agent.py`
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.histories.stored import reduce_json
from tests.benchmarks.inputs import records
from tests.histories.messages import TURNS

CONTENTS = {"records": records(150), "articles": ["Ein längerer Artikel über nichts. " * 300] * 10}


def shorter(tool: str, content: Any) -> Any:
    """Keep 400 characters of a text or 20 items of a list."""
    limit = 400 if isinstance(content, str) else 20
    return content if isinstance(content, dict) or len(content) <= limit else content[:limit]


def repeated(megabytes: int, turn: list[dict[str, Any]]) -> bytes:
    """Return a history of the given size that repeats a turn, each time with another call id."""
    text = json.dumps(turn, ensure_ascii=False)[1:-1]
    turns = (text.replace("call_id_0", f"call_id_{n}") for n in range(megabytes * 1_000_000 // len(text) + 1))
    return f"[{','.join(turns)}]".encode()


def for_each(call: Callable[[bytes], Any]) -> Callable[[list[bytes]], None]:
    """Return a function that calls another one for each file, and keeps no result."""

    def run(files: list[bytes]) -> None:
        for data in files:
            call(data)

    return run


def check(compare: Callable[..., None], name: str, files: list[bytes], applies: bool = True) -> None:
    """Print the speed of reducing as a ratio to the speed of `json.loads`."""
    megabytes = sum(map(len, files)) / 1e6
    contenders = {
        "json.loads": for_each(json.loads),
        "reduce_json": for_each(partial(reduce_json, reduce=shorter, applies=lambda tool: applies)),
    }
    compare(f"{name}, {megabytes:.1f} MB", contenders, lambda: files, rounds=3 if megabytes > 40 else 12)


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("megabytes", [5, 50])
def test_synthetic(compare: Callable[..., Any], megabytes: int, kind: str) -> None:
    common = {"tool_name": "explore", "tool_call_id": "call_id_0"}
    response = {"parts": [{**common, "args": {"n": 1}, "part_kind": "tool-call"}], "kind": "response"}
    returned = {**common, "content": CONTENTS[kind], "outcome": "success", "part_kind": "tool-return"}
    check(compare, kind, [repeated(megabytes, [response, {"parts": [returned], "kind": "request"}])])


@pytest.mark.parametrize("applies", [True, False], ids=["matching rules", "no matching rule"])
@pytest.mark.parametrize("source", ["agentdojo", "secrl", "secrl_large", "sweagent", "toolbench", "*"])
def test_real(compare: Callable[..., Any], data: Path, source: str, applies: bool) -> None:
    files = [file.read_bytes() for file in sorted((data / "histories").glob(f"{source}/*.json"))]
    check(compare, f"{source}{'' if applies else ' without a matching rule'}", files, applies)


@cache
def load(*sources: str) -> Reducer:
    """Return a `Reducer` with built-in rules."""
    return Reducer.load(*sources)


@pytest.mark.data
@pytest.mark.parametrize("source", ["agentdojo", "secrl", "secrl_large", "sweagent", "toolbench", "*"])
def test_recorded(compare: Callable[..., Any], data: Path, source: str) -> None:
    folders = sorted((data / "histories").glob(f"{source}/"))
    files: list[bytes] = []
    for folder in folders:
        files += [file.read_bytes() for file in sorted(folder.glob("*.json"))[:8]]
    built_in, general = load("builtin"), load("builtin", "builtin:general")
    no_rule = partial(reduce_json, reduce=shorter, applies=lambda tool: False)
    contenders = {
        "json.loads": for_each(json.loads),
        "no matching rule": for_each(no_rule),
        "built-in rules": for_each(partial(built_in.reduce_json, references=False)),
        "built-in rules with references": for_each(built_in.reduce_json),
        "with general": for_each(partial(general.reduce_json, references=False)),
        "with general and references": for_each(general.reduce_json),
    }
    compare(f"recorded, {source}", contenders, lambda: files, rounds=5)


@pytest.mark.parametrize("applies", [True, False], ids=["matching rules", "no matching rule"])
@pytest.mark.parametrize("name", TURNS)
def test_formats(compare: Callable[..., Any], name: str, applies: bool) -> None:
    content = records(150) if name == "vercel_ai" else json.dumps(records(150))
    history = repeated(5, TURNS[name]("call_id_0", content))
    check(compare, f"{name}{'' if applies else ' without a matching rule'}", [history], applies)


@pytest.mark.parametrize("raw", [False, True], ids=["endpoint", "stored"])
@pytest.mark.parametrize(("megabytes", "count"), [(1, 2), (5, 150), (50, 150)])
def test_sessions(compare: Callable[..., Any], megabytes: int, count: int, raw: bool) -> None:
    content = records(count)
    result = {"name": "explore", "content": json.dumps(content), "is_error": False, "call_id": "call_id_0"}
    request = {"type": "tool_request", "tools": [{"name": "explore", "arguments": {"n": 1}, "id": "call_id_0"}]}
    legacy = [request, {"type": "tool_result", "results": [result]}]
    parts = [{**one, "activity_type": one["type"], "type": "activity", "content": None} for one in legacy]
    if raw:
        parts[1]["technical_details"] = {"function_name": "explore", "raw_result": content, "status": "success"}
    message = {"role": "assistant", "parts": parts, "activity_parts": legacy, "interaction_id": "call_id_0"}
    name = f"a session history, answers of {count} records{', raw results' if raw else ''}"
    check(compare, name, [repeated(megabytes, [{"role": "user", "parts": []}, message])])
