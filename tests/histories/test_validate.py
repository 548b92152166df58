"""`validate`: everything that PydanticAI refuses is an error at its place, and a sound history has no findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from reducer.histories.validate import CODES, Finding, check, described
from reducer.paths.written import path_text
from tests.histories.messages import (
    HISTORY,
    answer,
    call,
    edited,
    prompt,
    request,
    requests,
    response,
    results,
    session,
    text,
)

LOADING = ("V001", "V002", "V003", "V010")


def found(history: Any) -> list[tuple[str, str, str]]:
    findings = check(json.dumps(history).encode())
    return [(finding.code, path_text(finding.path), finding.message) for finding in findings]


def refused(history: Any) -> bool:
    try:
        ModelMessagesTypeAdapter.validate_json(json.dumps(history))
    except ValidationError:
        return True
    return False


NUMBER = "found the number 5; input should be a valid string"
FIELDS = [
    ([{**request(), "kind": "reqest"}], "[0].kind", "found the text \"reqest\"; input should be 'request', 'response'"),
    ([request(), {"parts": [prompt()]}], "[1].kind", "`kind` is missing"),
    ([request(), 3], "[1]", "found the number 3; input should be an object"),
    ([request(), {"kind": "request"}], "[1].parts", "`parts` is missing"),
    ([request(), {"kind": "request", "parts": {}}], "[1].parts",
     "found an empty object; input should be a valid array"),
    ([request({})], "[0].parts[0].part_kind", "`part_kind` is missing"),
    ([request({**prompt(), "content": 5})], "[0].parts[0].content", f"{NUMBER} or a valid array"),
    ([request(prompt(["a", 5]))], "[0].parts[0].content[1]", f"{NUMBER} or an object"),
    ([request(prompt([{"kind": "image-url", "ur": "x"}]))], "[0].parts[0].content[0].url", "`url` is missing"),
    ([request(prompt()), response({**call("a"), "args": 5}), request(answer("a"))], "[1].parts[0].args",
     f"{NUMBER} or an object"),
    ([request(prompt()), {**response(), "usage": {"details": {"a": "b"}}}], "[1].usage.details.a",
     'found the text "b"; input should be a valid integer, unable to parse string as an integer'),
    *(([request({**prompt(), "part_kind": kind})], "[0].parts[0].part_kind",
       f"found {described(kind)}; input should be 'system-prompt', 'user-prompt', ")
      for kind in ("txt", "", "request", "text")),
]  # fmt: skip


@pytest.mark.parametrize(("history", "place", "message"), FIELDS, ids=range(len(FIELDS)))
def test_fields_that_pydantic_ai_refuses(history: Any, place: str, message: str) -> None:
    assert refused(history)
    [(code, at, words)] = found(history)
    assert (code, at) == ("V010", place)
    assert words.startswith(message) if message.endswith(", ") else words == message


def history(*messages: Any) -> list[Any]:
    return [request(prompt()), *messages]


NO_RETURN = "the call of `t` has no return yet"
NO_CALL = 'no call of the previous response has the id "call_8"'
NO_ID = {"tool_name": "t", "part_kind": "tool-call"}
BAD_ID = 'found "a.b"; Anthropic accepts letters, digits, `_` and `-`'
NOT_RESPONSE = "a request with more than tool returns follows a request; expected a response"
WORDS = "expected a list of messages, each an object with `kind` and `parts`"
USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": None}
HISTORIES = [
    (history(response(call("a"), call("b")), request(answer("b")), request(answer("a"))), []),
    (HISTORY, []),
    (history(response(call("a"), call("b")), request(answer("b")), response(call("b")), request(answer("b"))),
     [("V030", "[1].parts[0].tool_call_id", "the call of `t` has no return before the next response, [3]")]),
    (history(response(call("a"))), [("V031", "[1].parts[0].tool_call_id", NO_RETURN)]),
    ([request(answer("call_8"))], [("V032", "[0].parts[0].tool_call_id", NO_CALL)]),
    (history(response(call("call_7")), request(answer("call_8"))),
     [("V031", "[1].parts[0].tool_call_id", NO_RETURN),
      ("V032", "[2].parts[0].tool_call_id", f'{NO_CALL}; the call "call_7" of the same tool has no return')]),
    (history(response(call("a"), call("b")), request(answer("a"), answer("b"), answer("a"))),
     [("V033", "[2].parts[2].tool_call_id", "the call [1].parts[0] already has a return")]),
    (history(response(call("a"), call("a")), request(answer("a"), answer("a"))),
     [("V034", "[1].parts[1].tool_call_id", 'an earlier call of this response also has the id "a"')]),
    (history(response(call("a")), request(answer("a", "u"))),
     [("V035", "[2].parts[0].tool_name", "answers [1].parts[0], a call of `t`, with the tool name `u`")]),
    (history(response(call("a.b")), request({**answer("a.b"), "part_kind": "retry-prompt"})),
     [("V036", f"[{index}].parts[0].tool_call_id", BAD_ID) for index in (1, 2)]),
    (history(response(NO_ID)), [("V037", "[1].parts[0].tool_call_id",
                                 "`tool_call_id` is missing; PydanticAI generates a different id at every load")]),
    (history(response(text()), request({"part_kind": "retry-prompt", "content": "b"})), []),
    (history(response(text()), response(text())),
     [("V040", "[2]", "a response follows a response; expected a request")]),
    (history(response(text()), response(call("a")), request(answer("a"))),
     [("V041", "[2]", "a response with tool calls follows a response; expected a request")]),
    (history(request(prompt())), [("V042", "[1].parts[0]", NOT_RESPONSE)]),
    ([response(text())], [("V043", "[0]", "the first message is a response; expected a request")]),
    ([request(prompt(), {"part_kind": "system-prompt", "content": "a"})],
     [("V044", "[0].parts[1]", "a system prompt is not at the start")]),
    (history(response(call("a")), request(prompt(), answer("a"))),
     [("V045", "[2].parts[1]", "a tool return follows a prompt; expected it before the prompt")]),
    (response(call("a")), []),
    ({"run": {"messages": history(response(call("a")))}},
     [("V031", "run.messages[1].parts[0].tool_call_id", NO_RETURN)]),
    ({"hits": [{"_id": 1, "_source": request(prompt())}, {"_source": {**response(call("a")), "timestamp": True}}]},
     [("V031", "hits[1]._source.parts[0].tool_call_id", NO_RETURN),
      ("V010", "hits[1]._source.timestamp", "found true; input should be a valid datetime")]),
    ({"messages": []}, []),
    ([], []),
    ({"a": [1]}, [("V003", "@", f"not a history: found an object, {WORDS}")]),
    ([{"kind": "request"}], [("V003", "@", f"not a history: found a list of 1, {WORDS}")]),
    ([USER, session(requests("a"), results("a"), older=[requests("a"), results("a")]), session(results("a"))], []),
    ([USER, session(results(None), {"type": "activity", "results": None})], []),
    (session(requests("a"), results("a")), []),
    ({"messages": [USER, session(results("a"))]},
     [("V061", "messages[1].parts[0].results[0].call_id", 'no request before it has the id "a"')]),
    ([USER, session(requests("a"))], [("V062", "[1].parts[0].tools[0].id", 'the request "a" has no result')]),
    ([session(requests("a"), results("a"), older=[results("a", "[2]")])],
     [("V063", "[0].activity_parts[0].results[0].content", 'differs from the copy of "a" in `parts`')]),
    ([USER, {"text_content": ""}, 3],
     [("V060", place, "expected a message with a `role`") for place in ("[1]", "[2]")]),
    ([session({"type": "activity", "results": {}}, {"results": [{"name": "t", "call_id": 4}]})], []),
]  # fmt: skip


@pytest.mark.parametrize(("history", "expected"), HISTORIES, ids=range(len(HISTORIES)))
def test_calls_order_wrappers_and_session_histories(history: Any, expected: list[tuple[str, str, str]]) -> None:
    assert found(history) == expected


def test_many_forged_ids_take_little_time() -> None:
    many = range(10_000)
    forged = history(response(*(call(f"a{n}") for n in many)), request(*(answer(f"b{n}", "u") for n in many)))
    start = process_time()
    assert Counter(code for code, *_ in found(forged)) == {"V031": 10_000, "V032": 10_000}
    assert process_time() - start < 5  # 8 s if every return is compared with every call


CANNOT = "PydanticAI cannot parse the JSON: "
BYTES = [
    (b"", "V002", f"{CANNOT}the text ends while parsing a value", 1, 1),
    (b"[\n{\xc3\xa9\xff}]", "V001", "byte 0xff is not UTF-8 text", 2, 3),
    (b'[\n{"\xc3\xa9": ,}]', "V002", f"{CANNOT}expected value", 2, 7),
    (b'[{"kind": "requ', "V002", f"{CANNOT}the text ends while parsing a string", 1, 15),
    (b'["a\nb"]', "V002", f"{CANNOT}control character (\\u0000-\\u001F) found while parsing a string", 2, 1),
    (b"[" * 100_000, "V002", f"{CANNOT}recursion limit exceeded", 1, 202),
    (b"\xef\xbb\xbf[]", "V002", f"{CANNOT}starts with a byte order mark", 1, 1),
    (b'[\n "\\ud800\\u0041"]', "V002", f"{CANNOT}lone leading surrogate in hex escape", 2, 14),
    (b"[" + b"1" * 5_000 + b"]", "V002", f"{CANNOT}number out of range", 1, 4303),
]  # fmt: skip


@pytest.mark.parametrize(("stored", "code", "message", "line", "column"), BYTES, ids=[code[1][:40] for code in BYTES])
def test_text_that_is_not_json(stored: bytes, code: str, message: str, line: int, column: int) -> None:
    assert check(stored) == [Finding(code, (), message, line, column)]


def test_positions_count_characters_of_the_file() -> None:
    stored = """[
 {"kind": "request", "parts": [], "é": ["ü", 1],
  "timestamp":
   true}, {"kind": "request", "parts": [], "é": 1,
 "timestamp": false}]"""
    assert [finding[1:] for finding in check(stored.encode())] == [
        ((0, "timestamp"), "found true; input should be a valid datetime", 4, 4),
        ((1, "timestamp"), "found false; input should be a valid datetime", 5, 15),
    ]


def test_codes_are_complete() -> None:
    assert all(code.severity in ("error", "warning") and code.meaning.endswith(".") for code in CODES.values())
    assert all(code.refused_by for code in CODES.values() if code.severity == "error")


VALUES = (None, True, 5, -1.5, "x", "", [], {}, [1], {"a": 1}, "2025-01-01", "request", "text", "tool-return")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in value if type(value) is dict else range(len(value)) if type(value) is list else ():
        yield (*path, key)
        yield from paths(value[key], (*path, key))


def test_every_change_of_a_history_is_an_error_where_pydantic_ai_refuses_it() -> None:
    counts = {True: 0, False: 0}
    for path in paths(HISTORY):
        for new in (*VALUES, ...):
            mutant = edited(HISTORY, path, new)
            errors = [one for one in check(json.dumps(mutant, indent=1).encode()) if one.code in LOADING]
            is_refused = refused(mutant)
            counts[is_refused] += 1
            assert bool(errors) is is_refused, (path, new, errors)
            # A changed kind asks for other fields; any other change is reported where it is.
            if path[-1] not in ("kind", "part_kind", "parts"):
                assert all(error.path[: len(path)] == path for error in errors), (path, new, errors)
    assert min(counts.values()) > 200, counts


KEYS = st.sampled_from(("kind", "parts", "part_kind", "content", "messages", "timestamp", "args", "role", "results"))
SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(VALUES[4:])
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5))


BYTES_OF_ANY_KIND = st.binary(max_size=60) | st.text('[]{}:,"\\u0d8e1N\n', max_size=40).map(str.encode)


@given(BYTES_OF_ANY_KIND | TREES.map(lambda value: json.dumps(value).encode()))
@example(b'[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"\\ud800"}]}]')
@example(b"\xef\xbb\xbf" * 3)
def test_any_bytes_have_findings_at_places_in_the_text(stored: bytes) -> None:
    findings = check(stored)
    assert findings or b"[]" in stored
    for one in findings:
        assert one.code in CODES
        assert 1 <= one.line <= stored.count(b"\n") + 1
        assert one.column >= 1


def test_real_histories_have_no_errors(data: Path) -> None:
    files = sorted((data / "histories").glob("*/*.json"))
    assert len(files) > 100
    # The agents that end by a call (`submit`, `Finish`), and ids that contain `#`.
    assert {finding.code for file in files for finding in check(file.read_bytes())} == {"V031", "V036"}
