"""The checklist: what PydanticAI refuses is found, and what it takes is no error."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.validate import CODES, Finding, validate
from tests.validate.mutations import HISTORY, answer, call, mutations, prompt, request, response

LOADING = {code for code, entry in CODES.items() if entry.refused_by in ("PydanticAI", "every reader")}


def found(history: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.place) for finding in validate(json.dumps(history).encode())]


MUTATIONS = list(mutations())


@pytest.mark.skipif(version("pydantic-ai-slim").startswith("1."), reason="2.x takes values that 1.x did not know, and checks fields that 1.x did not have")
@pytest.mark.parametrize(("name", "history"), MUTATIONS, ids=[name for name, _ in MUTATIONS])
def test_what_pydantic_ai_refuses_is_an_error_and_nothing_else_is(name: str, history: Any) -> None:
    from pydantic import ValidationError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    stored = json.dumps(history).encode()
    try:
        ModelMessagesTypeAdapter.validate_json(stored)
        loads = True
    except ValidationError:
        loads = False
    refused = {finding.code for finding in validate(stored)} & LOADING
    assert bool(refused) is not loads, refused


def test_a_sound_history_has_no_findings() -> None:
    assert found(HISTORY) == []


CALLS = [
    ("answered", [request(prompt()), response(call("a"), call("b")), request(answer("b")), request(answer("a"))], []),
    ("ids come back", [request(prompt()), response(call("a")), request(answer("a")), response(call("a")), request(answer("a"))], []),
    ("any id", [request(prompt()), response(call("tool_0_t")), request(answer("tool_0_t"))], []),
    ("an odd id", [request(prompt()), response(call("a.b:0")), request(answer("a.b:0"))],
     [("V036", "[1].parts[0].tool_call_id"), ("V036", "[2].parts[0].tool_call_id")]),
    ("not answered", [request(prompt()), response(call("a"), call("b")), request(answer("b")), response(call("b")), request(answer("b"))],
     [("V030", "[1].parts[0].tool_call_id")]),
    ("open at the end", [request(prompt()), response(call("a"))], [("V031", "[1].parts[0].tool_call_id")]),
    ("no call", [request(prompt(), answer("a"))], [("V032", "[0].parts[1].tool_call_id"), ("V045", "[0].parts[1]")]),
    ("a call before the last response", [request(prompt()), response(call("a")), request(answer("a")), response(call("b")), request(answer("b"), answer("a"))],
     [("V032", "[4].parts[1].tool_call_id")]),
    ("twice", [request(prompt()), response(call("a")), request(answer("a"), answer("a"))], [("V033", "[2].parts[1].tool_call_id")]),
    ("one id for two", [request(prompt()), response(call("a"), call("a")), request(answer("a"), answer("a"))], [("V034", "[1].parts[1].tool_call_id")]),
    ("another tool", [request(prompt()), response(call("a")), request(answer("a", "u"))], [("V035", "[2].parts[0].tool_name")]),
    ("broken args", [request(prompt()), response(call("a", args='{"b":')), request(answer("a"))], [("V038", "[1].parts[0].args")]),
    ("args of a list", [request(prompt()), response(call("a", args="[1]")), request(answer("a"))], [("V038", "[1].parts[0].args")]),
    ("broken args that a retry answers", [request(prompt()), response(call("a", args='{"b":')), request({**answer("a"), "part_kind": "retry-prompt"})],
     [("V039", "[1].parts[0].args")]),
    ("a retry of a text", [request(prompt()), response({"part_kind": "text", "content": "a"}), request({"part_kind": "retry-prompt", "content": "b"})], []),
    ("two responses", [request(prompt()), response({"part_kind": "text", "content": "a"}), response({"part_kind": "text", "content": "b"})], [("V040", "[2]")]),
    ("two responses with calls", [request(prompt()), response(call("a")), response(call("b")), request(answer("a"), answer("b"))], [("V041", "[2]")]),
    ("two requests", [request(prompt()), request(prompt())], [("V042", "[1].parts[0]")]),
    ("a response first", [response({"part_kind": "text", "content": "a"})], [("V043", "[0]")]),
    ("a late system prompt", [request(prompt(), {"part_kind": "system-prompt", "content": "a"})], [("V044", "[0].parts[1]")]),
    ("no parts", [request()], [("V012", "[0].parts")]),
    ("an empty prompt", [request(prompt(["a", ""]))], [("V050", "[0].parts[0].content[1]")]),
    ("an unknown part", [request({"part_kind": "tool-retrun"})], [("V015", "[0].parts[0].part_kind")]),
    ("an unknown item", [request(prompt([{"kind": "img-url", "url": "x"}]))], [("V015", "[0].parts[0].content[0].kind")]),
    ("a built-in return", [request(prompt()), response({**answer("a"), "part_kind": "builtin-tool-return"})], [("V046", "[1].parts[0].tool_call_id")]),
    ("no zone", [request({**prompt(), "timestamp": "2025-01-01T00:00:00"})], [("V021", "[0].parts[0].timestamp")]),
    ("too fine", [request({**prompt(), "timestamp": "2025-01-01T00:00:00.1234567Z"})], [("V022", "[0].parts[0].timestamp")]),
    ("one message", response(call("a")), []),
    ("a wrapper", {"id": 7, "run": {"messages": [request(prompt()), response(call("a"))]}}, [("V031", "run.messages[1].parts[0].tool_call_id")]),
    ("an empty wrapper", {"messages": []}, []),
    ("no history", {"a": [1]}, [("V003", "@")]),
]  # fmt: skip


@pytest.mark.parametrize(("history", "expected"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_calls_order_and_wrappers(history: Any, expected: list[tuple[str, str]]) -> None:
    assert sorted(found(history)) == sorted(expected)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (b"", Finding("V002", (), "empty: expected a list of messages", 1, 1)),
        (b"[\n{\xff}]", Finding("V001", (), "not UTF-8 text: byte 0xff", 2, 2)),
        (b'[\n{"kind": ,}]', Finding("V002", (), "not JSON: Expecting value", 2, 10)),
        (b'[{"kind": "requ', Finding("V002", (), "cut off: the text ends in the middle", 1, 11)),
        (b"[" * 100_000 + b"]" * 100_000, Finding("V004", (), "PydanticAI's reader of JSON refuses it: recursion limit exceeded", 1, 202)),
        (b"\xef\xbb\xbf[]", Finding("V004", (), "starts with a byte order mark: PydanticAI's reader takes none", 1, 1)),
        (b"3", Finding("V003", (), "no history: found the number 3, expected a list of messages, each an object with `kind` and `parts`", 1, 1)),
    ],
)
def test_what_is_no_history(stored: bytes, expected: Finding) -> None:
    assert validate(stored) == [expected]


def test_what_json_allows_and_readers_do_not() -> None:
    stored = b'[\n {"kind": "request",\n  "parts": [{"part_kind": "user-prompt", "content": "\\ud800", "x": NaN, "y": {"a": 1, "a": 2}}]}]'
    assert [(finding.code, finding.place, finding.line, finding.column) for finding in validate(stored)] == [
        ("V004", "@", 3, 60), ("V006", "[0].parts[0].x", 3, 68), ("V005", "[0].parts[0].y", 3, 78),
    ]  # fmt: skip


def test_json_lines_are_checked_one_by_one() -> None:
    lines = [json.dumps({"messages": [request(prompt())]}), "", '{"a', json.dumps([response(call("a"))]), "[1]"]
    assert [(finding.code, finding.place, finding.line) for finding in validate("\n".join(lines).encode())] == [
        ("V002", "@", 3), ("V043", "[0]", 4), ("V031", "[0].parts[0].tool_call_id", 4), ("V003", "@", 5),
    ]  # fmt: skip


def test_messages_name_what_was_expected() -> None:
    history = [{"kind": "reqest", "parts": []}, request({"part_kind": "tool-return", "tool_nam": "t", "content": 1, "tool_call_id": "a"})]
    messages = [finding.message for finding in validate(json.dumps(history).encode())]
    assert messages[0] == 'found the text "reqest", expected `request` or `response`; did you mean `request`?'
    assert "`tool_name` is missing: expected a text; did you mean `tool_nam`?" in messages
    history = [request(prompt()), response(call("call_7")), request(answer("call_8"))]
    messages = [finding.message for finding in validate(json.dumps(history).encode())]
    assert 'no call of the response before it has the id "call_8"; did you mean `call_7`?' in messages


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=9), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(("kind", "parts", "part_kind", "content", "messages", "usage", "timestamp", "tool_call_id", "args", "x")),
    inner | st.sampled_from(("request", "response", "tool-return", "tool-call", "user-prompt", "retry-prompt", "file", "binary")))))  # fmt: skip
def test_any_json_gives_findings_at_places_in_the_text(value: Any) -> None:
    found = list(validate(json.dumps(value).encode()))
    assert found or type(value) in (list, dict)
    for finding in found:
        assert finding.code in CODES
        assert finding.line == 1
        assert finding.column >= 1


@given(st.binary(max_size=60))
def test_any_bytes_give_findings(stored: bytes) -> None:
    found = list(validate(stored))
    assert found or stored.strip() == b"[]"
    assert all(finding.line >= 1 for finding in found)


def test_real_histories_have_no_errors(data: Path) -> None:
    files = list((data / "histories").glob("*/*.json"))
    codes = {finding.code for file in files for finding in validate(file.read_bytes())}
    # Agents that ended by a call (`submit`, `Finish`), and ids with `#`.
    assert codes == {"V031", "V036"}
    assert len(files) > 100
