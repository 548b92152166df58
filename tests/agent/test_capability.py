"""The capability: requests, stored histories, instructions and agent spec files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import TextPart

from reducer import Reducer
from reducer.agent import Archive, ReduceToolReturns
from tests.agent.agents import (
    ARTICLES,
    PROMPT,
    REQUEST_ALONE,
    RULE,
    V2,
    VERSION,
    Rules,
    Script,
    add_tools,
    analyst,
    call,
    contents,
    history_capability,
    script,
    streamed,
)
from tests.histories.messages import shorter

LISTS_TOOLS = VERSION >= (1, 87)
INSTRUCTIONS = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks what was left out, as stated here.\n"
    "- `deep_research`: keeps the first 2 items of the answer. Not marked: items that are not long texts."
)


@pytest.mark.skipif(REQUEST_ALONE, reason="PydanticAI before 2.54 and from 2.64 on can")
def test_persist_false_is_refused_if_pydantic_ai_would_store_the_request() -> None:
    with pytest.raises(UserError, match=r"ReduceToolReturns\(persist=False\) needs PydanticAI 2\.64"):
        ReduceToolReturns(Rules(shorter), persist=False)


@pytest.mark.skipif(not REQUEST_ALONE, reason="every hook may store what it changes")
@pytest.mark.parametrize("run", [streamed, lambda made: made.run_sync(PROMPT)], ids=["streamed", "at once"])
@pytest.mark.parametrize("last", [False, True])
def test_without_persist_only_the_request_is_reduced(last: bool, run: Any) -> None:
    asked = script("deep_research")
    capabilities = [ReduceToolReturns(Rules(shorter), persist=False), history_capability(list)]
    messages = run(analyst(asked, *capabilities[:: -1 if last else 1])).all_messages()
    assert asked.contents(1) == [ARTICLES[:2]]
    assert contents(messages) == [ARTICLES]


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
    types = {name: field.get("type") or field["anyOf"] for name, field in keywords["properties"].items()}
    assert types == {
        "rules": paths,
        **dict.fromkeys(("persist", "instructions", "telemetry"), "boolean"),
        "archive": [{"type": "string"}, {"type": "null"}],
    }
    assert keywords["required"] == ["rules"]


def test_the_instructions_are_the_same_in_every_request(rules: Path) -> None:
    (rules / "other.yaml").write_text(RULE.replace("deep_research", "other"))
    asked = Script([*script("deep_research", "explore").answers, [TextPart("Done.")]])
    made = analyst(asked, ReduceToolReturns(rules), instructions="You are an analyst.")
    made.run_sync("Once more.", message_history=made.run_sync(PROMPT).all_messages())
    messages = [message for sent in asked.received for message in json.loads(sent) if message["kind"] == "request"]
    other = (
        ""
        if LISTS_TOOLS
        else "\n- `other`: keeps the first 2 items of the answer. Not marked: items that are not long texts."
    )
    assert {one.get("instructions") for one in messages} == {f"You are an analyst.\n\n{INSTRUCTIONS}{other}"}


def test_the_instructions_name_the_recall_tool(rules: Path, archive: Archive) -> None:
    result = analyst(script(), ReduceToolReturns(rules, archive=archive)).run_sync(PROMPT)
    recall = "reads the original of a shortened tool return: in pages, or only the part that you need."
    assert result.all_messages()[0].instructions == f"{INSTRUCTIONS}\n`recall_tool_return` {recall}"


def test_there_are_no_instructions_without_rules_for_the_tools(rules: Path) -> None:
    other = Reducer.load(rules)
    (rules / "deep_research.yaml").write_text(RULE.replace("deep_research", "other"))
    assert other.reload() == ()
    without = [ReduceToolReturns(other, instructions=False), ReduceToolReturns(Rules(shorter))]
    for capability in [*without, ReduceToolReturns(other)] if LISTS_TOOLS else without:
        assert analyst(script(), capability).run_sync(PROMPT).all_messages()[0].instructions is None


@pytest.mark.skipif(not hasattr(AbstractCapability, "combine"), reason="capabilities are combined from 2 on")
def test_equal_capabilities_are_one_and_different_ones_are_refused(rules: Path) -> None:
    asked = script("deep_research")
    result = analyst(asked, ReduceToolReturns(rules), ReduceToolReturns(rules)).run_sync(PROMPT)
    assert asked.contents(1) == [ARTICLES[:2]]
    assert result.all_messages()[0].instructions == INSTRUCTIONS
    for other in (ReduceToolReturns(str(rules), persist=False), ReduceToolReturns(Rules(shorter))):
        with pytest.raises(UserError, match="an agent has one ReduceToolReturns: give it all rule files"):
            analyst(script(), ReduceToolReturns(rules), other).run_sync(PROMPT)


@pytest.mark.skipif(VERSION < (1, 100), reason="this version does not compare ids")
def test_capabilities_with_different_ids_both_reduce(rules: Path) -> None:
    more = rules.with_name("more.yaml")
    more.write_text("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 1}]\n")
    asked = Script([[call("deep_research"), call("explore", 1)], [TextPart("Done.")]])
    analyst(asked, ReduceToolReturns(rules), ReduceToolReturns(more, id="more")).run_sync(PROMPT)
    assert asked.contents(1) == [ARTICLES[:2]]
    assert asked.contents(1, "explore")[0]["nodes"] == [1]
