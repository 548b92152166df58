"""Stored formats of other libraries, with histories that were recorded with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from reducer import Reducer
from reducer.errors import HistoryError
from reducer.histories.against import compare
from reducer.histories.formats import FORMATS
from reducer.histories.stored import events, formats_of, reduce_json, returns
from reducer.histories.stored.messages import find_lists, with_source
from reducer.histories.validate import check
from reducer.paths.written import path_text
from reducer.references import Prompt, Response, references
from tests.helpers import table
from tests.histories.messages import (
    OWN_NAMES,
    TURNS,
    anthropic,
    claude_code,
    edited,
    openai_chat,
    openai_responses,
    opentelemetry,
    reduced_returns,
    shorter,
    vercel_ai,
)

DATA = Path(__file__).parent / "data"
NAMES = sorted(file.stem for file in DATA.glob("formats/*.json") if file.stem != "scenario")
RECORDED = {name: name.removesuffix("_dict").removesuffix("_dumps").replace("_", "-") for name in NAMES}
RECORDED["langgraph"] = "langchain"
"""The recorded histories and their formats."""
CASES = table(__file__, "formats.yaml")
ONE_CONTENT = ("ag_ui", "gemini", "opentelemetry", "vercel_ai")
"""Histories in which a result is one value, so that its two texts are one return."""
ERRORS = {
    "ag-ui": "it is an error",
    "anthropic": "it is an error",
    "bedrock": "its outcome is error",
    "claude-code": "it is an error",
    "gemini": "it is an error",
    "langchain": "its outcome is error",
    "vercel-ai": "its outcome is output-error",
}


def recorded(name: str) -> bytes:
    return (DATA / "formats" / f"{name}.json").read_bytes()


def value(name: str) -> Any:
    return json.loads(recorded(name))


def messages(name: str) -> list[Any]:
    """Return the list of messages in a recorded history, which can be a request body."""
    return listed(value(name))


def listed(history: Any) -> list[Any]:
    if isinstance(history, list):
        return history
    return next(history[key] for key in ("messages", "input", "contents") if key in history)


def stored(history: Any) -> bytes:
    return json.dumps(history, ensure_ascii=False).encode()


def findings_in(history: Any) -> list[tuple[str, str]]:
    return [(one.code, path_text(one.path)) for one in check(stored(history))]


def formats_in(data: bytes) -> set[str]:
    return with_source(data, lambda source: {found.form.NAME for found in find_lists(source)})


# --- detection


def test_every_module_of_the_package_is_a_format() -> None:
    assert [form.NAME for form in FORMATS] == [
        "ag-ui", "anthropic", "bedrock", "claude-code", "codex", "gemini", "langchain", "openai-chat",
        "openai-responses", "opentelemetry", "model-messages", "session", "vercel-ai",
    ]  # fmt: skip
    with pytest.raises(HistoryError, match="unknown format openai: expected auto, ag-ui, anthropic, bedrock, "):
        formats_of("openai")


@pytest.mark.parametrize("name", NAMES)
def test_a_format_is_detected_in_lists_bodies_and_wrappers(name: str) -> None:
    all_of = messages(name)
    body = {"model": "m", "tools": [{"name": "t", "parameters": {"type": "object"}}], "messages": all_of}
    wrappers = [value(name), all_of, body, {"input": all_of, "instructions": "x"}, [{"id": 1, "history": all_of}] * 2]
    wrappers += [{"custom_id": "1", "body": body}, all_of[1:], all_of[::-1], all_of * 2, {"run": {"log": all_of}}]
    for wrapper in wrappers:
        for indent in (None, 1):
            assert formats_in(json.dumps(wrapper, indent=indent).encode()) == {RECORDED[name]}, wrapper


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.NAME)
def test_no_other_format_reads_the_tool_returns(name: str, form: Any) -> None:
    try:
        found = [one for one in returns(recorded(name), form.NAME) if not one.untouched]
    except HistoryError:
        found = []
    # The first contains messages of the second, or items as old sessions do.
    is_within = (name, form.NAME) in (("claude_code", "anthropic"), ("openai_responses", "codex"))
    assert bool(found) == (RECORDED[name] == form.NAME or is_within)


def test_histories_of_pydantic_ai_and_session_histories_are_still_detected() -> None:
    for file in [*DATA.glob("eras/*.json"), DATA / "mid_2025.json"]:
        assert formats_in(file.read_bytes()) == {"model-messages"}
    for file in DATA.glob("session_*.json"):
        assert formats_in(file.read_bytes()) == {"session"}


@pytest.mark.parametrize("chat", CASES["chats"])
def test_a_chat_without_tool_calls_is_a_history_without_returns(chat: Any) -> None:
    assert formats_in(stored(chat)) == {"openai-chat"}
    assert list(returns(stored(chat))) == []


@pytest.mark.parametrize("other", CASES["others"])
def test_messages_of_other_libraries_are_refused(other: Any) -> None:
    with pytest.raises(HistoryError, match="expected a history in one of the formats ag-ui, anthropic, "):
        list(returns(stored(other)))


# --- tool returns


@pytest.mark.parametrize("name", NAMES)
def test_returns_have_the_tools_of_their_calls(name: str) -> None:
    found = [(one.name, one.tool, one.untouched) for one in returns(recorded(name))]
    pages = [("call_3", "read_article", "")] + ([] if name in ONE_CONTENT else [("call_3#2", "read_article", "")])
    assert found == [
        ("call_1", "list_hosts", ""),
        ("call_2", "search_alerts", ""),
        *pages,
        ("call_4", "get_case", ERRORS.get(RECORDED[name], "")),
    ]
    assert findings_in(value(name)) == findings_in(messages(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_only_contents_change(name: str) -> None:
    data = recorded(name)
    counts = {
        "vercel_ai": 2,
        "gemini": 2,
        "ag_ui": 3,
        "opentelemetry": 3,
        "openai_chat": 5,
        "openai_responses": 5,
        "codex": 5,
    }
    assert len(reduced_returns(data)) == counts.get(name, 4)
    assert reduce_json(data, lambda tool, content: content) is data


@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_lines_of_a_session_are_one_history(name: str) -> None:
    turns = [*TURNS[name]("c", "a long text"), *TURNS[name]("d", "another text")]
    lines, reduced = (
        [stored(turn) for turn in json.loads(data)] for data in (stored(turns), reduce_json(stored(turns), shorter))
    )
    assert lines != reduced
    for separator in (b"\n", b"\r\n", b"\n\n \n"):
        for start, end in ((b"", b""), (b"\n ", b"\n"), (b"\xef\xbb\xbf", b"\r\n\n")):
            before, after = (start + separator.join(each) + end for each in (lines, reduced))
            assert reduce_json(before, shorter) == after
            assert [(one.tool, one.call_id) for one in returns(before)] == [("t", "c"), ("t", "d")]
            findings = ["V002"] if start == b"\xef\xbb\xbf" else []
            assert [finding.code for finding in check(before)] == findings
    assert [(finding.code, finding.line) for finding in check(b"\n".join(lines[:-1]))] == [("V031", 3)]


@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_numbers_and_faults_in_lines_of_a_session(name: str) -> None:
    call, answer = map(stored, TURNS[name]("c", "a long text"))
    number = answer[:-1] + b', "note": NaN}'
    after = answer.replace(b"a long text", b"a lon")
    assert reduce_json(call + b"\n" + number, shorter) == call + b"\n" + number.replace(b"a long text", b"a lon")
    assert reduce_json(call + b"\n" + answer, shorter) == call + b"\n" + after
    for damaged, message in (
        (answer[:-3], "cut off: the text ends at line 2, "),
        (b"{7}", "not JSON: .* at line 2, column 2"),
    ):
        with pytest.raises(HistoryError, match=message):
            reduce_json(call + b"\n" + damaged, shorter)
        [finding] = check(call + b"\n" + damaged)
        assert (finding.code, finding.line) == ("V002", 2)


def test_lines_without_the_shape_of_a_session_are_several_histories() -> None:
    for turns in (openai_chat("c", "a long text"), anthropic("c", "a long text")):
        with pytest.raises(HistoryError, match="not JSON: Extra data at line 2, column 1"):
            reduce_json(b"\n".join(map(stored, turns)), shorter)


def test_items_in_the_lines_of_an_old_session() -> None:
    items = [{"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": None}, {"record_type": "state"}]
    data = b"\n".join(map(stored, [*items, *openai_responses("c", "a long text")]))
    assert formats_in(data) == {"codex"}
    assert reduce_json(data, shorter) == data.replace(b"a long text", b"a lon")


def test_the_second_copy_of_a_result_in_a_session_is_reduced_alike() -> None:
    def copies(result: Any, content: Any = "a long text") -> Any:
        call, answer = claude_code("c", content)
        data = stored([call, {**answer, "toolUseResult": result}])
        return json.loads(reduce_json(data, shorter))[1]["toolUseResult"]

    assert copies({"stdout": "a long text", "stderr": "other text"}) == {"stdout": "a lon", "stderr": "other text"}
    assert copies({"file": {"filePath": "a long text", "content": "a long text"}})["file"] == {
        "filePath": "a long text", "content": "a lon",
    }  # fmt: skip
    parts, reduced = ([{"type": "text", "text": text}] for text in ("a long text", "a lon"))
    assert (copies(parts, parts), copies({"content": parts}, parts)) == (reduced, {"content": reduced})
    for other in ("Error: a long text", {"stdout": "another text"}, {"content": "what was written"}, None, [1]):
        assert copies(other) == other


@pytest.mark.parametrize("is_ascii", [True, False])
def test_messages_in_a_text_of_a_span_are_reduced(is_ascii: bool) -> None:
    def span(name: str, text: str, **escapes: Any) -> bytes:
        attributes = [{"key": name, "value": {"stringValue": text}}, {"key": "é", "value": {"stringValue": "[é"}}]
        return json.dumps({"spans": [{"attributes": attributes}, {name: text}]}, **escapes).encode()

    turns = [*opentelemetry("c", 'a "löng" text 🦀\n'), *opentelemetry("d", [1, 2, {"a": "ö"}])]
    for written in (json.dumps(turns), json.dumps(turns, ensure_ascii=False), json.dumps(turns, indent=1)):
        data, after = (
            span("pydantic_ai.all_messages", text, ensure_ascii=is_ascii)
            for text in (written, reduce_json(written.encode(), shorter).decode())
        )
        assert formats_in(data) == {"opentelemetry"}
        assert [(one.tool, one.content) for one in returns(data)][:2] == [
            ("t", 'a "löng" text 🦀\n'), ("t", [1, 2, {"a": "ö"}]),
        ]  # fmt: skip
        assert reduce_json(data, shorter) == after
        assert reduce_json(after, shorter) is after
        assert check(data) == []
    for text in ("[1", "[1]", "text", '[{"role": "user", "parts": [{"type": "text", "content": "\\ud800"}]'):
        with pytest.raises(HistoryError, match="not a history: found an object with the key spans"):
            list(returns(span("pydantic_ai.all_messages", text)))


def test_messages_of_ollama_have_names_instead_of_ids() -> None:
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "t", "arguments": {"host": "srv-7"}}}]}
    answer = {"role": "tool", "content": "a long text", "tool_name": "t"}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, call, answer, {**answer, "tool_name": "u"}]}
    data = stored(body)
    assert [(one.tool, one.untouched) for one in returns(data)] == [("t", ""), ("u", "")]
    assert reduce_json(data, shorter) == data.replace(b"a long text", b"a lon")
    assert check(data) == []


def test_a_call_names_the_tool_of_its_return_even_if_the_return_has_another_name() -> None:
    call, answer = openai_chat("c", "a long text")
    named = {**answer, "name": "u"}
    assert [one.tool for one in returns(stored([call, named, {**named, "tool_call_id": "d"}]))] == ["t", "u"]


NO_CONTENT = [("c", None, "t"), ("c", 5, "t"), ("c", [], "t")]
NO_CALL = [(None, "long text", "t"), (["c"], "long text", "t"), ("c", "long text", None), ("c", "long text", {"a": 1})]
ROWS = [(name, case) for name in TURNS for case in NO_CONTENT + NO_CALL * (name not in OWN_NAMES)]


@pytest.mark.parametrize(("name", "case"), ROWS)
def test_incomplete_returns_stay(name: str, case: tuple[Any, Any, Any]) -> None:
    incomplete, complete = TURNS[name](*case), TURNS[name]("z", "a long text")
    before, after = (json.dumps([*incomplete, *turn]).encode() for turn in (complete, TURNS[name]("z", "a lon")))
    assert reduce_json(before, shorter) == after
    assert [found.code for found in check(before)] == [found.code for found in check(after)]
    assert len(events(before)) == len(events(after)) > 2


@pytest.mark.parametrize("name", [name for name in TURNS if name not in OWN_NAMES])
def test_a_return_answers_the_nearest_call_before_it(name: str) -> None:
    def tools(*messages: Any) -> list[str]:
        return [one.tool for one in returns(stored(messages))]

    (first, answer), (second, _) = (TURNS[name]("c", "a long text", tool) for tool in "tu")
    assert tools(first, answer, second, answer) == ["t", "u"]
    assert tools(first, second, answer, answer) == ["u", "u"]
    assert tools(first, answer, second) == ["t"]
    assert tools(answer, first) == [""]  # a call after its return
    why = "no call before it has its id, and it has no tool name"
    assert [one.untouched for one in returns(stored([answer, first]))] == [why]


def test_an_id_of_calls_of_several_tools_in_one_response_is_ambiguous() -> None:
    (first, answer), (second, _) = (openai_chat("c", "a long text", tool) for tool in "tu")
    first["tool_calls"] += second["tool_calls"]
    data = stored([first, answer])
    assert [one.untouched for one in returns(data)] == ["it has no tool name"]
    assert reduce_json(data, shorter) is data
    same = stored([{**first, "tool_calls": first["tool_calls"][:1] * 2}, answer])
    assert [one.tool for one in returns(same)] == ["t"]


def test_what_the_provider_executed_stays() -> None:
    [message] = vercel_ai("c", "a long text")
    message["parts"][1]["providerExecuted"] = True
    assert [one.untouched for one in returns(stored([message]))] == ["the provider executed the tool"]


# --- references


@pytest.mark.parametrize("name", NAMES)
def test_events_are_those_of_the_scenario(name: str) -> None:
    happened = [place.event for place in events(recorded(name))]
    responses = [one for one in happened if isinstance(one, Response)]
    assert ["".join(one.texts) for one in responses] == [
        "I look at the hosts and the alerts.", "", "The host srv-2 is at risk, see alert-4715.",
    ]  # fmt: skip
    assert [[call.tool for call in one.calls] for one in responses] == [
        ["list_hosts", "search_alerts"], ["read_article", "get_case"], [],
    ]  # fmt: skip
    assert any("Which hosts are at risk?" in one.text for one in happened if isinstance(one, Prompt))
    assert {"srv-2", "alert-4715"} <= {one.value for one in references(happened) if one.novel}


@pytest.fixture
def reducer(tmp_path: Path) -> Reducer:
    (tmp_path / "hosts.yaml").write_text(
        "version: 1\ntool: list_hosts\nmark: false\nsteps: [{path: hosts, limit: 1}]\n"
    )
    return Reducer.load(tmp_path / "hosts.yaml")


def hosts(data: bytes) -> list[str]:
    content = next(returns(data)).content
    return [host["name"] for host in (json.loads(content) if isinstance(content, str) else content)["hosts"]]


@pytest.mark.parametrize("name", NAMES)
def test_values_that_later_messages_reference_stay(name: str, reducer: Reducer) -> None:
    for data in (recorded(name), stored(messages(name))):
        protected, reduced = (reducer.reduce_json(data, references=references) for references in (True, False))
        assert (hosts(protected), hosts(reduced)) == (["srv-0", "srv-2"], ["srv-0"])
        for after in (protected, reduced):
            assert reducer.reduce_json(after, references=after is protected) is after
            assert compare(after, data) == []


@pytest.mark.parametrize("name", TURNS)
def test_the_arguments_of_a_later_call_reference_values(name: str, reducer: Reducer) -> None:
    content = json.dumps({"hosts": [{"name": f"srv-{number}"} for number in range(9)]})
    first, later = TURNS[name]("c", content, "list_hosts"), TURNS[name]("d", "x", "u")
    data = (
        stored([*first, *later]).replace(b'"{}"', b'"{\\"host\\": \\"srv-7\\"}"').replace(b"{}", b'{"host": "srv-7"}')
    )
    assert hosts(reducer.reduce_json(data)) == ["srv-0", "srv-7"]


# --- validate

PLACES = CASES["places"]


SINGLE = ("claude_code", "codex", "langchain_dict", "langchain_dumps", "openai_chat", "openai_responses")
"""Histories with another message before the first call."""


def place(name: str, index: int, nth: int) -> list[str | int]:
    steps = (
        PLACES[name][index]
        .format(nth + (name in ("anthropic", "bedrock", "gemini", "opentelemetry") and index == 0))
        .split()
    )
    return [int(step.rstrip("+")) + nth * step.endswith("+") if step[0].isdigit() else step for step in steps]


@pytest.mark.parametrize("name", PLACES)
def test_calls_and_returns_must_match(name: str) -> None:
    history = value(name)
    calls, answers = ([place(name, index, nth) for nth in (0, 1)] for index in (0, 1))
    at = [path_text(tuple(path)) for path in (*calls, *answers)]
    unknown = edited(history, answers[0], "call_9")
    assert findings_in(unknown) == [("V030", at[0]), ("V032", at[2])]
    assert check(stored(unknown))[0].message.startswith("the call of `list_hosts` has no return ")
    assert findings_in(edited(history, answers[1], "call_1")) == [("V030", at[1]), ("V033", at[3])]
    assert findings_in(edited(history, calls[1], "call_1")) == [("V034", at[1]), ("V032", at[3])]
    needs_id = name != "gemini"  # Vertex AI writes none
    assert findings_in(edited(history, answers[0])) == [("V030", at[0]), *[("V037", at[2])] * needs_id]
    assert findings_in(edited(history, calls[0], None)) == [*[("V037", at[0])] * needs_id, ("V032", at[2])]
    both = edited(edited(history, calls[0], "call 1"), answers[0], "call 1")
    assert findings_in(both) == [("V036", at[0]), ("V036", at[2])]
    start = 2 if name in SINGLE else 1
    end = start + (3 if name in ("openai_responses", "codex") else 1)
    prefix = [step for step in calls[0] if step not in ("messages", "input", "contents")]
    assert ("V031", path_text(tuple(prefix))) in findings_in(messages(name)[:end])


@pytest.mark.parametrize("case", CASES["responses"])
def test_returns_of_the_responses_api_can_answer_calls_that_the_provider_knows(case: dict[str, Any]) -> None:
    assert findings_in(case["history"]) == [tuple(finding) for finding in case["findings"]]


def test_ui_messages_contain_calls_with_their_outputs() -> None:
    question, answer = value("vercel_ai")
    waiting = edited(answer, ["parts", 2, "state"], "input-available")
    assert findings_in([question, waiting]) == [("V031", "[1].parts[2].toolCallId")]
    assert findings_in([question, waiting, question, answer]) == [("V030", "[1].parts[2].toolCallId")]
    assert findings_in([question, edited(answer, ["parts", 2, "toolCallId"])]) == [("V037", "[1].parts[2].toolCallId")]


# --- the libraries read what reducer writes


def reduced_messages(name: str, reducer: Reducer) -> list[Any]:
    data = recorded(name)
    after = reducer.reduce_json(data)
    assert after != data
    return listed(json.loads(after))


TYPES = {
    "openai_chat": ("openai.types.chat", "ChatCompletionMessageParam"),
    "openai_responses": ("openai.types.responses", "ResponseInputItemParam"),
    "anthropic": ("anthropic.types", "MessageParam"),
}
INSTALL = "data/formats/README.md says which packages recorded the histories"


@pytest.mark.parametrize("name", TYPES)
def test_clients_accept_reduced_messages(name: str, reducer: Reducer) -> None:
    module, kind = TYPES[name]
    library = pytest.importorskip(module, reason=INSTALL)
    TypeAdapter(list[getattr(library, kind)]).validate_python(reduced_messages(name, reducer))


@pytest.mark.parametrize("name", ["langchain_dict", "langchain_dumps"])
def test_langchain_reads_and_writes_reduced_messages(name: str, reducer: Reducer) -> None:
    messages = pytest.importorskip("langchain_core.messages", reason=INSTALL)
    load = pytest.importorskip("langchain_core.load", reason=INSTALL)
    reduced = reduced_messages(name, reducer)
    if name == "langchain_dict":
        assert messages.messages_to_dict(messages.messages_from_dict(reduced)) == reduced
    else:
        loaded = load.loads(json.dumps(reduced), allowed_objects="messages")
        assert json.loads(load.dumps(loaded)) == reduced
