"""The capability: requests, stored histories, instructions, agent spec files, and wrong arguments."""

from __future__ import annotations

import asyncio
import json
import reprlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessagesTypeAdapter, TextPart, ToolCallPart
from pydantic_ai.tools import DeferredToolRequests, RunContext, Tool, ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from reducer import Reducer, RuleError
from reducer.agent import Archive, ReduceToolReturns, Reduction, history_processor
from reducer.archive.database import open_to_read
from reducer.archive.histories import restore
from tests.agent.agents import (
    ARTICLES,
    FORMS,
    PROMPT,
    REQUEST_ALONE,
    RULE,
    SHORTER,
    V2,
    VERSION,
    Script,
    add_tools,
    analyst,
    call,
    contents,
    history_capability,
    reducer_of,
    reducing,
    returns,
    script,
    steady,
    streamed,
)

LISTS_TOOLS = VERSION >= (1, 87)
INTRODUCTION = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks what was left out. "
    "Keys, and few or short items of lists, can also be left out without a mark."
)
"""The instructions if the tools are not known."""
INSTRUCTIONS = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks what was left out, as stated here.\n"
    "- `deep_research`: keeps the first 2 items of the answer. Marked: items of lists. Not marked: few or short items."
)
GIVEN = INSTRUCTIONS if LISTS_TOOLS else INTRODUCTION


@pytest.mark.skipif(REQUEST_ALONE, reason="PydanticAI before 2.54 and from 2.64 on can")
def test_persist_false_is_refused_if_pydantic_ai_would_store_the_request() -> None:
    with pytest.raises(UserError, match=r"ReduceToolReturns\(persist=False\) needs PydanticAI 2\.64"):
        ReduceToolReturns(SHORTER, persist=False)


@pytest.mark.skipif(not REQUEST_ALONE, reason="every hook may store what it changes")
@pytest.mark.parametrize("run", [streamed, lambda made: made.run_sync(PROMPT)], ids=["streamed", "at once"])
@pytest.mark.parametrize("last", [False, True])
def test_without_persist_only_the_request_is_reduced(last: bool, run: Any) -> None:
    asked = script("deep_research")
    capabilities = [ReduceToolReturns(SHORTER, persist=False), history_capability(list)]
    messages = run(analyst(asked, *capabilities[:: -1 if last else 1])).all_messages()
    assert asked.contents(1) == [ARTICLES[:2]]
    assert contents(messages) == [ARTICLES]


@pytest.mark.parametrize("form", FORMS)
def test_a_dry_run_changes_nothing(form: str, rules: Path) -> None:
    reported: list[Reduction] = []
    asked, plain = script("deep_research", "deep_research"), script("deep_research", "deep_research")
    options = {"archive": rules.with_name("returns.db"), "on_reduce": reported.append}
    result = analyst(asked, reducing(form, rules, dry_run=True, **options)).run_sync(PROMPT)
    analyst(plain).run_sync(PROMPT)
    assert [steady(sent) for sent in asked.received] == [steady(sent) for sent in plain.received]
    assert asked.tools == plain.tools
    assert contents(result.all_messages()) == [ARTICLES] * 2
    assert [(one.before, one.after) for one in reported] == [(66, 35)] * 2
    assert not rules.with_name("returns.db").exists()


# --- the end of a run


class Report(BaseModel):
    """The output of a run."""

    title: str


REPORT = ToolCallPart("final_result", {"title": "Done."}, "call_report")


@pytest.mark.parametrize("run", [streamed, lambda made: made.run_sync(PROMPT)], ids=["streamed", "at once"])
def test_returns_next_to_an_output_tool_are_stored_reduced(run: Any, rules: Path, archive: Archive) -> None:
    reported: list[Reduction] = []
    capability = ReduceToolReturns(rules, archive=archive, on_reduce=reported.append)
    asked = Script([[call("deep_research"), REPORT]])
    result = run(analyst(asked, capability, output_type=Report, end_strategy="exhaustive"))
    assert [part for part in contents(result.all_messages()) if type(part) is list] == [ARTICLES[:2]]
    assert [part for part in contents(result.new_messages()) if type(part) is list] == [ARTICLES[:2]]
    assert [one.tool_call_id for one in reported] == ["tool_0_deep_research"]
    archive.flush()
    with open_to_read(archive.path) as connection:
        restored = restore(result.all_messages_json(), connection)
    assert (restored.restored, restored.unrestored) == (1, ())


def test_returns_before_deferred_calls_are_stored_reduced(rules: Path) -> None:
    asked = Script([[call("deep_research"), call("slow", 1)]])
    made = analyst(asked, ReduceToolReturns(rules), output_type=[str, DeferredToolRequests])
    assert contents(made.run_sync(PROMPT).all_messages()) == [ARTICLES[:2]]


# --- the event loop


@pytest.mark.parametrize(("engine", "is_here"), [("", False), ("Temporal", True)])
def test_contents_are_reduced_in_another_thread_unless_in_a_workflow(
    engine: str, is_here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    monkeypatch.setattr("reducer.agent.processor.workflow", lambda: engine)
    capability = ReduceToolReturns(SHORTER, on_reduce=lambda reduction: threads.append(threading.get_ident()))
    result = asyncio.run(analyst(script("deep_research"), capability).run(PROMPT))
    assert contents(result.all_messages()) == [ARTICLES[:2]]
    assert [thread == threading.get_ident() for thread in threads] == [is_here]


# --- agent spec files


@pytest.mark.skipif(not V2, reason="agent spec files came with 2")
@pytest.mark.parametrize("options", ["", "persist: true, instructions: false, telemetry: false", "archive: {}"])
def test_agent_spec_files_create_the_capability(options: str, rules: Path) -> None:
    database = rules.with_name("returns.db")
    form = f"{{rules: {rules}, {options.format(database)}}}" if options else str(rules)
    spec = rules.with_name("agent.yaml")
    spec.write_text(f"model: test\ncapabilities:\n  - ReduceToolReturns: {form}\n")
    asked = script("deep_research")
    made = Agent.from_file(spec, custom_capability_types=[ReduceToolReturns], model=asked.model)
    add_tools(made)
    result = made.run_sync(PROMPT)
    assert asked.contents(1) == [ARTICLES[:2]]
    assert (result.all_messages()[0].instructions is None) == ("instructions: false" in form)
    assert database.exists() == ("archive" in form)


@pytest.mark.skipif(not V2, reason="agent spec files came with 2")
def test_the_schema_of_spec_files_has_both_forms() -> None:
    from pydantic_ai.agent.spec import AgentSpec

    forms = AgentSpec.model_json_schema_with_capabilities([ReduceToolReturns])["$defs"]
    paths = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    assert forms["short_spec_ReduceToolReturns"]["properties"]["ReduceToolReturns"]["anyOf"] == paths
    keywords = forms["spec_params_ReduceToolReturns"]
    options = ["rules", "persist", "instructions", "telemetry", "archive", "dry_run", "repeats"]
    assert list(keywords["properties"]) == options
    assert keywords["properties"]["rules"]["anyOf"] == paths
    assert keywords["required"] == ["rules"]


# --- instructions


async def from_the_second_request(ctx: RunContext[Any], tool: ToolDefinition) -> ToolDefinition | None:
    return tool if ctx.run_step > 1 else None


def instructions_of(asked: Script) -> set[str]:
    """Return the instructions of all requests in a script."""
    sent = [json.loads(messages)[-1] for messages in asked.received]
    return {request["instructions"] for request in sent}


def test_the_instructions_name_tools_that_appear_during_a_run(rules: Path) -> None:
    (rules / "late.yaml").write_text(RULE.replace("deep_research", "late"))
    asked = Script(script("deep_research", "late").answers * 2)
    made = analyst(asked, ReduceToolReturns(rules))

    @made.tool_plain(prepare=from_the_second_request)
    def late() -> list[str]:
        return list(ARTICLES)

    result = made.run_sync(PROMPT)
    made.run_sync("Once more.", message_history=result.all_messages())
    assert [b'"late"' in tools for tools in asked.tools] == [False, True, True] * 2
    (text,) = instructions_of(asked)
    assert ("`late`" in text) == LISTS_TOOLS
    assert asked.contents(2, "late") == [ARTICLES[:2]]


@pytest.mark.parametrize("first", [(), ("early",)])
def test_the_instructions_stay_if_a_dynamic_toolset_adds_tools(first: tuple[str, ...], rules: Path) -> None:
    late = FunctionToolset[Any]()
    late.add_function(lambda: list(ARTICLES), name="deep_research")
    early = FunctionToolset[Any]([Tool(lambda: "ok", name=name) for name in first]) if first else None
    asked = script("status", "deep_research")
    made = Agent(asked.model, capabilities=[ReduceToolReturns(rules)], tools=[Tool(lambda: "ok", name="status")])
    made.toolset(lambda ctx: late if ctx.run_step > 1 else early)
    made.run_sync(PROMPT)
    assert [b'"deep_research"' in tools for tools in asked.tools] == [False, True, True]
    assert instructions_of(asked) == ({None} if first and LISTS_TOOLS else {INTRODUCTION})
    assert asked.contents(2) == [ARTICLES[:2]]


@pytest.mark.parametrize("saved", [False, True])
def test_a_conversation_keeps_its_instructions_if_rules_and_tools_change(saved: bool, rules: Path) -> None:
    (rules / "late.yaml").write_text(RULE.replace("deep_research", "late"))
    reducer = Reducer.load(rules)
    asked = Script(script("deep_research").answers * 3)
    made = analyst(asked, ReduceToolReturns(reducer), instructions="You are an analyst.")
    messages = made.run_sync(PROMPT).all_messages()
    (before,) = instructions_of(asked)
    (rules / "deep_research.yaml").write_text(RULE.replace("2", "1"))
    assert reducer.reload() == ()
    made.tool_plain(lambda: list(ARTICLES), name="late")
    if saved:
        messages = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    made.run_sync("Once more.", message_history=messages)
    assert instructions_of(asked) == {before}
    assert asked.contents(3) == [ARTICLES[: 1 if saved else 2], ARTICLES[:1]]
    made.run_sync("Another conversation.")
    assert instructions_of(asked) == {before, asked_last(asked)}
    assert ("keeps the first item of the answer" in asked_last(asked)) == LISTS_TOOLS


def asked_last(asked: Script) -> str:
    return json.loads(asked.received[-1])[-1]["instructions"]


def test_the_instructions_name_the_recall_tool(rules: Path, archive: Archive) -> None:
    result = analyst(script(), ReduceToolReturns(rules, archive=archive)).run_sync(PROMPT)
    recall = "reads the original of a shortened tool return: in pages, or only the part that you need."
    assert result.all_messages()[0].instructions == f"{GIVEN}\n`recall_tool_return` {recall}"


def test_there_are_no_instructions_without_rules_for_the_tools() -> None:
    without = [ReduceToolReturns(SHORTER, instructions=False)]
    if LISTS_TOOLS:
        without.append(ReduceToolReturns(reducer_of(RULE.replace("deep_research", "other"))))
    for capability in without:
        assert analyst(script(), capability).run_sync(PROMPT).all_messages()[0].instructions is None


# --- several capabilities


@pytest.mark.skipif(not hasattr(AbstractCapability, "combine"), reason="capabilities are combined from 2 on")
def test_equal_capabilities_are_one_and_different_ones_are_refused(rules: Path) -> None:
    asked = script("deep_research")
    result = analyst(asked, ReduceToolReturns(rules), ReduceToolReturns(rules)).run_sync(PROMPT)
    assert asked.contents(1) == [ARTICLES[:2]]
    assert result.all_messages()[0].instructions == GIVEN
    for other in (ReduceToolReturns(str(rules), persist=False), ReduceToolReturns(SHORTER)):
        with pytest.raises(UserError, match="an agent has one ReduceToolReturns: give it all rule files"):
            analyst(script(), ReduceToolReturns(rules), other).run_sync(PROMPT)


@pytest.mark.skipif(VERSION < (1, 100), reason="this version does not compare ids")
def test_capabilities_with_different_ids_both_reduce(rules: Path) -> None:
    more = reducer_of("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 1}]\n")
    asked = Script([[call("deep_research"), call("explore", 1)], [TextPart("Done.")]])
    analyst(asked, ReduceToolReturns(rules), ReduceToolReturns(more, id="more")).run_sync(PROMPT)
    assert asked.contents(1) == [ARTICLES[:2]]
    assert asked.contents(1, "explore")[0]["nodes"] == [1]


# --- wrong arguments

MAKERS = [history_processor, ReduceToolReturns]


async def asynchronous(reduction: Reduction) -> None: ...


@pytest.mark.parametrize("make", MAKERS)
def test_values_of_other_types_are_refused(make: Callable[..., Any], rules: Path) -> None:
    for value in (None, 5, b"rules", {"rules": 1}, SHORTER.ruleset, Reducer, [], ["rules", 5], (None,)):
        with pytest.raises(TypeError) as caught:
            make(value)
        expected = "give a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
        assert str(caught.value) == f"rules={reprlib.repr(value)} cannot be used; {expected}"
    for callback in (asynchronous, partial(asynchronous), "log"):
        with pytest.raises(TypeError, match="cannot be used; give a function that takes a Reduction, defined with"):
            make(rules, on_reduce=callback)


@pytest.mark.parametrize("make", [*MAKERS, ReduceToolReturns.from_spec])
@pytest.mark.parametrize("empty", ["", ["rules", ""]])
def test_an_empty_text_is_not_the_current_folder(
    make: Callable[..., Any], empty: Any, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(rules.parent)
    with pytest.raises(RuleError, match="a source of rules is empty; write"):
        make(empty)


def test_rules_come_from_paths_lists_of_paths_and_objects(rules: Path) -> None:
    more = rules.with_name("more")
    more.mkdir()
    (more / "other.yml").write_text(RULE.replace("deep_research", "other"))
    messages = returns([1, 2, 3], tool="deep_research") + returns([1, 2, 3], tool="other")
    for given, kept in [
        (str(rules / "deep_research.yaml"), [2, 3]),
        ([rules, more], [2, 2]),
        ((str(more),), [3, 2]),
        (Reducer.load(rules, more), [2, 2]),
    ]:
        assert list(map(len, contents(history_processor(given)(messages)))) == kept
        ReduceToolReturns(given)
