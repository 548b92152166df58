"""The capability: the request, the stored history, the instructions, and agent spec files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, TextPart

from reducer import Reducer
from reducer.agent import ReduceToolReturns
from tests.agent.agents import REQUEST_ALONE, V2, VERSION, Rules, Script, agent, call, history_capability
from tests.agent.test_processor import RULE, turns
from tests.agent.test_scenarios import ARTICLES, add_tools
from tests.histories.fakes import shorter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

IDS = VERSION >= (1, 100)


async def asynchronous(messages: list[ModelMessage]) -> list[ModelMessage]:
    return list(messages)


def test_the_request_and_the_stored_history_are_reduced() -> None:
    script = Script([[call("deep_research")], [call("explore")], [TextPart("Done.")]])
    made = Agent(script.model, capabilities=[ReduceToolReturns(Rules(shorter))])
    add_tools(made)
    result = made.run_sync("Look into it, please.", message_history=turns(1))
    plain = Script(script.answers)
    processed_agent = agent(plain, shorter)
    add_tools(processed_agent)
    expected = processed_agent.run_sync("Look into it, please.", message_history=turns(1))

    def contents(messages: Any) -> list[Any]:
        return [getattr(part, "content", None) for message in messages for part in message.parts]

    assert contents(result.all_messages()) == contents(expected.all_messages())
    assert contents(result.new_messages()) == contents(expected.new_messages())
    assert ARTICLES[:2] in contents(result.all_messages())
    assert [
        [part.get("content") for message in json.loads(sent) for part in message["parts"]] for sent in script.received
    ] == [[part.get("content") for message in json.loads(sent) for part in message["parts"]] for sent in plain.received]


@pytest.mark.skipif(REQUEST_ALONE, reason="PydanticAI before 2.54 and from 2.64 on can")
def test_persist_false_is_refused_if_this_version_would_store_the_request() -> None:
    with pytest.raises(UserError, match=r"ReduceToolReturns\(persist=False\) needs PydanticAI 2\.64"):
        ReduceToolReturns(Rules(shorter), persist=False)


@pytest.mark.skipif(not REQUEST_ALONE, reason="every hook may store what it changes")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_without_persist_only_the_request_is_reduced(last: bool, stream: bool) -> None:
    script = Script([[call("deep_research")], [TextPart("Done.")]])
    reduce, other = ReduceToolReturns(Rules(shorter), persist=False), history_capability(asynchronous)
    made = Agent(script.model, capabilities=[other, reduce] if last else [reduce, other])
    add_tools(made)
    messages = asyncio.run(streamed(made)) if stream else made.run_sync("Look into it, please.").all_messages()
    assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
    assert [part.content for part in messages[2].parts] == [ARTICLES]


async def streamed(made: Agent[Any, Any]) -> list[ModelMessage]:
    async with made.run_stream("Look into it, please.") as result:
        await result.get_output()
        return result.all_messages()


@pytest.mark.skipif(not V2, reason="agent spec files came with 2")
def test_agent_spec_files_create_the_capability(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "deep_research.yaml").write_text(RULE)
    for form in (
        f"{tmp_path}/rules",
        f"{{rules: {tmp_path}/rules, persist: true, instructions: false, telemetry: false}}",
    ):
        spec = tmp_path / "agent.yaml"
        spec.write_text(f"model: test\ncapabilities:\n  - ReduceToolReturns: {form}\n")
        script = Script([[call("deep_research")], [TextPart("Done.")]])
        made = Agent.from_file(spec, custom_capability_types=[ReduceToolReturns], model=script.model)
        add_tools(made)
        result = made.run_sync("Look into it, please.")
        assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
        assert (result.all_messages()[0].instructions is None) == ("instructions: false" in form)


@pytest.mark.skipif(not V2, reason="agent spec files came with 2")
def test_the_schema_of_spec_files_has_both_forms() -> None:
    from pydantic_ai.agent.spec import AgentSpec

    forms = AgentSpec.model_json_schema_with_capabilities([ReduceToolReturns])["$defs"]
    assert forms["short_spec_ReduceToolReturns"]["properties"]["ReduceToolReturns"]["anyOf"] == [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
    ]
    keywords = forms["spec_params_ReduceToolReturns"]
    assert {
        name: field.get("type") or [one["type"] for one in field["anyOf"]]
        for name, field in keywords["properties"].items()
    } == {
        "rules": ["string", "array"],
        "persist": "boolean",
        "instructions": "boolean",
        "telemetry": "boolean",
        "archive": ["string", "null"],
    }
    assert keywords["required"] == ["rules"]


INSTRUCTIONS = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out.\n"
    "- `deep_research`: keeps the first 2 items of the answer."
)


def test_the_instructions_are_the_same_in_every_request(tmp_path: Path) -> None:
    (tmp_path / "deep_research.yaml").write_text(RULE)
    (tmp_path / "other.yaml").write_text(RULE.replace("deep_research", "other"))
    script = Script([[call("deep_research")], [call("explore")], [TextPart("Done.")], [TextPart("Done.")]])
    made = Agent(script.model, capabilities=[ReduceToolReturns(tmp_path)], instructions="You are an analyst.")
    add_tools(made)
    result = made.run_sync("Look into it, please.")
    made.run_sync("Once more.", message_history=result.all_messages())
    instructions = {
        message.get("instructions")
        for sent in script.received
        for message in json.loads(sent)
        if message["kind"] == "request"
    }
    text = INSTRUCTIONS if VERSION >= (1, 87) else INSTRUCTIONS + "\n- `other`: keeps the first 2 items of the answer."
    assert instructions == {f"You are an analyst.\n\n{text}"}


def test_there_are_no_instructions_without_rules_for_the_tools(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(RULE.replace("deep_research", "other"))
    reducer = Reducer.load(tmp_path)
    for capability in (
        ReduceToolReturns(reducer, instructions=False),
        ReduceToolReturns(Rules(shorter)),
        ReduceToolReturns(reducer),
    ):
        script = Script([[TextPart("Done.")]])
        made = Agent(script.model, capabilities=[capability])
        add_tools(made)
        if capability.instructions and capability.rules is reducer and VERSION < (1, 87):
            continue
        assert made.run_sync("Look into it, please.").all_messages()[0].instructions is None


@pytest.mark.skipif(not hasattr(AbstractCapability, "combine"), reason="capabilities are combined from 2 on")
def test_equal_capabilities_are_one_and_different_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "deep_research.yaml").write_text(RULE)
    script = Script([[call("deep_research")], [TextPart("Done.")]])
    made = Agent(script.model, capabilities=[ReduceToolReturns(tmp_path), ReduceToolReturns(tmp_path)])
    add_tools(made)
    result = made.run_sync("Look into it, please.")
    assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
    assert result.all_messages()[0].instructions == INSTRUCTIONS
    for other in (ReduceToolReturns(str(tmp_path), persist=False), ReduceToolReturns(Rules(shorter))):
        with pytest.raises(UserError, match="an agent has one ReduceToolReturns: give it all rule files"):
            Agent(script.model, capabilities=[ReduceToolReturns(tmp_path), other]).run_sync("Look into it, please.")


@pytest.mark.skipif(not IDS, reason="this version does not compare ids")
def test_capabilities_with_different_ids_both_reduce(tmp_path: Path) -> None:
    (tmp_path / "deep_research.yaml").write_text(RULE)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "explore.yaml").write_text("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 1}]\n")
    script = Script([[call("deep_research"), call("explore", 1)], [TextPart("Done.")]])
    made = Agent(
        script.model, capabilities=[ReduceToolReturns(tmp_path), ReduceToolReturns(tmp_path / "more", id="more")]
    )
    add_tools(made)
    made.run_sync("Look into it, please.")
    first, second = json.loads(script.received[1])[2]["parts"]
    assert (first["content"], second["content"]["nodes"]) == (ARTICLES[:2], [1])
