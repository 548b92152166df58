"""Stored formats of other libraries, with histories that `data/formats/make.py` and `make.mjs` recorded with them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from reducer import Reducer
from reducer.engine import reduce_content
from reducer.errors import HistoryError
from reducer.histories.against import compare
from reducer.histories.formats import FORMATS
from reducer.histories.stored import events, formats_of, reduce_json, returns
from reducer.histories.stored.messages import find_lists, with_source
from reducer.histories.validate import check
from reducer.paths.written import path_text
from reducer.references import Prompt, Response, references
from reducer.values import chars
from tests.histories.messages import TURNS, edited, openai_chat, outside, reduced_returns, shorter, vercel_ai
from tests.laws.strategies import cases

DATA = Path(__file__).parent / "data"
RECORDED = {
    "anthropic": "anthropic",
    "langchain_dict": "langchain",
    "langchain_dumps": "langchain",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "vercel_ai": "vercel-ai",
}
"""The recorded histories and their formats."""
NAMES = sorted(RECORDED)
ERRORS = {
    "anthropic": "it is an error",
    "langchain": "its outcome is error",
    "vercel-ai": "its outcome is output-error",
}


def recorded(name: str) -> bytes:
    return (DATA / "formats" / f"{name}.json").read_bytes()


def value(name: str) -> Any:
    return json.loads(recorded(name))


def messages(name: str) -> list[Any]:
    """Return the list of messages in a recorded history, which can be a request body."""
    history = value(name)
    return history if isinstance(history, list) else history.get("messages") or history["input"]


def stored(history: Any) -> bytes:
    return json.dumps(history, ensure_ascii=False).encode()


def formats_in(data: bytes) -> set[str]:
    return with_source(data, lambda source: {found.form.NAME for found in find_lists(source)})


# --- detection


def test_every_module_of_the_package_is_a_format() -> None:
    assert [form.NAME for form in FORMATS] == [
        "anthropic", "langchain", "openai-chat", "openai-responses", "model-messages", "session", "vercel-ai",
    ]  # fmt: skip
    with pytest.raises(HistoryError, match="unknown format openai: expected auto, anthropic, langchain, model-"):
        formats_of("openai")


@pytest.mark.parametrize("name", NAMES)
def test_a_format_is_detected_in_lists_bodies_and_wrappers(name: str) -> None:
    listed, expected = messages(name), {RECORDED[name]}
    body = {"model": "m", "tools": [{"name": "t", "parameters": {"type": "object"}}], "messages": listed}
    wrappers = [value(name), listed, body, {"input": listed, "instructions": "x"}, [{"id": 1, "history": listed}] * 2]
    wrappers += [
        {"custom_id": "1", "body": body},
        listed[1:],
        listed[::-1],
        [*listed, *listed],
        {"run": {"log": listed}},
    ]
    for wrapper in wrappers:
        for indent in (None, 1):
            assert formats_in(json.dumps(wrapper, indent=indent).encode()) == expected, wrapper


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.NAME)
def test_no_other_format_reads_the_tool_returns(name: str, form: Any) -> None:
    try:
        found = [one for one in returns(recorded(name), form.NAME) if not one.untouched]
    except HistoryError:
        found = []
    assert bool(found) == (RECORDED[name] == form.NAME)


def test_histories_of_pydantic_ai_and_session_histories_are_still_detected() -> None:
    for file in [*DATA.glob("eras/*.json"), DATA / "mid_2025.json"]:
        assert formats_in(file.read_bytes()) == {"model-messages"}
    for file in DATA.glob("session_*.json"):
        assert formats_in(file.read_bytes()) == {"session"}


@pytest.mark.parametrize(
    "chat",
    [
        [{"role": "user", "content": "hi"}],
        [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None}],
    ],
)
def test_a_chat_without_tool_calls_is_a_history_without_returns(chat: Any) -> None:
    assert formats_in(stored(chat)) == {"openai-chat"}
    assert list(returns(stored(chat))) == []


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "user", "content": [{"text": "hi"}]}, {"role": "assistant", "content": [{"toolUse": {"name": "t"}}]}],
        [{"role": "user", "parts": [{"text": "hi"}]}],
        [{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "output": {"type": "json"}}]}],
        [{"role": "x", "content": "hi"}],
        [{"role": "assistant", "content": "", "parts": [{"type": "tool-invocation", "toolInvocation": {}}]}],
        [{"type": "human", "content": "hi"}],
        [{"type": "click", "data": {"content": "x"}}],
    ],
)
def test_messages_of_other_libraries_are_refused(other: Any) -> None:
    with pytest.raises(HistoryError, match="expected a history in one of the formats anthropic, langchain, "):
        list(returns(stored(other)))


# --- tool returns


@pytest.mark.parametrize("name", NAMES)
def test_returns_have_the_tools_of_their_calls(name: str) -> None:
    found = [(one.name, one.tool, one.untouched) for one in returns(recorded(name))]
    pages = [("call_3", "read_article", "")] + ([] if name == "vercel_ai" else [("call_3#2", "read_article", "")])
    assert found == [
        ("call_1", "list_hosts", ""),
        ("call_2", "search_alerts", ""),
        *pages,
        ("call_4", "get_case", ERRORS.get(RECORDED[name], "")),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_only_contents_change(name: str) -> None:
    data = recorded(name)
    assert len(reduced_returns(data)) == {"vercel_ai": 2, "openai_chat": 5, "openai_responses": 5}.get(name, 4)
    assert reduce_json(data, lambda tool, content: content) is data


@given(st.sampled_from([*TURNS]), cases, st.sampled_from([{}, {"indent": 1}]))
def test_a_stored_content_changes_as_the_engine_changes_it(name: str, case: Any, spelling: dict[str, Any]) -> None:
    _, ruleset, content = case
    reduce = partial(reduce_content, ruleset)
    content = content if name == "vercel_ai" or isinstance(content, str) else json.dumps(content)
    before = json.dumps([*TURNS[name]("c", content), *TURNS[name]("d", "x", "other")], **spelling).encode()
    after = reduce_json(before, reduce)
    (old, other), (new, same) = returns(before), returns(after)
    event("reduced" if after != before else "unchanged")
    assert new.content == (json.loads(json.dumps(reduce("t", old.content))) if old.untouched == "" else old.content)
    assert type(new.content) is type(old.content)
    assert same.content == other.content
    assert outside(before, [old.copies[0][1:]]) == outside(after, [new.copies[0][1:]])
    assert chars(new.content) <= chars(old.content)
    assert reduce_json(after, reduce) is after


NESTED = "[" * 100_000 + "]" * 100_000
INCOMPLETE: dict[str, tuple[Any, Any, Any]] = {
    "no content": ("c", None, "t"),
    "a number": ("c", 5, "t"),
    "an empty list": ("c", [], "t"),
    "no id": (None, "a long text", "t"),
    "an id of another type": (["c"], "a long text", "t"),
    "no tool": ("c", "a long text", None),
    "a tool of another type": ("c", "a long text", {"a": 1}),
}


# A UI message has the tool in the type of the part, and needs no id to find it.
ROWS = [(name, case) for name in TURNS for case in (list(INCOMPLETE)[:3] if name == "vercel_ai" else INCOMPLETE)]


@pytest.mark.parametrize(("name", "case"), ROWS)
def test_incomplete_returns_stay(name: str, case: str) -> None:
    incomplete, complete = TURNS[name](*INCOMPLETE[case]), TURNS[name]("z", "a long text")
    before, after = (json.dumps([*incomplete, *turn]).encode() for turn in (complete, TURNS[name]("z", "a lon")))
    assert reduce_json(before, shorter) == after
    assert [found.code for found in check(before)] == [found.code for found in check(after)]
    assert len(events(before)) == len(events(after)) > 2


@pytest.mark.parametrize("name", [name for name in TURNS if name != "vercel_ai"])
def test_a_return_answers_the_nearest_call_before_it(name: str) -> None:
    def tools(*messages: Any) -> list[str]:
        return [one.tool for one in returns(stored(messages))]

    (first, answer), (second, _) = (TURNS[name]("c", "a long text", tool) for tool in "tu")
    assert tools(first, answer, second, answer) == ["t", "u"]
    assert tools(first, second, answer, answer) == ["u", "u"]
    assert tools(first, answer, second) == ["t"]
    assert tools(answer, first) == [""]  # a call after its return
    assert [one.untouched for one in returns(stored([answer, first]))] == ["it has no tool name"]


def test_an_id_of_calls_of_several_tools_in_one_response_is_ambiguous() -> None:
    (first, answer), (second, _) = (openai_chat("c", "a long text", tool) for tool in "tu")
    first["tool_calls"] += second["tool_calls"]
    data = stored([first, answer])
    assert [one.untouched for one in returns(data)] == ["it has no tool name"]
    assert reduce_json(data, shorter) is data
    same = stored([{**first, "tool_calls": first["tool_calls"][:1] * 2}, answer])
    assert [one.tool for one in returns(same)] == ["t"]


@pytest.mark.parametrize("name", TURNS)
def test_odd_json_is_read(name: str) -> None:
    turn = json.dumps(TURNS[name]("c", "a long text"))[1:-1]
    for odd in ("NaN", '"\\ud800"', NESTED, "-Infinity", "9" * 5_000):
        before = turn.replace("{", f'{{"odd":{odd},', 1)
        after = before.replace('"a long text"', '"a lon"')
        assert reduce_json(f"[{before},{before}]".encode(), shorter) == f"[{after},{after}]".encode()


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
    assert Prompt("Which hosts are at risk?") in happened
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

PLACES = {
    "anthropic": ("messages 1 content {} id", "messages 2 content {} tool_use_id"),
    "langchain_dict": ("2 data tool_calls {} id", "3+ data tool_call_id"),
    "langchain_dumps": ("2 kwargs tool_calls {} id", "3+ kwargs tool_call_id"),
    "openai_chat": ("messages 2 tool_calls {} id", "messages 3+ tool_call_id"),
    "openai_responses": ("input 3+ call_id", "input 5+ call_id"),
}
"""The paths of the ids of calls and of their returns. `{}` or `+` stands for the number of the call."""


def place(name: str, index: int, nth: int) -> list[str | int]:
    steps = PLACES[name][index].format(nth + (name == "anthropic" and index == 0)).split()
    return [int(step.rstrip("+")) + nth * step.endswith("+") if step[0].isdigit() else step for step in steps]


def found(history: Any) -> list[tuple[str, str]]:
    return [(one.code, path_text(one.path)) for one in check(stored(history))]


@pytest.mark.parametrize("name", NAMES)
def test_recorded_histories_have_no_findings(name: str) -> None:
    assert found(value(name)) == found(messages(name)) == []


@pytest.mark.parametrize("name", PLACES)
def test_calls_and_returns_must_match(name: str) -> None:
    history = value(name)
    calls, answers = ([place(name, index, nth) for nth in (0, 1)] for index in (0, 1))
    at = [path_text(tuple(path)) for path in (*calls, *answers)]
    assert found(edited(history, answers[0], "call_9")) == [("V030", at[0]), ("V032", at[2])]
    assert found(edited(history, answers[1], "call_1")) == [("V030", at[1]), ("V033", at[3])]
    assert found(edited(history, calls[1], "call_1")) == [("V034", at[1]), ("V030", at[1]), ("V032", at[3])]
    assert found(edited(history, answers[0])) == [("V030", at[0]), ("V037", at[2])]
    assert found(edited(history, calls[0], None)) == [("V037", at[0]), ("V032", at[2])]
    both = edited(edited(history, calls[0], "call 1"), answers[0], "call 1")
    assert found(both) == [("V036", at[0]), ("V036", at[2])]
    listed, start = messages(name), 1 if name == "anthropic" else 2
    end = start + (3 if name == "openai_responses" else 1)
    prefix = [step for step in calls[0] if step not in ("messages", "input")]
    assert ("V031", path_text(tuple(prefix))) in found(listed[:end])


ANSWER = {"type": "function_call_output", "call_id": "call_1", "output": "gw1"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "list_hosts", "arguments": "{}"}
NEXT = {"type": "function_call", "call_id": "call_2", "name": "list_hosts", "arguments": "{}"}
QUESTION = {"role": "user", "content": [{"type": "input_text", "text": "Which hosts?"}]}


def test_returns_can_answer_calls_that_the_provider_stores() -> None:
    body = {"model": "m", "previous_response_id": "resp_1", "input": [ANSWER, QUESTION]}
    assert found(body) == []
    missing = [("V031", "input[2].call_id"), ("V032", "input[3].call_id")]
    assert found({**body, "input": [ANSWER, QUESTION, CALL, {**ANSWER, "call_id": "call_9"}]}) == missing
    assert found([QUESTION, {"type": "item_reference", "id": "fc_1"}, ANSWER]) == []


def test_a_search_for_tools_by_the_provider_is_part_of_the_response() -> None:
    search = {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {}}
    tools = {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": []}
    other = {**ANSWER, "call_id": "call_2"}
    assert found([QUESTION, CALL, search, tools, NEXT, ANSWER, other]) == []
    by_client = {**tools, "execution": "client", "call_id": "call_3"}
    assert found([QUESTION, CALL, by_client, NEXT, other]) == [("V030", "[1].call_id")]


def test_ui_messages_contain_calls_with_their_outputs() -> None:
    question, answer = value("vercel_ai")
    waiting = edited(answer, ["parts", 2, "state"], "input-available")
    assert found([question, waiting]) == [("V031", "[1].parts[2].toolCallId")]
    assert found([question, waiting, question, answer]) == [("V030", "[1].parts[2].toolCallId")]
    assert found([question, edited(answer, ["parts", 2, "toolCallId"])]) == [("V037", "[1].parts[2].toolCallId")]


def test_messages_of_findings_name_the_tool() -> None:
    [finding, _] = check(stored(edited(value("anthropic"), place("anthropic", 1, 0), "call_9")))
    assert finding.message == "the call of `list_hosts` has no return before the next response, messages[3]"


# --- the libraries read what reducer writes


def reduced_messages(name: str, reducer: Reducer) -> list[Any]:
    data = recorded(name)
    after = reducer.reduce_json(data)
    assert after != data
    history = json.loads(after)
    return history if isinstance(history, list) else history.get("messages") or history["input"]


TYPES = {
    "openai_chat": ("openai.types.chat", "ChatCompletionMessageParam"),
    "openai_responses": ("openai.types.responses", "ResponseInputItemParam"),
    "anthropic": ("anthropic.types", "MessageParam"),
}
INSTALL = "data/formats/make.py says which packages to install"


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


READ = """
import { convertToModelMessages, validateUIMessages } from 'ai';
const messages = await validateUIMessages({ messages: JSON.parse(process.argv.at(-1)) });
await convertToModelMessages(messages);
console.log(JSON.stringify(messages));
"""


def test_the_ai_sdk_reads_reduced_messages(reducer: Reducer) -> None:
    folder = os.environ.get("AI_SDK", ".")
    if not shutil.which("node") or not (Path(folder) / "node_modules/ai").is_dir():
        pytest.skip("set AI_SDK to a folder with node_modules/ai; data/formats/make.mjs says how to install it")
    messages = reduced_messages("vercel_ai", reducer)
    command = ["node", "--input-type=module", "--eval", READ, json.dumps(messages)]
    assert json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout) == messages
